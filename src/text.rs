//! Text from files of anybody's making: what of it would steer a screen instead of standing on it.

/// Whether a letter steers what shows it: control characters (escape, bell, backspace…) and those that turn the
/// direction of writing. Line ends and tabs are among them.
#[must_use]
pub fn steers(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with every letter that [steers](steers) written out, e.g. `\u{1b}`; those in `kept` stay.
#[must_use]
pub fn visible(text: &str, kept: &[char]) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if steers(letter) && !kept.contains(&letter) {
            plain.extend(letter.escape_unicode());
        } else {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_written_out_and_all_else_stays() {
        assert_eq!(visible("\u{1b}[31mred\u{7}", &[]), "\\u{1b}[31mred\\u{7}");
        assert_eq!(visible("a\u{202e}b\u{9b}c", &[]), "a\\u{202e}b\\u{9b}c");
        assert_eq!(visible("two\nlines\r", &['\n']), "two\nlines\\u{d}");
        assert_eq!(visible("T4×2 – ñ", &[]), "T4×2 – ñ");
    }
}
