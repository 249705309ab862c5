//! What is in the folder: order, permissions, limits, and what other people put there.

use super::*;

#[test]
fn entries_come_out_as_they_went_in() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    let names: Vec<_> = keys(0..30)
        .iter()
        .map(|key| spool.put(&entry(key)).unwrap())
        .collect();
    assert!(names.is_sorted());
    assert_eq!(spool.waiting().unwrap(), names);
    assert_eq!(spool.read(names[7]).unwrap(), Some(entry("k7")));
    assert_eq!(all_done(&spool), keys(0..30));
    assert!(spool.is_empty().unwrap());
}

#[test]
fn numbers_go_on_after_everything_was_sent_and_in_other_processes() {
    let base = tempfile::tempdir().unwrap();
    let first = open(base.path()).put(&entry("k0")).unwrap();
    all_done(&open(base.path()));
    let second = open(base.path()).put(&entry("k1")).unwrap();
    assert!(second > first);
}

#[test]
fn order_does_not_depend_on_a_clock() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    for (nth, ms) in [9, i64::MAX, 0, i64::MIN, 5].into_iter().enumerate() {
        let mut entry = entry(&format!("k{nth}"));
        entry.queued_at = Timestamp::from_ms(ms);
        spool.put(&entry).unwrap();
    }
    assert_eq!(all_done(&spool), keys(0..5));
}

#[test]
fn a_lost_or_damaged_ledger_is_made_anew_from_the_files() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    for key in keys(0..3) {
        spool.put(&entry(&key)).unwrap();
    }
    let behind = Ledger {
        next: 2,
        n_files: 0,
        n_bytes: 0,
    };
    let damages = ["", "42", "\0\0\0", &behind.line()];
    for (nth, damage) in damages.iter().enumerate() {
        fs::write(spool.place.ledger(), damage).unwrap();
        spool.put(&entry(&format!("k{}", 3 + nth))).unwrap();
    }
    fs::remove_file(spool.place.ledger()).unwrap();
    spool.put(&entry("k7")).unwrap();
    assert_eq!(all_done(&spool), keys(0..8));
}

#[test]
fn a_number_is_not_given_again_while_its_dead_letter_lies_there() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    let first = spool.put(&entry("k0")).unwrap();
    let refused = |_: &str| Outcome::Refused {
        why: "no".to_owned(),
    };
    drained(&spool, &TestClock::new(), refused);
    fs::remove_file(spool.place.ledger()).unwrap();
    assert!(spool.put(&entry("k1")).unwrap() > first);
}

#[test]
fn who_may_not_wait_does_not_wait_for_ever() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    let stuck = spool.change().unwrap();
    let wait = Duration::from_millis(20);
    let error = spool.put_within(&entry("late"), wait).unwrap_err();
    assert!(matches!(error, SpoolError::Late), "{error}");
    drop(stuck);
    let long = Duration::from_secs(600);
    spool.put_within(&entry("k0"), long).unwrap();
    let keyless = Entry {
        envelope: serde_json::Map::new(),
        ..entry("k")
    };
    let error = spool.put_within(&keyless, long).unwrap_err();
    assert!(matches!(error, SpoolError::Invalid(_)), "{error}");
    // The late one comes later or, if the process had ended, not at all.
    let sent = all_done(&spool);
    assert!(sent.contains(&"k0".to_owned()), "{sent:?}");
}

