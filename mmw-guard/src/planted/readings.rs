//! What a text says to a model that reads through disguises: without invisible characters, in
//! compatibility form, escapes decoded; and, letter by letter, what digits and look-alikes stand for.
//!
//! These readings are only looked at. What is replaced in a text is found elsewhere.

use std::borrow::Cow;

use memchr::memchr3;
use unicode_normalization::{
    IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfkc_quick,
};

use crate::normal::{is_bidi_control, is_mark, is_tag, is_zero_width};

/// The fewest ASCII letters behind escapes that are no accident: nobody has to escape them.
const MIN_ESCAPED_LETTERS: usize = 4;

/// A text as it is read.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// What is read.
    pub(super) text: Cow<'a, str>,
    /// Whether plain letters stood behind escapes.
    pub(super) is_escaped: bool,
}

/// Returns a text without invisible characters and escapes, in compatibility form.
pub(super) fn plain(text: &str) -> Plain<'_> {
    let visible = visible(text);
    match unescaped(&visible) {
        None => Plain {
            text: visible,
            is_escaped: false,
        },
        Some((decoded, n_letters)) => {
            let text = match visible_again(&decoded) {
                Some(text) => text,
                None => decoded,
            };
            Plain {
                text: Cow::Owned(text),
                is_escaped: n_letters >= MIN_ESCAPED_LETTERS,
            }
        }
    }
}

