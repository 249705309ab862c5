//! Sending: outcomes, waits, pauses, dead letters, what can't be read, and who may send.

use super::*;

fn refused() -> Outcome {
    Outcome::of_status(400, None)
}

fn down() -> Outcome {
    Outcome::no_answer("connection refused")
}

fn filled(base: &Path, n: usize) -> Spool {
    let spool = open(base);
    for key in keys(0..n) {
        spool.put(&entry(&key)).unwrap();
    }
    spool
}

#[test]
fn old_corrupt_refused_and_new_come_out_as_they_should() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 4);
    fs::write(spool.place.file(Tray::Waiting, EntryName(2)), "{\"a\":").unwrap();
    let clock = TestClock::new();
    let (sent, done) = drained(&spool, &clock, |key| match key {
        "k2" => refused(),
        _ => Outcome::Done,
    });
    assert_eq!(sent, ["k0", "k2", "k3"]);
    assert_eq!((done.n_sent, done.n_refused, done.n_corrupt), (2, 1, 1));
    assert_eq!(done.ended, Ended::Empty);
    let state = spool.state(clock.now()).unwrap();
    assert_eq!((state.n_waiting, state.oldest), (0, None));
    let note = Note::new("the server answered 400", clock.now());
    let letter = DeadLetter {
        name: EntryName(3),
        action: "remember".to_owned(),
        refused: Some(note),
    };
    assert_eq!((state.n_dead, state.dead), (1, vec![letter]));
    let damaged = Damaged {
        name: EntryName(2),
        why: "it ends in the middle".to_owned(),
    };
    assert_eq!((state.n_corrupt, state.corrupt), (1, vec![damaged]));
    assert_eq!(state.last_success_at, Some(clock.now()));
}

#[test]
fn an_entry_keeps_its_key_and_its_times_through_every_attempt() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 1);
    let clock = TestClock::new();
    let mut seen = Vec::new();
    for nth in 0..6 {
        let mut send = |name, entry: &Entry| {
            seen.push((name, entry.clone()));
            match nth {
                2 => refused(),
                5 => Outcome::Done,
                _ => Outcome::of_status(503, None),
            }
        };
        spool.drain(&mut send, &clock, &Seed::default()).unwrap();
        spool.retry_dead().unwrap();
        clock.jump(3_600_000);
    }
    assert_eq!(seen, vec![(EntryName(1), entry("k0")); 6]);
    assert!(spool.is_empty().unwrap());
}

#[test]
fn a_reply_that_is_lost_after_the_commit_makes_no_second_record() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    // A server as the contract has it: one key, one record.
    let mut records = Vec::new();
    let mut n_calls = 0;
    loop {
        let (_, done) = drained(&spool, &clock, |key| {
            n_calls += 1;
            if !records.iter().any(|record| record == key) {
                records.push(key.to_owned());
            }
            match n_calls % 2 {
                1 => Outcome::no_answer("the connection was cut off"),
                _ => Outcome::Done,
            }
        });
        clock.jump(3_600_000);
        if done.ended == Ended::Empty {
            break;
        }
    }
    assert_eq!((records, n_calls), (keys(0..3), 6));
}

#[test]
fn a_server_that_is_down_is_not_asked_again_before_its_time_by_any_process() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    let (sent, done) = drained(&spool, &clock, |_| down());
    assert_eq!((sent.len(), done.n_sent), (1, 0));
    let Ended::Wait { until } = done.ended else {
        panic!("it waits: {done:?}");
    };
    for _ in 0..3 {
        // Each as a process of its own.
        let (sent, done) = drained(&open(base.path()), &clock, |_| Outcome::Done);
        assert!(sent.is_empty());
        assert_eq!(done.ended, Ended::Wait { until });
    }
    let state = spool.state(clock.now()).unwrap();
    assert_eq!((state.n_failed, state.next_attempt_at), (1, Some(until)));
    assert_eq!(state.last_error.unwrap().why, "connection refused");
    clock.jump(until.as_ms() - clock.now().as_ms());
    let (_, done) = drained(&spool, &clock, |_| down());
    let Ended::Wait { until: later } = done.ended else {
        panic!("it waits: {done:?}");
    };
    assert!(later > until);
    assert_eq!(spool.state(clock.now()).unwrap().n_failed, 2);
    clock.jump(60_000);
    let (sent, done) = drained(&spool, &clock, |_| Outcome::Done);
    assert_eq!((sent, done.ended), (keys(0..3), Ended::Empty));
    let state = spool.state(clock.now()).unwrap();
    assert_eq!((state.n_failed, state.next_attempt_at), (0, None));
}

