//! Signs that stand for characters, and signs that part what belongs together: escapes of languages and
//! formats, codes that color a terminal, breaks that mail and code put into long lines.

use std::ops::Range;

use super::View;
use crate::placeholder::FILLER;

/// Returns the text with one level of backslash, percent and character-reference escapes decoded;
/// none if there are none.
pub(super) fn unescaped(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut done = 0;
    for at in memchr::memchr3_iter(b'\\', b'%', b'&', text.as_bytes()) {
        if at < done {
            continue;
        }
        let rest = &text[at + 1..];
        let decoded = match text.as_bytes()[at] {
            b'\\' => backslash(rest),
            b'%' => percent(&text[at..]).map(|(c, length)| (Some(c), length)),
            _ => reference(rest).map(|(c, length)| (Some(c), length)),
        };
        if let Some((plain, length)) = decoded {
            view.copy(text, done..at);
            done = at + 1 + length;
            // No reading may bring what stands for a placeholder.
            view.replace(
                at..done,
                plain.into_iter().filter(|c| *c != char::from(FILLER)),
            );
        }
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

fn hexadecimal(digits: Option<&str>) -> Option<char> {
    let digits = digits?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Returns what stands for an escape, if anything does, and how long it is behind the backslash.
fn backslash(rest: &str) -> Option<(Option<char>, usize)> {
    let bytes = rest.as_bytes();
    let (c, length) = match bytes.first()? {
        b'n' => ('\n', 1),
        b'r' => ('\r', 1),
        b't' => ('\t', 1),
        plain @ (b'"' | b'\'' | b'/' | b'\\' | b'`') => (char::from(*plain), 1),
        b'u' if bytes.get(1) == Some(&b'{') => {
            let length = bytes.iter().take(10).position(|b| *b == b'}')?;
            (hexadecimal(rest.get(2..length))?, length + 1)
        }
        b'u' => (hexadecimal(rest.get(1..5))?, 5),
        b'U' => (hexadecimal(rest.get(1..9))?, 9),
        b'x' => (hexadecimal(rest.get(1..3))?, 3),
        b'0'..=b'7' => return octal(rest).map(|(c, length)| (Some(c), length)),
        // A line that goes on.
        b'\n' => return Some((None, 1)),
        b'\r' if bytes.get(1) == Some(&b'\n') => return Some((None, 2)),
        _ => return None,
    };
    Some((Some(c), length))
}

/// Three digits of ASCII, perhaps with a zero before them: fewer are references to groups.
fn octal(rest: &str) -> Option<(char, usize)> {
    let zero = usize::from(
        rest.starts_with('0')
            && rest
                .as_bytes()
                .get(3)
                .is_some_and(|b| matches!(b, b'0'..=b'7')),
    );
    let digits = rest.get(zero..zero + 3)?;
    if !digits.bytes().all(|b| matches!(b, b'0'..=b'7')) {
        return None;
    }
    let code = u8::from_str_radix(digits, 8).ok().filter(u8::is_ascii)?;
    Some((char::from(code), zero + 3))
}

/// Returns the character whose bytes the escapes at the beginning of a text are, and how long they are
/// behind the first sign.
fn percent(text: &str) -> Option<(char, usize)> {
    let mut bytes = [0; 4];
    let mut n = 0;
    for byte in &mut bytes {
        let Some(escape) = text
            .get(3 * n..3 * n + 3)
            .filter(|escape| escape.starts_with('%'))
        else {
            break;
        };
        let code = hexadecimal(escape.get(1..3)).and_then(|c| u8::try_from(u32::from(c)).ok());
        let Some(code) = code else { break };
        *byte = code;
        n += 1;
        if n == 1 && code.is_ascii() {
            break;
        }
    }
    let known = bytes.get(..n)?;
    let valid = match std::str::from_utf8(known) {
        Ok(text) => text,
        // What follows the first character may be cut.
        Err(error) => std::str::from_utf8(known.get(..error.valid_up_to())?).ok()?,
    };
    let c = valid.chars().next()?;
    Some((c, 3 * c.len_utf8() - 1))
}

fn reference(rest: &str) -> Option<(char, usize)> {
    const NAMED: [(&str, char); 32] = [
        ("quot;", '"'),
        ("amp;", '&'),
        ("lt;", '<'),
        ("gt;", '>'),
        ("apos;", '\''),
        ("nbsp;", ' '),
        ("equals;", '='),
        ("colon;", ':'),
        ("lowbar;", '_'),
        ("UnderBar;", '_'),
        ("commat;", '@'),
        ("sol;", '/'),
        ("bsol;", '\\'),
        ("excl;", '!'),
        ("num;", '#'),
        ("dollar;", '$'),
        ("percnt;", '%'),
        ("ast;", '*'),
        ("plus;", '+'),
        ("comma;", ','),
        ("period;", '.'),
        ("semi;", ';'),
        ("quest;", '?'),
        ("lpar;", '('),
        ("rpar;", ')'),
        ("grave;", '`'),
        ("Hat;", '^'),
        ("vert;", '|'),
        ("hyphen;", '-'),
        ("dash;", '-'),
        ("Tab;", '\t'),
        ("NewLine;", '\n'),
    ];
    if let Some((name, c)) = NAMED.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((*c, name.len()));
    }
    let number = rest.strip_prefix('#')?;
    let hex = usize::from(number.starts_with(['x', 'X']));
    let length = number
        .bytes()
        .skip(hex)
        .take(8)
        .take_while(|b| {
            if hex == 1 {
                b.is_ascii_hexdigit()
            } else {
                b.is_ascii_digit()
            }
        })
        .count();
    let digits = number.get(hex..hex + length)?;
    let code = u32::from_str_radix(digits, if hex == 1 { 16 } else { 10 }).ok()?;
    let end = hex + length;
    // Readers of HTML do without the semicolon.
    let closed = usize::from(number.as_bytes().get(end) == Some(&b';'));
    Some((char::from_u32(code)?, 1 + end + closed))
}

/// Returns the text without the codes that color a terminal and without zero bytes, which text of two
/// bytes a character has between its letters; none if there are none.
pub(super) fn without_controls(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut done = 0;
    for at in memchr::memchr2_iter(0x1b, 0, text.as_bytes()) {
        let length = match text.as_bytes()[at] {
            0 => 1,
            _ => match code(&text.as_bytes()[at..]) {
                Some(length) => length,
                None => continue,
            },
        };
        if at < done {
            continue;
        }
        view.copy(text, done..at);
        done = at + length;
        view.replace(at..done, std::iter::empty());
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

/// Returns the length of the code that begins there: `ESC [ 1 ; 32 m`.
fn code(bytes: &[u8]) -> Option<usize> {
    const MAX_PARAMETERS: usize = 24;
    let rest = bytes.get(1..)?.strip_prefix(b"[")?;
    let n = rest
        .iter()
        .take(MAX_PARAMETERS)
        .take_while(|b| matches!(b, 0x20..=0x3f))
        .count();
    matches!(rest.get(n)?, 0x40..=0x7e).then_some(n + 3)
}

/// Returns the text with literals joined that a plus sign adds up (`"ab" + "cd"`), and without the
/// breaks and signs of quoted-printable mail, if it has such; none if there are none.
pub(super) fn joined(text: &str) -> Option<View> {
    let bytes = text.as_bytes();
    let mut found: Vec<(Range<usize>, Option<char>)> = memchr::memchr_iter(b'+', bytes)
        .filter_map(|at| Some((sum(bytes, at)?, None)))
        .collect();
    if memchr::memmem::find(bytes, b"=3D").is_some() {
        found.extend(memchr::memchr_iter(b'=', bytes).filter_map(|at| {
            let (c, length) = printable(&text[at + 1..])?;
            Some((at..at + 1 + length, c))
        }));
        found.sort_by_key(|(range, _)| range.start);
    }
    let mut view = View::default();
    let mut done = 0;
    for (range, c) in found {
        if range.start >= done {
            view.copy(text, done..range.start);
            done = range.end;
            view.replace(range, c.into_iter());
        }
    }
    view.copy(text, done..text.len());
    (!view.changed.is_empty()).then_some(view)
}

/// Returns what parts two literals that a plus sign adds up: from the quote before to the one behind.
fn sum(bytes: &[u8], plus: usize) -> Option<Range<usize>> {
    const MAX_WHITE: usize = 64;
    let white = |b: &&u8| b.is_ascii_whitespace();
    let before = bytes[..plus]
        .iter()
        .rev()
        .take(MAX_WHITE)
        .take_while(white)
        .count();
    let after = bytes[plus + 1..]
        .iter()
        .take(MAX_WHITE)
        .take_while(white)
        .count();
    let open = plus.checked_sub(before + 1)?;
    let close = plus + 1 + after;
    let quote = bytes[open];
    (matches!(quote, b'"' | b'\'' | b'`') && bytes.get(close) == Some(&quote))
        .then_some(open..close + 1)
}

/// Returns what an equals sign of quoted-printable text stands for, and its length behind the sign.
fn printable(rest: &str) -> Option<(Option<char>, usize)> {
    if rest.starts_with('\n') {
        return Some((None, 1));
    }
    if rest.starts_with("\r\n") {
        return Some((None, 2));
    }
    let c = hexadecimal(rest.get(..2)).filter(char::is_ascii)?;
    Some((Some(c), 2))
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
    fn one_level_of_escapes_is_decoded() {
        check(
            unescaped,
            &[
                (r#"{\"a\":\"b\"}"#, Some(r#"{"a":"b"}"#)),
                ("a%40b%zz", Some("a@b%zz")),
                ("&quot;x&#x41;&#66;&amp;lt;", Some("\"xAB&lt;")),
                ("&#72&#x69 A&lowbar;B&equals;c", Some("Hi A_B=c")),
                (r"\u0041\x42\n\q", Some("AB\n\\q")),
                (r"\u{41}\U00000042\103\0104", Some("ABCD")),
                (r"\\n", Some(r"\n")),
                ("a\\\nb", Some("ab")),
                ("%E7%94%A8x%C3%28%C3", Some("用x%C3(%C3")),
                ("plain", None),
                ("100 % of it", None),
                ("a & b", None),
                ("\\", None),
                ("%", None),
                ("&#;", None),
                ("&#xD800;", None),
                ("%é", None),
                (r"\1 \12 \u{} \777", None),
            ],
        );
        let view = unescaped("pw%3Dx").unwrap();
        assert_eq!(view.origin(&(2..3)), 2..5);
        assert_eq!(view.origin(&(3..3)), 0..0);
    }

    #[test]
    fn codes_of_terminals_and_zero_bytes_are_taken_away() {
        check(
            without_controls,
            &[
                ("pw: \u{1b}[1;32mx\u{1b}[0m", Some("pw: x")),
                ("p\0w\0", Some("pw")),
                ("\u{1b} [x", None),
                ("plain", None),
            ],
        );
    }

    #[test]
    fn literals_and_lines_of_mail_are_joined() {
        check(
            joined,
            &[
                ("k = \"ab\" +\n    \"cd\"", Some("k = \"abcd\"")),
                ("'a' + 'b' + c + 'd'", Some("'ab' + c + 'd'")),
                ("a=3Db=\ncd", Some("a=bcd")),
                ("a=\nb", None),
                ("\"a\" + 'b'", None),
                ("+", None),
            ],
        );
    }
}
