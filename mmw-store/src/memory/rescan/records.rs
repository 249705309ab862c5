//! Looks over records again: all versions, forgotten ones too.

use mmw_core::audit::Deed;
use mmw_core::capture::{
    Classification, Finding, LaneItem, LaneKind, LaneState, NotAdmitted, Proposal, admit,
};
use mmw_core::draft::{Draft, Field, Replacement};
use mmw_core::ids::CandidateId;
use mmw_core::place::WorkspaceName;
use mmw_core::text::ContentDigest;
use mmw_guard::Verdict;

use super::report::{RescanReport, together};
use super::{CHUNK, Done, Round};
use crate::engine::{EngineResult, Kept, Rewritten, Row, Txn};
use crate::memory::indexed::words_of;
use crate::memory::remember::entry;
use crate::memory::second_look::{draft_of, take_texts};
use crate::memory::ward::Ward;

/// Why a record is taken out of memory.
const BY_RESCAN: &str = "withdrawn to the review lane by a rescan";

/// What is to be done with a record.
pub(super) enum Judged {
    /// It is clean.
    Clean,
    /// Its texts become these.
    Redact(Box<Draft>, Vec<Replacement>),
    /// It goes to the lane as this. With `true` it leaves no text behind: its topic held a secret.
    Withdraw(Box<Draft>, Vec<Replacement>, Finding, bool),
}

/// Judges a draft that is stored.
pub(super) fn judged(ward: &Ward, draft: Draft, by_a_person: bool) -> Judged {
    match ward.look_at(draft.clone()) {
        Verdict::Allow(screened) => clean_or(&draft, screened.draft(), screened.replaced()),
        Verdict::Quarantine(screened, _) if by_a_person => {
            clean_or(&draft, screened.draft(), screened.replaced())
        }
        Verdict::Quarantine(screened, finding) => Judged::Withdraw(
            Box::new(screened.draft().clone()),
            screened.replaced().to_vec(),
            finding,
            false,
        ),
        Verdict::Reject(rejection) => {
            let finding = Finding {
                rule: rejection.rule,
                reason: rejection.reason,
            };
            let (draft, replaced) = nameless(ward, draft);
            Judged::Withdraw(Box::new(draft), replaced, finding, true)
        }
    }
}

fn clean_or(before: &Draft, after: &Draft, replaced: &[Replacement]) -> Judged {
    if before == after {
        Judged::Clean
    } else {
        Judged::Redact(Box::new(after.clone()), replaced.to_vec())
    }
}

/// Returns what is left of a draft that can't be screened as it is: without names, each text redacted
/// by itself, and labels that still can't pass left out.
fn nameless(ward: &Ward, mut draft: Draft) -> (Draft, Vec<Replacement>) {
    if !ward.is_clean(draft.workspace.as_str()) {
        draft.workspace = WorkspaceName::default();
    }
    draft.fact_key = None;
    let mut replaced = Vec::new();
    let texts: Vec<(Field, String)> = draft
        .texts()
        .into_iter()
        .map(|(field, text)| (field, text.to_owned()))
        .collect();
    for (field, text) in texts {
        let (clean, found) = ward.redact(&text);
        replaced.extend(found.into_iter().map(|found| Replacement {
            field: field.name(),
            ..found
        }));
        if clean != text {
            draft.replace_text(field, clean);
        }
    }
    if matches!(ward.look_at(draft.clone()), Verdict::Reject(_)) {
        // A label with invisible characters, say: nobody misses it, and a lane must be readable.
        draft.label = None;
        draft.tags.clear();
        draft.origin.revision = None;
        draft.origin.span = None;
        draft.envelope.agent = None;
        draft.envelope.client = None;
        draft.envelope.session = None;
        draft.envelope.branch = None;
    }
    (draft, replaced)
}

/// Returns what the audit says of replacements.
pub(super) fn told(replaced: &[Replacement]) -> String {
    let parts: Vec<String> = replaced
        .iter()
        .map(|Replacement { field, rule, count }| format!("{field}: {rule} x{count}"))
        .collect();
    parts.join(", ")
}

