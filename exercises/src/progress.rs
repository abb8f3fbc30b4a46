//! Which exercises are solved.
//!
//! That is computed from what the files hold and never noted by hand: there is no mark to remove,
//! and a solved exercise that is broken again counts as broken. A verdict is remembered by the
//! hash of the file it was about (and of the tool), in the target folder, where it may be lost.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde_json::{Value, json};

use crate::compile;
use crate::files;

/// The verdicts that are known.
pub struct Progress {
    known: HashMap<String, (String, bool)>,
}

impl Progress {
    /// What is known from earlier; nothing, if that can't be read.
    pub fn load() -> Self {
        let text = fs::read(compile::scratch().join("progress.json")).unwrap_or_default();
        let value: Value = serde_json::from_slice(&text).unwrap_or_default();
        let entries = value.as_object().into_iter().flatten();
        let known = entries.filter_map(|(name, entry)| {
            Some((name.clone(), (entry["key"].as_str()?.to_owned(), entry["solved"].as_bool()?)))
        });
        Self { known: known.collect() }
    }

    /// Whether the exercise is solved as its file is now; nothing if that has to be looked at.
    pub fn solved(&self, folder: &Path, name: &str) -> Option<bool> {
        let text = files::read(&folder.join(name).join("exercise.rs")).ok()?;
        if fs::read(folder.join(name).join("starter.rs")).is_ok_and(|starter| starter == text) {
            return Some(false); // as shipped
        }
        let (key, solved) = self.known.get(name)?;
        (*key == hash(&text)).then_some(*solved)
    }

    /// Remembers a verdict about `text`, the file as it was when it was compiled.
    pub fn remember(&mut self, name: &str, text: &[u8], solved: bool) {
        self.known.insert(name.to_owned(), (hash(text), solved));
        let entries = self
            .known
            .iter()
            .map(|(name, (key, solved))| (name.clone(), json!({ "key": key, "solved": solved })));
        let value = Value::Object(entries.collect());
        // Only a cache: what can't be written is computed again.
        let _ = compile::keep("progress.json", &value);
    }
}

fn hash(text: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    (text, compile::identity()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As shipped, solved, edited again: each is known for what it is, and nothing is noted.
    #[test]
    fn what_is_solved_follows_from_the_file() {
        let folder = std::env::temp_dir().join(format!("lab-progress-{}", std::process::id()));
        fs::create_dir_all(folder.join("it")).expect("a folder");
        let write =
            |file: &str, text: &str| fs::write(folder.join("it").join(file), text).expect("a file");
        let mut progress = Progress { known: HashMap::new() };

        write("starter.rs", "todo");
        write("exercise.rs", "todo");
        assert_eq!(progress.solved(&folder, "it"), Some(false));
        write("exercise.rs", "done");
        assert_eq!(progress.solved(&folder, "it"), None);
        progress.remember("it", b"done", true);
        assert_eq!(progress.solved(&folder, "it"), Some(true));
        assert_eq!(Progress::load().solved(&folder, "it"), Some(true), "another run knows it too");
        write("exercise.rs", "edited again");
        assert_eq!(progress.solved(&folder, "it"), None);
        fs::remove_dir_all(folder).expect("it can go");
    }
}
