//! Records, versions, links, resolutions, forgetting.

use mmw_core::draft::Replacement;
use mmw_core::fact::{Resolution, Version};
use mmw_core::ids::{RecordId, ResolutionId};
use mmw_core::link::{Direction, Link, LinkKind};
use mmw_core::place::{ReviewWay, WorkspaceChoice};
use mmw_core::record::{Confidence, Kind, Record, Said, Visibility};
use mmw_core::source::{Origin, Span};
use mmw_core::text::ContentDigest;

use crate::engine::{Engine, EngineResult, Gone, NewRecord, Stored, Txn, read, write};
use crate::testing::build::{
    START, World, candidate_id, fact_key, minute, put, record, record_id, sha, source_id, version,
    words, workspace,
};

fn put_all(engine: &dyn Engine, records: &[Record]) {
    write(engine, |txn| {
        for record in records {
            put(txn, record)?;
        }
        Ok(())
    })
    .unwrap();
}

fn forget(txn: &mut dyn Txn, world: &World, ids: &[RecordId]) -> EngineResult<Gone> {
    txn.forget(ids, minute(100), world.person, Some("asked to"))
}

fn ids(found: &[Stored]) -> Vec<RecordId> {
    found.iter().map(|stored| stored.record.id).collect()
}

fn sorted(mut ids: Vec<RecordId>) -> Vec<RecordId> {
    ids.sort();
    ids
}

pub fn a_record_reads_back_as_it_was_written(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[record(&world.here, 1, "one"), record(&world.own, 2, "two")],
    );
    let full = Record {
        id: record_id(3),
        place: world.backend.clone(),
        content: "die Prüfung läuft\nmit `cargo test`; 日本語 'quoted' \"twice\"".to_owned(),
        fact_key: Some(fact_key("tests")),
        kind: Kind::Decision,
        label: Some("claude-code".to_owned()),
        origin: Origin {
            id: Some(source_id("docs/deploy.md#Staging")),
            hash: Some(sha('a')),
            text_hash: Some(sha('b')),
            revision: Some("4c53".to_owned()),
            span: Some(Span {
                kind: "heading".to_owned(),
                label: "Staging".to_owned(),
                hash: mmw_core::source::ContentHash::new("git:4c536992").unwrap(),
            }),
        },
        confidence: Confidence::new(0.1 + 0.2).unwrap(),
        derived_from: vec![record_id(2), record_id(1)],
        scope: "team".to_owned(),
        tags: vec!["ci".to_owned(), "größe".to_owned()],
        valid_from: Some(minute(-5)),
        valid_until: Some(minute(5)),
        visibility: Visibility::Project,
        said: Said {
            author: world.other_person,
            created_at: minute(3),
            received_at: minute(4),
            agent: Some("codex".to_owned()),
            client: Some("codex 1.0".to_owned()),
            session: Some("s-1".to_owned()),
            branch: Some("main".to_owned()),
        },
    };
    let replaced = [Replacement {
        field: "content",
        rule: "aws-key".to_owned(),
        count: 2,
    }];
    let row = write(engine, |txn| {
        txn.insert_record(&NewRecord {
            record: &full,
            digest: ContentDigest::of(&full.content),
            words: &words(&full.content),
            replaced: &replaced,
            approval: Some(candidate_id(9)),
            screened: 7,
        })
    })
    .unwrap();
    let expected = Stored {
        row,
        record: full,
        replaced: replaced.to_vec(),
        approval: Some(candidate_id(9)),
        screened: 7,
    };
    let found = read(engine, |snapshot| snapshot.record(record_id(3))).unwrap();
    assert_eq!(found, Some(expected));
}

pub fn records_are_found_by_id_and_by_row(engine: &dyn Engine) {
    let world = World::found(engine);
    let rows = write(engine, |txn| {
        Ok([
            put(txn, &record(&world.here, 1, "one"))?,
            put(txn, &record(&world.elsewhere, 2, "two"))?,
            put(txn, &record(&world.own, 3, "three"))?,
        ])
    })
    .unwrap();
    read(engine, |snapshot| {
        let wanted = [record_id(3), record_id(1), record_id(3), record_id(99)];
        assert_eq!(
            sorted(ids(&snapshot.records(&wanted)?)),
            [record_id(1), record_id(3)]
        );
        let wanted = [rows[1], rows[0], rows[1], i64::MAX, 0, -1];
        assert_eq!(
            sorted(ids(&snapshot.records_at(&wanted)?)),
            [record_id(1), record_id(2)]
        );
        let stored = snapshot.records_at(&wanted)?;
        let mut orders: Vec<_> = stored
            .iter()
            .map(|one| (one.row, one.record.order()))
            .collect();
        orders.sort_unstable();
        let mut found = snapshot.orders_at(&[rows[1], rows[0], i64::MAX, 0, -1])?;
        found.sort_unstable();
        assert_eq!(found, orders);
        assert_eq!(snapshot.records(&[])?, []);
        assert_eq!(snapshot.records_at(&[])?, []);
        assert_eq!(snapshot.orders_at(&[])?, []);
        assert_eq!(snapshot.record(record_id(99))?, None);
        Ok(())
    })
    .unwrap();
}

