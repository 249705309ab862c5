//! Settings as people and programs write them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other}"),
    }
}

fn server_at(path: &[&'static str], program: &str) -> Part {
    Part {
        path: path.to_vec(),
        what: What::Server {
            name: "mmw".to_owned(),
            value: members(
                json!({"command": program, "args": [], "env": {"MMW_AGENT_HOME": "/m"}}),
            ),
        },
    }
}

fn server() -> Part {
    server_at(&["mcpServers"], "/opt/mmw-agent")
}

fn codex() -> Part {
    server_at(&["mcp_servers"], "/opt/mmw-agent")
}

fn hook(is_grouped: bool) -> Part {
    Part {
        path: vec!["hooks", "Stop"],
        what: What::Hook {
            handler: members(json!({
                "type": "command", "command": "/opt/mmw-agent", "args": ["hook-stop"], "timeout": 10,
            })),
            is_grouped,
            beside: Vec::new(),
        },
    }
}

/// Settings without anything of ours.
const JSON: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{\n}\n",
    "{\"theme\":\"dark\"}",
    "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {}\n}\n",
    // Tabs, an unknown member, numbers that must not be written anew.
    "{\n\t\"numStartups\": 12,\n\t\"big\": 1e400,\n\t\"mcpServers\": {\n\t\t\"git\": {\n\t\t\t\"command\": \"uvx\",\n\t\t\t\"args\": [\"mcp-server-git\"]\n\t\t}\n\t}\n}\n",
    // Comments and trailing commas.
    "// my settings\n{\n  // servers\n  \"mcpServers\": {\n    /* git */\n    \"git\": { \"command\": \"uvx\" }, // trailing\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ],\n    \"PreToolUse\": []\n  }\n}\n",
    // Windows' lines, a mark, no line at the end.
    "\u{feff}{\r\n    \"mcpServers\": {\r\n        \"a\": {\"command\": \"x\"}\r\n    }\r\n}",
    // Escapes that must stay as they were written.
    "{ \"path\": \"C:\\\\Users\\u00e9\", \"mcpServers\" : { } }",
];

const TOML: &[&str] = &[
    "",
    "# nothing yet\n",
    "model = \"gpt-5\"\n\n[mcp_servers.git] # mine\ncommand = 'uvx'\nargs = [ \"mcp-server-git\", ]\n\n[tui]\nnotifications = true\n# the end\n",
    "[mcp_servers]\n",
    "mcp_servers = { git = { command = \"uvx\" } }\n",
    "model = \"x\"\r\n[projects.\"C:\\\\a\"]\r\ntrust_level = \"trusted\"\r\n",
    "a.b.c = 1_000\nd = 0x1F\ne = 1979-05-27T07:32:00Z\nf = [\n  1, # one\n  2,\n]",
];

fn read(text: &str) -> Value {
    let bare = text.trim_start_matches('\u{feff}');
    let root = jsonc_parser::cst::CstRootNode::parse(bare, &jsonc_parser::ParseOptions::default());
    let root = root.unwrap_or_else(|error| panic!("{error}: {text}"));
    root.to_serde_value().unwrap_or_else(|| json!({}))
}

fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(value, |value, name| &value[*name])
}

