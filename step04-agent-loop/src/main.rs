//! Parses the arguments and wires the parts; everything else is in the library beside it.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use clap::Parser;
use futures::StreamExt;
use futures::stream::{self, BoxStream, Stream};
use same_file::is_same_file;
use step04_agent_loop::agent_loop::Agent;
use step04_agent_loop::cli::Args;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::input::{self, Line};
use step04_agent_loop::model::Model;
use step04_agent_loop::record::{self, Recorder};
use step04_agent_loop::render::Renderer;
use step04_agent_loop::repl::{Ending, Repl, Source};
use step04_agent_loop::replay::Replay;
use step04_agent_loop::scratch::Root;
use step04_agent_loop::script::{Pace, Script};
use step04_agent_loop::session::Session;
use step04_agent_loop::settings::Settings;
use step04_agent_loop::visible::visible_line;
use step04_agent_loop::{stdin, tools};
use tokio::signal::ctrl_c;

/// In the demo no time passes: of what a tool reports, the first and the last are shown.
const NO_TIME: Duration = Duration::from_secs(3600);

type Failure = Box<dyn Error>;

/// What is said in a conversation that nobody types.
type Said = Option<Vec<String>>;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ending = runtime.map_err(Failure::from).and_then(|runtime| {
        let ending = runtime.block_on(converse(&args));
        // A thread that is stuck in a tool is left behind: nobody waits for its answer any more.
        runtime.shutdown_background();
        ending
    });
    match ending {
        Ok(Ending::Finished) => ExitCode::SUCCESS,
        Ok(Ending::Interrupted) => ExitCode::from(130), // what shells report for Ctrl-C: 128 + 2
        // Whoever reads us has left (`| head -1`): there is nobody to tell, and nothing is wrong.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // Not `eprintln!`, which panics when standard error is closed too.
            // What it quotes may come from a file, and must not steer the terminal either.
            let error = visible_line(&error.to_string());
            let _ = writeln!(io::stderr(), "{}", args.lang.failure(error));
            ExitCode::FAILURE
        }
    }
}

async fn converse(args: &Args) -> Result<Ending, Failure> {
    // A record on standard output has that for itself.
    match &args.events {
        Some(path) if path.as_os_str() == "-" => converse_on(args, anstream::stderr()).await,
        _ => converse_on(args, anstream::stdout()).await,
    }
}

async fn converse_on<S>(args: &Args, mut out: AutoStream<S>) -> Result<Ending, Failure>
where
    S: RawStream + AsLockedWrite + IsTerminal + Send,
{
    let mut script = match &args.script {
        Some(path) => Script::load(path).map_err(in_script(args))?,
        None => args.lang.demo(),
    };
    let on_terminal = out.is_terminal();
    script.set_pace(args.delay_ms.map(Pace::DelayMs), args.default_pace(on_terminal));
    let root = match &args.root {
        Some(folder) => Root::existing(folder),
        None => Root::scratch(&script.files).map_err(in_script(args))?,
    };
    let tools = tools::standard(&root.open()?);
    let (model, said) = model(args, script, on_terminal)?;
    let agent = Agent::new(model, tools, settings(args));
    let banner = if said.is_some() { args.lang.demo_banner() } else { args.lang.banner() };
    writeln!(out, "{banner}\n")?;
    let columns = live(&out).then_some(columns as fn() -> usize);
    let screen = Renderer::new(out, args.lang, columns);
    let source = match &said {
        Some(_) => Source::Script,
        None if io::stdin().is_terminal() => Source::Terminal,
        None => Source::Pipe,
    };
    let mut repl = Repl::new(agent, input(said), screen, args.lang, source);
    if let Some(path) = &args.session {
        repl.resume(Session::open(path, args.fold.into())?)?;
    }
    // Last, when nothing can go wrong any more: opening a record empties what was there.
    if let Some(path) = &args.events {
        let to = record_file(args, path).map_err(in_file(path))?;
        let recorder = if args.events_full { Recorder::full(to) } else { Recorder::lean(to) };
        repl.add_journal(Box::new(recorder));
    }
    Ok(repl.run(interrupts()).await?)
}

/// Who answers, and what is said to it if not by a person.
fn model(
    args: &Args,
    script: Script,
    on_terminal: bool,
) -> Result<(Arc<dyn Model>, Said), Failure> {
    if let Some(path) = &args.replay {
        let replay = Replay::load(path)?.at(args.tempo(on_terminal));
        let said = replay.inputs.clone();
        return Ok((Arc::new(replay), Some(said)));
    }
    let said = args.demo.then(|| script.inputs.clone());
    Ok((Arc::new(FakeModel::new(script)), said))
}

/// Opens the file of `--events`, unless it is one that is used for something else: two writers on one
/// file, or a script that is emptied, would be lost work.
fn record_file(args: &Args, path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdout()));
    }
    // By whatever name: a file may have several.
    let is_same = |other: &PathBuf| is_same_file(path, other).unwrap_or(false);
    if [&args.session, &args.script, &args.replay].into_iter().flatten().any(is_same) {
        return Err(io::Error::other(
            "this file is in use as session, script or replay; record to another one",
        ));
    }
    Ok(Box::new(record::create(path)?))
}

/// An error in what a script asks for says in which script.
fn in_script<E: Display>(args: &Args) -> impl FnOnce(E) -> Failure {
    move |error| match &args.script {
        Some(path) => in_file(path)(error),
        None => error.to_string().into(),
    }
}

/// An error says in which file.
fn in_file<E: Display>(path: &Path) -> impl FnOnce(E) -> Failure {
    move |error| format!("{}: {error}", path.display()).into()
}

fn settings(args: &Args) -> Settings {
    Settings {
        fold: args.fold.into(),
        sequential: args.sequential,
        max_turns: usize::try_from(args.max_turns).unwrap_or(usize::MAX),
        update_interval: if args.demo { NO_TIME } else { Settings::default().update_interval },
    }
}

/// What is said to the agent: by a script or a record, or by whoever sits at standard input.
fn input(said: Said) -> BoxStream<'static, io::Result<Line>> {
    let Some(said) = said else {
        input::erase_whole_characters();
        return stdin::lines().boxed();
    };
    let lines = said.into_iter().chain(["/exit".to_owned()]);
    stream::iter(lines.map(|line| Ok(Line::Text(line)))).boxed()
}

/// Every Ctrl-C, one after the other.
fn interrupts() -> impl Stream<Item = io::Result<()>> + Unpin {
    Box::pin(stream::unfold((), |()| async { Some((ctrl_c().await, ())) }))
}

/// Whether lines can be written over: on a terminal that takes control sequences.
fn live<S: RawStream + IsTerminal>(out: &AutoStream<S>) -> bool {
    out.is_terminal() && out.current_choice() != ColorChoice::Never
}

fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