pub fn the_newest_records_of_a_place_come_first(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            record(&world.here, 1, "one"),
            record(&world.backend, 2, "two"),
            record(&world.here, 3, "three"),
            record(&world.elsewhere, 4, "four"),
            record(&world.here, 5, "five"),
        ],
    );
    read(engine, |snapshot| {
        assert_eq!(
            ids(&snapshot.newest_records(&world.here, 9)?),
            [record_id(5), record_id(3), record_id(1)]
        );
        assert_eq!(
            ids(&snapshot.newest_records(&world.here, 1)?),
            [record_id(5)]
        );
        assert_eq!(snapshot.newest_records(&world.here, 0)?, []);
        assert_eq!(snapshot.newest_records(&world.own, 9)?, []);
        Ok(())
    })
    .unwrap();
}

pub fn rows_rise_in_the_order_of_arrival_within_the_range_of_their_workspace(engine: &dyn Engine) {
    let world = World::found(engine);
    let places = [&world.here, &world.backend, &world.elsewhere, &world.own];
    let mut rows = vec![Vec::new(); places.len()];
    for n in 0..12 {
        let which = usize::try_from(n).unwrap() % places.len();
        // Ids and moments fall: only the arrival counts.
        let record = record(places[which], 100 - n, "x");
        rows[which].push(write(engine, |txn| put(txn, &record)).unwrap());
    }
    for (place, rows) in places.iter().zip(rows) {
        let found = read(engine, |snapshot| {
            snapshot.lexica(
                place.project,
                &WorkspaceChoice::One(place.workspace.clone()),
            )
        })
        .unwrap();
        let range = found[0].rows.clone();
        let expected: Vec<i64> = range.clone().collect();
        assert_eq!(rows, expected, "consecutive from the first to the next");
    }
}

pub fn an_id_is_taken_once(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(engine, &[record(&world.here, 1, "one")]);
    let again = write(engine, |txn| {
        put(txn, &record(&world.elsewhere, 1, "other"))
    });
    assert!(again.is_err());
    let found = read(engine, |snapshot| snapshot.record(record_id(1))).unwrap();
    assert_eq!(found.unwrap().record.content, "one");
}

pub fn a_record_needs_a_project(engine: &dyn Engine) {
    let world = World::found(engine);
    let mut nowhere = world.here.clone();
    nowhere.project = crate::testing::build::project_id(77);
    assert!(write(engine, |txn| put(txn, &record(&nowhere, 1, "one"))).is_err());
    read(engine, |snapshot| {
        assert_eq!(snapshot.n_records(nowhere.project)?, 0);
        assert_eq!(snapshot.newest_records(&nowhere, 9)?, []);
        assert_eq!(snapshot.workspaces(nowhere.project)?, []);
        assert_eq!(snapshot.answered(nowhere.project, "k")?, None);
        Ok(())
    })
    .unwrap();
}

