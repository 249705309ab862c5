//! Random histories against a plain model: nothing lost, nothing out of order, nothing delivered twice without
//! a fault in between, dead letters exactly those that were refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use proptest::prelude::*;

use super::faulty::{Done, FaultyDisk, Plan};
use super::*;

#[derive(Debug, Clone)]
enum Op {
    Put,
    Drain(Vec<Answer>),
    RetryDead,
    SetAside(usize),
    Resume,
    Damage(usize),
    Jump(i64),
    LosePower(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Done,
    Refused,
    Retry,
    Paused,
    Leave,
}

/// What goes wrong in an operation, and how many unsynchronised changes a loss of power leaves.
#[derive(Debug, Clone, Copy)]
enum Fault {
    None,
    Die(usize, Done, Option<usize>),
    Fail(usize),
}

fn ops() -> impl Strategy<Value = Vec<(Op, Fault)>> {
    let answer = prop_oneof![
        8 => Just(Answer::Done),
        3 => Just(Answer::Refused),
        1 => Just(Answer::Retry),
        1 => Just(Answer::Paused),
        1 => Just(Answer::Leave),
    ];
    let op = prop_oneof![
        8 => Just(Op::Put),
        5 => proptest::collection::vec(answer, 1..6).prop_map(Op::Drain),
        1 => Just(Op::RetryDead),
        1 => (0..4_usize).prop_map(Op::SetAside),
        2 => Just(Op::Resume),
        1 => (0..4_usize).prop_map(Op::Damage),
        2 => (-4_000_000..4_000_000_i64).prop_map(Op::Jump),
        1 => (0..4_usize).prop_map(Op::LosePower),
    ];
    let done = prop_oneof![Just(Done::Nothing), Just(Done::Half), Just(Done::All)];
    let power = proptest::option::of(0..4_usize);
    let fault = prop_oneof![
        4 => Just(Fault::None),
        1 => (0..20_usize, done, power).prop_map(|(step, done, power)| Fault::Die(step, done, power)),
        1 => (0..20_usize).prop_map(Fault::Fail),
    ];
    proptest::collection::vec((op, fault), 1..60)
}

/// The queue as it should be: what is where, by number.
#[derive(Debug, Default)]
struct Model {
    waiting: BTreeMap<u64, String>,
    dead: BTreeMap<u64, String>,
    damaged: BTreeSet<u64>,
    /// What was queued by a process that ended before it could say so: the power may take it away.
    unsure: BTreeSet<u64>,
    /// What was refused, or set aside, at some time.
    refused: BTreeSet<u64>,
    /// What the server has, how often it took it, and how often a fault was a reason for that.
    taken: BTreeMap<u64, (usize, usize)>,
    /// The highest number that was ever given.
    highest: u64,
}

struct World {
    base: tempfile::TempDir,
    disk: Arc<FaultyDisk>,
    spool: Spool,
    clock: TestClock,
    seed: Seed,
    model: Model,
    n_keys: usize,
}

impl World {
    fn new() -> Self {
        let base = quick_folder();
        let disk = Arc::new(FaultyDisk::new());
        let spool = Spool::open_on(disk.clone(), base.path(), ENDPOINT, Limits::STANDARD).unwrap();
        Self {
            base,
            disk,
            spool,
            clock: TestClock::new(),
            seed: Seed::default(),
            model: Model::default(),
            n_keys: 0,
        }
    }

    fn step(&mut self, op: &Op, fault: Fault) {
        self.disk.plan(match fault {
            Fault::None => Plan::Nothing,
            Fault::Die(step, done, _) => Plan::Die(step, done),
            Fault::Fail(step) => Plan::Fail(step, ErrorKind::StorageFull),
        });
        let (new_key, is_exact) = self.act(op);
        let was_dead = self.disk.is_dead();
        let power = match fault {
            Fault::Die(_, _, power) if was_dead => power,
            _ => None,
        };
        if let Some(n_kept) = power {
            self.disk.lose_power(n_kept);
        }
        self.disk.plan(Plan::Nothing);
        if was_dead {
            // A new process.
            self.spool = Spool::open_on(
                self.disk.clone(),
                self.base.path(),
                ENDPOINT,
                Limits::STANDARD,
            )
            .unwrap();
        }
        let new_key = new_key.filter(|_| was_dead);
        self.compare(new_key.as_deref(), is_exact && !was_dead);
    }

