//! Settings: the only place that reads the environment. Options on the command line win.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::embeddings::{self, Choice, SettingError};
use crate::guard_rules;
use crate::lane::DEFAULT_TURNS;

/// A variable of the environment, for the generated table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What holds if it is not set.
    pub default: &'static str,
}

/// Every variable that the server reads.
pub const ENVIRONMENT: [Variable; 13] = [
    Variable {
        name: "MMW_DATA_DIR",
        meaning: "folder of the store",
        default: "`~/.local/share/mmw`, or the platform's place for data",
    },
    Variable {
        name: "MMW_LISTEN",
        meaning: "address and port to serve on; port 0 takes a free one",
        default: "`127.0.0.1:7667`",
    },
    Variable {
        name: "MMW_ALLOWED_HOSTS",
        meaning: "further host names that are served, separated by commas",
        default: "none: loopback names, and the address that is listened on",
    },
    Variable {
        name: "MMW_ALLOWED_ORIGINS",
        meaning: "origins of web pages from elsewhere that may call, separated by commas",
        default: "none",
    },
    Variable {
        name: guard_rules::VARIABLE,
        meaning: "file of further rules for secrets, as gitleaks or betterleaks write them (TOML); \
                  a file that can't be used keeps the program from starting",
        default: "none: the guard's own rules, which always run",
    },
    embeddings::VARIABLES[0],
    embeddings::VARIABLES[1],
    embeddings::VARIABLES[2],
    embeddings::VARIABLES[3],
    embeddings::VARIABLES[4],
    embeddings::VARIABLES[5],
    Variable {
        name: "MMW_TURNS",
        meaning: "calls that work on the store at the same time",
        default: "`8`",
    },
    Variable {
        name: "MMW_LOG",
        meaning: "what is logged to stderr, as `tracing` filters are written",
        default: "`info`",
    },
];

/// The address that is listened on if nothing is said.
const DEFAULT_LISTEN: &str = "127.0.0.1:7667";

/// The name of the store's file in its folder.
pub const STORE_FILE: &str = "mmw.db";

/// The settings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Folder of the store.
    pub data_dir: PathBuf,
    /// Address and port to serve on.
    pub listen: SocketAddr,
    /// Further host names that are served, in small letters.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages from elsewhere that may call.
    pub allowed_origins: Vec<String>,
    /// File of further rules for the guard.
    pub guard_rules: Option<PathBuf>,
    /// What searches by meaning.
    pub embedder: Choice,
    /// Calls that work on the store at the same time.
    pub n_turns: NonZeroUsize,
}

impl Config {
    /// Returns the file of the store.
    #[must_use]
    pub fn store_file(&self) -> PathBuf {
        self.data_dir.join(STORE_FILE)
    }
}

/// What the command line says about settings.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Overrides {
    /// Folder of the store [env: MMW_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// A setting that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A variable has a value that is not understood.
    #[error("{name} is not understood: expected {expected}")]
    NotUnderstood {
        /// The variable or option.
        name: &'static str,
        /// What would be.
        expected: &'static str,
    },
    /// A variable about the embedder has a value that is not understood.
    #[error(transparent)]
    Embedder(#[from] SettingError),
    /// There is no folder for data.
    #[error("no folder for data is known on this computer: set MMW_DATA_DIR")]
    NoDataDir,
}

/// Reads the settings.
///
/// # Errors
/// [`ConfigError`].
pub fn read(overrides: &Overrides, listen: Option<&str>) -> Result<Config, ConfigError> {
    from(overrides, listen, &environment)
}

/// Returns the filter for logs.
#[must_use]
pub fn log_filter() -> String {
    text(&environment, "MMW_LOG").unwrap_or_else(|| "info".to_owned())
}

#[allow(
    clippy::disallowed_methods,
    reason = "this module is where the environment is read"
)]
fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn text(environment: Environment<'_>, name: &str) -> Option<String> {
    environment(name)?
        .into_string()
        .ok()
        .filter(|text| !text.trim().is_empty())
}

fn list(environment: Environment<'_>, name: &str) -> Vec<String> {
    text(environment, name)
        .unwrap_or_default()
        .split(',')
        .map(|entry| entry.trim().to_ascii_lowercase())
        .filter(|entry| !entry.is_empty())
        .collect()
}

