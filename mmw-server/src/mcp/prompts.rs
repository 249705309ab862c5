//! Two prompts that a person picks: `recall` and `save-decisions`.

use mmw_core::wire::{Reading, SearchAnswer, SearchArgs};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, MetaObject, Prompt,
    PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use serde::Deserialize as _;
use serde_json::Value;

use super::reading::compares;
use super::{Door, Mcp};
use crate::actions::{Object, reading};
use crate::desk::Order;
use crate::fault::{Code, Fault};

/// Recalls what memory holds on a topic.
pub(super) const RECALL: &str = "recall";
/// The action that recalls.
const SEARCH: &str = "search";
/// Has the agent save what was decided.
pub(super) const SAVE_DECISIONS: &str = "save-decisions";

/// Returns the prompts, by name.
pub(super) fn all() -> Vec<Prompt> {
    let workspace = || {
        PromptArgument::new("workspace")
            .with_description("Default `default`.")
            .with_required(false)
    };
    vec![
        Prompt::new(
            RECALL,
            Some("What memory holds on a topic."),
            Some(vec![
                PromptArgument::new("topic").with_required(true),
                workspace(),
            ]),
        )
        .with_title("Recall"),
        Prompt::new(
            SAVE_DECISIONS,
            Some("Save what was decided in this conversation."),
            Some(vec![workspace()]),
        )
        .with_title("Save decisions"),
    ]
}

impl Mcp {
    /// Returns a prompt's messages.
    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let made = match request.name.as_str() {
            RECALL => self.recall(&arguments, context).await,
            SAVE_DECISIONS => save_decisions(&arguments).map(|text| (text, None)),
            _ => Err(Fault::new(Code::InvalidArgument, "unknown prompt")),
        };
        match made {
            Ok((text, meta)) => {
                let messages = vec![PromptMessage::new_text(Role::User, text)];
                let mut result = GetPromptResult::new(messages);
                result.meta = meta;
                Ok(result.into())
            }
            Err(fault) => Err(self.refuse(context, &fault)),
        }
    }

    async fn recall(
        &self,
        arguments: &Object,
        context: &RequestContext<RoleServer>,
    ) -> Result<(String, Option<MetaObject>), Fault> {
        let topic =
            argument(arguments, "topic")?.ok_or_else(|| Fault::argument("topic", "is required"))?;
        let args = SearchArgs {
            query: topic.clone(),
            workspace: argument(arguments, "workspace")?,
            ..SearchArgs::default()
        };
        let access = self.access(context).await?;
        let order = Order {
            arguments: written(&args)?,
            ..Order::default()
        };
        let (order, after) = self.before(SEARCH, order, context).await?;
        let answer = self.desk.call(SEARCH, &access, order).await?;
        if matches!(self.door, Door::Http) && compares(context) {
            let found = SearchAnswer::deserialize(&answer.structured);
            let found = found.map_err(|_| Fault::internal())?;
            return self.told(&Reading::Recall { topic, found }, context).await;
        }
        let found = after.finish(answer).await?.text;
        Ok((reading::recalled(&topic, &found), None))
    }
}

fn save_decisions(arguments: &Object) -> Result<String, Fault> {
    let place = argument(arguments, "workspace")?
        .map(|workspace| format!(" in the workspace `{workspace}`"))
        .unwrap_or_default();
    Ok(format!(
        "Go through this conversation and save what was decided or agreed with `remember`{place}: \
         one self-contained fact a call, with kind `decision`, a short fact_key, and the file that \
         it rests on as source_id. Search first; reuse the fact_key of what it corrects. Leave out \
         secrets, guesses and the state of unfinished work. List what was saved."
    ))
}

fn written(args: &SearchArgs) -> Result<Object, Fault> {
    match serde_json::to_value(args) {
        Ok(Value::Object(written)) => Ok(written),
        _ => Err(Fault::internal()),
    }
}

/// Returns an argument that is a text with something in it.
fn argument(arguments: &Object, name: &str) -> Result<Option<String>, Fault> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Fault::argument(name, "must be a string")),
    }
}
