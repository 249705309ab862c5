//! Fixtures that the official conformance suite calls, beside the real tools and behind the real
//! key. Only with the feature `conformance`; no release has it.

mod changes;
mod prompts;
mod resources;
mod rounds;
mod tools;

use std::sync::Arc;

use mmw_core::env::Entropy;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Prompt, ReadResourceResponse, Reference,
    RequestStateCodec, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};

/// A picture of one pixel, and a sound of no length.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// The fixtures.
#[derive(Clone)]
pub(super) struct Fixtures {
    seals: Arc<RequestStateCodec>,
    tools: Arc<[Tool]>,
    changes: changes::Changes,
}

impl Fixtures {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        entropy.fill(&mut key);
        let seals = RequestStateCodec::try_new(key).expect("the key is long enough");
        Self {
            seals: Arc::new(seals),
            tools: tools::all().into(),
            changes: changes::Changes::new(),
        }
    }

    /// Adds what the fixtures are capable of.
    pub(super) fn capable(mut capabilities: ServerCapabilities) -> ServerCapabilities {
        capabilities.logging = Some(serde_json::Map::new());
        if let Some(resources) = &mut capabilities.resources {
            resources.subscribe = Some(true);
        }
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = Some(true);
        }
        capabilities
    }

    pub(super) fn add_tools(&self, tools: &mut Vec<Tool>) {
        tools.extend(self.tools.iter().cloned());
        tools.sort_by(|one, other| one.name.cmp(&other.name));
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.changes.by_tool(&request.name);
        match rounds::of_tool(&request.name) {
            Some(rounds) => rounds::play(&self.seals, &rounds, &request, context),
            None => tools::call(&request, context).await,
        }
    }

    pub(super) async fn listen(&self, listener: &SubscriptionContext) {
        self.changes.tell(listener).await;
    }

    pub(super) fn add_prompts(prompts: &mut Vec<Prompt>) {
        prompts.extend(prompts::all());
        prompts.sort_by(|one, other| one.name.cmp(&other.name));
    }

    pub(super) fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
        prompts::get(request)
    }

    pub(super) fn add_resources(resources: &mut Vec<Resource>) {
        resources.extend(resources::listed());
    }

    pub(super) fn add_templates(templates: &mut Vec<ResourceTemplate>) {
        templates.extend(resources::templates());
    }

    pub(super) fn read(uri: &str) -> Option<ReadResourceResponse> {
        resources::read(uri)
    }

    pub(super) fn completion(request: &CompleteRequestParams) -> Option<CompleteResult> {
        match &request.r#ref {
            Reference::Prompt(prompt) if prompt.name.starts_with("test_") => {
                Some(CompleteResult::default())
            }
            _ => None,
        }
    }
}
