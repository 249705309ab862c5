//! Writes the figures as tables in Markdown, and as JSON. It measures nothing.

use serde_json::{Value, json};

use super::bars::{self, Held};
use super::intervals::{Interval, bootstrap, quantile};
use super::measure::{LINES, Measured, OWN_LINE, Ranking, Way, below};
use super::metrics::Scores;
use crate::eval::table::Table;

type Which = fn(&Scores) -> f64;

/// The figures of a question by their names.
const FIGURES: [(&str, Which); 8] = [
    ("R@1", |scores| scores.recall[0]),
    ("R@5", |scores| scores.recall[1]),
    ("R@10", |scores| scores.recall[2]),
    ("any@10", |scores| scores.any[2]),
    ("all@10", |scores| scores.all[2]),
    ("MRR", |scores| scores.mrr),
    ("nDCG@10", |scores| scores.ndcg),
    ("any@1", |scores| scores.any[0]),
];
/// Figures that are in the JSON only.
const MORE: [(&str, Which); 3] = [
    ("any@5", |scores| scores.any[1]),
    ("all@1", |scores| scores.all[0]),
    ("all@5", |scores| scores.all[1]),
];

/// Returns all tables.
pub(crate) fn tables(sets: &[Measured], n_draws: usize) -> String {
    let mut text = bars_table(&bars::of(sets));
    for set in sets {
        text += &*quality(set, n_draws);
    }
    text += &*gains(sets, n_draws);
    text += &*times(sets);
    text += &*absent(sets);
    text + &*lines(sets)
}

/// Returns the table of the bars.
pub(crate) fn bars_table(held: &[Held]) -> String {
    let mut table = Table::new("The bars", &["figure", "measured", "bar", ""]);
    for one in held {
        table.row([
            one.name.clone(),
            format!("{:.3}", one.value),
            one.bar.clone(),
            if one.holds { "met" } else { "**missed**" }.to_owned(),
        ]);
    }
    table.finish()
}

fn quality(set: &Measured, n_draws: usize) -> String {
    let refused = match set.n_refused {
        0 => String::new(),
        n => format!(", {n} of them refused or held back"),
    };
    let title = format!(
        "{}: {} records{refused} in {} stores, {} questions",
        set.name, set.n_docs, set.n_groups, set.n_questions
    );
    let mut head = vec!["way"];
    head.extend(FIGURES.map(|(name, _)| name));
    let mut table = Table::new(&title, &head);
    for way in Way::ALL {
        let ranking = set.by(way);
        let figures = FIGURES.map(|(_, which)| shown(interval(ranking, which, n_draws)));
        table.row([way.name().to_owned()].into_iter().chain(figures));
    }
    table.finish()
}

/// Returns what both legs gain over each other way, question by question.
fn gains(sets: &[Measured], n_draws: usize) -> String {
    let mut head = vec!["set".to_owned()];
    let others = &Way::ALL[..4];
    head.extend(
        others
            .iter()
            .map(|way| format!("nDCG@10 over {}", way.name())),
    );
    head.push("R@10 over FTS5 BM25".to_owned());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new("What both legs gain (paired bootstrap)", &head);
    for set in sets {
        let mut cells = vec![set.name.clone()];
        cells.extend(
            others
                .iter()
                .map(|way| signed(gain(set, *way, |scores| scores.ndcg, n_draws))),
        );
        cells.push(signed(gain(
            set,
            Way::Baseline,
            |scores| scores.recall[2],
            n_draws,
        )));
        table.row(cells);
    }
    table.finish()
}

fn gain(set: &Measured, over: Way, which: Which, n_draws: usize) -> Option<Interval> {
    let both = set.by(Way::Both).scores.iter();
    let others = set.by(over).scores.iter();
    let differences: Vec<f64> = both
        .zip(others)
        .map(|(both, other)| which(both) - which(other))
        .collect();
    bootstrap(&differences, n_draws)
}

fn times(sets: &[Measured]) -> String {
    let mut head = vec!["set"];
    head.extend(Way::ALL.map(Way::name));
    let mut table = Table::new("Milliseconds a question, p50 / p95", &head);
    for set in sets {
        let of = |way: Way| {
            let mut took = set.by(way).took_ms.clone();
            format!(
                "{:.2} / {:.2}",
                quantile(&mut took, 0.5),
                quantile(&mut took, 0.95)
            )
        };
        table.row([set.name.clone()].into_iter().chain(Way::ALL.map(of)));
    }
    table.finish()
}

fn absent(sets: &[Measured]) -> String {
    let mut table = Table::new(
        "Questions without an answer: answered with nothing or low scores",
        &[
            "set",
            "absent topics % (95 %)",
            "answer forgotten % (95 %)",
            "recall at 10 lost to low scores",
        ],
    );
    for set in sets {
        table.row([
            set.name.clone(),
            below(&set.absent, OWN_LINE).to_string(),
            below(&set.forgotten, OWN_LINE).to_string(),
            format!("{:.3}", mean(&set.lost(OWN_LINE))),
        ]);
    }
    table.finish()
}

