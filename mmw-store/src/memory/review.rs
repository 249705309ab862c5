//! The review lane: what waits in front of memory, and a person's decisions on it.

use mmw_core::audit::Deed;
use mmw_core::capture::{
    Decision, Finding, LaneItem, LaneKind, LaneState, NotAdmitted, Proposal, admit,
};
use mmw_core::draft::{Draft, Screened};
use mmw_core::ids::{CandidateId, RecordId};
use mmw_core::place::{Caller, Reviewer, Scope, Way};
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use mmw_core::wire::{LaneItemView, ReviewAnswer, ReviewArgs};
use mmw_guard::Verdict;

use super::Memory;
use super::failure::{Failure, RememberError};
use super::remember::{Kept, entry, save, without_key};
use super::second_look::SecondLook;
use super::ward::Ward;
use crate::engine::{EngineResult, LaneFilter, Snapshot, Txn, read, write};

/// How many items a list shows if the caller does not say.
const DEFAULT_LISTED: i64 = 20;
/// The most items of one list or decision.
const MAX_LANE_ITEMS: usize = 50;

/// What a person does with items of the lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    List,
    Approve,
    Edit,
    Reject,
    Never,
    Release,
}

impl Action {
    const ALL: [Self; 6] = [
        Self::List,
        Self::Approve,
        Self::Edit,
        Self::Reject,
        Self::Never,
        Self::Release,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Approve => "approve",
            Self::Edit => "edit",
            Self::Reject => "reject",
            Self::Never => "never",
            Self::Release => "release",
        }
    }

    fn read(args: &ReviewArgs) -> Result<Self, Invalid> {
        args.action.as_deref().map_or(Ok(Self::List), |name| {
            validation::choice("action", name, &Self::ALL, Self::name)
        })
    }
}

impl Memory {
    /// Lists what waits in the lane, oldest first (`action` `list`, the default).
    ///
    /// A key over the network needs the scope `review`: what waits has not been let into memory.
    ///
    /// # Errors
    /// [`Failure`]; `Invalid` for another action, which [`Memory::decide`] takes.
    pub fn lane(&self, caller: &Caller, args: &ReviewArgs) -> Result<ReviewAnswer, Failure> {
        self.need(caller, Scope::Read)?;
        let is_local = matches!(caller.way, Way::Stdio | Way::Command | Way::Library);
        if !is_local && !caller.scopes.has(Scope::Review) {
            return Err(Failure::Forbidden(Scope::Review));
        }
        if Action::read(args)? != Action::List {
            return Err(Invalid::new("action", "is a decision; only a person can take it").into());
        }
        let now = self.clock.now();
        let limit = args.limit.unwrap_or(DEFAULT_LISTED);
        let limit = usize::try_from(limit)
            .ok()
            .filter(|limit| (1..=MAX_LANE_ITEMS).contains(limit))
            .ok_or_else(|| Invalid::new("limit", format!("must be 1 to {MAX_LANE_ITEMS}")))?;
        let filter = LaneFilter {
            kind: args
                .kind
                .as_deref()
                .map(|kind| validation::choice("kind", kind, LaneKind::ALL, LaneKind::name))
                .transpose()?,
            workspace: args
                .workspace
                .as_deref()
                .map(|workspace| validation::workspace(Some(workspace)))
                .transpose()?,
            waiting_at: Some(now),
        };
        let projects = caller.visible_projects();
        let answer = read(self.engine(), |snapshot| {
            let mut look = SecondLook::new(self, now);
            let mut items = Vec::new();
            for item in snapshot.lane_items(&projects, &filter, limit)? {
                items.push(shown(look.ward(snapshot, item.project)?, &item, now));
            }
            Ok(ReviewAnswer {
                action: Action::List.name().to_owned(),
                items,
                waiting: n_waiting(snapshot, caller, now)?,
            })
        })?;
        Ok(answer)
    }

