//! The process ends at every single step, with and without the power; every single step fails; the disk is
//! full or can't be written to.

use std::io::ErrorKind;

use super::faulty::{Done, FaultyDisk, Plan};
use super::*;

/// A queue with four entries: one that is taken, one refused, one damaged, one taken.
struct Scene {
    base: tempfile::TempDir,
    disk: Arc<FaultyDisk>,
    spool: Spool,
}

impl Scene {
    fn new(n: usize) -> Self {
        let base = quick_folder();
        let disk = Arc::new(FaultyDisk::new());
        let spool = Spool::open_on(disk.clone(), base.path(), ENDPOINT, Limits::STANDARD).unwrap();
        for key in keys(0..n) {
            spool.put(&entry(&key)).unwrap();
        }
        disk.plan(Plan::Nothing);
        Self { base, disk, spool }
    }

    fn with_four() -> Self {
        let scene = Self::new(4);
        fs::write(scene.file(3), "{").unwrap();
        scene
    }

    fn file(&self, number: u64) -> PathBuf {
        self.spool.place.file(Tray::Waiting, EntryName(number))
    }

    /// As a new process finds it, after it lost power or not.
    fn restarted(&self, power: Option<usize>) -> Spool {
        if let Some(n_kept) = power {
            self.disk.lose_power(n_kept);
        }
        self.disk.plan(Plan::Nothing);
        Spool::open_on(
            self.disk.clone(),
            self.base.path(),
            ENDPOINT,
            Limits::STANDARD,
        )
        .unwrap()
    }
}

fn answer(key: &str) -> Outcome {
    match key {
        "k1" => Outcome::of_status(422, None),
        _ => Outcome::Done,
    }
}

/// Drains as far as it goes; returns the keys that were sent.
fn try_drain(spool: &Spool) -> (Vec<String>, Result<Drained, SpoolError>) {
    let mut sent = Vec::new();
    let mut send = |_, entry: &Entry| {
        sent.push(key_of(entry));
        answer(sent.last().unwrap())
    };
    let result = spool.drain(&mut send, &TestClock::new(), &Seed::default());
    (sent, result)
}

const POWERS: [Option<usize>; 5] = [None, Some(0), Some(1), Some(2), Some(usize::MAX)];

/// Does it with the process ending at each step in every way; returns how many ways there were.
fn at_every_end(
    scene: impl Fn() -> Scene,
    act: impl Fn(&Scene) -> bool,
    check: impl Fn(&Scene, &Spool, bool, &str),
) -> usize {
    let whole = scene();
    whole.disk.plan(Plan::Nothing);
    assert!(act(&whole), "it works when nothing goes wrong");
    let n_steps = whole.disk.n_steps();
    let mut n_ways = 0;
    for step in 0..n_steps {
        for done in [Done::Nothing, Done::Half, Done::All] {
            for power in POWERS {
                let scene = scene();
                scene.disk.plan(Plan::Die(step, done));
                let was_ok = act(&scene);
                assert!(scene.disk.is_dead());
                let spool = scene.restarted(power);
                let way = format!("dead at step {step}, {done:?} of it done, power {power:?}");
                check(&scene, &spool, was_ok, &way);
                n_ways += 1;
            }
        }
    }
    n_ways
}

#[test]
fn a_process_that_ends_while_it_queues_loses_nothing_and_leaves_nothing_half() {
    let n_ways = at_every_end(
        || Scene::new(2),
        |scene| scene.spool.put(&entry("k2")).is_ok(),
        |_, spool, was_ok, way| {
            spool.put(&entry("k3")).unwrap();
            let sent = all_done(spool);
            let without = sent == ["k0", "k1", "k3"] && !was_ok;
            assert!(sent == keys(0..4) || without, "{way}: {sent:?}");
            let state = spool.state(Timestamp::from_ms(0)).unwrap();
            assert_eq!(state.n_corrupt, 0, "{way}");
            let rest = ["", "waiting"].map(|folder| names_in(spool, folder).len());
            // Three trays, the endpoint, the ledger, how it went, two locks.
            assert_eq!(rest, [8, 0], "{way}");
        },
    );
    assert_eq!(n_ways, 4 * 3 * POWERS.len());
}

