//! What is decided of a line before the transaction: its form, and what the guard says.

use std::collections::{HashMap, VecDeque};

use mmw_core::capture::{Classification, Finding, LaneKind, Proposal};
use mmw_core::draft::{Draft, Field, Replacement, Screened};
use mmw_core::fact::Resolution;
use mmw_core::fact::plan::Moment;
use mmw_core::ids::{CandidateId, PrincipalId, RecordId};
use mmw_core::link::{Link, LinkKind};
use mmw_core::place::ReviewWay;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use mmw_core::wire::ReplacedView;
use mmw_core::wire::transfer::{
    ExportLine, ExportedForgotten, ExportedLink, ExportedRecord, ExportedResolution,
    ExportedWaiting,
};
use mmw_guard::Verdict;

use super::super::Memory;
use super::super::remember::without_key;
use super::super::ward::Ward;
use super::take::{Taking, together};
use super::{Arriving, Captured, Foreign, ImportReport, Incoming, names};

/// The longest name of a rule in a line, in bytes.
const MAX_RULE_BYTES: usize = 64;

/// The longest text that is kept beside a statement, in bytes.
const MAX_BESIDE_BYTES: usize = 4_096;

/// The most pieces of evidence that a waiting statement brings along.
const MAX_EVIDENCE: usize = 1_000;

/// What is ready for the transaction.
pub(super) struct Prepared {
    /// In the order in which it is to be taken in: sources before what was derived from them.
    pub(super) items: Vec<Item>,
    /// Records that had been forgotten where the lines come from.
    pub(super) marks: HashMap<RecordId, ExportedForgotten>,
}

/// One thing to be taken in.
pub(super) struct Item {
    pub(super) line: u64,
    pub(super) what: What,
}

/// What it is.
pub(super) enum What {
    Record(Box<Moving>),
    Rejected { rule: String, reason: String },
    Link(Link),
    Resolution(Box<Resolution>),
    Waiting(Box<Waiting>),
}

/// A screened statement that waits for review, on its way in.
pub(super) struct Waiting {
    pub(super) id: CandidateId,
    pub(super) author: PrincipalId,
    pub(super) created_at: Timestamp,
    pub(super) proposal: Proposal,
    /// What was replaced in it just now.
    pub(super) replaced_now: Vec<Replacement>,
}

/// A screened statement on its way in.
pub(super) struct Moving {
    pub(super) id: RecordId,
    pub(super) moment: Moment,
    pub(super) screened: Screened,
    /// The number of the rules that it was screened with.
    pub(super) revision: u64,
    /// What the guard holds it back for.
    pub(super) finding: Option<Finding>,
    /// What was replaced where it comes from.
    pub(super) replaced_before: Vec<Replacement>,
    /// The item of the lane that a person let it out of.
    pub(super) approval: Option<CandidateId>,
    /// No person is here: the approval is not taken over.
    pub(super) leaves_decision: bool,
    /// What it said before it was screened.
    pub(super) given: ContentDigest,
    /// Why it waits for a person.
    pub(super) captured: Option<Captured>,
}

impl Memory {
    /// Prepares everything; what can't be taken in goes into the report at once.
    pub(super) fn prepare_all(
        &self,
        taking: &Taking<'_>,
        wards: &(Ward, Ward),
        arriving: Vec<Incoming>,
        report: &mut ImportReport,
    ) -> Prepared {
        let mut marks = HashMap::new();
        let (mut records, mut after) = (Vec::new(), Vec::new());
        for Incoming { line, what } in arriving {
            let made = match what {
                Arriving::Broken(reason) => {
                    report.refuse(line, reason);
                    continue;
                }
                Arriving::Foreign(foreign) => self.foreign(taking, wards, *foreign),
                Arriving::Line(known) => match *known {
                    // What a file says of itself is for whoever reads the file.
                    ExportLine::MmwExport(_) => continue,
                    ExportLine::Forgotten(mark) => {
                        marks.insert(mark.id, mark);
                        continue;
                    }
                    ExportLine::Record(record) => self.record(taking, wards, *record),
                    ExportLine::Link(link) => link_of(&link).map(What::Link),
                    ExportLine::Waiting(waiting) => self.waiting(wards, *waiting),
                    ExportLine::Resolution(resolution) => {
                        decision(taking, wards, resolution).map(|one| What::Resolution(one.into()))
                    }
                },
            };
            match made {
                Ok(what @ (What::Record(_) | What::Rejected { .. })) => {
                    records.push(Item { line, what });
                }
                Ok(what) => after.push(Item { line, what }),
                Err(invalid) => report.refuse(line, told(&invalid)),
            }
        }
        let mut items = sources_first(records);
        // Links before decisions: both only name what is there by then.
        after.sort_by_key(|item| (matches!(item.what, What::Resolution(_)), item.line));
        items.append(&mut after);
        Prepared { items, marks }
    }

