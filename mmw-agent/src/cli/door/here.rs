//! The memory of this computer.

use std::time::Duration;

use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Reviewer};
use mmw_core::wire::{
    EnvelopeArgs, ExplainAnswer, ExplainArgs, ForgetAnswer, ForgetArgs, Hit, RememberAnswer,
    RememberArgs, ResolveAnswer, ResolveArgs, ReviewAnswer, ReviewArgs, SearchAnswer, SearchArgs,
    VersionView, WhyNotAnswer,
};
use mmw_store::{Failure, Memory, RememberError};
use serde::Serialize;

use super::super::Desk;
use super::{Door, Told, Undecided};
use crate::exit::Trouble;

/// How long a command lets records that wait for their vector be embedded.
const PATIENCE: Duration = Duration::from_millis(300);

/// The most conflicts that are listed.
const MAX_CONFLICTS: usize = 100;

/// The memory of this computer, opened when it is first needed. Looking makes no store.
pub(super) struct Here<'d> {
    desk: &'d Desk,
}

impl<'d> Here<'d> {
    pub(super) const fn new(desk: &'d Desk) -> Self {
        Self { desk }
    }

    /// Returns the memory if there is one, and that there is no such thing otherwise.
    fn open_for(&self, what: &'static str) -> Result<(Memory, Caller), Trouble> {
        let opened = self.desk.open_if_any()?;
        opened.ok_or_else(|| Failure::NotFound(what).into())
    }
}

fn told<T: Serialize>(answer: T) -> Told<T> {
    Told {
        json: serde_json::to_value(&answer).unwrap_or_default(),
        answer,
    }
}

impl Door for Here<'_> {
    fn place(&self) -> Result<String, Trouble> {
        Ok(self.desk.local.settled()?.name.clone())
    }

    fn remember(
        &self,
        args: RememberArgs,
        envelope: EnvelopeArgs,
    ) -> Result<Told<RememberAnswer>, Trouble> {
        let (memory, caller) = self.desk.open()?;
        // No JSON on the way: it has no word for what is no number, and that is to be told.
        let confidence = args.confidence;
        let given = (
            RememberArgs {
                confidence: None,
                ..args
            },
            envelope,
        );
        let anchors = self.desk.anchors();
        let (answer, _) = anchors.around("remember", given, self.desk.now, |args, envelope| {
            memory.remember(&caller, RememberArgs { confidence, ..args }, &envelope)
        })?;
        Ok(told(answer))
    }

    fn search(&self, args: SearchArgs) -> Result<Told<SearchAnswer>, Trouble> {
        let Some((memory, caller)) = self.desk.open_if_any()? else {
            return Ok(told(nothing_yet()));
        };
        // A person rather waits for a moment than gets half of an answer. What can't be done, in a
        // folder that is only read say, the search says itself.
        let _ = memory.settle(PATIENCE);
        let _ = memory.warm_up(&caller);
        let given = (args, EnvelopeArgs::default());
        let anchors = self.desk.anchors();
        let (answer, _) = anchors.around("search", given, self.desk.now, |args, _| {
            memory.search(&caller, &args)
        })?;
        Ok(told(answer))
    }

    fn why_not(&self, args: SearchArgs, id: RecordId) -> Result<WhyNotAnswer, Trouble> {
        let (memory, caller) = self.open_for("record")?;
        let _ = memory.settle(PATIENCE);
        let _ = memory.warm_up(&caller);
        Ok(memory.why_not(&caller, &args, id)?)
    }

    fn forget(&self, args: ForgetArgs) -> Result<Told<ForgetAnswer>, Trouble> {
        let (memory, caller) = self.desk.open()?;
        Ok(told(memory.forget(&caller, &args)?))
    }

    fn explain(&self, memory_id: String) -> Result<Told<ExplainAnswer>, Trouble> {
        let (memory, caller) = self.desk.open()?;
        let given = (ExplainArgs { memory_id }, EnvelopeArgs::default());
        let anchors = self.desk.anchors();
        let (answer, _) = anchors.around("explain_memory", given, self.desk.now, |args, _| {
            memory.explain(&caller, &args)
        })?;
        Ok(told(answer))
    }

    fn sourced(&self, workspace: Option<&str>) -> Result<Vec<Hit>, Trouble> {
        match self.desk.open_if_any()? {
            Some((memory, caller)) => Ok(memory.sourced(&caller, workspace)?),
            None => Ok(Vec::new()),
        }
    }

    fn conflicts(&self) -> Result<Vec<(String, String)>, Trouble> {
        match self.desk.open_if_any()? {
            Some((memory, caller)) => Ok(memory.open_conflicts(&caller, MAX_CONFLICTS)?),
            None => Ok(Vec::new()),
        }
    }

    fn versions(&self, workspace: &str, fact_key: &str) -> Result<Vec<VersionView>, Trouble> {
        let (memory, caller) = self.open_for("fact")?;
        Ok(memory.versions(&caller, Some(workspace), fact_key)?)
    }

    fn resolve(&self, args: ResolveArgs) -> Result<ResolveAnswer, Trouble> {
        let (memory, caller) = self.open_for("fact")?;
        Ok(memory.resolve(&caller, Reviewer::at_terminal(), &args)?)
    }

    fn lane(&self, args: ReviewArgs) -> Result<ReviewAnswer, Trouble> {
        match self.desk.open_if_any()? {
            Some((memory, caller)) => Ok(memory.lane(&caller, &args)?),
            None => Ok(ReviewAnswer {
                action: "list".to_owned(),
                items: Vec::new(),
                waiting: 0,
            }),
        }
    }

    fn decide(&self, args: ReviewArgs) -> Result<ReviewAnswer, Undecided> {
        let opened = self.open_for("item");
        let (memory, caller) = opened.map_err(|trouble| Undecided {
            trouble,
            can_be_mended: false,
        })?;
        let decided = memory.decide(&caller, Reviewer::at_terminal(), &args);
        decided.map_err(|error| Undecided {
            can_be_mended: matches!(
                error,
                RememberError::Rejected(_) | RememberError::Common(Failure::Invalid(_))
            ),
            trouble: error.into(),
        })
    }

    fn settle(&self) {
        // What was saved was said; its vector comes before the program ends, or with the next search.
        if let Ok(Some((memory, _))) = self.desk.open_if_any() {
            let _ = memory.settle(PATIENCE);
        }
    }
}

/// Returns the answer of a memory that was never written to.
fn nothing_yet() -> SearchAnswer {
    SearchAnswer {
        hits: Vec::new(),
        total: 0,
        elsewhere: Vec::new(),
        degraded: Vec::new(),
        omitted: 0,
        took_ms: 0.0,
        notice: Some("nothing has been saved on this computer yet".to_owned()),
    }
}
