//! Spellings of one text become one: Unicode form, invisible characters, case, diacritics.
//!
//! [`normal`] keeps the case, which still tells `camelCase` apart; [`push_folded`] drops it.

use std::borrow::Cow;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Returns the text in NFKC without invisible characters; typographic apostrophes and hyphens are
/// the plain ones. The case is kept.
pub(super) fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_plain = text.chars().all(|c| plain(c) == Some(c));
    if is_plain && is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(plain).nfkc().collect())
}

/// Returns what a character is read as before normalisation; nothing for an invisible one.
const fn plain(c: char) -> Option<char> {
    match c {
        // Soft hyphen, joiners, zero-width and directional marks, variation selectors, BOM, tags.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}' => None,
        '\u{2010}' | '\u{2011}' | '\u{2212}' => Some('-'),
        '\u{2bc}' | '\u{2018}' | '\u{2019}' => Some('\''),
        // NFKC would glue `TM` and `SM` to the name before them.
        '\u{2120}' | '\u{2122}' => Some(' '),
        c => Some(c),
    }
}

/// Appends the text in lower case, without apostrophes and without the diacritics that people
/// leave out when they type: all of Latin and Greek, stress marks and `ё` in Cyrillic (`й` stays),
/// vowel points of Hebrew and Arabic.
pub(super) fn push_folded(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\'' => {}
            '\\' => out.push('/'),
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            c => c.to_lowercase().for_each(|c| push_base(c, out)),
        }
    }
}

fn push_base(c: char, out: &mut String) {
    match c {
        '\u{300}'..='\u{36f}'
        | '\u{591}'..='\u{5bd}'
        | '\u{5bf}'
        | '\u{5c1}'
        | '\u{5c2}'
        | '\u{5c4}'
        | '\u{5c5}'
        | '\u{5c7}'
        | '\u{640}'
        | '\u{64b}'..='\u{652}'
        | '\u{670}' => {}
        'ё' | 'ѐ' => out.push('е'),
        'ѝ' => out.push('и'),
        'ς' => out.push('σ'),
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'þ' => out.push_str("th"),
        'ø' => out.push('o'),
        'đ' | 'ð' => out.push('d'),
        'ħ' => out.push('h'),
        'ı' => out.push('i'),
        'ł' => out.push('l'),
        'ŧ' => out.push('t'),
        '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}' => {
            decompose_canonical(c, |c| {
                if !is_combining_mark(c) {
                    out.push(c);
                }
            });
        }
        c => out.push(c),
    }
}

/// Tells whether a character belongs to a word of a script that puts spaces between words.
pub(super) fn is_letter_or_digit(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        !is_unspaced(c) && (c.is_alphanumeric() || is_combining_mark(c))
    }
}

/// Tells whether a character belongs to a script that is written without spaces between words (or,
/// as Hangul, glues particles to them): Han, Hiragana, Katakana, Hangul, Bopomofo, Thai, Lao,
/// Khmer, Myanmar and their relatives.
pub(super) fn is_unspaced(c: char) -> bool {
    if (c as u32) < 0xe00 {
        return false;
    }
    let is_of_script = matches!(
        c,
        '\u{e01}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{1950}'..='\u{19ff}'
            | '\u{1a20}'..='\u{1aaf}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{318f}'
            | '\u{31a0}'..='\u{31bf}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{a9e0}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aadf}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{11700}'..='\u{1174f}'
            | '\u{16fe0}'..='\u{18dff}'
            | '\u{1aff0}'..='\u{1b2ff}'
            | '\u{20000}'..='\u{3ffff}'
    );
    is_of_script && (c == '〇' || ((c.is_alphabetic() || is_combining_mark(c)) && !c.is_numeric()))
}
