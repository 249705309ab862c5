//! The actions as tools: the list, the call, and faults as tool errors.

use std::sync::Arc;

use mmw_core::place::{Scopes, Way};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, MetaObject,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;

use super::ask::Decided;
use super::reading::compares;
use super::{AfterFn, Door, Mcp, ask};
use crate::actions::{Action, Answer, Registry};
use crate::desk::{self, Order};
use crate::fault::Fault;

/// Where an agent puts what it adds to a write.
const ENVELOPE_META: &str = "mmw/envelope";

/// Where a tool error carries its code, message, hint and field for programs. (Not in
/// `structuredContent`: clients check that against the output schema even in errors.)
const FAULT_META: &str = "mmw/fault";

/// Returns the tools of all actions, by name.
pub(super) fn all(actions: &Registry) -> Arc<[Tool]> {
    actions.iter().map(tool).collect()
}

fn tool(action: &Action) -> Tool {
    let facts = &action.facts;
    let hints = facts.hints;
    Tool::new(facts.name, facts.description, Arc::clone(&action.input))
        .with_title(facts.title)
        .with_raw_output_schema(Arc::clone(&action.output))
        .with_annotations(
            ToolAnnotations::new()
                .read_only(hints.read_only)
                .destructive(hints.destructive)
                .idempotent(hints.idempotent)
                .open_world(false),
        )
}

impl Mcp {
    /// Returns the tools that a caller with these scopes is shown.
    pub(super) fn shown_tools(
        &self,
        scopes: Scopes,
        context: &RequestContext<RoleServer>,
    ) -> Vec<Tool> {
        let asks = matches!(self.door, Door::Stdio(_)) && ask::can_be_asked(context);
        let all = self.desk.actions.iter().zip(self.tools.iter());
        let mut shown: Vec<Tool> = all
            .filter(|(action, _)| action.is_shown(scopes, asks))
            .map(|(_, tool)| tool.clone())
            .collect();
        self.add_own_tools(&mut shown);
        shown
    }

    /// Calls a tool.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(response) = self.call_own(&request).await {
            return Ok(response);
        }
        let action = self.desk.actions.get(&request.name);
        let Some(action) = action.filter(|action| action.is_tool()) else {
            let name: String = request.name.chars().take(64).collect();
            return Err(ErrorData::invalid_params(
                format!("unknown tool `{name}`"),
                None,
            ));
        };
        match self.decide_and_call(action, request, &context).await {
            Ok(response) => Ok(response),
            Err(fault) if fault.code.is_of_the_transport() && matches!(self.door, Door::Http) => {
                Err(self.refuse(&context, &fault))
            }
            Err(fault) => Ok(tool_error(&fault).into()),
        }
    }

    async fn decide_and_call(
        &self,
        action: &Action,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Fault> {
        let name = action.facts.name;
        let access = self.access(context).await?;
        let mut order = Order {
            arguments: request.arguments.clone().unwrap_or_default(),
            ..Order::default()
        };
        if action.facts.takes_envelope {
            order.envelope = desk::envelope(context.meta.get(ENVELOPE_META))?;
            let envelope = &mut order.envelope;
            if let Some(parts) = context.extensions.get::<http::request::Parts>() {
                desk::key_of_header(&parts.headers, envelope)?;
            }
            // Over HTTP each request stands on its own: an older client has not said its name.
            let client = match &self.door {
                Door::Http => context.meta.client_info(),
                Door::Stdio(_) => context.client_info(),
            };
            if envelope.client.is_none() {
                envelope.client = client.and_then(|client| ask::short_label(&client.name));
            }
        }
        // Over stdio the program around this one says so.
        order.compares = matches!(self.door, Door::Http) && compares(context);
        let (completed, after) = self.before(name, order, context).await?;
        order = completed;
        let lacks_scope = !access.caller.scopes.has(action.facts.scope);
        if action.can_ask() && lacks_scope && access.caller.way == Way::Stdio {
            match self.ask(name, &access, order, &request, context).await? {
                Decided::Go(decided) => order = decided,
                Decided::Ask(input_required) => return Ok(input_required.into()),
            }
        }
        let answer = self.desk.call(name, &access, order).await?;
        let answer = after.finish(answer).await?;
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
        result.structured_content = Some(answer.structured);
        Ok(result.into())
    }
}

/// What the program at the client's side has to do with an answer.
pub(super) struct After(Option<Box<AfterFn>>);

impl After {
    /// Completes an answer.
    pub(super) async fn finish(self, mut answer: Answer) -> Result<Answer, Fault> {
        let Some(after) = self.0 else {
            return Ok(answer);
        };
        aside(move || {
            after(&mut answer);
            answer
        })
        .await
    }
}

impl Mcp {
    /// Has the program at the client's side complete a call, over stdio.
    pub(super) async fn before(
        &self,
        name: &'static str,
        mut order: Order,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Order, After), Fault> {
        let Door::Stdio(local) = &self.door else {
            return Ok((order, After(None)));
        };
        local.know_roots(&context.peer).await;
        let local = Arc::clone(local);
        aside(move || {
            let after = (local.add)(name, &mut order);
            (order, After(after))
        })
        .await
    }
}

/// Does what reads files and asks programs where it holds no other call up.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "what stands around a call broke");
        Fault::internal()
    })
}

pub(super) fn tool_error(fault: &Fault) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(fault.to_string())]);
    let mut meta = MetaObject::new();
    meta.insert(FAULT_META.to_owned(), fault.to_json());
    result.meta = Some(meta);
    result
}
