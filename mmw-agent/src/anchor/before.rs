//! Completes the arguments of a call: one name for a file, its hashes, its commit, its part.

use mmw_core::record::MAX_LABEL_CHARS;
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::wire::{EnvelopeArgs, SpanArgs};
use mmw_server::actions::Object;
use mmw_server::desk::Order;
use mmw_server::mcp::READING;
use serde_json::{Map, Value};

use super::after::{After, Then};
use super::hashes::{self, FileHashes};
use super::span::{self, NotFound};
use super::surroundings::Surroundings;
use super::{Anchors, revision, split};
use crate::roots::{Found, Meant, Refused, Roots, path};

/// What a statement's source is anchored with.
#[derive(Debug, Default)]
struct Anchored {
    /// The one name of the file.
    name: Option<String>,
    hashes: Option<FileHashes>,
    revision: Option<String>,
    span: Option<(SpanArgs, Option<Surroundings>)>,
    /// What the caller should know, such as why there is no hash.
    note: Option<String>,
}

impl Anchors {
    /// Completes a call. What is returned is to be done with its answer.
    ///
    /// Calls that name no file are left as they are, byte for byte.
    pub(crate) fn before(&self, action: &str, order: &mut Order) -> Option<After> {
        match action {
            "remember" => {
                let then = self.anchor(&mut order.arguments, &mut order.envelope)?;
                Some(After::new(self, then))
            }
            "search" => {
                let note = self.rename(&mut order.arguments);
                self.rename_keys(&mut order.arguments);
                let leaves_out = order.arguments.get("exclude_stale") == Some(&Value::Bool(true));
                // Brief hits do not say what a summary rests on unless they are asked to.
                order.compares = order.arguments.get("detail") == Some(&Value::from("brief"));
                let then = Then::Check {
                    leaves_out,
                    takes_out: order.compares,
                    note,
                };
                Some(After::new(self, then))
            }
            READING => {
                order.compares = true;
                Some(After::new(self, Then::Read))
            }
            "explain_memory" => Some(After::new(self, Then::Explain)),
            "validate_memory" | "forget" => {
                let note = self.rename(&mut order.arguments)?;
                Some(After::new(self, Then::Note(note)))
            }
            _ => None,
        }
    }

    /// Anchors a statement; `None` if its source is no file.
    fn anchor(&self, arguments: &mut Object, envelope: &mut EnvelopeArgs) -> Option<Then> {
        let source_id = arguments.get("source_id")?.as_str()?.trim().to_owned();
        let (document, fragment) = split(&source_id);
        if !path::looks_like_one(document) {
            return None;
        }
        let anchored = self.look(document, fragment);
        let mut note = anchored.note;
        if let Some(name) = &anchored.name {
            arguments.insert("source_id".to_owned(), Value::from(name.as_str()));
        }
        let mut around = None;
        if let Some(hashes) = anchored.hashes {
            if is_the_hash_of(arguments.get("source_hash"), &hashes) {
                fill(arguments, "source_hash", Some(hashes.raw.to_string()));
                fill(arguments, "source_revision", anchored.revision);
                if envelope.source_hash_text.is_none() {
                    envelope.source_hash_text = hashes.folded.map(|hash| hash.to_string());
                }
                if let Some((span, surroundings)) = anchored.span
                    && envelope.span.is_none()
                {
                    around = surroundings;
                    envelope.span = Some(span);
                }
            } else {
                note = Some(format!(
                    "source_hash is not the hash of {document} as it is now; it was kept as it was given"
                ));
            }
        }
        Some(Then::Keep { around, note })
    }

    fn look(&self, document: &str, fragment: Option<&str>) -> Anchored {
        let roots = self.roots();
        let mut opened = match roots.open(document, Meant::Here) {
            Ok(Found::File(opened)) => opened,
            Ok(Found::Missing) => {
                let told =
                    format!("no file {document} is here: the statement is anchored to nothing");
                return Anchored {
                    note: path::is_surely_one(document).then_some(told),
                    ..Anchored::default()
                };
            }
            Err(refused) => return refusal(document, refused),
        };
        let bytes = match opened.read() {
            Ok(bytes) => bytes,
            Err(refused) => return refusal(document, refused),
        };
        let name = roots.name_of(&opened.path).map(|name| match fragment {
            Some(fragment) => format!("{name}#{fragment}"),
            None => name,
        });
        let (span, note) =
            match fragment.map(|fragment| (fragment, span_of(document, fragment, &bytes))) {
                None => (None, None),
                Some((_, Ok(span))) => (Some(span), None),
                Some((fragment, Err(why))) => {
                    let told = format!(
                        "`{fragment}` of {document}: {why}; the whole file is compared instead"
                    );
                    (None, Some(told))
                }
            };
        Anchored {
            // One that is too long, say, is told by whoever reads the arguments.
            name: name.filter(|name| SourceId::new(name).is_some()),
            hashes: FileHashes::of(&bytes),
            revision: revision::of(&opened.path),
            span,
            note,
        }
    }