#[test]
fn an_acknowledged_entry_survives_the_power() {
    for power in POWERS {
        let scene = Scene::new(3);
        let spool = scene.restarted(power);
        assert_eq!(all_done(&spool), keys(0..3));
        let spool = scene.restarted(power);
        assert_eq!(all_done(&spool), [""; 0]);
    }
}

#[test]
fn a_process_that_ends_while_it_sends_loses_nothing_and_sends_one_again_at_most() {
    let sent_before = std::cell::RefCell::new(Vec::new());
    let n_ways = at_every_end(
        Scene::with_four,
        |scene| {
            let (sent, result) = try_drain(&scene.spool);
            *sent_before.borrow_mut() = sent;
            result.is_ok()
        },
        |scene, spool, _, way| {
            let before = sent_before.borrow().clone();
            spool.resume().unwrap();
            let (after, result) = try_drain(spool);
            assert_eq!(result.unwrap().ended, Ended::Empty, "{way}");
            let all = ["k0", "k1", "k3"].map(str::to_owned);
            let n_before = before.len();
            assert_eq!(before, all[..n_before], "{way}");
            let n_again = (n_before + after.len()).checked_sub(all.len());
            let n_again = n_again.unwrap_or_else(|| panic!("{way}: lost: {before:?} {after:?}"));
            assert!(n_again <= 1, "{way}: {before:?} {after:?}");
            assert_eq!(after, all[n_before - n_again..], "{way}");
            let state = spool.state(Timestamp::from_ms(0)).unwrap();
            let names: Vec<_> = state.dead.iter().map(|letter| letter.name).collect();
            assert_eq!(names, [EntryName(2)], "{way}");
            assert!(state.dead[0].refused.is_some(), "{way}");
            assert_eq!((state.n_waiting, state.n_corrupt), (0, 1), "{way}");
            // What one process began and the next one finished survives the power, too.
            scene.disk.lose_power(0);
            let is_there = |tray| spool.place.file(tray, EntryName(2)).exists();
            assert!(is_there(Tray::Dead) || is_there(Tray::Waiting), "{way}");
        },
    );
    // Of each entry several: that no step was left out.
    assert!(n_ways > 15 * 3 * POWERS.len(), "{n_ways}");
}

#[test]
fn a_process_that_ends_while_dead_letters_go_back_loses_none() {
    at_every_end(
        || {
            let scene = Scene::new(3);
            drained(&scene.spool, &TestClock::new(), |_| {
                Outcome::of_status(400, None)
            });
            scene
        },
        |scene| scene.spool.retry_dead().is_ok(),
        |_, spool, was_ok, way| {
            let n_dead = spool.state(Timestamp::from_ms(0)).unwrap().n_dead;
            assert!(n_dead == 0 || !was_ok, "{way}");
            let first = all_done(spool);
            spool.retry_dead().unwrap();
            let mut all = [first, all_done(spool)].concat();
            all.sort();
            assert_eq!(all, keys(0..3), "{way}");
        },
    );
}

#[test]
fn a_process_that_ends_while_a_queue_is_made_leaves_one_that_works_and_lasts() {
    let open = |base: &Path, disk: &Arc<FaultyDisk>| {
        let base = base.join("home/queues");
        Spool::open_on(disk.clone(), &base, ENDPOINT, Limits::STANDARD)
    };
    let n_steps = {
        let (base, disk) = (quick_folder(), Arc::new(FaultyDisk::new()));
        open(base.path(), &disk).unwrap();
        disk.n_steps()
    };
    assert!(n_steps > 6, "{n_steps}");
    // The last time nothing goes wrong.
    for step in 0..=n_steps {
        for done in [Done::Nothing, Done::Half, Done::All] {
            let (base, disk) = (quick_folder(), Arc::new(FaultyDisk::new()));
            disk.plan(Plan::Die(step, done));
            assert_eq!(open(base.path(), &disk).is_ok(), step == n_steps);
            disk.plan(Plan::Nothing);
            let spool = open(base.path(), &disk).unwrap();
            spool.put(&entry("k0")).unwrap();
            disk.lose_power(0);
            let all = Spool::all(&base.path().join("home/queues")).unwrap();
            assert_eq!(all.len(), 1, "dead at step {step}, {done:?}");
            assert_eq!(all_done(&all[0]), ["k0"]);
        }
    }
}

