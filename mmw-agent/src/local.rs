//! The store on this computer.
//!
//! Nothing is opened until something needs it: a client gets the answer to `initialize` at once,
//! however large the store is, and asking for help or the version touches no file. The folder is
//! for its owner only.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::{Caller, Way};
use mmw_guard::Guard;
use mmw_hooks::private;
use mmw_server::embeddings::{Choice, opener};
use mmw_server::guard_rules;
use mmw_store::engine::EngineError;
use mmw_store::{Failure, Memory};

use crate::config::Config;
use crate::connect::file::FileError;
use crate::exit::{Trouble, chain};
use crate::project::Project;
use crate::project::known::{Here, Settled};
use crate::project::ledger::Ledger;

/// The name of the store's file in the agent's home.
const STORE_FILE: &str = "memory.db";

/// The memory of the project that the program was started in.
pub(crate) struct Local {
    home: PathBuf,
    folder: PathBuf,
    guard: Guard,
    embedder: Choice,
    project: OnceLock<Project>,
    settled: OnceLock<Settled>,
    memory: OnceLock<Memory>,
}

impl Local {
    /// Returns the memory that the settings name, unopened.
    ///
    /// # Errors
    /// If the rules that are added to the guard can't be used: no call is answered without them.
    pub(crate) fn new(config: &Config) -> Result<Self, Trouble> {
        let guard = guard_rules::guard(config.guard_rules.as_deref())
            .map_err(|error| Trouble::usage(chain(&error)))?;
        Ok(Self {
            home: config.home.clone(),
            folder: config.folder.clone(),
            guard,
            embedder: config.embedder.clone(),
            project: OnceLock::new(),
            settled: OnceLock::new(),
            memory: OnceLock::new(),
        })
    }

    /// Returns the agent's home.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the store's file.
    pub(crate) fn file(&self) -> PathBuf {
        self.home.join(STORE_FILE)
    }

    /// Returns the guard, with the rules that were added to it.
    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Tells whether text goes to a model somewhere else.
    pub(crate) fn asks_elsewhere(&self) -> bool {
        matches!(self.embedder, Choice::Remote(_))
    }

    /// Tells whether anything was ever saved on this computer.
    pub(crate) fn exists(&self) -> bool {
        self.file().exists()
    }

    /// Returns the project.
    pub(crate) fn project(&self) -> &Project {
        self.project.get_or_init(|| Project::of(&self.folder))
    }

    /// Opens the store, or makes it.
    ///
    /// # Errors
    /// If the folder can't be made or the store can't be opened.
    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        if let Some(memory) = self.memory.get() {
            return Ok(memory.clone());
        }
        make_private(&self.home).map_err(|error| unusable(&self.home, &error))?;
        let memory = Memory::open_with(
            &self.file(),
            self.guard.clone(),
            opener(&self.embedder),
            Arc::new(SystemClock),
            Arc::new(SystemEntropy),
        )?;
        Ok(self.memory.get_or_init(|| memory).clone())
    }

    /// Returns the person on this computer as the caller in this project.
    ///
    /// # Errors
    /// As [`Local::memory`], or the store can't be written to.
    pub(crate) fn caller(&self, way: Way) -> Result<Caller, Failure> {
        let memory = self.memory()?;
        memory.local_caller(&self.settled()?.name, way)
    }

    /// Returns which of the store's projects this one is: that of its own name, unless it was known by
    /// another one before.
    ///
    /// # Errors
    /// As [`Local::memory`], or the store can't be read.
    pub(crate) fn settled(&self) -> Result<&Settled, Failure> {
        if let Some(settled) = self.settled.get() {
            return Ok(settled);
        }
        let memory = self.memory()?;
        let here = self.here();
        let settled = Ledger::in_home(&self.home).settle(&here, &mut |name| match memory
            .local_holdings(name)
        {
            // No project has it for a name.
            Err(Failure::Invalid(_)) => Ok(0),
            held => held,
        })?;
        Ok(self.settled.get_or_init(|| settled))
    }

    /// Returns the project as it is known by now.
    pub(crate) fn here(&self) -> Here {
        self.project().here(|name| self.guard.redact(name).0)
    }

    /// Goes on with another of the store's projects here, from the next start.
    ///
    /// # Errors
    /// If that can't be noted.
    pub(crate) fn choose(&self, name: &str) -> Result<(), FileError> {
        Ledger::in_home(&self.home).choose(&self.here(), name)
    }
}

/// Says in the store's words why its folder can't be used.
fn unusable(folder: &Path, error: &io::Error) -> Failure {
    let trouble = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            EngineError::ReadOnly
        }
        io::ErrorKind::StorageFull => EngineError::DiskFull,
        _ => {
            let said = format!("the folder {} can't be used: {error}", folder.display());
            EngineError::Backend(said.into())
        }
    };
    trouble.into()
}

/// Makes the folder for its owner only, and closes one to others that was left open.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    private::make_folder(folder)?;
    // A folder that holds other things is not ours to close: somebody's home, or `/tmp`.
    let is_ours = || -> io::Result<bool> {
        Ok(folder.join(STORE_FILE).exists() || folder.read_dir()?.next().is_none())
    };
    if private::is_open(folder)? && is_ours()? {
        private::close(folder)?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(folder: &Path) -> u32 {
        let about = std::fs::metadata(folder).expect("the folder is there");
        about.permissions().mode() & 0o777
    }

    #[test]
    fn the_folder_is_for_its_owner_only() {
        let desk = tempfile::tempdir().unwrap();
        let home = desk.path().join("deep/.mmw");
        make_private(&home).unwrap();
        assert_eq!(mode(&home), 0o700);
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).unwrap();
        make_private(&home).unwrap();
        assert_eq!(mode(&home), 0o700);
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_named() {
        let desk = tempfile::tempdir().unwrap();
        let home = desk.path().join("taken");
        std::fs::write(&home, "x").unwrap();
        let error = make_private(&home).unwrap_err();
        let told = unusable(&home, &error).to_string();
        assert!(told.contains(&home.display().to_string()), "{told}");
    }

    #[test]
    fn a_folder_of_other_things_is_left_as_it_is() {
        let desk = tempfile::tempdir().unwrap();
        std::fs::write(desk.path().join("else"), "x").unwrap();
        std::fs::set_permissions(desk.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        make_private(desk.path()).unwrap();
        assert_eq!(mode(desk.path()), 0o755);
    }
}