#[test]
fn a_server_is_added_to_whatever_is_there() {
    for text in JSON {
        let with = put(text, Syntax::Json, &server(), false).unwrap();
        let value = read(&with);
        let ours = at(&value, &["mcpServers", "mmw"]);
        assert_eq!(ours["command"], "/opt/mmw-agent", "{with}");
        // Everything else is as it was.
        let mut without = value.clone();
        without["mcpServers"].as_object_mut().unwrap().remove("mmw");
        let mut before = if text.trim().is_empty() {
            json!({})
        } else {
            read(text)
        };
        if before.get("mcpServers").is_none() {
            before["mcpServers"] = json!({});
        }
        assert_eq!(without, before, "{with}");
        for line in text
            .lines()
            .filter(|line| line.contains("//") || line.contains("/*"))
        {
            assert!(with.contains(line), "{line} was lost: {with}");
        }
        assert_eq!(with.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        if text.contains("\r\n") {
            assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
        }
    }
}

#[test]
fn to_add_what_is_there_changes_nothing() {
    let check = |text: &str, syntax, part: &Part| {
        let once = put(text, syntax, part, false).unwrap();
        assert_ne!(once, text);
        assert_eq!(put(&once, syntax, part, false).unwrap(), once);
    };
    for text in JSON {
        for part in [server(), hook(true), hook(false)] {
            if part == hook(false) && text.contains("say done") {
                continue;
            }
            check(text, Syntax::Json, &part);
        }
    }
    for text in TOML {
        check(text, Syntax::Toml, &codex());
    }
}

#[test]
fn to_take_out_what_was_added_leaves_what_the_person_wrote() {
    for text in JSON {
        for part in [server(), hook(true), hook(false)] {
            let with = put(text, Syntax::Json, &part, false).unwrap();
            let without = take_out(&with, Syntax::Json, &part).unwrap();
            let before = if text.trim().is_empty() {
                json!({})
            } else {
                read(text)
            };
            let (mut after, mut before) = (read(&without), before);
            // An empty list or table that was there may go with ours.
            for value in [&mut after, &mut before] {
                let value = value.as_object_mut().unwrap();
                value.retain(|name, value| name != "mcpServers" || *value != json!({}));
            }
            assert_eq!(after, before, "{without}");
            assert!(!without.contains("mmw"), "{without}");
        }
    }
}

#[test]
fn a_table_is_added_to_and_taken_out_of_toml() {
    for text in TOML {
        let with = put(text, Syntax::Toml, &codex(), false).unwrap();
        let value: ::toml::Table = with.parse().unwrap();
        let ours = &value["mcp_servers"]["mmw"];
        assert_eq!(ours["command"].as_str(), Some("/opt/mmw-agent"), "{with}");
        assert_eq!(ours["env"]["MMW_AGENT_HOME"].as_str(), Some("/m"), "{with}");
        for line in text
            .lines()
            .filter(|line| !line.starts_with("mcp_servers ="))
        {
            assert!(with.contains(line), "{line} was lost: {with}");
        }
        let without = take_out(&with, Syntax::Toml, &codex()).unwrap();
        let (after, before): (::toml::Table, ::toml::Table) =
            (without.parse().unwrap(), text.parse().unwrap());
        let servers = |table: &::toml::Table| {
            let table = table
                .get("mcp_servers")
                .and_then(::toml::Value::as_table)
                .cloned();
            table.unwrap_or_default()
        };
        assert_eq!(servers(&after), servers(&before), "{without}");
        assert!(!without.contains("mmw"), "{without}");
        for line in text.lines().filter(|line| line.contains('#')) {
            assert!(without.contains(line), "{line} was lost: {without}");
        }
    }
}

#[test]
fn a_new_table_stands_behind_the_others_in_a_style_of_its_own() {
    let with = put("model = \"gpt-5\"\n", Syntax::Toml, &codex(), false).unwrap();
    assert_eq!(
        with,
        "model = \"gpt-5\"\n\n[mcp_servers.mmw]\ncommand = \"/opt/mmw-agent\"\nargs = []\nenv = { MMW_AGENT_HOME = \"/m\" }\n"
    );
}

#[test]
fn an_older_entry_is_brought_up_to_date_and_keeps_what_was_added_to_it() {
    let old = json!({"mcpServers": {"mmw": {
        "command": "/old/mmw-agent", "args": [], "env": {"MY": "1"}, "disabled": true,
    }}});
    let with = put(&old.to_string(), Syntax::Json, &server(), false).unwrap();
    let ours = &read(&with)["mcpServers"]["mmw"];
    assert_eq!(ours["command"], "/opt/mmw-agent");
    assert_eq!(ours["env"], json!({"MY": "1", "MMW_AGENT_HOME": "/m"}));
    assert_eq!(ours["disabled"], true);

    let old = "[mcp_servers.mmw]\ncommand = \"/old/mmw-agent\"\nstartup_timeout_sec = 20\n";
    let with = put(old, Syntax::Toml, &codex(), false).unwrap();
    assert!(with.contains("startup_timeout_sec = 20"), "{with}");
    assert!(with.contains("command = \"/opt/mmw-agent\""), "{with}");
}

#[test]
fn a_hook_of_another_version_is_not_added_a_second_time() {
    let old = r#"{"hooks":{"Stop":[{"matcher":"","hooks":[
        {"type":"command","command":"echo"},
        {"type":"command","command":"'/old path/mmw-agent' hook-stop","timeout":99}]}]}}"#;
    let with = put(old, Syntax::Json, &hook(true), false).unwrap();
    let groups = &read(&with)["hooks"]["Stop"];
    assert_eq!(groups.as_array().unwrap().len(), 1, "{with}");
    let ours = &groups[0]["hooks"][1];
    assert_eq!(ours["command"], "/opt/mmw-agent");
    assert_eq!(ours["args"], json!(["hook-stop"]));
    assert_eq!(ours["timeout"], 99, "a limit that the person set stays");
    let without = read(&take_out(&with, Syntax::Json, &hook(true)).unwrap());
    assert_eq!(
        without["hooks"]["Stop"][0]["hooks"],
        json!([{"type":"command","command":"echo"}])
    );
}

