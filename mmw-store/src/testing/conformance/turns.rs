//! Conversations: which turns are around a turn.

use mmw_core::place::Place;
use mmw_core::record::{Kind, Record, Visibility};
use mmw_core::source::Origin;
use mmw_core::turn::is_turn;

use crate::engine::{Around, Engine, Row, read, write};
use crate::testing::build::{World, fact_key, minute, put, record, record_id, source_id};

fn turn(place: &Place, n: u64, source: &str) -> Record {
    Record {
        kind: Kind::Context,
        origin: Origin {
            id: Some(source_id(source)),
            ..Origin::default()
        },
        ..record(place, n, "x")
    }
}

fn saved(engine: &dyn Engine, records: &[Record]) -> Vec<Row> {
    write(engine, |txn| {
        records.iter().map(|record| put(txn, record)).collect()
    })
    .unwrap()
}

fn around(engine: &dyn Engine, rows: &[Row], most: usize) -> Vec<Around> {
    let mut found = read(engine, |snapshot| snapshot.turns_around(rows, most)).unwrap();
    found.sort_by_key(|one| one.row);
    found
}

pub fn turns_have_the_nearest_of_their_session_around_them(engine: &dyn Engine) {
    let world = World::found(engine);
    let here = &world.here;
    let rows = saved(
        engine,
        &[
            turn(here, 1, "session:1"),
            turn(here, 2, "session:1#2"),
            turn(here, 3, "session:2"),
            turn(&world.backend, 4, "session:1"),
            turn(&world.own, 5, "session:1"),
            turn(here, 6, "session:1"),
            turn(here, 7, "session:1#7"),
        ],
    );
    let found = around(engine, &[rows[5], rows[0], rows[2], rows[0], 1], 2);
    let expected = [
        (rows[0], vec![], vec![rows[1], rows[5]]),
        (rows[2], vec![], vec![]),
        (rows[5], vec![rows[1], rows[0]], vec![rows[6]]),
    ];
    let expected = expected.map(|(row, before, after)| Around { row, before, after });
    assert_eq!(found, expected);
    assert_eq!(around(engine, &rows[5..6], 1)[0].before, [rows[1]]);
    assert_eq!(around(engine, &rows[3..5], 2).len(), 2);
    assert_eq!(around(engine, &[], 2), []);
}

pub fn what_is_no_turn_has_none_around_it_and_is_around_none(engine: &dyn Engine) {
    let world = World::found(engine);
    let here = &world.here;
    let others = [
        Record {
            kind: Kind::Fact,
            ..turn(here, 2, "session:1")
        },
        Record {
            fact_key: Some(fact_key("topic")),
            ..turn(here, 3, "session:1")
        },
        Record {
            visibility: Visibility::Author,
            ..turn(here, 4, "session:1")
        },
        turn(here, 5, "docs/session:1"),
        turn(here, 6, "Session:1"),
        Record {
            kind: Kind::Context,
            ..record(here, 7, "x")
        },
    ];
    assert!(!others.iter().any(is_turn));
    let first = saved(engine, &[turn(here, 1, "session:1")]);
    let rows = saved(engine, &others);
    assert_eq!(around(engine, &rows, 2), []);
    let last = saved(engine, &[turn(here, 8, "session:1")]);
    assert_eq!(around(engine, &first, 2)[0].after, last);
    assert_eq!(around(engine, &last, 2)[0].before, first);
}

pub fn a_forgotten_turn_is_around_none(engine: &dyn Engine) {
    let world = World::found(engine);
    let turns = [1, 2, 3, 4].map(|n| turn(&world.here, n, "session:1"));
    let rows = saved(engine, &turns);
    write(engine, |txn| {
        txn.forget(&[record_id(2)], minute(9), world.person, None)
    })
    .unwrap();
    assert_eq!(around(engine, &rows[1..2], 2), []);
    assert_eq!(around(engine, &rows[2..3], 2)[0].before, [rows[0]]);
    assert_eq!(around(engine, &rows[..1], 2)[0].after, rows[2..]);
}
