//! Small stores: facts in workspaces of one, two, four and so on, each asked what it knows and what it
//! does not.

use super::set::{Doc, Question, Set};

/// The sizes of the stores.
pub(crate) const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Returns the set with its records dealt into stores of that size; what is left over is left out.
pub(crate) fn dealt(set: &Set, size: usize) -> Set {
    let group = |nth: usize| format!("store-{}", nth / size);
    let n_kept = set.docs.len() / size * size;
    let mut docs = Vec::new();
    let mut questions = Vec::new();
    for (nth, doc) in set.docs[..n_kept].iter().enumerate() {
        let own = |question: &&Question| {
            question.group == doc.group && question.gold == [doc.id.as_str()]
        };
        questions.extend(set.questions.iter().filter(own).map(|question| Question {
            group: group(nth),
            ..question.clone()
        }));
        docs.push(Doc {
            group: group(nth),
            ..doc.clone()
        });
    }
    Set::new(&format!("{}, stores of {size}", set.name), docs, questions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::search::set::tests::{doc, question};

    #[test]
    fn records_are_dealt_with_their_questions() {
        let docs = ["a", "b", "c"].map(|id| doc("g", id, "u")).to_vec();
        let questions = vec![
            question("g", &["b"], ""),
            question("g", &["c"], ""),
            question("g", &["a", "b"], ""),
        ];
        let set = dealt(&Set::new("s", docs, questions), 2);
        assert_eq!(set.groups(), ["store-0"]);
        assert_eq!(set.questions.len(), 1);
        assert_eq!(set.questions[0].gold, ["b"]);
    }
}