    fn record(
        &self,
        taking: &Taking<'_>,
        wards: &(Ward, Ward),
        line: ExportedRecord,
    ) -> Result<What, Invalid> {
        let id = line.id;
        let moment = Moment {
            author: line.author,
            created_at: line.created_at,
            received_at: line.received_at,
        };
        let approval = line
            .approval
            .as_deref()
            .map(|id| CandidateId::parse_shown(id).map_err(|_| Invalid::new("approval", NO_ID)))
            .transpose()?;
        let replaced_before: Result<Vec<Replacement>, Invalid> =
            line.replaced.iter().map(replacement).collect();
        let replaced_before = replaced_before?;
        let (args, envelope) = line.into_statement();
        let draft = args.into_draft(&envelope)?;
        self.screened(wards, draft, |screened, revision, finding, given| Moving {
            id,
            moment,
            screened,
            revision,
            finding,
            replaced_before,
            approval,
            leaves_decision: taking.reviewer.is_none(),
            given,
            captured: None,
        })
    }

    fn foreign(
        &self,
        taking: &Taking<'_>,
        wards: &(Ward, Ward),
        foreign: Foreign,
    ) -> Result<What, Invalid> {
        let workspace = validation::workspace(foreign.args.workspace.as_deref())?;
        let project = taking.caller.place(workspace.clone()).project;
        let id = names::of_foreign(project, workspace.as_str(), &foreign);
        let moment = Moment {
            author: taking.caller.principal,
            created_at: foreign.said_at.unwrap_or(taking.now),
            received_at: taking.now,
        };
        let draft = foreign.args.into_draft(&foreign.envelope)?;
        let captured = foreign.candidate;
        self.screened(wards, draft, |screened, revision, finding, given| Moving {
            id,
            moment,
            screened,
            revision,
            finding,
            replaced_before: Vec::new(),
            approval: None,
            leaves_decision: false,
            given,
            captured,
        })
    }

    fn waiting(&self, wards: &(Ward, Ward), line: ExportedWaiting) -> Result<What, Invalid> {
        let id = CandidateId::parse_shown(&line.id).map_err(|_| Invalid::new("id", NO_ID))?;
        let kind = validation::choice("lane", &line.lane, LaneKind::ALL, LaneKind::name)?;
        let classification = validation::choice(
            "classification",
            &line.classification,
            Classification::ALL,
            Classification::name,
        )?;
        let before: Result<Vec<Replacement>, Invalid> =
            line.replaced.iter().map(replacement).collect();
        let before = before?;
        let held = match (line.rule, line.reason) {
            (Some(rule), Some(reason)) => {
                named_rule(&rule)?;
                Some((rule, beside("reason", reason)?))
            }
            _ => None,
        };
        if line.evidence.len() > MAX_EVIDENCE {
            return Err(Invalid::new("evidence", "names more than can be kept"));
        }
        let draft = line.statement.into_draft(&line.envelope)?;
        self.check_hashes(&draft)?;
        let ward = ward_of(wards, draft.workspace.is_user());
        let (screened, finding) = match ward.screen(draft) {
            Verdict::Allow(screened) => (screened, None),
            Verdict::Quarantine(screened, finding) => (screened, Some(finding)),
            Verdict::Reject(rejection) => {
                return Ok(What::Rejected {
                    reason: rejection.to_string(),
                    rule: rejection.rule,
                });
            }
        };
        let clean = |text: String| ward.redact(&text).0;
        let short = |field: &str, text: String| beside(field, text).map(clean);
        // What held it back where it comes from is what a person there would be told.
        let held = held.map(|(rule, reason)| Finding {
            rule,
            reason: clean(reason),
        });
        let finding = held.or(finding);
        let evidence: Result<Vec<String>, Invalid> = line
            .evidence
            .into_iter()
            .map(|text| short("evidence", text))
            .collect();
        let why_durable = line.why_durable.map(|text| short("why_durable", text));
        Ok(What::Waiting(Box::new(Waiting {
            id,
            author: line.author,
            created_at: line.created_at,
            replaced_now: screened.replaced().to_vec(),
            proposal: Proposal {
                kind: if finding.is_some() {
                    LaneKind::Quarantined
                } else {
                    kind
                },
                replaced: together(&before, screened.replaced()),
                draft: without_key(screened.draft()),
                classification,
                why_durable: why_durable.transpose()?,
                evidence: evidence?,
                finding,
            },
        })))
    }

    fn screened(
        &self,
        wards: &(Ward, Ward),
        draft: Draft,
        moving: impl FnOnce(Screened, u64, Option<Finding>, ContentDigest) -> Moving,
    ) -> Result<What, Invalid> {
        self.check_hashes(&draft)?;
        let ward = ward_of(wards, draft.workspace.is_user());
        let given = ContentDigest::of(&draft.content);
        let (screened, finding) = match ward.screen(draft) {
            Verdict::Allow(screened) => (screened, None),
            Verdict::Quarantine(screened, finding) => (screened, Some(finding)),
            Verdict::Reject(rejection) => {
                return Ok(What::Rejected {
                    reason: rejection.to_string(),
                    rule: rejection.rule,
                });
            }
        };
        let moving = moving(screened, ward.revision(), finding, given);
        Ok(What::Record(Box::new(moving)))
    }
}

