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
        let text = fs::read(folder.join(name).join("exercise.rs")).ok()?;
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
