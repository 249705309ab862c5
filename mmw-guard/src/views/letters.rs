//! Letters that stand for others: compatibility forms, invisible ones between, accents put on letters
//! of a key, letters of other scripts that look Latin.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use super::View;
use crate::normal::{is_bidi_control, is_mark, is_tag, is_zero_width};

/// Returns the text in compatibility form without invisible characters; none if that is the text.
pub(super) fn unfolded(text: &str) -> Option<View> {
    if text.is_ascii() {
        return None;
    }
    let mut view = View::default();
    let mut done = 0;
    let mut buffer = [0; 4];
    for (start, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
        let origin = start..start + c.len_utf8();
        if is_zero_width(c) || is_bidi_control(c) || is_mark(c) || is_tag(c) {
            view.copy(text, done..start);
            view.replace(origin.clone(), std::iter::empty());
            done = origin.end;
            continue;
        }
        let mut plain = c.encode_utf8(&mut buffer).nfkc();
        if plain.next() != Some(c) || plain.next().is_some() {
            view.copy(text, done..start);
            view.replace(origin.clone(), std::iter::once(c).nfkc());
            done = origin.end;
        }
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

/// Returns the text without accents, if some stand on their own behind Latin letters, as decomposed
/// text has them; none otherwise. Composed letters lose theirs too then: composing hides no key.
pub(super) fn without_accents(text: &str) -> Option<View> {
    // U+0300 to U+036F begin with these two bytes.
    memchr::memchr2(0xcc, 0xcd, text.as_bytes())?;
    let mut view = View::default();
    let mut done = 0;
    // Up to where Latin letters and their accents go on.
    let mut latin_until = usize::MAX;
    for (start, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
        let end = start + c.len_utf8();
        let base = latin_base(c);
        let on_latin = latin_until == start
            || start
                .checked_sub(1)
                .is_some_and(|before| text.as_bytes()[before].is_ascii_graphic());
        if base.is_some() || on_latin && is_combining_mark(c) && canonical_combining_class(c) > 0 {
            view.copy(text, done..start);
            view.replace(start..end, base.into_iter());
            done = end;
            latin_until = end;
        }
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

/// Returns the ASCII letter that a composed one is made from.
fn latin_base(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let mut parts = std::iter::once(c).nfd();
    let base = parts.next().filter(char::is_ascii_alphabetic)?;
    parts.all(is_combining_mark).then_some(base)
}

/// Letters of other scripts and the Latin ones that they look like.
const LOOK_ALIKES: [(char, char); 38] = [
    ('а', 'a'),
    ('в', 'b'),
    ('е', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('м', 'm'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('ѕ', 's'),
    ('т', 't'),
    ('у', 'y'),
    ('х', 'x'),
    ('ԁ', 'd'),
    ('ԝ', 'w'),
    ('А', 'A'),
    ('В', 'B'),
    ('Е', 'E'),
    ('К', 'K'),
    ('М', 'M'),
    ('Н', 'H'),
    ('О', 'O'),
    ('Р', 'P'),
    ('С', 'C'),
    ('Т', 'T'),
    ('У', 'Y'),
    ('Х', 'X'),
    ('І', 'I'),
    ('Ј', 'J'),
    ('Ѕ', 'S'),
    ('ο', 'o'),
    ('ν', 'v'),
    ('ρ', 'p'),
    ('ι', 'i'),
    ('Ι', 'I'),
    ('Ο', 'O'),
];

/// Returns the text with Latin letters in place of Cyrillic and Greek ones that look like them, in words
/// that have both; none if there are no such words.
pub(super) fn without_look_alikes(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    // What most of them begin with.
    memchr::memchr3(0xd0, 0xd1, 0xce, bytes)
        .or_else(|| memchr::memchr3(0xcf, 0xd2, 0xd4, bytes))?;
    let mut view = View::default();
    let mut done = 0;
    let mut known = 0;
    for (at, pair) in mixed_pairs(bytes) {
        // Two scripts meet.
        let meet = pair[0].is_ascii_alphabetic() && pair[1] >= 0xce
            || pair[0] >= 0x80 && pair[1].is_ascii_alphabetic();
        if at < known || !meet {
            continue;
        }
        let word = word_around(text, at);
        known = word.end.max(at + 1);
        let said = &text[word.clone()];
        if !said.chars().all(|c| c.is_ascii() || latin(c).is_some()) {
            continue;
        }
        for (n, c) in said.char_indices() {
            if let Some(latin) = latin(c) {
                view.copy(text, done..word.start + n);
                done = word.start + n + c.len_utf8();
                view.replace(word.start + n..done, std::iter::once(latin));
            }
        }
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

/// Returns the neighbours of a text with their places, without stretches that are all ASCII.
fn mixed_pairs(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    const STRETCH: usize = 64;
    (0..bytes.len())
        .step_by(STRETCH)
        .filter_map(move |start| {
            let end = bytes.len().min(start + STRETCH + 1);
            let stretch = &bytes[start..end];
            (!stretch.is_ascii()).then_some((start, stretch))
        })
        .flat_map(|(start, stretch)| {
            stretch
                .windows(2)
                .enumerate()
                .map(move |(n, pair)| (start + n, pair))
        })
}

/// Returns the word that a byte belongs to, or a part of a long one.
fn word_around(text: &str, at: usize) -> Range<usize> {
    const MAX_BYTES: usize = 64;
    let at = text.floor_char_boundary(at);
    let first = text.ceil_char_boundary(at.saturating_sub(MAX_BYTES));
    let start = text[first..at]
        .rfind(|c: char| !c.is_alphanumeric())
        .map_or(first, |n| text.ceil_char_boundary(first + n + 1));
    let last = text.floor_char_boundary(text.len().min(at + MAX_BYTES));
    let end = text[at..last]
        .find(|c: char| !c.is_alphanumeric())
        .map_or(last, |n| at + n);
    start..end
}

fn latin(c: char) -> Option<char> {
    // Greek and Cyrillic, with the supplement.
    if !matches!(c, '\u{370}'..='\u{52f}') {
        return None;
    }
    LOOK_ALIKES
        .iter()
        .find(|(other, _)| *other == c)
        .map(|(_, latin)| *latin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step: fn(&str) -> Option<View>, cases: &[(&str, Option<&str>)]) {
        for (text, expected) in cases {
            let view = step(text);
            assert_eq!(
                view.as_ref().map(|view| view.text.as_str()),
                *expected,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_found_in_a_reading_is_mapped_back() {
        let text = "пароль： ａ\u{200b}b";
        let view = unfolded(text).unwrap();
        assert_eq!(view.text, "пароль: ab");
        let start = view.text.find("ab").unwrap();
        assert_eq!(&text[view.origin(&(start..start + 2))], "ａ\u{200b}b");
        assert!(unfolded("plain").is_none());
        assert!(unfolded("просто").is_none());
    }

    #[test]
    fn accents_of_decomposed_text_are_taken_away() {
        check(
            without_accents,
            &[
                ("gh\u{301}p_1\u{301}\u{300}x", Some("ghp_1x")),
                ("ź a\u{301}", Some("z a")),
                ("contraseña über", None),
                ("и\u{306}", None),
                ("plain", None),
            ],
        );
    }

    #[test]
    fn letters_that_look_latin_are_in_words_that_mix_scripts() {
        check(
            without_look_alikes,
            &[
                ("my pаsswоrd: x", Some("my password: x")),
                ("ΑPI", None),
                ("пароль password", None),
                ("API-ключ, тест1", None),
                ("密码token", None),
            ],
        );
    }
}
