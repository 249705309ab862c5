//! The variables that choose an embedder, read the same way by server and agent.
//!
//! Reading opens no file and connects to nothing. The environment itself comes in as a function: each
//! program has one place that reads it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::endpoint::{Endpoint, Hidden};
use super::http::is_past_proxy;
use crate::config::Variable;

/// The window that is assumed if none is named, in tokens: that of most small models.
const DEFAULT_WINDOW: usize = 512;

/// How long a query waits for its vector if nothing is said.
const DEFAULT_QUERY_DEADLINE: Duration = Duration::from_millis(1_000);

const EMBEDDER: &str = "MMW_EMBEDDER";
const URL: &str = "MMW_EMBEDDINGS_URL";
const KEY: &str = "MMW_EMBEDDINGS_KEY";
const MODEL: &str = "MMW_EMBEDDINGS_MODEL";
const WINDOW: &str = "MMW_EMBEDDINGS_WINDOW";
const TIMEOUT: &str = "MMW_EMBEDDINGS_TIMEOUT_MS";

/// Every variable that is read here, for tables.
pub const VARIABLES: [Variable; 6] = [
    Variable {
        name: EMBEDDER,
        meaning: "what searches by meaning: `built-in`, `off` (words only), or `path:` and a folder of a BERT model \
                  or an `.mmw` file (docs/search-models.md)",
        default: "`built-in`, or the server that `MMW_EMBEDDINGS_URL` names",
    },
    Variable {
        name: URL,
        meaning: "an OpenAI-compatible server that embeds instead, such as `http://localhost:11434/v1`; texts of \
                  records and queries are sent there",
        default: "none: nothing leaves this computer",
    },
    Variable {
        name: KEY,
        meaning: "the key for that server; over plain `http` it is sent to this computer only",
        default: "none",
    },
    Variable {
        name: MODEL,
        meaning: "the model to ask that server for",
        default: "the only one that it has",
    },
    Variable {
        name: WINDOW,
        meaning: "how many tokens that model reads at once, from 64; longer records are embedded in pieces",
        default: "`512`",
    },
    Variable {
        name: TIMEOUT,
        meaning: "how long a search waits for that server, in milliseconds, before it goes by words alone",
        default: "`1000`",
    },
];

/// Which embedder is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// None: a search goes by words.
    Off,
    /// The one that is part of the program.
    BuiltIn,
    /// A model file, or a folder as models are published; absolute.
    File(PathBuf),
    /// A server.
    Remote(Box<Remote>),
}

/// A server that embeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its address.
    pub endpoint: Endpoint,
    /// The key for it.
    pub key: Option<Hidden>,
    /// The model to ask for; without one, the only one that the server has.
    pub model: Option<String>,
    /// How many tokens the model reads at once.
    pub window: usize,
    /// How long a query waits for its vector.
    pub query_deadline: Duration,
    /// The proxy between, as an address.
    pub proxy: Option<Hidden>,
}

impl Remote {
    /// Returns a server with the usual settings, asked directly and without a key.
    #[must_use]
    pub fn at(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            key: None,
            model: None,
            window: DEFAULT_WINDOW,
            query_deadline: DEFAULT_QUERY_DEADLINE,
            proxy: None,
        }
    }
}

/// A variable that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not understood: expected {expected}")]
pub struct SettingError {
    /// Which one.
    pub name: &'static str,
    /// What it may be.
    pub expected: &'static str,
}

/// Reads which embedder is wanted from a lookup of variables. An empty variable counts as unset.
///
/// # Errors
/// [`SettingError`] names the variable and what it may be, never its value.
pub fn read(environment: &dyn Fn(&str) -> Option<OsString>) -> Result<Choice, SettingError> {
    let text = |name: &'static str| text(environment, name);
    let url = text(URL)?;
    let choice = match text(EMBEDDER)?.as_deref() {
        Some("off") => return Ok(Choice::Off),
        None if url.is_some() => None,
        None | Some("built-in") => Some(Choice::BuiltIn),
        Some(named) => match named.strip_prefix("path:") {
            Some(path) => Some(Choice::File(absolute(path, environment)?)),
            None => {
                return refuse(
                    EMBEDDER,
                    "`built-in`, `off`, or `path:` and a file or folder",
                );
            }
        },
    };
    match (choice, url) {
        (Some(choice), None) => Ok(choice),
        (Some(_), Some(_)) => refuse(
            EMBEDDER,
            "nothing or `off` while MMW_EMBEDDINGS_URL is set: one of the two embeds",
        ),
        (None, url) => remote(&url.unwrap_or_default(), environment)
            .map(|remote| Choice::Remote(Box::new(remote))),
    }
}

