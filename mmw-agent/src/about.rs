//! What the agent says of itself, whoever keeps the memory: `mmw_sync_status`, and lines of `status`.
//!
//! The tool is the same with and without a server, so that a client's model need not know which it is.

use std::path::{Path, PathBuf};

use mmw_core::time::Timestamp;
use mmw_hooks::mark;
use mmw_server::actions::{Answer, Object};
use mmw_server::fault::Fault;
use serde_json::{Value, json};

use crate::anchor::Anchors;
use crate::show::age::ago;

/// The tool's name.
pub(crate) const SYNC_STATUS: &str = "mmw_sync_status";

/// What is known without asking any memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct About {
    /// The agent's home.
    pub(crate) home: PathBuf,
    /// The folders whose files may be read and hashed.
    pub(crate) roots: Vec<PathBuf>,
    /// When the Stop hook last asked, in whatever session.
    pub(crate) hook_last_asked: Option<Timestamp>,
}

/// What is known of a memory on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Embedded {
    /// When the newest record came in.
    pub(crate) last_write: Option<Timestamp>,
    /// Why the store can't be used.
    pub(crate) trouble: Option<String>,
}

impl About {
    /// Looks.
    pub(crate) fn of(home: &Path, anchors: &Anchors) -> Self {
        Self {
            home: home.to_owned(),
            roots: anchors.folders(),
            hook_last_asked: mark::last_asked(home),
        }
    }

    /// Puts it into what a program is told.
    pub(crate) fn add_to(&self, told: &mut Value) {
        told["home"] = json!(self.home);
        told["roots"] = json!(self.roots);
        let asked = self.hook_last_asked.map(|moment| moment.to_string());
        told["hooks"] = json!({"stop": {"last_asked": asked}});
        // Nothing is captured by this version, so nobody was asked whether it may be.
        told["consent"] = Value::Null;
    }

    /// Returns the roots for people.
    pub(crate) fn roots_in_words(&self) -> String {
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|root| root.display().to_string())
            .collect();
        match roots.as_slice() {
            [] => "none: no file is read".to_owned(),
            some => some.join(", "),
        }
    }
}

/// Returns the tool as a list of tools has it.
pub(crate) fn tool() -> Value {
    let text = json!({"type": ["string", "null"]});
    let object = json!({"type": ["object", "null"]});
    json!({
        "name": SYNC_STATUS,
        "title": "Connection to the memory",
        "description": "Where the memory is kept, whether its server is reached, what waits for it. Reads no contents.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
        "outputSchema": {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "enum": ["embedded", "server"]},
                "endpoint": text,
                "has_key": {"type": "boolean"},
                "last_success": text,
                "last_failure": text,
                "reason": text,
                "queue": object,
                "home": {"type": "string"},
                "roots": {"type": "array", "items": {"type": "string"}},
                "hooks": {"type": "object"},
                "consent": object,
            },
            "required": ["mode", "endpoint", "has_key", "queue", "home", "roots", "hooks", "consent"],
        },
        "annotations": {
            "title": "Connection to the memory", "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false,
        },
    })
}

/// Refuses arguments: there are none.
///
/// # Errors
/// The first one.
pub(crate) fn takes_none(arguments: &Object) -> Result<(), Fault> {
    match arguments.keys().next() {
        Some(name) => {
            let name: String = name.chars().take(64).collect();
            Err(Fault::argument(
                name,
                "is not known: this tool takes no arguments",
            ))
        }
        None => Ok(()),
    }
}

/// Returns the tool's answer where the memory is on this computer.
pub(crate) fn embedded(about: &About, memory: &Embedded, now: Timestamp) -> Answer {
    let kept = about.home.display();
    let text = match (&memory.trouble, memory.last_write) {
        (Some(why), _) => format!("The memory on this computer, in {kept}, can't be used: {why}."),
        (None, Some(at)) => format!(
            "The memory is kept on this computer, in {kept}. The newest record came {} ({at}).",
            ago(at, now)
        ),
        (None, None) => {
            format!("The memory is kept on this computer, in {kept}. Nothing is saved yet.")
        }
    };
    let mut told = json!({
        "mode": "embedded", "endpoint": null, "has_key": false,
        "last_success": memory.last_write.map(|moment| moment.to_string()),
        "last_failure": memory.trouble.as_ref().map(|_| now.to_string()),
        "reason": memory.trouble, "queue": null,
    });
    about.add_to(&mut told);
    Answer {
        structured: told,
        text: format!("{text} {}", about.told()),
    }
}

impl About {
    /// Returns which files are looked at, in a sentence.
    pub(crate) fn told(&self) -> String {
        format!(
            "Files are compared under these roots: {}.",
            self.roots_in_words()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About {
            home: "/home/ann/.mmw".into(),
            roots: vec!["/home/ann/shop".into()],
            hook_last_asked: Some(Timestamp::from_ms(5)),
        }
    }

    #[test]
    fn what_it_answers_is_what_its_schema_says() {
        let schema = tool()["outputSchema"].clone();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let check = |about: &About, memory: Embedded, said: &str| {
            let answer = embedded(about, &memory, Timestamp::from_ms(60_000));
            schema.validate(&answer.structured).unwrap();
            assert!(answer.text.contains(said), "{}", answer.text);
        };
        check(&about(), Embedded::default(), "Nothing is saved yet");
        check(&About::default(), Embedded::default(), "no file is read");
        let written = Embedded {
            last_write: Some(Timestamp::from_ms(0)),
            trouble: None,
        };
        check(&about(), written, "came 1 minute ago");
        let broken = Embedded {
            last_write: None,
            trouble: Some("the disk is full".to_owned()),
        };
        check(&about(), broken, "can't be used: the disk is full");
    }

    #[test]
    fn an_argument_is_refused_by_its_name() {
        assert!(takes_none(&Object::new()).is_ok());
        let given = json!({"verbose": true}).as_object().cloned().unwrap();
        let refused = takes_none(&given).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("verbose"));
    }

    #[test]
    fn the_definition_is_one_that_a_server_takes() {
        let own = mmw_server::mcp::OwnTool::new(tool(), Box::new(|_| Err(Fault::internal())));
        assert!(own.is_ok());
    }
}
