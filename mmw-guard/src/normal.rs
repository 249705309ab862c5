//! Other readings of a text: Unicode forms unfolded, invisible characters left out, escapes decoded.
//!
//! Rules run on the text and on its readings. A reading remembers where each of its bytes came
//! from, so that what is found in it is replaced in the text itself, which is never changed here.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

/// A reading of a text, with the way back.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The reading.
    pub(crate) text: String,
    origins: Vec<Range<usize>>,
}

impl View {
    fn push(&mut self, c: char, origin: &Range<usize>) {
        self.text.push(c);
        for _ in 0..c.len_utf8() {
            self.origins.push(origin.clone());
        }
    }

    /// Returns what a span of the reading covers in the text it was made from.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Range<usize> {
        match (
            self.origins.get(span.start),
            self.origins.get(span.end.saturating_sub(1)),
        ) {
            (Some(first), Some(last)) if span.start < span.end => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// Tells whether a character is invisible and joins nothing that can be read.
pub(crate) const fn is_zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    )
}

/// Tells whether a character turns the direction of writing.
pub(crate) const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Tells whether a character is an invisible mark: bidi marks, variation selectors.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tells whether a character is one of the invisible tag characters.
pub(crate) const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Returns the text in compatibility form without invisible characters; none if that is the text.
pub(crate) fn unfolded(text: &str) -> Option<View> {
    if text.is_ascii() {
        return None;
    }
    let mut view = View::default();
    let mut buffer = [0; 4];
    for (start, c) in text.char_indices() {
        let origin = start..start + c.len_utf8();
        if c.is_ascii() {
            view.push(c, &origin);
        } else if is_zero_width(c) || is_bidi_control(c) || is_mark(c) || is_tag(c) {
            // Invisible: not part of the reading.
        } else {
            for plain in c.encode_utf8(&mut buffer).nfkc() {
                view.push(plain, &origin);
            }
        }
    }
    (view.text != text).then_some(view)
}

/// Returns the text with one level of backslash, percent and character-reference escapes decoded;
/// none if there are none.
pub(crate) fn unescaped(text: &str) -> Option<View> {
    if !text.bytes().any(|b| matches!(b, b'\\' | b'%' | b'&')) {
        return None;
    }
    let mut view = View::default();
    let mut decoded_any = false;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let decoded = match c {
            '\\' => backslash(&text[at + 1..]),
            '%' => percent(&text[at + 1..]),
            '&' => reference(&text[at + 1..]),
            _ => None,
        };
        let (plain, length) = match decoded {
            Some((plain, length)) => {
                decoded_any = true;
                (plain, 1 + length)
            }
            None => (c, c.len_utf8()),
        };
        view.push(plain, &(at..at + length));
        at += length;
    }
    decoded_any.then_some(view)
}

fn hexadecimal(digits: Option<&str>) -> Option<char> {
    let digits = digits?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

fn backslash(rest: &str) -> Option<(char, usize)> {
    match rest.bytes().next()? {
        b'n' => Some(('\n', 1)),
        b'r' => Some(('\r', 1)),
        b't' => Some(('\t', 1)),
        plain @ (b'"' | b'\'' | b'/' | b'\\' | b'`') => Some((char::from(plain), 1)),
        b'u' => Some((hexadecimal(rest.get(1..5))?, 5)),
        b'x' => Some((hexadecimal(rest.get(1..3))?, 3)),
        _ => None,
    }
}

fn percent(rest: &str) -> Option<(char, usize)> {
    hexadecimal(rest.get(..2))
        .filter(char::is_ascii)
        .map(|c| (c, 2))
}

fn reference(rest: &str) -> Option<(char, usize)> {
    const NAMED: [(&str, char); 5] = [
        ("quot;", '"'),
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("apos;", '\''),
    ];
    if let Some((name, c)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((*c, name.len()));
    }
    let number = rest.strip_prefix('#')?;
    let length = number.bytes().take(8).position(|b| b == b';')?;
    let digits = number.get(..length)?;
    let c = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => hexadecimal(Some(digits))?,
        None => char::from_u32(digits.parse().ok()?)?,
    };
    Some((c, length + 2))
}

/// Returns what a run of standard or URL-safe base64 says, if it says text.
pub(crate) fn base64_text(run: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(run.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in run.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).ok()?);
            bits &= (1 << held) - 1;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let readable = text
        .chars()
        .all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
    readable.then_some(text)
}

/// Returns where runs of at least `min` base64 characters stand.
pub(crate) fn base64_runs(text: &str, min: usize) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for (at, byte) in text.bytes().chain(std::iter::once(b' ')).enumerate() {
        let inside =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
        if !inside {
            if at - start >= min {
                runs.push(start..at);
            }
            start = at + 1;
        }
    }
    runs
}

/// Returns the text in lower case, Latin letters without diacritics: what phrases are compared with.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii() {
            folded.push(c);
        } else if c == 'ß' {
            folded.push_str("ss");
        } else {
            let mut parts = std::iter::once(c).nfd();
            match parts.next() {
                Some(base) if base.is_ascii_alphabetic() => folded.push(base),
                _ => folded.push(c),
            }
        }
    }
    folded
}

