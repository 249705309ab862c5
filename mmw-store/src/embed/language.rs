//! Which texts a model of one language can't read.

use unicode_script::{Script, UnicodeScript as _};

/// Tells whether at least half of the letters of a text are Latin ones. A text without letters passes.
///
/// That is all that can be told for certain of a few words; among languages with Latin letters a model of
/// English is the better the nearer they are.
pub(super) fn is_latin(text: &str) -> bool {
    let (mut n_latin, mut n_other) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match c.script() {
            Script::Latin | Script::Common | Script::Inherited => n_latin += 1,
            _ => n_other += 1,
        }
    }
    n_latin >= n_other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_latin_if_half_of_its_letters_are() {
        for text in [
            "how is staging deployed",
            "wie wird ausgeliefert, und größer?",
            "v1.2.3 -> 42",
            "",
            "staging server развёрнут",
            "µs ªº",
        ] {
            assert!(is_latin(text), "{text}");
        }
        for text in [
            "как развернуть staging",
            "部署",
            "デプロイ",
            "배포 방법",
            "πώς αναπτύσσεται",
        ] {
            assert!(!is_latin(text), "{text}");
        }
    }
}
