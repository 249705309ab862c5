//! Scratch.
#![allow(
    clippy::all,
    clippy::disallowed_macros,
    missing_docs,
    clippy::disallowed_methods
)]
use mmw_core::text::ContentDigest;
use mmw_store::engine::*;
use mmw_store::sqlite::Sqlite;
use mmw_store::testing::build::*;
use std::time::Instant;

#[test]
#[ignore]
fn speed() {
    let dir = std::env::var("SPEED_DIR").unwrap();
    let n: u64 = std::env::var("SPEED_N").unwrap().parse().unwrap();
    let file = std::path::PathBuf::from(dir).join("speed.db");
    let fresh = !file.exists();
    let t = Instant::now();
    let engine = Sqlite::open(&file).unwrap();
    println!("open {:?}", t.elapsed());
    let mut seed = 88172645463325252u64;
    let mut rnd = move |m: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % m
    };
    let mut text = |n: u64| {
        let mut s = String::from("common ");
        if n % 2 == 0 {
            s.push_str("half ");
        }
        if n % 1000 == 0 {
            s.push_str("rare ");
        }
        for _ in 0..14 {
            let a = rnd(20000);
            let b = rnd(20000);
            s.push_str(&format!("w{} ", a.min(b).min(rnd(20000))));
        }
        s
    };
    if fresh {
        let world = World::found(&engine);
        let t = Instant::now();
        let mut i = 1;
        while i <= n {
            write(&engine, |_| Ok(())).unwrap();
            let hi = (i + 1000).min(n + 1);
            let recs: Vec<_> = (i..hi)
                .map(|k| {
                    record(
                        if k % 50 == 0 {
                            &world.elsewhere
                        } else {
                            &world.here
                        },
                        k,
                        &text(k),
                    )
                })
                .collect();
            let docs: Vec<_> = recs.iter().map(|r| words(&r.content)).collect();
            write(&engine, |txn| {
                for (r, d) in recs.iter().zip(&docs) {
                    txn.insert_record(&NewRecord {
                        record: r,
                        digest: ContentDigest::of(&r.content),
                        words: d,
                        replaced: &[],
                        approval: None,
                    })?;
                }
                Ok(())
            })
            .unwrap();
            i = hi;
        }
        println!("bulk {n} in {:?}", t.elapsed());
    }
    let here = project_id(1);
    let world_here = mmw_core::place::Place {
        project: here,
        workspace: workspace("default"),
    };
    let base: u64 = 10_000_000 + read(&engine, |s| s.n_records(here)).unwrap() * 10;
    let mut times = Vec::new();
    for k in 0..300u64 {
        let r = record(&world_here, base + k, &text(k));
        let d = words(&r.content);
        let t = Instant::now();
        write(&engine, |txn| {
            txn.insert_record(&NewRecord {
                record: &r,
                digest: ContentDigest::of(&r.content),
                words: &d,
                replaced: &[],
                approval: None,
            })
            .map(drop)
        })
        .unwrap();
        times.push(t.elapsed());
    }
    times.sort();
    println!(
        "durable write p50 {:?} p95 {:?} max {:?}",
        times[150], times[285], times[299]
    );
    // raw fsync of the same disk
    let mut f = std::fs::File::create(file.with_extension("fsync")).unwrap();
    let mut fs = Vec::new();
    for _ in 0..200 {
        use std::io::Write;
        let t = Instant::now();
        f.write_all(&[0; 8192]).unwrap();
        f.sync_data().unwrap();
        fs.push(t.elapsed());
    }
    fs.sort();
    println!("fsync p50 {:?} p95 {:?}", fs[100], fs[190]);
    let range = read(&engine, |s| {
        s.lexica(here, &mmw_core::place::WorkspaceChoice::All)
    })
    .unwrap()[0]
        .rows
        .clone();
    for words in [
        &["common"][..],
        &["half"],
        &["rare"],
        &["common", "half"],
        &["common", "rare"],
        &["w1", "w2"],
        &["w5000"],
        &["common", "w5000"],
        &["absent", "common"],
    ] {
        for limit in [300usize] {
            let mut times = Vec::new();
            let mut got = 0;
            for _ in 0..500 {
                let t = Instant::now();
                got = read(&engine, |s| s.rows_with(&range, words, limit))
                    .unwrap()
                    .len();
                times.push(t.elapsed());
            }
            times.sort();
            println!(
                "rows_with {words:?} limit {limit}: {got} rows p50 {:?} p95 {:?}",
                times[250], times[475]
            );
        }
    }
    let rows = read(&engine, |s| s.rows_with(&range, &["half"], 300)).unwrap();
    let rare = read(&engine, |s| s.rows_with(&range, &["rare"], 300)).unwrap();
    for (name, rows) in [("newest 300", &rows), ("rare", &rare)] {
        let mut times = Vec::new();
        for _ in 0..500 {
            let t = Instant::now();
            std::hint::black_box(read(&engine, |s| s.lexical_docs(rows)).unwrap());
            times.push(t.elapsed());
        }
        times.sort();
        println!("lexical_docs {name} {}: p50 {:?}", rows.len(), times[250]);
    }
    let few = &rare[..rare.len().min(10)];
    let mut times = Vec::new();
    for _ in 0..500 {
        let t = Instant::now();
        std::hint::black_box(read(&engine, |s| s.records_at(few)).unwrap());
        times.push(t.elapsed());
    }
    times.sort();
    println!("records_at {}: p50 {:?}", few.len(), times[250]);
    let mut times = Vec::new();
    for _ in 0..500 {
        let t = Instant::now();
        read(&engine, |_| Ok(())).unwrap();
        times.push(t.elapsed());
    }
    times.sort();
    println!("empty read: p50 {:?}", times[250]);
    println!("size {} MB", engine.size_bytes().unwrap() / 1_000_000);
    let t = Instant::now();
    println!("verify {:?} {:?}", engine.verify().unwrap(), t.elapsed());
}
