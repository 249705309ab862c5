//! Connections, processes and streams.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use mmw_tests::programs;
use mmw_tests::rpc::{Era, LEGACY};
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::json;

use super::support::{World, agent_command, found, hits, ok};

// A17
#[test]
fn a_call_after_a_restart_needs_no_new_session() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let client = server.client(&server.first_key());
    let hello = json!({
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    });
    let greeted = client.rpc(Era::Legacy, "initialize", hello);
    assert_eq!(greeted.status, 200);
    let session = greeted
        .header("mcp-session-id")
        .unwrap_or("c0ffee00-dead-beef-0000-000000000000")
        .to_owned();
    let key = server.first_key();
    server.kill();
    let server = Server::start(folder.path());
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "remember", "arguments": { "content": "said after the restart" } },
    });
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", LEGACY),
        ("mcp-session-id", session.as_str()),
    ];
    let client = server.client(&key);
    let answer = client.send("POST", "/mcp", &headers, &call.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(found(&client, "restart").len(), 1);
}

// A18
#[test]
fn the_log_of_a_chatty_agent_stays_off_stdout() {
    let home = tempfile::tempdir().unwrap();
    let mut command = agent_command(home.path(), home.path());
    command.args(["-vv"]).env("RUST_LOG", "trace");
    // The harness reads every line on stdout as JSON-RPC.
    let mut client = StdioClient::with(command, Era::Legacy, None);
    let _ = client
        .tool("remember", &json!({ "content": "a note" }))
        .ok();
    client.send_raw("rubbish");
    let _ = client.tool("search", &json!({ "query": "note" })).ok();
    assert!(client.close().1.is_empty());
}

// A20, B3: the client hangs up before it reads the answer, and tries again.
#[test]
fn a_write_whose_answer_was_lost_is_not_written_twice() {
    let world = World::new();
    let address = world.server.url.strip_prefix("http://").unwrap().to_owned();
    let key = world.server.first_key();
    let body = json!({ "content": "paid the invoice of March" }).to_string();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "POST /api/v1/remember HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\nx-idempotency-key: lost-1\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    }
    let again = || {
        world
            .client
            .send(
                "POST",
                "/api/v1/remember",
                &[("x-idempotency-key", "lost-1")],
                &body,
            )
            .json()
    };
    let (first, second) = (again(), again());
    assert_eq!(first, second, "the retry has the first receipt");
    let meta = json!({ "mmw/envelope": { "idempotency_key": "lost-1" } });
    let over_mcp = world.client.rpc(
        Era::Modern,
        "tools/call",
        json!({ "name": "remember", "arguments": { "content": "paid the invoice of March" }, "_meta": meta }),
    );
    assert_eq!(
        over_mcp.status, 409,
        "MCP names its client: another request"
    );
    assert_eq!(found(&world.client, "invoice").len(), 1);
}

// A22
#[test]
fn a_web_page_that_rebinds_a_name_to_this_machine_gets_nothing() {
    let world = World::new();
    let port = world.server.url.rsplit(':').next().unwrap();
    let body = json!({ "query": "x" }).to_string();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost@evil.example:{port}"),
        "0.0.0.0".to_owned(),
    ] {
        let answer = world
            .client
            .send("POST", "/api/v1/search", &[("host", &host)], &body);
        assert!(
            matches!(answer.status, 400 | 403),
            "{host}: {}",
            answer.status
        );
    }
    for origin in [
        "https://evil.example",
        "http://127.0.0.1.evil.example",
        "null",
        "file://",
    ] {
        let answer = world
            .client
            .send("POST", "/mcp", &[("origin", origin)], &body);
        assert_eq!(answer.status, 403, "{origin}");
    }
}

