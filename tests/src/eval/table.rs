//! Writes the figures as tables in Markdown. It computes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::baselines::{ON_PLANTED, ON_SECRETS};
use super::planted::{self, Stopped};
use super::secrets::{self, BySource, Recall};
use super::statistics::{Share, percent};
use super::{bars, rivals::Measured};

/// Families of fewer rows are left out of the table; their intervals say nothing.
const MIN_FAMILY_ROWS: usize = 6;

/// A table that is being written.
pub(crate) struct Table {
    text: String,
}

impl Table {
    pub(crate) fn new(title: &str, head: &[&str]) -> Self {
        let mut table = Self {
            text: format!("### {title}\n\n"),
        };
        table.row(head.iter().map(|cell| (*cell).to_owned()));
        let _ = writeln!(table.text, "|{}", "---|".repeat(head.len()));
        table
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            let _ = write!(self.text, "| {} ", cell.replace('|', "\\|"));
        }
        self.text.push_str("|\n");
    }

    pub(crate) fn finish(self) -> String {
        [self.text.as_str(), "\n"].concat()
    }
}

fn cells<const N: usize>(cells: [String; N]) -> [String; N] {
    cells
}

/// Returns the table of the bars.
pub(crate) fn bars(secrets: &secrets::Figures, planted: &planted::Figures) -> String {
    let mut table = Table::new(
        "The bars (%, with the 95 % interval)",
        &["figure", "measured", "rows", "bar", ""],
    );
    for held in bars::of(secrets, planted) {
        table.row(cells([
            held.name.to_owned(),
            held.share.to_string(),
            format!("{} of {}", held.share.hits, held.share.of),
            held.bar,
            if held.holds { "holds" } else { "**missed**" }.to_owned(),
        ]));
    }
    table.finish()
}

/// Returns the tables on secrets.
pub(crate) fn secrets(figures: &secrets::Figures, rivals: &[Measured]) -> String {
    let mut text = overview(figures, rivals);
    text.push_str(&recalls("Secrets by kind", "kind", &figures.by_kind));
    let mut wrong = Table::new(
        "Rows without a secret that were redacted",
        &["kind", "rows", "redacted % (95 %)"],
    );
    for (kind, share) in &figures.ordinary_by_kind {
        wrong.row(cells([
            kind.clone(),
            share.of.to_string(),
            share.to_string(),
        ]));
    }
    for (kind, share) in [
        ("all ordinary", figures.ordinary),
        ("near misses", figures.near_miss),
        ("traps of rules", figures.rule_fp),
    ] {
        wrong.row(cells([
            format!("*{kind}*"),
            share.of.to_string(),
            share.to_string(),
        ]));
    }
    text.push_str(&wrong.finish());
    text.push_str(&by_source(
        "Secrets by source",
        "source",
        &figures.by_source,
        1,
    ));
    text.push_str(&by_source(
        &format!("Secrets by the source's own rule (of {MIN_FAMILY_ROWS} rows or more)"),
        "family",
        &figures.by_family,
        MIN_FAMILY_ROWS,
    ));
    let mut rules = Table::new(
        "Our rules that fired",
        &[
            "rule",
            "right",
            "beside a secret",
            "ordinary rows",
            "near misses",
            "precision % (95 %)",
        ],
    );
    for (rule, by) in &figures.by_rule {
        rules.row(cells([
            format!("`{rule}`"),
            by.right.to_string(),
            by.beside.to_string(),
            by.wrong.to_string(),
            by.near.to_string(),
            by.precision().to_string(),
        ]));
    }
    text.push_str(&rules.finish());
    text
}

fn overview(figures: &secrets::Figures, rivals: &[Measured]) -> String {
    let mut table = Table::new(
        "Secrets, measured in this run (%, with the 95 % interval)",
        &[
            "finder",
            "left out as own tests",
            "found, all rows",
            "full, all rows",
            "found, rows left",
            "full, rows left",
            "this guard on the same rows: found / full",
            "prose",
            "assignment",
            "default passwords",
            "ordinary text redacted",
            "near misses",
            "precision",
            "F1",
        ],
    );
    let row = |name: &str, left_out: &str, own: Recall, ours: Recall, all: &secrets::Figures| {
        cells([
            name.to_owned(),
            left_out.to_owned(),
            all.all.found.to_string(),
            all.all.full.to_string(),
            own.found.to_string(),
            own.full.to_string(),
            format!(
                "{} / {}",
                percent(ours.found.value()),
                percent(ours.full.value())
            ),
            all.kind("prose").found.to_string(),
            all.kind("assignment").found.to_string(),
            all.kind("prose_default").found.to_string(),
            all.ordinary.to_string(),
            percent(all.near_miss.value()),
            percent(all.precision().value()),
            percent(all.f1()),
        ])
    };
    table.row(row(
        "**this guard**",
        &secrets::RULE_FILE_SOURCES.join(", "),
        figures.foreign,
        figures.foreign,
        figures,
    ));
    for rival in rivals {
        table.row(row(
            &rival.name,
            &rival.left_out.join(", "),
            rival.own,
            rival.ours,
            &rival.figures,
        ));
    }
    let mut quoted = Table::new(
        "Secrets, measured by others on 2026-11-29 over the whole corpora (quoted, %)",
        &[
            "tool",
            "found",
            "found, foreign",
            "full, foreign",
            "prose",
            "assignment",
            "default passwords",
            "ordinary text redacted",
            "near misses",
        ],
    );
    for tool in &ON_SECRETS {
        let figures = [
            tool.found,
            tool.foreign,
            tool.foreign_full,
            tool.prose,
            tool.assignment,
            tool.default,
            tool.ordinary,
            tool.near_miss,
        ];
        let figures = figures.map(|figure| format!("{figure:.1}"));
        quoted.row([tool.tool.to_owned()].into_iter().chain(figures));
    }
    [table.finish(), quoted.finish()].concat()
}

