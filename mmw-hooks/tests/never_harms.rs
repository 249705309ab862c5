//! The program itself, started as a client starts it: it prints nothing and ends with 0.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mmw-hooks"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn fed(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = program(arguments).spawn().expect("the program starts");
    // The program may end before it has read everything: a broken pipe is the client's business.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    child.wait_with_output().expect("the program ends")
}

fn assert_silent(output: &Output, what: &str) {
    assert_eq!(output.status.code(), Some(0), "{what}");
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{what}: {output:?}"
    );
}

#[test]
fn whatever_comes_in_nothing_is_printed_and_the_exit_code_is_zero() {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let endless = vec![b' '; 3 * 1024 * 1024];
    let event = br#"{"hook_event_name":"PostToolUse","tool_name":"Bash"}"#;
    let inputs: [(&str, &[u8]); 6] = [
        ("nothing", b""),
        ("all bytes", &all_bytes),
        ("an event", event),
        ("half an event", &event[..20]),
        ("a broken text", b"{\"a\":\"\xff\xfe\"}"),
        ("more than is read", &endless),
    ];
    for (what, input) in inputs {
        for arguments in [
            &["PostToolUse"][..],
            &[],
            &["--nonsense"],
            &["", "\u{1F600}", "x"],
        ] {
            assert_silent(&fed(arguments, input), what);
        }
    }
}

#[test]
fn a_pipe_that_stays_open_does_not_hold_the_session_up() {
    let mut child = program(&["Stop"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"hook_event_name\":\"Stop\"}").unwrap();
    // The pipe is still open when the program ends.
    let output = child.wait_with_output().unwrap();
    assert_silent(&output, "open pipe");
    drop(stdin);
}

#[test]
fn help_and_version_are_for_people() {
    let help = fed(&["--help"], b"");
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("Usage: mmw-hooks <EVENT>")
    );
    let version = fed(&["--version"], b"");
    assert!(version.stdout.starts_with(b"mmw-hooks "));
}
