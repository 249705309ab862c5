//! The table of secret rules: data from `rules/*.toml`, read once and compiled on first need.
//!
//! A row says what a kind of secret looks like; it does not act. `{}` in its examples stands for a
//! secret drawn from `generate`, so that no secret, not even a made-up one, stands in the files.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

const FILES: [&str; 3] = [
    include_str!("../rules/keys.toml"),
    include_str!("../rules/passwords.toml"),
    include_str!("../rules/prose.toml"),
];

/// The largest compiled form of one rule, in bytes.
const MAX_COMPILED_BYTES: usize = 32 << 20;

/// How a match is told from something that only looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Judge {
    /// A form that its vendor gave it: only examples are spared.
    #[default]
    Token,
    /// Everything between two marks.
    Any,
    /// A block that has a body of base64 between its lines.
    Block,
    /// A value that a name calls secret: long, mixed, no identifier.
    Assigned,
    /// A value that a name calls a password: a digit or a symbol.
    Password,
    /// The same in quotes or in SQL: any word that is no code.
    QuotedPassword,
    /// The same in an environment line: any word that is no code.
    PlainPassword,
    /// A value that a sentence calls a password: a digit or a symbol, or quotes around it.
    ProsePassword,
}

/// One kind of secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The name that stands in placeholders. Never changed once released.
    pub(crate) id: String,
    /// What it is, for people.
    pub(crate) title: String,
    /// Who gave the form out.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation that tests read"))]
    pub(crate) vendor: String,
    /// What somebody can do with it.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation that tests read"))]
    pub(crate) why: String,
    /// One of these stands in every match. One with a capital letter is compared exactly.
    pub(crate) keywords: Vec<String>,
    /// How a match is judged.
    #[serde(default)]
    pub(crate) judge: Judge,
    /// The least entropy of the value, in bits per byte.
    #[serde(default)]
    pub(crate) entropy: f64,
    /// The form. The first group that took part is the value; without groups, the whole match.
    pub(crate) regex: String,
    /// A form from which examples are drawn.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples for tests"))]
    pub(crate) generate: String,
    /// Texts in which the value in the place of `{}` must be replaced.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples for tests"))]
    pub(crate) positive: Vec<String>,
    /// Texts in which nothing may be replaced.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples for tests"))]
    pub(crate) negative: Vec<String>,
    #[serde(skip)]
    exact: OnceLock<Regex>,
    #[serde(skip)]
    folded: OnceLock<Regex>,
}

impl Rule {
    /// Returns the compiled form; compiling happens on first need.
    pub(crate) fn form(&self) -> &Regex {
        self.exact.get_or_init(|| compile(&self.regex, false))
    }

    /// Returns the compiled form that takes letters of either case, for texts that were lower-cased.
    pub(crate) fn folded_form(&self) -> &Regex {
        self.folded.get_or_init(|| compile(&self.regex, true))
    }
}

/// Compiles a form for bytes. Shipped forms are known to compile: a test does it with each.
pub(crate) fn compile(form: &str, any_case: bool) -> Regex {
    RegexBuilder::new(form)
        .unicode(false)
        .case_insensitive(any_case)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
        .expect("every shipped form compiles")
}

/// The rules and the keywords that call for them.
#[derive(Debug)]
pub(crate) struct Table {
    rules: Vec<Rule>,
    keywords: AhoCorasick,
    /// For each keyword: its rule, and the keyword itself if it is compared exactly.
    calls: Vec<(usize, Option<String>)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

/// The table that is compiled in.
pub(crate) static STANDARD: LazyLock<Table> = LazyLock::new(|| {
    let mut rules = Vec::new();
    for text in FILES {
        let file: File = toml::from_str(text).expect("every shipped rule file is well formed");
        rules.extend(file.rule);
    }
    Table::new(rules)
});

impl Table {
    fn new(rules: Vec<Rule>) -> Self {
        let mut calls = Vec::new();
        let mut words = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for keyword in &rule.keywords {
                let exact = keyword.bytes().any(|b| b.is_ascii_uppercase());
                calls.push((index, exact.then(|| keyword.clone())));
                words.push(keyword);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .expect("a few hundred keywords fit one automaton");
        Self {
            rules,
            keywords,
            calls,
        }
    }

    /// Returns the rules, the most specific first.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Tells whether a rule has that id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.rules.iter().any(|rule| rule.id == id)
    }

    /// Tells for each rule whether one of its keywords stands in the text; none if none does.
    pub(crate) fn called(&self, text: &str, any_case: bool) -> Option<Vec<bool>> {
        let mut called: Option<Vec<bool>> = None;
        for found in self.keywords.find_overlapping_iter(text) {
            let (rule, exact) = &self.calls[found.pattern().as_usize()];
            let stands = any_case
                || exact
                    .as_ref()
                    .is_none_or(|word| text.as_bytes()[found.range()] == *word.as_bytes());
            if stands {
                called.get_or_insert_with(|| vec![false; self.rules.len()])[*rule] = true;
            }
        }
        called
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_complete_and_compiles() {
        for rule in STANDARD.rules() {
            assert!(
                !rule.title.is_empty() && !rule.vendor.is_empty() && rule.why.ends_with('.'),
                "{}",
                rule.id
            );
            assert!(
                !rule.keywords.is_empty() && !rule.positive.is_empty() && !rule.negative.is_empty(),
                "{}",
                rule.id
            );
            assert!(
                rule.id.len() <= 48 && rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
                "{}",
                rule.id
            );
            rule.form();
            rule.folded_form();
        }
    }

    #[test]
    fn no_two_rules_have_the_same_id() {
        let mut ids: Vec<_> = STANDARD.rules().iter().map(|rule| &rule.id).collect();
        ids.sort();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(all >= 40, "{all}");
    }

    #[test]
    fn a_keyword_with_a_capital_is_compared_exactly() {
        let called = |text, any_case| {
            STANDARD.called(text, any_case).is_some_and(|called| {
                STANDARD
                    .rules()
                    .iter()
                    .zip(called)
                    .any(|(rule, called)| called && rule.id == "aws-access-key-id")
            })
        };
        assert!(called("AKIA", false));
        assert!(!called("akia", false));
        assert!(called("akia", true));
    }
}