#[test]
fn limits_hold_at_the_limit_and_not_one_past_it() {
    let base = tempfile::tempdir().unwrap();
    let n_bytes = |key: &str| entry(key).to_bytes(ENDPOINT).unwrap().len() as u64;
    let one = n_bytes("k0");
    let limited = |limits| Spool::open_with(base.path(), ENDPOINT, limits).unwrap();
    let wide = Limits::STANDARD;

    let spool = limited(Limits {
        entry_bytes: one,
        ..wide
    });
    spool.put(&entry("k0")).unwrap();
    let error = spool.put(&entry("k00")).unwrap_err();
    let words = format!("it has {} bytes, more than the limit of {one}", one + 1);
    assert!(error.to_string().contains(&words), "{error}");

    let spool = limited(Limits { entries: 2, ..wide });
    spool.put(&entry("k1")).unwrap();
    let error = spool.put(&entry("k2")).unwrap_err();
    assert!(error.is_no_room(), "{error}");
    assert!(error.to_string().contains("full with 2 entries"), "{error}");

    let spool = limited(Limits {
        total_bytes: 3 * one,
        ..wide
    });
    spool.put(&entry("k2")).unwrap();
    assert!(spool.put(&entry("k3")).unwrap_err().is_no_room());
    // What was sent makes room, though the ledger did not hear of it.
    assert_eq!(all_done(&spool), keys(0..3));
    for key in ["k4", "k5", "k6"] {
        spool.put(&entry(key)).unwrap();
    }
    assert!(spool.put(&entry("k7")).is_err());
}

#[test]
fn dead_letters_count_towards_the_limit() {
    let base = tempfile::tempdir().unwrap();
    let limits = Limits {
        entries: 1,
        ..Limits::STANDARD
    };
    let spool = Spool::open_with(base.path(), ENDPOINT, limits).unwrap();
    spool.put(&entry("k0")).unwrap();
    drained(&spool, &TestClock::new(), |_| Outcome::Refused {
        why: "no".to_owned(),
    });
    assert!(spool.put(&entry("k1")).unwrap_err().is_no_room());
}

#[test]
fn files_of_others_are_left_alone() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    let others = [
        "notes.txt",
        "00000000000000000000.json~",
        ".DS_Store",
        "1.json",
        "00000000000000000001.JSON",
    ];
    for folder in ["", "waiting", "dead", "corrupt"] {
        for other in others {
            fs::write(spool.folder().join(folder).join(other), "mine").unwrap();
        }
        fs::create_dir(spool.folder().join(folder).join("folder")).unwrap();
    }
    for key in keys(0..3) {
        spool.put(&entry(&key)).unwrap();
    }
    assert_eq!(all_done(&spool), keys(0..3));
    spool.retry_dead().unwrap();
    spool.retry_corrupt().unwrap();
    for folder in ["", "waiting", "dead", "corrupt"] {
        for other in others {
            let text = fs::read_to_string(spool.folder().join(folder).join(other)).unwrap();
            assert_eq!(text, "mine");
        }
    }
    let state = spool.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!((state.n_waiting, state.n_dead, state.n_corrupt), (0, 0, 0));
}

#[test]
fn a_folder_that_was_emptied_while_the_program_ran_is_made_again() {
    let base = tempfile::tempdir().unwrap();
    let spool = open(base.path());
    spool.put(&entry("k0")).unwrap();
    fs::remove_dir_all(spool.folder().join("waiting")).unwrap();
    spool.put(&entry("k1")).unwrap();
    assert_eq!(all_done(&spool), ["k1"]);
    fs::remove_dir_all(base.path()).unwrap();
    assert_eq!(all_done(&spool), [""; 0]);
    fs::remove_dir_all(base.path()).unwrap();
    spool.put(&entry("k2")).unwrap();
    assert_eq!(all_done(&spool), ["k2"]);
    assert_eq!(Spool::all(base.path()).unwrap().len(), 1);
}

#[test]
fn what_is_meant_for_one_endpoint_never_goes_to_another() {
    let base = tempfile::tempdir().unwrap();
    let (one, other) = (
        open(base.path()),
        Spool::open(base.path(), "https://other.example").unwrap(),
    );
    let name = one.put(&entry("k0")).unwrap();
    assert!(other.is_empty().unwrap());
    // Even by hand.
    let file = one.place.file(Tray::Waiting, name);
    fs::copy(file, other.place.file(Tray::Waiting, name)).unwrap();
    let (sent, done) = drained(&other, &TestClock::new(), |_| Outcome::Done);
    assert_eq!((sent.len(), done.n_corrupt), (0, 1));
    let state = other.state(Timestamp::from_ms(0)).unwrap();
    assert_eq!(state.corrupt[0].why, "it is meant for another endpoint");
    let endpoints: Vec<_> = Spool::all(base.path())
        .unwrap()
        .iter()
        .map(|spool| spool.endpoint().to_owned())
        .collect();
    assert_eq!(endpoints, [ENDPOINT, "https://other.example"]);
}

