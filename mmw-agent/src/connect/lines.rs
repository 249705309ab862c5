//! What a text has around its lines: the mark at its start and how lines end.
//!
//! Editors of syntax see plain lines; what they leave alone comes back as it was.

/// The mark that some editors put before UTF-8.
const MARK: char = '\u{feff}';

/// How a text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    has_mark: bool,
    /// Every line ends with carriage return and line feed.
    has_carriage_returns: bool,
}

/// Returns a text without its mark, its lines ending plainly if all of them end alike.
pub(super) fn plain(text: &str) -> (String, Written) {
    let bare = text.strip_prefix(MARK);
    let has_mark = bare.is_some();
    let bare = bare.unwrap_or(text);
    let n_lines = bare.matches('\n').count();
    let n_folded = bare.matches("\r\n").count();
    let n_returns = bare.matches('\r').count();
    // A text with both kinds is left as it is: it could not be put back.
    let has_carriage_returns = n_lines > 0 && n_lines == n_folded && n_folded == n_returns;
    let plain = if has_carriage_returns {
        bare.replace("\r\n", "\n")
    } else {
        bare.to_owned()
    };
    let written = Written {
        has_mark,
        has_carriage_returns,
    };
    (plain, written)
}

impl Written {
    /// Returns a plain text as the first one was written.
    pub(super) fn restore(self, plain: &str) -> String {
        let mut text = String::new();
        if self.has_mark {
            text.push(MARK);
        }
        if self.has_carriage_returns {
            text.push_str(&plain.replace('\n', "\r\n"));
        } else {
            text.push_str(plain);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_lines_are_plain_in_between() {
        let (text, written) = plain("\u{feff}a\r\nb\r\n");
        assert_eq!(text, "a\nb\n");
        assert_eq!(written.restore("a\nc\nb\n"), "\u{feff}a\r\nc\r\nb\r\n");
    }

    proptest! {
        #[test]
        fn every_text_comes_back_as_it_was(text in "[\u{feff}ab\r\n]{0,12}") {
            let (plain, written) = plain(&text);
            prop_assert_eq!(written.restore(&plain), text);
        }
    }
}