#[test]
fn a_step_that_fails_while_queueing_is_an_error_and_leaves_nothing() {
    for kind in [ErrorKind::StorageFull, ErrorKind::PermissionDenied] {
        for step in 0..4 {
            let scene = Scene::new(2);
            scene.disk.plan(Plan::Fail(step, kind));
            let error = scene.spool.put(&entry("k2")).unwrap_err();
            assert_eq!(error.is_no_room(), kind == ErrorKind::StorageFull);
            assert_eq!(names_in(&scene.spool, "waiting").len(), 2);
            assert!(!scene.spool.place.new_file().exists());
            scene.disk.plan(Plan::Nothing);
            scene.spool.put(&entry("k3")).unwrap();
            assert_eq!(all_done(&scene.spool), ["k0", "k1", "k3"]);
        }
    }
}

#[test]
fn a_step_that_fails_while_sending_loses_nothing() {
    let n_steps = {
        let scene = Scene::with_four();
        try_drain(&scene.spool).1.unwrap();
        scene.disk.n_steps()
    };
    for step in 0..n_steps {
        let scene = Scene::with_four();
        scene.disk.plan(Plan::Fail(step, ErrorKind::StorageFull));
        let (mut sent, result) = try_drain(&scene.spool);
        if let Ok(drained) = result {
            assert_eq!(drained.ended, Ended::Empty, "step {step}");
        }
        scene.disk.plan(Plan::Nothing);
        scene.spool.resume().unwrap();
        let (again, result) = try_drain(&scene.spool);
        assert_eq!(result.unwrap().ended, Ended::Empty);
        sent.extend(again);
        assert!(sent.len() <= 4, "step {step}: {sent:?}");
        sent.dedup();
        assert_eq!(sent, ["k0", "k1", "k3"], "step {step}");
        let state = scene.spool.state(Timestamp::from_ms(0)).unwrap();
        assert_eq!((state.n_dead, state.n_corrupt), (1, 1), "step {step}");
    }
}

#[test]
fn on_a_full_disk_nothing_is_taken_and_what_waits_is_sent() {
    let scene = Scene::with_four();
    scene.disk.plan(Plan::Full);
    let error = scene.spool.put(&entry("k4")).unwrap_err();
    assert!(error.is_no_room(), "{error}");
    assert!(error.to_string().starts_with("write new: "), "{error}");
    let (sent, result) = try_drain(&scene.spool);
    assert_eq!(sent, ["k0", "k1", "k3"]);
    assert_eq!(result.unwrap().ended, Ended::Empty);
    // There was no room for reasons.
    let state = scene.spool.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!((state.n_dead, &state.dead[0].refused), (1, &None));
    assert_eq!(state.n_corrupt, 1);
    scene.disk.plan(Plan::Nothing);
    assert_eq!(scene.spool.retry_dead().unwrap(), 1);
    scene.spool.put(&entry("k4")).unwrap();
    assert_eq!(all_done(&scene.spool), ["k1", "k4"]);
}

#[test]
fn on_a_disk_that_can_not_be_written_one_entry_is_sent_and_not_over_and_over() {
    let scene = Scene::new(2);
    scene.disk.plan(Plan::ReadOnly);
    scene.spool.put(&entry("k2")).unwrap_err();
    let (sent, result) = try_drain(&scene.spool);
    assert_eq!(sent, ["k0"]);
    let error = result.unwrap_err().to_string();
    let words = "remove waiting/00000000000000000001.json: ";
    assert!(error.starts_with(words), "{error}");
    // A disk that fails to remove but not to write keeps the wait.
    let scene = Scene::new(2);
    scene.disk.plan(Plan::Fail(2, ErrorKind::PermissionDenied));
    try_drain(&scene.spool).1.unwrap_err();
    scene.disk.plan(Plan::Nothing);
    let (sent, result) = try_drain(&scene.spool);
    assert!(sent.is_empty());
    assert!(matches!(result.unwrap().ended, Ended::Wait { .. }));
    let state = scene.spool.state(TestClock::new().now()).unwrap();
    assert!(state.last_error.unwrap().why.starts_with(words));
}