    /// Does it; returns the key that may be queued, and whether nothing went wrong.
    fn act(&mut self, op: &Op) -> (Option<String>, bool) {
        match op {
            Op::Put => {
                let key = format!("k{}", self.n_keys);
                self.n_keys += 1;
                let put = self.spool.put(&entry(&key));
                if let Ok(name) = put {
                    assert!(name.0 > self.model.highest, "a number never comes back");
                    self.model.highest = name.0;
                    self.model.unsure.clear();
                    self.model.waiting.insert(name.0, key.clone());
                }
                (Some(key), true)
            }
            Op::Drain(answers) => (None, self.drain(answers)),
            Op::RetryDead => {
                let result = self.spool.retry_dead();
                if result.is_ok() {
                    self.model.waiting.append(&mut self.model.dead);
                }
                (None, result.is_ok())
            }
            Op::SetAside(nth) => {
                let Some((number, key)) = self.nth_waiting(*nth) else {
                    return (None, true);
                };
                let result = self
                    .spool
                    .set_aside(EntryName(number), "aside", self.clock.now());
                self.model.refused.insert(number);
                if result.is_ok() {
                    self.model.waiting.remove(&number);
                    self.model.dead.insert(number, key);
                }
                (None, result.is_ok())
            }
            Op::Resume => (None, self.spool.resume().is_ok()),
            Op::Damage(nth) => {
                if let Some((number, _)) = self.nth_waiting(*nth) {
                    let file = self.spool.place.file(Tray::Waiting, EntryName(number));
                    let half = fs::read(&file).unwrap();
                    fs::write(&file, &half[..half.len() / 2]).unwrap();
                    self.model.waiting.remove(&number);
                    self.model.damaged.insert(number);
                }
                (None, true)
            }
            Op::Jump(ms) => {
                self.clock.jump(*ms);
                (None, true)
            }
            Op::LosePower(n_kept) => {
                self.disk.lose_power(*n_kept);
                (None, false)
            }
        }
    }

    fn nth_waiting(&self, nth: usize) -> Option<(u64, String)> {
        // What is a dead letter too is only waiting for its removal.
        let dead = &self.model.dead;
        let mut waiting = self
            .model
            .waiting
            .iter()
            .filter(|(n, _)| !dead.contains_key(n));
        waiting.nth(nth).map(|(n, key)| (*n, key.clone()))
    }

    /// Drains with these answers and then leaves; tells whether it was without an error.
    fn drain(&mut self, answers: &[Answer]) -> bool {
        let model = &mut self.model;
        let mut answers = answers.iter();
        let mut send = |name: EntryName, entry: &Entry| {
            let oldest = model.waiting.first_key_value();
            let (number, key) = oldest.expect("only what waits is sent");
            assert_eq!((name.0, key_of(entry)), (*number, key.clone()), "in order");
            match answers.next().copied().unwrap_or(Answer::Leave) {
                Answer::Done => {
                    model.waiting.remove(&name.0);
                    let (n_taken, n_faults) = model.taken.entry(name.0).or_default();
                    *n_taken += 1;
                    assert!(*n_taken <= 1 + *n_faults, "taken twice without a fault");
                    Outcome::Done
                }
                Answer::Refused => {
                    let (number, key) = model.waiting.pop_first().unwrap();
                    model.dead.insert(number, key);
                    model.refused.insert(number);
                    Outcome::of_status(400, None)
                }
                Answer::Retry => Outcome::of_status(503, None),
                Answer::Paused => Outcome::of_status(401, None),
                Answer::Leave => Outcome::Leave,
            }
        };
        let result = self.spool.drain(&mut send, &self.clock, &self.seed);
        if let Ok(Drained {
            ended: Ended::Wait { until },
            ..
        }) = &result
        {
            let wait = until.as_ms() - self.clock.now().as_ms();
            assert!((1..=3_960_000).contains(&wait), "waits {wait} ms");
        }
        result.is_ok()
    }

