//! Scores a finder of secrets on the corpora: what it found, what it covered, what it took for one.
//!
//! It knows no finder. Ours, ours with a user's rules, and those that it is compared with are scored
//! by the same lines.

use std::collections::BTreeMap;
use std::ops::Range;

use super::corpus::Row;
use super::statistics::{Share, f1};

/// The share of a secret that has to be covered for it to count as covered.
const COVERED: f64 = 0.9;

/// The tools whose own tests gave most rows; with rules of their format, these rows are left out.
pub(crate) const RULE_FILE_SOURCES: [&str; 2] = ["betterleaks", "gitleaks"];

/// Negatives that are near to secrets by design: what fires on them is told apart.
const BY_DESIGN: [&str; 2] = ["near_miss", "rule_fp"];

/// What a finder found in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// In bytes of the row's text.
    pub(crate) span: Range<usize>,
    pub(crate) rule: String,
}

/// What a finder found, one list a row.
pub(crate) type FoundInRows = Vec<Vec<Found>>;

/// Tells whether any secret of a row was touched.
pub(crate) fn is_found(row: &Row, found: &[Found]) -> bool {
    row.spans
        .iter()
        .any(|gold| found.iter().any(|found| overlap(gold, &found.span) > 0))
}

/// Tells whether every secret of a row is covered for at least nine tenths of its bytes.
pub(crate) fn is_covered(row: &Row, found: &[Found]) -> bool {
    row.spans.iter().all(|gold| {
        let covered = gold
            .clone()
            .filter(|at| found.iter().any(|found| found.span.contains(at)))
            .count();
        covered as f64 >= COVERED * gold.len() as f64
    })
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> usize {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// Tells whether a row is ordinary text of developers: neither a near miss nor a rule's own trap.
pub(crate) fn is_ordinary(row: &Row) -> bool {
    !BY_DESIGN.contains(&row.kind.as_str())
}

/// A finder's figures over one choice of rows with secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Recall {
    /// Rows in which any secret was touched.
    pub(crate) found: Share,
    /// Rows in which every secret is covered.
    pub(crate) full: Share,
}

/// A finder's figures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) all: Recall,
    /// Rows from sources other than [`RULE_FILE_SOURCES`].
    pub(crate) foreign: Recall,
    pub(crate) by_kind: BTreeMap<String, Recall>,
    pub(crate) by_source: BTreeMap<String, BySource>,
    /// By the family under which the source files a row.
    pub(crate) by_family: BTreeMap<String, BySource>,
    /// By the finder's own rule.
    pub(crate) by_rule: BTreeMap<String, ByRule>,
    /// Ordinary rows without a secret in which something was found.
    pub(crate) ordinary: Share,
    pub(crate) ordinary_by_kind: BTreeMap<String, Share>,
    pub(crate) near_miss: Share,
    pub(crate) rule_fp: Share,
}

/// Figures of one source or family: its rows with secrets and its rows without.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BySource {
    pub(crate) recall: Recall,
    /// All its rows without a secret, near misses included, in which something was found.
    pub(crate) wrong: Share,
}

impl BySource {
    /// Returns F1 over the rows of the source, if it has both kinds.
    pub(crate) fn f1(self) -> Option<f64> {
        self.wrong.value()?;
        f1(precision(self.recall.found, self.wrong), self.recall.found)
    }
}

/// Figures of one rule of the finder.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByRule {
    /// Rows with secrets in which it touched one.
    pub(crate) right: usize,
    /// Rows with secrets in which it fired beside them only.
    pub(crate) beside: usize,
    /// Ordinary rows in which it fired.
    pub(crate) wrong: usize,
    /// Near misses and traps in which it fired.
    pub(crate) near: usize,
}

impl ByRule {
    /// Returns which share of the rows in which it fired has a secret there, or is no ordinary row.
    pub(crate) const fn precision(self) -> Share {
        Share {
            hits: self.right,
            of: self.right + self.wrong,
        }
    }
}

impl Figures {
    /// Returns the share of right rows among those in which anything was found; negatives are the
    /// ordinary rows.
    pub(crate) fn precision(&self) -> Share {
        precision(self.all.found, self.ordinary)
    }

    /// Returns F1 over all rows with secrets and the ordinary ones.
    pub(crate) fn f1(&self) -> Option<f64> {
        f1(self.precision(), self.all.found)
    }

    /// Returns the figures of a kind.
    pub(crate) fn kind(&self, kind: &str) -> Recall {
        self.by_kind.get(kind).copied().unwrap_or_default()
    }
}

fn precision(right: Share, wrong: Share) -> Share {
    Share {
        hits: right.hits,
        of: right.hits + wrong.hits,
    }
}

/// Returns the recall over the rows from other sources than these.
pub(crate) fn recall_without(rows: &[Row], found: &FoundInRows, excluded: &[&str]) -> Recall {
    let mut recall = Recall::default();
    for (row, found) in rows.iter().zip(found) {
        if !excluded.contains(&row.source.as_str()) {
            recall.add(row, found);
        }
    }
    recall
}