fn remote(
    url: &str,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Remote, SettingError> {
    let endpoint = Endpoint::parse(url).map_err(|expected| SettingError {
        name: URL,
        expected,
    })?;
    let key = text(environment, KEY)?.map(|key| key.trim().to_owned());
    if key
        .as_ref()
        .is_some_and(|key| !key.bytes().all(|b| b.is_ascii_graphic()))
    {
        return refuse(KEY, "letters, digits and signs without spaces between");
    }
    if key.is_some() && !endpoint.is_tls() && !endpoint.is_loopback() {
        return refuse(
            KEY,
            "an https:// address in MMW_EMBEDDINGS_URL: over plain http everybody on the way could read the key",
        );
    }
    let number = |name, range: std::ops::RangeInclusive<usize>, usual: usize, expected| match text(
        environment,
        name,
    )? {
        None => Ok(usual),
        Some(text) => match text.trim().parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => refuse(name, expected),
        },
    };
    let window = number(
        WINDOW,
        64..=1_000_000,
        DEFAULT_WINDOW,
        "a whole number from 64 to 1000000",
    )?;
    let usual = DEFAULT_QUERY_DEADLINE.as_millis() as usize;
    let deadline = number(
        TIMEOUT,
        10..=60_000,
        usual,
        "a whole number of milliseconds from 10 to 60000",
    )?;
    Ok(Remote {
        key: key.map(Hidden::new),
        model: text(environment, MODEL)?.map(|model| model.trim().to_owned()),
        window,
        query_deadline: Duration::from_millis(deadline as u64),
        proxy: proxy(&endpoint, environment),
        endpoint,
    })
}

