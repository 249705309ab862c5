//! Repairs JSON text before it is parsed: an escape that is half a surrogate pair becomes U+FFFD.
//!
//! A client that cuts a string in the middle of an emoji sends `"\ud83d"`. JSON's grammar allows
//! it, but it is no Unicode text, and a parser refuses the whole request. Nothing else is changed.

use std::borrow::Cow;

/// Returns the text with every lone surrogate escape replaced by `\ufffd`.
///
/// Looks only at escapes; text that is no JSON passes as it is, for the parser to refuse.
#[must_use]
pub(crate) fn without_lone_surrogates(text: &[u8]) -> Cow<'_, [u8]> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(offset) = text[at..].iter().position(|&byte| byte == b'\\') {
        let here = at + offset;
        let Some(unit) = escaped_unit(&text[here..]) else {
            // `\\` and the like: the escaped character must not start an escape of its own.
            at = (here + 2).min(text.len());
            continue;
        };
        let is_pair = is_high(unit)
            && escaped_unit(text.get(here + 6..).unwrap_or_default()).is_some_and(is_low);
        if is_pair {
            at = here + 12;
            continue;
        }
        if is_high(unit) || is_low(unit) {
            let copy = mended.get_or_insert_with(|| text.to_vec());
            copy[here + 2..here + 6].copy_from_slice(b"fffd");
        }
        at = here + 6;
    }
    mended.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Reads `\uXXXX` at the start of the text.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

const fn is_high(unit: u16) -> bool {
    matches!(unit, 0xD800..=0xDBFF)
}

const fn is_low(unit: u16) -> bool {
    matches!(unit, 0xDC00..=0xDFFF)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, read: &str) {
        let mended = without_lone_surrogates(text.as_bytes());
        let value: String = serde_json::from_slice(&mended).unwrap();
        assert_eq!(value, read, "{text}");
    }

    #[test]
    fn half_a_pair_becomes_a_replacement_character() {
        check(r#""a\ud83d""#, "a\u{fffd}");
        check(r#""\ud83db""#, "\u{fffd}b");
        check(r#""\uDE00\uD83D\uDE00""#, "\u{fffd}\u{1f600}");
        check(r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}");
        check(r#""\ud83d\n""#, "\u{fffd}\n");
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        check(r#""\ud83d\ude00""#, "\u{1f600}");
        check(r#""\\ud83d""#, r"\ud83d");
        check(r#""\\\\ud83d \u00e9""#, r"\\ud83d é");
        let odd = [&b"\"\\u12"[..], b"\\", b"\\u", b"", b"\xff\\ud8zz"];
        for text in odd {
            assert_eq!(&*without_lone_surrogates(text), text);
        }
    }

    proptest! {
        #[test]
        fn any_json_text_is_left_alone(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(matches!(without_lone_surrogates(json.as_bytes()), Cow::Borrowed(_)));
        }

        #[test]
        fn any_units_parse_as_what_is_lossily_decoded(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let json: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{json}\"");
            let read: String =
                serde_json::from_slice(&without_lone_surrogates(json.as_bytes())).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }
    }
}