/// Scores what a finder found.
pub(crate) fn score(
    positives: &[Row],
    in_positives: &FoundInRows,
    negatives: &[Row],
    in_negatives: &FoundInRows,
) -> Figures {
    let mut figures = Figures {
        all: recall_without(positives, in_positives, &[]),
        foreign: recall_without(positives, in_positives, &RULE_FILE_SOURCES),
        ..Figures::default()
    };
    for (row, found) in positives.iter().zip(in_positives) {
        let of_kind = figures.by_kind.entry(row.kind.clone()).or_default();
        of_kind.add(row, found);
        let of_source = figures.by_source.entry(row.source.clone()).or_default();
        of_source.recall.add(row, found);
        if let Some(family) = &row.rule {
            let of_family = figures.by_family.entry(family.clone()).or_default();
            of_family.recall.add(row, found);
        }
        for rule in rules(found) {
            let fired = found.iter().filter(|found| found.rule == rule);
            let touches =
                |found: &Found| row.spans.iter().any(|gold| overlap(gold, &found.span) > 0);
            let of_rule = figures.by_rule.entry(rule.to_owned()).or_default();
            if fired.into_iter().any(touches) {
                of_rule.right += 1;
            } else {
                of_rule.beside += 1;
            }
        }
    }
    for (row, found) in negatives.iter().zip(in_negatives) {
        let fired = !found.is_empty();
        let ordinary = is_ordinary(row);
        match row.kind.as_str() {
            "near_miss" => figures.near_miss.add(fired),
            "rule_fp" => figures.rule_fp.add(fired),
            _ => {
                figures.ordinary.add(fired);
                let of_kind = figures.ordinary_by_kind.entry(row.kind.clone());
                of_kind.or_default().add(fired);
            }
        }
        let of_source = figures.by_source.entry(row.source.clone()).or_default();
        of_source.wrong.add(fired);
        if let Some(family) = &row.rule {
            let of_family = figures.by_family.entry(family.clone()).or_default();
            of_family.wrong.add(fired);
        }
        for rule in rules(found) {
            let of_rule = figures.by_rule.entry(rule.to_owned()).or_default();
            *(if ordinary {
                &mut of_rule.wrong
            } else {
                &mut of_rule.near
            }) += 1;
        }
    }
    figures
}

impl Recall {
    fn add(&mut self, row: &Row, found: &[Found]) {
        self.found.add(is_found(row, found));
        self.full.add(is_covered(row, found));
    }
}

/// Returns each rule that fired, once.
fn rules(found: &[Found]) -> Vec<&str> {
    let mut rules: Vec<&str> = found.iter().map(|found| found.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a row with one span")]
mod tests {
    use super::*;

    fn row(kind: &str, source: &str, spans: &[Range<usize>]) -> Row {
        Row {
            id: "id".into(),
            text: "0123456789abcdefghij0123456789".into(),
            source: source.into(),
            kind: kind.into(),
            rule: Some("family".into()),
            tier: None,
            spans: spans.to_vec(),
        }
    }

    fn found(rule: &str, span: Range<usize>) -> Found {
        Found {
            span,
            rule: rule.into(),
        }
    }

    #[test]
    fn a_row_is_found_by_a_touch_and_covered_by_nine_tenths_of_every_secret() {
        let two = row("token", "one", &[0..10, 20..30]);
        let check = |hits: &[Range<usize>], is: (bool, bool)| {
            let hits: Vec<Found> = hits.iter().map(|span| found("r", span.clone())).collect();
            assert_eq!(
                (is_found(&two, &hits), is_covered(&two, &hits)),
                is,
                "{hits:?}"
            );
        };
        check(&[], (false, false));
        check(&[10..20], (false, false));
        check(&[9..12], (true, false));
        check(&[0..10], (true, false));
        check(&[0..9, 21..30], (true, true));
        check(&[0..8, 20..30], (true, false));
        check(&[0..5, 5..10, 15..30], (true, true));
    }

    #[test]
    fn figures_count_rows_by_kind_source_family_and_rule() {
        let positives = [
            row("token", "gitleaks", &[0..10]),
            row("prose", "one", &[0..10]),
            row("prose", "one", &[0..10]),
        ];
        let in_positives = vec![
            vec![found("a", 0..10)],
            vec![found("a", 0..3), found("b", 15..20)],
            vec![],
        ];
        let negatives = [
            row("uuid", "one", &[]),
            row("git_log", "one", &[]),
            row("near_miss", "gitleaks", &[]),
            row("rule_fp", "gitleaks", &[]),
        ];
        let in_negatives = vec![
            vec![found("a", 0..1)],
            vec![],
            vec![found("b", 0..1)],
            vec![],
        ];
        let figures = score(&positives, &in_positives, &negatives, &in_negatives);
        let share = |hits, of| Share { hits, of };
        assert_eq!(figures.all.found, share(2, 3));
        assert_eq!(figures.all.full, share(1, 3));
        assert_eq!(figures.foreign.found, share(1, 2));
        assert_eq!(figures.kind("prose").full, share(0, 2));
        assert_eq!(figures.kind("assignment").found, share(0, 0));
        assert_eq!(figures.ordinary, share(1, 2));
        assert_eq!(figures.near_miss, share(1, 1));
        assert_eq!(figures.rule_fp, share(0, 1));
        assert_eq!(figures.precision(), share(2, 3));
        assert_eq!(figures.by_source["gitleaks"].wrong, share(1, 2));
        assert_eq!(figures.by_family["family"].recall.found, share(2, 3));
        let a = figures.by_rule["a"];
        assert_eq!((a.right, a.beside, a.wrong, a.near), (2, 0, 1, 0));
        let b = figures.by_rule["b"];
        assert_eq!((b.right, b.beside, b.wrong, b.near), (0, 1, 0, 1));
        assert_eq!(a.precision(), share(2, 3));
    }
}
