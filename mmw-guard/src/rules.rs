//! The table of secret rules: data from `rules/**/*.toml`, lowered to statics by the build script.
//!
//! A row says what a kind of secret looks like; it does not act.

mod pattern;
mod sequence;

use crate::keywords::Word;

pub(crate) use self::pattern::Pattern;
#[cfg(any(test, feature = "testing"))]
pub(crate) use self::sequence::UNLIMITED;
pub(crate) use self::sequence::{Part, Set, end_of, run_before};

/// How a kind of secret is recognised.
#[derive(Debug)]
pub(crate) enum Form {
    /// By a beginning of its own and a form that its vendor gave it.
    Token {
        /// What stands directly before the beginning; mostly nothing.
        before: &'static [Part],
        /// What follows the beginning: one of these.
        forms: &'static [&'static [Part]],
        /// The vendor's own check.
        checksum: Option<Checksum>,
        /// Whether a mixed run of another length counts too.
        is_loose: bool,
    },
    /// By its vendor's name before it and its form.
    Nearby {
        /// One of these.
        forms: &'static [&'static [Part]],
    },
    /// By the marks around it.
    Block,
    /// By code that has a table of its own (`secrets::bare`).
    Coded,
    /// By an expression around a keyword.
    Pattern(Pattern),
}

/// A check that a vendor put into its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The last six characters are the CRC-32 of the ones before, in base 62 (GitHub, npm).
    Crc32,
}

/// One kind of secret.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The name that stands in placeholders. Never changed once released.
    pub(crate) id: &'static str,
    /// What it is, for people.
    pub(crate) title: &'static str,
    /// Who gave the form out.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation that tests read"))]
    pub(crate) vendor: &'static str,
    /// What somebody can do with it.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation that tests read"))]
    pub(crate) why: &'static str,
    /// Where the vendor shows the form, if known.
    #[expect(dead_code, reason = "documentation of the row")]
    pub(crate) docs: &'static str,
    /// The least entropy of the value, in bits per byte; 0 asks for none.
    pub(crate) entropy: f64,
    /// The words that call for the rule.
    #[cfg_attr(
        not(any(test, feature = "testing")),
        expect(dead_code, reason = "the index has them too; tests read these")
    )]
    pub(crate) keywords: &'static [&'static str],
    /// How it is recognised.
    pub(crate) form: Form,
}

/// Texts that show a rule at work; `{}` stands for a secret drawn from `generate`.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Examples {
    pub(crate) generate: &'static str,
    pub(crate) positive: &'static [&'static str],
    pub(crate) negative: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Returns the place of a rule in the table, if there is one of that id.
pub(crate) fn place_of(id: &str) -> Option<usize> {
    let found = BY_ID.binary_search_by_key(&id, |(id, _)| id).ok()?;
    Some(BY_ID[found].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete_and_compiles() {
        for rule in &RULES {
            assert!(
                !rule.title.is_empty() && !rule.vendor.is_empty(),
                "{}",
                rule.id
            );
            assert!(rule.why.ends_with('.'), "{}", rule.id);
            let is_coded = matches!(rule.form, Form::Coded);
            assert!(is_coded || !rule.keywords.is_empty(), "{}", rule.id);
            if let Form::Pattern(pattern) = &rule.form {
                pattern.form();
                pattern.folded_form();
            }
        }
    }

    #[test]
    fn a_pattern_has_examples_for_and_against_it() {
        for (rule, examples) in RULES.iter().zip(&EXAMPLES) {
            if matches!(rule.form, Form::Pattern(_) | Form::Block | Form::Coded) {
                assert!(!examples.positive.is_empty(), "{}", rule.id);
                assert!(!examples.negative.is_empty(), "{}", rule.id);
                assert!(!examples.generate.is_empty(), "{}", rule.id);
            }
        }
    }

    #[test]
    fn the_table_has_more_than_a_thousand_kinds() {
        assert!(RULES.len() > 1_000, "{}", RULES.len());
    }
}
