//! Completes the answer of a call: notes of what was anchored, and what became of the files that hits
//! rest on.
//!
//! Works on JSON, so that what a newer server says and this program does not know stays as it is.

use mmw_core::source::ContentHash;
use mmw_core::status::Level;
use mmw_core::time::Timestamp;
use mmw_core::wire::{
    Anchor, ExplainAnswer, LocalSpan, Reading, ReasonView, SearchAnswer, SpanArgs,
};
use mmw_server::actions::{Answer, explain_memory, reading, search};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Anchors;
use super::check::{Checked, Recorded, State};
use super::surroundings::Surroundings;

/// What is to be done with the answer of a call.
pub(crate) struct After {
    anchors: Anchors,
    then: Then,
}

/// What that is.
pub(super) enum Then {
    /// A statement was saved: keep what was around its part, say what the caller should know.
    Keep {
        around: Option<Surroundings>,
        note: Option<String>,
    },
    /// Check the files that hits rest on.
    Check {
        leaves_out: bool,
        /// What brief hits were given to be compared is taken out of them again.
        takes_out: bool,
        note: Option<String>,
    },
    /// Check the files that a record rests on.
    Explain,
    /// Check the files that a reading rests on: a resource, or what a prompt recalls.
    Read,
    /// Say what the caller should know.
    Note(String),
}

/// What is read of a hit. Everything else of it stays as it is.
#[derive(Debug, Deserialize)]
struct Sourced {
    #[serde(default)]
    workspace: String,
    source_id: Option<String>,
    source_hash: Option<String>,
    source_hash_text: Option<String>,
    span: Option<SpanArgs>,
    #[serde(default)]
    anchors: Vec<Anchor>,
}

impl After {
    pub(super) fn new(anchors: &Anchors, then: Then) -> Self {
        Self {
            anchors: anchors.clone(),
            then,
        }
    }

    /// Completes an answer, and its text for a model. `now` is the moment that ages are told by.
    pub(crate) fn finish(self, answer: &mut Answer, now: Timestamp) {
        let Answer { structured, text } = answer;
        match self.then {
            Then::Keep { around, note } => {
                if let Some(around) = around {
                    self.anchors.keep(structured, &around);
                }
                if let (Some(note), Some(_)) = (note, structured.get("id")) {
                    text.push_str(&format!("\nNot anchored as asked: {note}."));
                    structured["source_note"] = Value::from(note);
                }
            }
            Then::Check {
                leaves_out,
                takes_out,
                note,
            } => {
                let found_something = self.anchors.check_hits(structured, leaves_out);
                if takes_out {
                    without_anchors(structured);
                }
                if found_something {
                    *text = match SearchAnswer::deserialize(&*structured) {
                        Ok(typed) => search::told(&typed, now),
                        Err(_) => format!("{text}\n\n{}", reasons_of(structured)),
                    };
                }
                if let Some(note) = note {
                    text.push_str(&format!("\n\n{note}."));
                }
            }
            Then::Explain => {
                if self.anchors.check_receipt(structured)
                    && let Ok(typed) = ExplainAnswer::deserialize(&*structured)
                {
                    *text = explain_memory::told(&typed, now);
                }
            }
            Then::Read => {
                // One that a newer server made and that can't be put into words here stays as it is.
                if self.anchors.check_reading(structured)
                    && let Ok(typed) = Reading::deserialize(&*structured)
                {
                    *text = reading::told(&typed, now);
                }
            }
            Then::Note(note) => text.push_str(&format!("\n{note}.")),
        }
    }
}

impl Anchors {
    /// Keeps what is around the part of a record that was saved, under the name that it was saved with.
    fn keep(&self, record: &Value, around: &Surroundings) {
        let source_id = record.get("source_id").and_then(Value::as_str);
        let hash = record["span"]["hash"].as_str();
        if let (Some(source_id), Some(Ok(hash))) = (source_id, hash.map(ContentHash::new)) {
            self.0.kept.put(source_id, &hash, around);
        }
    }

    /// Checks what a reading rests on. Tells whether anything was found out.
    fn check_reading(&self, reading: &mut Value) -> bool {
        match reading.get("reading").and_then(Value::as_str) {
            Some("record") => self.check_receipt(reading),
            Some("fact") => self.check_each(reading.get_mut("versions")),
            Some("brief") => self.check_each(reading.get_mut("hits")),
            Some("recall") => match reading.get_mut("found") {
                Some(found) => self.check_hits(found, false),
                None => false,
            },
            _ => false,
        }
    }

