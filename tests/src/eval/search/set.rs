//! What a search is measured on: records, questions, and which records answer them.

use std::collections::HashSet;

/// A record to be saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Doc {
    /// The store that it lies in: a question looks at the records of its own group only.
    pub(crate) group: String,
    /// Its name within the group.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) who: Option<String>,
    /// When it was said, as the set writes it.
    pub(crate) date: Option<String>,
    /// The session that it is a turn of, a name of its own among all sessions of the set; nothing if the
    /// record stands for itself.
    pub(crate) session: Option<String>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Question {
    pub(crate) group: String,
    pub(crate) text: String,
    /// The ids of the records that answer it.
    pub(crate) gold: Vec<String>,
    /// The set's own name for what kind of question it is.
    pub(crate) kind: String,
}

/// Records and questions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) docs: Vec<Doc>,
    pub(crate) questions: Vec<Question>,
}

/// Kinds of questions that have no right answer among the records.
const WITHOUT_ANSWER: [&str; 2] = ["adversarial", "abstention"];

impl Set {
    /// Makes a set of what was read. Gold that is not among the records is left out; so are questions
    /// without any, and those that are meant to have no answer.
    pub(crate) fn new(name: &str, docs: Vec<Doc>, questions: Vec<Question>) -> Self {
        let known: HashSet<(&str, &str)> = docs
            .iter()
            .map(|doc| (doc.group.as_str(), doc.id.as_str()))
            .collect();
        let answerable = |mut question: Question| {
            let group = question.group.clone();
            question
                .gold
                .retain(|id| known.contains(&(group.as_str(), id.as_str())));
            question.gold.sort();
            question.gold.dedup();
            let is_meant = !WITHOUT_ANSWER.contains(&question.kind.as_str());
            (is_meant && !question.gold.is_empty()).then_some(question)
        };
        let questions = questions.into_iter().filter_map(answerable).collect();
        Self {
            name: name.to_owned(),
            docs,
            questions,
        }
    }

    /// Returns the names of the groups in their order.
    pub(crate) fn groups(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.docs.iter().map(|doc| doc.group.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// Returns the set with only what this speaker said, under a name that tells so. One side of a
    /// conversation is none: what it answers is not among the records.
    pub(crate) fn said_by(self, who: &str) -> Self {
        let docs = self.docs.into_iter();
        let docs = docs.filter(|doc| doc.who.as_deref() == Some(who));
        let alone = docs.map(|doc| Doc {
            session: None,
            ..doc
        });
        let docs = alone.collect();
        Self::new(&format!("{}-{who}", self.name), docs, self.questions)
    }

    /// Returns the set with at most so many groups.
    pub(crate) fn first_groups(self, most: usize) -> Self {
        let kept: HashSet<String> = self
            .groups()
            .into_iter()
            .take(most)
            .map(str::to_owned)
            .collect();
        let docs = self.docs.into_iter();
        let docs = docs.filter(|doc| kept.contains(&doc.group)).collect();
        Self::new(&self.name, docs, self.questions)
    }

    /// Returns the set with all groups in one store.
    pub(crate) fn pooled(&self) -> Self {
        let id = |group: &str, id: &str| format!("{group}/{id}");
        let docs = self.docs.iter().map(|doc| Doc {
            id: id(&doc.group, &doc.id),
            group: "all".into(),
            ..doc.clone()
        });
        let questions = self.questions.iter().map(|question| Question {
            gold: question
                .gold
                .iter()
                .map(|one| id(&question.group, one))
                .collect(),
            group: "all".into(),
            ..question.clone()
        });
        Self::new(
            &format!("{}-pool", self.name),
            docs.collect(),
            questions.collect(),
        )
    }

    /// Returns the set with the records of others among its own, all in one store.
    pub(crate) fn among(&self, others: &[&Self]) -> Self {
        let mut all = self.pooled();
        all.name = format!("{}+noise", self.name);
        for other in others {
            let prefix = |doc: Doc| Doc {
                id: format!("{}/{}", other.name, doc.id),
                ..doc
            };
            all.docs.extend(other.pooled().docs.into_iter().map(prefix));
        }
        all
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn doc(group: &str, id: &str, who: &str) -> Doc {
        Doc {
            group: group.into(),
            id: id.into(),
            text: format!("{id} of {group}"),
            who: Some(who.into()),
            date: None,
            session: None,
        }
    }

    pub(crate) fn question(group: &str, gold: &[&str], kind: &str) -> Question {
        Question {
            group: group.into(),
            text: "what?".into(),
            gold: gold.iter().map(|id| (*id).to_owned()).collect(),
            kind: kind.into(),
        }
    }

    fn set() -> Set {
        let docs = vec![
            doc("g", "a", "user"),
            doc("g", "b", "assistant"),
            doc("h", "a", "user"),
        ];
        let questions = vec![
            question("g", &["b", "a", "a", "x"], "one"),
            question("g", &["b"], "two"),
            question("h", &["b"], "three"),
            question("h", &["a"], "adversarial"),
        ];
        Set::new("s", docs, questions)
    }

    #[test]
    fn gold_that_is_not_there_and_questions_without_answer_are_left_out() {
        let set = set();
        let gold: Vec<_> = set.questions.iter().map(|one| one.gold.clone()).collect();
        assert_eq!(gold, [vec!["a", "b"], vec!["b"]]);
        assert_eq!(set.groups(), ["g", "h"]);
    }

    #[test]
    fn a_speakers_part_keeps_the_questions_that_it_answers() {
        let part = set().said_by("user");
        assert_eq!((part.name.as_str(), part.docs.len()), ("s-user", 2));
        assert_eq!(part.questions.len(), 1);
        assert_eq!(part.questions[0].gold, ["a"]);
    }

    #[test]
    fn a_pool_keeps_records_of_the_same_name_apart() {
        let pool = set().pooled();
        assert_eq!(pool.groups(), ["all"]);
        assert_eq!(pool.docs[2].id, "h/a");
        assert_eq!(pool.questions[0].gold, ["g/a", "g/b"]);
        let noisy = set().among(&[&set()]);
        assert_eq!((noisy.docs.len(), noisy.groups()), (6, vec!["all"]));
        assert_eq!(noisy.questions.len(), 2);
    }

    #[test]
    fn groups_can_be_cut() {
        let cut = set().first_groups(1);
        assert_eq!((cut.groups(), cut.questions.len()), (vec!["g"], 2));
    }
}
