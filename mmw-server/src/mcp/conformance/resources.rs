//! Fixture resources.

use rmcp::model::{
    CacheScope, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

pub(super) fn listed() -> Vec<Resource> {
    [
        ("test://static-binary", "image/png"),
        ("test://static-text", "text/plain"),
        ("test://watched-resource", "text/plain"),
    ]
    .into_iter()
    .map(|(uri, kind)| {
        Resource::new(uri, uri.trim_start_matches("test://"))
            .with_description("A fixture of the conformance suite.")
            .with_mime_type(kind)
    })
    .collect()
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "template")
            .with_description("A fixture of the conformance suite.")
            .with_mime_type("application/json"),
    ]
}

pub(super) fn read(uri: &str) -> Option<ReadResourceResponse> {
    let contents = match uri {
        "test://static-text" => {
            ResourceContents::text("This is the content of the static text resource.", uri)
                .with_mime_type("text/plain")
        }
        "test://static-binary" => {
            ResourceContents::blob(super::PNG, uri).with_mime_type("image/png")
        }
        "test://watched-resource" => {
            ResourceContents::text("Watched.", uri).with_mime_type("text/plain")
        }
        _ => {
            let id = uri
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            let data = json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
            });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(
        ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private)
            .into(),
    )
}
