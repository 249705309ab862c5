//! What unit tests need: a memory in a folder of its own.

use std::sync::Arc;

use mmw_core::env::{Clock as _, SystemClock, SystemEntropy};
use mmw_core::place::{Reviewer, Way};
use mmw_core::wire::EnvelopeArgs;
use mmw_store::Memory;
use serde_json::Value;
use tempfile::TempDir;

use crate::actions::{Answer, Asked, Registry};
use crate::fault::Fault;

/// A memory, and somebody who calls actions on it directly.
pub(crate) struct Stage {
    pub(crate) memory: Memory,
    pub(crate) asked: Asked,
    registry: Registry,
    _folder: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let (memory, folder) = memory();
        let caller = memory.local_caller("repository", Way::Stdio).unwrap();
        Self {
            memory,
            asked: Asked {
                caller,
                envelope: EnvelopeArgs::default(),
                reviewer: None,
                now: SystemClock.now(),
                compares: false,
            },
            registry: Registry::standard(),
            _folder: folder,
        }
    }

    /// Lets a person decide from now on.
    pub(crate) fn with_a_person(mut self) -> Self {
        self.asked.reviewer = Some(Reviewer::by_elicitation());
        self
    }

    pub(crate) fn call(&self, action: &str, arguments: &Value) -> Result<Answer, Fault> {
        let action = self.registry.get(action).unwrap();
        let arguments = action.check(arguments.as_object().unwrap().clone())?;
        action.call(&self.memory, &self.asked, &arguments)
    }

    pub(crate) fn text(&self, action: &str, arguments: &Value) -> String {
        self.call(action, arguments).unwrap().text
    }

    /// Saves a version of the fact `deploy-staging` and returns its id.
    pub(crate) fn save(&self, content: &str) -> String {
        let arguments = serde_json::json!({
            "content": content, "fact_key": "deploy-staging", "source_id": "docs/deploy.md",
        });
        let answer = self.call("remember", &arguments).unwrap();
        answer.structured["id"].as_str().unwrap().to_owned()
    }
}

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
