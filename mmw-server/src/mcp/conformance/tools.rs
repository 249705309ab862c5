//! Fixture tools that answer in one round.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    ErrorData, JsonObject, ProgressNotificationParam, ResourceContents, SamplingCapability, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::super::is_modern;
use super::{PNG, WAV, changes, rounds};

/// The pause between two messages of one call.
const PAUSE: Duration = Duration::from_millis(50);

/// Fixture tools without arguments.
const PLAIN: [&str; 14] = [
    "test_audio_content",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_logging_tool",
    "test_missing_capability",
    "test_multiple_content_types",
    "test_simple_text",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_elicitation",
    "test_sampling",
];

pub(super) fn all() -> Vec<Tool> {
    let plain = || object(json!({ "type": "object", "properties": {} }));
    let mut tools: Vec<Tool> = PLAIN
        .into_iter()
        .chain(rounds::TOOLS)
        .chain(changes::TOOLS)
        .map(|name| Tool::new(name, "A fixture of the conformance suite.", plain()))
        .collect();
    tools.push(Tool::new(
        "json_schema_2020_12_tool",
        "Its schema uses the whole vocabulary.",
        object(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {
                        "street": { "type": "string" },
                        "city": { "type": "string" },
                    },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"],
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        })),
    ));
    tools.push(Tool::new(
        "test_custom_header",
        "An argument of it is mirrored in a header.",
        object(json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            "required": ["region"],
        })),
    ));
    tools
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

pub(super) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let text = |text: &str| vec![ContentBlock::text(text)];
    let embedded = |text: &str, uri: &str, kind: &str| {
        ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
    };
    let content = match &*request.name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => vec![embedded(
            "This is an embedded resource content.",
            "test://embedded-resource",
            "text/plain",
        )],
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            embedded(
                r#"{"test":"data","value":123}"#,
                "test://mixed-content-resource",
                "application/json",
            ),
        ],
        "test_error_handling" => {
            let said = text("This tool intentionally returns an error for testing");
            return Ok(CallToolResult::error(said).into());
        }
        "test_missing_capability" => {
            needs_sampling(context)?;
            text("The client can sample.")
        }
        "test_logging_tool" | "test_tool_with_logging" => {
            for said in [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ] {
                log(context, said).await;
                tokio::time::sleep(PAUSE).await;
            }
            text("Logged, if logs are wanted.")
        }
        "test_tool_with_progress" => {
            progress(context).await;
            text("Done, with progress.")
        }
        "test_sampling"
        | "test_elicitation"
        | "test_elicitation_sep1034_defaults"
        | "test_elicitation_sep1330_enums" => {
            let said = text("This server keeps no sessions: it can't ask in the middle of a call.");
            return Ok(CallToolResult::error(said).into());
        }
        _ => text("Called."),
    };
    Ok(CallToolResult::success(content).into())
}

#[allow(deprecated, reason = "the suite still tests what is deprecated")]
fn needs_sampling(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let declared = context.client_capabilities().unwrap_or_default();
    if declared.sampling.is_some() {
        return Ok(());
    }
    let mut needed = ClientCapabilities::default();
    needed.sampling = Some(SamplingCapability::default());
    Err(ErrorData::missing_required_client_capability(needed))
}

#[allow(deprecated, reason = "the suite still tests what is deprecated")]
async fn log(context: &RequestContext<RoleServer>, said: &str) {
    if is_modern(context) && context.meta.log_level().is_none() {
        return;
    }
    use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::debug!(%error, "a log message could not be sent");
    }
}

async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    for done in [0.0, 50.0, 100.0] {
        let step = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        if let Err(error) = context.peer.notify_progress(step).await {
            tracing::debug!(%error, "progress could not be sent");
        }
        tokio::time::sleep(PAUSE).await;
    }
}