#[test]
fn what_comes_before_a_failure_is_not_sent_again() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    let wait = Some(Duration::from_secs(30));
    let (sent, done) = drained(&spool, &clock, |key| match key {
        "k1" => Outcome::of_status(429, wait),
        _ => Outcome::Done,
    });
    assert_eq!((sent, done.n_sent), (keys(0..2), 1));
    let Ended::Wait { until } = done.ended else {
        panic!("it waits: {done:?}");
    };
    assert!((30_000..=33_000).contains(&(until.as_ms() - clock.now().as_ms())));
    clock.jump(33_000);
    assert_eq!(drained(&spool, &clock, |_| Outcome::Done).0, keys(1..3));
}

#[test]
fn a_clock_that_jumps_stalls_nothing() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 1);
    let clock = TestClock::new();
    let day_ms = 24 * 3_600_000;
    for jump in [365 * day_ms, -10 * 365 * day_ms, day_ms, -day_ms] {
        drained(&spool, &clock, |_| down());
        clock.jump(jump);
        let (sent, _) = drained(&spool, &clock, |_| down());
        assert_eq!(sent.len(), 1, "after a jump of {jump} ms");
        let state = spool.state(clock.now()).unwrap();
        assert!(state.oldest_age_ms(clock.now()).unwrap() >= 0);
        clock.jump(3_600_000);
    }
    // Back by less than the wait: it waits on, and not for longer than it would have.
    let (_, done) = drained(&spool, &clock, |_| down());
    let Ended::Wait { until } = done.ended else {
        panic!("it waits: {done:?}");
    };
    clock.jump(1);
    assert_eq!(
        drained(&spool, &clock, |_| down()).1.ended,
        Ended::Wait { until }
    );
}

#[test]
fn a_refused_key_pauses_until_somebody_says_otherwise() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 2);
    let clock = TestClock::new();
    for status in [401, 403] {
        let (sent, done) = drained(&spool, &clock, |_| Outcome::of_status(status, None));
        assert_eq!(sent, ["k0"]);
        let Ended::Paused(note) = done.ended else {
            panic!("it pauses: {done:?}");
        };
        assert!(note.why.contains(&status.to_string()));
        clock.jump(365 * 24 * 3_600_000);
        let (sent, done) = drained(&open(base.path()), &clock, |_| Outcome::Done);
        assert!(sent.is_empty());
        assert_eq!(done.ended, Ended::Paused(note.clone()));
        assert_eq!(spool.state(clock.now()).unwrap().paused, Some(note));
        // Writes go on.
        spool.put(&entry(&format!("later{status}"))).unwrap();
        spool.resume().unwrap();
    }
    assert_eq!(all_done(&spool), ["k0", "k1", "later401", "later403"]);
    assert_eq!(spool.state(clock.now()).unwrap().paused, None);
}

#[test]
fn dead_letters_go_back_to_their_place() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    let (_, done) = drained(&spool, &clock, |key| match key {
        "k1" => down(),
        _ => refused(),
    });
    assert_eq!(done.n_refused, 1);
    assert_eq!(spool.retry_dead().unwrap(), 1);
    assert_eq!(spool.retry_dead().unwrap(), 0);
    spool.resume().unwrap();
    assert_eq!(all_done(&spool), keys(0..3));
    assert_eq!(spool.state(clock.now()).unwrap().n_dead, 0);
}

#[test]
fn what_is_queued_during_a_drain_is_sent_too_and_behind() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 2);
    let other = open(base.path());
    let mut n_more = 0;
    let (sent, done) = drained(&spool, &TestClock::new(), |_| {
        if n_more < 5 {
            n_more += 1;
            other.put(&entry(&format!("live{n_more}"))).unwrap();
        }
        Outcome::Done
    });
    let live = ["k0", "k1", "live1", "live2", "live3", "live4", "live5"];
    assert_eq!((sent, done.n_sent), (live.map(str::to_owned).to_vec(), 7));
    assert_eq!(done.ended, Ended::Empty);
}

#[test]
fn one_sends_at_a_time_and_the_other_returns_at_once() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 2);
    let mut seen = Vec::new();
    drained(&spool, &TestClock::new(), |_| {
        let other = open(base.path());
        let (sent, done) = drained(&other, &TestClock::new(), |_| Outcome::Done);
        assert!(sent.is_empty());
        seen.push(done.ended);
        let set_aside = other.set_aside(EntryName(2), "mine", Timestamp::from_ms(0));
        assert!(matches!(set_aside, Err(SpoolError::Busy)));
        Outcome::Done
    });
    assert_eq!(seen, [Ended::Busy, Ended::Busy]);
    assert_eq!(
        drained(&spool, &TestClock::new(), |_| down()).1.ended,
        Ended::Empty
    );
}

