//! The folder that the tools work in: the person's own, or one made for a script.
//!
//! A script brings its files along, so that a lesson needs nothing but the script. They are written
//! to a folder that did not exist before and is gone afterwards: playing a lesson changes nothing.
//! (Unless the program is killed: then it stays with the system's temporary files.)

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::tools::Sandbox;

/// The root of the tools. A scratch folder lives as long as this.
pub struct Root {
    path: PathBuf,
    _scratch: Option<TempDir>,
}

impl Root {
    /// A folder that is there already.
    pub fn existing(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), _scratch: None }
    }

    /// A new folder with these files in it.
    ///
    /// # Errors
    /// Those of making the folder and writing the files; a path that leads outside is refused.
    pub fn scratch(files: &BTreeMap<String, String>) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("mini-agent-harness-").tempdir()?;
        let root =
            cap_std::fs::Dir::open_ambient_dir(scratch.path(), cap_std::ambient_authority())?;
        for (path, content) in files {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("field `files`: {path:?}: {error}"))
            };
            if let Some(folder) = Path::new(path).parent() {
                root.create_dir_all(folder).map_err(named)?;
            }
            root.write(path, content).map_err(named)?;
        }
        Ok(Self { path: scratch.path().to_owned(), _scratch: Some(scratch) })
    }

    /// The root as the tools want it.
    ///
    /// # Errors
    /// When it is not a folder, or can't be opened.
    pub fn open(&self) -> io::Result<Sandbox> {
        let named = |error: io::Error| {
            io::Error::new(
                error.kind(),
                format!("cannot use {} as root: {error}", self.path.display()),
            )
        };
        Sandbox::open(&self.path).map_err(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_has_the_files_of_the_script_and_is_gone_afterwards() {
        let files = [("sub/a.txt".to_owned(), "hi".to_owned())].into();
        let root = Root::scratch(&files).expect("a folder");
        let path = root.path.clone();
        assert_eq!(std::fs::read_to_string(path.join("sub/a.txt")).expect("a file"), "hi");
        drop(root);
        assert!(!path.exists());
    }
}
