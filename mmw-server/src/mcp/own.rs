//! Tools of the program at the client's side itself, over stdio: what it says of itself, beside the actions.

use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Tool};
use serde_json::Value;

use super::tools::{aside, tool_error};
use super::{Door, Mcp};
use crate::actions::{Answer, Object};
use crate::fault::Fault;

/// Answers a call of such a tool. May read files.
pub type OwnFn = dyn Fn(&Object) -> Result<Answer, Fault> + Send + Sync;

/// A tool that no action is behind.
pub struct OwnTool {
    tool: Tool,
    call: Box<OwnFn>,
}

impl OwnTool {
    /// Returns a tool from its definition as a list of tools has it.
    ///
    /// # Errors
    /// If that is none.
    pub fn new(definition: Value, call: Box<OwnFn>) -> Result<Self, serde_json::Error> {
        let tool = serde_json::from_value(definition)?;
        Ok(Self { tool, call })
    }
}

impl Mcp {
    fn own(&self) -> &[Arc<OwnTool>] {
        match &self.door {
            Door::Http => &[],
            Door::Stdio(local) => &local.own,
        }
    }

    /// Puts the program's own tools where their names belong.
    pub(super) fn add_own_tools(&self, tools: &mut Vec<Tool>) {
        for own in self.own() {
            let at = tools.partition_point(|tool| tool.name < own.tool.name);
            tools.insert(at, own.tool.clone());
        }
    }

    /// Returns the definition of the program's own tool of that name.
    pub(super) fn own_tool(&self, name: &str) -> Option<&Tool> {
        let mut own = self.own().iter().map(|own| &own.tool);
        own.find(|tool| tool.name == name)
    }

    /// Calls the program's own tool; nothing if there is none of that name.
    pub(super) async fn call_own(
        &self,
        request: &CallToolRequestParams,
    ) -> Option<CallToolResponse> {
        let mut own = self.own().iter();
        let own = Arc::clone(own.find(|own| own.tool.name == request.name)?);
        let arguments = request.arguments.clone().unwrap_or_default();
        let answered = aside(move || (own.call)(&arguments)).await;
        Some(match answered.and_then(|answer| answer) {
            Ok(answer) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
                result.structured_content = Some(answer.structured);
                result.into()
            }
            Err(fault) => tool_error(&fault).into(),
        })
    }
}
