//! Parses the arguments and wires the parts; everything else is in the library beside it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use step02_fake_model::{cli::Args, fake_model::FakeModel, input, repl::Ending, repl::Repl, stdin};
use tokio::signal::ctrl_c;

/// How long a person waits for a reply: about what writing it takes in step 03.
const THINKING: Duration = Duration::from_millis(1500);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    match converse(&args).await {
        Ok(Ending::Finished) => ExitCode::SUCCESS,
        Ok(Ending::Interrupted) => ExitCode::from(130), // what shells report for Ctrl-C: 128 + 2
        // Whoever reads us has left (`| head -1`): there is nobody to tell, and nothing is wrong.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Not `eprintln!`, which panics when standard error is closed too.
            let _ = writeln!(io::stderr(), "{}", args.lang.io_error(&error));
            ExitCode::FAILURE
        }
    }
}

async fn converse(args: &Args) -> io::Result<Ending> {
    let mut out = io::stdout().lock();
    let delay = if args.demo || !out.is_terminal() { Duration::ZERO } else { THINKING };
    let model = FakeModel::new(args.lang.rules(), delay);
    if args.demo {
        writeln!(out, "{}\n", args.lang.demo_banner())?;
        let input = args.lang.demo_input();
        return Repl::new(model, input, out, args.lang, true).run(ctrl_c()).await;
    }
    writeln!(out, "{}\n", args.lang.banner())?;
    input::erase_whole_characters();
    let echo = !io::stdin().is_terminal();
    Repl::new(model, stdin::lines(), out, args.lang, echo).run(ctrl_c()).await
}