pub fn forgotten_records_leave_every_read(engine: &dyn Engine) {
    let world = World::found(engine);
    let anchored = Record {
        origin: Origin {
            id: Some(source_id("a.md")),
            hash: Some(sha('1')),
            ..Origin::default()
        },
        derived_from: vec![record_id(4)],
        ..version(&world.here, 1, "port", "the port is 8080")
    };
    let rows = write(engine, |txn| {
        put(txn, &record(&world.here, 4, "a source"))?;
        let rows = [
            put(txn, &anchored)?,
            put(txn, &record(&world.here, 2, "a plain statement"))?,
        ];
        for (from, to) in [(1, 2), (2, 1), (4, 1)] {
            txn.insert_link(&Link {
                from: record_id(from),
                to: record_id(to),
                kind: LinkKind::RelatesTo,
                created_at: START,
            })?;
        }
        Ok(rows)
    })
    .unwrap();
    let gone = write(engine, |txn| {
        forget(txn, &world, &[record_id(1), record_id(2), record_id(99)])
    })
    .unwrap();
    assert_eq!((gone.records, gone.links), (2, 4));
    assert!(gone.index_rows >= 2);
    read(engine, |snapshot| {
        let both = [record_id(1), record_id(2)];
        assert_eq!(snapshot.record(record_id(1))?, None);
        assert_eq!(snapshot.records(&both)?, []);
        assert_eq!(snapshot.records_at(&rows)?, []);
        assert_eq!(snapshot.orders_at(&rows)?, []);
        assert_eq!(
            ids(&snapshot.newest_records(&world.here, 9)?),
            [record_id(4)]
        );
        assert_eq!(snapshot.versions(&world.here, &fact_key("port"))?, []);
        assert_eq!(snapshot.fact_keys(&world.here, "", 9)?, []);
        let digest = ContentDigest::of("a plain statement");
        assert_eq!(snapshot.same_statement(&world.here, digest)?, None);
        let places = [(world.here.project, WorkspaceChoice::All)];
        let of_source = snapshot.of_source(&crate::engine::SourceMatch {
            places: &places,
            source_id: &source_id("a.md"),
            limit: 9,
        })?;
        assert_eq!(of_source, []);
        assert_eq!(
            snapshot.sources_with_hash(&[world.here.project], &sha('1'))?,
            []
        );
        let all = [record_id(1), record_id(2), record_id(4)];
        assert_eq!(snapshot.links(&all, Direction::Out)?, []);
        assert_eq!(snapshot.links(&all, Direction::In)?, []);
        let lexica = snapshot.lexica(world.here.project, &WorkspaceChoice::All)?;
        for word in ["port", "plain"] {
            assert!(snapshot.rows_with(&lexica[0].rows, &[word], 9)?.is_empty());
        }
        assert_eq!(snapshot.lexical_docs(&rows)?, []);
        let mut tombstones = snapshot.tombstones(&all)?;
        tombstones.sort_by_key(|tombstone| tombstone.id);
        assert_eq!(tombstones.len(), 2);
        assert_eq!(tombstones[0].id, record_id(1));
        assert_eq!(tombstones[0].place, world.here);
        assert_eq!(tombstones[0].at, minute(100));
        assert_eq!(tombstones[0].by, world.person);
        assert!(!tombstones[0].purged);
        Ok(())
    })
    .unwrap();
}

pub fn forgetting_again_changes_nothing(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(engine, &[record(&world.here, 1, "one")]);
    write(engine, |txn| {
        let twice = [record_id(1), record_id(1)];
        assert_eq!(forget(txn, &world, &twice)?.records, 1);
        Ok(())
    })
    .unwrap();
    let gone = write(engine, |txn| {
        txn.forget(&[record_id(1)], minute(200), world.other_person, None)
    })
    .unwrap();
    assert_eq!(gone, Gone::default());
    let tombstones = read(engine, |snapshot| snapshot.tombstones(&[record_id(1)])).unwrap();
    assert_eq!(
        (tombstones[0].at, tombstones[0].by),
        (minute(100), world.person)
    );
    // Saying the same again makes a new record.
    put_all(engine, &[record(&world.here, 2, "one")]);
}

pub fn what_was_derived_from_a_forgotten_record_shows_it(engine: &dyn Engine) {
    let world = World::found(engine);
    let summary = Record {
        derived_from: vec![record_id(1), record_id(2)],
        kind: Kind::Summary,
        ..record(&world.here, 3, "both")
    };
    put_all(
        engine,
        &[
            record(&world.here, 1, "one"),
            record(&world.here, 2, "two"),
            summary.clone(),
        ],
    );
    write(engine, |txn| forget(txn, &world, &[record_id(1)])).unwrap();
    read(engine, |snapshot| {
        let links = snapshot.links(&[record_id(3)], Direction::Out)?;
        let ends: Vec<RecordId> = links.iter().map(|link| link.to).collect();
        assert_eq!(ends, [record_id(1), record_id(2)]);
        assert!(links.iter().all(|link| link.kind == LinkKind::DerivedFrom));
        assert_eq!(snapshot.links(&[record_id(1)], Direction::In)?.len(), 1);
        assert_eq!(
            snapshot.record(record_id(3))?.unwrap().record.derived_from,
            summary.derived_from
        );
        Ok(())
    })
    .unwrap();
}