/// Goes through the records behind a row.
pub(super) fn round(
    txn: &mut dyn Txn,
    with: &Round<'_>,
    behind: Option<&Row>,
) -> EngineResult<Done<Row>> {
    let ward = with.memory.ward(txn.snapshot(), with.project, with.now)?;
    let kept = txn.kept_records(with.project, behind.copied(), CHUNK)?;
    let mut report = RescanReport::default();
    let mut clean = Vec::new();
    let next = (kept.len() == CHUNK)
        .then(|| kept.last().map(|kept| kept.stored.row))
        .flatten();
    let n_seen = kept.len() as u64;
    for (kept, fresh) in kept.iter().zip(with.fresh) {
        report.n_looked_at += 1;
        let by_a_person = kept.stored.approval.is_some() || kept.is_forgotten;
        match judged(&ward, draft_of(&kept.stored.record), by_a_person) {
            Judged::Clean if kept.stored.screened == ward.revision() => {}
            Judged::Clean => clean.push(kept.stored.record.id),
            Judged::Redact(draft, replaced) => {
                redact(txn, with, &ward, kept, &draft, &replaced, &mut report)?;
            }
            Judged::Withdraw(draft, replaced, finding, is_nameless) => {
                if !kept.is_forgotten {
                    let item = item(with, *fresh, kept, *draft, &replaced, &finding);
                    withdraw(txn, with, &ward, kept, &item, &finding, &mut report)?;
                }
                if is_nameless {
                    txn.purge_records(&[kept.stored.record.id])?;
                }
                report.count_all(&replaced);
                if kept.is_forgotten {
                    let why = format!("forgotten, and purged: {}", finding.rule);
                    let ids = vec![kept.stored.record.id.to_string()];
                    txn.append_audit(&in_project(with, ids, &why))?;
                    report.n_redacted += 1;
                    report.touch(&kept.stored.record.id, "redacted", [finding.rule]);
                }
            }
        }
    }
    txn.mark_screened(&clean, ward.revision())?;
    Ok(Done {
        report,
        next,
        n_seen,
    })
}

fn redact(
    txn: &mut dyn Txn,
    with: &Round<'_>,
    ward: &Ward,
    kept: &Kept,
    draft: &Draft,
    replaced: &[Replacement],
    report: &mut RescanReport,
) -> EngineResult<()> {
    let all = together(&kept.stored.replaced, replaced);
    rewrite(txn, ward, kept, draft, &all)?;
    let id = kept.stored.record.id;
    let why = told(replaced);
    let ids = vec![id.to_string()];
    txn.append_audit(&in_project(with, ids, &why))?;
    report.count_all(replaced);
    report.n_redacted += 1;
    let rules = replaced.iter().map(|replaced| replaced.rule.clone());
    report.touch(&id, "redacted", rules);
    Ok(())
}

fn rewrite(
    txn: &mut dyn Txn,
    ward: &Ward,
    kept: &Kept,
    draft: &Draft,
    replaced: &[Replacement],
) -> EngineResult<()> {
    let mut record = kept.stored.record.clone();
    take_texts(&mut record, draft);
    let words = words_of(&record);
    txn.rewrite_record(&Rewritten {
        record: &record,
        digest: ContentDigest::of(&record.content),
        words: &words,
        replaced,
        screened: ward.revision(),
    })
}

fn item(
    with: &Round<'_>,
    id: CandidateId,
    kept: &Kept,
    draft: Draft,
    replaced: &[Replacement],
    finding: &Finding,
) -> LaneItem {
    LaneItem {
        id,
        project: with.project,
        author: kept.stored.record.said.author,
        proposal: Proposal {
            kind: LaneKind::Quarantined,
            draft,
            replaced: together(&kept.stored.replaced, replaced),
            classification: Classification::Fact,
            why_durable: None,
            evidence: Vec::new(),
            finding: Some(finding.clone()),
        },
        state: LaneState::Waiting,
        created_at: with.now,
        decision: None,
    }
}

/// Takes a record out of memory and lets a person decide on it. What a person turned down before, or
/// what waits already, is only taken out.
fn withdraw(
    txn: &mut dyn Txn,
    with: &Round<'_>,
    ward: &Ward,
    kept: &Kept,
    item: &LaneItem,
    finding: &Finding,
    report: &mut RescanReport,
) -> EngineResult<()> {
    let id = kept.stored.record.id;
    // What stays until it is purged is clean, too.
    let draft = &item.proposal.draft;
    rewrite(txn, ward, kept, draft, &item.proposal.replaced)?;
    txn.forget(&[id], with.now, with.caller.principal, Some(BY_RESCAN))?;
    let same = txn.lane_same(with.project, item.digest())?;
    let mut ids = vec![id.to_string()];
    match (admit(&item.proposal, same.as_ref(), with.now), same) {
        (Err(NotAdmitted::WaitingAlready | NotAdmitted::TurnedDownBefore), Some(same)) => {
            ids.push(same.id.shown());
        }
        _ => {
            txn.insert_lane_item(item)?;
            ids.push(item.id.shown());
        }
    }
    let why = format!("{BY_RESCAN}: {}", finding.rule);
    txn.append_audit(&in_project(with, ids, &why))?;
    report.n_withdrawn += 1;
    report.touch(&id, "withdrawn", [finding.rule.clone()]);
    Ok(())
}

/// Returns the row of the audit for what was done in the project that is looked over.
pub(super) fn in_project(with: &Round<'_>, ids: Vec<String>, why: &str) -> mmw_core::audit::Entry {
    mmw_core::audit::Entry {
        project: Some(with.project),
        ..entry(with.caller, Deed::Rescan, ids, Some(why), with.now)
    }
}
