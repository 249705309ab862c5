//! Fixture tools that need input from the client and are called again with it.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequest,
    InputRequests, InputRequiredResult, RequestStateCodec,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

/// The tools.
pub(super) const TOOLS: [&str; 9] = [
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_streaming_elicitation",
];

/// What is asked for in each round, by key.
pub(super) type Rounds = Vec<Vec<(&'static str, Value)>>;

fn elicitation(message: &str, property: &str, kind: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { property: { "type": kind } },
                "required": [property],
            },
        },
    })
}

fn sampling(text: &str, max_tokens: u32) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
            "maxTokens": max_tokens,
        },
    })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// Returns the rounds of a tool; `None` if it is no tool of rounds.
pub(super) fn of_tool(name: &str) -> Option<Rounds> {
    let name_of_user = || {
        (
            "user_name",
            elicitation("What is your name?", "name", "string"),
        )
    };
    let confirm = || ("confirm", elicitation("Please confirm", "ok", "boolean"));
    Some(match name.strip_prefix("test_input_required_result_") {
        Some("elicitation") => vec![vec![name_of_user()]],
        Some("sampling") => vec![vec![(
            "capital_question",
            sampling("What is the capital of France?", 100),
        )]],
        Some("list_roots") => vec![vec![("client_roots", roots())]],
        Some("request_state" | "tampered_state") => vec![vec![confirm()]],
        Some("multiple_inputs") => vec![vec![
            name_of_user(),
            ("greeting", sampling("Generate a greeting", 50)),
            ("client_roots", roots()),
        ]],
        Some("multi_round") => vec![
            vec![(
                "step1",
                elicitation("Step 1: What is your name?", "name", "string"),
            )],
            vec![(
                "step2",
                elicitation("Step 2: What is your favorite color?", "color", "string"),
            )],
        ],
        Some("capabilities") => vec![vec![
            name_of_user(),
            ("greeting", sampling("Generate a greeting", 50)),
        ]],
        _ if name == "test_streaming_elicitation" => vec![vec![confirm()]],
        _ => return None,
    })
}

/// Plays the next round of a call.
pub(super) fn play(
    seals: &RequestStateCodec,
    rounds: &Rounds,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let bound_to = request.name.as_bytes();
    let round: usize = match &request.request_state {
        None => 0,
        Some(state) => seals
            .open_json_with(state, bound_to)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?,
    };
    let asked = rounds
        .get(round)
        .ok_or_else(|| ErrorData::invalid_params("no such round", None))?;
    let responses = request.input_responses.clone().unwrap_or_default();
    let answered = asked
        .iter()
        .all(|(key, _)| responses.get(*key).is_some_and(Value::is_object));
    let next = if answered { round + 1 } else { round };
    let Some(asked) = rounds.get(next) else {
        let said = json!(responses).to_string();
        let said = format!("state-ok {said}");
        return Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into());
    };
    let capable = context.client_capabilities().unwrap_or_default();
    let only_capable = request.name.ends_with("_capabilities");
    let mut requests = InputRequests::new();
    for (key, asked) in asked {
        let request: InputRequest = serde_json::from_value(asked.clone())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        #[allow(deprecated, reason = "the suite still tests what is deprecated")]
        let can = match &request {
            InputRequest::Elicitation(_) => capable.elicitation.is_some(),
            InputRequest::CreateMessage(_) => capable.sampling.is_some(),
            _ => true,
        };
        if can || !only_capable {
            requests.insert((*key).to_owned(), request);
        }
    }
    let options = rmcp::model::SealOptions::new().associated_data(bound_to);
    let state = seals
        .seal_json_with(&next, &options)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
}
