//! Lists the rows that came out wrong, for whoever works on the rules.
//!
//! A list is for looking at families of forms. A rule that is made from one row of it learns the
//! corpus by heart, and the half that is kept back will show it.

use std::fmt::Write as _;

use mmw_guard::Outcome;

use super::corpus::{Corpora, Row};
use super::planted::{Said, is_development};
use super::running::Results;
use super::secrets::{Found, is_covered, is_found, is_ordinary};

/// The most characters of a row that are shown.
const SHOWN_CHARS: usize = 300;

/// Which rows are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// Rows with a secret that was not found.
    Secrets,
    /// Rows with a secret that is not wholly covered.
    Full,
    /// Planted rows of tier A that pass.
    Planted,
    /// Rows without a secret that are redacted, and honest rows that are stopped.
    Fp,
}

/// Which rows are listed, and how many.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    pub(crate) what: What,
    pub(crate) limit: usize,
    /// A part of the name of a source, kind or family.
    pub(crate) source: Option<&'a str>,
}

/// Returns the list as lines of text.
pub(crate) fn list(corpora: &Corpora, results: &Results, wanted: &Wanted<'_>) -> String {
    let mut entries = Vec::new();
    match wanted.what {
        What::Secrets => {
            for (row, found) in corpora.secrets.iter().zip(&results.in_secrets) {
                if !is_found(row, found) {
                    entries.push((row, gold(row)));
                }
            }
        }
        What::Full => {
            for (row, found) in corpora.secrets.iter().zip(&results.in_secrets) {
                if !is_covered(row, found) {
                    entries.push((row, format!("{} found: {}", gold(row), taken(row, found))));
                }
            }
        }
        What::Planted => {
            for (row, said) in corpora.planted.iter().zip(&results.of_planted) {
                if said.outcome == Outcome::Allow && row.tier.as_deref() == Some("A") {
                    entries.push((row, weight(said)));
                }
            }
        }
        What::Fp => {
            for (row, found) in corpora.no_secrets.iter().zip(&results.in_no_secrets) {
                if !found.is_empty() && is_ordinary(row) {
                    entries.push((row, format!("found: {}", taken(row, found))));
                }
            }
            for (row, said) in corpora.honest.iter().zip(&results.of_honest) {
                if said.outcome != Outcome::Allow {
                    let dev = if is_development(row) { "dev, " } else { "" };
                    entries.push((row, format!("{dev}{}", weight(said))));
                }
            }
        }
    }
    entries.retain(|(row, _)| wanted.source.is_none_or(|part| is_of(row, part)));
    let mut text = format!("{} rows\n", entries.len());
    for (row, note) in entries.iter().take(wanted.limit) {
        let family = row.rule.as_deref().unwrap_or("-");
        let shown: String = row.text.chars().take(SHOWN_CHARS).collect();
        let cut = if shown.len() < row.text.len() {
            "…"
        } else {
            ""
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{} | {} | {} | {family} | {note}\n    {shown:?}{cut}",
            row.id, row.source, row.kind
        );
    }
    text
}

fn is_of(row: &Row, part: &str) -> bool {
    row.source.contains(part)
        || row.kind.contains(part)
        || row.rule.as_ref().is_some_and(|rule| rule.contains(part))
}

fn gold(row: &Row) -> String {
    let values: Vec<&str> = row
        .spans
        .iter()
        .map(|span| &row.text[span.clone()])
        .collect();
    let shown: String = format!("{values:?}").chars().take(SHOWN_CHARS).collect();
    format!("secret: {shown}")
}

fn taken(row: &Row, found: &[Found]) -> String {
    let parts: Vec<String> = found
        .iter()
        .map(|found| {
            let value = row.text.get(found.span.clone()).unwrap_or("");
            format!("{} {value:?}", found.rule)
        })
        .collect();
    parts.join(", ").chars().take(SHOWN_CHARS).collect()
}

fn weight(said: &Said) -> String {
    let rule = said.rule.as_deref().unwrap_or("no rule");
    format!("{:?}, score {:.2}, {rule}", said.outcome, said.score)
}
