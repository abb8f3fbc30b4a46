//! Makes text safe to show: nothing a model or a tool says may steer the terminal.
//!
//! A terminal obeys what it is sent. A file that holds `ESC ]0;…BEL` would rename the window of
//! whoever has it read, a carriage return would overwrite a line that was read already, and U+202E
//! would turn a name around. Such characters are replaced by something that can be seen. It works
//! character by character, so it does not matter where a stream was cut.

/// The text with every control character made visible. Line ends and tabs stay what they are.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ => push_visible(&mut shown, c),
        }
    }
    shown
}

/// The same for a text that must stay on one line: line ends and tabs are made visible too.
pub fn visible_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut shown, c));
    shown
}

fn push_visible(shown: &mut String, c: char) {
    match c {
        // The Control Pictures block has a picture for each: ␛ for ESC, ␍ for a carriage return.
        '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
        '\x7f' => shown.push('␡'),
        _ if is_steering(c) => shown.extend(c.escape_unicode()),
        _ => shown.push(c),
    }
}

/// Control characters, and the format characters that reorder a line or end one. The joiner inside
/// an emoji is a format character too, and stays.
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_shown_instead() {
        assert_eq!(visible("\x1b]0;title\x07"), "␛]0;title␇");
        assert_eq!(visible("over\rwrite\x7f\u{9b}31m"), "over␍write␡\\u{9b}31m");
        assert_eq!(visible("gpj.\u{202e}exe"), "gpj.\\u{202e}exe");
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible_line("a\tb\r\nc"), "a␉b␍␊c");
        assert_eq!(visible("👨‍👩‍👧 नि"), "👨‍👩‍👧 नि");
    }

    proptest! {
        /// However a text is cut, the pieces show what the whole shows, and none of them steers.
        #[test]
        fn a_cut_changes_nothing(text in "(\\PC|[\\x00-\\x1f\\x7f\u{9b}\u{202e}\u{2066}])*", at in 0..40usize) {
            let at = text.char_indices().map(|(index, _)| index).nth(at).unwrap_or(0);
            let (left, right) = text.split_at(at);
            let shown = visible(&text);
            let pieces = [visible(left), visible(right)].concat();
            prop_assert_eq!(&shown, &pieces);
            prop_assert!(!shown.contains(|c| is_steering(c) && c != '\n' && c != '\t'));
            prop_assert!(!visible_line(&text).contains(is_steering));
        }
    }
}
