//! Parses the arguments and wires the parts; everything else is in the library beside it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use futures::stream;
use step03_streaming::cli::Args;
use step03_streaming::event::StreamOptions;
use step03_streaming::fake_model::FakeModel;
use step03_streaming::input::{self, Line};
use step03_streaming::repl::{Ending, Repl};
use step03_streaming::stdin;
use tokio::signal::ctrl_c;

/// The pause per token that makes a typewriter on a terminal.
const TYPEWRITER: Duration = Duration::from_millis(30);

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
    let model = FakeModel::new(args.lang.rules());
    if args.demo {
        writeln!(out, "{}\n", args.lang.demo_banner())?;
        let options = pace(args, Duration::ZERO);
        let script = args.lang.demo_inputs().iter();
        let input = stream::iter(script.map(|text| Ok(Line::Text((*text).to_owned()))));
        let mut repl = Repl::new(model, options, out, args.lang, true);
        return repl.run(input, ctrl_c()).await;
    }
    writeln!(out, "{}\n", args.lang.banner())?;
    input::erase_whole_characters();
    let options = pace(
        args,
        if out.is_terminal() {
            TYPEWRITER
        } else {
            Duration::ZERO
        },
    );
    let echo = !io::stdin().is_terminal();
    let mut repl = Repl::new(model, options, out, args.lang, echo);
    repl.run(stdin::lines(), ctrl_c()).await
}

/// The pause the person asked for, else the one that fits.
fn pace(args: &Args, default: Duration) -> StreamOptions {
    StreamOptions {
        delay: args.delay_ms.map_or(default, Duration::from_millis),
    }
}