const NO_ID: &str = "is not an id";

/// Returns why a line is refused. Ids that are none are not repeated: they may be anything.
fn told(invalid: &Invalid) -> String {
    let is_id = ["derived_from", "proposed_id"]
        .iter()
        .any(|field| invalid.field.starts_with(field));
    if is_id && invalid.problem.contains("is not an id") {
        return format!("{}: {NO_ID}", invalid.field);
    }
    invalid.to_string()
}

fn ward_of(wards: &(Ward, Ward), is_user: bool) -> &Ward {
    if is_user { &wards.1 } else { &wards.0 }
}

fn replacement(view: &ReplacedView) -> Result<Replacement, Invalid> {
    const FIELDS: [Field; 13] = [
        Field::Content,
        Field::Workspace,
        Field::FactKey,
        Field::Source,
        Field::SourceId,
        Field::SourceRevision,
        Field::Span,
        Field::Scope,
        Field::Tag(0),
        Field::Agent,
        Field::Client,
        Field::Session,
        Field::Branch,
    ];
    let field = FIELDS
        .into_iter()
        .map(Field::name)
        .chain([mmw_guard::TEXT_FIELD])
        .find(|name| *name == view.field)
        .ok_or_else(|| Invalid::new("replaced", "names a field that there is not"))?;
    named_rule(&view.rule)?;
    Ok(Replacement {
        field,
        rule: view.rule.clone(),
        count: view.count,
    })
}

/// Returns a text that is kept beside a statement.
fn beside(field: &str, text: String) -> Result<String, Invalid> {
    if text.len() > MAX_BESIDE_BYTES || text.contains('\0') {
        return Err(Invalid::new(field, "is too long, or no text"));
    }
    Ok(text)
}

/// Refuses what is kept unscreened if it is anything but the name of a rule.
fn named_rule(rule: &str) -> Result<(), Invalid> {
    let is_name = (1..=MAX_RULE_BYTES).contains(&rule.len())
        && rule
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    if is_name {
        Ok(())
    } else {
        Err(Invalid::new("replaced", "names no rule"))
    }
}

fn link_of(line: &ExportedLink) -> Result<Link, Invalid> {
    let kind = validation::choice("kind", &line.kind, LinkKind::ALL, LinkKind::name)?;
    if kind == LinkKind::DerivedFrom {
        return Err(Invalid::new("kind", "derived_from goes with the record"));
    }
    Ok(Link {
        from: line.from,
        to: line.to,
        kind,
        created_at: line.created_at,
    })
}

fn decision(
    taking: &Taking<'_>,
    wards: &(Ward, Ward),
    line: ExportedResolution,
) -> Result<Resolution, Invalid> {
    let workspace = validation::workspace(Some(&line.workspace))?;
    let way = ReviewWay::named(&line.way)
        .ok_or_else(|| Invalid::new("way", "names no way in which a person decides"))?;
    let ward = ward_of(wards, workspace.is_user());
    let note = match line.note.as_deref().map(str::trim) {
        Some(note) if note.chars().count() > super::super::MAX_NOTE_CHARS => {
            return Err(Invalid::new("note", "is too long"));
        }
        Some(note) if note.contains('\0') => {
            return Err(Invalid::new("note", "may not contain the character U+0000"));
        }
        Some("") | None => None,
        Some(note) => Some(
            ward.note("note", note)
                .map_err(|refused| Invalid::new("note", refused.to_string()))?,
        ),
    };
    Ok(Resolution {
        id: line.id,
        place: taking.caller.place(workspace),
        fact_key: validation::fact_key(&line.fact_key)?,
        winner: line.winner,
        closed: line.closed,
        at: line.at.min(taking.now),
        by: line.by,
        way,
        note,
    })
}

/// Puts what others were derived from before them, else leaves the order as it is. What goes in a circle
/// comes last, and is refused there: its sources are not here.
fn sources_first(items: Vec<Item>) -> Vec<Item> {
    let mut places: HashMap<RecordId, usize> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        if let What::Record(moving) = &item.what {
            places.entry(moving.id).or_insert(at);
        }
    }
    let mut n_missing = vec![0_usize; items.len()];
    let mut derived: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        if let What::Record(moving) = &item.what {
            for source in &moving.screened.draft().derived_from {
                if let Some(source) = places.get(source) {
                    n_missing[at] += 1;
                    derived.entry(*source).or_default().push(at);
                }
            }
        }
    }
    let mut ready: VecDeque<usize> = (0..items.len()).filter(|at| n_missing[*at] == 0).collect();
    let mut order = Vec::with_capacity(items.len());
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for then in derived.get(&at).into_iter().flatten() {
            n_missing[*then] -= 1;
            if n_missing[*then] == 0 {
                ready.push_back(*then);
            }
        }
    }
    let in_a_circle: Vec<usize> = (0..items.len()).filter(|at| n_missing[*at] > 0).collect();
    order.extend(in_a_circle);
    let mut items: Vec<Option<Item>> = items.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|at| items[at].take())
        .collect()
}
