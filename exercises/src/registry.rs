//! Which exercises there are, and in which order.
//!
//! A name never changes once it is published: it is what learners type, what their notes say and
//! what an instructor's table of results is keyed on. The number is only the place in this list.

use crate::text::Text;

/// One exercise. All else about it is in the folder of its name.
#[derive(Debug, Clone, Copy)]
pub struct Exercise {
    /// The name of the exercise, of its folder and of its test target.
    pub name: &'static str,
    /// Whether it belongs to the core path; the others are for those who want more.
    pub core: bool,
    /// What it is about, in a few words of English and of Chinese.
    pub about: (&'static str, &'static str),
}

/// All exercises in the order to do them.
pub const EXERCISES: &[Exercise] = &[
    Exercise {
        name: "typewriter",
        core: true,
        about: ("print each piece the moment it arrives", "每一小段一到就打印"),
    },
    Exercise {
        name: "own_rule",
        core: false,
        about: ("teach the fake model an answer of your own", "教 FakeModel 一句你自己的回答"),
    },
    Exercise {
        name: "lazy_stream",
        core: true,
        about: ("a generator that does no work before it is polled", "不被轮询就不干活的生成器"),
    },
    Exercise {
        name: "errors_are_events",
        core: true,
        about: ("a failing call becomes an event", "失败的调用变成一个事件"),
    },
    Exercise {
        name: "fold_on_done",
        core: true,
        about: ("the history grows only on done: 5 messages", "历史只在 done 时变长：5 条消息"),
    },
    Exercise {
        name: "fold_in_place",
        core: false,
        about: (
            "the other bargain: the reply grows in the history, 6 messages",
            "另一种取舍：回复在历史里长大，6 条消息",
        ),
    },
];

impl Exercise {
    /// What it is about, as a text.
    pub fn about(&self) -> Text {
        self.about.into()
    }

    /// The exercise of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        EXERCISES.iter().find(|exercise| exercise.name == name)
    }
}

/// Why a word names no exercise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// Nothing has this name, number or part of a name.
    Unknown,
    /// More than one name has this part.
    Ambiguous(Vec<&'static str>),
}

/// Finds an exercise by its name, its number (from 1) or a part of its name that no other has.
///
/// # Errors
/// Why there is none, or not just one.
pub fn find(word: &str) -> Result<&'static Exercise, NotFound> {
    let word = word.trim().to_lowercase().replace('-', "_");
    if let Some(exercise) = Exercise::named(&word) {
        return Ok(exercise);
    }
    if let Ok(number) = word.parse::<usize>() {
        return number.checked_sub(1).and_then(|at| EXERCISES.get(at)).ok_or(NotFound::Unknown);
    }
    let hits: Vec<_> = EXERCISES.iter().filter(|exercise| exercise.name.contains(&word)).collect();
    match hits[..] {
        [exercise] if !word.is_empty() => Ok(exercise),
        [_, _, ..] if !word.is_empty() => {
            Err(NotFound::Ambiguous(hits.iter().map(|hit| hit.name).collect()))
        }
        _ => Err(NotFound::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_a_number_or_a_unique_part_will_do() {
        for (at, exercise) in EXERCISES.iter().enumerate() {
            let found = |word: &str| find(word).map(|exercise| exercise.name);
            assert_eq!(found(exercise.name), Ok(exercise.name));
            assert_eq!(found(&(at + 1).to_string()), Ok(exercise.name));
            assert_eq!(found(&format!("0{}", at + 1)), Ok(exercise.name));
            assert_eq!(found(&exercise.name.replace('_', "-").to_uppercase()), Ok(exercise.name));
        }
        assert_eq!(find("on_done").map(|exercise| exercise.name), Ok("fold_on_done"));
        assert_eq!(
            find("FOLD").err(),
            Some(NotFound::Ambiguous(vec!["fold_on_done", "fold_in_place"]))
        );
        for word in ["", " ", "0", "99", "nothing", "-1", "18446744073709551616"] {
            assert_eq!(find(word).err(), Some(NotFound::Unknown), "{word:?}");
        }
    }
}
