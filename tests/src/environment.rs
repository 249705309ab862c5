//! The environment that the tests were started in: the only place that reads it.

#![allow(clippy::disallowed_methods, reason = "this module is the door itself")]

use std::ffi::OsString;

/// Returns where programs are found; nothing else of the environment reaches a program under test.
#[must_use]
pub fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Returns a variable that chooses which tests run, `None` if it is not set.
#[must_use]
pub fn choice(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
