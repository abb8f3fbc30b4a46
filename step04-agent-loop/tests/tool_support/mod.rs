//! A folder with something to lose beside it, and a way to call a tool as the loop does.

#![allow(dead_code)] // each test file uses its part

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use step04_agent_loop::partial_json::parse_arguments;
use step04_agent_loop::tool::{ToolError, ToolRun};
use step04_agent_loop::tools::{self, Sandbox};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What stands in the file outside, and must never be seen.
pub const SECRET: &str = "TOP-SECRET";

/// `root/` is the sandbox, `outside/secret.txt` is beside it.
pub struct World {
    base: TempDir,
    pub sandbox: Sandbox,
}

impl World {
    pub fn new() -> Self {
        let base = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(base.path().join("root/sub")).expect("a folder");
        fs::create_dir_all(base.path().join("outside/deep")).expect("a folder");
        fs::write(base.path().join("root/inside.txt"), "one\ntwo\n").expect("a file");
        fs::write(base.path().join("root/sub/other.txt"), "three\n").expect("a file");
        fs::write(base.path().join("outside/secret.txt"), SECRET).expect("a file");
        let sandbox = Sandbox::open(base.path().join("root")).expect("the root");
        Self { base, sandbox }
    }

    pub fn root(&self, path: &str) -> PathBuf {
        self.base.path().join("root").join(path)
    }

    pub fn outside(&self, path: &str) -> PathBuf {
        self.base.path().join("outside").join(path)
    }

    /// Everything there is outside the root, to compare.
    pub fn everything_outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = files_below(self.base.path());
        all.retain(|path, _| !path.starts_with(self.root("")));
        all
    }

    /// Temporary files that were forgotten.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let all = files_below(self.base.path()).into_keys();
        all.filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect()
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        call(&self.sandbox, tool, arguments, quiet()).await
    }
}

/// All files below a folder; what is no file or can't be read is there without its content.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("a file type");
        if kind.is_dir() {
            all.extend(files_below(&path));
        }
        let small = kind.is_file() && entry.metadata().is_ok_and(|it| it.len() < 1 << 20);
        let content = if small { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        all.insert(path, content);
    }
    all
}

/// A run that nobody cancels or listens to.
pub fn quiet() -> ToolRun {
    ToolRun::new(CancellationToken::new(), |_| ())
}

/// A run that writes down its updates.
pub fn recorded() -> (ToolRun, Arc<Mutex<Vec<String>>>) {
    let updates = Arc::new(Mutex::new(Vec::new()));
    let sink = updates.clone();
    let run = ToolRun::new(CancellationToken::new(), move |update| {
        sink.lock().expect("no test panics here").push(update);
    });
    (run, updates)
}

pub async fn call(
    sandbox: &Sandbox,
    tool: &str,
    arguments: Value,
    run: ToolRun,
) -> Result<String, ToolError> {
    let toolbox = tools::standard(sandbox);
    let arguments = parse_arguments(&arguments.to_string()).expect("whole arguments");
    toolbox.get(tool)?.execute(arguments, run).await.map(|output| output.text)
}

/// The arguments of each tool for one path.
pub fn for_path(tool: &str, path: &str) -> Value {
    match tool {
        "read" => json!({"path": path}),
        "write" => json!({"path": path, "content": "OVERWRITTEN"}),
        _ => json!({"path": path, "pattern": "SECRET"}),
    }
}