/// Returns the proxy that the environment names for an address. What stays on this computer needs
/// none.
fn proxy(endpoint: &Endpoint, environment: &dyn Fn(&str) -> Option<OsString>) -> Option<Hidden> {
    let first = |names: &[&'static str]| {
        let found = names.iter().filter_map(|name| text(environment, name).ok());
        found.flatten().next()
    };
    if endpoint.is_loopback() {
        return None;
    }
    let named = if endpoint.is_tls() {
        first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    } else {
        first(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
    };
    let exceptions = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    named
        .filter(|_| !is_past_proxy(endpoint, &exceptions))
        .map(Hidden::new)
}

fn text(
    environment: &dyn Fn(&str) -> Option<OsString>,
    name: &'static str,
) -> Result<Option<String>, SettingError> {
    let Some(value) = environment(name) else {
        return Ok(None);
    };
    match value.into_string() {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(_) => refuse(name, "text"),
    }
}

/// A relative path would be another one in every folder that a program is started in.
fn absolute(
    path: &str,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, SettingError> {
    let path = Path::new(path.trim());
    let home = environment("HOME").or_else(|| environment("USERPROFILE"));
    let path = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => path.to_owned(),
    };
    if path.is_absolute() {
        Ok(path)
    } else {
        refuse(
            EMBEDDER,
            "an absolute path, or one that starts with `~/`, after `path:`",
        )
    }
}

fn refuse<T>(name: &'static str, expected: &'static str) -> Result<T, SettingError> {
    Err(SettingError { name, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Choice, SettingError> {
        read(&|name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    fn remote(variables: &[(&str, &str)]) -> Remote {
        match from(variables).unwrap() {
            Choice::Remote(remote) => *remote,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_has_to_be_set() {
        assert_eq!(from(&[]), Ok(Choice::BuiltIn));
        assert_eq!(from(&[(EMBEDDER, " "), (URL, "")]), Ok(Choice::BuiltIn));
        assert_eq!(from(&[(EMBEDDER, "built-in")]), Ok(Choice::BuiltIn));
    }

    #[test]
    fn off_wins_over_an_address() {
        assert_eq!(
            from(&[(EMBEDDER, "off"), (URL, "http://h")]),
            Ok(Choice::Off)
        );
    }

    #[test]
    fn a_file_is_absolute_or_in_the_persons_home() {
        let file = |path: &str| from(&[("HOME", "/home/ada"), (EMBEDDER, path)]);
        assert_eq!(file("path:/m/e5"), Ok(Choice::File("/m/e5".into())));
        assert_eq!(
            file("path:~/e5.mmw"),
            Ok(Choice::File("/home/ada/e5.mmw".into()))
        );
        assert_eq!(file("path:e5").unwrap_err().name, EMBEDDER);
    }

    #[test]
    fn an_address_is_enough_for_a_server() {
        let read = remote(&[(URL, "http://localhost:11434")]);
        let expected = Remote::at(Endpoint::parse("http://localhost:11434/v1").unwrap());
        assert_eq!(read, expected);
        assert_eq!((read.window, read.query_deadline.as_millis()), (512, 1_000));
    }

    #[test]
    fn everything_about_a_server_can_be_said() {
        let read = remote(&[
            (URL, "https://h"),
            (KEY, "sk-1 "),
            (MODEL, "bge-m3"),
            (WINDOW, "8192"),
            (TIMEOUT, "250"),
        ]);
        assert_eq!(read.key, Some(Hidden::new("sk-1".to_owned())));
        assert_eq!(read.model.as_deref(), Some("bge-m3"));
        assert_eq!((read.window, read.query_deadline.as_millis()), (8_192, 250));
    }

    #[test]
    fn what_is_not_understood_is_named_and_not_repeated() {
        let url = (URL, "http://localhost");
        for (variables, name) in [
            (vec![(EMBEDDER, "hunter2")], EMBEDDER),
            (vec![(EMBEDDER, "built-in"), url], EMBEDDER),
            (vec![(EMBEDDER, "path:/hunter2"), url], EMBEDDER),
            (vec![(URL, "hunter2:80")], URL),
            (vec![url, (KEY, "hunter2 x")], KEY),
            (vec![url, (KEY, "hunter2\n x")], KEY),
            (vec![(URL, "http://192.168.0.2"), (KEY, "hunter2")], KEY),
            (vec![url, (WINDOW, "63")], WINDOW),
            (vec![url, (WINDOW, "hunter2")], WINDOW),
            (vec![url, (TIMEOUT, "9")], TIMEOUT),
            (vec![url, (TIMEOUT, "60001")], TIMEOUT),
        ] {
            let refused = from(&variables).unwrap_err();
            assert_eq!(refused.name, name, "{variables:?}");
            let told = refused.to_string();
            assert!(told.contains(name) && !told.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn a_key_goes_over_plain_http_to_this_computer_only() {
        for (url, is_sent) in [
            ("http://127.0.0.1:1", true),
            ("https://192.168.0.2", true),
            ("http://192.168.0.2", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(from(&[(URL, url), (KEY, "k")]).is_ok(), is_sent, "{url}");
        }
        assert!(from(&[(URL, "http://192.168.0.2")]).is_ok());
    }

    #[test]
    fn a_proxy_is_used_only_if_the_environment_names_one_for_that_address() {
        let both = [
            ("HTTP_PROXY", "http://plain:1"),
            ("HTTPS_PROXY", "http://tls:1"),
        ];
        for (url, extra, expected) in [
            ("https://h", ("", ""), Some("http://tls:1")),
            ("http://h", ("", ""), Some("http://plain:1")),
            ("http://localhost", ("", ""), None),
            ("http://127.0.0.1:9", ("", ""), None),
            ("https://h", ("NO_PROXY", "x, h"), None),
            ("https://a.h", ("no_proxy", ".h"), None),
            ("https://h", ("NO_PROXY", "*"), None),
            ("https://h", ("NO_PROXY", "hh"), Some("http://tls:1")),
        ] {
            let variables = [both[0], both[1], (URL, url), extra];
            let expected = expected.map(|proxy| Hidden::new(proxy.to_owned()));
            assert_eq!(remote(&variables).proxy, expected, "{url} {extra:?}");
        }
        assert_eq!(remote(&[(URL, "https://h")]).proxy, None);
    }

    #[test]
    fn no_secret_is_in_the_debug_form() {
        let choice = from(&[
            (URL, "https://h"),
            (KEY, "hunter2"),
            ("HTTPS_PROXY", "http://ada:hunter2@p:1"),
        ]);
        assert!(!format!("{choice:?}").contains("hunter2"));
    }
}
