//! The list of actions behind MCP and REST: one file per tool.
//!
//! An action is its name, its words, its hints, the scope that it needs, the schemas of what it
//! takes and answers, the call, and the short text that a model reads. Both protocols are served
//! from this list and nothing else, so they can't differ. A few actions are for programs only: REST has
//! them, no list of tools does.

mod arguments;
pub mod explain_memory;
mod fact_versions;
mod forget;
mod list_sourced;
pub mod memory_status;
pub mod reading;
mod remember;
mod resolve_conflict;
mod review_candidates;
mod schema;
pub mod search;
pub mod text;
mod validate_memory;
mod why_not;

use std::sync::Arc;

use mmw_core::place::{Caller, Reviewer, Scope, Scopes, Way};
use mmw_core::time::Timestamp;
use mmw_core::wire::EnvelopeArgs;
use mmw_store::Memory;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use self::arguments::Arguments;
use crate::fault::{Code, Fault};
use crate::lane::Errand;

/// A JSON object.
pub type Object = Map<String, Value>;

/// What a client may assume about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: bool,
    /// It may take something away.
    pub destructive: bool,
    /// Doing it twice is doing it once.
    pub idempotent: bool,
}

impl Hints {
    const READ: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    const WRITE: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: false,
    };
}

/// The words and rights of an action.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The tool's name, and the last part of its REST address.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it does. Every word costs tokens in every session.
    pub description: &'static str,
    /// What a client may assume.
    pub hints: Hints,
    /// What the key needs.
    pub scope: Scope,
    /// Whether it takes what an agent adds to a write.
    pub takes_envelope: bool,
    /// What sort of work it is for the lane.
    pub errand: Errand,
}

/// Who asks, and everything that the arguments do not say.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Who asks.
    pub caller: Caller,
    /// What the agent adds to a write.
    pub envelope: EnvelopeArgs,
    /// The proof that a person decides, if there is one.
    pub reviewer: Option<Reviewer>,
    /// The present moment, for the ages in texts.
    pub now: Timestamp,
    /// Whoever asks compares files itself, and takes out of the answer what that takes.
    pub compares: bool,
}

/// What an action answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// For programs, after the output schema.
    pub structured: Value,
    /// For a model.
    pub text: String,
}

/// What a person is asked before an action that only a person may decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, with everything that is decided on.
    pub message: String,
    /// What the person may fill in: properties named as the arguments that they replace.
    pub properties: Object,
    /// What is decided on, as ids: if it has changed by the time of the answer, the answer is to
    /// another question.
    pub about: Vec<String>,
}

type Call = dyn Fn(&Memory, &Asked, &Object) -> Result<Answer, Fault> + Send + Sync;
type Ask = dyn Fn(&Memory, &Asked, &Object) -> Result<Option<Question>, Fault> + Send + Sync;

/// One action.
pub struct Action {
    /// Its words and rights.
    pub facts: Facts,
    /// The schema of its arguments, as short as it can be.
    pub input: Arc<Object>,
    /// The schema of its answer, without descriptions.
    pub output: Arc<Object>,
    /// The schema of its answer, with descriptions.
    pub output_in_words: Arc<Object>,
    arguments: Arguments,
    call: Box<Call>,
    ask: Option<Box<Ask>>,
    is_tool: bool,
}

impl Action {
    /// Returns an action.
    fn new<A, R>(
        facts: Facts,
        call: fn(&Memory, &Asked, A) -> Result<R, Fault>,
        text: fn(&R, &Asked) -> String,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: Serialize + JsonSchema + 'static,
    {
        let input = schema::of_arguments::<A>();
        Self {
            facts,
            arguments: Arguments::of(&input),
            input: Arc::new(input),
            output: Arc::new(schema::of_answer::<R>(false)),
            output_in_words: Arc::new(schema::of_answer::<R>(true)),
            call: Box::new(move |memory, asked, object| {
                let answer = call(memory, asked, arguments::read(object)?)?;
                let text = text(&answer, asked);
                let structured = serde_json::to_value(answer).map_err(|error| {
                    tracing::error!(%error, "an answer is no JSON");
                    Fault::internal()
                })?;
                Ok(Answer { structured, text })
            }),
            ask: None,
            is_tool: true,
        }
    }

    /// Leaves the action out of the lists of tools: programs ask it over REST.
    fn for_programs(mut self) -> Self {
        self.is_tool = false;
        self
    }

    /// Tells whether it is a tool over MCP. All actions are in REST.
    #[must_use]
    pub const fn is_tool(&self) -> bool {
        self.is_tool
    }

    /// Lets a person decide who has no key with the scope: by a question over stdio.
    fn asking<A: DeserializeOwned + 'static>(
        mut self,
        ask: fn(&Memory, &Asked, &A) -> Result<Option<Question>, Fault>,
    ) -> Self {
        self.ask = Some(Box::new(move |memory, asked, object| {
            ask(memory, asked, &arguments::read(object)?)
        }));
        self
    }

