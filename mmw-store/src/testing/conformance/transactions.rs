//! Transactions and snapshots.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::{Engine, EngineError, read, write};
use crate::testing::build::{World, put, record, record_id};

pub fn what_was_written_is_read_in_and_after_the_transaction(engine: &dyn Engine) {
    let world = World::found(engine);
    let seen_inside = write(engine, |txn| {
        put(txn, &record(&world.here, 1, "one"))?;
        txn.snapshot().record(record_id(1))
    })
    .unwrap();
    let seen_after = read(engine, |snapshot| snapshot.record(record_id(1))).unwrap();
    assert!(seen_inside.is_some());
    assert_eq!(seen_inside, seen_after);
}

pub fn a_failed_transaction_leaves_nothing(engine: &dyn Engine) {
    let world = World::found(engine);
    let failed = write::<()>(engine, |txn| {
        put(txn, &record(&world.here, 1, "one"))?;
        Err(EngineError::RolledBack)
    });
    assert!(matches!(failed, Err(EngineError::RolledBack)));
    let (found, n_records, workspaces) = read(engine, |snapshot| {
        Ok((
            snapshot.record(record_id(1))?,
            snapshot.n_records(world.here.project)?,
            snapshot.workspaces(world.here.project)?,
        ))
    })
    .unwrap();
    assert_eq!((found, n_records), (None, 0));
    assert!(workspaces.is_empty());
    write(engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
}

pub fn a_panic_in_a_transaction_leaves_nothing_and_the_engine_usable(engine: &dyn Engine) {
    let world = World::found(engine);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        write::<()>(engine, |txn| {
            put(txn, &record(&world.here, 1, "one"))?;
            std::panic::resume_unwind(Box::new("on purpose"))
        })
    }));
    assert!(panicked.is_err());
    assert!(
        read(engine, |snapshot| snapshot.record(record_id(1)))
            .unwrap()
            .is_none()
    );
    write(engine, |txn| put(txn, &record(&world.here, 1, "one"))).unwrap();
}

pub fn a_snapshot_does_not_see_later_writes(engine: &dyn Engine) {
    let world = World::found(engine);
    read(engine, |snapshot| {
        assert!(snapshot.record(record_id(1))?.is_none());
        // The look may be run again, the write must not be.
        if read(engine, |now| now.record(record_id(1)))?.is_none() {
            write(engine, |txn| put(txn, &record(&world.here, 1, "one")))?;
        }
        assert!(snapshot.record(record_id(1))?.is_none());
        Ok(())
    })
    .unwrap();
    assert!(
        read(engine, |snapshot| snapshot.record(record_id(1)))
            .unwrap()
            .is_some()
    );
}

pub fn concurrent_writes_all_arrive(engine: &dyn Engine) {
    const THREADS: u64 = 8;
    const EACH: u64 = 20;
    let world = World::found(engine);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let here = &world.here;
            scope.spawn(move || {
                for n in 0..EACH {
                    let text = format!("said by {thread}");
                    write(engine, |txn| {
                        put(txn, &record(here, 1 + thread * EACH + n, &text))
                    })
                    .unwrap();
                    let seen = read(engine, |snapshot| {
                        snapshot.record(record_id(1 + thread * EACH + n))
                    });
                    assert!(seen.unwrap().is_some());
                }
            });
        }
    });
    let n_records = read(engine, |snapshot| snapshot.n_records(world.here.project)).unwrap();
    assert_eq!(n_records, THREADS * EACH);
}

pub fn an_empty_store_has_no_problems(engine: &dyn Engine) {
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    assert!(engine.size_bytes().unwrap() > 0);
}