    /// Decides on items of the lane: all of them or, on the first trouble, none.
    ///
    /// `approve` makes candidates memory as they are, `edit` with other words, `release` a
    /// quarantined write against the guard's advice and with a note. `reject` and `never` turn down;
    /// the text is erased, its fingerprint stays, so that it is not proposed again.
    ///
    /// # Errors
    /// [`RememberError`]; nothing was decided then.
    pub fn decide(
        &self,
        caller: &Caller,
        reviewer: Reviewer,
        args: &ReviewArgs,
    ) -> Result<ReviewAnswer, RememberError> {
        self.need(caller, Scope::Read)?;
        let action = Action::read(args)?;
        let ids = ids(args)?;
        let note = self.clean_note(caller, "note", args.note.as_deref())?;
        if action == Action::Release && note.is_none() {
            let why = "is needed to release what the guard held back: say why it is safe";
            return Err(Invalid::new("note", why).into());
        }
        let content = match (action, &args.content) {
            (Action::Edit, Some(content)) if ids.len() == 1 => Some(validation::content(content)?),
            (Action::Edit, Some(_)) => {
                return Err(Invalid::new("ids", "must name one item to edit").into());
            }
            (Action::Edit, None) => {
                return Err(Invalid::new("content", "is needed to edit: the text to save").into());
            }
            (_, Some(_)) => {
                return Err(Invalid::new("content", "goes with the action edit").into());
            }
            (_, None) => None,
        };
        let now = self.clock.now();
        let ids: Vec<(CandidateId, RecordId)> = ids
            .into_iter()
            .map(|id| (id, RecordId::from_parts(now, self.entropy.id_bytes())))
            .collect();
        let order = Order {
            action,
            content: content.as_deref(),
            note: note.as_deref(),
            reviewer,
            now,
        };
        // A refusal inside must undo the items before it: it travels as a rolled-back transaction.
        let mut refused = None;
        let ended = self.engine().write(&mut |txn| {
            refused = None;
            for (id, record_id) in &ids {
                if let Err(refusal) = self.decide_one(txn, caller, *id, *record_id, &order)? {
                    refused = Some(refusal);
                    return Err(crate::engine::EngineError::RolledBack);
                }
            }
            Ok(())
        });
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        ended?;
        self.meaning.wake();
        let answer = read(self.engine(), |snapshot| {
            let mut items = Vec::with_capacity(ids.len());
            for (id, _) in &ids {
                if let Some(item) = snapshot.lane_item(*id)? {
                    let ward = self.ward(snapshot, item.project, now)?;
                    items.push(shown(&ward, &item, now));
                }
            }
            Ok(ReviewAnswer {
                action: action.name().to_owned(),
                items,
                waiting: n_waiting(snapshot, caller, now)?,
            })
        })?;
        Ok(answer)
    }