#[test]
fn who_wants_to_end_ends_and_it_is_no_failed_attempt() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    let (sent, done) = drained(&spool, &clock, |key| match key {
        "k1" => Outcome::Leave,
        _ => Outcome::Done,
    });
    assert_eq!((sent.len(), done.n_sent, done.ended), (2, 1, Ended::Left));
    let state = spool.state(clock.now()).unwrap();
    assert_eq!((state.n_failed, state.last_error), (0, None));
    assert_eq!(all_done(&spool), keys(1..3));
}

#[test]
fn a_closure_that_panics_leaves_the_queue_usable() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 2);
    let panicked = thread::scope(|scope| {
        let sending = scope.spawn(|| {
            drained(&spool, &TestClock::new(), |_| panic!("the sender failed"));
        });
        sending.join()
    });
    assert!(panicked.is_err());
    assert_eq!(all_done(&spool), keys(0..2));
}

#[test]
fn a_person_can_set_aside_what_is_in_the_way() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let at = Timestamp::from_ms(7);
    assert!(spool.set_aside(EntryName(1), "in the way", at).unwrap());
    assert!(!spool.set_aside(EntryName(1), "in the way", at).unwrap());
    fs::write(spool.place.file(Tray::Waiting, EntryName(2)), "").unwrap();
    assert!(spool.set_aside(EntryName(2), "in the way", at).unwrap());
    assert_eq!(all_done(&spool), ["k2"]);
    let state = spool.state(at).unwrap();
    assert_eq!(state.dead[0].refused, Some(Note::new("in the way", at)));
    assert_eq!(state.corrupt[0].why, "it is empty");
}

#[test]
fn an_entry_that_the_server_never_takes_is_told_of_and_can_be_set_aside_and_brought_back() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let clock = TestClock::new();
    let ill = |key: &str| match key {
        "k0" => Outcome::of_status(500, None),
        _ => Outcome::Done,
    };
    let stuck = || {
        let state = spool.state(clock.now()).unwrap();
        state.stuck(STUCK_AFTER)
    };
    for _ in 0..STUCK_AFTER {
        assert_eq!(stuck(), None);
        clock.jump(600_000);
        assert_eq!(drained(&spool, &clock, ill).0, ["k0"]);
    }
    assert_eq!(stuck(), Some(EntryName(1)));
    assert!(
        spool
            .set_aside(EntryName(1), "in the way", clock.now())
            .unwrap()
    );
    assert_eq!(stuck(), None);
    assert_eq!(drained(&spool, &clock, ill).0, ["k1", "k2"]);
    assert_eq!(spool.retry_dead().unwrap(), 1);
    assert_eq!(all_done(&spool), ["k0"]);
}

#[test]
fn a_server_that_is_not_there_is_no_reason_to_set_anything_aside() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 1);
    let clock = TestClock::new();
    for _ in 0..2 * STUCK_AFTER {
        drained(&spool, &clock, |_| down());
        clock.jump(600_000);
    }
    let state = spool.state(clock.now()).unwrap();
    assert_eq!((state.n_failed, state.stuck(1)), (2 * STUCK_AFTER, None));
}

#[test]
fn damaged_files_of_every_kind_never_block() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 1);
    let whole = entry("k").to_bytes(ENDPOINT).unwrap();
    let file = |n: u64| spool.place.file(Tray::Waiting, EntryName(n));
    for (n, bytes) in [
        (2, &b""[..]),
        (3, &whole[..whole.len() / 2]),
        (4, &[0; 4096]),
        (5, b"\xff\xfe\xfd"),
        (6, b"{\"format\":2}"),
        (7, b"{\"format\":1}"),
        (8, b"null"),
    ] {
        fs::write(file(n), bytes).unwrap();
    }
    let deep = "[".repeat(100_000);
    fs::write(file(9), deep).unwrap();
    fs::create_dir(file(10)).unwrap();
    fs::write(file(11), vec![b' '; 2 * 1024 * 1024]).unwrap();
    let n_other = if cfg!(unix) { 2 } else { 0 };
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", file(12)).unwrap();
        std::os::unix::fs::symlink("nowhere", file(13)).unwrap();
    }
    let last = spool.put(&entry("k1")).unwrap();
    assert!(last > EntryName(11));
    let (sent, done) = drained(&spool, &TestClock::new(), |_| Outcome::Done);
    assert_eq!((sent, done.n_corrupt), (keys(0..2), 10 + n_other));
    let state = spool.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!((state.n_corrupt, state.n_waiting), (10 + n_other, 0));
    assert!(state.corrupt.iter().all(|damaged| !damaged.why.is_empty()));
    assert_eq!(
        fs::read(spool.place.file(Tray::Corrupt, EntryName(3))).unwrap(),
        &whole[..whole.len() / 2]
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_an_entry_stops_nobody() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 1);
    let pipe = spool.place.file(Tray::Waiting, EntryName(2));
    let made = std::process::Command::new("mkfifo").arg(pipe).status();
    assert!(made.unwrap().success());
    let (sent, done) = drained(&spool, &TestClock::new(), |_| Outcome::Done);
    assert_eq!((sent.len(), done.n_corrupt), (1, 1));
}

