//! The hashes of a file and of its parts. Pure.
//!
//! A file has two: of its bytes as they are, and of its text with line ends folded, so that a checkout
//! with other line ends is no change. Parts are always folded.

use std::borrow::Cow;

use mmw_core::source::ContentHash;
use sha2::{Digest as _, Sha256};

/// A file with a zero byte in its first bytes is no text, as git has it.
const LOOKED_AT_FOR_ZERO: usize = 8_000;

/// The mark of the byte order, which some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The hashes of a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileHashes {
    /// Of the bytes as they are.
    pub(super) raw: ContentHash,
    /// Of the text with its line ends folded; none of what is no text.
    pub(super) folded: Option<ContentHash>,
    /// Of the folded text with a line end at its end if it has none, and without if it has one: editors
    /// differ in that, and it says nothing. Only compared with, never sent.
    other_end: Option<ContentHash>,
}

impl FileHashes {
    /// Hashes a file.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let head = &bytes[..bytes.len().min(LOOKED_AT_FOR_ZERO)];
        if head.contains(&0) {
            return Some(Self {
                raw: sha256([bytes])?,
                folded: None,
                other_end: None,
            });
        }
        let text = folded(bytes);
        let (body, has_end) = match text.strip_suffix(b"\n") {
            Some(body) => (body, true),
            None => (text.as_ref(), false),
        };
        let mut hasher = Sha256::new();
        hasher.update(body);
        let without = named(&hasher.clone().finalize())?;
        hasher.update(b"\n");
        let with = named(&hasher.finalize())?;
        let (folded, other_end) = if has_end {
            (with, without)
        } else {
            (without, with)
        };
        let is_as_it_was = matches!(text, Cow::Borrowed(_));
        Some(Self {
            raw: if is_as_it_was {
                folded.clone()
            } else {
                sha256([bytes])?
            },
            folded: Some(folded),
            other_end: Some(other_end).filter(|_| !body.is_empty()),
        })
    }

    /// Tells whether a recorded hash is one of these.
    pub(super) fn has(&self, hash: &ContentHash) -> bool {
        self.raw == *hash || [&self.folded, &self.other_end].contains(&&Some(hash.clone()))
    }
}

/// Returns the text of a file without the mark of the byte order; `None` if it is no UTF-8.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// Returns the hash of some lines, whatever their ends were.
pub(super) fn of_lines(lines: &[&str]) -> Option<ContentHash> {
    let parts = lines
        .iter()
        .flat_map(|line| [line.as_bytes(), b"\n".as_slice()]);
    sha256(parts)
}

fn sha256<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Option<ContentHash> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    named(&hasher.finalize())
}

/// Returns a digest as a hash. `None` can't happen: 64 hexadecimal digits are one.
fn named(digest: &[u8]) -> Option<ContentHash> {
    let hex = base16ct::lower::encode_string(digest);
    ContentHash::new(&format!("sha256:{hex}")).ok()
}

/// Returns the bytes with `\r\n` as `\n`.
fn folded(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memmem::find(bytes, b"\r\n").is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_hash_is_what_sha256sum_prints() {
        let hashes = FileHashes::of(b"abc").unwrap();
        assert_eq!(
            hashes.raw.as_str(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn other_line_ends_are_no_other_text() {
        let folded = |bytes: &[u8]| FileHashes::of(bytes).unwrap().folded;
        let plain = folded(b"a\nb\n");
        for same in [&b"a\r\nb\r\n"[..], b"a\r\nb\n"] {
            assert_eq!(folded(same), plain, "{same:?}");
        }
        for other in [
            &b"a\nb\n\n"[..],
            b"a b\n",
            b"a\rb\n",
            b"a\nb",
            b"a\r\r\nb\n",
            b"",
        ] {
            assert_ne!(folded(other), plain, "{other:?}");
        }
        let has = |now: &[u8], then: &[u8]| {
            let then = FileHashes::of(then).unwrap();
            FileHashes::of(now)
                .unwrap()
                .has(&then.folded.unwrap_or(then.raw))
        };
        assert!(has(b"a\nb", b"a\nb\n") && has(b"a\nb\n", b"a\nb") && has(b"a\r\nb", b"a\nb\n"));
        assert!(!has(b"a\n\n", b"a") && !has(b"", b"\n") && !has(b"a\0b", b"a\0b\n"));
        assert_eq!(folded(b"a\0b"), None);
        assert_eq!(text(b"\xef\xbb\xbfa"), Some("a"));
        assert_eq!(text(b"\xff"), None);
    }

    proptest::proptest! {
        #[test]
        fn a_checkout_with_other_line_ends_is_the_same_text(lines in proptest::collection::vec("[a-z é]{0,6}", 0..8)) {
            let unix: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let windows: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            let folded = |text: &str| FileHashes::of(text.as_bytes()).unwrap().folded;
            proptest::prop_assert_eq!(folded(&unix), folded(&windows));
            let (unix, windows): (Vec<&str>, Vec<&str>) = (unix.lines().collect(), windows.lines().collect());
            proptest::prop_assert_eq!(of_lines(&unix), of_lines(&windows));
        }
    }
}
