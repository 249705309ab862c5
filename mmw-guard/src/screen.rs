//! Screens a draft: secrets first, then the characters of its short fields, then its instructions.
//!
//! The only place that makes a [`Screened`].

use std::collections::BTreeMap;

use mmw_core::draft::{Draft, Field, Replacement, Screened};
use mmw_core::record::{MAX_CONTENT_BYTES, MAX_LABEL_CHARS, MAX_TAG_CHARS};
use mmw_core::source::SourceId;

use crate::redact::{redact, rule_for_name};
use crate::rules::Table;
use crate::verdict::{Rejection, Verdict};

/// The rule that refuses a draft which its placeholders make too long.
const NO_ROOM: &str = "no-room";

/// What was replaced, by field and rule.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(&'static str, usize), u32>);

impl Tally {
    pub(crate) fn add(&mut self, field: &'static str, counts: &BTreeMap<usize, u32>) {
        for (rule, count) in counts {
            *self.0.entry((field, *rule)).or_default() += count;
        }
    }

    pub(crate) fn report(self, table: &Table) -> Vec<Replacement> {
        let name = |rule: usize| table.rules()[rule].id.clone();
        self.0
            .into_iter()
            .map(|((field, rule), count)| Replacement {
                field,
                rule: name(rule),
                count,
            })
            .collect()
    }
}

pub(crate) fn screen(table: &Table, draft: Draft) -> Verdict {
    match without_secrets(table, draft) {
        Ok((draft, replaced)) => Verdict::Allow(seal(draft, replaced)),
        Err(rejection) => Verdict::Reject(rejection),
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the guard")]
const fn seal(draft: Draft, replaced: Vec<Replacement>) -> Screened {
    Screened::sealed_by_guard(draft, replaced)
}

/// Tells whether a field is a name: a placeholder in it would merge unrelated things.
const fn is_name(field: Field) -> bool {
    matches!(field, Field::Workspace | Field::FactKey)
}

fn without_secrets(
    table: &Table,
    mut draft: Draft,
) -> Result<(Draft, Vec<Replacement>), Rejection> {
    let texts = draft.texts();
    let fields: Vec<Field> = texts.iter().map(|(field, _)| *field).collect();
    let (redacted, values) = redact(
        table,
        &texts.iter().map(|(_, text)| *text).collect::<Vec<_>>(),
    );
    for (field, text) in texts.iter().filter(|(field, _)| is_name(*field)) {
        if let Some(rule) = rule_for_name(table, text, &values) {
            let rule = &table.rules()[rule];
            return Err(Rejection {
                rule: rule.id.clone(),
                reason: format!(
                    "{} holds a secret ({}). Secrets are replaced elsewhere, but a name can't be: \
                     choose a name that tells the topic only",
                    field.name(),
                    rule.title
                ),
            });
        }
    }
    let mut replaced = Tally::default();
    for (field, done) in fields.into_iter().zip(redacted) {
        let Some(text) = done.text.filter(|_| !is_name(field)) else {
            continue;
        };
        if !fits(field, &text) {
            return Err(Rejection {
                rule: NO_ROOM.to_owned(),
                reason: format!(
                    "{} has a secret in it, and with a placeholder in its place it is longer than \
                     allowed. Leave the secret out",
                    field.name()
                ),
            });
        }
        replaced.add(field.name(), &done.counts);
        draft.replace_text(field, text);
    }
    Ok((draft, replaced.report(table)))
}

/// Tells whether a redacted text still fits its field. Nothing is cut silently.
fn fits(field: Field, text: &str) -> bool {
    match field {
        Field::Content => text.len() <= MAX_CONTENT_BYTES,
        Field::SourceId => SourceId::new(text).is_some(),
        Field::Tag(_) => text.chars().count() <= MAX_TAG_CHARS,
        Field::Workspace | Field::FactKey => true,
        Field::Source
        | Field::SourceRevision
        | Field::Span
        | Field::Scope
        | Field::Agent
        | Field::Client
        | Field::Session
        | Field::Branch => text.chars().count() <= MAX_LABEL_CHARS,
    }
}
