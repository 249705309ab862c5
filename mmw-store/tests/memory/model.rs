//! Random histories on the real store agree with a plain model: a list that is walked over.

use std::collections::HashMap;

use mmw_core::ids::RecordId;
use proptest::prelude::*;

use crate::support::{World, derived, fact};

#[derive(Debug, Clone)]
enum Step {
    Say {
        key: usize,
        content: usize,
    },
    Derive {
        key: Option<usize>,
        from: Vec<prop::sample::Index>,
    },
    Forget(prop::sample::Index),
    Resolve(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        4 => (0_usize..3, 0_usize..3).prop_map(|(key, content)| Step::Say { key, content }),
        2 => (prop::option::of(0_usize..3), prop::collection::vec(index(), 1..4)).prop_map(|(key, from)| Step::Derive { key, from }),
        1 => index().prop_map(Step::Forget),
        2 => index().prop_map(Step::Resolve),
    ];
    prop::collection::vec(step, 1..24)
}

/// A record as the model knows it.
struct Known {
    id: RecordId,
    key: Option<usize>,
    content: String,
    from: Vec<usize>,
    is_forgotten: bool,
    is_closed: bool,
    /// The winner of the latest resolution that closed it.
    lost_to: Option<usize>,
}

#[derive(Default)]
struct Model {
    records: Vec<Known>,
}

impl Model {
    fn of_key(&self, key: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.records.len())
            .filter(move |n| !self.records[*n].is_forgotten && self.records[*n].key == Some(key))
    }

    fn open_of_key(&self, key: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.of_key(key).filter(|n| !self.records[*n].is_closed)
    }

    fn newest(&self, key: usize) -> Option<usize> {
        // Without an open claim: the last that did not lose to one that can still be seen.
        let stands = |n: &usize| {
            self.records[*n]
                .lost_to
                .is_none_or(|winner| self.records[winner].is_forgotten)
        };
        self.open_of_key(key)
            .next_back()
            .or_else(|| self.of_key(key).rev().find(stands))
            .or_else(|| self.of_key(key).next_back())
    }

    fn own_level(&self, n: usize) -> u8 {
        let record = &self.records[n];
        let disagrees = |key| {
            self.open_of_key(key)
                .any(|other| self.records[other].content != record.content)
        };
        if !record.is_closed && record.key.is_some_and(disagrees) {
            return 2;
        }
        let lost =
            |source: &usize| self.records[*source].is_forgotten || self.records[*source].is_closed;
        u8::from(record.from.iter().any(lost))
    }

    fn level(&self, n: usize) -> u8 {
        let inherited = self.records[n]
            .from
            .iter()
            .filter(|source| !self.records[**source].is_forgotten);
        inherited
            .map(|source| self.level(*source))
            .fold(self.own_level(n), u8::max)
    }

    fn in_conflict(&self, key: usize) -> bool {
        self.open_of_key(key).any(|n| self.own_level(n) == 2)
    }
}