#[test]
fn another_server_of_our_name_is_not_touched_unless_it_is_to_be_replaced() {
    let taken = "{\"mcpServers\":{\"mmw\":{\"type\":\"http\",\"url\":\"https://mmw.example\"}}}";
    let refused = put(taken, Syntax::Json, &server(), false).unwrap_err();
    assert!(matches!(refused, EditError::Taken { .. }));
    assert_eq!(take_out(taken, Syntax::Json, &server()).unwrap(), taken);
    let replaced = read(&put(taken, Syntax::Json, &server(), true).unwrap());
    assert_eq!(replaced["mcpServers"]["mmw"]["command"], "/opt/mmw-agent");
    assert_eq!(replaced["mcpServers"]["mmw"].get("url"), None);

    let taken = "[mcp_servers.mmw]\nurl = \"https://mmw.example\"\n";
    assert!(put(taken, Syntax::Toml, &codex(), false).is_err());
    assert_eq!(take_out(taken, Syntax::Toml, &codex()).unwrap(), taken);
    let replaced = put(taken, Syntax::Toml, &codex(), true).unwrap();
    assert!(!replaced.contains("url"), "{replaced}");
}

#[test]
fn what_is_not_what_it_should_be_is_refused_with_the_place() {
    let check = |text: &str, syntax, part: &Part, said: &str| {
        let refused = put(text, syntax, part, true).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    };
    check("{\"a\": }", Syntax::Json, &server(), "line 1");
    check("{\"a\": 1", Syntax::Json, &server(), "no valid JSON");
    check("{'a': 1}", Syntax::Json, &server(), "no valid JSON");
    check(
        "{\"a\": 1 \"b\": 2}",
        Syntax::Json,
        &server(),
        "no valid JSON",
    );
    check("[]", Syntax::Json, &server(), "no object");
    check(
        "{\"mcpServers\": []}",
        Syntax::Json,
        &server(),
        "`mcpServers` in it is no object",
    );
    check(
        "{\"mcpServers\": null}",
        Syntax::Json,
        &server(),
        "no object",
    );
    check(
        "{\"hooks\": {\"Stop\": {}}}",
        Syntax::Json,
        &hook(true),
        "`hooks.Stop` in it is no list",
    );
    let twice = "{\"mcpServers\": {}, \"mcpServers\": {}}";
    check(twice, Syntax::Json, &server(), "there twice");
    check("a = \n", Syntax::Toml, &codex(), "line 1");
    check("mcp_servers = 1\n", Syntax::Toml, &codex(), "no table");
    check("<<<<<<< HEAD\n", Syntax::Toml, &codex(), "no valid TOML");
}

proptest! {
    #[test]
    fn arbitrary_text_is_edited_or_refused_and_never_panics(text in "[\\[\\]{}\",:a-z0-9 \\n\\r/*#=.'\\\\]{0,60}") {
        for (syntax, part) in [
            (Syntax::Json, server()),
            (Syntax::Json, hook(true)),
            (Syntax::Toml, codex()),
        ] {
            if let Ok(with) = put(&text, syntax, &part, false) {
                prop_assert_eq!(put(&with, syntax, &part, false), Ok(with.clone()));
                prop_assert!(take_out(&with, syntax, &part).is_ok());
            }
            let _ = take_out(&text, syntax, &part);
        }
    }

    #[test]
    fn other_members_stay_whatever_they_are(
        names in prop::collection::btree_map("[a-z\"\\\\é ]{1,8}", any::<i32>(), 0..6),
        spaced in any::<bool>(),
    ) {
        let before = json!(names);
        let text = if spaced { serde_json::to_string_pretty(&before).unwrap() } else { before.to_string() };
        let with = put(&text, Syntax::Json, &server(), false).unwrap();
        let without = take_out(&with, Syntax::Json, &server()).unwrap();
        prop_assert_eq!(read(&without), before);
    }
}