// A32, C12: a client that ends, however it ends, takes its agent with it.
#[test]
fn no_agent_outlives_its_client() {
    let home = tempfile::tempdir().unwrap();
    let mut outputs = Vec::new();
    for n in 0..50 {
        let mut child = agent_command(home.path(), home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        if n % 2 == 0 {
            let _ = writeln!(stdin, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#);
        }
        drop(stdin);
        outputs.push((child.stdout.take().unwrap(), child));
    }
    for (mut stdout, mut child) in outputs {
        // Ends only when nobody holds the pipe any more: neither the agent nor a helper of it.
        stdout.read_to_end(&mut Vec::new()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

// A32, C12: something else still holds the agent's input open.
#[cfg(unix)]
#[test]
fn an_agent_ends_when_its_parent_was_killed_and_the_pipe_stays_open() {
    let home = tempfile::tempdir().unwrap();
    let agent = programs::path("mmw-agent");
    let mut parent = Command::new("sh")
        .arg("-c")
        .arg(r#"exec 3<&0; "$AGENT" <&3 3<&- & wait"#)
        .env("AGENT", agent)
        .env("HOME", home.path())
        .env("MMW_AGENT_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut held_open = parent.stdin.take().unwrap();
    let mut stdout = parent.stdout.take().unwrap();
    writeln!(held_open, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    let mut first = [0];
    stdout.read_exact(&mut first).unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _ = stdout.read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    let in_time = ended.recv_timeout(std::time::Duration::from_secs(15));
    drop(held_open);
    assert!(in_time.is_ok(), "the agent outlived its parent");
}

// A37, for what there is today: nothing goes out.
#[test]
fn an_embedded_agent_connects_to_nobody() {
    if Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let trace = home.path().join("trace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-e", "trace=connect", "-o"])
        .arg(&trace)
        .arg(programs::path("mmw-agent"))
        .env("HOME", home.path())
        .env("MMW_AGENT_HOME", home.path())
        .current_dir(home.path());
    let mut client = StdioClient::with(command, Era::Legacy, None);
    let _ = client
        .tool("remember", &json!({ "content": "a note" }))
        .ok();
    let _ = client.tool("search", &json!({ "query": "note" })).ok();
    assert!(client.close().0.success());
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(!trace.contains("AF_INET"), "{trace}");
}

// A40, A48: what clients of other systems put before and into a line.
#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_error() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a folder with spaces é");
    std::fs::create_dir(&folder).unwrap();
    let mut client = StdioClient::start(&folder, &folder, Era::Legacy, None);
    client.send_raw("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\"}\r");
    assert!(client.wait_for(71)["result"].is_object());
    client.send_raw("{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"tools/call\",\"params\":{\"name\":\"remember\",\"arguments\":{\"content\":\"x\",\"tags\":[\"\\udc00\"],\"source\":\"half \\ud83d\"}}}\r");
    assert_eq!(
        client.wait_for(72)["result"]["structuredContent"]["source"],
        "half \u{fffd}"
    );
}

// A40: bytes that are no text, on the command line and on standard input.
#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_told_and_do_not_panic() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = tempfile::tempdir().unwrap();
    let half = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let mut runs = vec![
        agent_command(home.path(), home.path())
            .arg("remember")
            .arg(half)
            .output()
            .unwrap(),
        agent_command(home.path(), home.path())
            .arg("search")
            .arg(half)
            .output()
            .unwrap(),
    ];
    let mut child = agent_command(home.path(), home.path())
        .args(["remember", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"caf\xe9 \xff\xfe")
        .unwrap();
    runs.push(child.wait_with_output().unwrap());
    for run in runs {
        let words = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code().is_some_and(|code| code < 100), "{words}");
        assert!(!words.contains("panicked"), "{words}");
        assert!(run.status.success() || !words.is_empty());
    }
}

// B14, B23: arguments that a parser of another language would take for something else.
#[test]
fn odd_paging_is_refused_in_words_and_never_crashes() {
    let world = World::new();
    let client = &world.client;
    for n in 0..3 {
        super::support::note(client, &format!("lime {n}"));
    }
    for query in ["", " ", "\t\n", "\u{3000}"] {
        let refused = client.rest("search", &json!({ "query": query }));
        assert_eq!(refused.status, 400, "{query:?}");
        assert!(refused.body.contains("query"), "{}", refused.body);
    }
    for query in ["?!", "*", "(", "\u{200b}"] {
        let told = ok(client, "search", &json!({ "query": query }));
        assert!(hits(&told).is_empty());
        assert!(
            told["notice"].as_str().unwrap().contains("no word"),
            "{told}"
        );
    }
    for limit in [
        json!(0),
        json!(-1),
        json!(1_000_000_000),
        json!(1e300),
        json!("10"),
        json!(2.5),
    ] {
        let refused = client.rest("search", &json!({ "query": "lime", "limit": limit }));
        assert_eq!(refused.status, 400, "{limit}: {}", refused.body);
        assert!(refused.body.contains("limit"), "{}", refused.body);
    }
    for field in ["page", "top_k", "offset", "priority_ids"] {
        let refused = client.rest("search", &json!({ "query": "lime", field: -1 }));
        assert_eq!(refused.status, 400, "{field}");
        assert!(refused.body.contains(field), "{}", refused.body);
    }
    let long = format!("{} lime", "wordy ".repeat(9_000));
    let cut = ok(client, "search", &json!({ "query": long }));
    assert!(cut["took_ms"].as_f64().unwrap() < 2_000.0, "{cut}");
    assert!(cut["notice"].is_string(), "{cut}");
}
