//! `write`: a file, whole or not at all.
//!
//! `fs.writeFile` empties the file and then fills it: whoever is cancelled, killed or out of disk in
//! between leaves half a file. Here the text goes to a temporary file in the same folder, which then
//! takes the name in one step. Up to that step the old file is untouched, and whatever ends the work
//! early (error, cancellation, panic) takes the temporary file away.
//!
//! The price is that the file is a new one: other names of it (hard links) keep the old text, and the
//! owner is whoever runs the program. Its permissions are carried over.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use cap_std::fs::{Dir, OpenOptions, Permissions};
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

use super::off_thread;
use super::sandbox::{self, Sandbox};
use crate::partial_json::ToolArguments;
use crate::tool::{Tool, ToolError, ToolOutput, ToolRun, schema_of, typed};
use crate::visible::visible_line;

/// How the names of files begin that a `write` has not finished.
const TEMPORARY: &str = ".write-";

/// Whether a file is one that a `write` is just writing, or was killed while writing. Nobody else
/// should see it.
pub(super) fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(TEMPORARY).and_then(|rest| rest.strip_suffix(".tmp"));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Bytes between two looks at the cancellation.
const CHUNK: usize = 65_536;

/// What `write` takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteArguments {
    /// The file, relative to the root folder. Missing folders are made.
    pub path: String,
    /// The whole new content.
    pub content: String,
}

/// Writes a file.
#[derive(Debug, Clone)]
pub struct Write {
    sandbox: Sandbox,
}

impl Write {
    /// Writes files of this folder.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox }
    }
}

impl Tool for Write {
    fn name(&self) -> &str {
        "write"
    }

    fn description(&self) -> &str {
        "Writes a file, replacing its whole content if it exists."
    }

    fn schema(&self) -> serde_json::Value {
        schema_of::<WriteArguments>()
    }

    /// Parses here, where a mistake costs nothing, and writes on another thread.
    fn execute(
        &self,
        arguments: ToolArguments,
        run: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let sandbox = self.sandbox.clone();
        async move {
            let arguments = typed(&arguments)?;
            off_thread(run, move |run| write(&sandbox, &arguments, run)).await
        }
        .boxed()
    }
}

/// The whole work, on a thread that may block.
fn write(
    sandbox: &Sandbox,
    WriteArguments { path, content }: &WriteArguments,
    run: &ToolRun,
) -> Result<ToolOutput, ToolError> {
    let explain = |error| sandbox::explained("write", path, error);
    let target = Target::find(sandbox.root(), path, sandbox::checked_path(path)?)?;
    let folder = target.folder(sandbox.root()).map_err(explain)?;
    replace(&folder, &target, content.as_bytes().chunks(CHUNK), run).map_err(explain)?;
    let did = if target.permissions.is_some() { "replaced" } else { "created" };
    let unit = if content.len() == 1 { "byte" } else { "bytes" };
    Ok(ToolOutput::new(format!("{did} {path:?}: {} {unit}", content.len())))
}

/// What will be written: a new file, or one that takes the place of an old one.
///
/// It is found first and used afterwards, so it may be out of date by then. That can cost a wrong
/// answer but no escape: folder and name are resolved below the root again when they are used.
struct Target {
    parent: PathBuf,
    name: PathBuf,
    /// Those of the old file, to be kept.
    permissions: Option<Permissions>,
}

impl Target {
    /// Looks at what is there now, and refuses what must not be replaced.
    fn find(root: &Dir, shown: &str, path: &Path) -> Result<Self, ToolError> {
        let explain = |error| sandbox::explained("write", shown, error);
        match root.canonicalize(path) {
            // A link inside the root is followed here, once: the file it leads to is replaced, and
            // not the link. If somebody exchanges the name after this, the last step replaces
            // whatever has the name then, and follows nothing.
            Ok(real) => {
                let metadata = root.symlink_metadata(&real).map_err(explain)?;
                sandbox::require_regular(&metadata).map_err(explain)?;
                let permissions = metadata.permissions();
                // A replacement needs no right to write to the old file, so nobody else asks.
                if permissions.readonly() {
                    return Err(sandbox::refused(shown, "the file is read-only"));
                }
                Ok(Self { permissions: Some(permissions), ..Self::new(shown, &real)? })
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(explain(error)),
            Err(_) if root.symlink_metadata(path).is_ok() => {
                Err(sandbox::refused(shown, "it is a symbolic link that leads nowhere"))
            }
            // Whoever lists the folder later would have their terminal obey the name.
            Err(_) if visible_line(shown) != shown => {
                Err(sandbox::refused(shown, "no new file gets a name with a control character"))
            }
            Err(_) => Self::new(shown, path),
        }
    }

    /// A new file of that path.
    fn new(shown: &str, path: &Path) -> Result<Self, ToolError> {
        let name = path.file_name().unwrap_or_default();
        // `Path` ignores a slash or dot at the end. A person who writes one means a folder.
        if name.is_empty()
            || !path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes())
        {
            return Err(sandbox::refused(shown, "it names a folder, not a file"));
        }
        if name.len() > 255 {
            return Err(sandbox::refused(shown, "the name is longer than 255 bytes"));
        }
        if name.to_str().is_some_and(is_temporary) {
            return Err(sandbox::refused(shown, "such names are for unfinished writes"));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        Ok(Self { parent: parent.into(), name: name.into(), permissions: None })
    }

    /// The folder it will be in, made if it is missing. A path that goes up again is only followed:
    /// on the way to a place that is refused, no folder may be left behind.
    fn folder(&self, root: &Dir) -> io::Result<Dir> {
        if !self.parent.components().any(|part| part == Component::ParentDir) {
            root.create_dir_all(&self.parent)?;
        }
        root.open_dir(&self.parent)
    }
}

/// Writes `chunks` to a temporary file and gives it the name of the target.
fn replace<'a>(
    folder: &Dir,
    target: &Target,
    chunks: impl Iterator<Item = &'a [u8]>,
    run: &ToolRun,
) -> io::Result<()> {
    // In the same folder, because only within one file system is a rename one step.
    let temporary = Temporary::new(folder);
    let options = OpenOptions::new().write(true).create_new(true).clone();
    let mut file = folder.open_with(&temporary.name, &options)?;
    // Before the first byte, so that a private text is at no moment readable for others.
    if let Some(permissions) = &target.permissions {
        file.set_permissions(permissions.clone())?;
    }
    // One `write_all` of everything would do, and not hear of a cancellation until its end.
    for chunk in chunks {
        run.check().map_err(io::Error::other)?;
        file.write_all(chunk)?;
    }
    // Else the name might reach the disk before the content does, and a power cut leave it empty.
    file.sync_all()?;
    drop(file); // Windows renames no open file
    run.check().map_err(io::Error::other)?;
    folder.rename(&temporary.name, folder, &target.name)
}

