//! Replaces secrets in a group of texts that belong together: the fields of a draft, or one text.
//!
//! A value that is found in one text is replaced wherever else it stands in any of them. Passes
//! repeat until nothing is found, so that a second redaction changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::beside::Beside;
use crate::placeholder;
use crate::secrets::{self, Hit, Read};
use crate::views::{self, View};

/// The most passes. Each one replaces something for good; two are the rule.
const MAX_PASSES: usize = 16;
/// The shortest value that is looked for elsewhere, in bytes.
const MIN_REPEATED_BYTES: usize = 5;
/// From this length on a value is replaced inside other words too, in bytes.
const UNMISTAKABLE_BYTES: usize = 12;

/// Up to this many values are looked for one after the other.
const FEW_VALUES: usize = 16;

/// A text after redaction.
#[derive(Debug, Default)]
pub(crate) struct Redacted {
    /// The clean text, if anything was replaced.
    pub(crate) text: Option<String>,
    /// How many values were replaced, by the rule's place in the table.
    pub(crate) counts: BTreeMap<usize, u32>,
}

/// The values that were found, with the rule that found each.
pub(crate) type Values = BTreeMap<String, usize>;

/// Returns the texts without secrets, in the same order, and the values that were in them.
pub(crate) fn redact(beside: &Beside<'_>, texts: &[&str]) -> (Vec<Redacted>, Values) {
    let mut redacted: Vec<Redacted> = texts.iter().map(|_| Redacted::default()).collect();
    let mut values = Values::new();
    for _ in 0..MAX_PASSES {
        let reads: Vec<Read<'_>> = texts
            .iter()
            .zip(&redacted)
            .map(|(text, done)| Read::new(beside, done.text.as_deref().unwrap_or(text)))
            .collect();
        let hits: Vec<Vec<Hit>> = reads
            .iter()
            .map(|read| secrets::find_in(beside, read, false))
            .collect();
        if hits.iter().all(Vec::is_empty) {
            break;
        }
        for (n, found) in hits.iter().enumerate() {
            let text = redacted[n].text.as_deref().unwrap_or(texts[n]);
            for hit in found.iter().filter(|hit| !beside.is_pattern(hit.rule)) {
                let shown = hit.value.iter().map(String::as_str);
                for value in shown
                    .chain([&text[hit.span.clone()]])
                    .filter(|value| is_worth_repeating(value))
                {
                    // Many hits are of one value: it is kept once.
                    if !values.contains_key(value) {
                        values.insert(value.to_owned(), hit.rule);
                    }
                }
            }
        }
        let searcher = Repeats::new(&values);
        let clean: Vec<_> = reads
            .iter()
            .zip(hits)
            .map(|(read, mut found)| {
                found.extend(searcher.find(&read.masked));
                searcher.find_in_views(&read.views, &mut found);
                let mut found = secrets::settled(found, &read.masked, &read.placeholders);
                beside.spare(read.text, &mut found);
                (!found.is_empty()).then(|| (replaced(beside, read.text, &found), found))
            })
            .collect();
        for (done, clean) in redacted.iter_mut().zip(clean) {
            let Some((text, found)) = clean else { continue };
            for hit in &found {
                *done.counts.entry(hit.rule).or_default() += 1;
            }
            done.text = Some(text);
        }
    }
    (redacted, values)
}

fn replaced(beside: &Beside<'_>, text: &str, hits: &[Hit]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for hit in hits {
        clean.push_str(&text[done..hit.span.start]);
        placeholder::write(beside.id(hit.rule), &mut clean);
        done = hit.span.end;
    }
    clean.push_str(&text[done..]);
    clean
}