    fn on_disk(&self, tray: Tray) -> BTreeMap<u64, Option<String>> {
        let names = self.spool.place.list(tray).unwrap();
        let key = |name| match self.spool.find_in(tray, name).unwrap() {
            aside::Found::Entry(stored) => Some(key_of(&stored.entry)),
            _ => None,
        };
        names.into_iter().map(|name| (name.0, key(name))).collect()
    }

    /// Compares the disk with the model. After a fault an entry may be where it was or where it was going
    /// to; the model then follows the disk.
    fn compare(&mut self, new_key: Option<&str>, is_exact: bool) {
        let (waiting, dead) = (self.on_disk(Tray::Waiting), self.on_disk(Tray::Dead));
        let corrupt = self.on_disk(Tray::Corrupt);
        let model = &mut self.model;
        for number in corrupt.keys() {
            assert!(
                model.damaged.contains(number),
                "only damaged ones are put away"
            );
        }
        for number in &model.damaged {
            let is_there = [&waiting, &dead, &corrupt]
                .iter()
                .any(|tray| tray.contains_key(number));
            let is_there = is_there || model.unsure.contains(number);
            assert!(is_there, "damaged {number} was thrown away");
        }
        // What is in both has been refused, and its removal will be finished.
        let whole = |tray: &BTreeMap<u64, Option<String>>| -> BTreeMap<u64, String> {
            let undamaged = tray.iter().filter(|(n, _)| !model.damaged.contains(n));
            undamaged
                .map(|(n, key)| (*n, key.clone().expect("whole")))
                .collect()
        };
        let dead = whole(&dead);
        let mut waiting = whole(&waiting);
        waiting.retain(|number, _| !dead.contains_key(number));
        if !is_exact {
            for (number, key) in model.waiting.iter().chain(&model.dead) {
                if model.unsure.contains(number) {
                    continue;
                }
                let found = waiting.get(number).or_else(|| dead.get(number));
                assert_eq!(found, Some(key), "{number} was lost");
            }
            for number in dead.keys() {
                assert!(model.refused.contains(number), "dead without a refusal");
            }
            for (number, key) in &waiting {
                if model.waiting.contains_key(number) || model.dead.contains_key(number) {
                    continue;
                }
                if let Some((_, n_faults)) = model.taken.get_mut(number) {
                    *n_faults += 1;
                } else {
                    assert_eq!(Some(key.as_str()), new_key, "nobody queued {number}");
                    assert!(*number > model.highest);
                    model.highest = *number;
                    model.unsure.insert(*number);
                }
            }
            model.waiting = waiting.clone();
            model.dead = dead.clone();
        }
        assert_eq!(waiting, model.waiting);
        assert_eq!(dead, model.dead);
    }

    /// When all is well again, everything arrives.
    fn finish(&mut self) {
        self.disk.plan(Plan::Nothing);
        self.spool.resume().unwrap();
        let expected: Vec<String> = self.model.waiting.values().cloned().collect();
        assert_eq!(all_done(&self.spool), expected);
        // One that was damaged while it went back may be a dead letter again.
        let mut dead: BTreeSet<u64> = self.on_disk(Tray::Dead).into_keys().collect();
        let corrupt = self.on_disk(Tray::Corrupt);
        for number in &self.model.damaged {
            let is_there = dead.remove(number) || corrupt.contains_key(number);
            assert!(is_there || self.model.unsure.contains(number));
        }
        assert_eq!(dead, self.model.dead.keys().copied().collect());
    }
}

proptest! {
    #[test]
    fn whatever_happens_nothing_is_lost_out_of_order_or_sent_twice(ops in ops()) {
        let mut world = World::new();
        for (op, fault) in &ops {
            world.step(op, *fault);
        }
        world.finish();
    }
}