    /// Tells whether a person may be asked for what the key lacks.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.ask.is_some()
    }

    /// Tells whether a caller with these scopes is shown the action. A person can be asked only
    /// where `asks` is set: over stdio, by a client that declared it.
    #[must_use]
    pub fn is_shown(&self, scopes: Scopes, asks: bool) -> bool {
        self.is_tool && (scopes.has(self.facts.scope) || (self.can_ask() && asks))
    }

    /// Checks arguments against the schema: unknown ones, missing ones, types, choices, bounds.
    /// Those that are `null` are taken as left out.
    ///
    /// # Errors
    /// The first argument that can't be accepted, with what would be right.
    pub fn check(&self, arguments: Object) -> Result<Object, Fault> {
        self.arguments.check(arguments)
    }

    /// Checks that the caller may do it. What a person must decide passes over stdio, for the
    /// question to be asked.
    ///
    /// # Errors
    /// `forbidden`.
    pub fn permit(&self, caller: &Caller) -> Result<(), Fault> {
        let scope = self.facts.scope;
        if caller.scopes.has(scope) || (self.can_ask() && caller.way == Way::Stdio) {
            return Ok(());
        }
        let fault = Fault::new(
            Code::Forbidden,
            format!("this key lacks the scope `{}`", scope.name()),
        );
        Err(if self.can_ask() {
            fault.hint("A person decides this: with a key that has the scope, or at a terminal with `mmw-agent`.")
        } else {
            fault
        })
    }

    /// Runs the action on checked arguments.
    ///
    /// # Errors
    /// Whatever it runs into.
    pub fn call(
        &self,
        memory: &Memory,
        asked: &Asked,
        arguments: &Object,
    ) -> Result<Answer, Fault> {
        (self.call)(memory, asked, arguments)
    }

    /// Returns the question that a person must answer first; none if nobody has to be asked.
    ///
    /// # Errors
    /// Whatever looking it up runs into.
    pub fn question(
        &self,
        memory: &Memory,
        asked: &Asked,
        arguments: &Object,
    ) -> Result<Option<Question>, Fault> {
        self.ask
            .as_ref()
            .map_or(Ok(None), |ask| ask(memory, asked, arguments))
    }
}

/// Returns the plain schema of a wire type.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Object {
    schema::of_answer::<T>(true)
}

/// All actions, by name.
#[derive(Clone)]
pub struct Registry {
    actions: Arc<[Action]>,
}

impl Registry {
    /// Returns the actions of a server.
    #[must_use]
    pub fn standard() -> Self {
        let mut actions = vec![
            explain_memory::action(),
            fact_versions::action(),
            forget::action(),
            list_sourced::action(),
            memory_status::action(),
            remember::action(),
            resolve_conflict::action(),
            review_candidates::action(),
            search::action(),
            validate_memory::action(),
            why_not::action(),
        ];
        actions.sort_by_key(|action| action.facts.name);
        Self {
            actions: actions.into(),
        }
    }

    /// Returns the action of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Action> {
        self.actions
            .binary_search_by_key(&name, |action| action.facts.name)
            .ok()
            .map(|nth| &self.actions[nth])
    }

    /// Returns all actions in the order of their names.
    pub fn iter(&self) -> std::slice::Iter<'_, Action> {
        self.actions.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_and_everything_is_found_by_name() {
        let registry = Registry::standard();
        let names: Vec<_> = registry.iter().map(|action| action.facts.name).collect();
        assert_eq!(
            names,
            [
                "explain_memory",
                "fact_versions",
                "forget",
                "list_sourced",
                "memory_status",
                "remember",
                "resolve_conflict",
                "review_candidates",
                "search",
                "validate_memory",
                "why_not"
            ]
        );
        for name in names {
            assert_eq!(registry.get(name).unwrap().facts.name, name);
        }
        assert!(registry.get("memory").is_none());
    }

    #[test]
    fn what_is_for_programs_is_in_no_list_of_tools() {
        let all = Scopes::of(&Scope::ALL);
        let hidden: Vec<&str> = Registry::standard()
            .iter()
            .filter(|action| !action.is_shown(all, true))
            .map(|action| action.facts.name)
            .collect();
        assert_eq!(
            hidden,
            ["fact_versions", "list_sourced", "memory_status", "why_not"]
        );
    }

    #[test]
    fn names_leave_room_for_a_plugin_s_prefix() {
        for action in Registry::standard().iter() {
            assert!(action.facts.name.len() <= 32, "{}", action.facts.name);
        }
    }

    #[test]
    fn the_agent_s_list_costs_a_client_under_2000_tokens() {
        let registry = Registry::standard();
        let list: Vec<Value> = registry
            .iter()
            .filter(|action| action.is_shown(Scopes::agent(), false))
            .map(|action| {
                serde_json::json!({
                    "name": action.facts.name,
                    "description": action.facts.description,
                    "input_schema": &*action.input,
                })
            })
            .collect();
        let n_chars = serde_json::to_string(&list).unwrap().chars().count();
        assert!(n_chars * 10 / 25 < 2000, "{n_chars} characters");
    }

    #[test]
    fn what_only_a_person_decides_is_shown_only_where_one_can_be_asked() {
        let registry = Registry::standard();
        for name in ["resolve_conflict", "review_candidates"] {
            let action = registry.get(name).unwrap();
            assert!(!action.is_shown(Scopes::agent(), false));
            assert!(action.is_shown(Scopes::agent(), true));
            assert!(action.is_shown(Scopes::of(&[Scope::Review]), false));
        }
        assert!(
            !registry
                .get("forget")
                .unwrap()
                .is_shown(Scopes::of(&[Scope::Read]), true)
        );
    }
}
