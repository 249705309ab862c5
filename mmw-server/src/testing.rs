//! What unit tests need: a memory in a folder of its own.

use std::sync::Arc;

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_store::Memory;
use tempfile::TempDir;

/// Returns a new memory and the folder that holds it, removed when dropped.
pub(crate) fn memory() -> (Memory, TempDir) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let memory = Memory::open(
        &folder.path().join("mmw.db"),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    )
    .expect("a new memory opens");
    (memory, folder)
}
