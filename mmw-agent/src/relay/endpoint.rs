//! The server's address, and what may be sent there.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use crate::exit::Trouble;

/// The address of a server's `/mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    origin: String,
    url: String,
}

impl Endpoint {
    /// Reads an address, with or without `/mcp`.
    ///
    /// # Errors
    /// What is expected instead. A key and what is remembered go there, so plain HTTP is only taken where
    /// it does not leave this computer.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.contains(['?', '#']) {
            return Err("must be an address without `?` and `#`");
        }
        let uri: Uri = text
            .parse()
            .map_err(|_| "must be an address such as https://mmw.example.org")?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err("must be an address that begins with https:// or http://");
        };
        if authority.as_str().contains('@') {
            return Err("must have no name or password in it: the key belongs into MMW_API_KEY");
        }
        let host = authority
            .host()
            .trim_matches(['[', ']'])
            .to_ascii_lowercase();
        if host.is_empty() {
            return Err("must name a host");
        }
        match scheme {
            "https" => {}
            "http" if is_loopback(&host) => {}
            "http" => {
                return Err(
                    "must begin with https://: over plain http:// everybody on the way could read the key and \
                     what is remembered (http:// is fine for this computer)",
                );
            }
            _ => return Err("must be an address that begins with https:// or http://"),
        }
        let origin = format!("{scheme}://{authority}");
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix("/mcp").unwrap_or(path);
        Ok(Self {
            url: format!("{origin}{path}/mcp"),
            origin,
        })
    }

    /// Reads the setting.
    ///
    /// # Errors
    /// What is expected instead, as a trouble of the settings.
    pub(crate) fn of_setting(text: &str) -> Result<Self, Trouble> {
        Self::parse(text).map_err(|why| Trouble::usage(format!("MMW_ENDPOINT: {why}")))
    }

    /// Returns the address of an action.
    pub(super) fn action(&self, name: &str) -> String {
        let base = self.url.strip_suffix("/mcp").unwrap_or(&self.url);
        format!("{base}/api/v1/{name}")
    }

    /// Returns the address that tells whether a server is there, to anybody.
    pub(super) fn health(&self) -> String {
        let base = self.url.strip_suffix("/mcp").unwrap_or(&self.url);
        format!("{base}/healthz")
    }

    /// Returns the port, if it is one of this computer.
    pub(crate) fn local_port(&self) -> Option<u16> {
        let uri: Uri = self.url.parse().ok()?;
        let host = uri.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
        let usual = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        is_loopback(&host).then(|| uri.port_u16().unwrap_or(usual))
    }

    /// Returns the address that messages are sent to.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// As messages name it: a path might be anything.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_form_leads_to_mcp() {
        let check = |text: &str, url: &str| assert_eq!(Endpoint::parse(text).unwrap().url(), url);
        check("http://127.0.0.1:7667", "http://127.0.0.1:7667/mcp");
        check("http://127.0.0.1:7667/mcp", "http://127.0.0.1:7667/mcp");
        check("http://localhost:1/mcp/", "http://localhost:1/mcp");
        check("http://[::1]:1", "http://[::1]:1/mcp");
        check(" https://a.example/team ", "https://a.example/team/mcp");
        let team = Endpoint::parse("https://a.example/team/mcp").unwrap();
        assert_eq!(
            team.action("remember"),
            "https://a.example/team/api/v1/remember"
        );
        assert_eq!(team.health(), "https://a.example/team/healthz");
    }

    #[test]
    fn a_port_is_local_only_on_this_computer() {
        let port = |text| Endpoint::parse(text).unwrap().local_port();
        assert_eq!(port("http://127.0.0.1:7667"), Some(7667));
        assert_eq!(port("http://[::1]:7667/mcp"), Some(7667));
        assert_eq!(port("http://localhost"), Some(80));
        assert_eq!(port("https://LOCALHOST/team"), Some(443));
        assert_eq!(port("https://a.example:7667"), None);
    }

    #[test]
    fn a_key_never_goes_over_plain_http_to_another_host() {
        for text in [
            "http://a.example",
            "http://10.0.0.1:7667",
            "http://127.0.0.1.a.example",
            "http://localhost.a.example",
            "http://[2001:db8::1]",
        ] {
            let refused = Endpoint::parse(text).unwrap_err();
            assert!(refused.contains("https://"), "{text}: {refused}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        for text in [
            "",
            "a.example",
            "ftp://a.example",
            "https://user:pass@a.example",
            "https://a.example?key=1",
            "https://",
        ] {
            assert!(Endpoint::parse(text).is_err(), "{text}");
        }
    }
}