fn recalls(title: &str, of: &str, by: &BTreeMap<String, Recall>) -> String {
    let mut table = Table::new(title, &[of, "rows", "found % (95 %)", "full % (95 %)"]);
    for (name, recall) in by {
        table.row(cells([
            name.clone(),
            recall.found.of.to_string(),
            recall.found.to_string(),
            recall.full.to_string(),
        ]));
    }
    table.finish()
}

fn by_source(title: &str, of: &str, by: &BTreeMap<String, BySource>, min_rows: usize) -> String {
    let head = [
        of,
        "rows with a secret",
        "found % (95 %)",
        "full % (95 %)",
        "rows without",
        "redacted % (95 %)",
        "F1",
    ];
    let mut table = Table::new(title, &head);
    for (name, by) in by {
        if by.recall.found.of + by.wrong.of < min_rows {
            continue;
        }
        table.row(cells([
            name.clone(),
            by.recall.found.of.to_string(),
            by.recall.found.to_string(),
            by.recall.full.to_string(),
            by.wrong.of.to_string(),
            by.wrong.to_string(),
            percent(by.f1()),
        ]));
    }
    table.finish()
}

/// Returns the tables on planted instructions.
pub(crate) fn planted(figures: &planted::Figures) -> String {
    let head = [
        "rows",
        "number",
        "quarantine line % (95 %)",
        "reject line % (95 %)",
    ];
    let mut text = String::new();
    let mut table = Table::new("Planted instructions that were stopped", &head);
    figures.planted.iter().for_each(|(name, stopped)| {
        table.row(lines(name, *stopped));
    });
    text.push_str(&table.finish());
    let mut table = Table::new("Honest rows that were stopped", &head);
    figures.honest.iter().for_each(|(name, stopped)| {
        table.row(lines(name, *stopped));
    });
    text.push_str(&table.finish());
    let _ = writeln!(
        text,
        "F1 of tier A against all honest rows: {} at the quarantine line, {} at the reject line.\n",
        percent(figures.f1(|stopped| stopped.quarantine)),
        percent(figures.f1(|stopped| stopped.reject))
    );
    let mut quoted = Table::new(
        "Planted instructions, measured by others on 2026-11-29 over the half that is kept back (quoted, %)",
        &[
            "tool",
            "tier A",
            "memory plants",
            "indirect",
            "Unicode tags",
            "honest: all",
            "dev",
            "hard",
            "NotInject",
            "mention",
        ],
    );
    for tool in &ON_PLANTED {
        let figures = tool.found.iter().chain(&tool.wrong);
        let figures = figures.map(|figure| format!("{figure:.1}"));
        quoted.row([tool.tool.to_owned()].into_iter().chain(figures));
    }
    text.push_str(&quoted.finish());
    for (title, by) in [
        ("Planted rows by kind", &figures.by_kind),
        ("Planted rows by source", &figures.by_source),
        ("Honest rows by kind", &figures.honest_by_kind),
    ] {
        text.push_str(&stopped(title, by, |_| true));
    }
    text.push_str(&stopped(
        "Honest rows by source (only those with a row that was stopped)",
        &figures.honest_by_source,
        |stopped| stopped.quarantine.hits > 0,
    ));
    let mut rules = Table::new(
        "Rules that weighed most in a row that was stopped",
        &[
            "rule",
            "tier A",
            "tiers B and C",
            "honest",
            "precision % (95 %)",
        ],
    );
    for (rule, by) in &figures.by_rule {
        rules.row(cells([
            format!("`{rule}`"),
            by.tier_a.to_string(),
            by.other_tiers.to_string(),
            by.honest.to_string(),
            by.precision().to_string(),
        ]));
    }
    text.push_str(&rules.finish());
    text
}

fn stopped(
    title: &str,
    by: &BTreeMap<String, Stopped>,
    wanted: impl Fn(&Stopped) -> bool,
) -> String {
    let head = [
        "",
        "number",
        "quarantine line % (95 %)",
        "reject line % (95 %)",
    ];
    let mut table = Table::new(title, &head);
    for (name, stopped) in by.iter().filter(|(_, stopped)| wanted(stopped)) {
        table.row(lines(name, *stopped));
    }
    table.finish()
}

fn lines(name: &str, stopped: Stopped) -> [String; 4] {
    let Share { of, .. } = stopped.quarantine;
    cells([
        name.to_owned(),
        of.to_string(),
        stopped.quarantine.to_string(),
        stopped.reject.to_string(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let mut table = Table::new("T", &["a", "b"]);
        table.row(["x|y".to_owned(), "z".to_owned()]);
        assert_eq!(
            table.finish(),
            "### T\n\n| a | b |\n|---|---|\n| x\\|y | z |\n\n"
        );
    }
}
