//! From an exercise's files to a program, quickly.
//!
//! Whoever started this tool with `cargo run` has just had Cargo bring the library with the checks
//! up to date. What is left to compile is the learner's file and the few lines that hand it over.
//! Asking Cargo a second time would cost as much again as compiling them, so the tool calls `rustc`
//! itself, with a recipe that Cargo is asked for once per build of the tool. Should that fail for
//! any reason but the learner's, Cargo does it the long way.

use std::env;
use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

/// The name of the file that a learner writes.
const ANSWER: &str = "exercise.rs";

/// The `[lints.rust]` of this package, as Cargo hands them on: what the tool accepts, `cargo test`
/// accepts, too.
const LINTS: [&str; 2] = ["--forbid=unsafe_code", "--warn=missing_docs"];

/// What the compiler made of an exercise.
pub enum Built {
    /// A program to run, which is whoever's who runs it to delete, and what the compiler warned of.
    Program(PathBuf, Vec<Diagnostic>),
    /// The errors that stand in the way.
    Errors(Vec<Diagnostic>),
}

/// One message of the compiler.
pub struct Diagnostic {
    /// Whether it is an error, rather than a warning.
    pub error: bool,
    /// What it says, in one line.
    pub message: String,
    /// The code of an error, as in `E0308`, if it has one.
    pub code: Option<String>,
    /// `file:line` of what it points at, if it points anywhere.
    pub place: Option<String>,
    /// The compiler's own words and drawings, coloured if asked for.
    pub rendered: String,
}

/// What `rustc` has to be told, and how it was found out.
pub struct Compiler {
    workspace: PathBuf,
    cargo: PathBuf,
    rustc: PathBuf,
    /// Where the libraries are.
    libraries: PathBuf,
    externs: Vec<String>,
    colour: bool,
}

impl Compiler {
    /// The compiler for the exercises of this workspace.
    ///
    /// # Errors
    /// When Cargo can't be started, or can't build the library of the checks.
    pub fn new(workspace: &Path, colour: bool) -> io::Result<Self> {
        let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        let rustc = cargo.with_file_name(format!("rustc{}", env::consts::EXE_SUFFIX));
        let rustc = if rustc.is_file() { rustc } else { PathBuf::from("rustc") };
        let (libraries, externs) = recipe(workspace, &cargo)?;
        Ok(Self { workspace: workspace.to_owned(), cargo, rustc, libraries, externs, colour })
    }

    /// Compiles the exercise `name`, or somebody else's answer to it.
    ///
    /// # Errors
    /// When neither `rustc` nor Cargo can be started, or Cargo fails without saying why.
    pub fn build(&self, name: &str, answer: Option<&Path>) -> io::Result<Built> {
        let own = PathBuf::from(format!("exercises/{name}/run.rs"));
        let run = answer.map_or(Ok(own), |answer| self.handing_over(name, answer))?;
        match self.directly(name, &run) {
            Some(Built::Errors(errors))
                if answer.is_none()
                    && (errors.iter().any(of_libraries) || !errors.iter().any(in_answer)) =>
            {
                // A changed signature, or libraries that are gone or of another compiler: Cargo
                // knows better, and so does the next run with a new recipe.
                let _ = fs::remove_file(scratch().join("recipe.json"));
                self.with_cargo(name)
            }
            Some(built) => Ok(built),
            None => self.with_cargo(name),
        }
    }

    /// The few lines that hand an answer to the checks, made to take it from another place.
    fn handing_over(&self, name: &str, answer: &Path) -> io::Result<PathBuf> {
        let run = fs::read_to_string(self.workspace.join(format!("exercises/{name}/run.rs")))?;
        let path = format!(
            "#[path = {:?}]\nmod exercise;",
            fs::canonicalize(answer)?.display().to_string()
        );
        let file = scratch_file(&format!("{name}.rs"));
        fs::write(&file, run.replace("mod exercise;", &path))?;
        Ok(file)
    }

