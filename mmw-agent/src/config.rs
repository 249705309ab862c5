//! What the environment says: the only place in this crate that reads it.
//!
//! | variable | meaning |
//! |---|---|
//! | `MMW_AGENT_HOME` | where the agent keeps its store; default `~/.mmw` |
//! | `MMW_WORKSPACE` | the workspace of a call that names none; default `default` |
//! | `MMW_SOURCE_ROOTS` | folders whose files may be hashed; default: the one it was started in |
//! | `MMW_GUARD_RULES` | a file of further rules for secrets; default none |
//! | `MMW_EMBEDDER` | what searches by meaning: `built-in`, `off`, or `path:` and a model |
//! | `MMW_EMBEDDINGS_URL`, `…_KEY`, `…_MODEL`, `…_WINDOW`, `…_TIMEOUT_MS` | a server that embeds instead |
//! | `MMW_ENDPOINT`, `MMW_API_KEY` | a server instead of the store on this computer, and its key |
//! | `MMW_LANG` | `en` or `ru`; read, not used yet |
//!
//! An empty variable counts as unset. A client's settings file is no shell, so a leading `~/` is
//! understood here.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use mmw_core::place::WorkspaceName;
use mmw_server::embeddings::{self, Choice};
use mmw_server::guard_rules;

use crate::connect::places::{Places, System};
use crate::exit::{Exit, Trouble};

/// The table of variables, as `--help` prints it.
pub const TABLE: &str = "\
Environment:
  MMW_AGENT_HOME   where the memory is kept (default ~/.mmw)
  MMW_ENDPOINT     a server to work on instead, such as https://mmw.example.org
  MMW_API_KEY      the key for that server
  MMW_WORKSPACE    the workspace of a call that names none (default `default`)
  MMW_SOURCE_ROOTS the folders whose files may be hashed, with `:` between them, on Windows with `;`
                   (default: the folder that it was started in)
  MMW_GUARD_RULES  a file of further rules for secrets, as gitleaks or betterleaks write them
  MMW_EMBEDDER     what searches by meaning: `built-in`, `off`, or `path:` and a model's file or folder
  MMW_EMBEDDINGS_URL  an OpenAI-compatible server that embeds instead, such as http://localhost:11434/v1;
                      with …_KEY, …_MODEL, …_WINDOW and …_TIMEOUT_MS (see docs/search-models.md)";

/// The variable of the folders whose files may be read and hashed.
const SOURCE_ROOTS: &str = "MMW_SOURCE_ROOTS";

/// The folder in the person's home where the agent keeps its store by default.
const DEFAULT_HOME: &str = ".mmw";

/// Variables that coding agents set in the shells that they run commands in, and whose shell it is.
const AGENT_SHELLS: &[(&str, &str)] = &[
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("CURSOR_AGENT", "Cursor"),
];

/// Variables that say where things are.
const LASTING: &[&str] = &[
    "MMW_AGENT_HOME",
    "MMW_ENDPOINT",
    "MMW_GUARD_RULES",
    "MMW_SOURCE_ROOTS",
    "MMW_EMBEDDER",
    "MMW_EMBEDDINGS_URL",
    "MMW_EMBEDDINGS_MODEL",
    "MMW_EMBEDDINGS_WINDOW",
    "MMW_EMBEDDINGS_TIMEOUT_MS",
    "MMW_LANG",
];

/// A key to a server. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a text for a key.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the key itself, to be sent to the endpoint that it was given for.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the public half, by which a server knows the key; none if the form is not that of a key.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        let (id, _) = self.0.strip_prefix("mmw_")?.split_once('_')?;
        (!id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(id)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// The language of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `en`, the default.
    English,
    /// `ru`.
    Russian,
}

/// The settings of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where the agent keeps its store; absolute.
    pub home: PathBuf,
    /// The folder that the program was started in.
    pub folder: PathBuf,
    /// The folders whose files may be read and hashed, if they are set; absolute.
    pub source_roots: Option<Vec<PathBuf>>,
    /// The workspace of a call that names none, if one is set.
    pub workspace: Option<WorkspaceName>,
    /// The file of further rules for the guard, if one is set; absolute.
    pub guard_rules: Option<PathBuf>,
    /// What searches by meaning.
    pub embedder: Choice,
    /// The server, if one is set.
    pub endpoint: Option<String>,
    /// The key for that server.
    pub api_key: Option<ApiKey>,
    /// The language of messages.
    pub language: Language,
    /// The coding agent whose shell this is, as far as it tells.
    pub agent_shell: Option<&'static str>,
    /// Where clients keep their settings.
    pub places: Places,
    /// Variables that are set and that a client has to hand to this program too, if it starts it: where
    /// things are. No key, and nothing that differs from folder to folder.
    pub lasting: Vec<(String, String)>,
}

