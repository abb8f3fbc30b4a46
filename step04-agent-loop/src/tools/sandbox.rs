//! One folder that nothing escapes.
//!
//! The habit is to join the root and the path, resolve the result, and compare its beginning with
//! the root. That check is true at the moment it is made: a symbolic link that is put in its place a
//! moment later leads the `open` behind it to anywhere. cap-std has no such gap, because it holds
//! the root as an open handle and lets the kernel resolve each path below that handle (`openat2`
//! with `RESOLVE_BENEATH` on Linux, step by step elsewhere). So there is no comparison of strings
//! here, and `..` or a link that stays inside may be used.
//!
//! Leaving the folder is one danger; a name that is no file is the other. To open a FIFO waits for a
//! writer that may never come, and `/dev/zero` has no end. See [`open_regular`].

use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{FileTypeExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};

use crate::tool::ToolError;

/// Longer paths are refused before anything looks at them (4,096 is Linux's own limit).
const MAX_PATH_BYTES: usize = 4096;

/// A folder, and the right to use what is in it. A clone is the same folder.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Dir>);

impl Sandbox {
    /// Opens the root folder. This is the only place that uses a path of the whole system.
    ///
    /// # Errors
    ///
    /// The folder does not exist, is no folder, or may not be opened.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        Dir::open_ambient_dir(root, ambient_authority()).map(|dir| Self(Arc::new(dir)))
    }

    /// The root, to resolve a [checked](checked_path) path with.
    pub(super) fn root(&self) -> &Dir {
        &self.0
    }
}

/// Refuses what is no path at all. Where it leads is not judged here.
pub(super) fn checked_path(path: &str) -> Result<&Path, ToolError> {
    let refuse = |why: &str| Err(refused(path, why));
    if path.is_empty() {
        return refuse("an empty path; name a file, relative to the root folder");
    }
    if path.contains('\0') {
        return refuse("no file name contains a NUL character");
    }
    if path.len() > MAX_PATH_BYTES {
        let shown = path.chars().take(40).collect::<String>() + "…";
        return Err(refused(&shown, "the path is longer than 4096 bytes"));
    }
    Ok(Path::new(path))
}

/// Opens a regular file to read, and nothing else; never waits for one.
///
/// Three steps, each for a reason. The first look keeps us from opening devices, some of which act on
/// being opened. What is there may be exchanged before the second step, which therefore opens
/// without waiting (a FIFO would block until somebody writes). The last look is at the open handle,
/// and nobody can exchange that.
///
/// `follow` is about the last part of the path; links inside the root are fine for a path that the
/// model wrote, but a search must not find a file twice or walk in a circle.
pub(super) fn open_regular(dir: &Dir, path: &Path, follow: FollowSymlinks) -> io::Result<File> {
    let seen = match follow {
        FollowSymlinks::Yes => dir.metadata(path)?,
        FollowSymlinks::No => dir.symlink_metadata(path)?,
    };
    require_regular(&seen)?;
    open_without_waiting(dir, path, follow)
}

/// The second and third step of [`open_regular`].
fn open_without_waiting(dir: &Dir, path: &Path, follow: FollowSymlinks) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(follow).nonblock(true);
    let file = dir.open_with(path, &options)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Refuses what is not a regular file.
pub(super) fn require_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(refusal(format!("it is {}, not a file", kind_of(metadata.file_type()))))
}

/// What it is instead of a file, in words.
fn kind_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// A refusal of ours as an [`io::Error`], so that it travels with the system's own and one `?` does
/// for both.
pub(super) fn refusal(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.into())
}

/// An I/O error, told to the model: what must not be is a refusal, what did not work is the system's.
///
/// What has no system error number was not said by the system: it is a [`refusal`], a cancellation,
/// or cap-std's report of an escape, which has the kind of a missing permission.
pub(super) fn explained(doing: &'static str, path: &str, source: io::Error) -> ToolError {
    match (source.kind(), source.raw_os_error()) {
        (io::ErrorKind::PermissionDenied, None) => refused(
            path,
            "it leads out of the root folder; use a path inside, relative to the root",
        ),
        (io::ErrorKind::Unsupported, None) => refused(path, source.to_string()),
        _ if source.get_ref().is_some_and(|inner| inner.is::<ToolError>()) => ToolError::Aborted,
        _ => ToolError::Io { doing, path: path.to_owned(), source },
    }
}

/// A [`ToolError::Refused`].
pub(super) fn refused(path: &str, why: impl Into<String>) -> ToolError {
    ToolError::Refused { path: path.to_owned(), why: why.into() }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    /// The moment after the first look, at which a FIFO was put in the place of a file. If it were
    /// opened as a file is, this test would not end.
    #[test]
    fn a_fifo_that_was_swapped_in_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let fifo: PathBuf = folder.path().join("fifo");
        mkfifo(&fifo, Mode::S_IRWXU).unwrap();
        let sandbox = Sandbox::open(folder.path()).unwrap();
        let error = open_without_waiting(sandbox.root(), Path::new("fifo"), FollowSymlinks::Yes)
            .unwrap_err();
        assert_eq!(error.to_string(), "it is a FIFO, not a file");
    }

    /// The same moment in a search, and a link.
    #[test]
    fn a_link_that_was_swapped_in_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        let sandbox = Sandbox::open(folder.path()).unwrap();
        let open = |follow| open_without_waiting(sandbox.root(), Path::new("link"), follow);
        assert!(open(FollowSymlinks::Yes).is_ok());
        assert!(open(FollowSymlinks::No).is_err());
        assert!(open_regular(sandbox.root(), Path::new("link"), FollowSymlinks::No).is_err());
    }

    #[test]
    fn the_longest_path_is_4096_bytes() {
        assert!(checked_path(&"p".repeat(4096)).is_ok());
        let error = checked_path(&"好".repeat(2000)).unwrap_err().to_string();
        assert!(error.starts_with("refused \"好好") && error.len() < 300, "{error}");
    }

    /// The system's own refusals stay what they are.
    #[test]
    fn a_missing_permission_is_not_an_escape() {
        let denied = || io::Error::from_raw_os_error(rustix::io::Errno::ACCESS.raw_os_error());
        assert!(matches!(explained("read", "a", denied()), ToolError::Io { .. }));
        let unsupported = io::Error::from_raw_os_error(rustix::io::Errno::OPNOTSUPP.raw_os_error());
        assert!(matches!(explained("read", "a", unsupported), ToolError::Io { .. }));
        let other = io::Error::other("something");
        assert!(matches!(explained("read", "a", other), ToolError::Io { .. }));
    }
}
