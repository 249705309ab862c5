//! Scratch.
#![allow(
    clippy::all,
    clippy::disallowed_macros,
    missing_docs,
    clippy::disallowed_methods
)]
use rusqlite::*;
use std::time::Instant;
fn timed(name: &str, n: usize, mut f: impl FnMut()) {
    let mut t = vec![];
    for _ in 0..n {
        let s = Instant::now();
        f();
        t.push(s.elapsed());
    }
    t.sort();
    println!("{name}: p50 {:?} min {:?}", t[n / 2], t[0]);
}
#[test]
#[ignore]
fn fts() {
    let c = Connection::open(std::env::var("DB").unwrap()).unwrap();
    c.execute_batch(&std::env::var("PRAG").unwrap_or_default())
        .unwrap();
    if let Ok(p) = std::env::var("PGSZ") {
        let t = Instant::now();
        c.execute(
            "INSERT INTO record_words(record_words, rank) VALUES('pgsz', ?1)",
            [p.parse::<i64>().unwrap()],
        )
        .unwrap();
        c.execute_batch("INSERT INTO record_words(record_words) VALUES('optimize')")
            .unwrap();
        println!("optimize {:?}", t.elapsed());
    }
    let q = |w: &str, lo: i64, hi: i64, lim: i64| {
        let mut s = c.prepare_cached("SELECT rowid FROM record_words WHERE record_words MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4").unwrap();
        let r: Vec<i64> = s
            .query_map((w, lo, hi, lim), |r| r.get(0))
            .unwrap()
            .map(|x| x.unwrap())
            .collect();
        r.len()
    };
    let (lo, hi) = ((1i64 << 41) | (1 << 27), (1i64 << 41) | (2 << 27));
    let struc: Vec<u8> = c
        .query_row("SELECT block FROM record_words_data WHERE id=10", [], |r| {
            r.get(0)
        })
        .unwrap();
    println!(
        "structure {} bytes; data rows {}",
        struc.len(),
        c.query_row("SELECT count(*) FROM record_words_data", [], |r| r
            .get::<_, i64>(0))
            .unwrap()
    );
    for w in [
        "\"rare\"",
        "\"common\"",
        "\"half\"",
        "\"w5000\"",
        "\"common\" AND \"w5000\"",
        "\"nonexist\"",
    ] {
        timed(&format!("{w} here"), 500, || {
            std::hint::black_box(q(w, lo, hi, 300));
        });
        timed(&format!("{w} all "), 500, || {
            std::hint::black_box(q(w, 0, i64::MAX, 300));
        });
        timed(&format!("{w} all1"), 500, || {
            std::hint::black_box(q(w, 0, i64::MAX, 1));
        });
    }
    c.execute_batch("BEGIN").unwrap();
    timed("rare in txn", 500, || {
        std::hint::black_box(q("\"rare\"", lo, hi, 300));
    });
    c.execute_batch("COMMIT").unwrap();
}
