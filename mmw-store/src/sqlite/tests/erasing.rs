//! What was purged is nowhere in the files of the store.

use std::path::Path;

use mmw_core::capture::{Classification, Decision, LaneItem, LaneKind, LaneState, Proposal};
use mmw_core::draft::Draft;
use mmw_core::place::ReviewWay;
use mmw_core::record::Record;
use mmw_core::source::Origin;

use super::open;
use crate::engine::{Engine as _, read, write};
use crate::testing::build::{
    World, candidate_id, fact_key, minute, put, record, record_id, sha, source_id,
};

/// Tells in which files of a folder a text stands, whatever the case of its letters.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap().to_ascii_lowercase();
        if bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
        {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn purged_text_is_in_no_file_after_compacting() {
    let (engine, folder) = open();
    let world = World::found(&engine);
    let secret = Record {
        fact_key: Some(fact_key("zyxwkey")),
        label: Some("zyxwlabel".to_owned()),
        origin: Origin {
            id: Some(source_id("zyxwsource.md")),
            hash: Some(sha('1')),
            revision: Some("zyxwrevision".to_owned()),
            ..Origin::default()
        },
        tags: vec!["zyxwtag".to_owned()],
        ..record(
            &world.here,
            1,
            &format!("zyxwcontent {}", "zyxwlong ".repeat(1500)),
        )
    };
    write(&engine, |txn| {
        put(txn, &secret)?;
        for n in 2..300 {
            put(txn, &record(&world.here, n, "something that stays"))?;
        }
        let mut draft = Draft::new("zyxwcandidate").unwrap();
        draft.scope = "zyxwscope".to_owned();
        let decision = Decision {
            by: world.person,
            way: ReviewWay::Key,
            at: minute(1),
            note: None,
            record: Some(record_id(1)),
        };
        txn.insert_lane_item(&LaneItem {
            id: candidate_id(1),
            project: world.here.project,
            author: world.person,
            proposal: Proposal {
                kind: LaneKind::Candidate,
                draft,
                replaced: Vec::new(),
                classification: Classification::Fact,
                why_durable: Some("zyxwwhy".to_owned()),
                evidence: Vec::new(),
                finding: None,
            },
            state: LaneState::Promoted,
            created_at: minute(0),
            decision: Some(decision),
        })
    })
    .unwrap();
    assert!(!files_with(folder.path(), "zyxw").is_empty());
    write(&engine, |txn| {
        let reason = Some("zyxwreason");
        txn.forget(&[record_id(1)], minute(1), world.person, reason)
    })
    .unwrap();
    write(&engine, |txn| txn.purge(world.here.project, minute(2))).unwrap();
    engine.compact().unwrap();
    assert_eq!(files_with(folder.path(), "zyxw"), Vec::<String>::new());
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    let (tombstones, kept) = read(&engine, |snapshot| {
        Ok((
            snapshot.tombstones(&[record_id(1)])?,
            snapshot.rows_with(&(0..i64::MAX), &["stays"], 999)?,
        ))
    })
    .unwrap();
    assert!(tombstones[0].purged);
    assert_eq!(kept.len(), 298);
}

#[test]
fn the_words_of_a_purged_record_leave_the_index_without_compacting() {
    let (engine, folder) = open();
    let world = World::found(&engine);
    write(&engine, |txn| {
        put(txn, &record(&world.here, 1, "zyxwword other"))
    })
    .unwrap();
    write(&engine, |txn| {
        txn.forget(&[record_id(1)], minute(1), world.person, None)
    })
    .unwrap();
    write(&engine, |txn| txn.purge(world.here.project, minute(2))).unwrap();
    // The last connection takes what is in the log into the file and removes the log.
    drop(engine);
    assert_eq!(files_with(folder.path(), "zyxw"), Vec::<String>::new());
}

#[test]
fn compacting_keeps_rows_where_they_are() {
    let (engine, _folder) = open();
    let world = World::found(&engine);
    let rows = write(&engine, |txn| {
        (1..50)
            .map(|n| put(txn, &record(&world.here, n, "word")))
            .collect::<Result<Vec<_>, _>>()
    })
    .unwrap();
    write(&engine, |txn| {
        txn.forget(&[record_id(7)], minute(1), world.person, None)
    })
    .unwrap();
    engine.compact().unwrap();
    let mut found = read(&engine, |snapshot| {
        snapshot.rows_with(&(0..i64::MAX), &["word"], 999)
    })
    .unwrap();
    found.reverse();
    let expected: Vec<_> = rows.iter().copied().filter(|row| *row != rows[6]).collect();
    assert_eq!(found, expected);
}
