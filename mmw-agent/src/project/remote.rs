//! One name for all addresses of one remote.
//!
//! `git@github.com:acme/api.git`, `https://user:token@GitHub.com/acme/api` and
//! `ssh://git@github.com:22/acme/api/` are all `github.com/acme/api`. User, password, query and the
//! scheme's own port are dropped; a port of one's own stays, because it may be another server.

use std::path::Path;

/// Ports that say nothing, by scheme.
const USUAL_PORTS: &[(&str, &str)] = &[
    ("ssh", "22"),
    ("git+ssh", "22"),
    ("ssh+git", "22"),
    ("https", "443"),
    ("http", "80"),
    ("git", "9418"),
];

/// Returns the name of a remote: `host/path`, or `file:/path` for one on this computer; `None` if
/// the address names nothing that would be the same from everywhere.
pub(super) fn normalise(address: &str) -> Option<String> {
    let address = address.trim();
    if let Some((scheme, rest)) = address.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return local(rest.strip_prefix("localhost").unwrap_or(rest));
        }
        let rest = without_password(rest);
        let rest = rest.split(['?', '#']).next().unwrap_or(rest);
        let (authority, path) = rest.split_once('/')?;
        let (host, port) = host_and_port(authority);
        let usual = USUAL_PORTS
            .iter()
            .any(|(known, usual)| *known == scheme && port == Some(usual));
        return joined(host, port.filter(|_| !usual), path);
    }
    match address.split_once(':') {
        // `host:path`; before the colon there is no slash (else it is a path), and a single letter
        // is a drive.
        Some((authority, path)) if !authority.contains('/') && authority.len() > 1 => {
            let host = after_at(authority);
            // `user:password@host:path` is no address that git takes, but people write it.
            match path.rsplit_once('@') {
                Some((_, real)) if real.contains(':') => normalise(real),
                _ => joined(host, None, path),
            }
        }
        _ => local(address),
    }
}

/// Drops everything up to the last `@` if a password stands before it: one that was not escaped as
/// it should be can hold any character and reach far into what looks like the path.
fn without_password(rest: &str) -> &str {
    let Some((before, after)) = rest.rsplit_once('@') else {
        return rest;
    };
    let authority = rest.split('/').next().unwrap_or(rest);
    // Without an `@` of its own, `host:3000` may be followed by a path with one, `[::1]` too.
    let is_host = !authority.contains('@')
        && (authority.starts_with('[')
            || authority
                .split_once(':')
                .is_some_and(|(_, port)| !port.is_empty() && is_port(port)));
    let after_is_host = after
        .split_once('/')
        .is_some_and(|(host, _)| host.contains(['.', ':']) || host == "localhost");
    if before.contains(':') && (!is_host || after_is_host) {
        after
    } else {
        rest
    }
}

/// Splits `user:password@host:port`; an IPv6 host keeps its brackets.
fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    let host = after_at(authority);
    match host.rsplit_once(':') {
        Some((host, port)) if is_port(port) => (host, Some(port).filter(|port| !port.is_empty())),
        _ => (host, None),
    }
}

fn after_at(authority: &str) -> &str {
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn joined(host: &str, port: Option<&str>, path: &str) -> Option<String> {
    let path = plain_path(path);
    if host.is_empty() || path.is_empty() {
        return None;
    }
    let host = host.to_lowercase();
    Some(match port {
        Some(port) => format!("{host}:{port}/{path}"),
        None => format!("{host}/{path}"),
    })
}

/// Drops empty parts and the `.git` at the end.
fn plain_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = parts.join("/");
    path.strip_suffix(".git").map_or_else(
        || path.clone(),
        |path| path.trim_end_matches('/').to_owned(),
    )
}

/// Returns the name of a remote that is a folder. A relative one depends on where it is read.
fn local(path: &str) -> Option<String> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return None;
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Some(format!("file:/{}", plain_path(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(address: &str, name: &str) {
        assert_eq!(normalise(address).as_deref(), Some(name), "{address}");
    }

    #[test]
    fn all_addresses_of_one_remote_have_one_name() {
        for address in [
            "git@github.com:acme/api.git",
            "git@github.com:/acme/api",
            "github.com:acme/api.git",
            "ssh://git@github.com/acme/api.git",
            "ssh://git@GitHub.com:22/acme/api/",
            "git+ssh://git@github.com/acme/api",
            "https://github.com/acme/api.git",
            "https://github.com:443/acme//api.git/",
            "http://github.com/acme/api",
            "git://github.com/acme/api.git",
            "https://ann:pa:ss@github.com/acme/api.git",
            "https://ann:pa/ss@github.com/acme/api.git",
            "ann:hunter2@github.com:acme/api.git",
            "https://x-access-token:ghs_abc@github.com/acme/api?token=abc#main",
            " https://github.com/acme/api \n",
        ] {
            check(address, "github.com/acme/api");
        }
    }

    #[test]
    fn different_remotes_have_different_names() {
        check("https://git.acme.io:8443/api", "git.acme.io:8443/api");
        check("ssh://git@git.acme.io:2222/api.git", "git.acme.io:2222/api");
        check("git@gitlab.com:a/b/c.git", "gitlab.com/a/b/c");
        check("https://github.com/Acme/API", "github.com/Acme/API");
        check("https://[::1]:3000/a/b", "[::1]:3000/a/b");
        check("host:~ann/api.git", "host/~ann/api");
        check("https://h.io:3000/@acme/api", "h.io:3000/@acme/api");
        check("https://ann@h.io/@acme/api", "h.io/@acme/api");
    }

    #[test]
    fn a_folder_is_a_remote_only_by_its_whole_path() {
        check("/srv/absent/api.git", "file:/srv/absent/api");
        check("file:///srv/absent/api.git/", "file:/srv/absent/api");
        for nothing in [
            "",
            "../api",
            "./a:b",
            "api",
            "https://",
            "https://host",
            "ssh://host/",
        ] {
            assert_eq!(normalise(nothing), None, "{nothing}");
        }
    }

    proptest! {
        #[test]
        fn credentials_never_stay(user in "[a-z]{1,8}", password in "[A-Za-z0-9:@!$%^&*/]{8,24}") {
            let with = format!("https://{user}:{password}@github.com/acme/api.git");
            prop_assert_eq!(normalise(&with), Some("github.com/acme/api".to_owned()));
        }

        #[test]
        fn any_text_is_named_or_not_but_never_a_panic(text in ".{0,80}") {
            let _ = normalise(&text);
        }
    }
}