/// Words that are passwords in one place and ordinary words in the next.
fn is_worth_repeating(value: &str) -> bool {
    const COMMON: [&str; 22] = [
        "admin",
        "administrator",
        "password",
        "passwd",
        "secret",
        "guest",
        "postgres",
        "mysql",
        "mongo",
        "redis",
        "rabbitmq",
        "oracle",
        "default",
        "changeme",
        "mypassword",
        "mysecret",
        "example",
        "username",
        "login",
        "access",
        "token",
        "staging",
    ];
    value.len() >= MIN_REPEATED_BYTES && !COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Looks for known values in other texts.
///
/// Mostly there are one or two: an automaton for them would cost more to build than it saves.
struct Repeats<'v> {
    values: Vec<(&'v str, usize)>,
    searcher: Option<AhoCorasick>,
}

impl<'v> Repeats<'v> {
    fn new(values: &'v Values) -> Self {
        let values: Vec<_> = values
            .iter()
            .map(|(value, rule)| (value.as_str(), *rule))
            .collect();
        let searcher = if values.len() > FEW_VALUES {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(values.iter().map(|(value, _)| value))
                .ok()
        } else {
            None
        };
        Self { values, searcher }
    }

    /// Finds the values in what other readings of a text say otherwise.
    fn find_in_views(&self, views: &[View], hits: &mut Vec<Hit>) {
        for (n, view) in views.iter().enumerate() {
            for lines in view.changed_lines() {
                for hit in self.find(&view.text[lines.clone()]) {
                    let span = lines.start + hit.span.start..lines.start + hit.span.end;
                    let span = views::origin(&views[..=n], span);
                    hits.push(Hit { span, ..hit });
                }
            }
        }
    }

    fn find(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut add = |span: Range<usize>, rule: usize| {
            if stands_alone(text, &span) {
                hits.push(Hit {
                    span,
                    rule,
                    value: None,
                });
            }
        };
        if let Some(searcher) = &self.searcher {
            for found in searcher.find_iter(text) {
                add(found.range(), self.values[found.pattern().as_usize()].1);
            }
        } else {
            for (value, rule) in &self.values {
                for at in memchr::memmem::find_iter(text.as_bytes(), value) {
                    add(at..at + value.len(), *rule);
                }
            }
        }
        hits
    }
}

/// Tells whether a value is a word of its own, or so long that it cannot be a part of another.
fn stands_alone(text: &str, span: &Range<usize>) -> bool {
    let joined = |at: Option<usize>| {
        at.and_then(|at| text.as_bytes().get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    span.len() >= UNMISTAKABLE_BYTES
        || !joined(span.start.checked_sub(1)) && !joined(Some(span.end))
}

/// Returns the rule of a secret in a name that was perhaps folded as fact keys are: lower-cased,
/// `_` and white space as `-`.
pub(crate) fn rule_for_name(beside: &Beside<'_>, name: &str, values: &Values) -> Option<usize> {
    let fold = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let readings: BTreeSet<String> = [
        name.to_owned(),
        name.replace('-', "_"),
        name.replace('-', " "),
    ]
    .into();
    let found = readings.iter().find_map(|reading| {
        let found = secrets::find(beside, reading, true);
        found.first().map(|hit| hit.rule)
    });
    found.or_else(|| {
        let name = fold(name);
        let repeated = values.iter().find(|(value, _)| {
            let value = fold(value);
            !value.is_empty() && name == value
                || value.len() >= UNMISTAKABLE_BYTES && name.contains(&value)
                || name.split('-').any(|word| word == value)
        });
        repeated.map(|(_, rule)| *rule)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn clean(texts: &[&str]) -> Vec<String> {
        let (redacted, _) = redact(&Beside::of(&Policy::default()), texts);
        redacted
            .into_iter()
            .zip(texts)
            .map(|(done, text)| done.text.unwrap_or_else(|| (*text).to_owned()))
            .collect()
    }

    #[test]
    fn a_value_is_replaced_wherever_else_it_stands() {
        assert_eq!(
            clean(&[
                "the password is hunter2; log in with hunter2",
                "note hunter2",
                "hunter22 is no one"
            ]),
            [
                "the password is [REDACTED:password-in-prose]; log in with [REDACTED:password-in-prose]",
                "note [REDACTED:password-in-prose]",
                "hunter22 is no one",
            ]
        );
    }

    #[test]
    fn a_placeholder_in_the_input_protects_nothing() {
        for text in [
            "password: [REDACTED:jwt]hunter2!!",
            "password: hunter2[REDACTED:jwt]",
            "password=[REDACTED:hunter2]x9",
        ] {
            let clean = clean(&[text]);
            assert!(!clean[0].contains("hunter2"), "{clean:?}");
        }
        let text = "password: [REDACTED:password]";
        assert_eq!(clean(&[text]), [text]);
    }

    #[test]
    fn a_secret_in_a_folded_name_is_seen() {
        let none = Values::new();
        let token = format!(
            "github-pat-11{}-{}",
            "abcdefghij0123456789",
            "a1b2c3d4e5f6g7h8i9j0".repeat(3)
        );
        for name in [
            "akiaiosfodnn7example",
            "password-is-hunter2",
            "pw=hunter2",
            token.as_str(),
        ] {
            assert!(
                rule_for_name(&Beside::of(&Policy::default()), name, &none).is_some(),
                "{name}"
            );
        }
        for name in [
            "deploy-staging",
            "password-policy",
            "api-token-storage",
            "sk-learn-version",
            "auth:jwt-lifetime",
            "repo:2026-01-02",
        ] {
            assert!(
                rule_for_name(&Beside::of(&Policy::default()), name, &none).is_none(),
                "{name}"
            );
        }
        let values = Values::from([("Tr0ub4dor_x".to_owned(), 0)]);
        assert!(rule_for_name(&Beside::of(&Policy::default()), "tr0ub4dor-x", &values).is_some());
    }
}