#[test]
fn one_endpoint_written_in_two_ways_has_one_queue_and_none_holds_a_password() {
    let base = tempfile::tempdir().unwrap();
    open(base.path()).put(&entry("k0")).unwrap();
    let same = Spool::open(base.path(), " https://mmw.example// ").unwrap();
    assert_eq!(all_done(&same), ["k0"]);
    let secret = "https://me:sesame@mmw.example/x";
    for endpoint in [
        secret,
        "me:sesame@mmw.example",
        "",
        " / ",
        &"h".repeat(2049),
    ] {
        let error = Spool::open(base.path(), endpoint).unwrap_err().to_string();
        assert!(!error.contains("sesame"), "{error}");
    }
    Spool::open(base.path(), "https://mmw.example/@me").unwrap();
    let missing = base.path().join("missing");
    assert!(Spool::all(&missing).unwrap().is_empty());
    assert!(!missing.exists());
}

#[cfg(unix)]
#[test]
fn everything_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().join("spool");
    let spool = open(&folder);
    fs::set_permissions(spool.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let spool = open(&folder);
    for key in keys(0..3) {
        spool.put(&entry(&key)).unwrap();
    }
    fs::write(spool.place.file(Tray::Waiting, EntryName(1)), "{").unwrap();
    let mut outcomes = vec![
        Outcome::Refused {
            why: "no".to_owned(),
        },
        Outcome::no_answer("down"),
    ]
    .into_iter();
    drained(&spool, &TestClock::new(), |_| outcomes.next().unwrap());
    let mut paths = vec![folder];
    let (mut n_files, mut n_folders) = (0, 0);
    while let Some(path) = paths.pop() {
        let metadata = fs::metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_dir() {
            assert_eq!(mode, 0o700, "{path:?}");
            paths.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            n_folders += 1;
        } else {
            assert_eq!(mode, 0o600, "{path:?}");
            n_files += 1;
        }
    }
    // endpoint, ledger, sync.json, two locks; one waiting, one dead, one corrupt with its reason.
    assert_eq!((n_folders, n_files), (5, 9));
}

#[test]
fn ten_thousand_entries_take_four_steps_each_to_queue_and_two_to_send() {
    let n = 10_000;
    let base = quick_folder();
    let disk = Arc::new(faulty::FaultyDisk::new());
    let spool = Spool::open_on(disk.clone(), base.path(), ENDPOINT, Limits::STANDARD).unwrap();
    disk.plan(faulty::Plan::Nothing);
    for key in keys(0..n) {
        spool.put(&entry(&key)).unwrap();
    }
    // And one for the ledger's own name, at the first.
    assert_eq!(disk.n_steps(), 4 * n + 1);
    let state = spool.state(Timestamp::from_ms(1_700_000_060_000)).unwrap();
    assert_eq!(state.n_waiting, n);
    let size = |key: &String| entry(key).to_bytes(ENDPOINT).unwrap().len() as u64;
    let n_bytes: u64 = keys(0..n).iter().map(size).sum();
    assert_eq!(state.n_waiting_bytes, n_bytes);
    assert_eq!(
        state.oldest_age_ms(Timestamp::from_ms(1_700_000_060_000)),
        Some(60_000)
    );
    disk.plan(faulty::Plan::Nothing);
    assert_eq!(all_done(&spool), keys(0..n));
    assert!(disk.n_steps() <= 2 * n + 8, "{}", disk.n_steps());
}