/// A name for a temporary file, which is free again when this is dropped. After the file has taken
/// its final name there is nothing left to remove, so success needs no special case.
struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
}

impl<'a> Temporary<'a> {
    fn new(folder: &'a Dir) -> Self {
        // The standard library has no random numbers, but every hasher has a random key.
        let random = RandomState::new().build_hasher().finish();
        Self { folder, name: format!("{TEMPORARY}{random:016x}.tmp") }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // `drop` also runs when a panic unwinds. If it can't be removed there is nobody to tell.
        let _ = self.folder.remove_file(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use tempfile::TempDir;
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn a_temporary_file_is_known_by_its_name() {
        assert!(is_temporary(".write-0123456789abcdef.tmp"));
        for other in [
            ".write-.tmp",
            ".write-0123456789abcdef",
            "write-0123456789abcdef.tmp",
            ".write-0123456789abcdeg.tmp",
        ] {
            assert!(!is_temporary(other), "{other}");
        }
    }

    /// A folder with an old file, and all that `replace` needs.
    struct Case {
        folder: TempDir,
        sandbox: Sandbox,
        target: Target,
        run: ToolRun,
    }

    impl Case {
        fn new(name: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("file"), "old").unwrap();
            std::fs::create_dir(folder.path().join("folder")).unwrap();
            let sandbox = Sandbox::open(folder.path()).unwrap();
            let target = Target::new(name, Path::new(name)).unwrap();
            let run = ToolRun::new(CancellationToken::new(), |_| ());
            Self { folder, sandbox, target, run }
        }

        fn replace<'a>(&self, chunks: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
            replace(self.sandbox.root(), &self.target, chunks, &self.run)
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(self.folder.path()).unwrap();
            let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<_> =
                entries.map(|entry| name(entry).into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn assert_untouched(&self) {
            assert_eq!(self.names(), ["file", "folder"]);
            assert_eq!(std::fs::read(self.folder.path().join("file")).unwrap(), b"old");
        }
    }

    const TEXT: [&[u8]; 3] = [b"one ", b"two ", b"three"];

    #[test]
    fn all_chunks_become_the_file() {
        let case = Case::new("file");
        case.replace(TEXT.into_iter()).unwrap();
        assert_eq!(std::fs::read(case.folder.path().join("file")).unwrap(), b"one two three");
        assert_eq!(case.names(), ["file", "folder"]);
    }

    /// Cancelled before the first chunk, between two, and after the last but before the end.
    #[test]
    fn cancelled_at_any_chunk_nothing_has_happened() {
        for at in 0..=TEXT.len() {
            let case = Case::new("file");
            let cancel = case.run.cancel.clone();
            let mut chunks = TEXT.into_iter().enumerate();
            let chunks = std::iter::from_fn(|| {
                let next = chunks.next();
                if next.map_or(TEXT.len(), |(index, _)| index) == at {
                    cancel.cancel();
                }
                // The old file is whole as long as the new one is not.
                assert_eq!(std::fs::read(case.folder.path().join("file")).unwrap(), b"old");
                next.map(|(_, chunk)| chunk)
            });
            let error = case.replace(chunks).unwrap_err();
            assert!(matches!(sandbox::explained("write", "file", error), ToolError::Aborted));
            case.assert_untouched();
        }
    }

    #[test]
    fn after_a_panic_nothing_has_happened() {
        let case = Case::new("file");
        let chunks = TEXT.into_iter().inspect(|chunk| assert!(*chunk != b"two ", "on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(|| case.replace(chunks))).is_err());
        case.assert_untouched();
    }

    /// The last step fails, because a folder has taken the name in the meantime.
    #[test]
    fn after_an_error_nothing_has_happened() {
        let case = Case::new("folder");
        assert!(case.replace(TEXT.into_iter()).is_err());
        case.assert_untouched();
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_private_before_its_first_byte() {
        use cap_std::fs::PermissionsExt as _;
        use std::os::unix::fs::PermissionsExt as _;
        let mut case = Case::new("file");
        case.target.permissions = Some(Permissions::from_mode(0o700)); // no umask makes this of a new file
        let chunks = TEXT.into_iter().inspect(|_| {
            for name in case.names().iter().filter(|name| name.ends_with(".tmp")) {
                let metadata = std::fs::metadata(case.folder.path().join(name)).unwrap();
                assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
            }
        });
        case.replace(chunks).unwrap();
    }
}
