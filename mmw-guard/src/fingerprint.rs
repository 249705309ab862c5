//! A fingerprint of rules, to tell whether a text was screened with the rules of today.
//!
//! It tells changes apart, nothing more: it is no proof against somebody who looks for two texts
//! with one fingerprint. Whoever can choose rules need not do that.

/// FNV-1a with 64 bits: the same on every machine and in every version of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of nothing.
    #[cfg(test)]
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Returns the fingerprint that goes on from a number.
    pub(crate) const fn from(number: u64) -> Self {
        Self(number)
    }

    /// Takes in a part. Its length goes with it, so that parts can't run into each other.
    #[must_use]
    pub(crate) fn with(self, part: &str) -> Self {
        let length = (part.len() as u64).to_le_bytes();
        let bytes = length.iter().chain(part.as_bytes());
        Self(bytes.fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// Returns it as a number that is never 0, which stands for "never screened".
    pub(crate) const fn get(self) -> u64 {
        if self.0 == 0 { 1 } else { self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&str]| {
            parts
                .iter()
                .fold(Fingerprint::new(), |done, part| done.with(part))
                .get()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
    }
}
