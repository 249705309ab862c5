//! Asks the person, over stdio, before what only a person may decide.
//!
//! A client of 2025 is sent an elicitation and answers it; one of 2026-07-28 is told that input is
//! required and calls again with the answer and a sealed state, which only the same caller's same
//! call can use, for a quarter of an hour. Over HTTP nobody is asked: a bearer key proves no person.

use std::time::Duration;

use mmw_core::env::Entropy;
use mmw_core::place::Reviewer;
use mmw_core::record::MAX_LABEL_CHARS;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, RequestStateCodec,
    SealOptions,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::{Mcp, is_modern};
use crate::actions::Question;
use crate::desk::{Access, Order};
use crate::fault::{Code, Fault};

/// How long a person may think.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// The name of the one request for input.
const DECISION: &str = "decision";

/// What comes of asking.
pub(super) enum Decided {
    /// The call goes on; with a proof if a person had to agree.
    Go(Order),
    /// The client is to ask and call again.
    Ask(InputRequiredResult),
}

/// Seals the state of questions, with a key of this process.
pub(super) struct Seals(RequestStateCodec);

impl Seals {
    /// Returns seals with a new key.
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        entropy.fill(&mut key);
        Self(RequestStateCodec::try_new(key).expect("the key has the length that it must have"))
    }
}

/// Tells whether the client declared that it can ask its person with a form.
pub(super) fn can_be_asked(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // Before modes were told apart, an empty capability meant forms.
        .is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns a client's name as a label, if it can be one.
pub(super) fn short_label(name: &str) -> Option<String> {
    let plain: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_LABEL_CHARS)
        .collect();
    let plain = plain.trim();
    (!plain.is_empty()).then(|| plain.to_owned())
}

impl Mcp {
    /// Has a person decide on a call, if one must.
    pub(super) async fn ask(
        &self,
        name: &str,
        access: &Access,
        order: Order,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Decided, Fault> {
        let Some(question) = self.desk.question(name, access, order.clone()).await? else {
            return Ok(Decided::Go(order));
        };
        if !can_be_asked(context) {
            return Err(Fault::new(
                Code::Forbidden,
                "only a person decides this, and this client can't ask one",
            )
            .hint("They can decide at a terminal: `mmw-agent resolve`, `mmw-agent review`."));
        }
        let given = if is_modern(context) {
            let bound_to = binding(name, access, &order)?;
            match self.answer_given(&question, request, &bound_to)? {
                Some(given) => given,
                None => return self.input_required(&question, &bound_to).map(Decided::Ask),
            }
        } else {
            let given = context
                .peer
                .create_elicitation_with_timeout(form(&question)?, Some(PATIENCE))
                .await
                .map_err(|error| {
                    tracing::warn!(%error, "the person could not be asked");
                    Fault::new(Code::Declined, "the person could not be asked")
                })?;
            // While they were thinking, the thing itself may have changed.
            let now = self.desk.question(name, access, order.clone()).await?;
            if now.map(|now| now.about) != Some(question.about.clone()) {
                return Err(Fault::new(
                    Code::Declined,
                    "what was asked about has changed in the meantime; nothing was done",
                )
                .hint("Look again and ask again."));
            }
            given
        };
        agreed(order, &question, given).map(Decided::Go)
    }

    fn input_required(
        &self,
        question: &Question,
        bound_to: &[u8],
    ) -> Result<InputRequiredResult, Fault> {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(question)?));
        let state = self
            .seals
            .0
            .seal_json_with(
                &question.about,
                &SealOptions::new().associated_data(bound_to).ttl(PATIENCE),
            )
            .map_err(|_| Fault::internal())?;
        Ok(InputRequiredResult::new(
            Some(InputRequests::from([(DECISION.to_owned(), request)])),
            Some(state),
        ))
    }

    /// Returns the answer that came with a repeated call; `None` if the person has still to be
    /// asked, or what they were asked about has changed.
    fn answer_given(
        &self,
        question: &Question,
        request: &CallToolRequestParams,
        bound_to: &[u8],
    ) -> Result<Option<ElicitResult>, Fault> {
        let Some(state) = &request.request_state else {
            return Ok(None);
        };
        let about: Vec<String> = self
            .seals
            .0
            .open_json_with(state, bound_to)
            .map_err(|error| Fault::argument("requestState", error.to_string()))?;
        if about != question.about {
            return Ok(None);
        }
        Ok(request
            .input_responses
            .as_ref()
            .and_then(|responses| responses.get(DECISION))
            .and_then(|response| serde_json::from_value(response.clone()).ok()))
    }
}

/// Returns what a sealed state is bound to: the caller, the tool, the very arguments.
fn binding(name: &str, access: &Access, order: &Order) -> Result<Vec<u8>, Fault> {
    let caller = &access.caller;
    serde_json::to_vec(&(
        name,
        caller.account,
        caller.project,
        caller.principal,
        &order.arguments,
    ))
    .map_err(|_| Fault::internal())
}

fn form(question: &Question) -> Result<ElicitRequestParams, Fault> {
    let schema = json!({ "type": "object", "properties": question.properties });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).map_err(|error| {
        tracing::error!(%error, "a question is no form");
        Fault::internal()
    })?;
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message.clone(),
        requested_schema,
    })
}

/// Returns the order with the person's proof and what they filled in, if they agreed.
fn agreed(mut order: Order, question: &Question, given: ElicitResult) -> Result<Order, Fault> {
    match given.action {
        ElicitationAction::Accept => {}
        _ => {
            return Err(Fault::new(
                Code::Declined,
                "the person did not agree; nothing was done",
            ));
        }
    }
    if let Some(Value::Object(filled)) = given.content {
        for (name, value) in filled {
            let is_filled = value.as_str().is_some_and(|text| !text.trim().is_empty());
            if is_filled && question.properties.contains_key(&name) {
                order.arguments.insert(name, value);
            }
        }
    }
    order.reviewer = Some(Reviewer::by_elicitation());
    Ok(order)
}