#[test]
fn what_a_newer_program_can_read_is_put_back() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 3);
    let file = spool.place.file(Tray::Waiting, EntryName(1));
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.replace("\"format\":1", "\"format\":2")).unwrap();
    fs::write(spool.place.file(Tray::Waiting, EntryName(2)), "").unwrap();
    assert_eq!(all_done(&spool), ["k2"]);
    assert_eq!(spool.retry_corrupt().unwrap(), 0);
    // As if this program were the newer one.
    fs::write(spool.place.file(Tray::Corrupt, EntryName(1)), whole).unwrap();
    assert_eq!(spool.retry_corrupt().unwrap(), 1);
    assert_eq!(all_done(&spool), ["k0"]);
    assert_eq!(names_in(&spool, "corrupt").len(), 2);
}

#[test]
fn a_state_lists_the_first_hundred_and_counts_all() {
    let base = quick_folder();
    let disk = Arc::new(faulty::FaultyDisk::new());
    let spool = Spool::open_on(disk, base.path(), ENDPOINT, Limits::STANDARD).unwrap();
    for key in keys(0..MAX_LISTED + 1) {
        spool.put(&entry(&key)).unwrap();
    }
    drained(&spool, &TestClock::new(), |_| refused());
    let state = spool.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!(
        (state.n_dead, state.dead.len()),
        (MAX_LISTED + 1, MAX_LISTED)
    );
    assert_eq!(state.dead[0].name, EntryName(1));
}

#[test]
fn no_word_of_an_entry_is_in_an_error_a_state_or_a_file_name() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    let mut secret = entry("k0");
    secret
        .arguments
        .insert("content".to_owned(), json!("sesame"));
    spool.put(&secret).unwrap();
    spool.put(&secret).unwrap();
    let file = spool.place.file(Tray::Waiting, EntryName(1));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"sesame\"", "sesame")).unwrap();
    drained(&spool, &TestClock::new(), |_| refused());
    let state = spool.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!((state.n_dead, state.n_corrupt), (1, 1));
    let why = fs::read_to_string(spool.place.why(EntryName(1))).unwrap();
    fs::remove_dir_all(spool.folder().join("waiting")).unwrap();
    fs::write(spool.folder().join("waiting"), "").unwrap();
    let error = spool.put(&secret).unwrap_err();
    for shown in [format!("{state:?}"), why, format!("{error:?} {error}")] {
        assert!(!shown.contains("sesame"), "{shown}");
    }
}

#[test]
fn what_is_for_another_project_stays_and_holds_up_nothing() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    for key in keys(0..5) {
        spool.put(&entry(&key)).unwrap();
    }
    let ours = |key: &str| match key {
        "k0" | "k3" => Outcome::of_status(421, None),
        _ => Outcome::Done,
    };
    let clock = TestClock::new();
    let (_, done) = drained(&spool, &clock, ours);
    assert_eq!((done.n_sent, done.n_refused), (3, 0));
    assert_eq!(done.ended, Ended::Empty);
    // Nobody counts that as a failure, and whose it is sends it.
    assert_eq!(all_done(&spool), ["k0", "k3"]);
}

#[test]
fn waits_grow_although_something_of_another_project_is_ahead() {
    let base = tempfile::tempdir().unwrap();
    let spool = filled(base.path(), 2);
    let clock = TestClock::new();
    for n_failed in 1..=STUCK_AFTER {
        let (_, done) = drained(&spool, &clock, |key| match key {
            "k0" => Outcome::NotOurs,
            _ => Outcome::of_status(500, None),
        });
        let Ended::Wait { until } = done.ended else {
            panic!("{:?}", done.ended);
        };
        let state = spool.state(clock.now()).unwrap();
        assert_eq!(state.n_failed, n_failed);
        // What to set aside is what fails, not what is oldest.
        assert_eq!(state.stuck(n_failed), Some(EntryName(2)));
        clock.jump(until.as_ms() - clock.now().as_ms());
    }
}
