//! Puts the parts together: the one place that knows all of them.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use mmw_core::env::{Clock, Entropy, SystemClock, SystemEntropy};
use mmw_store::engine::EngineError;
use mmw_store::{Failure, Memory};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::actions::Registry;
use crate::config::Config;
use crate::desk::Desk;
use crate::embeddings::opener;
use crate::guard_rules::{self, RuleFileError};
use crate::health::Readiness;
use crate::http::{App, ConnectionLimits, Hosts, router, serve};
use crate::lane::Lane;
use crate::{metrics, upkeep};

/// What can go wrong before a server serves.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The folder of the store can't be made or entered.
    #[error("the data directory {0} can't be used")]
    DataDir(String, #[source] io::Error),
    /// The rules that are added to the guard can't be used.
    #[error(transparent)]
    GuardRules(#[from] RuleFileError),
    /// The store can't be opened.
    #[error("the store can't be opened")]
    Store(#[from] EngineError),
    /// The first start could not make what is needed.
    #[error("the first project and key could not be made")]
    FirstStart(#[from] Failure),
    /// The address can't be listened on.
    #[error("{0} can't be listened on")]
    Listen(SocketAddr, #[source] io::Error),
}

/// Opens the store in the data directory, making both if they are not there. Nothing is made if the
/// guard can't be had as it is asked for.
///
/// # Errors
/// [`StartError::GuardRules`], [`StartError::DataDir`], [`StartError::Store`].
pub fn open(config: &Config) -> Result<Memory, StartError> {
    let guard = guard_rules::guard(config.guard_rules.as_deref())?;
    make_private_dir(&config.data_dir)
        .map_err(|error| StartError::DataDir(config.data_dir.display().to_string(), error))?;
    Ok(Memory::open_with(
        &config.store_file(),
        guard,
        opener(&config.embedder),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    )?)
}

#[cfg(unix)]
fn make_private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

#[cfg(not(unix))]
fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// A server that listens and is about to serve.
pub struct Server {
    /// The address that is listened on, with the port that was taken.
    pub address: SocketAddr,
    listener: TcpListener,
    lane: Lane,
    app: App,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
}

impl Server {
    /// Binds the address and puts the server together.
    ///
    /// # Errors
    /// [`StartError::Listen`].
    pub async fn bind(config: &Config, memory: Memory) -> Result<Self, StartError> {
        let failed = |error| StartError::Listen(config.listen, error);
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        metrics::start();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: &dyn Entropy = &SystemEntropy;
        let lane = Lane::to(memory, config.n_turns);
        let desk = Desk {
            lane: lane.clone(),
            actions: Registry::standard(),
            clock: Arc::clone(&clock),
        };
        let mut names = config.allowed_hosts.clone();
        if !address.ip().is_unspecified() {
            names.push(address.ip().to_string());
        }
        let hosts = Hosts {
            names,
            origins: config.allowed_origins.clone(),
        };
        let readiness = Readiness::of(Some(config.data_dir.clone()));
        let stop = CancellationToken::new();
        Ok(Self {
            address,
            listener,
            app: App::new(desk, hosts, readiness, entropy, &stop),
            lane,
            clock,
            stop,
        })
    }

    /// Serves until `until` is done, then finishes what has begun.
    pub async fn run(self, until: impl Future<Output = ()> + Send) {
        let accepting = CancellationToken::new();
        let upkeep = tokio::spawn(upkeep::run(
            self.lane.clone(),
            Arc::clone(&self.clock),
            accepting.clone(),
        ));
        let serving = tokio::spawn(serve(
            self.listener,
            router(self.app),
            ConnectionLimits::default(),
            accepting.clone(),
        ));
        until.await;
        tracing::info!("stopping: finishing what has begun");
        accepting.cancel();
        for part in [serving, upkeep] {
            if let Err(error) = part.await {
                tracing::error!(%error, "a part of the server broke");
            }
        }
        self.stop.cancel();
        self.lane.drain().await;
    }
}
