//! Compares figures with the bars of the project.

use super::intervals::bootstrap;
use super::measure::{Measured, OWN_LINE, Way, below};
use super::metrics::Scores;

/// What a set has to reach: its name, recall at 10 and nDCG at 10, of both legs together.
const QUALITY: [(&str, f64, f64); 4] = [
    ("dev-facts+noise", 0.73, 0.55),
    ("locomo-obs", 0.77, 0.66),
    ("locomo", 0.73, 0.56),
    ("realtalk", 0.57, 0.47),
];
/// How often an exact name has to come first.
const IDENTIFIERS: f64 = 0.98;
/// The share of questions about absent topics that have to be answered with nothing or a low score.
const ABSENT: f64 = 0.9;
/// The recall that may be lost to low scores.
const LOST: f64 = 0.02;

/// A figure beside its bar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) bar: String,
    pub(crate) holds: bool,
}

/// Returns every figure that has a bar, of the sets that were measured. Figures are compared as they
/// are shown, with the digits of the bar.
pub(crate) fn of(sets: &[Measured]) -> Vec<Held> {
    let mut held = Vec::new();
    let named = |name: &str| sets.iter().find(|set| set.name == name);
    for (name, recall, ndcg) in QUALITY {
        let Some(set) = named(name) else {
            continue;
        };
        let found = mean(set, |scores| scores.recall[2]);
        held.push(least(format!("{name}: recall at 10"), found, recall));
        let found = mean(set, |scores| scores.ndcg);
        held.push(least(format!("{name}: nDCG at 10"), found, ndcg));
    }
    for set in sets
        .iter()
        .filter(|set| set.name.starts_with("identifiers"))
    {
        let found = mean(set, |scores| scores.recall[0]);
        held.push(least(
            format!("{}: recall at 1", set.name),
            found,
            IDENTIFIERS,
        ));
    }
    if let Some(value) = below(&absent(sets), OWN_LINE).value() {
        held.push(least(
            "absent topics answered with nothing or low scores".into(),
            value,
            ABSENT,
        ));
        let lost: Vec<f64> = sets.iter().flat_map(|set| set.lost(OWN_LINE)).collect();
        let value = bootstrap(&lost, 0).map_or(0.0, |lost| lost.mean);
        held.push(Held {
            name: "recall at 10 lost to low scores, all questions".into(),
            value,
            bar: format!("≤ {LOST:.2}"),
            holds: value <= LOST + 1e-9,
        });
    }
    held
}

/// Returns the best score of each question about an absent topic, of all sets.
pub(crate) fn absent(sets: &[Measured]) -> Vec<f64> {
    sets.iter()
        .flat_map(|set| set.absent.iter().copied())
        .collect()
}

fn mean(set: &Measured, which: impl Fn(&Scores) -> f64) -> f64 {
    let values: Vec<f64> = set.by(Way::Both).scores.iter().map(which).collect();
    bootstrap(&values, 0).map_or(0.0, |found| found.mean)
}

fn least(name: String, value: f64, bar: f64) -> Held {
    Held {
        name,
        value,
        bar: format!("≥ {bar:.2}"),
        holds: (value * 100.0).round() >= (bar * 100.0).round(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, recall: f64, likely: f64) -> Measured {
        let mut set = Measured {
            name: name.into(),
            likely_recall: vec![[likely; 5]],
            absent: [[0.49; 9].as_slice(), &[0.5]].concat(),
            ..Measured::default()
        };
        set.rankings[Way::Both as usize].scores = vec![Scores {
            recall: [recall; 3],
            ndcg: 0.1,
            ..Scores::default()
        }];
        set
    }

    #[test]
    fn bars_hold_at_their_value_and_are_of_sets_at_hand() {
        let held = of(&[set("locomo-obs", 0.766, 0.766), set("mine", 1.0, 1.0)]);
        let told: Vec<_> = held
            .iter()
            .map(|one| (one.name.as_str(), one.holds))
            .collect();
        assert_eq!(
            told,
            [
                ("locomo-obs: recall at 10", true),
                ("locomo-obs: nDCG at 10", false),
                ("absent topics answered with nothing or low scores", true),
                ("recall at 10 lost to low scores, all questions", true),
            ]
        );
    }

    #[test]
    fn loss_is_of_all_questions() {
        let held = of(&[set("a", 1.0, 0.9), set("identifiers", 0.97, 0.97)]);
        assert_eq!((held[0].value, held[0].holds), (0.97, false));
        assert!((held[2].value - 0.05).abs() < 1e-9 && !held[2].holds);
        assert!(of(&[]).is_empty());
    }
}