pub fn purging_erases_what_was_forgotten_before_the_moment(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            version(&world.here, 1, "port", "early"),
            record(&world.here, 2, "late"),
            record(&world.elsewhere, 3, "elsewhere"),
            record(&world.here, 4, "kept"),
        ],
    );
    write(engine, |txn| {
        txn.forget(&[record_id(1)], minute(10), world.person, Some("why"))?;
        txn.forget(&[record_id(3)], minute(10), world.person, None)?;
        txn.forget(&[record_id(2)], minute(20), world.person, None)
    })
    .unwrap();
    let purged = write(engine, |txn| txn.purge(world.here.project, minute(20))).unwrap();
    assert_eq!(purged, [record_id(1)]);
    let again = write(engine, |txn| txn.purge(world.here.project, minute(20))).unwrap();
    assert_eq!(again, []);
    read(engine, |snapshot| {
        let mut tombstones = snapshot.tombstones(&[record_id(1), record_id(2), record_id(3)])?;
        tombstones.sort_by_key(|tombstone| tombstone.id);
        let purged: Vec<bool> = tombstones.iter().map(|t| t.purged).collect();
        assert_eq!(purged, [true, false, false]);
        assert_eq!(tombstones[0].at, minute(10));
        assert_eq!(
            snapshot.record(record_id(4))?.unwrap().record.content,
            "kept"
        );
        Ok(())
    })
    .unwrap();
}

pub fn versions_are_those_of_one_place_and_key(engine: &dyn Engine) {
    let world = World::found(engine);
    let dated = Record {
        valid_from: Some(minute(1)),
        valid_until: Some(minute(2)),
        ..version(&world.here, 2, "port", "8081")
    };
    let first = version(&world.here, 1, "port", "8080");
    put_all(
        engine,
        &[
            first.clone(),
            dated.clone(),
            version(&world.backend, 3, "port", "8082"),
            version(&world.elsewhere, 4, "port", "8083"),
            version(&world.here, 5, "port-b", "8084"),
        ],
    );
    read(engine, |snapshot| {
        let mut versions = snapshot.versions(&world.here, &fact_key("port"))?;
        versions.sort_by_key(|version| version.id);
        assert_eq!(versions, [Version::of(&first), Version::of(&dated)]);
        assert_eq!(snapshot.versions(&world.here, &fact_key("none"))?, []);
        assert_eq!(snapshot.versions(&world.own, &fact_key("port"))?, []);
        Ok(())
    })
    .unwrap();
}

pub fn the_same_statement_is_found_without_a_key_only(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            record(&world.here, 1, "same"),
            record(&world.here, 2, "  same "),
            version(&world.here, 3, "k", "same"),
            record(&world.backend, 4, "same"),
            record(&world.here, 5, "other"),
        ],
    );
    let digest = ContentDigest::of("same");
    read(engine, |snapshot| {
        let found = snapshot.same_statement(&world.here, digest)?.unwrap();
        assert_eq!(found.record.id, record_id(2));
        assert_eq!(snapshot.same_statement(&world.own, digest)?, None);
        assert_eq!(
            snapshot.same_statement(&world.here, ContentDigest::of("none"))?,
            None
        );
        Ok(())
    })
    .unwrap();
}

pub fn fact_keys_are_listed_by_prefix(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            version(&world.here, 1, "deploy-staging", "a"),
            version(&world.here, 2, "deploy-staging", "b"),
            version(&world.here, 3, "deploy-prod", "c"),
            version(&world.here, 4, "deploy%", "d"),
            version(&world.here, 5, "ключ", "e"),
            version(&world.backend, 6, "deploy-else", "f"),
        ],
    );
    let check = |prefix: &str, limit: usize, expected: &[&str]| {
        let found = read(engine, |snapshot| {
            snapshot.fact_keys(&world.here, prefix, limit)
        })
        .unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(mmw_core::record::FactKey::as_str)
            .collect();
        assert_eq!(found, expected, "{prefix}");
    };
    check("deploy", 9, &["deploy%", "deploy-prod", "deploy-staging"]);
    check("deploy", 2, &["deploy%", "deploy-prod"]);
    check("deploy-", 9, &["deploy-prod", "deploy-staging"]);
    check("deploy%", 9, &["deploy%"]);
    check("deploy_", 9, &[]);
    check("кл", 9, &["ключ"]);
    check("", 9, &["deploy%", "deploy-prod", "deploy-staging", "ключ"]);
    check("zzz", 9, &[]);
}