    fn check_each(&self, sourced: Option<&mut Value>) -> bool {
        let sourced = sourced.and_then(Value::as_array_mut);
        let checked: Vec<bool> = sourced
            .into_iter()
            .flatten()
            .map(|one| self.check_one(one).is_some())
            .collect();
        checked.contains(&true)
    }

    /// Checks what a record rests on that is told with its receipt. Tells whether anything was found out.
    fn check_receipt(&self, receipt: &mut Value) -> bool {
        let mut sourced = receipt["record"].clone();
        for field in ["status", "status_reasons", "anchors"] {
            if let Some(value) = receipt.get(field) {
                sourced[field] = value.clone();
            }
        }
        if self.check_one(&mut sourced).is_none() {
            return false;
        }
        for field in ["status", "status_reasons", "local_source", "local_span"] {
            if let Some(value) = sourced.get_mut(field) {
                receipt[field] = value.take();
            }
        }
        // Among its versions it is the same record.
        let (id, status) = (receipt["record"]["id"].clone(), receipt["status"].clone());
        let versions = receipt.get_mut("versions").and_then(Value::as_array_mut);
        let itself = versions
            .into_iter()
            .flatten()
            .find(|version| version["id"] == id);
        if let Some(itself) = itself {
            itself["status"] = status;
        }
        true
    }

    /// Checks all hits. Tells whether anything was found out.
    fn check_hits(&self, answer: &mut Value, leaves_out: bool) -> bool {
        let Some(hits) = answer.get_mut("hits").and_then(Value::as_array_mut) else {
            return false;
        };
        let troubled: Vec<Option<bool>> = hits.iter_mut().map(|hit| self.check_one(hit)).collect();
        if !leaves_out || !troubled.contains(&Some(true)) {
            return troubled.iter().any(Option::is_some);
        }
        let facts = |hits: &[Value]| {
            let mut facts: Vec<Value> = hits.iter().map(fact_of).collect();
            facts.dedup();
            facts.len()
        };
        let (n_hits, n_facts) = (hits.len(), facts(hits));
        let mut nth = 0;
        hits.retain(|_| {
            nth += 1;
            troubled[nth - 1] != Some(true)
        });
        let n_gone = n_hits - hits.len();
        let n_facts_gone = n_facts.saturating_sub(facts(hits));
        let is_empty = hits.is_empty();
        if let Some(total) = answer.get("total").and_then(Value::as_u64) {
            answer["total"] = json!(total.saturating_sub(n_facts_gone as u64));
        }
        let told = if n_gone == 1 {
            "1 hit was left out: its source has changed here".to_owned()
        } else {
            format!("{n_gone} hits were left out: their sources have changed here")
        };
        let notice = match answer.get("notice").and_then(Value::as_str) {
            Some(notice) if !is_empty => format!("{notice}. {told}"),
            _ => told,
        };
        answer["notice"] = Value::from(notice);
        true
    }

    /// Checks what one hit rests on. Tells whether it is in trouble; `None` if nothing was found out.
    pub(crate) fn check_one(&self, hit: &mut Value) -> Option<bool> {
        let sourced = Sourced::deserialize(&*hit).ok()?;
        let own = Recorded::new(
            sourced.source_id.as_deref(),
            sourced.source_hash.as_deref(),
            sourced.source_hash_text.as_deref(),
            sourced.span.as_ref(),
        );
        // The person's own workspace is read in every project: a path there is of any repository.
        let is_of_here = !sourced.workspace.starts_with('@');
        let checked = own
            .as_ref()
            .and_then(|own| Some((own, self.check(own)?)))
            .filter(|(own, checked)| {
                is_of_here || own.is_absolute() || checked.state == State::Unchanged
            });
        let mut is_troubled = false;
        if let Some((own, checked)) = &checked {
            hit["local_source"] = Value::from(checked.state.name());
            if let (Some(lines), Some(span)) = (&checked.span, &sourced.span) {
                hit["local_span"] = json!(LocalSpan {
                    kind: span.kind.clone(),
                    label: span.label.clone(),
                    lines: lines.clone(),
                });
            }
            if let Some(reason) = reason(own, checked) {
                is_troubled = true;
                raise(hit, &reason);
            }
        }
        let inherited = self.inherited(&sourced.anchors);
        is_troubled |= !inherited.is_empty();
        for reason in &inherited {
            raise(hit, reason);
        }
        (is_troubled || checked.is_some()).then_some(is_troubled)
    }