/// Letters of other scripts that look like a Latin one, in lower case.
const LOOKALIKES: &str = "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwьbкkмmтtвbнhгrпnиuѵvԍgɡgαaεeιiκkνvοoρpτtυuχxωwγyηnβbσoɑaıiϲcⅼlɩiոnօoսuցgհhаaᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrᴛtᴜuᴠvᴡwʏyᴢz";

/// Returns a folded text with look-alikes as the Latin letters they imitate, in words that mix
/// scripts or in texts that have Latin words; none if there are no look-alikes.
pub(crate) fn skeleton(folded: &str) -> Option<String> {
    if folded.is_ascii() || !folded.bytes().any(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let mut changed = false;
    let latin = |c: char| {
        let mut pairs = LOOKALIKES.chars();
        while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
            if from == c {
                return Some(to);
            }
        }
        None
    };
    let skeleton = folded
        .chars()
        .map(|c| match if c.is_ascii() { None } else { latin(c) } {
            Some(letter) => {
                changed = true;
                letter
            }
            None => c,
        })
        .collect();
    changed.then_some(skeleton)
}

/// Returns a folded text with digits and signs as the letters they stand for inside words
/// (`1gn0re`); none if no word has any.
pub(crate) fn respelled(folded: &str) -> Option<String> {
    const LETTERS: [(char, char); 14] = [
        ('0', 'o'),
        ('1', 'i'),
        ('3', 'e'),
        ('4', 'a'),
        ('5', 's'),
        ('7', 't'),
        ('@', 'a'),
        ('$', 's'),
        ('!', 'i'),
        ('|', 'l'),
        ('+', 't'),
        ('€', 'e'),
        ('6', 'g'),
        ('8', 'b'),
    ];
    let stands_for = |c: char| {
        LETTERS
            .iter()
            .find(|(sign, _)| *sign == c)
            .map(|(_, letter)| *letter)
    };
    let mut respelled = String::with_capacity(folded.len());
    let mut changed = false;
    for word in folded.split_inclusive(char::is_whitespace) {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        let body =
            word.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '!' | '.' | ','));
        if letters > 0 && body.chars().any(|c| stands_for(c).is_some()) {
            changed = true;
            respelled.extend(body.chars().map(|c| stands_for(c).unwrap_or(c)));
            respelled.push_str(&word[body.len()..]);
        } else {
            respelled.push_str(word);
        }
    }
    changed.then_some(respelled)
}

/// The fewest single letters in a row that are taken for a spaced word.
const MIN_SPACED_LETTERS: usize = 5;

/// Returns a folded text with words joined that were written in single letters (`i g n o r e`);
/// none if there are none. Two spaces or more end a word.
pub(crate) fn joined(folded: &str) -> Option<String> {
    let mut joined = String::with_capacity(folded.len());
    let mut changed = false;
    let words: Vec<&str> = folded.split(' ').collect();
    let is_letter = |word: &str| word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic();
    let mut at = 0;
    while at < words.len() {
        let run = words[at..]
            .iter()
            .take_while(|word| is_letter(word))
            .count();
        if run >= MIN_SPACED_LETTERS {
            changed = true;
            joined.extend(words[at..at + run].iter().copied());
            at += run;
        } else {
            let end = at + run.max(1);
            joined.push_str(&words[at..end].join(" "));
            at = end;
        }
        if at < words.len() {
            joined.push(' ');
        }
    }
    changed.then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn one_level_of_escapes_is_decoded() {
        for (text, expected) in [
            (r#"{\"a\":\"b\"}"#, r#"{"a":"b"}"#),
            ("a%40b%zz", "a@b%zz"),
            ("&quot;x&#x41;&#66;&amp;lt;", "\"xAB&lt;"),
            (r"\u0041\x42\n\q", "AB\n\\q"),
            (r"\\n", r"\n"),
        ] {
            assert_eq!(unescaped(text).unwrap().text, expected, "{text}");
        }
        for text in [
            "plain",
            "100 % of it",
            "a & b",
            "\\",
            "%",
            "&#;",
            "&#xD800;",
            "%é",
        ] {
            assert!(unescaped(text).is_none(), "{text}");
        }
        let view = unescaped("pw%3Dx").unwrap();
        assert_eq!(view.origin(&(2..3)), 2..5);
        assert_eq!(view.origin(&(3..3)), 0..0);
    }

    #[test]
    fn base64_is_read_when_it_says_text() {
        assert_eq!(base64_text("aGVsbG8gd29ybGQ=").unwrap(), "hello world");
        assert!(base64_text("////").is_none());
        assert!(base64_text("a b").is_none());
        assert_eq!(base64_runs("x aGVsbG8= y", 8), vec![2..10; 1]);
        assert_eq!(base64_runs("aGVsbG8gd29ybGQ", 8), vec![0..15; 1]);
    }

    #[test]
    fn phrases_are_compared_without_case_diacritics_and_look_alikes() {
        assert_eq!(
            folded("Règles Größe ИГНОР 指令"),
            "regles grosse игнор 指令"
        );
        assert_eq!(skeleton("ignоre аll").unwrap(), "ignore all");
        assert!(skeleton("plain").is_none());
        assert!(skeleton("просто").is_none());
        assert_eq!(respelled("1gn0re 4ll!").unwrap(), "ignore all!");
        assert!(respelled("port 8080!").is_none());
        assert_eq!(
            joined("i g n o r e  a b c d e now").unwrap(),
            "ignore  abcde now"
        );
        assert!(joined("a b c").is_none());
    }
}
