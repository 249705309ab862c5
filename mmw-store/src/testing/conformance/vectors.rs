//! Vectors, and the records that wait for one.

use mmw_core::time::Timestamp;

use crate::engine::{Engine, ModelNumber, Rewritten, Row, Txn, VectorReach, read, write};
use crate::testing::build::{START, World, minute, put, record, record_id, words};

fn taken(engine: &dyn Engine, model: ModelNumber, now: Timestamp, limit: usize) -> Vec<Row> {
    let mut taken = write(engine, |txn| {
        txn.take_unembedded(model, now, now.plus_ms(1_000), limit)
    })
    .unwrap();
    taken.sort_unstable();
    taken
}

fn model(engine: &dyn Engine, id: &str) -> ModelNumber {
    write(engine, |txn| txn.use_embedding_model(id, START)).unwrap()
}

fn saved(engine: &dyn Engine, world: &World, numbers: std::ops::Range<u64>) -> Vec<Row> {
    write(engine, |txn| {
        numbers
            .clone()
            .map(|n| put(txn, &record(&world.here, n, "staging runs")))
            .collect()
    })
    .unwrap()
}

fn keep(engine: &dyn Engine, model: ModelNumber, row: Row, data: &[u8]) -> bool {
    write(engine, |txn| txn.keep_vector(model, row, data)).unwrap()
}

pub fn a_record_waits_for_a_vector_of_every_model(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut rows = saved(engine, &world, 1..4);
    let first = model(engine, "a/3/1");
    assert_eq!(model(engine, "a/3/1"), first, "a model is known once");
    rows.extend(saved(engine, &world, 4..6));
    let second = model(engine, "b/3/1");
    assert_ne!(first, second);
    let known = read(engine, |snapshot| {
        Ok((
            snapshot.embedding_model("a/3/1")?,
            snapshot.embedding_model("c")?,
        ))
    });
    assert_eq!(known.unwrap(), (Some(first), None));
    rows.extend(saved(engine, &world, 6..8));
    for model in [first, second] {
        let mut waiting = Vec::new();
        for _ in 0..rows.len() + 2 {
            let has_some = read(engine, |snapshot| snapshot.has_unembedded(model, START));
            let now = taken(engine, model, START, 2);
            assert!(has_some.unwrap() || now.is_empty());
            waiting.extend(now);
        }
        waiting.sort_unstable();
        assert_eq!(waiting, rows);
        let has_some = read(engine, |snapshot| snapshot.has_unembedded(model, START));
        assert!(!has_some.unwrap());
    }
}

pub fn what_is_taken_is_nobody_elses_until_the_moment(engine: &dyn Engine) {
    let world = World::found(engine);
    let model = model(engine, "a/3/1");
    let rows = saved(engine, &world, 1..4);
    assert_eq!(
        taken(engine, model, START, 2),
        rows[1..],
        "the newest first"
    );
    assert_eq!(taken(engine, model, START, 9), rows[..1]);
    assert_eq!(
        taken(engine, model, START.plus_ms(999), 9),
        Vec::<Row>::new()
    );
    assert_eq!(taken(engine, model, START.plus_ms(1_000), 9), rows);
    let later = minute(9);
    write(engine, |txn| {
        txn.give_back_unembedded(model, &rows[..1], later)
    })
    .unwrap();
    assert_eq!(taken(engine, model, minute(8), 9), rows[1..]);
    assert_eq!(taken(engine, model, later, 9), rows);
}

pub fn a_vector_is_kept_for_who_waits_only(engine: &dyn Engine) {
    let world = World::found(engine);
    let model = model(engine, "a/3/1");
    let rows = saved(engine, &world, 1..3);
    assert!(keep(engine, model, rows[0], &[1, 2]));
    assert!(!keep(engine, model, rows[0], &[3]), "somebody was faster");
    write(engine, |txn| {
        txn.forget(&[record_id(2)], START, world.person, None)
    })
    .unwrap();
    assert!(!keep(engine, model, rows[1], &[4]), "it is forgotten");
    assert_eq!(taken(engine, model, START, 9), Vec::<Row>::new());
    let n_waiting = read(engine, |snapshot| snapshot.n_unembedded(model));
    assert_eq!(n_waiting.unwrap(), 0);
    let n_vectors = read(engine, |snapshot| snapshot.n_vectors(model)).unwrap();
    assert_eq!(n_vectors, 1);
}

