//! Fixture prompts.

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequests,
    InputRequiredResult, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
};
use serde_json::{Value, json};

const NEEDS_INPUT: &str = "test_input_required_result_prompt";

pub(super) fn all() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments = arguments
            .iter()
            .map(|name| PromptArgument::new(*name).with_required(true))
            .collect();
        Prompt::new(
            name,
            Some("A fixture of the conformance suite."),
            Some(arguments),
        )
    };
    vec![
        prompt(NEEDS_INPUT, &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_simple_prompt", &[]),
    ]
}

pub(super) fn get(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        let value = arguments.and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let said = |text: &str| PromptMessage::new_text(Role::User, text);
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![said(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => {
            let contents = ResourceContents::text(
                "Embedded resource content for testing.",
                argument("resourceUri"),
            )
            .with_mime_type("text/plain");
            vec![
                PromptMessage::new(Role::User, ContentBlock::resource(contents)),
                said("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![
            PromptMessage::new(Role::User, ContentBlock::image(super::PNG, "image/png")),
            said("Please analyze the image above."),
        ],
        NEEDS_INPUT => {
            let responses = request.input_responses.as_ref();
            let given = responses.and_then(|responses| responses.get("user_context"));
            let Some(given) = given else {
                return input_required().map(Into::into);
            };
            vec![said(&format!("Context: {}", given["content"]["context"]))]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages).into())
}

fn input_required() -> Option<InputRequiredResult> {
    let request = serde_json::from_value(json!({
        "method": "elicitation/create",
        "params": {
            "message": "What context should the prompt use?",
            "requestedSchema": {
                "type": "object",
                "properties": { "context": { "type": "string" } },
                "required": ["context"],
            },
        },
    }))
    .ok()?;
    let requests = InputRequests::from([("user_context".to_owned(), request)]);
    Some(InputRequiredResult::from_input_requests(requests))
}
