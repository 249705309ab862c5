//! No command: MCP on standard input and output, on the store of this computer or in front of a server.
//!
//! The store is opened and git asked when the first call needs them, so that `initialize` is
//! answered at once. Standard output is the protocol's from here on. Ends with the input, or with
//! the client.

mod orphan;

use std::sync::Arc;

use mmw_core::env::{Clock as _, SystemClock, SystemEntropy};
use mmw_core::place::Way;
use mmw_server::actions::{Answer, Object};
use mmw_server::desk::Order;
use mmw_server::mcp::{Embedded, OwnTool, serve_lines};
use tokio::runtime::Runtime;

use self::orphan::UntilOrphaned;
use super::Desk;
use crate::about::{self, About};
use crate::anchor::Anchors;
use crate::exit::{Exit, Trouble, chain};
use crate::keys;
use crate::project::branch_of;
use crate::relay::endpoint::Endpoint;
use crate::relay::{self, Around, Complete, Know, Relay};
use crate::show;

/// Serves until the input ends.
pub(super) fn run(desk: Desk) -> Result<Exit, Trouble> {
    if desk.terminal.stdin {
        show::say(
            "mmw-agent speaks MCP here and waits for a client; `mmw-agent --help` lists the \
             commands for you. Ctrl-D ends it.\n",
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Trouble::usage(format!("the program can't start: {error}")))?;
    let served = match desk.config.endpoint.clone() {
        Some(endpoint) => relay(&runtime, &desk, &endpoint),
        None => embedded(&runtime, desk),
    };
    // A read of standard input that nobody will answer must not hold the program back.
    runtime.shutdown_background();
    served.map(|()| Exit::Done)
}

/// Returns what is done to every call before it is made.
fn complete(desk: &Desk, anchors: Anchors) -> Box<Complete> {
    let folder = desk.config.folder.clone();
    let workspace = desk.config.workspace.as_ref().map(ToString::to_string);
    Box::new(move |action, order| {
        default_workspace(action, order, workspace.as_deref());
        if action == "remember" && order.envelope.branch.is_none() {
            order.envelope.branch = branch_of(&folder);
        }
        anchors.before(action, order)
    })
}

/// Returns what tells how the program stands.
fn know(desk: &Desk, anchors: &Anchors) -> Box<Know> {
    let (home, anchors) = (desk.config.home.clone(), anchors.clone());
    Box::new(move || About::of(&home, &anchors))
}

/// Returns the tool that tells the same to a client, where no server is.
fn sync_status(desk: &Desk, anchors: &Anchors) -> Result<OwnTool, Trouble> {
    let know = know(desk, anchors);
    let local = Arc::clone(&desk.local);
    let call = move |arguments: &Object| {
        about::takes_none(arguments)?;
        let mut memory = about::Embedded::default();
        if local.exists() {
            let pulse = local
                .caller(Way::Stdio)
                .and_then(|caller| local.memory()?.pulse(&caller));
            match pulse {
                Ok(pulse) => memory.last_write = pulse.last_write,
                Err(failure) => memory.trouble = Some(chain(&failure)),
            }
        }
        Ok(about::embedded(&know(), &memory, SystemClock.now()))
    };
    OwnTool::new(about::tool(), Box::new(call))
        .map_err(|error| Trouble::usage(format!("the program can't start: {error}")))
}

fn embedded(runtime: &Runtime, desk: Desk) -> Result<(), Trouble> {
    let anchors = desk.anchors();
    let (follower, config) = (anchors.clone(), desk.config.clone());
    let own = sync_status(&desk, &anchors)?;
    let complete = complete(&desk, anchors);
    let opener = desk.local;
    let caller = Arc::clone(&opener);
    let embedded = Embedded {
        open: Box::new(move || opener.memory()),
        caller: Box::new(move |_| caller.caller(Way::Stdio)),
        add: Box::new(move |action, order| {
            let after = complete(action, order)?;
            Some(Box::new(|answer: &mut Answer| {
                after.finish(answer, SystemClock.now());
            }))
        }),
        own: vec![own],
        roots: Box::new(move |uris| follower.follow(&config, &uris)),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    };
    let served = runtime.block_on(async {
        let input = UntilOrphaned::new(tokio::io::stdin());
        serve_lines(embedded, input, tokio::io::stdout()).await
    });
    served.map_err(|error| Trouble::usage(chain(&error)))
}

fn relay(runtime: &Runtime, desk: &Desk, endpoint: &str) -> Result<(), Trouble> {
    let relay = relay_to(desk, endpoint)?;
    let served = runtime.block_on(async {
        let input = UntilOrphaned::new(tokio::io::stdin());
        relay::serve(relay, input, tokio::io::stdout()).await
    });
    served
        .map_err(|error| Trouble::usage(format!("the conversation with the client broke: {error}")))
}

/// Returns a relay to a server; nothing is sent yet.
pub(super) fn relay_to(desk: &Desk, endpoint: &str) -> Result<Relay, Trouble> {
    let endpoint = Endpoint::of_setting(endpoint)?;
    let key = keys::key_for(&desk.config, &endpoint)?;
    let anchors = desk.anchors();
    let (follower, config) = (anchors.clone(), desk.config.clone());
    let follow = Box::new(move |uris: Vec<String>| follower.follow(&config, &uris));
    let know = know(desk, &anchors);
    let around = Around::new(complete(desk, anchors), follow, know);
    let guard = desk.local.guard().clone();
    Relay::new(endpoint, key.as_ref(), around, &desk.config.home, guard)
}

/// Puts `MMW_WORKSPACE` into a call that may name a workspace and names none.
fn default_workspace(action: &str, order: &mut Order, workspace: Option<&str>) {
    let arguments = &mut order.arguments;
    let takes_one = match action {
        "remember" | "search" | "validate_memory" | "resolve_conflict" => true,
        "forget" => arguments.contains_key("source_id"),
        // A list of what waits is of all workspaces unless one is named.
        _ => false,
    };
    if let Some(workspace) = workspace
        && takes_one
        && arguments
            .get("workspace")
            .is_none_or(serde_json::Value::is_null)
    {
        arguments.insert("workspace".to_owned(), workspace.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(action: &str, arguments: &Value, workspace: &Value) {
        let mut order = Order {
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..Order::default()
        };
        default_workspace(action, &mut order, Some("backend"));
        let got = order.arguments.get("workspace").unwrap_or(&Value::Null);
        assert_eq!(got, workspace, "{action} {arguments}");
    }

    #[test]
    fn a_call_that_names_no_workspace_gets_the_default_one() {
        let backend = json!("backend");
        check("remember", &json!({"content": "x"}), &backend);
        check(
            "search",
            &json!({"query": "x", "workspace": null}),
            &backend,
        );
        check(
            "search",
            &json!({"query": "x", "workspace": "*"}),
            &json!("*"),
        );
        check("forget", &json!({"source_id": "a.md"}), &backend);
        check("forget", &json!({"memory_id": "x"}), &Value::Null);
        check("review_candidates", &json!({}), &Value::Null);
        check("explain_memory", &json!({"memory_id": "x"}), &Value::Null);
    }
}
