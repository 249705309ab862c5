//! What opens the chosen embedder when it is first needed.
//!
//! Opening never takes longer than a query may wait: a server that is slow to answer is connected to
//! beside, and whoever asks meanwhile is told so.

use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, Once, TryLockError};
use std::thread;

use mmw_store::embed::{
    EmbedError, Embedder, Instructions, LocalModel, ModelFile, OpenEmbedder, built_in, convert,
};

use super::client::{Embeddings, Patience};
use super::settings::{Choice, Remote};

/// Returns what opens the chosen embedder; nothing if a search is to go by words alone. Nothing is
/// opened or connected to by this call.
#[must_use]
pub fn opener(choice: &Choice) -> Option<Box<OpenEmbedder>> {
    match choice {
        Choice::Off => None,
        Choice::BuiltIn => built_in(),
        Choice::File(path) => {
            let (path, told) = (path.clone(), Once::new());
            Some(Box::new(move || {
                let model = local(&path).map_err(|why| {
                    // It is tried again now and then; once is enough to read of it.
                    told.call_once(|| tracing::warn!(why, "searching by words alone"));
                    EmbedError::Unusable(why)
                })?;
                Ok(Arc::new(model) as Arc<dyn Embedder>)
            }))
        }
        Choice::Remote(remote) => {
            let opening = Opening::new((**remote).clone(), Patience::default());
            Some(Box::new(move || opening.embedder()))
        }
    }
}

/// Opens a model file, or makes one in memory of a folder as models are published.
fn local(path: &Path) -> Result<LocalModel, String> {
    if !path.is_dir() {
        return LocalModel::open(path, Instructions::Best).map_err(|error| chain(&error));
    }
    let place = path.display();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = convert(&name, |file| std::fs::read(path.join(file)).ok())
        .map_err(|error| format!("{place}: {}", chain(&error)))?;
    ModelFile::read(&bytes)
        .and_then(|file| LocalModel::new(file, Instructions::Best))
        .map_err(|error| format!("{place}: {}", chain(&error)))
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

type Connected = Result<Embeddings, EmbedError>;

/// A server that is being connected to, or will be.
pub(super) struct Opening {
    remote: Remote,
    patience: Patience,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    under_way: Option<Receiver<Connected>>,
    /// What was told last: whoever operates this reads every trouble once.
    told: Option<EmbedError>,
}

impl Opening {
    pub(super) fn new(remote: Remote, patience: Patience) -> Self {
        Self {
            remote,
            patience,
            state: Mutex::default(),
        }
    }

    pub(super) fn embedder(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        let later = || {
            let place = &self.remote.endpoint;
            EmbedError::Unavailable(format!("{place} has not answered yet: it is waited for"))
        };
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(later()),
        };
        let receiver = match state.under_way.take() {
            Some(receiver) => receiver,
            None => self.connect()?,
        };
        match receiver.recv_timeout(self.remote.query_deadline) {
            Ok(Ok(embeddings)) => Ok(Arc::new(embeddings)),
            Ok(Err(error)) => {
                if state.told.as_ref() != Some(&error) {
                    tracing::warn!(why = %error, "searching by words alone for a while");
                    state.told = Some(error.clone());
                }
                Err(error)
            }
            Err(RecvTimeoutError::Disconnected) => Err(later()),
            Err(RecvTimeoutError::Timeout) => {
                state.under_way = Some(receiver);
                Err(later())
            }
        }
    }

    fn connect(&self) -> Result<Receiver<Connected>, EmbedError> {
        let (sender, receiver) = sync_channel(1);
        let (remote, patience) = (self.remote.clone(), self.patience);
        let connecting = move || {
            // Nobody may be there any more.
            let _ = sender.send(Embeddings::with(&remote, patience));
        };
        thread::Builder::new()
            .name("mmw-connect".to_owned())
            .spawn(connecting)
            .map(|_| receiver)
            .map_err(|_| {
                EmbedError::Unavailable(
                    "this computer has no thread left to connect with".to_owned(),
                )
            })
    }
}
