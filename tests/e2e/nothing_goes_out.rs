//! Without settings nothing leaves this computer: no program of the product connects anywhere, whatever
//! it is asked to do, searching by meaning included.

use std::process::Command;

use mmw_tests::{environment, programs};

/// Runs a command of the agent under strace and returns the connections that were tried.
fn connections(home: &std::path::Path, arguments: &[&str]) -> Vec<String> {
    let trace = home.join("trace");
    let output = Command::new("strace")
        .args(["-f", "-e", "trace=connect,sendto,sendmsg", "-o"])
        .arg(&trace)
        .arg(programs::path("mmw-agent"))
        .args(arguments)
        .env_clear()
        .env("PATH", environment::search_path())
        .env("HOME", home)
        .env("MMW_AGENT_HOME", home)
        .current_dir(home)
        .output()
        .expect("strace runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let trace = std::fs::read_to_string(&trace).expect("there is a trace");
    assert!(trace.contains("exited with 0"), "{trace}");
    let goes_out = |line: &&str| line.contains("AF_INET");
    trace.lines().filter(goes_out).map(str::to_owned).collect()
}

#[test]
fn no_command_connects_anywhere() {
    if Command::new("strace").arg("-V").output().is_err() {
        // Only a machine without strace; .ci/run's has it.
        return;
    }
    let home = tempfile::tempdir().unwrap();
    for arguments in [
        &[
            "remember",
            "we chose PostgreSQL for its transactional guarantees",
        ][..],
        &["search", "which database did they pick?"],
        &["search", "which database did they pick?", "--explain"],
        &["status"],
        &["verify"],
    ] {
        let tried = connections(home.path(), arguments);
        assert_eq!(tried, Vec::<String>::new(), "{arguments:?}");
    }
}