impl Config {
    /// Reads the settings of this process.
    ///
    /// # Errors
    /// As [`Config::from_lookup`]; or the present folder is gone.
    #[allow(clippy::disallowed_methods, reason = "this module is the door itself")]
    pub fn from_environment() -> Result<Self, Trouble> {
        let folder = std::env::current_dir().map_err(|error| {
            Trouble::usage(format!("the present folder can't be read: {error}"))
                .hint("change to a folder that exists")
        })?;
        Self::from_lookup(|name| std::env::var_os(name), folder)
    }

    /// Reads the settings from a lookup of names, for a program started in `folder`.
    ///
    /// # Errors
    /// A variable whose value can't be used, named with what it may be; or no home folder.
    pub fn from_lookup(
        lookup: impl Fn(&str) -> Option<OsString>,
        folder: PathBuf,
    ) -> Result<Self, Trouble> {
        let raw = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let text = |name: &str| {
            raw(name)
                .map(|value| {
                    value
                        .into_string()
                        .map_err(|_| Trouble::usage(format!("{name} is no text")))
                })
                .transpose()
        };
        let person_home = raw("HOME")
            .or_else(|| raw("USERPROFILE"))
            .map(PathBuf::from);
        let home = match raw("MMW_AGENT_HOME").map(PathBuf::from) {
            Some(path) => absolute("MMW_AGENT_HOME", &path, person_home.as_deref())?,
            None => person_home
                .clone()
                .filter(|home| home.is_absolute())
                .ok_or_else(|| {
                    Trouble::usage("there is no home folder to keep the memory in")
                        .hint("set HOME, or MMW_AGENT_HOME to a folder")
                })?
                .join(DEFAULT_HOME),
        };
        Ok(Self {
            home,
            folder,
            source_roots: raw(SOURCE_ROOTS)
                .map(|list| roots(&list, person_home.as_deref()))
                .transpose()?,
            workspace: text("MMW_WORKSPACE")?
                .map(|name| WorkspaceName::new(&name))
                .transpose()
                .map_err(|error| Trouble::usage(format!("MMW_WORKSPACE: {error}")))?,
            guard_rules: raw(guard_rules::VARIABLE)
                .map(|path| {
                    let path = PathBuf::from(path);
                    absolute(guard_rules::VARIABLE, &path, person_home.as_deref())
                })
                .transpose()?,
            embedder: embeddings::read(&lookup)
                .map_err(|error| Trouble::usage(error.to_string()))?,
            endpoint: text("MMW_ENDPOINT")?,
            api_key: text("MMW_API_KEY")?.map(ApiKey),
            language: match text("MMW_LANG")?.as_deref() {
                None | Some("en") => Language::English,
                Some("ru") => Language::Russian,
                Some(_) => return Err(Trouble::usage("MMW_LANG: must be one of: en, ru")),
            },
            agent_shell: AGENT_SHELLS
                .iter()
                .find(|(name, _)| raw(name).is_some())
                .map(|(_, agent)| *agent),
            places: Places::of(System::HERE, &lookup),
            lasting: LASTING
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), text(name).ok()??)))
                .collect(),
        })
    }

    /// Returns the path of the running program.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn program() -> Result<PathBuf, Trouble> {
        std::env::current_exe().map_err(|error| {
            Trouble::usage(format!(
                "the system does not tell where this program is: {error}"
            ))
        })
    }

    /// Refuses a command that can't work on a server, and says what to do instead.
    ///
    /// # Errors
    /// If `MMW_ENDPOINT` is set.
    pub fn needs_embedded(&self, command: &str, instead: &str) -> Result<(), Trouble> {
        if self.endpoint.is_none() {
            return Ok(());
        }
        Err(Trouble::new(
            Exit::Usage,
            format!(
                "MMW_ENDPOINT is set, and `{command}` works on the memory of this computer only"
            ),
        )
        .hint(instead))
    }
}

/// Reads a list of folders as the system writes them: with `:` between them, on Windows with `;`.
fn roots(list: &OsStr, person_home: Option<&Path>) -> Result<Vec<PathBuf>, Trouble> {
    std::env::split_paths(list)
        .filter(|path| !path.as_os_str().is_empty())
        .map(|path| absolute(SOURCE_ROOTS, &path, person_home))
        .collect()
}

