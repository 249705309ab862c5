//! Runs a set through the product and the baseline, and scores every answer.

use std::collections::HashSet;
use std::error::Error;
use std::time::Instant;

use mmw_core::rank::LIKELY;
use mmw_store::Legs;

use super::baseline::Baseline;
use super::metrics::{Scores, score};
use super::product::{Hit, Product};
use super::set::{Doc, Set};
use crate::eval::statistics::Share;

/// Scores that a reader may draw the line at: what is below is passed over.
pub(crate) const LINES: [f64; 5] = [0.3, 0.4, LIKELY, 0.6, 0.7];
/// The place of the product's own line, below which a hit is marked low.
pub(crate) const OWN_LINE: usize = 2;

/// A way of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// FTS5, all words of the question.
    Baseline,
    /// FTS5 without stop words.
    BaselineNoStops,
    /// The product by words.
    Words,
    /// The product by meaning.
    Meaning,
    /// The product as it is.
    Both,
}

impl Way {
    /// All, in the order of the tables.
    pub(crate) const ALL: [Self; 5] = [
        Self::Baseline,
        Self::BaselineNoStops,
        Self::Words,
        Self::Meaning,
        Self::Both,
    ];

    /// Returns the name for tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "FTS5 BM25",
            Self::BaselineNoStops => "FTS5 BM25, no stop words",
            Self::Words => "words",
            Self::Meaning => "meaning",
            Self::Both => "both",
        }
    }
}

/// What one way came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranking {
    /// Of each question.
    pub(crate) scores: Vec<Scores>,
    /// How long each question took, in milliseconds.
    pub(crate) took_ms: Vec<f64>,
}

/// What a set came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) n_docs: usize,
    pub(crate) n_groups: usize,
    pub(crate) n_questions: usize,
    /// Documents that the product refused or held back. Their questions count as not answered.
    pub(crate) n_refused: usize,
    /// In the order of [`Way::ALL`].
    pub(crate) rankings: [Ranking; 5],
    /// Of each question, the recall of those of the first ten hits that reach each of [`LINES`].
    pub(crate) likely_recall: Vec<[f64; LINES.len()]>,
    /// The best score of each question about an absent topic; 0 if it was answered with nothing.
    pub(crate) absent: Vec<f64>,
    /// The same for the set's own questions after their answer was forgotten.
    pub(crate) forgotten: Vec<f64>,
}

impl Measured {
    /// Returns what a way came to.
    pub(crate) fn by(&self, way: Way) -> &Ranking {
        &self.rankings[way as usize]
    }

    /// Returns what each question loses of its recall at 10 to a line, by its place in [`LINES`].
    pub(crate) fn lost(&self, line: usize) -> Vec<f64> {
        let scores = self.by(Way::Both).scores.iter();
        scores
            .zip(&self.likely_recall)
            .map(|(scores, likely)| scores.recall[2] - likely[line])
            .collect()
    }
}

/// Returns how many of these best scores do not reach a line: nothing was found, or all of it is low.
pub(crate) fn below(bests: &[f64], line: usize) -> Share {
    let mut share = Share::default();
    for best in bests {
        share.add(*best < LINES[line]);
    }
    share
}

/// What is asked beside the set's own questions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Negatives<'a> {
    /// Questions that no record answers.
    pub(crate) absent: &'a [&'a str],
    /// Ask each question again after its answer was forgotten.
    pub(crate) forgets: bool,
}

/// Measures a set.
pub(crate) fn measure(set: &Set, negatives: Negatives<'_>) -> Result<Measured, Box<dyn Error>> {
    let mut product = Product::open()?;
    let records = product.save(&set.docs)?;
    let baseline = Baseline::of(&set.docs, &records)?;
    let mut measured = Measured {
        name: set.name.clone(),
        n_docs: set.docs.len(),
        n_groups: set.groups().len(),
        n_questions: set.questions.len(),
        n_refused: records.iter().filter(|record| record.is_none()).count(),
        ..Measured::default()
    };
    let golds = golds(set, &records);
    for (question, gold) in set.questions.iter().zip(&golds) {
        let (group, text) = (question.group.as_str(), question.text.as_str());
        for way in Way::ALL {
            let started = Instant::now();
            let hits = match way {
                Way::Baseline => plain(baseline.rank(group, text, true)?),
                Way::BaselineNoStops => plain(baseline.rank(group, text, false)?),
                Way::Words => product.rank(group, text, Legs::Words)?,
                Way::Meaning => product.rank(group, text, Legs::Meaning)?,
                Way::Both => product.rank(group, text, Legs::Both)?,
            };
            let ranking = &mut measured.rankings[way as usize];
            ranking.took_ms.push(started.elapsed().as_secs_f64() * 1e3);
            let ranked: Vec<usize> = hits.iter().map(|hit| hit.record).collect();
            ranking.scores.push(score(&ranked, gold));
            if way == Way::Both {
                measured
                    .likely_recall
                    .push(LINES.map(|line| likely_recall(&hits, gold, line)));
            }
        }
    }
    let groups = set.groups();
    for (question, group) in negatives.absent.iter().zip(groups.iter().cycle()) {
        let hits = product.rank(group, question, Legs::Both)?;
        measured.absent.push(best(&hits));
    }
    if negatives.forgets {
        measured.forgotten = forgotten(set, &records, &mut product)?;
    }
    Ok(measured)
}

