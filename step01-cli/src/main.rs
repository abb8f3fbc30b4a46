//! Parses the arguments and wires the parts; everything else is in the library beside it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use step01_cli::{cli::Args, input, repl::Repl};

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
        return Repl::new(args.lang.demo_input(), out, args.lang, true).run();
    }
    writeln!(out, "{}\n", args.lang.banner())?;
    input::erase_whole_characters();
    let echo = !io::stdin().is_terminal();
    Repl::new(input::lines(io::stdin().lock()), out, args.lang, echo).run()
}