    /// Calls `rustc`; nothing comes back when it can't be started.
    fn directly(&self, name: &str, run: &Path) -> Option<Built> {
        let program = scratch_file(&format!("{name}{}", env::consts::EXE_SUFFIX));
        let mut command = Command::new(&self.rustc);
        command
            .current_dir(&self.workspace)
            .args(["--crate-name", name, "--edition", "2024", "--error-format=json"])
            .arg(if self.colour { "--json=diagnostic-rendered-ansi" } else { "--json=artifacts" })
            .args(["-C", "debuginfo=0", "-C", "codegen-units=1", "--cfg", "test"])
            .args(LINTS)
            .arg("-L")
            .arg(format!("dependency={}", self.libraries.display()));
        for library in &self.externs {
            command.args(["--extern", library]);
        }
        if cfg!(target_os = "linux") {
            command.args(["-C", "strip=symbols"]); // a sixth of the time; elsewhere it costs some
        }
        command.arg(run).arg("-o").arg(&program);
        let output = command.stdin(Stdio::null()).output().ok()?;
        if run.starts_with(scratch()) {
            let _ = fs::remove_file(run);
        }
        let diagnostics = diagnostics(&output.stderr, |message| Some(message));
        if output.status.success() {
            return Some(Built::Program(program, diagnostics));
        }
        let errors: Vec<_> = diagnostics.into_iter().filter(|found| found.error).collect();
        Some(Built::Errors(errors))
    }

    fn with_cargo(&self, name: &str) -> io::Result<Built> {
        let format = if self.colour { "json-diagnostic-rendered-ansi" } else { "json" };
        let output = cargo(
            &self.workspace,
            &self.cargo,
            &[
                "test",
                "-q",
                "-p",
                "exercises",
                "--test",
                name,
                "--no-run",
                "--message-format",
                format,
            ],
        )?;
        let diagnostics = diagnostics(&output.stdout, |message| {
            (message["target"]["name"] == name).then(|| &message["message"])
        });
        let executable = lines(&output.stdout)
            .filter(|message| message["target"]["name"] == name)
            .find_map(|message| message["executable"].as_str().map(PathBuf::from));
        match executable {
            Some(program) => Ok(Built::Program(program, diagnostics)),
            None if diagnostics.iter().any(|found| found.error) => {
                Ok(Built::Errors(diagnostics.into_iter().filter(|found| found.error).collect()))
            }
            None => Err(failed(&output)),
        }
    }
}

/// Whether an error is in what a learner wrote.
pub fn in_answer(error: &Diagnostic) -> bool {
    error.place.as_deref().is_some_and(|place| place.contains(ANSWER))
}

/// Whether an error says that a library is missing, or was built by another compiler.
fn of_libraries(error: &Diagnostic) -> bool {
    const CODES: [&str; 5] = ["E0460", "E0461", "E0463", "E0514", "E0786"];
    let gone = error.message.starts_with("extern location");
    gone || error.code.as_deref().is_some_and(|code| CODES.contains(&code))
}

/// Where the libraries are, and which there are: from the last time, or from Cargo.
fn recipe(workspace: &Path, cargo_path: &Path) -> io::Result<(PathBuf, Vec<String>)> {
    let file = scratch().join("recipe.json");
    let known = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    if let Some(recipe) = known.filter(|recipe| recipe["tool"] == identity())
        && let Some(found) = read_recipe(&recipe)
    {
        return Ok(found);
    }
    let arguments = ["build", "-q", "-p", "exercises", "--lib", "--message-format=json"];
    let output = cargo(workspace, cargo_path, &arguments)?;
    let recipe = ask(&output.stdout);
    let found = read_recipe(&recipe).ok_or_else(|| failed(&output))?;
    keep("recipe.json", &recipe)?;
    Ok(found)
}

/// Cargo names the file of every library it has built or found built.
fn ask(stdout: &[u8]) -> Value {
    let mut externs = serde_json::Map::new();
    for message in lines(stdout).filter(|message| message["reason"] == "compiler-artifact") {
        let mut files =
            message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let library = files.rfind(|file| !file.ends_with(".rmeta"));
        let name = message["target"]["name"].as_str().map(|name| name.replace('-', "_"));
        let is_library = message["target"]["crate_types"] != json!(["bin"]);
        if let (Some(library), Some(name), true) = (library, name, is_library) {
            externs.insert(name, json!(library));
        }
    }
    json!({ "tool": identity(), "externs": externs })
}

