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
        let line = line.trim();
        match line {
            "" => Self::Nothing,
            "/exit" => Self::Exit,
            "/help" => Self::Help,
            _ if line.starts_with('/') => Self::Unknown(first_word(line)),
            _ => Self::Say(line),
        }
    }
}

/// Only the word is quoted back in the answer: the rest of the line may be long.
fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or(line)
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
        assert_eq!(Command::parse("/exti now"), Command::Unknown("/exti"));
        assert_eq!(Command::parse("/"), Command::Unknown("/"));
        assert_eq!(Command::parse(" say /exit "), Command::Say("say /exit"));
    }
}