pub fn vectors_are_read_by_row_and_by_number(engine: &dyn Engine) {
    let world = World::found(engine);
    let (first, second) = (model(engine, "a/3/1"), model(engine, "b/3/1"));
    let rows = saved(engine, &world, 1..4);
    for row in rows.iter().rev() {
        assert!(keep(engine, first, *row, &row.to_le_bytes()));
    }
    assert!(keep(engine, second, rows[0], &[9]));
    read(engine, |snapshot| {
        let all = snapshot.vectors_in(first, &(0..Row::MAX), 9)?;
        let found: Vec<(Row, Vec<u8>)> = all.iter().map(|v| (v.row, v.data.clone())).collect();
        let expected: Vec<(Row, Vec<u8>)> = rows
            .iter()
            .map(|row| (*row, row.to_le_bytes().to_vec()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            snapshot.vectors_in(first, &(rows[1]..rows[2]), 9)?,
            all[1..2]
        );
        assert_eq!(snapshot.vectors_in(first, &(0..Row::MAX), 2)?, all[..2]);
        let in_order = snapshot.vectors_after(first, 0, 9)?;
        assert!(in_order.is_sorted_by(|a, b| a.number < b.number));
        assert_eq!(in_order[0].row, rows[2]);
        assert_eq!(
            (in_order[3].is_of_model, in_order[3].data.as_slice()),
            (false, &[][..])
        );
        let newest = snapshot.vector_reach()?.vector;
        assert_eq!(in_order[3].number, newest);
        assert_eq!(
            snapshot.vectors_after(first, in_order[1].number, 1)?,
            in_order[2..3]
        );
        assert_eq!(snapshot.vectors_after(first, newest, 9)?, []);
        Ok(())
    })
    .unwrap();
}

pub fn forgotten_and_changed_records_lose_their_vectors(engine: &dyn Engine) {
    let world = World::found(engine);
    let model = model(engine, "a/3/1");
    let rows = saved(engine, &world, 1..4);
    for row in &rows {
        assert!(keep(engine, model, *row, &[1]));
    }
    let changed = record(&world.here, 3, "clean");
    write(engine, |txn| {
        txn.forget(&[record_id(1)], START, world.person, None)?;
        rewrite(txn, &changed)
    })
    .unwrap();
    let left = read(engine, |snapshot| {
        snapshot.vectors_in(model, &(0..Row::MAX), 9)
    })
    .unwrap();
    assert_eq!(
        left.iter().map(|kept| kept.row).collect::<Vec<_>>(),
        [rows[1]]
    );
    assert_eq!(
        taken(engine, model, START, 9),
        rows[2..],
        "the changed one waits"
    );
}

fn rewrite(
    txn: &mut dyn Txn,
    record: &mmw_core::record::Record,
) -> crate::engine::EngineResult<()> {
    txn.rewrite_record(&Rewritten {
        record,
        digest: mmw_core::text::ContentDigest::of(&record.content),
        words: &words(&record.content),
        replaced: &[],
        screened: 8,
    })
}

pub fn numbers_of_vectors_only_rise(engine: &dyn Engine) {
    let world = World::found(engine);
    let model = model(engine, "a/3/1");
    let reach = || read(engine, |snapshot| snapshot.vector_reach()).unwrap();
    assert_eq!(reach(), VectorReach::default());
    let rows = saved(engine, &world, 1..3);
    assert!(keep(engine, model, rows[0], &[1]));
    let first = reach();
    forget(engine, &world, 1);
    assert_eq!(
        reach().vector,
        first.vector,
        "a number that was given stays the newest"
    );
    assert!(
        reach().covers(first) && !first.covers(reach()),
        "a removal is later"
    );
    assert!(keep(engine, model, rows[1], &[1]));
    assert!(reach().vector > first.vector);
}

pub fn removals_are_told_in_their_order(engine: &dyn Engine) {
    let world = World::found(engine);
    let model = model(engine, "a/3/1");
    let rows = saved(engine, &world, 1..5);
    for row in &rows {
        assert!(keep(engine, model, *row, &[1]));
    }
    let numbers: Vec<_> = read(engine, |snapshot| snapshot.vectors_after(model, 0, 9))
        .unwrap()
        .into_iter()
        .map(|kept| kept.number)
        .collect();
    for n in [3, 1, 4] {
        forget(engine, &world, n);
    }
    let removals =
        |after, limit| read(engine, |snapshot| snapshot.removals_after(after, limit)).unwrap();
    let all = removals(0, 9);
    let told: Vec<_> = all
        .iter()
        .map(|one| (one.removal, one.row, one.vector))
        .collect();
    let expected = [
        (1, rows[2], numbers[2]),
        (2, rows[0], numbers[0]),
        (3, rows[3], numbers[3]),
    ];
    assert_eq!(told, expected);
    assert_eq!(removals(1, 1), all[1..2]);
    assert_eq!(removals(3, 9), []);
    let reach = read(engine, |snapshot| snapshot.vector_reach()).unwrap();
    assert_eq!(reach.removal, 3);
}

fn forget(engine: &dyn Engine, world: &World, n: u64) {
    write(engine, |txn| {
        txn.forget(&[record_id(n)], START, world.person, None)
    })
    .unwrap();
}

pub fn an_unused_model_goes_with_its_vectors(engine: &dyn Engine) {
    let world = World::found(engine);
    let (old, used) = (model(engine, "a/3/1"), model(engine, "b/3/1"));
    let rows = saved(engine, &world, 1..3);
    for model in [old, used] {
        assert!(keep(engine, model, rows[0], &[1]));
    }
    let n_dropped = write(engine, |txn| {
        txn.use_embedding_model("b/3/1", minute(2))?;
        txn.drop_embedding_models(minute(1))
    });
    assert_eq!(n_dropped.unwrap(), 1);
    read(engine, |snapshot| {
        assert_eq!(snapshot.embedding_model("a/3/1")?, None);
        assert_eq!(
            (snapshot.n_vectors(old)?, snapshot.n_vectors(used)?),
            (0, 1)
        );
        assert_eq!(snapshot.n_indexed()?, 2);
        assert!(!snapshot.has_unembedded(old, minute(9))?);
        Ok(())
    })
    .unwrap();
}
