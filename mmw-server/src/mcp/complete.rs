//! Completes the names of workspaces and fact keys while a person types.

use rmcp::RoleServer;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use rmcp::service::RequestContext;

use super::{Mcp, prompts, resources};
use crate::fault::Fault;
use crate::lane::Errand;

impl Mcp {
    /// Returns what an argument may go on as; nothing for arguments that are free text.
    pub(super) async fn completion(
        &self,
        request: CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = match &request.r#ref {
            Reference::Resource(template) => [resources::RECORD, resources::FACT, resources::BRIEF]
                .contains(&template.uri.as_str()),
            Reference::Prompt(prompt) => {
                [prompts::RECALL, prompts::SAVE_DECISIONS].contains(&prompt.name.as_str())
            }
            _ => false,
        };
        if !known {
            return Err(ErrorData::invalid_params("unknown reference", None));
        }
        let names = self
            .names(request, context)
            .await
            .map_err(|fault| self.refuse(context, &fault))?;
        let has_more = names.len() > CompletionInfo::MAX_VALUES;
        let shown: Vec<String> = names.into_iter().take(CompletionInfo::MAX_VALUES).collect();
        let mut info = CompletionInfo::new(shown)
            .map_err(|problem| ErrorData::internal_error(problem, None))?;
        info.has_more = Some(has_more);
        Ok(CompleteResult::new(info))
    }

    async fn names(
        &self,
        request: CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<String>, Fault> {
        let asked = self.reading(context).await?;
        let limit = CompletionInfo::MAX_VALUES + 1;
        let prefix = request.argument.value;
        let workspace = request
            .context
            .and_then(|context| context.arguments)
            .and_then(|mut arguments| arguments.remove("workspace"));
        self.desk
            .lane
            .run(Errand::Interactive, move |memory| {
                let caller = &asked.caller;
                Ok(match request.argument.name.as_str() {
                    "workspace" => memory.complete_workspace(caller, &prefix, limit)?,
                    "fact_key" => {
                        memory.complete_fact_key(caller, workspace.as_deref(), &prefix, limit)?
                    }
                    _ => Vec::new(),
                })
            })
            .await
    }
}
