//! What one line of input asks for: something to say, or a command.
//!
//! Commands are sorted out here, before anything reaches a model, so that a mistyped `/exti` is
//! answered by the program and never costs a request.

/// One line of input, understood. It borrows the line: nothing is copied to understand it.
#[derive(Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Only white space: people press Enter to think.
    Nothing,
    /// `/exit`
    Exit,
    /// `/help`
    Help,
    /// Any other word that begins with a slash.
    Unknown(&'a str),
    /// Everything else is said to the assistant, without the white space around it.
    Say(&'a str),
}

impl<'a> Command<'a> {
    /// Reads a line. Every line has a meaning, so there is no error.
    pub fn parse(line: &'a str) -> Self {
        // Windows editors put a byte order mark at the beginning of a file.
        let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        match line.split_whitespace().next() {
            None => Self::Nothing,
            Some("/exit") => Self::Exit,
            Some("/help") => Self::Help,
            Some(word) if word.starts_with('/') => Self::Unknown(beginning(word)),
            Some(_) => Self::Say(line),
        }
    }
}

/// Only so much of a word is quoted back in the answer: it may be megabytes long.
fn beginning(word: &str) -> &str {
    word.char_indices().nth(40).map_or(word, |(end, _)| &word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_meaning() {
        assert_eq!(Command::parse(" \t"), Command::Nothing);
        assert_eq!(Command::parse("　"), Command::Nothing, "a full-width space is white space");
        assert_eq!(Command::parse(" /exit "), Command::Exit);
        assert_eq!(Command::parse("/help"), Command::Help);
        assert_eq!(Command::parse("/exit now"), Command::Exit, "only the first word counts");
        assert_eq!(Command::parse(" \u{feff} /exit"), Command::Exit);
        assert_eq!(Command::parse("\u{feff}/help me"), Command::Help);
        assert_eq!(Command::parse("/exti now"), Command::Unknown("/exti"));
        let long = "/".to_owned() + &"长".repeat(100);
        assert_eq!(Command::parse(&long), Command::Unknown(&long[..1 + 39 * 3]));
        assert_eq!(Command::parse("/"), Command::Unknown("/"));
        assert_eq!(Command::parse(" say /exit "), Command::Say("say /exit"));
    }
}