    /// Puts a proposal into the lane. Returns `None` if it does not enter: it is not durable, was
    /// turned down before, or the guard found an instruction in it. A proposal that is waiting
    /// already gets the evidence added.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn propose(
        &self,
        caller: &Caller,
        proposal: &Proposal,
    ) -> Result<Option<CandidateId>, Failure> {
        self.need(caller, Scope::Capture)?;
        let now = self.clock.now();
        let project = caller.place(proposal.draft.workspace.clone()).project;
        let ward = read(self.engine(), |snapshot| self.ward(snapshot, project, now))?;
        let Verdict::Allow(screened) = ward.screen(proposal.draft.clone()) else {
            return Ok(None);
        };
        let item = LaneItem {
            id: CandidateId::from_parts(now, self.entropy.id_bytes()),
            project: caller.place(screened.draft().workspace.clone()).project,
            author: caller.principal,
            proposal: Proposal {
                draft: without_key(screened.draft()),
                replaced: screened.replaced().to_vec(),
                ..proposal.clone()
            },
            state: LaneState::Waiting,
            created_at: now,
            decision: None,
        };
        let id = write(self.engine(), |txn| {
            let same = txn.lane_same(item.project, item.digest())?;
            match (admit(&item.proposal, same.as_ref(), now), same) {
                (Ok(()), _) => {
                    txn.insert_lane_item(&item)?;
                    Ok(Some(item.id))
                }
                (Err(NotAdmitted::WaitingAlready), Some(same)) => {
                    txn.add_lane_evidence(same.id, &item.proposal.evidence)?;
                    Ok(Some(same.id))
                }
                (Err(_), _) => Ok(None),
            }
        })?;
        Ok(id)
    }

    fn decide_one(
        &self,
        txn: &mut dyn Txn,
        caller: &Caller,
        id: CandidateId,
        record_id: RecordId,
        order: &Order<'_>,
    ) -> EngineResult<Result<(), RememberError>> {
        let seen = txn.lane_item(id)?.filter(|item| caller.sees(item.project));
        let Some(item) = seen else {
            return Ok(Err(Failure::NotFound("waiting item").into()));
        };
        if !item.waits_at(order.now) {
            let why = format!("{} no longer waits for a decision", item.id.shown());
            return Ok(Err(Invalid::new("ids", why).into()));
        }
        let (state, deed, record) = match order.action {
            Action::List => {
                return Ok(Err(Invalid::new("action", "must be a decision").into()));
            }
            Action::Reject => (LaneState::Rejected, Deed::TurnDown, None),
            Action::Never => (LaneState::Never, Deed::TurnDown, None),
            Action::Approve | Action::Edit | Action::Release => {
                match self.promote(txn, caller, &item, record_id, order)? {
                    Ok(record) => (LaneState::Promoted, Deed::Promote, Some(record)),
                    Err(refusal) => return Ok(Err(refusal)),
                }
            }
        };
        let decision = Decision {
            by: caller.principal,
            way: order.reviewer.way(),
            at: order.now,
            note: order.note.map(str::to_owned),
            record,
        };
        // A promoted text lives on in its record, and is forgotten with it.
        txn.decide_lane_item(id, state, &decision, true)?;
        let mut ids = vec![id.shown()];
        ids.extend(record.as_ref().map(ToString::to_string));
        let why = match order.note {
            Some(note) => format!(
                "{} by {}: {note}",
                order.action.name(),
                order.reviewer.way().name()
            ),
            None => format!("{} by {}", order.action.name(), order.reviewer.way().name()),
        };
        txn.append_audit(&entry(caller, deed, ids, Some(&why), order.now))?;
        Ok(Ok(()))
    }

    fn promote(
        &self,
        txn: &mut dyn Txn,
        caller: &Caller,
        item: &LaneItem,
        record_id: RecordId,
        order: &Order<'_>,
    ) -> EngineResult<Result<RecordId, RememberError>> {
        let ward = self.ward(txn.snapshot(), item.project, order.now)?;
        let screened = match screen_promotion(&ward, item, order) {
            Ok(screened) => screened,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let kept = Kept {
            approval: Some(item.id),
            screened_with: ward.revision(),
        };
        // It stays the statement of whoever made it; the reviewer is in the approval.
        let author = Caller {
            principal: item.author,
            project: caller.project,
            ..caller.clone()
        };
        let saved = save(txn, &author, &screened, record_id, order.now, kept)?;
        Ok(saved.map(|outcome| outcome.record_id().unwrap_or(record_id)))
    }
}

