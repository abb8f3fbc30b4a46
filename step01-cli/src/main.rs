//! Parses the arguments and wires the parts; everything else is in the library beside it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use step01_cli::cli::Args;
use step01_cli::input::{self, Line};
use step01_cli::repl::Repl;

fn main() -> ExitCode {
    let args = Args::parse();
    match converse(&args) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads us has left (`| head -1`): there is nobody to tell, and nothing is wrong.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Not `eprintln!`, which panics when standard error is closed too.
            let _ = writeln!(io::stderr(), "{}", args.lang.io_error(&error));
            ExitCode::FAILURE
        }
    }
}

fn converse(args: &Args) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if args.demo {
        writeln!(out, "{}\n", args.lang.demo_banner())?;
        let script = args.lang.demo_inputs().iter();
        let input = script.map(|text| Ok(Line::Text((*text).to_owned())));
        return Repl::new(out, args.lang, true).run(input);
    }
    writeln!(out, "{}\n", args.lang.banner())?;
    input::erase_whole_characters();
    let echo = !io::stdin().is_terminal();
    Repl::new(out, args.lang, echo).run(input::lines(io::stdin().lock()))
}
