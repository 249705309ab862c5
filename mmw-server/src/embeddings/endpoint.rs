//! The address of a server that embeds, and values that are never printed.
//!
//! Addresses come in every form that people copy from documentation; here they become one. Nothing
//! is connected to.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// A key or an address with a password. Its debug form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a value.
    #[must_use]
    pub fn new(value: String) -> Self {
        Self(value)
    }

    /// Returns the value, to be sent where it was given for.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}

/// The address of an OpenAI-compatible server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host and port.
    origin: String,
    /// What stands before `/embeddings`: empty, or begins with a slash and ends without one.
    path: String,
    host: String,
    is_tls: bool,
}

impl Endpoint {
    /// Reads an address, with or without `/v1` and with or without `/embeddings`.
    ///
    /// # Errors
    /// What is expected instead.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "an address such as http://localhost:11434/v1";
        let text = text.trim();
        if text.contains(['?', '#']) {
            return Err("an address without `?` and `#`");
        }
        let uri: Uri = text.parse().map_err(|_| EXPECTED)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err("an address that begins with http:// or https://");
        };
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err("an address that begins with http:// or https://"),
        };
        if authority.as_str().contains('@') {
            return Err(
                "an address without a name or password in it: MMW_EMBEDDINGS_KEY is for the key",
            );
        }
        if authority.host().is_empty() {
            return Err(EXPECTED);
        }
        let path = uri.path().trim_end_matches('/');
        let is_whole = path.ends_with("/embeddings");
        let path = path.trim_end_matches("/embeddings").trim_end_matches('/');
        // A bare host is what people have of Ollama and LM Studio.
        let path = if path.is_empty() && !is_whole {
            "/v1"
        } else {
            path
        };
        Ok(Self {
            origin: format!("{scheme}://{authority}"),
            path: path.to_owned(),
            host: authority
                .host()
                .trim_matches(['[', ']'])
                .to_ascii_lowercase(),
            is_tls,
        })
    }

    /// Tells whether what is sent there stays on this computer, unless somebody passes it on.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let is_name = self.host == "localhost" || self.host.ends_with(".localhost");
        is_name || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Tells whether nobody on the way can read what is sent.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Returns scheme, host and port.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn embeddings(&self) -> String {
        format!("{}{}/embeddings", self.origin, self.path)
    }

    pub(super) fn models(&self) -> String {
        format!("{}{}/models", self.origin, self.path)
    }

    /// Where servers of the Text Embeddings Inference kind say which model they have.
    pub(super) fn info(&self) -> String {
        let above = self.path.strip_suffix("/v1").unwrap_or(&self.path);
        format!("{}{above}/info", self.origin)
    }
}

/// As messages name it: whoever reads them knows the path.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, embeddings: &str) {
        assert_eq!(
            Endpoint::parse(text).unwrap().embeddings(),
            embeddings,
            "{text}"
        );
    }

    #[test]
    fn every_way_to_write_an_address_leads_to_the_same_one() {
        let ollama = "http://localhost:11434/v1/embeddings";
        for text in [
            "http://localhost:11434",
            "http://localhost:11434/",
            " http://localhost:11434/v1",
            "http://localhost:11434/v1/",
            "http://localhost:11434/v1/embeddings",
            "http://localhost:11434/v1/embeddings/",
        ] {
            check(text, ollama);
        }
        check("https://h/api/v3", "https://h/api/v3/embeddings");
        check("http://h:80/embeddings", "http://h:80/embeddings");
        check("http://[::1]:8080", "http://[::1]:8080/v1/embeddings");
    }

    #[test]
    fn models_and_info_stand_beside_it() {
        let endpoint = Endpoint::parse("http://h:1/a/v1").unwrap();
        assert_eq!(endpoint.models(), "http://h:1/a/v1/models");
        assert_eq!(endpoint.info(), "http://h:1/a/info");
        assert_eq!(endpoint.to_string(), "http://h:1");
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        for (text, word) in [
            ("localhost:11434", "http://"),
            ("ftp://h", "http://"),
            ("http://", "http://"),
            ("http://a b", "http://"),
            ("http://user:hunter2@h", "MMW_EMBEDDINGS_KEY"),
            ("https://h/v1?api-key=hunter2", "`?`"),
            ("", "http://"),
        ] {
            let told = Endpoint::parse(text).unwrap_err();
            assert!(
                told.contains(word) && !told.contains("hunter2"),
                "{text}: {told}"
            );
        }
    }

    #[test]
    fn only_this_computer_is_loopback() {
        for (text, expected) in [
            ("http://localhost", true),
            ("http://LOCALHOST:1", true),
            ("http://127.8.8.8", true),
            ("http://[::1]", true),
            ("http://a.localhost", true),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
            ("http://192.168.1.2", false),
            ("http://0.0.0.0", false),
        ] {
            assert_eq!(
                Endpoint::parse(text).unwrap().is_loopback(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_hidden_is_not_printed() {
        let hidden = Hidden::new("hunter2".to_owned());
        assert_eq!(format!("{hidden:?}"), "Hidden(…)");
        assert_eq!(hidden.reveal(), "hunter2");
    }
}