fn run(steps: &[Step]) {
    let world = World::new();
    let mut model = Model::default();
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::Say { key, content } => {
                let content = format!("lime says {content}");
                let answer = world.save(fact(&format!("key-{key}"), &content));
                let repeats = model.newest(*key).filter(|newest| {
                    model.records[*newest].content == content
                        && model.records[*newest].from.is_empty()
                });
                match repeats {
                    Some(newest) => assert_eq!(
                        (answer.deduplicated, answer.record.unwrap().id),
                        (true, model.records[newest].id)
                    ),
                    None => {
                        assert!(!answer.deduplicated);
                        let disagreeing: Vec<RecordId> = model
                            .open_of_key(*key)
                            .rev()
                            .filter(|other| model.records[*other].content != content)
                            .map(|other| model.records[other].id)
                            .collect();
                        assert_eq!(
                            answer
                                .conflicts_with
                                .iter()
                                .map(|claim| claim.id)
                                .collect::<Vec<_>>(),
                            disagreeing
                        );
                        let id = answer.record.unwrap().id;
                        model.records.push(Known {
                            id,
                            key: Some(*key),
                            content,
                            from: vec![],
                            is_forgotten: false,
                            is_closed: false,
                            lost_to: None,
                        });
                    }
                }
            }
            Step::Derive { key, from } => {
                let alive: Vec<usize> = (0..model.records.len())
                    .filter(|n| !model.records[*n].is_forgotten)
                    .collect();
                if alive.is_empty() {
                    continue;
                }
                let mut from: Vec<usize> = from
                    .iter()
                    .map(|index| alive[index.index(alive.len())])
                    .collect();
                from.sort_unstable();
                from.dedup();
                let ids: Vec<RecordId> = from.iter().map(|n| model.records[*n].id).collect();
                let content = format!("lime summary {n}");
                let mut args = derived(&content, &ids);
                args.fact_key = key.map(|key| format!("key-{key}"));
                let id = world.save(args).record.unwrap().id;
                model.records.push(Known {
                    id,
                    key: *key,
                    content,
                    from,
                    is_forgotten: false,
                    is_closed: false,
                    lost_to: None,
                });
            }
            Step::Forget(index) => {
                if model.records.is_empty() {
                    continue;
                }
                let n = index.index(model.records.len());
                let receipt = world.forget(model.records[n].id);
                assert_eq!(receipt.forgotten, u32::from(!model.records[n].is_forgotten));
                model.records[n].is_forgotten = true;
            }
            Step::Resolve(index) => {
                let keyed: Vec<usize> = (0..model.records.len())
                    .filter(|n| !model.records[*n].is_forgotten && model.records[*n].key.is_some())
                    .collect();
                if keyed.is_empty() {
                    continue;
                }
                let winner = keyed[index.index(keyed.len())];
                let key = model.records[winner].key.unwrap();
                let allowed = model.in_conflict(key) || model.records[winner].is_closed;
                let resolved = world.try_resolve(&format!("key-{key}"), model.records[winner].id);
                if allowed {
                    assert!(resolved.is_ok());
                    let losers: Vec<usize> =
                        model.open_of_key(key).filter(|n| *n != winner).collect();
                    for loser in losers {
                        model.records[loser].is_closed = true;
                        model.records[loser].lost_to = Some(winner);
                    }
                    model.records[winner].is_closed = false;
                    model.records[winner].lost_to = None;
                }
            }
        }
        compare(&world, &model);
    }
    assert_eq!(
        world.memory.engine().verify().unwrap(),
        Vec::<String>::new()
    );
}

fn compare(world: &World, model: &Model) {
    let levels = ["unverified", "stale", "conflict"];
    for (n, record) in model.records.iter().enumerate() {
        let explained = world.try_explain(record.id);
        if record.is_forgotten {
            assert!(explained.is_err());
            continue;
        }
        let explained = explained.unwrap();
        assert_eq!(
            explained.status,
            levels[usize::from(model.level(n))],
            "record {n}"
        );
        assert_eq!(explained.record.content, record.content);
        if let Some(key) = record.key {
            let newest = model.newest(key).unwrap();
            assert_eq!(explained.superseded_by.is_none(), newest == n, "record {n}");
        }
    }
    let mut expected: HashMap<RecordId, &str> = HashMap::new();
    for (n, record) in model.records.iter().enumerate() {
        if record.is_forgotten || record.is_closed {
            continue;
        }
        // A later open claim that says the same folds one that rests on nothing of its own.
        let is_repeated = record.from.is_empty()
            && record.key.is_some_and(|key| {
                model
                    .open_of_key(key)
                    .any(|later| later > n && model.records[later].content == record.content)
            });
        if !is_repeated {
            expected.insert(record.id, levels[usize::from(model.level(n))]);
        }
    }
    let found = world.search(&mmw_core::wire::SearchArgs {
        limit: Some(50),
        max_tokens: Some(100_000),
        ..crate::support::asking("lime")
    });
    let shown: HashMap<RecordId, &str> = found
        .hits
        .iter()
        .map(|hit| (hit.record.id, hit.status.as_str()))
        .collect();
    assert_eq!(shown, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_agree_with_a_plain_model(steps in steps()) {
        run(&steps);
    }
}
