//! Forms of text that rules compare: what counts as the same content, where text may be cut.

use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization;

/// A fingerprint of comparable content: equal if and only if two statements say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest([u8; 16]);

impl ContentDigest {
    /// Returns the digest of a content.
    #[must_use]
    pub fn of(content: &str) -> Self {
        let full: [u8; 32] = Sha256::digest(comparable(content).as_bytes()).into();
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        Self(short)
    }

    /// Returns the digest with these bytes, as storage keeps them.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Returns content as it is compared: NFC, trimmed, every run of white space folded to one space.
#[must_use]
pub fn comparable(content: &str) -> String {
    let mut folded = String::with_capacity(content.len());
    let mut pending_space = false;
    for c in content.nfc() {
        if c.is_whitespace() {
            pending_space = !folded.is_empty();
        } else {
            if pending_space {
                folded.push(' ');
                pending_space = false;
            }
            folded.push(c);
        }
    }
    folded
}

/// Returns the longest prefix of at most `max_bytes` bytes that ends on a character border.
#[must_use]
pub fn cut_at_char(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_unicode_form_do_not_make_a_difference() {
        assert_eq!(comparable("  a\t\n b  "), "a b");
        assert_eq!(comparable("cafe\u{301}"), comparable("café"));
        assert_ne!(comparable("port 8080"), comparable("port 8081"));
        assert_ne!(comparable("A"), comparable("a"));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        for text in ["—", "é", "👩‍👩‍👧", "日本"] {
            for max in 0..=8 {
                assert!(text.starts_with(cut_at_char(text, max)));
            }
        }
    }
}
