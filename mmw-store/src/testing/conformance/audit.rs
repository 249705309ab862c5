//! The audit chain and the jobs.

use mmw_core::audit::{CHAIN_START, Deed, Entry, seal};
use mmw_core::ids::{JobId, KeyId};

use crate::engine::{Engine, read, write};
use crate::testing::build::{World, minute, record_id};

fn entry(world: &World, n: u64, why: Option<&str>) -> Entry {
    Entry {
        at: minute(i64::try_from(n).unwrap()),
        account: world.account,
        project: n.is_multiple_of(2).then_some(world.here.project),
        principal: world.person,
        key: KeyId::new("k1").filter(|_| n.is_multiple_of(3)),
        way: if n == 1 { "upkeep" } else { "mcp" },
        deed: Deed::ALL[usize::try_from(n).unwrap() % Deed::ALL.len()],
        ids: vec![
            record_id(n).to_string(),
            record_id(100).to_string(),
            "mem_cand_x".to_owned(),
        ],
        why: why.map(str::to_owned),
    }
}

pub fn the_chain_holds_and_is_read_in_order(engine: &dyn Engine) {
    let world = World::found(engine);
    let entries = [
        entry(&world, 1, None),
        entry(&world, 2, Some("")),
        entry(&world, 3, Some("asked: \"why\"")),
    ];
    write(engine, |txn| {
        txn.append_audit(&entries[0])?;
        txn.append_audit(&entries[1])
    })
    .unwrap();
    write(engine, |txn| txn.append_audit(&entries[2])).unwrap();
    let rows = read(engine, |snapshot| snapshot.audit(0, 99)).unwrap();
    let mut before = CHAIN_START;
    assert_eq!(rows.len(), entries.len());
    for (n, (row, entry)) in (1..).zip(rows.iter().zip(&entries)) {
        assert_eq!((row.seq, &row.entry), (n, entry));
        assert_eq!(row.hash, seal(&before, entry));
        before = row.hash;
    }
    read(engine, |snapshot| {
        assert_eq!(snapshot.audit(2, 1)?, rows[1..2]);
        assert_eq!(snapshot.audit(4, 9)?, []);
        Ok(())
    })
    .unwrap();
}

pub fn a_record_leads_to_its_rows(engine: &dyn Engine) {
    let world = World::found(engine);
    write(engine, |txn| {
        (1..=3).try_for_each(|n| txn.append_audit(&entry(&world, n, None)))
    })
    .unwrap();
    let seqs = |n: u64| {
        let rows = read(engine, |snapshot| snapshot.audit_of(record_id(n))).unwrap();
        rows.iter().map(|row| row.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(2), [2]);
    assert_eq!(seqs(100), [1, 2, 3]);
    assert_eq!(seqs(9), Vec::<u64>::new());
}

fn job(n: u8) -> JobId {
    JobId::from_bytes([n; 16])
}

pub fn the_oldest_due_job_is_taken_once_until_its_lease_ends(engine: &dyn Engine) {
    World::found(engine);
    write(engine, |txn| {
        txn.enqueue_job(job(1), "embed", "{\"n\":1}", minute(2))?;
        txn.enqueue_job(job(2), "embed", "{\"n\":2}", minute(1))
    })
    .unwrap();
    let take = |now, until| {
        write(engine, |txn| txn.take_job(minute(now), minute(until)))
            .unwrap()
            .map(|(id, _, _, n_attempts)| (id, n_attempts))
    };
    assert_eq!(take(0, 10), None, "none is due");
    assert_eq!(take(1, 10), Some((job(2), 1)));
    assert_eq!(take(1, 10), None, "it is taken");
    assert_eq!(take(2, 5), Some((job(1), 1)));
    assert_eq!(take(5, 20), Some((job(1), 2)), "its lease ended");
    write(engine, |txn| txn.finish_job(job(1))).unwrap();
    assert_eq!(take(30, 40), Some((job(2), 2)));
    assert_eq!(take(30, 40), None);
    let (_, kind, payload, _) = write(engine, |txn| txn.take_job(minute(40), minute(50)))
        .unwrap()
        .unwrap();
    assert_eq!((kind.as_str(), payload.as_str()), ("embed", "{\"n\":2}"));
}

pub fn a_failed_job_comes_back_or_is_set_aside(engine: &dyn Engine) {
    World::found(engine);
    write(engine, |txn| txn.enqueue_job(job(1), "k", "p", minute(0))).unwrap();
    let take = |now: i64| {
        let taken = write(engine, |txn| txn.take_job(minute(now), minute(now + 1)));
        taken.unwrap().map(|(_, _, _, n_attempts)| n_attempts)
    };
    let postpone = |due_at: Option<i64>| {
        write(engine, |txn| {
            txn.postpone_job(job(1), due_at.map(minute), "no network")
        })
        .unwrap();
    };
    assert_eq!(take(0), Some(1));
    postpone(Some(10));
    assert_eq!(take(9), None);
    assert_eq!(take(10), Some(2));
    postpone(None);
    assert_eq!(take(1000), None);
}
