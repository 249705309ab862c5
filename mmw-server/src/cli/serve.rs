//! `serve`: the server itself, and its first start.

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mmw_store::FirstStart;

use super::output::{self, Failed, STRONG};
use crate::compose::{self, Server, StartError};
use crate::config::Config;

/// The file that the first key is kept in where no terminal shows it.
const FIRST_KEY_FILE: &str = "first-key";

/// Threads of the runtime beyond one for each core.
const SPARE_THREADS: usize = 2;

#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Options {
    /// Address and port to serve on; port 0 takes a free one [env: MMW_LISTEN]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// Write the port that was taken to this file, once connections are accepted
    #[arg(long, value_name = "FILE")]
    pub(super) port_file: Option<PathBuf>,
}

pub(super) fn run(config: &Config, options: &Options) -> Result<ExitCode, Failed> {
    let memory = compose::open(config)?;
    // Looks run on these threads: a few more than cores, so that one that takes long holds up nobody.
    let n_threads =
        std::thread::available_parallelism().map_or(2, NonZeroUsize::get) + SPARE_THREADS;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(n_threads)
        .enable_all()
        .build()
        .map_err(|error| Failed::new(format!("no runtime could be started: {error}")))?;
    runtime.block_on(async {
        let stop = asked_to_stop()?;
        // Only who has the address makes the first key: a start that fails here makes it again.
        let server = Server::bind(config, memory.clone()).await?;
        let address = server.address;
        match memory.first_start().map_err(StartError::FirstStart)? {
            Some(first) => hand_over(&first, config, address)?,
            None if memory.list_keys()?.is_empty() => {
                tracing::warn!(
                    "nobody can call yet: make a key with `mmw-server key create <name>`"
                );
            }
            None => {}
        }
        if !address.ip().to_canonical().is_loopback() {
            tracing::warn!(
                %address,
                "plain HTTP on an address that others may reach: put a proxy with TLS in front"
            );
        }
        output::text(&format!("mmw-server listening on http://{address}"));
        if let Some(file) = &options.port_file {
            write_port(file, address).map_err(|error| {
                Failed::new(format!(
                    "the port file {} can't be written: {error}",
                    file.display()
                ))
            })?;
        }
        server.run(stop).await;
        Ok(ExitCode::SUCCESS)
    })
}

/// Gives the first key away: to a terminal, or to a file that only its owner can read.
fn hand_over(first: &FirstStart, config: &Config, address: SocketAddr) -> Result<(), Failed> {
    if output::is_terminal() {
        output::text(&welcome(&first.key.secret, address));
        return Ok(());
    }
    let file = config.data_dir.join(FIRST_KEY_FILE);
    write_secret(&file, &first.key.secret).map_err(|error| {
        Failed::new(format!(
            "the first key can't be written to {}: {error}. Make another with `mmw-server key create`",
            file.display()
        ))
    })?;
    tracing::info!(file = %file.display(), "the first key is in this file");
    Ok(())
}

fn welcome(key: &str, address: SocketAddr) -> String {
    let url = format!("http://{address}/mcp");
    format!(
        "{STRONG}Your key, shown only now:{STRONG:#}\n\n  {key}\n\n\
         {STRONG}Claude Code{STRONG:#}\n\
         \x20 claude mcp add --transport http mmw {url} --header \"Authorization: Bearer {key}\"\n\n\
         {STRONG}Codex{STRONG:#}\n\
         \x20 export MMW_API_KEY={key}\n\
         \x20 codex mcp add mmw --url {url} --bearer-token-env-var MMW_API_KEY\n"
    )
}

/// Writes a secret to a file of mode 0600, replacing an old one only when it is whole.
fn write_secret(file: &Path, secret: &str) -> io::Result<()> {
    let unfinished = file.with_extension("new");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut to = options.open(&unfinished)?;
    writeln!(to, "{secret}")?;
    to.sync_all()?;
    fs::rename(&unfinished, file)
}

/// Writes the port whole or not at all, so that a reader never sees half a number.
fn write_port(file: &Path, address: SocketAddr) -> io::Result<()> {
    let unfinished = file.with_extension("new");
    fs::write(&unfinished, format!("{}\n", address.port()))?;
    fs::rename(&unfinished, file)
}

/// Begins to listen for the request to stop. From here on a signal stops the server in order, also
/// one that comes before the returned future is awaited.
fn asked_to_stop() -> Result<impl Future<Output = ()>, Failed> {
    let cant = |error: io::Error| Failed::new(format!("signals can't be received: {error}"));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt()).map_err(cant)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(cant)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(windows)]
    {
        let mut interrupt = tokio::signal::windows::ctrl_c().map_err(cant)?;
        Ok(async move {
            interrupt.recv().await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_secret_is_for_its_owner_only_and_replaces_an_old_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("first-key");
        for secret in ["one", "two"] {
            write_secret(&file, secret).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), format!("{secret}\n"));
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }

    #[test]
    fn the_welcome_can_be_pasted() {
        let text = welcome("mmw_a_b", "127.0.0.1:7667".parse().unwrap());
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains(
            "claude mcp add --transport http mmw http://127.0.0.1:7667/mcp --header \"Authorization: Bearer mmw_a_b\""
        ));
        assert!(text.contains("codex mcp add mmw --url http://127.0.0.1:7667/mcp"));
    }
}