fn from(
    overrides: &Overrides,
    listen: Option<&str>,
    environment: Environment<'_>,
) -> Result<Config, ConfigError> {
    let listen = listen
        .map(str::to_owned)
        .or_else(|| text(environment, "MMW_LISTEN"))
        .unwrap_or_else(|| DEFAULT_LISTEN.to_owned());
    let listen: SocketAddr = listen
        .replace("localhost:", "127.0.0.1:")
        .parse()
        .map_err(|_| ConfigError::NotUnderstood {
            name: "MMW_LISTEN (--listen)",
            expected: "an address and a port, such as 127.0.0.1:7667",
        })?;
    let n_turns = match text(environment, "MMW_TURNS") {
        None => NonZeroUsize::new(DEFAULT_TURNS),
        Some(text) => text.parse().ok(),
    };
    let data_dir = overrides
        .data_dir
        .clone()
        .or_else(|| {
            environment("MMW_DATA_DIR")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from)
        })
        .or_else(|| platform_data_dir(environment))
        .ok_or(ConfigError::NoDataDir)?;
    Ok(Config {
        data_dir,
        listen,
        allowed_hosts: list(environment, "MMW_ALLOWED_HOSTS"),
        allowed_origins: list(environment, "MMW_ALLOWED_ORIGINS"),
        guard_rules: environment(guard_rules::VARIABLE)
            .filter(|file| !file.is_empty())
            .map(PathBuf::from),
        embedder: embeddings::read(environment)?,
        n_turns: n_turns.ok_or(ConfigError::NotUnderstood {
            name: "MMW_TURNS",
            expected: "a whole number from 1",
        })?,
    })
}

fn platform_data_dir(environment: Environment<'_>) -> Option<PathBuf> {
    let folder = |name: &str| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("mmw"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(variables: &[(&str, &str)], listen: Option<&str>) -> Result<Config, ConfigError> {
        from(&Overrides::default(), listen, &|name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_has_to_be_set() {
        let config = read_with(&[("HOME", "/home/ada")], None).unwrap();
        assert_eq!(config.data_dir, PathBuf::from("/home/ada/.local/share/mmw"));
        assert_eq!(config.listen.to_string(), "127.0.0.1:7667");
        assert_eq!(config.n_turns.get(), DEFAULT_TURNS);
    }

    #[test]
    fn options_win_over_variables() {
        let variables = [("MMW_DATA_DIR", "/data"), ("MMW_LISTEN", "0.0.0.0:80")];
        let config = read_with(&variables, Some("localhost:0")).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:0");
        assert_eq!(config.data_dir, PathBuf::from("/data"));
        let config = read_with(&variables, None).unwrap();
        assert_eq!(config.listen.to_string(), "0.0.0.0:80");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (name, value) in [
            ("MMW_LISTEN", "7667"),
            ("MMW_TURNS", "0"),
            ("MMW_TURNS", "many"),
            ("MMW_EMBEDDER", "some"),
            ("MMW_EMBEDDINGS_URL", "localhost:1"),
        ] {
            let refused = read_with(&[("MMW_DATA_DIR", "/d"), (name, value)], None).unwrap_err();
            assert!(refused.to_string().contains(name), "{refused}");
        }
        assert_eq!(read_with(&[], None), Err(ConfigError::NoDataDir));
    }

    #[test]
    fn the_embedder_is_chosen_by_the_environment() {
        let of = |variables: &[(&str, &str)]| {
            let variables = [&[("MMW_DATA_DIR", "/d")], variables].concat();
            read_with(&variables, None).unwrap().embedder
        };
        assert_eq!(of(&[]), Choice::BuiltIn);
        assert_eq!(of(&[("MMW_EMBEDDER", "off")]), Choice::Off);
        let remote = of(&[("MMW_EMBEDDINGS_URL", "http://localhost:11434")]);
        assert!(matches!(remote, Choice::Remote(_)));
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let variables = [
            ("MMW_DATA_DIR", "/d"),
            ("MMW_ALLOWED_HOSTS", "Memory.example, ,other"),
        ];
        let config = read_with(&variables, None).unwrap();
        assert_eq!(config.allowed_hosts, ["memory.example", "other"]);
    }

    #[test]
    fn an_empty_rule_file_is_none() {
        let of = |value| {
            let variables = [("MMW_DATA_DIR", "/d"), (guard_rules::VARIABLE, value)];
            read_with(&variables, None).unwrap().guard_rules
        };
        assert_eq!(of(""), None);
        assert_eq!(of("rules.toml"), Some(PathBuf::from("rules.toml")));
    }
}
