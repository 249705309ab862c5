//! Sources, their hashes, and the answers of idempotency keys.

use mmw_core::ids::RecordId;
use mmw_core::place::WorkspaceChoice;
use mmw_core::record::Record;
use mmw_core::source::{ContentHash, Origin, Span};

use crate::engine::{Answered, Engine, MAX_SOURCE_REPORTS, SourceMatch, read, write};
use crate::testing::build::{World, minute, put, record, record_id, sha, source_id};

fn from_source(place: &mmw_core::place::Place, n: u64, source: &str, hash: char) -> Record {
    Record {
        origin: Origin {
            id: Some(source_id(source)),
            hash: Some(sha(hash)),
            ..Origin::default()
        },
        ..record(place, n, "x")
    }
}

pub fn a_document_covers_its_spans_in_the_places_asked_for(engine: &dyn Engine) {
    let world = World::found(engine);
    write(engine, |txn| {
        for record in [
            from_source(&world.here, 1, "a.md", '1'),
            from_source(&world.backend, 2, "a.md#Part", '1'),
            from_source(&world.here, 3, "a.md#Part", '1'),
            from_source(&world.here, 4, "a.md#Parts", '1'),
            from_source(&world.here, 5, "a.md.bak", '1'),
            from_source(&world.elsewhere, 6, "a.md", '1'),
            from_source(&world.own, 7, "a.md", '1'),
        ] {
            put(txn, &record)?;
        }
        Ok(())
    })
    .unwrap();
    let all = |project| (project, WorkspaceChoice::All);
    let (here, own) = (world.here.project, world.own.project);
    let backend = (here, WorkspaceChoice::One(world.backend.workspace.clone()));
    let check = |places: &[_], source: &str, limit: usize, expected: &[u64]| {
        let source_id = source_id(source);
        let found = read(engine, |snapshot| {
            snapshot.of_source(&SourceMatch {
                places,
                source_id: &source_id,
                limit,
            })
        })
        .unwrap();
        let found: Vec<RecordId> = found.iter().map(|stored| stored.record.id).collect();
        let expected: Vec<RecordId> = expected.iter().copied().map(record_id).collect();
        assert_eq!(found, expected, "{source}");
    };
    check(&[all(here)], "a.md", 9, &[4, 3, 2, 1]);
    check(&[all(here)], "a.md#Part", 9, &[3, 2]);
    check(&[all(here)], "a.md", 2, &[4, 3]);
    check(&[all(own), all(here)], "a.md", 3, &[7, 4, 3]);
    check(std::slice::from_ref(&backend), "a.md", 9, &[2]);
    check(&[backend, all(here)], "a.md#Part", 9, &[3, 2]);
    check(&[], "a.md", 9, &[]);
    check(&[all(here)], "a", 9, &[]);
}

pub fn a_hash_leads_to_the_sources_that_it_is_known_for(engine: &dyn Engine) {
    let world = World::found(engine);
    let spanned = Record {
        origin: Origin {
            id: Some(source_id("b.md#S")),
            hash: Some(sha('2')),
            text_hash: Some(sha('3')),
            revision: None,
            span: Some(Span {
                kind: "heading".to_owned(),
                label: "S".to_owned(),
                hash: ContentHash::new("git:span").unwrap(),
            }),
        },
        ..record(&world.here, 2, "y")
    };
    write(engine, |txn| {
        put(txn, &from_source(&world.here, 1, "a.md", '1'))?;
        put(txn, &spanned)?;
        put(txn, &from_source(&world.elsewhere, 3, "secret.md", '1'))?;
        let project = world.here.project;
        txn.report_source(project, &source_id("c.md"), &sha('1'), minute(1))?;
        txn.report_source(project, &source_id("c.md"), &sha('1'), minute(2))
    })
    .unwrap();
    let check = |projects: &[_], hash: &ContentHash, expected: &[&str]| {
        let mut found = read(engine, |snapshot| {
            snapshot.sources_with_hash(projects, hash)
        })
        .unwrap();
        found.sort();
        let expected: Vec<_> = expected.iter().map(|text| source_id(text)).collect();
        assert_eq!(found, expected, "{hash}");
    };
    let (here, there) = (world.here.project, world.elsewhere.project);
    check(&[here], &sha('1'), &["a.md", "c.md"]);
    check(&[there], &sha('1'), &["secret.md"]);
    check(
        &[here, there, here],
        &sha('1'),
        &["a.md", "c.md", "secret.md"],
    );
    check(&[here], &sha('2'), &["b.md#S"]);
    check(&[here], &sha('3'), &["b.md#S"]);
    check(&[here], &ContentHash::new("git:span").unwrap(), &["b.md#S"]);
    check(&[here], &sha('4'), &[]);
    check(&[], &sha('1'), &[]);
}

pub fn source_reports_have_a_bound(engine: &dyn Engine) {
    let world = World::found(engine);
    let project = world.here.project;
    let hash = |n: usize| ContentHash::new(&format!("n:{n}")).unwrap();
    let report = |from: usize, to: usize| {
        write(engine, |txn| {
            for n in from..to {
                let at = minute(i64::try_from(n).unwrap());
                txn.report_source(project, &source_id("a.md"), &hash(n), at)?;
            }
            Ok(())
        })
        .unwrap();
    };
    let knows = |n: usize| {
        let found = read(engine, |snapshot| {
            snapshot.sources_with_hash(&[project], &hash(n))
        });
        !found.unwrap().is_empty()
    };
    report(0, MAX_SOURCE_REPORTS);
    assert!(knows(0) && knows(MAX_SOURCE_REPORTS - 1), "at the bound");
    report(MAX_SOURCE_REPORTS, MAX_SOURCE_REPORTS + 1);
    assert!(!knows(0), "the oldest goes");
    assert!(knows(1) && knows(MAX_SOURCE_REPORTS), "the newest stay");
}

pub fn an_answer_is_kept_until_it_is_old(engine: &dyn Engine) {
    let world = World::found(engine);
    let answered = |n: u8, at| Answered {
        request: [n; 32],
        answer: format!("{{\"id\":{n}}}"),
        at: minute(at),
    };
    let (here, there) = (world.here.project, world.elsewhere.project);
    write(engine, |txn| {
        txn.keep_answer(here, "a", &answered(1, 10), minute(0))?;
        txn.keep_answer(here, "b", &answered(2, 20), minute(0))?;
        txn.keep_answer(there, "a", &answered(3, 5), minute(0))
    })
    .unwrap();
    read(engine, |snapshot| {
        assert_eq!(snapshot.answered(here, "a")?, Some(answered(1, 10)));
        assert_eq!(snapshot.answered(there, "a")?, Some(answered(3, 5)));
        assert_eq!(snapshot.answered(here, "c")?, None);
        Ok(())
    })
    .unwrap();
    write(engine, |txn| {
        txn.keep_answer(here, "c", &answered(4, 30), minute(20))
    })
    .unwrap();
    read(engine, |snapshot| {
        assert_eq!(snapshot.answered(here, "a")?, None, "before the moment");
        assert_eq!(
            snapshot.answered(here, "b")?,
            Some(answered(2, 20)),
            "at it"
        );
        assert_eq!(
            snapshot.answered(there, "a")?,
            Some(answered(3, 5)),
            "of another project"
        );
        Ok(())
    })
    .unwrap();
}
