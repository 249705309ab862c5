//! Looks over what is no record: items of the lane, notes, reasons, names.

use mmw_core::capture::{Finding, LaneItem, LaneKind};
use mmw_core::draft::Replacement;
use mmw_core::ids::CandidateId;

use super::records::{Judged, in_project, judged, told};
use super::report::{RescanReport, together};
use super::{CHUNK, Done, Round};
use crate::engine::{EngineResult, Loose, Spot, Txn};
use crate::memory::ward::Ward;

/// Goes through the items of the lane behind one.
pub(super) fn lane(
    txn: &mut dyn Txn,
    with: &Round<'_>,
    behind: Option<&CandidateId>,
) -> EngineResult<Done<CandidateId>> {
    let ward = with.memory.ward(txn.snapshot(), with.project, with.now)?;
    let items = txn.kept_lane_items(with.project, behind.copied(), CHUNK)?;
    let next = (items.len() == CHUNK)
        .then(|| items.last().map(|item| item.id))
        .flatten();
    let n_seen = items.len() as u64;
    let mut report = RescanReport::default();
    for item in items {
        report.n_looked_at += 1;
        let Some((changed, replaced, rule)) = again(&ward, &item) else {
            continue;
        };
        txn.rewrite_lane_item(&changed)?;
        let why = if replaced.is_empty() {
            format!("held back: {}", rule.as_deref().unwrap_or("guard"))
        } else {
            told(&replaced)
        };
        txn.append_audit(&in_project(with, vec![item.id.shown()], &why))?;
        report.count_all(&replaced);
        report.n_lane_items += 1;
        let rules = replaced.into_iter().map(|replaced| replaced.rule);
        report.touch(&item.id.shown(), "redacted", rules.chain(rule));
    }
    Ok(Done {
        report,
        next,
        n_seen,
    })
}

/// Returns an item as it is to be from now on, what was replaced, and by which rule it is held back;
/// `None` if it stays as it is.
fn again(ward: &Ward, item: &LaneItem) -> Option<(LaneItem, Vec<Replacement>, Option<String>)> {
    let mut changed = item.clone();
    let proposal = &mut changed.proposal;
    let is_held = proposal.kind == LaneKind::Quarantined;
    let (draft, mut replaced, finding) = match judged(ward, proposal.draft.clone(), is_held) {
        Judged::Clean => (proposal.draft.clone(), Vec::new(), None),
        Judged::Redact(draft, replaced) => (*draft, replaced, None),
        Judged::Withdraw(draft, replaced, finding, _) => (*draft, replaced, Some(finding)),
    };
    proposal.draft = draft;
    let mut clean = |field: &'static str, text: &mut String| {
        let (now, found) = ward.redact(text);
        *text = now;
        replaced.extend(
            found
                .into_iter()
                .map(|found| Replacement { field, ..found }),
        );
    };
    if let Some(why) = &mut proposal.why_durable {
        clean("why_durable", why);
    }
    for event in &mut proposal.evidence {
        clean("evidence", event);
    }
    let rule = finding.map(|Finding { rule, reason }| {
        proposal.kind = LaneKind::Quarantined;
        proposal.finding = Some(Finding {
            rule: rule.clone(),
            reason,
        });
        rule
    });
    if changed == *item {
        return None;
    }
    changed.proposal.replaced = together(&item.proposal.replaced, &replaced);
    Some((changed, replaced, rule))
}

/// Goes through the loose texts of one sort behind a place.
pub(super) fn loose(
    txn: &mut dyn Txn,
    with: &Round<'_>,
    which: Loose,
    behind: Option<&Spot>,
) -> EngineResult<Done<Spot>> {
    let ward = with.memory.ward(txn.snapshot(), with.project, with.now)?;
    let texts = txn.loose_texts(which, with.project, behind, CHUNK)?;
    let next = (texts.len() == CHUNK)
        .then(|| texts.last().map(|text| text.at.clone()))
        .flatten();
    let mut report = RescanReport::default();
    for text in texts {
        let (clean, mut found) = ward.redact(&text.text);
        if which == Loose::WorkspaceName && found.is_empty() {
            found.extend(ward.secret_in_name(&text.text));
        }
        if found.is_empty() {
            continue;
        }
        let rules: Vec<String> = found.iter().map(|found| found.rule.clone()).collect();
        for replaced in &found {
            report.count(which.name(), &replaced.rule, replaced.count);
        }
        if !which.can_change() {
            report.n_reported += 1;
            report.touch(&text.of, "reported", rules);
            continue;
        }
        let clean = match (which, &text.at) {
            // A name must stay one of its own.
            (Loose::WorkspaceName, Spot::Number(number)) => format!("redacted-{number}"),
            _ => clean,
        };
        let voucher = txn.rewrite_loose(which, &text.at, &clean, with.now)?;
        let why = format!("{}: {}", which.name(), rules.join(", "));
        let ids = voucher.into_iter().collect();
        txn.append_audit(&in_project(with, ids, &why))?;
        report.n_texts += 1;
        report.touch(&text.of, "redacted", rules);
    }
    Ok(Done {
        report,
        next,
        n_seen: 0,
    })
}
