//! Tells which of a few words a line holds, faster than it could be parsed.

use aho_corasick::{AhoCorasick, packed};

/// A set of at most sixteen words, none of which begins with another or lies in one.
pub struct Words {
    /// Compares many bytes at once, where the processor can.
    fast: Option<packed::Searcher>,
    plain: AhoCorasick,
}

impl Words {
    /// Returns a set; bit `n` of what is found stands for word `n`.
    #[must_use]
    pub fn new(words: &[&str]) -> Self {
        debug_assert!(words.len() <= 16, "a bit for each word");
        Self {
            // Many of the words begin with a quotation mark, which lines are full of: a search that
            // looks for the rarest byte alone would stop at each.
            fast: packed::Searcher::new(words),
            plain: AhoCorasick::new(words).expect("a few short words"),
        }
    }

    /// Returns which words a line holds.
    #[must_use]
    pub fn of(&self, line: &[u8]) -> u16 {
        let mut found = 0;
        match &self.fast {
            Some(fast) => {
                for one in fast.find_iter(line) {
                    found |= 1 << one.pattern().as_usize();
                }
            }
            None => {
                for one in self.plain.find_iter(line) {
                    found |= 1 << one.pattern().as_usize();
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 3] = ["\"user\"", "__remember", "[mark]"];

    proptest! {
        #[test]
        fn a_word_is_found_wherever_it_stands(
            before in "[a-z\"_\\[]{0,80}", after in "[a-z\"_\\]]{0,80}", word in 0_usize..3
        ) {
            let line = format!("{before}{}{after}", WORDS[word]);
            let words = Words::new(&WORDS);
            let wanted = WORDS.iter().enumerate().filter(|(_, word)| line.contains(**word));
            let wanted = wanted.fold(0, |found, (n, _)| found | 1 << n);
            prop_assert_eq!(words.of(line.as_bytes()), wanted);
            let plain = Words { fast: None, ..words };
            prop_assert_eq!(plain.of(line.as_bytes()), wanted);
        }
    }
}
