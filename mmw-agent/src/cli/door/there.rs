//! The memory of a server, through the same relay as a client's.

use mmw_core::ids::RecordId;
use mmw_core::wire::{
    EnvelopeArgs, ExplainAnswer, ExplainArgs, ForgetAnswer, ForgetArgs, Hit, RememberAnswer,
    RememberArgs, ResolveAnswer, ResolveArgs, ReviewAnswer, ReviewArgs, SearchAnswer, SearchArgs,
    SourcedAnswer, SourcedArgs, StatusAnswer, VersionView, VersionsAnswer, VersionsArgs,
    WhyNotAnswer, WhyNotArgs,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Door, Told, Undecided};
use crate::exit::{Exit, Trouble};
use crate::relay::{Refused, Relay};

/// The most waiting writes that are sent before a person's own call; more are left to `sync` or an agent.
const MOST_TO_SEND_FIRST: usize = 50;

/// The memory of a server.
pub(super) struct There {
    relay: Relay,
}

impl There {
    /// Returns it, after what little waits was sent: what was said before belongs to the answer.
    pub(super) fn new(relay: Relay) -> Self {
        relay.send_what_waits(MOST_TO_SEND_FIRST);
        Self { relay }
    }

    fn call<A: Serialize, R: DeserializeOwned>(
        &self,
        tool: &str,
        args: &A,
        envelope: Option<&EnvelopeArgs>,
    ) -> Result<Told<R>, Refused> {
        let envelope = envelope.map(json_of);
        told(self.relay.call(tool, &json_of(args), envelope.as_ref())?)
    }

    fn act<A: Serialize, R: DeserializeOwned>(&self, action: &str, args: &A) -> Result<R, Refused> {
        Ok(told::<R>(self.relay.act(action, &json_of(args))?)?.answer)
    }
}

fn json_of(args: &impl Serialize) -> Value {
    serde_json::to_value(args).unwrap_or_default()
}

fn told<R: DeserializeOwned>(json: Value) -> Result<Told<R>, Refused> {
    let answer = R::deserialize(&json).map_err(|_| Refused {
        code: "unreadable".to_owned(),
        message: "the memory server's answer can't be read by this version of mmw-agent".to_owned(),
    })?;
    Ok(Told { answer, json })
}

/// Says what a server that is not there means for a question: not that there is nothing.
fn could_not_look(refused: Refused) -> Trouble {
    let is_away = refused.code == "unreachable";
    let trouble = Trouble::from(refused);
    if !is_away {
        return trouble;
    }
    Trouble {
        message: format!(
            "{}; nothing could be looked up, which does not mean that nothing is remembered",
            trouble.message
        ),
        ..trouble
    }
}

impl Door for There {
    fn place(&self) -> Result<String, Trouble> {
        Ok(self.relay.endpoint().to_string())
    }

    fn remember(
        &self,
        args: RememberArgs,
        envelope: EnvelopeArgs,
    ) -> Result<Told<RememberAnswer>, Trouble> {
        // JSON has no word for what is no number, and leaving it out would save what was not said.
        if args.confidence.is_some_and(|sure| !sure.is_finite()) {
            return Err(Trouble::usage("confidence: must be a number from 0 to 1"));
        }
        Ok(self.call("remember", &args, Some(&envelope))?)
    }

    fn search(&self, args: SearchArgs) -> Result<Told<SearchAnswer>, Trouble> {
        self.call("search", &args, None).map_err(could_not_look)
    }

    fn why_not(&self, search: SearchArgs, id: RecordId) -> Result<WhyNotAnswer, Trouble> {
        let memory_id = id.to_string();
        let asked = WhyNotArgs { memory_id, search };
        self.act("why_not", &asked).map_err(could_not_look)
    }

    fn forget(&self, args: ForgetArgs) -> Result<Told<ForgetAnswer>, Trouble> {
        Ok(self.call("forget", &args, Some(&EnvelopeArgs::default()))?)
    }

    fn explain(&self, memory_id: String) -> Result<Told<ExplainAnswer>, Trouble> {
        let args = ExplainArgs { memory_id };
        self.call("explain_memory", &args, None)
            .map_err(could_not_look)
    }

    fn sourced(&self, workspace: Option<&str>) -> Result<Vec<Hit>, Trouble> {
        let mut args = SourcedArgs {
            workspace: workspace.map(str::to_owned),
            ..SourcedArgs::default()
        };
        let mut hits = Vec::new();
        loop {
            let page: SourcedAnswer = self.act("list_sourced", &args).map_err(could_not_look)?;
            hits.extend(page.hits);
            if page.next.is_none() {
                return Ok(hits);
            }
            if page.next == args.after {
                // Half of a list would look like a clean report.
                return Err(Trouble::new(
                    Exit::Store,
                    "the memory server's list does not end",
                ));
            }
            args.after = page.next;
        }
    }

    fn conflicts(&self) -> Result<Vec<(String, String)>, Trouble> {
        let status: StatusAnswer = self
            .act("memory_status", &json!({}))
            .map_err(could_not_look)?;
        let conflicts = status.conflicts.into_iter();
        Ok(conflicts
            .map(|contested| (contested.workspace, contested.fact_key))
            .collect())
    }

    fn versions(&self, workspace: &str, fact_key: &str) -> Result<Vec<VersionView>, Trouble> {
        let args = VersionsArgs {
            fact_key: fact_key.to_owned(),
            workspace: Some(workspace.to_owned()),
        };
        let answer: VersionsAnswer = self.act("fact_versions", &args).map_err(could_not_look)?;
        Ok(answer.versions)
    }

    fn resolve(&self, args: ResolveArgs) -> Result<ResolveAnswer, Trouble> {
        Ok(self.call("resolve_conflict", &args, None)?.answer)
    }

    fn lane(&self, args: ReviewArgs) -> Result<ReviewAnswer, Trouble> {
        let listed: Result<Told<ReviewAnswer>, _> = self.call("review_candidates", &args, None);
        Ok(listed.map_err(could_not_look)?.answer)
    }

    fn decide(&self, args: ReviewArgs) -> Result<ReviewAnswer, Undecided> {
        let decided: Result<Told<ReviewAnswer>, _> = self.call("review_candidates", &args, None);
        match decided {
            Ok(told) => Ok(told.answer),
            Err(refused) => Err(Undecided {
                can_be_mended: ["rejected_by_guard", "invalid_argument"]
                    .contains(&refused.code.as_str()),
                trouble: refused.into(),
            }),
        }
    }

    fn settle(&self) {
        // An answer told that the server is there: what waits for it can go.
        if self.relay.trouble().is_none() {
            self.relay.send_what_waits(MOST_TO_SEND_FIRST);
        }
    }
}