    /// Writes the one name of a file in place of another one, in arguments that say which records are
    /// meant. Returns what the caller should know.
    fn rename(&self, arguments: &mut Object) -> Option<String> {
        let given = arguments.get("source_id")?.as_str()?.trim().to_owned();
        let name = self.stored_name(&given)?;
        arguments.insert("source_id".to_owned(), Value::from(name.as_str()));
        (name != given).then(|| format!("`{given}` is `{name}` from the top of the repository"))
    }

    fn rename_keys(&self, arguments: &mut Object) {
        let Some(Value::Object(sources)) = arguments.get_mut("current_sources") else {
            return;
        };
        let renamed: Map<String, Value> = std::mem::take(sources)
            .into_iter()
            .map(|(given, hash)| (self.stored_name(&given).unwrap_or(given), hash))
            .collect();
        *sources = renamed;
    }

    /// Returns the name under which statements of a source were saved; `None` for what is no file of
    /// a root, and for a name that is that already.
    ///
    /// A relative path that is there from the top of the repository is taken for that, since it is how
    /// hits name their files.
    pub(crate) fn stored_name(&self, given: &str) -> Option<String> {
        let (document, fragment) = split(given.trim());
        if !path::looks_like_one(document) {
            return None;
        }
        let roots = self.roots();
        if !path::is_explicit(document) && roots.is_there_from_the_top(document) {
            return self.name(&roots, document, Meant::Stored, fragment);
        }
        self.name(&roots, document, Meant::Here, fragment)
            .or_else(|| Some(with(roots.name_of_absent(document)?, fragment)))
    }

    fn name(
        &self,
        roots: &Roots,
        document: &str,
        meant: Meant,
        fragment: Option<&str>,
    ) -> Option<String> {
        let Ok(Found::File(opened)) = roots.open(document, meant) else {
            return None;
        };
        Some(with(roots.name_of(&opened.path)?, fragment))
    }
}

fn with(name: String, fragment: Option<&str>) -> String {
    match fragment {
        Some(fragment) => format!("{name}#{fragment}"),
        None => name,
    }
}

fn span_of(
    document: &str,
    fragment: &str,
    bytes: &[u8],
) -> Result<(SpanArgs, Option<Surroundings>), NotFound> {
    let text = hashes::text(bytes).ok_or(NotFound::Absent)?;
    let kind = span::kind_of(document, fragment);
    let range = span::find(kind, fragment, text)?;
    let lines = span::lines_of(text);
    let hash = hashes::of_lines(&lines[range.clone()]).ok_or(NotFound::Absent)?;
    if fragment.trim().chars().count() > MAX_LABEL_CHARS {
        return Err(NotFound::Absent);
    }
    let span = SpanArgs {
        kind: kind.name().to_owned(),
        label: fragment.trim().to_owned(),
        hash: hash.to_string(),
    };
    Ok((span, Surroundings::of(&lines, &range, &hash)))
}

/// Tells whether a hash that was given, if one was, is that of the file as it is now.
fn is_the_hash_of(given: Option<&Value>, hashes: &FileHashes) -> bool {
    match given {
        None | Some(Value::Null) => true,
        Some(Value::String(given)) => ContentHash::new(given).is_ok_and(|given| hashes.has(&given)),
        Some(_) => false,
    }
}

/// Writes an argument that was not given.
fn fill(arguments: &mut Object, name: &str, value: Option<String>) {
    if let Some(value) = value
        && arguments.get(name).is_none_or(Value::is_null)
    {
        arguments.insert(name.to_owned(), Value::from(value));
    }
}

fn refusal(document: &str, refused: Refused) -> Anchored {
    Anchored {
        note: Some(format!("{document} was not hashed: {refused}")),
        ..Anchored::default()
    }
}