fn visible_again(decoded: &str) -> Option<String> {
    match visible(decoded) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

const fn is_invisible(c: char) -> bool {
    is_zero_width(c) || is_bidi_control(c) || is_tag(c) || is_mark(c)
}

/// Tells whether a text has invisible characters.
pub(super) fn hides(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = first_foreign(rest.as_bytes()) {
        rest = &rest[at..];
        let Some(c) = rest.chars().next() else {
            return false;
        };
        if is_invisible(c) {
            return true;
        }
        rest = &rest[c.len_utf8()..];
    }
    false
}

/// Returns where the first byte that is not ASCII stands.
fn first_foreign(bytes: &[u8]) -> Option<usize> {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let high = u64::from_le_bytes(*eight) & HIGH_BITS;
        if high != 0 {
            return Some(at + high.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..]
        .iter()
        .position(|b| !b.is_ascii())
        .map(|more| at + more)
}

/// Tells whether a character is what it is in compatibility form too, or says the same.
fn is_settled(c: char) -> bool {
    matches!(
        c,
        '…' | '’' | '‘' | '“' | '”' | '–' | '—' | '•' | '→' | '✓' | '。' | '、' | '\u{a0}'
    ) || (is_unspaced(c) && !matches!(c, '\u{3099}' | '\u{309a}'))
        || matches!(c, '\u{410}'..='\u{44f}')
}

fn visible(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(more) = first_foreign(&text.as_bytes()[at..]) {
        let start = at + more;
        let run = text[start..]
            .find(|c: char| c.is_ascii())
            .map_or(text.len(), |length| start + length);
        let foreign = &text[start..run];
        at = run;
        // Marks on letters of ASCII are left out when words are compared.
        let is_plain = foreign
            .chars()
            .all(|c| is_settled(c) || matches!(c, '\u{300}'..='\u{36f}'))
            && !(foreign.chars().any(|c| matches!(c, '\u{300}'..='\u{36f}'))
                && foreign.chars().any(is_settled))
            || (!foreign.chars().any(is_invisible)
                && is_nfkc_quick(foreign.chars()) == IsNormalized::Yes);
        if !is_plain {
            // A mark on a letter of ASCII makes one character with it.
            let before = text[copied..start]
                .chars()
                .next_back()
                .map_or(0, char::len_utf8);
            clean.push_str(&text[copied..start - before]);
            clean.extend(
                text[start - before..run]
                    .chars()
                    .filter(|c| !is_invisible(*c))
                    .nfkc(),
            );
            copied = run;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

/// Returns the text with one level of backslash, percent and character-reference escapes decoded,
/// and how many ASCII letters stood behind them; none if it has none.
fn unescaped(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let mut decoded = String::new();
    let mut n_letters = 0;
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = memchr3(b'\\', b'%', b'&', &bytes[at..]) {
        at += next;
        match escape(&text[at..]) {
            Some((c, length)) => {
                decoded.push_str(&text[copied..at]);
                decoded.push(c);
                n_letters += usize::from(c.is_ascii_alphanumeric());
                at += length;
                copied = at;
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    decoded.push_str(&text[copied..]);
    Some((decoded, n_letters))
}

/// Returns what an escape at the start of a text stands for, and its length in bytes.
fn escape(text: &str) -> Option<(char, usize)> {
    let rest = &text[1..];
    match text.as_bytes()[0] {
        b'\\' => match rest.bytes().next()? {
            b'n' => Some(('\n', 2)),
            b'r' | b't' => Some((' ', 2)),
            plain @ (b'"' | b'\'' | b'/' | b'\\' | b'`') => Some((char::from(plain), 2)),
            b'u' => unicode(rest),
            b'x' => Some((hexadecimal(rest.get(1..3)?)?, 4)),
            b'U' => Some((hexadecimal(rest.get(1..9)?)?, 10)),
            _ => None,
        },
        b'%' => hexadecimal(rest.get(..2)?)
            .filter(char::is_ascii)
            .map(|c| (c, 3)),
        _ => reference(rest),
    }
}

/// Reads `u0041`, `u{41}` or a pair of surrogates.
fn unicode(rest: &str) -> Option<(char, usize)> {
    if let Some(braced) = rest.strip_prefix("u{") {
        let length = braced.bytes().take(7).position(|b| b == b'}')?;
        return Some((hexadecimal(&braced[..length])?, length + 4));
    }
    let unit = |text: &str| u16::from_str_radix(text, 16).ok();
    let first = unit(rest.get(1..5)?)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 6));
    }
    let second = unit(rest.get(5..)?.strip_prefix("\\u")?.get(..4)?)?;
    let c = char::decode_utf16([first, second]).next()?.ok()?;
    Some((c, 12))
}

fn hexadecimal(digits: &str) -> Option<char> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

fn reference(rest: &str) -> Option<(char, usize)> {
    const NAMED: [(&str, char); 14] = [
        ("quot;", '"'),
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("apos;", '\''),
        ("nbsp;", ' '),
        ("colon;", ':'),
        ("lsqb;", '['),
        ("rsqb;", ']'),
        ("vert;", '|'),
        ("NewLine;", '\n'),
        ("Tab;", ' '),
        ("period;", '.'),
        ("excl;", '!'),
    ];
    if let Some((name, c)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((*c, 1 + name.len()));
    }
    let number = rest.strip_prefix('#')?;
    let length = number.bytes().take(8).position(|b| b == b';')?;
    let digits = number.get(..length)?;
    let c = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => hexadecimal(digits)?,
        None => char::from_u32(digits.parse().ok()?)?,
    };
    Some((c, length + 3))
}

/// Tells whether a character belongs to a script that is written without spaces, or, as Korean,
/// with endings that grow on words.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Tells whether a character is part of a word.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || (!c.is_ascii() && is_combining_mark(c))
}

/// Adds a character in small letters, Latin letters without their marks.
pub(super) fn fold_char(c: char, word: &mut String) {
    if c.is_ascii() {
        word.push(c.to_ascii_lowercase());
        return;
    }
    match c {
        'ß' => word.push_str("ss"),
        'æ' | 'Æ' => word.push_str("ae"),
        'œ' | 'Œ' => word.push_str("oe"),
        'ø' | 'Ø' => word.push('o'),
        'ł' | 'Ł' => word.push('l'),
        'đ' | 'Đ' => word.push('d'),
        'ı' | 'İ' => word.push('i'),
        'ё' | 'Ё' => word.push('е'),
        '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{652}' | '\u{640}' => {}
        _ if (c as u32) < 0x250 || matches!(c, '\u{1e00}'..='\u{1eff}') => {
            let mut parts = std::iter::once(c).nfd();
            match parts.next() {
                Some(base) if base.is_ascii_alphabetic() => word.push(base.to_ascii_lowercase()),
                _ => word.extend(c.to_lowercase()),
            }
        }
        _ => word.extend(c.to_lowercase()),
    }
}

/// Returns the letter that a digit or sign stands for inside a word. What stands for an l or an i
/// is an i.
pub(super) const fn sign_letter(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' | '!' | '|' => 'i',
        '3' | '€' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '6' | '9' => 'g',
        '7' | '+' => 't',
        '8' => 'b',
        _ => return None,
    })
}

/// Adds the letter that a character stands for or looks like, with an i for each l.
pub(super) fn spell(c: char, key: &mut String) {
    let i_for_l = |b: char| if b == 'l' { 'i' } else { b };
    if c.is_ascii_alphabetic() {
        key.push(i_for_l(c.to_ascii_lowercase()));
    } else if let Some(letter) = sign_letter(c) {
        key.push(letter);
    } else if c.is_ascii() {
        key.push(c);
    } else {
        match decancer::cure_char!(c) {
            decancer::Translation::Character(plain) => key.push(i_for_l(plain)),
            decancer::Translation::String(plain) => key.extend(plain.chars().map(i_for_l)),
            decancer::Translation::None => {}
        }
    }
}

/// Watches a word for letters of other scripts between Latin ones.
#[derive(Debug, Default)]
pub(super) struct Mixed {
    n_latin: usize,
    n_letters: usize,
    open: bool,
    is_mixed: bool,
}

impl Mixed {
    pub(super) fn add(&mut self, c: char) {
        self.n_letters += 1;
        if c.is_ascii_alphabetic() {
            self.n_latin += 1;
            self.is_mixed |= self.open;
        } else {
            // Russian may put its ending on a Latin word, and a formula a Greek letter before one.
            self.open |= matches!(c, '\u{400}'..='\u{52f}' | '\u{13a0}'..='\u{13ff}')
                || (self.n_latin > 0 && matches!(c, '\u{370}'..='\u{3ff}' | '\u{530}'..='\u{58f}'));
        }
    }

    /// Tells whether the word has no letter of ASCII.
    pub(super) const fn is_foreign(&self) -> bool {
        self.n_latin == 0
    }

    /// Tells whether the word looks Latin and is not.
    pub(super) const fn looks_latin(&self) -> bool {
        self.is_mixed && self.n_letters >= 4 && self.n_latin >= 2
    }
}
