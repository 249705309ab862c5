//! Several processes on one file, and processes that are killed in the middle of writing.
//!
//! The children are this test program itself: its test `child` in a folder where an order lies. In
//! any other folder that test does nothing.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that can't go on stops")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use mmw_core::ids::RecordId;
use mmw_store::engine::{Engine as _, read, write};
use mmw_store::sqlite::Sqlite;
use mmw_store::testing::build::{World, put, record, record_id};

/// The file that tells a child that it is one, with the number of records that it shall write.
const ORDER: &str = "order";

/// What a child says before the id of each record that was acknowledged.
const SAVED: &str = "saved ";

#[test]
fn child() {
    let Ok(order) = std::fs::read_to_string(ORDER) else {
        return;
    };
    let n_records: u64 = order.parse().unwrap();
    let engine = Sqlite::open(Path::new("store.db")).unwrap();
    let world = World::plan();
    let own = u64::from(std::process::id()) * 1_000_000;
    for n in 1..=n_records {
        let mut record = record(&world.here, n, "said by a child");
        record.id = record_id(own + n);
        write(&engine, |txn| {
            world.write(txn)?;
            put(txn, &record)
        })
        .unwrap();
        // Straight to the pipe: what stands there has been acknowledged.
        let mut out = std::io::stdout();
        writeln!(out, "{SAVED}{}", record.id).unwrap();
        out.flush().unwrap();
    }
}

/// A child that writes, and the pipe in which it says what was acknowledged.
struct Writer {
    process: Child,
    says: Lines<BufReader<ChildStdout>>,
}

impl Writer {
    fn spawn(folder: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, says }
    }

    /// Returns the next records that were acknowledged: at most `most`, fewer if the child ended.
    fn acknowledged(&mut self, most: usize) -> Vec<RecordId> {
        self.says
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| {
                let (_, id) = line.split_once(SAVED)?;
                // A line that was cut off by the end of the child acknowledges nothing.
                id.parse().ok()
            })
            .take(most)
            .collect()
    }
}

fn check(folder: &Path, saved: &[RecordId]) -> usize {
    let engine = Sqlite::open(&folder.join("store.db")).unwrap();
    assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
    let found = read(&engine, |snapshot| snapshot.records(saved)).unwrap();
    let found: BTreeSet<RecordId> = found.iter().map(|stored| stored.record.id).collect();
    let lost: Vec<&RecordId> = saved.iter().filter(|id| !found.contains(id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let n_records = read(&engine, |snapshot| {
        snapshot.n_records(World::plan().here.project)
    });
    usize::try_from(n_records.unwrap()).unwrap()
}

#[test]
fn eight_processes_write_to_a_new_file_at_once_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(ORDER), "25").unwrap();
    let mut writers: Vec<Writer> = (0..8).map(|_| Writer::spawn(folder.path())).collect();
    let mut saved = Vec::new();
    for writer in &mut writers {
        saved.extend(writer.acknowledged(usize::MAX));
        assert!(writer.process.wait().unwrap().success());
    }
    assert_eq!(saved.len(), 200);
    assert_eq!(check(folder.path(), &saved), 200);
}

#[test]
fn killed_processes_lose_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(ORDER), "1000000").unwrap();
    let mut saved = Vec::new();
    for round in 0..8 {
        let mut writers: Vec<Writer> = (0..2).map(|_| Writer::spawn(folder.path())).collect();
        for writer in &mut writers {
            // In the first round they are killed while the file is made.
            saved.extend(writer.acknowledged(round));
        }
        for writer in &mut writers {
            writer.process.kill().unwrap();
            writer.process.wait().unwrap();
            saved.extend(writer.acknowledged(usize::MAX));
        }
        assert!(check(folder.path(), &saved) >= saved.len());
    }
}