pub fn contested_facts_say_different_things(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            version(&world.here, 1, "b", "one"),
            version(&world.here, 2, "b", "two"),
            version(&world.here, 3, "a", "one"),
            version(&world.here, 4, "a", "two"),
            version(&world.here, 5, "agreed", "one"),
            version(&world.here, 6, "agreed", " one "),
            version(&world.backend, 7, "z", "one"),
            version(&world.backend, 8, "z", "two"),
            version(&world.backend, 9, "b", "three"),
            version(&world.elsewhere, 10, "b", "one"),
            version(&world.elsewhere, 11, "b", "two"),
            version(&world.here, 12, "forgotten", "one"),
            version(&world.here, 13, "forgotten", "two"),
        ],
    );
    write(engine, |txn| forget(txn, &world, &[record_id(13)])).unwrap();
    let check = |limit: usize, expected: &[(&str, &str)]| {
        let found = read(engine, |snapshot| {
            snapshot.contested_facts(world.here.project, limit)
        })
        .unwrap();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, key)| (workspace(name), fact_key(key)))
            .collect();
        assert_eq!(found, expected);
    };
    check(9, &[("backend", "z"), ("default", "a"), ("default", "b")]);
    check(2, &[("backend", "z"), ("default", "a")]);
}

pub fn resolutions_read_back_as_they_were_written(engine: &dyn Engine) {
    let world = World::found(engine);
    let resolution = |n: u8, key: &str, way, note: Option<&str>| Resolution {
        id: ResolutionId::from_bytes([n; 16]),
        place: world.here.clone(),
        fact_key: fact_key(key),
        winner: record_id(3),
        closed: vec![record_id(2), record_id(1)],
        at: minute(i64::from(n)),
        by: world.person,
        way,
        note: note.map(str::to_owned),
    };
    let all = [
        resolution(1, "port", ReviewWay::Terminal, Some("asked ops")),
        resolution(2, "port", ReviewWay::Key, None),
        resolution(3, "host", ReviewWay::Elicitation, None),
    ];
    write(engine, |txn| {
        all.iter()
            .try_for_each(|resolution| txn.insert_resolution(resolution))
    })
    .unwrap();
    read(engine, |snapshot| {
        let mut found = snapshot.resolutions(&world.here, &fact_key("port"))?;
        found.sort_by_key(|resolution| resolution.id);
        assert_eq!(found, all[..2]);
        assert_eq!(
            snapshot.resolutions(&world.here, &fact_key("host"))?,
            all[2..]
        );
        assert_eq!(snapshot.resolutions(&world.backend, &fact_key("port"))?, []);
        Ok(())
    })
    .unwrap();
}

pub fn links_are_seen_from_both_ends_and_kept_once(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            record(&world.here, 1, "one"),
            record(&world.here, 2, "two"),
            record(&world.here, 3, "three"),
        ],
    );
    let link = |from, to, kind, at| Link {
        from: record_id(from),
        to: record_id(to),
        kind,
        created_at: minute(at),
    };
    let first = link(1, 2, LinkKind::Outdates, 1);
    write(engine, |txn| {
        txn.insert_link(&first)?;
        txn.insert_link(&link(1, 2, LinkKind::Outdates, 9))?;
        txn.insert_link(&link(1, 2, LinkKind::Refines, 2))?;
        txn.insert_link(&link(3, 2, LinkKind::RelatesTo, 3))
    })
    .unwrap();
    read(engine, |snapshot| {
        let out = snapshot.links(&[record_id(1)], Direction::Out)?;
        assert_eq!(out.len(), 2);
        assert!(out.contains(&first), "the first one stays");
        assert_eq!(snapshot.links(&[record_id(2)], Direction::In)?.len(), 3);
        assert_eq!(snapshot.links(&[record_id(2)], Direction::Out)?, []);
        let all = [record_id(1), record_id(2), record_id(3), record_id(1)];
        assert_eq!(snapshot.links(&all, Direction::Out)?.len(), 3);
        Ok(())
    })
    .unwrap();
}

pub fn counters_follow_saving_and_forgetting(engine: &dyn Engine) {
    let world = World::found(engine);
    put_all(
        engine,
        &[
            record(&world.here, 1, "one"),
            record(&world.here, 2, "two"),
            record(&world.backend, 3, "three"),
            record(&world.elsewhere, 4, "four"),
        ],
    );
    write(engine, |txn| {
        forget(txn, &world, &[record_id(1), record_id(3)])
    })
    .unwrap();
    read(engine, |snapshot| {
        assert_eq!(snapshot.n_records(world.here.project)?, 1);
        assert_eq!(snapshot.n_records(world.elsewhere.project)?, 1);
        assert_eq!(snapshot.n_records(world.own.project)?, 0);
        assert_eq!(
            snapshot.workspaces(world.here.project)?,
            [(workspace("backend"), 0), (workspace("default"), 1)]
        );
        assert_eq!(snapshot.workspaces(world.own.project)?, []);
        Ok(())
    })
    .unwrap();
}