/// Returns the path that a variable names.
fn absolute(name: &str, path: &Path, person_home: Option<&Path>) -> Result<PathBuf, Trouble> {
    let path = match (path.strip_prefix("~"), person_home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    if path.is_absolute() {
        return Ok(path);
    }
    // A relative path would be another one in every folder the agent is started in.
    Err(Trouble::usage(format!(
        "{name}: must be an absolute path or start with `~/`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Config, Trouble> {
        Config::from_lookup(
            |name| {
                vars.iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| OsString::from(value))
            },
            PathBuf::from("/repo"),
        )
    }

    #[test]
    fn the_default_home_is_in_the_persons_home() {
        let config = read(&[("HOME", "/home/ann")]).unwrap();
        assert_eq!(config.home, Path::new("/home/ann/.mmw"));
        assert_eq!(config.workspace, None);
        assert_eq!(config.language, Language::English);
        assert_eq!(config.agent_shell, None);
        assert!(config.needs_embedded("rescan", "there").is_ok());
    }

    #[test]
    fn an_agent_home_is_absolute_or_starts_at_home() {
        let home = |value| {
            read(&[("HOME", "/home/ann"), ("MMW_AGENT_HOME", value)]).map(|config| config.home)
        };
        assert_eq!(home("/var/mmw").unwrap(), Path::new("/var/mmw"));
        assert_eq!(home("~/m").unwrap(), Path::new("/home/ann/m"));
        assert_eq!(home("").unwrap(), Path::new("/home/ann/.mmw"));
        assert!(home("mmw").unwrap_err().message.contains("absolute"));
    }

    #[cfg(unix)]
    #[test]
    fn source_roots_are_a_list_of_absolute_folders() {
        let roots = |value| {
            read(&[("HOME", "/home/ann"), ("MMW_SOURCE_ROOTS", value)])
                .map(|config| config.source_roots)
        };
        assert_eq!(roots("").unwrap(), None);
        assert_eq!(
            roots("/a b::~/c").unwrap().unwrap(),
            [Path::new("/a b"), Path::new("/home/ann/c")]
        );
        assert!(
            roots("/a:b")
                .unwrap_err()
                .message
                .contains("MMW_SOURCE_ROOTS")
        );
    }

    #[test]
    fn a_rule_file_is_absolute_or_starts_at_home() {
        let file = |value| {
            read(&[("HOME", "/home/ann"), ("MMW_GUARD_RULES", value)])
                .map(|config| config.guard_rules)
        };
        assert_eq!(file("").unwrap(), None);
        assert_eq!(file("/r.toml").unwrap().unwrap(), Path::new("/r.toml"));
        assert_eq!(
            file("~/r.toml").unwrap().unwrap(),
            Path::new("/home/ann/r.toml")
        );
        let told = file("r.toml").unwrap_err().message;
        assert!(told.starts_with("MMW_GUARD_RULES: "), "{told}");
    }

    #[test]
    fn a_bad_setting_is_named() {
        let refused = |name, value| {
            let vars = [("HOME", "/h"), (name, value)];
            read(&vars).unwrap_err().message
        };
        assert!(refused("MMW_WORKSPACE", "a|b").starts_with("MMW_WORKSPACE: "));
        assert!(refused("MMW_LANG", "de").starts_with("MMW_LANG: "));
        assert!(refused("MMW_EMBEDDER", "some").starts_with("MMW_EMBEDDER "));
        assert_eq!(read(&[]).unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn the_embedder_is_chosen_by_the_environment() {
        let of = |name, value| read(&[("HOME", "/h"), (name, value)]).unwrap().embedder;
        assert_eq!(of("MMW_EMBEDDER", ""), Choice::BuiltIn);
        assert_eq!(of("MMW_EMBEDDER", "off"), Choice::Off);
        let file = Choice::File("/h/e5".into());
        assert_eq!(of("MMW_EMBEDDER", "path:~/e5"), file);
        let remote = of("MMW_EMBEDDINGS_URL", "http://localhost:11434");
        assert!(matches!(remote, Choice::Remote(_)));
    }

    #[test]
    fn a_command_of_this_computer_alone_says_what_to_run_on_the_server() {
        let config = read(&[("HOME", "/h"), ("MMW_ENDPOINT", "http://s:1")]).unwrap();
        let refused = config
            .needs_embedded("rescan", "on the server: mmw-server rescan")
            .unwrap_err();
        assert!(refused.message.contains("MMW_ENDPOINT") && refused.message.contains("`rescan`"));
        assert!(refused.hint.unwrap().contains("mmw-server rescan"));
    }

    #[test]
    fn a_key_is_not_printed() {
        let config = read(&[("HOME", "/h"), ("MMW_API_KEY", "mmw_secret")]).unwrap();
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(config.api_key.unwrap().reveal(), "mmw_secret");
    }

    #[test]
    fn an_agents_shell_is_known_by_its_variable() {
        let config = read(&[("HOME", "/h"), ("CLAUDECODE", "1")]).unwrap();
        assert_eq!(config.agent_shell, Some("Claude Code"));
    }
}
