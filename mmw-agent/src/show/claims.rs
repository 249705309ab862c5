//! The claims of a conflict, side by side, so that a person can decide at a glance.

use mmw_core::wire::{DifferenceView, RecordView};

use super::Page;
use super::clean::{clean, snippet};
use super::style::{DIM, STRONG, WARN};

/// Below this width two columns would be too narrow to read.
const MIN_TWO_COLUMNS: usize = 76;

/// The space between two columns.
const BETWEEN: usize = 3;

/// One claim.
pub(crate) struct Claim {
    /// The record.
    pub(crate) record: RecordView,
    /// What it differs in from the claims against it.
    pub(crate) differences: Vec<DifferenceView>,
}

impl Claim {
    /// Returns where and when it was said, in a line.
    pub(crate) fn origin(&self, page: &Page) -> String {
        let record = &self.record;
        let mut parts = vec![page.age(record.created_at)];
        parts.extend(record.source_id.clone());
        parts.extend(record.source_revision.clone());
        parts.extend(record.source.clone().or_else(|| record.agent.clone()));
        clean(&parts.join(" · ")).replace('\n', " ")
    }

    /// Returns the claim in a line of at most `max_chars`: first what only it says, because a cut
    /// would often hide just that.
    pub(crate) fn in_short(&self, max_chars: usize) -> String {
        let values = self.own_values().join(" · ");
        if values.is_empty() {
            return snippet(&self.record.content, max_chars);
        }
        snippet(&format!("{values} — {}", self.record.content), max_chars)
    }

    /// Returns the values that only this claim has.
    fn own_values(&self) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.differences.iter().flat_map(|one| &one.only_here) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    /// Tells whether its source was revised since another claim.
    pub(crate) fn source_revised(&self) -> Option<&str> {
        let texts = self.differences.iter().map(|one| one.text.as_str());
        texts
            .into_iter()
            .find(|text| text.starts_with("the source was revised"))
    }
}

/// A line in a cell: its style's marks do not count as width.
type Cell = Vec<(anstyle::Style, String)>;

/// Shows the claims, newest first, numbered.
pub(crate) fn side_by_side(page: &mut Page, claims: &[Claim]) {
    match (claims, page.width()) {
        ([newer, older], Some(width)) if width >= MIN_TWO_COLUMNS => {
            let column = (width - BETWEEN - 2) / 2;
            let left = cell(page, newer, "1  newest", column);
            let right = cell(page, older, "2  older", column);
            for row in 0..left.len().max(right.len()) {
                let left = padded(left.get(row), column);
                let right = padded(right.get(row), 0);
                page.line(format!("  {left}{:BETWEEN$}{right}", "").trim_end());
            }
        }
        _ => {
            for (nth, claim) in claims.iter().enumerate() {
                if nth > 0 {
                    page.line("");
                }
                let word = if nth == 0 { "newest" } else { "older" };
                let width = page.width().unwrap_or(100).saturating_sub(2).max(20);
                for line in cell(page, claim, &format!("{}  {word}", nth + 1), width) {
                    page.line(format!("  {}", padded(Some(&line), 0)));
                }
            }
        }
    }
    if let Some(revised) = claims.iter().find_map(Claim::source_revised) {
        page.remark("  ", "", revised);
    }
}

fn cell(page: &Page, claim: &Claim, head: &str, width: usize) -> Cell {
    let mut lines: Cell = vec![(STRONG, head.to_owned())];
    let mut add = |style, text: &str| {
        lines.extend(
            super::fold(text, width)
                .into_iter()
                .map(|line| (style, line)),
        );
    };
    add(anstyle::Style::new(), &clean(&claim.record.content));
    let values = claim.own_values();
    if !values.is_empty() {
        add(WARN, &clean(&format!("≠ {}", values.join(" · "))));
    }
    add(DIM, &claim.origin(page));
    lines
}

fn padded(line: Option<&(anstyle::Style, String)>, width: usize) -> String {
    let Some((style, text)) = line else {
        return " ".repeat(width);
    };
    let n_missing = width.saturating_sub(textwrap::core::display_width(text));
    format!("{style}{text}{style:#}{}", " ".repeat(n_missing))
}

#[cfg(test)]
mod tests {
    use super::super::testing::plain;
    use super::*;
    use mmw_core::time::Timestamp;

    fn claim(content: &str, value: &str) -> Claim {
        let json = serde_json::json!({
            "id": "0192f0c1-8a6b-7c3d-9e4f-0123456789ab", "workspace": "default",
            "content": content, "kind": "fact", "scope": "shared", "confidence": 0.5,
            "visibility": "project", "author": "0192f0c1-8a6b-7c3d-9e4f-0123456789ac",
            "created_at": "2027-01-15T08:00:00Z", "received_at": "2027-01-15T08:00:00Z",
            "source_id": "docs/deploy.md",
        });
        Claim {
            record: serde_json::from_value(json).unwrap(),
            differences: vec![DifferenceView {
                with: "0192f0c1-8a6b-7c3d-9e4f-0123456789ab".parse().unwrap(),
                text: "this one was said later".into(),
                only_here: vec![value.into()],
                only_there: Vec::new(),
            }],
        }
    }

    fn shown(width: usize) -> String {
        let mut page = Page::new(Some(width), Timestamp::from_ms(1_800_000_000_000));
        let claims = [
            claim("port 8081 is used", "8081"),
            claim("port 8080 is used", "8080"),
        ];
        side_by_side(&mut page, &claims);
        plain(&page)
    }

    #[test]
    fn two_claims_stand_side_by_side_where_there_is_room() {
        let text = shown(80);
        assert!(text.contains("1  newest") && text.contains("2  older"));
        assert_eq!(
            text.lines().next().map(|line| line.find("2  older")),
            Some(Some(42))
        );
        assert!(
            text.lines()
                .any(|line| line.contains("8081 is") && line.contains("8080 is"))
        );
    }

    #[test]
    fn what_only_a_claim_says_is_never_cut_off() {
        let long = claim(&"word ".repeat(30), "8081");
        assert_eq!(long.in_short(20), "8081 — word word wo…");
    }

    #[test]
    fn on_a_narrow_terminal_they_stand_below_each_other() {
        assert!(
            shown(50)
                .lines()
                .all(|line| !(line.contains("8081") && line.contains("8080")))
        );
    }
}
