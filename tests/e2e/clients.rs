//! Real clients and suites that nobody here wrote: see `tests/clients/README.md`.
//!
//! They run where `MMW_E2E_CLIENTS` names the folder that `install.sh` filled, as `cargo xtask e2e
//! --clients` and `cargo xtask ci` do.

use std::path::PathBuf;
use std::process::Command;

use mmw_tests::programs;
use mmw_tests::server::Server;

/// The server with the fixtures that the official suite calls.
const CONFORMANCE_SERVER: &str = "mmw-server-conformance";

#[test]
fn every_client_and_suite_passes() {
    let Some(installed) = mmw_tests::environment::choice("MMW_E2E_CLIENTS") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (data, suite, home) = (
        folder.path().join("data"),
        folder.path().join("suite"),
        folder.path().join("home"),
    );
    for made in [&data, &suite, &home] {
        std::fs::create_dir(made).unwrap();
    }
    let server = Server::start(&data);
    let key = server.first_key();
    let conformance = Server::start_with(&suite, CONFORMANCE_SERVER, &[]);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients/run.py");
    let mut run = Command::new("python3");
    run.arg(script)
        .arg(installed)
        .args(["--url", &server.url, "--key", &key])
        .args([
            "--conformance",
            &conformance.url,
            "--conformance-key",
            &conformance.first_key(),
        ])
        .arg("--agent")
        .arg(programs::path("mmw-agent"))
        .env("MMW_AGENT_HOME", &home);
    let status = run.status().unwrap();
    assert!(
        status.success(),
        "a client or suite failed; its output is above"
    );
}