/// Returns what it would come to if a reader passed over other scores than those below the product's line.
fn lines(sets: &[Measured]) -> String {
    let mut table = Table::new(
        "Where the line is drawn",
        &[
            "scores below",
            "absent topics % (95 %)",
            "answer forgotten % (95 %)",
            "recall at 10 lost, all questions",
            "the same, mean of sets",
        ],
    );
    let (absent, forgotten) = (
        bars::absent(sets),
        sets.iter().flat_map(|set| set.forgotten.iter().copied()),
    );
    let forgotten: Vec<f64> = forgotten.collect();
    for (nth, line) in LINES.into_iter().enumerate() {
        let lost: Vec<Vec<f64>> = sets.iter().map(|set| set.lost(nth)).collect();
        let of_sets: Vec<f64> = lost.iter().map(|lost| mean(lost)).collect();
        table.row([
            format!("{line:.1}"),
            below(&absent, nth).to_string(),
            below(&forgotten, nth).to_string(),
            format!("{:.3}", mean(&lost.concat())),
            format!("{:.3}", mean(&of_sets)),
        ]);
    }
    table.finish()
}

fn mean(values: &[f64]) -> f64 {
    bootstrap(values, 0).map_or(0.0, |found| found.mean)
}

/// Returns every figure as one JSON object.
pub(crate) fn json(sets: &[Measured], n_draws: usize) -> Value {
    let of_way = |set: &Measured, way: Way| {
        let ranking = set.by(way);
        let mut took = ranking.took_ms.clone();
        let mut figures = json!({
            "way": way.name(),
            "p50_ms": quantile(&mut took, 0.5),
            "p95_ms": quantile(&mut took, 0.95),
        });
        for (name, which) in FIGURES.into_iter().chain(MORE) {
            figures[name] = as_json(interval(ranking, which, n_draws));
        }
        if way != Way::Both {
            figures["nDCG@10 of both over it"] =
                as_json(gain(set, way, |scores| scores.ndcg, n_draws));
        }
        figures
    };
    let low = |bests: &[f64]| {
        let below: Vec<usize> = (0..LINES.len()).map(|nth| below(bests, nth).hits).collect();
        json!({ "low": below, "of": bests.len() })
    };
    let of_set = |set: &Measured| {
        json!({
            "name": set.name,
            "records": set.n_docs,
            "refused": set.n_refused,
            "stores": set.n_groups,
            "questions": set.n_questions,
            "ways": Way::ALL.map(|way| of_way(set, way)),
            "absent": low(&set.absent),
            "forgotten": low(&set.forgotten),
            "recall_lost": LINES.iter().enumerate().map(|(nth, _)| mean(&set.lost(nth))).collect::<Vec<_>>(),
        })
    };
    let bars: Vec<Value> = bars::of(sets)
        .into_iter()
        .map(
            |one| json!({ "name": one.name, "value": one.value, "bar": one.bar, "met": one.holds }),
        )
        .collect();
    json!({ "bars": bars, "lines": LINES, "sets": sets.iter().map(of_set).collect::<Vec<_>>() })
}

fn interval(ranking: &Ranking, which: Which, n_draws: usize) -> Option<Interval> {
    let values: Vec<f64> = ranking.scores.iter().map(which).collect();
    bootstrap(&values, n_draws)
}

fn as_json(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |one| json!([one.mean, one.low, one.high]))
}

/// Writes `.766 (.745–.787)`.
fn shown(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "–".to_owned(),
        |one| format!("{:.3} ({:.3}–{:.3})", one.mean, one.low, one.high),
    )
}

fn signed(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "–".to_owned(),
        |one| format!("{:+.3} ({:+.3}, {:+.3})", one.mean, one.low, one.high),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Measured {
        let scores = |value: f64| Ranking {
            scores: vec![
                Scores {
                    recall: [value; 3],
                    any: [value; 3],
                    all: [value; 3],
                    mrr: value,
                    ndcg: value
                };
                2
            ],
            took_ms: vec![1.0, 3.0],
        };
        Measured {
            name: "mine".into(),
            n_docs: 5,
            n_groups: 1,
            n_questions: 2,
            n_refused: 1,
            rankings: [0.1, 0.2, 0.3, 0.4, 0.5].map(scores),
            likely_recall: vec![[0.5; 5], [0.5, 0.5, 0.0, 0.0, 0.0]],
            absent: vec![0.0, 0.6],
            forgotten: Vec::new(),
        }
    }

    #[test]
    fn tables_show_every_way_with_its_interval() {
        let text = tables(&[measured()], 100);
        for part in [
            "### mine: 5 records, 1 of them refused or held back in 1 stores, 2 questions",
            "| both | 0.500 (0.500–0.500) |",
            "| mine | +0.400 (+0.400, +0.400) | +0.300",
            "| mine | 3.00 / 3.00 |",
            "| mine | 50.0 (9.5–90.5) | – | 0.250 |",
            "| 0.4 | 50.0 (9.5–90.5) | – | 0.000 | 0.000 |",
            "| 0.7 | 100.0 (34.2–100.0) | – | 0.250 | 0.250 |",
            "| recall at 10 lost to low scores, all questions | 0.250 | ≤ 0.02 | **missed** |",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn json_has_the_same_figures() {
        let json = json(&[measured()], 100);
        assert_eq!(json["sets"][0]["ways"][4]["R@10"][0], 0.5);
        assert_eq!(json["sets"][0]["ways"][0]["any@5"][0], 0.1);
        assert_eq!(json["sets"][0]["absent"]["low"][OWN_LINE], 1);
        assert_eq!(json["bars"][0]["met"], false);
    }
}
