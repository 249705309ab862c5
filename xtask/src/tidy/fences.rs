//! Doors that a crate may not open: files, sockets, processes, the environment, the clock.

use super::Complaint;
use super::checkout::Checkout;
use super::scan;

/// What the sources under a folder may not name.
struct Fence {
    folder: &'static str,
    /// The module that is the door itself.
    but: &'static str,
    /// Modules of `std`.
    modules: &'static [&'static str],
    /// Names anywhere.
    names: &'static [&'static str],
    remedy: &'static str,
}

const OUTSIDE: &[&str] = &["fs", "net", "process", "env", "thread"];
const CLOCK: &[&str] = &["SystemTime", "Instant"];
const PURE: &str = "take the value as an argument; clock and randomness come through mmw_core::env";

const FENCES: [Fence; 4] = [
    // The compiler's lint can be allowed in any line; this can't.
    Fence {
        folder: "",
        but: "mmw-store/src/embed/simd.rs",
        modules: &[],
        names: &["unsafe"],
        remedy: "write it without; the vector paths of the embedder are the one place that can't be",
    },
    Fence {
        folder: "mmw-core/src/",
        but: "mmw-core/src/env.rs",
        modules: OUTSIDE,
        names: CLOCK,
        remedy: PURE,
    },
    Fence {
        folder: "mmw-guard/src/",
        but: "mmw-guard/src/env.rs",
        modules: OUTSIDE,
        names: CLOCK,
        remedy: PURE,
    },
    Fence {
        folder: "mmw-hooks/src/",
        but: "",
        modules: &["net"],
        names: &[
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "UnixListener",
            "UnixDatagram",
        ],
        remedy: "a hook sends nothing: write to the spool, the agent sends it later",
    },
];

/// Checks the sources behind each fence.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for fence in &FENCES {
        let behind = checkout
            .rust()
            .filter(|(path, _)| path.starts_with(fence.folder) && *path != fence.but);
        for (path, source) in behind {
            let code = scan::code(source);
            let named = fence.names.iter().flat_map(|name| {
                let lines = scan::lines_with(&code, name).into_iter();
                lines.map(move |line| (line, (*name).to_owned()))
            });
            let mut found: Vec<(usize, String)> = std_modules(&code, fence.modules);
            found.extend(named);
            complaints.extend(found.into_iter().map(|(line, name)| Complaint {
                place: format!("{path}:{line}"),
                rule: "fences",
                what: format!("{name} may not be named here"),
                remedy: fence.remedy.to_owned(),
            }));
        }
    }
    complaints
}

/// Returns the line and name of each of these modules of `std` that the code names, alone
/// (`std::fs`) or in a group (`std::{fmt, fs::File}`).
fn std_modules(code: &str, modules: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("std::") {
        let in_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if in_word {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let rest = code[at + "std::".len()..].trim_start();
        for named in heads(rest) {
            if modules.contains(&named) {
                found.push((line, format!("std::{named}")));
            }
        }
    }
    found
}

/// Returns the first names of the paths that follow `std::`.
fn heads(rest: &str) -> Vec<&str> {
    let Some(group) = rest.strip_prefix('{') else {
        return vec![head(rest)];
    };
    let mut depth = 0_u32;
    let mut start = 0;
    let mut names = Vec::new();
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => {
                names.push(head(&group[start..at]));
                break;
            }
            ',' if depth == 0 => {
                names.push(head(&group[start..at]));
                start = at + 1;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn head(path: &str) -> &str {
    let path = path.trim_start();
    let end = path
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(path.len());
    &path[..end]
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    fn check_one(path: &str, source: &str, allowed: bool) {
        let place = format!("{path}:1");
        let places: &[&str] = if allowed { &[] } else { &[&place] };
        check_places(check, &[(path, source)], places);
    }

    #[test]
    fn pure_crates_open_no_door() {
        for source in [
            "use std::fs;",
            "let x = std::env::var(\"A\");",
            "use std::{fmt, net::TcpStream};",
            "use std::{collections::{BTreeMap, HashMap}, process};",
            "use ::std::fs::File;",
            "let t = std::time::Instant::now();",
            "fn f(now: SystemTime) {}",
        ] {
            check_one("mmw-core/src/record.rs", source, false);
            check_one("mmw-guard/src/deep/rule.rs", source, false);
            check_one("mmw-store/src/sqlite.rs", source, true);
            check_one("mmw-core/src/env.rs", source, true);
        }
    }

    #[test]
    fn words_are_no_doors() {
        for source in [
            "// std::fs is not for this crate",
            "let text = \"std::fs\";",
            "use std::fmt; use crate::env::Clock;",
            "use std::{fmt, str::FromStr};",
            "use mystd::fs;",
        ] {
            check_one("mmw-core/src/record.rs", source, true);
        }
    }

    #[test]
    fn hooks_own_no_socket() {
        check_one("mmw-hooks/src/run.rs", "use std::net::IpAddr;", false);
        check_one(
            "mmw-hooks/src/run.rs",
            "use std::os::unix::net::UnixStream;",
            false,
        );
        check_one("mmw-hooks/src/run.rs", "use std::fs;", true);
    }

    #[test]
    fn one_module_may_be_unsafe() {
        let source = "fn f() { unsafe { g() } }";
        check_one("mmw-store/src/embed/simd.rs", source, true);
        check_one("mmw-store/src/embed/bert.rs", source, false);
        check_one("mmw-guard/src/lib.rs", source, false);
        check_one("mmw-guard/src/lib.rs", "// unsafe is a word here", true);
    }
}