/// Screens once more what is about to become memory.
fn screen_promotion(
    ward: &Ward,
    item: &LaneItem,
    order: &Order<'_>,
) -> Result<Screened, RememberError> {
    let mut draft: Draft = item.proposal.draft.clone();
    draft.envelope.idempotency_key = None;
    draft.envelope.proposed_id = None;
    if let Some(content) = order.content {
        content.clone_into(&mut draft.content);
    }
    let is_quarantined = item.proposal.kind == LaneKind::Quarantined;
    match (order.action, is_quarantined) {
        (Action::Approve, true) => {
            let why = format!(
                "{} was held back by the guard: release it with a note, or edit it",
                item.id.shown()
            );
            return Err(Invalid::new("action", why).into());
        }
        (Action::Release, false) => {
            let why = format!(
                "{} was not held back by the guard: approve it",
                item.id.shown()
            );
            return Err(Invalid::new("action", why).into());
        }
        _ => {}
    }
    match ward.screen(draft) {
        Verdict::Allow(screened) => Ok(screened),
        Verdict::Quarantine(screened, _) if order.action == Action::Release => Ok(screened),
        Verdict::Quarantine(_, Finding { rule, reason }) => {
            let why = format!("is still held back by the guard ({rule}: {reason})");
            Err(Invalid::new("content", why).into())
        }
        Verdict::Reject(rejection) => Err(rejection.into()),
    }
}

struct Order<'a> {
    action: Action,
    content: Option<&'a str>,
    note: Option<&'a str>,
    reviewer: Reviewer,
    now: Timestamp,
}

fn ids(args: &ReviewArgs) -> Result<Vec<CandidateId>, Invalid> {
    if args.ids.is_empty() {
        return Err(Invalid::new("ids", "must name the items to decide on"));
    }
    if args.ids.len() > MAX_LANE_ITEMS {
        return Err(Invalid::new(
            "ids",
            format!("names more than {MAX_LANE_ITEMS} items"),
        ));
    }
    let mut ids = Vec::with_capacity(args.ids.len());
    for (nth, text) in args.ids.iter().enumerate() {
        let id = CandidateId::parse_shown(text)
            .map_err(|e| Invalid::new(format!("ids[{nth}]"), format!("{e}")))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Returns how many items wait that the caller could decide on.
pub(super) fn n_waiting(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    now: Timestamp,
) -> EngineResult<u32> {
    let filter = LaneFilter {
        waiting_at: Some(now),
        ..LaneFilter::default()
    };
    let waiting = snapshot.n_lane_items(&caller.visible_projects(), &filter)?;
    Ok(u32::try_from(waiting).unwrap_or(u32::MAX))
}

/// Returns an item as it may be shown: what waits passed the rules of its day.
fn shown(ward: &Ward, item: &LaneItem, now: Timestamp) -> LaneItemView {
    let mut shown = view(item, now);
    let clean = |text: &mut String| *text = ward.redact(text).0;
    clean(&mut shown.content);
    clean(&mut shown.workspace);
    let texts = [
        &mut shown.fact_key,
        &mut shown.why_durable,
        &mut shown.reason,
        &mut shown.source_id,
    ];
    for text in texts.into_iter().flatten() {
        clean(text);
    }
    shown.evidence.iter_mut().for_each(clean);
    shown
}

fn view(item: &LaneItem, now: Timestamp) -> LaneItemView {
    let Proposal {
        kind,
        draft,
        replaced: _,
        classification,
        why_durable,
        evidence,
        finding,
    } = &item.proposal;
    let state = if item.state == LaneState::Waiting && !item.waits_at(now) {
        "expired"
    } else {
        item.state.name()
    };
    LaneItemView {
        candidate_id: item.id.shown(),
        kind: kind.name().to_owned(),
        state: state.to_owned(),
        content: draft.content.clone(),
        workspace: draft.workspace.to_string(),
        fact_key: draft.fact_key.as_ref().map(ToString::to_string),
        classification: classification.name().to_owned(),
        why_durable: why_durable.clone(),
        rule: finding.as_ref().map(|finding| finding.rule.clone()),
        reason: finding.as_ref().map(|finding| finding.reason.clone()),
        evidence: evidence.clone(),
        source_id: draft.origin.id.as_ref().map(ToString::to_string),
        created_at: item.created_at,
        expires_at: item.expires_at(),
        record: item.decision.as_ref().and_then(|decision| decision.record),
    }
}
