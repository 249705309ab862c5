//! Reads what stands behind one level of base64, hexadecimal or binary digits.

use std::ops::Range;

use crate::views::base64_text;

/// The shortest run of base64 or hexadecimal digits that is read, in bytes.
const MIN_RUN_BYTES: usize = 16;
/// How much of a text is decoded, in bytes.
const MAX_DECODED_BYTES: usize = 256 << 10;
/// The share of letters and spaces in what people write, in percent.
const MIN_LETTERS_PERCENT: usize = 70;

/// Returns what the runs of a text say, where they say something that can be read.
pub(super) fn texts(text: &str, runs: &[Range<u32>]) -> Vec<(String, Range<usize>)> {
    let mut said = Vec::new();
    let mut left = MAX_DECODED_BYTES;
    for run in runs {
        let run = run.start as usize..run.end as usize;
        let Some(encoded) = text.get(run.clone()) else {
            continue;
        };
        if encoded.len() < MIN_RUN_BYTES || encoded.len() > left || !may_say_something(encoded) {
            continue;
        }
        left -= encoded.len();
        if let Some(decoded) = digits(encoded)
            .or_else(|| base64_text(encoded))
            .filter(|said| is_readable(said))
        {
            said.push((decoded, run));
        }
    }
    said
}

/// Base64 of text has letters of both cases, or is hexadecimal or binary digits.
fn may_say_something(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.as_bytes().iter().any(is);
    let is_digits = run.bytes().all(|b| {
        b.is_ascii_hexdigit()
            || b.is_ascii_whitespace()
            || matches!(b, b'x' | b'X' | b',' | b':' | b'-')
    });
    is_digits || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

fn digits(run: &str) -> Option<String> {
    let groups: Vec<&str> = run
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '-'))
        .filter(|group| !group.is_empty())
        .map(|group| group.strip_prefix("0x").unwrap_or(group))
        .collect();
    let joined: String = groups.concat();
    let (radix, width) = if joined.bytes().all(|b| matches!(b, b'0' | b'1')) {
        (2, 8)
    } else {
        (16, 2)
    };
    if !joined.len().is_multiple_of(width) || !joined.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let bytes: Option<Vec<u8>> = joined
        .as_bytes()
        .chunks(width)
        .map(|chunk| u8::from_str_radix(std::str::from_utf8(chunk).ok()?, radix).ok())
        .collect();
    String::from_utf8(bytes?).ok()
}

fn is_readable(text: &str) -> bool {
    let n_chars = text.chars().count();
    let n_letters = text
        .chars()
        .filter(|c| c.is_alphabetic() || *c == ' ')
        .count();
    n_chars >= 6
        && !text.chars().any(|c| c.is_control() && !c.is_whitespace())
        && n_letters * 100 >= n_chars * MIN_LETTERS_PERCENT
}
