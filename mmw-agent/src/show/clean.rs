//! Makes recalled text safe to show: it may not move the cursor, change colours or reverse what is
//! read around it.

/// Returns the text with every character that acts on a terminal or on the reading direction
/// replaced by `�`. Line breaks stay; tabs become spaces.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push('\n'),
            '\t' => shown.push_str("    "),
            '\r' => {}
            c if acts(c) => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns the beginning of the text on one line of at most `max_chars` characters.
pub(crate) fn snippet(text: &str, max_chars: usize) -> String {
    let cleaned = clean(text);
    let line = cleaned.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max_chars {
        return line;
    }
    let mut cut: String = line.chars().take(max_chars.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Tells whether a character does something besides being read.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}' | '\u{2029}'
        )
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_escape_sequence_is_shown_and_not_obeyed() {
        assert_eq!(clean("a\u{1b}[2Jb\u{9b}31m\rc"), "a�[2Jb�31mc");
        assert_eq!(clean("x\u{202e}y"), "x�y");
        assert_eq!(clean("a\n\tb"), "a\n    b");
    }

    #[test]
    fn a_snippet_is_one_line() {
        assert_eq!(snippet("a\nb  c", 10), "a b c");
        assert_eq!(snippet("abcdef ghi", 8), "abcdef…");
        assert_eq!(snippet("日本語日本語", 4), "日本語…");
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_ever_left(text in "\\PC{0,20}\\p{C}{0,20}") {
            let shown = clean(&text);
            prop_assert!(!shown.chars().any(|c| c != '\n' && acts(c)));
            prop_assert_eq!(clean(&shown), shown);
        }
    }
}
