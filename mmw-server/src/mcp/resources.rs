//! Records, facts and briefs as resources, for clients that let a person attach them.

use mmw_core::wire::{BriefView, ExplainArgs, Reading};
use mmw_store::Memory;
use percent_encoding::percent_decode_str;
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ErrorData, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use rmcp::service::RequestContext;

use super::Mcp;
use crate::actions::Asked;
use crate::fault::{Code, Fault};
use crate::lane::Errand;

const TEXT: &str = "text/markdown";

/// Records that a brief shows.
const BRIEF_RECORDS: usize = 20;

/// How much of an address is repeated in an error, in characters.
const ECHOED_CHARS: usize = 512;

/// The template of a record's address.
pub(super) const RECORD: &str = "mmw://record/{id}";
/// The template of a fact's address.
pub(super) const FACT: &str = "mmw://fact/{workspace}/{fact_key}";
/// The template of a brief's address.
pub(super) const BRIEF: &str = "mmw://brief/{workspace}";

/// Returns the resources that are listed.
pub(super) fn listed() -> Vec<Resource> {
    vec![
        Resource::new("mmw://brief/default", "brief")
            .with_title("What is in force")
            .with_description("Newest records of the workspace, open conflicts, waiting items.")
            .with_mime_type(TEXT),
    ]
}

/// Returns the templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(BRIEF, "brief")
            .with_title("What is in force in a workspace")
            .with_mime_type(TEXT),
        ResourceTemplate::new(FACT, "fact")
            .with_title("A fact with its versions")
            .with_mime_type(TEXT),
        ResourceTemplate::new(RECORD, "record")
            .with_title("A record with its receipt")
            .with_mime_type(TEXT),
    ]
}

/// What an address names.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    Record(String),
    Fact { workspace: String, fact_key: String },
    Brief { workspace: String },
}

/// Reads an address; parts are percent-decoded after they were separated.
fn named(uri: &str) -> Option<Named> {
    let rest = uri.strip_prefix("mmw://")?;
    let parts: Vec<String> = rest
        .split('/')
        .map(|part| {
            let text = percent_decode_str(part).decode_utf8().ok()?;
            Some(text.into_owned()).filter(|text| !text.is_empty())
        })
        .collect::<Option<_>>()?;
    let mut parts = parts.into_iter();
    let kind = parts.next()?;
    let named = match (kind.as_str(), parts.next(), parts.next()) {
        ("record", Some(id), None) => Named::Record(id),
        ("fact", Some(workspace), Some(fact_key)) => Named::Fact {
            workspace,
            fact_key,
        },
        ("brief", Some(workspace), None) => Named::Brief { workspace },
        _ => return None,
    };
    parts.next().is_none().then_some(named)
}

impl Mcp {
    /// Reads a resource.
    pub(super) async fn read(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = async {
            let named = named(uri).ok_or_else(|| {
                Fault::new(Code::NotFound, "there is no resource at that address")
            })?;
            let asked = self.reading(context).await?;
            let reading = self
                .desk
                .lane
                .run(Errand::Interactive, move |memory| {
                    reading(memory, &asked, &named)
                })
                .await?;
            self.told(&reading, context).await
        };
        match read.await {
            Ok((text, meta)) => {
                let contents = ResourceContents::text(text, uri).with_mime_type(TEXT);
                let mut result = ReadResourceResult::new(vec![contents])
                    .with_ttl_ms(0)
                    .with_cache_scope(CacheScope::Private);
                result.meta = meta;
                Ok(result.into())
            }
            Err(fault) if matches!(fault.code, Code::NotFound | Code::InvalidArgument) => {
                let uri: String = uri.chars().take(ECHOED_CHARS).collect();
                let data = serde_json::json!({ "uri": uri });
                Err(ErrorData::resource_not_found(fault.message, Some(data)))
            }
            Err(fault) => Err(self.refuse(context, &fault)),
        }
    }

    /// Returns what a read outside the tools needs, if the caller may read at all.
    pub(super) async fn reading(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, Fault> {
        use mmw_core::place::Scope;
        let access = self.access(context).await?;
        mmw_core::plan::may_use(access.state, Scope::Read)?;
        if !access.caller.scopes.has(Scope::Read) {
            return Err(Fault::new(
                Code::Forbidden,
                "this key lacks the scope `read`",
            ));
        }
        Ok(Asked {
            caller: access.caller,
            envelope: mmw_core::wire::EnvelopeArgs::default(),
            reviewer: None,
            now: self.desk.clock.now(),
            compares: false,
        })
    }
}

fn reading(memory: &Memory, asked: &Asked, named: &Named) -> Result<Reading, Fault> {
    Ok(match named {
        Named::Record(id) => {
            let args = ExplainArgs {
                memory_id: id.clone(),
            };
            Reading::Record(Box::new(memory.explain(&asked.caller, &args)?))
        }
        Named::Fact {
            workspace,
            fact_key,
        } => Reading::Fact(memory.fact(&asked.caller, Some(workspace), fact_key)?),
        Named::Brief { workspace } => {
            let brief = memory.brief(&asked.caller, Some(workspace), BRIEF_RECORDS)?;
            Reading::Brief(BriefView {
                workspace: workspace.clone(),
                records: brief.n_records,
                conflicts: brief.conflicts,
                waiting: brief.waiting,
                withheld: brief.withheld,
                hits: brief.hits,
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn an_absent_fact_is_told_by_its_key() {
        let stage = Stage::new();
        let named = named("mmw://fact/default/port").unwrap();
        let fault = reading(&stage.memory, &stage.asked, &named).unwrap_err();
        assert_eq!(fault.message, "there is no fact with that key here");
    }

    #[test]
    fn addresses_are_read_part_by_part() {
        assert_eq!(
            named("mmw://fact/my%20team/a%2Fb"),
            Some(Named::Fact {
                workspace: "my team".into(),
                fact_key: "a/b".into()
            })
        );
        assert_eq!(named("mmw://record/x"), Some(Named::Record("x".into())));
        for bad in [
            "",
            "mmw://",
            "mmw://record",
            "mmw://record/",
            "mmw://record/a/b",
            "mmw://fact/a/b/c",
            "mmw://brief/%ff",
            "mmw://other/a",
            "file:///etc/passwd",
        ] {
            assert_eq!(named(bad), None, "{bad}");
        }
    }
}