fn read_recipe(recipe: &Value) -> Option<(PathBuf, Vec<String>)> {
    let externs = recipe["externs"].as_object()?;
    // The library of this package lies one floor above the others, which are in `deps`.
    let own = Path::new(externs.get("exercises")?.as_str()?).parent()?;
    let libraries = if own.ends_with("deps") { own.to_owned() } else { own.join("deps") };
    let externs =
        externs.iter().filter_map(|(name, file)| Some(format!("{name}={}", file.as_str()?)));
    Some((libraries, externs.collect()))
}

/// What changes whenever Cargo builds this tool anew, and with it the checks it was built with.
pub fn identity() -> String {
    let file = env::current_exe().and_then(fs::metadata);
    let built = file.as_ref().ok().and_then(|file| file.modified().ok());
    let nanos =
        built.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map(|age| age.as_nanos());
    format!("{} {}", nanos.unwrap_or_default(), file.map_or(0, |file| file.len()))
}

/// A folder beside this program in the target folder.
pub fn scratch() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.parent().unwrap_or(Path::new(".")).join("lab")
}

/// A file there that no other run of this tool uses at the same time.
pub fn scratch_file(name: &str) -> PathBuf {
    scratch().join(format!("{}-{name}", std::process::id()))
}

/// Writes a file there in one go: whoever reads it meanwhile sees the old one or the new one.
///
/// # Errors
/// Only those of writing.
pub fn keep(name: &str, value: &Value) -> io::Result<()> {
    fs::create_dir_all(scratch())?;
    let new = scratch_file(name);
    fs::write(&new, value.to_string())?;
    fs::rename(new, scratch().join(name))
}

fn cargo(workspace: &Path, cargo: &Path, arguments: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(cargo);
    // What Cargo set for this program describes this program, and would only confuse another.
    for (name, _) in
        env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_"))
    {
        command.env_remove(name);
    }
    command.current_dir(workspace).args(arguments).stdin(Stdio::null()).output()
}

fn failed(output: &Output) -> io::Error {
    io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

fn lines(text: &[u8]) -> impl Iterator<Item = Value> {
    text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn diagnostics(text: &[u8], of: impl Fn(&Value) -> Option<&Value>) -> Vec<Diagnostic> {
    lines(text).filter_map(|message| of(&message).and_then(diagnostic)).collect()
}

fn diagnostic(message: &Value) -> Option<Diagnostic> {
    let rendered = message["rendered"].as_str()?.to_owned();
    let spans = message["spans"].as_array()?;
    let error = message["level"].as_str()?.starts_with("error");
    let text = message["message"].as_str()?.to_owned();
    // "aborting due to 2 previous errors" and its like point nowhere and say nothing new.
    if spans.is_empty()
        && (text.starts_with("aborting due")
            || text.contains("warning emitted")
            || text.contains("warnings emitted"))
    {
        return None;
    }
    let code = message["code"]["code"].as_str().map(str::to_owned);
    let primary = spans.iter().find(|span| span["is_primary"] == true);
    let place = primary.and_then(place);
    Some(Diagnostic { error, message: text, code, place, rendered })
}

/// The file and line a span points at. What a macro made lies in the file of the macro, where a
/// learner has nothing to do: then it is the line on which they call it.
fn place(span: &Value) -> Option<String> {
    let file = |span: &Value| span["file_name"].as_str().unwrap_or_default().to_owned();
    let mut outwards = iter::successors(Some(span), |span| {
        Some(&span["expansion"]["span"]).filter(|caller| caller.is_object())
    });
    let span = outwards.find(|span| file(span).contains(ANSWER)).unwrap_or(span);
    Some(format!("{}:{}", file(span), span["line_start"].as_u64()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lints_are_those_of_the_manifest() {
        let manifest = include_str!("../Cargo.toml");
        let (_, lints) = manifest.split_once("[lints.rust]\n").expect("the lints");
        let flag = |line: &str| {
            line.split_once(" = ").map(|(lint, level)| (level.to_owned(), lint.to_owned()))
        };
        let flags = lints.lines().map_while(flag);
        let flags: Vec<_> =
            flags.map(|(level, lint)| format!("--{}={lint}", level.trim_matches('"'))).collect();
        assert_eq!(flags, LINTS);
    }
}
