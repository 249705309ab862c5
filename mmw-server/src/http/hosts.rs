//! The check of Host and Origin on every request.
//!
//! A web page can make a browser send requests to a server on its own computer, under a name that
//! it controls. So only known names are served, and a page only if it comes from one of them.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

use super::{App, reply};
use crate::fault::{Code, Fault};

/// Names under which a computer reaches itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Which hosts and origins are served.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Host names without a port, in small letters; the loopback names need not be listed.
    pub names: Vec<String>,
    /// Origins with their scheme, for web pages from elsewhere.
    pub origins: Vec<String>,
}

impl Hosts {
    /// Tells whether a host, with or without a port, is served.
    #[must_use]
    pub fn serves(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        let name = plain(&authority);
        // What stands before an `@` is no part of a host.
        !host.contains('@') && (LOOPBACK.contains(&name.as_str()) || self.names.contains(&name))
    }

    /// Tells whether a page of that origin may call a server that was asked for as `host`: one
    /// that the server itself has served, on this very port, or one that is listed.
    #[must_use]
    pub fn allows(&self, origin: &str, host: &str) -> bool {
        if self.origins.iter().any(|known| known == origin) {
            return true;
        }
        let Some((scheme, rest)) = origin.split_once("://") else {
            return false;
        };
        let (Ok(page), Ok(asked)) = (rest.parse::<Authority>(), host.parse::<Authority>()) else {
            return false;
        };
        let default_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        let port = |authority: &Authority| authority.port_u16().unwrap_or(default_port);
        let same_name = plain(&page) == plain(&asked);
        let both_loopback =
            LOOPBACK.contains(&plain(&page).as_str()) && LOOPBACK.contains(&plain(&asked).as_str());
        !rest.contains('@') && port(&page) == port(&asked) && (same_name || both_loopback)
    }
}

/// Returns the name without port and brackets, in small letters.
fn plain(authority: &Authority) -> String {
    authority
        .host()
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_ascii_lowercase()
}

/// The layer.
pub(super) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // A request in the form for proxies names the host in the address.
    let in_address = request.uri().authority().map(Authority::as_str);
    let in_header = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_one = headers.get_all(HOST).iter().count() <= 1;
    let host = in_header.or(in_address).filter(|_| is_one);
    let Some(host) = host.filter(|host| app.hosts.serves(host)) else {
        return refuse(
            &request,
            "this host name is not served",
            "Name it in MMW_ALLOWED_HOSTS.",
        );
    };
    let mut origins = headers.get_all(ORIGIN).iter();
    let foreign = origins.any(|origin| {
        !origin
            .to_str()
            .is_ok_and(|origin| app.hosts.allows(origin, host))
    });
    if foreign {
        return refuse(
            &request,
            "pages of this origin may not call",
            "Name it in MMW_ALLOWED_ORIGINS.",
        );
    }
    next.run(request).await
}

fn refuse(request: &Request, message: &str, hint: &str) -> Response {
    let fault = Fault::new(Code::HostNotAllowed, message).hint(hint);
    reply::of_path(request.uri().path(), &fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_served_on_any_port() {
        let hosts = Hosts {
            names: vec!["memory.example".into()],
            ..Hosts::default()
        };
        for good in [
            "localhost",
            "LOCALHOST:7667",
            "127.0.0.1:1",
            "[::1]:7667",
            "memory.example:443",
        ] {
            assert!(hosts.serves(good), "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil@localhost",
            "",
            "a b",
        ] {
            assert!(!hosts.serves(bad), "{bad}");
        }
    }

    #[test]
    fn a_page_may_call_from_where_it_was_served_or_is_listed() {
        let hosts = Hosts {
            names: Vec::new(),
            origins: vec!["https://app.example".into()],
        };
        for (origin, host, may) in [
            ("http://localhost:7667", "localhost:7667", true),
            ("http://localhost:7667", "127.0.0.1:7667", true),
            ("http://[::1]:7667", "localhost:7667", true),
            ("https://app.example", "localhost:7667", true),
            ("http://localhost:3000", "localhost:7667", false),
            ("http://evil.example:7667", "localhost:7667", false),
            ("http://localhost", "localhost:7667", false),
            ("null", "localhost:7667", false),
            ("", "localhost:7667", false),
        ] {
            assert_eq!(hosts.allows(origin, host), may, "{origin} on {host}");
        }
    }
}