    /// Returns the reasons that a record inherits from the files of what it was derived from, one a
    /// source.
    fn inherited(&self, anchors: &[Anchor]) -> Vec<ReasonView> {
        let mut reasons: Vec<ReasonView> = Vec::new();
        for anchor in anchors {
            let known = reasons
                .iter_mut()
                .find(|known| known.source_id.as_ref() == Some(&anchor.source_id));
            if let Some(known) = known {
                known.ids.push(anchor.record);
                continue;
            }
            let recorded = Recorded::new(
                Some(&anchor.source_id),
                anchor.source_hash.as_deref(),
                anchor.source_hash_text.as_deref(),
                anchor.span.as_ref(),
            );
            let Some(cause) = recorded.and_then(|recorded| {
                let checked = self.check(&recorded)?;
                reason(&recorded, &checked)
            }) else {
                continue;
            };
            reasons.push(ReasonView {
                code: "inherited".to_owned(),
                level: cause.level,
                text: format!("derived from {}: {}", anchor.record, cause.text),
                ids: vec![anchor.record],
                source_id: cause.source_id,
                cause: Some(cause.code),
            });
        }
        reasons
    }
}

/// Returns the reason for which a record is stale; none if its source is as it was.
fn reason(recorded: &Recorded, checked: &Checked) -> Option<ReasonView> {
    let source = &recorded.source_id;
    let (code, text) = match checked.state {
        State::Unchanged => return None,
        State::Changed => (
            "source_changed",
            format!("{source} has changed since this was saved"),
        ),
        State::Missing if checked.span.is_some() => (
            "source_missing",
            format!("{source} is no longer a part of its file"),
        ),
        State::Missing => ("source_missing", format!("{source} is no longer here")),
    };
    Some(ReasonView {
        code: code.to_owned(),
        level: Level::Stale.name().to_owned(),
        text,
        ids: Vec::new(),
        source_id: Some(source.clone()),
        cause: None,
    })
}

/// Adds a reason to a hit and raises its status, never above what it is already. Conflicts come first,
/// what is inherited last.
fn raise(hit: &mut Value, reason: &ReasonView) {
    let is_known = |known: &Value| {
        known["code"] == reason.code.as_str()
            && known["source_id"].as_str() == reason.source_id.as_deref()
            && known["cause"].as_str() == reason.cause.as_deref()
    };
    if !hit["status_reasons"].is_array() {
        hit["status_reasons"] = json!([]);
    }
    if let Some(reasons) = hit["status_reasons"].as_array_mut()
        && !reasons.iter().any(is_known)
    {
        let is_conflict = |known: &Value| known["level"] == Level::Conflict.name();
        let place = if reason.cause.is_some() {
            reasons.len()
        } else {
            let after_conflicts = reasons.iter().position(|known| !is_conflict(known));
            after_conflicts.unwrap_or(reasons.len())
        };
        reasons.insert(place, json!(reason));
    }
    if hit["status"] == Level::Unverified.name() {
        hit["status"] = Value::from(Level::Stale.name());
    }
}

/// Takes what hits were given to be compared out of them.
fn without_anchors(answer: &mut Value) {
    let hits = answer.get_mut("hits").and_then(Value::as_array_mut);
    for hit in hits.into_iter().flatten().filter_map(Value::as_object_mut) {
        hit.shift_remove("anchors");
    }
}

/// Returns what makes hits one fact: workspace and topic, else the record itself.
fn fact_of(hit: &Value) -> Value {
    match hit.get("fact_key") {
        Some(key) if !key.is_null() => json!([hit["workspace"], key]),
        _ => hit["id"].clone(),
    }
}

/// Lists what was found out, for an answer that can't be written anew.
fn reasons_of(answer: &Value) -> String {
    let hits = answer["hits"].as_array().map_or(&[][..], Vec::as_slice);
    let lines: Vec<String> = hits
        .iter()
        .filter_map(|hit| {
            let state = hit["local_source"].as_str()?;
            let id = hit["id"].as_str()?;
            Some(format!("{id}: its source is {state} here."))
        })
        .collect();
    lines.join("\n")
}
