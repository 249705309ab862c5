//! The server in front of which the agent works: reached, the key taken, a record written, found and
//! forgotten.

use std::time::Instant;

use mmw_core::time::Timestamp;
use serde_json::{Value, json};

use super::Finding;
use crate::relay::Relay;

/// The workspace that is written to.
const WORKSPACE: &str = "mmw-doctor";

pub(super) fn examine(relay: &Relay, now: Timestamp) -> Vec<Finding> {
    const FIX: &str = "see that the server runs and that MMW_ENDPOINT and MMW_API_KEY are right";
    let began = Instant::now();
    let listed = relay.ask("tools/list", json!({}));
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    let tools = listed.pointer("/result/tools").and_then(Value::as_array);
    if let Some(why) = relay.trouble() {
        let said = format!("the server {} can't be reached: {why}", relay.endpoint());
        return vec![Finding::bad("server", said, FIX)];
    }
    let Some(tools) = tools else {
        let why = listed.pointer("/error/message").and_then(Value::as_str);
        let said = format!(
            "the server does not take the key: {}",
            why.unwrap_or("no reason given")
        );
        return vec![Finding::bad(
            "key",
            said,
            "mmw-server key create, and set MMW_API_KEY",
        )];
    };
    let mut found = vec![
        Finding::good(
            "server",
            format!(
                "the server {} answers within {took:.0} ms",
                relay.endpoint()
            ),
        ),
        Finding::good(
            "key",
            format!("the key is taken, and may use {} tools", tools.len()),
        ),
    ];
    let may_write = tools.iter().any(|tool| tool["name"] == "remember");
    if !may_write {
        found.push(Finding::skipped(
            "write",
            "the key may not write, so nothing was",
        ));
        return found;
    }
    found.extend(round_trip(relay, now));
    found
}

fn round_trip(relay: &Relay, now: Timestamp) -> Vec<Finding> {
    const FIX: &str = "look into the server's log";
    let call = |tool: &str, arguments: Value| {
        let answer = relay.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let is_error = answer.pointer("/result/isError").and_then(Value::as_bool);
        match answer.pointer("/result/structuredContent") {
            Some(structured) if is_error != Some(true) => Ok(structured.clone()),
            _ => {
                let text = answer.pointer("/result/content/0/text");
                let text = text.or_else(|| answer.pointer("/error/message"));
                Err(text
                    .and_then(Value::as_str)
                    .unwrap_or("no answer")
                    .to_owned())
            }
        }
    };
    let content = format!("the doctor of mmw-agent wrote this at {now}");
    let saved = call(
        "remember",
        json!({"content": content, "workspace": WORKSPACE}),
    );
    let id = match saved.as_ref().map(|saved| saved["id"].as_str()) {
        Ok(Some(id)) => id.to_owned(),
        Ok(None) => {
            return vec![Finding::bad("write", "what was saved has no id", FIX)];
        }
        Err(why) => {
            return vec![Finding::bad(
                "write",
                format!("nothing can be saved: {why}"),
                FIX,
            )];
        }
    };
    let find = || {
        let found = call(
            "search",
            json!({"query": content, "workspace": WORKSPACE, "limit": 50}),
        )?;
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        Ok::<bool, String>(hits.iter().any(|hit| hit["id"] == id.as_str()))
    };
    let judge = |name, found: Result<bool, String>, good: bool, said: [&str; 2]| match found {
        Ok(is) if is == good => Finding::good(name, said[0]),
        Ok(_) => Finding::bad(name, said[1], FIX),
        Err(why) => Finding::bad(name, why, FIX),
    };
    let mut findings = vec![Finding::good("write", "a record was saved on the server")];
    let texts = ["it is found by its words", "it is not found by its words"];
    findings.push(judge("read_back", find(), true, texts));
    let forgotten = call(
        "forget",
        json!({"memory_id": id, "reason": "written by mmw-agent doctor"}),
    );
    let texts = [
        "it was forgotten, and is found no more",
        "it was forgotten and is found still",
    ];
    findings.push(judge(
        "forget",
        forgotten.and_then(|_| find()),
        false,
        texts,
    ));
    findings
}
