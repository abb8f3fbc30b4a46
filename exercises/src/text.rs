//! What people read, in both languages.
//!
//! The two stand side by side wherever a text is written, so that neither can be forgotten.

/// The language the tool speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Lang {
    /// English. (An empty `LAB_LANG` is as good as none.)
    #[value(alias = "")]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// The language of the variable `LAB_LANG`, as in the steps; English if it says nothing known.
    pub fn from_env() -> Self {
        match std::env::var("LAB_LANG").as_deref() {
            Ok("zh") => Self::Zh,
            _ => Self::En,
        }
    }

    /// The one of two texts that is in this language.
    pub fn pick<'a>(self, en: &'a str, zh: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}

/// A text in both languages.
///
/// A check doesn't know who will read it: the same report goes to a learner in Chinese and to an
/// instructor's tool in English.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// English.
    pub en: Box<str>,
    /// Chinese.
    pub zh: Box<str>,
}

impl Text {
    /// A text in both languages.
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { en: en.into().into(), zh: zh.into().into() }
    }

    /// A text that needs no translation: a value, a number, a line of a transcript.
    pub fn value(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(text.clone(), text)
    }

    /// The text in `lang`.
    pub fn pick(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
    }
}

impl<E: Into<String>, Z: Into<String>> From<(E, Z)> for Text {
    fn from((en, zh): (E, Z)) -> Self {
        Self::new(en, zh)
    }
}