/// Returns the records that answer each question. One whose document was refused can't be found.
fn golds(set: &Set, records: &[Option<usize>]) -> Vec<HashSet<usize>> {
    let by_id: std::collections::HashMap<(&str, &str), usize> = set
        .docs
        .iter()
        .enumerate()
        .map(|(nth, doc)| ((doc.group.as_str(), doc.id.as_str()), nth))
        .collect();
    let gold = |question: &super::set::Question| {
        let ids = question.gold.iter();
        let places = ids.filter_map(|id| by_id.get(&(question.group.as_str(), id.as_str())));
        places.map(|nth| records[*nth].unwrap_or(*nth)).collect()
    };
    set.questions.iter().map(gold).collect()
}

/// Asks each question after its answers were forgotten, and saves them again.
fn forgotten(
    set: &Set,
    records: &[Option<usize>],
    product: &mut Product,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut now = records.to_vec();
    let mut bests = Vec::with_capacity(set.questions.len());
    for question in &set.questions {
        let is_answer = |doc: &&Doc| doc.group == question.group && question.gold.contains(&doc.id);
        let places = set.docs.iter().enumerate();
        let answers: Vec<usize> = places
            .filter(|(_, doc)| is_answer(doc))
            .map(|(nth, _)| nth)
            .collect();
        for nth in &answers {
            if let Some(record) = now[*nth] {
                product.forget(record)?;
            }
        }
        let hits = product.rank(&question.group, &question.text, Legs::Both)?;
        bests.push(best(&hits));
        let docs: Vec<Doc> = answers.iter().map(|nth| set.docs[*nth].clone()).collect();
        for (nth, record) in answers.iter().zip(product.save(&docs)?) {
            now[*nth] = record;
        }
    }
    Ok(bests)
}

fn plain(records: Vec<usize>) -> Vec<Hit> {
    let hit = |record| Hit { record, score: 1.0 };
    records.into_iter().map(hit).collect()
}

/// Returns the best score of an answer; 0 if it is empty.
fn best(hits: &[Hit]) -> f64 {
    hits.iter().map(|hit| hit.score).fold(0.0, f64::max)
}

/// Returns the recall of the first ten hits for a reader who passes over what is below a line.
fn likely_recall(hits: &[Hit], gold: &HashSet<usize>, line: f64) -> f64 {
    let first = hits.iter().take(10);
    let likely: Vec<usize> = first
        .filter(|hit| hit.score >= line)
        .map(|hit| hit.record)
        .collect();
    score(&likely, gold).recall[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::search::set::tests::{doc, question};

    fn hit(record: usize, score: f64) -> Hit {
        Hit { record, score }
    }

    #[test]
    fn an_answer_is_below_a_line_if_all_of_it_is() {
        let bests = [
            best(&[]),
            best(&[hit(1, 0.49)]),
            best(&[hit(1, 0.5), hit(2, 0.1)]),
        ];
        let low = |line| below(&bests, line).hits;
        assert_eq!([low(0), low(1), low(OWN_LINE), low(3)], [1, 1, 2, 3]);
    }

    #[test]
    fn what_is_marked_low_counts_as_lost() {
        let gold = HashSet::from([1, 2]);
        let hits = [hit(1, 0.9), hit(2, 0.4)];
        let found = [0.4, 0.5, 0.95].map(|line| likely_recall(&hits, &gold, line));
        assert_eq!(found, [1.0, 0.5, 0.0]);
        assert_eq!(likely_recall(&[], &gold, 0.0), 0.0);
    }

    #[test]
    fn gold_of_equal_documents_is_one_record() {
        let docs = vec![doc("g", "a", "u"), doc("g", "b", "u"), doc("g", "c", "u")];
        let set = Set::new("s", docs, vec![question("g", &["a", "b", "c"], "")]);
        let golds = golds(&set, &[Some(0), Some(0), None]);
        assert_eq!(golds, [HashSet::from([0, 2])]);
    }

    #[test]
    fn a_small_set_goes_through_the_product() {
        let say = |id: &str, text: &str| Doc {
            text: text.into(),
            ..doc("g", id, "Ann")
        };
        let docs = vec![
            say(
                "a",
                "The staging database is reset every Sunday by the cron job wipe-staging.",
            ),
            say(
                "b",
                "Passwords are hashed using argon2id with 64 MiB of memory.",
            ),
            say(
                "c",
                "The feature branch names follow initials, ticket and slug.",
            ),
        ];
        let asked = |gold: &str, text: &str| super::super::set::Question {
            text: text.into(),
            ..question("g", &[gold], "")
        };
        let questions = vec![
            asked("a", "what does wipe-staging do to the database?"),
            asked("b", "which algorithm protects credentials?"),
        ];
        let set = Set::new("s", docs, questions);
        let absent = ["Which grape variety grows in parcel nine?"];
        let negatives = Negatives {
            absent: &absent,
            forgets: true,
        };
        let measured = measure(&set, negatives).unwrap();
        assert_eq!(
            (measured.n_docs, measured.n_groups, measured.n_refused),
            (3, 1, 0)
        );
        for way in Way::ALL {
            assert_eq!(measured.by(way).scores.len(), 2, "{way:?}");
            assert_eq!(measured.by(way).scores[0].mrr, 1.0, "{way:?}");
        }
        assert_eq!(measured.by(Way::Baseline).scores[1].mrr, 0.0);
        assert_eq!(measured.by(Way::Meaning).scores[1].mrr, 1.0);
        assert_eq!((measured.absent.len(), measured.forgotten.len()), (1, 2));
        assert_eq!(below(&measured.absent, OWN_LINE).hits, 1);
        assert_eq!(measured.lost(OWN_LINE).len(), 2);
    }
}
