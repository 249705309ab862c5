//! Kinds of secrets that take a regular expression, compiled when a text first calls for it.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The largest compiled form of one rule, in bytes.
const MAX_COMPILED_BYTES: usize = 32 << 20;

/// An expression; the first group that took part is the value.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: &'static str,
    exact: OnceLock<Regex>,
    folded: OnceLock<Regex>,
}

impl Pattern {
    /// Makes a pattern; nothing is compiled yet.
    pub(crate) const fn new(regex: &'static str) -> Self {
        Self {
            regex,
            exact: OnceLock::new(),
            folded: OnceLock::new(),
        }
    }

    /// Returns the compiled form; compiling happens on first need.
    pub(crate) fn form(&self) -> &Regex {
        self.exact.get_or_init(|| compile(self.regex, false))
    }

    /// Returns the compiled form that takes letters of either case, for texts that were lower-cased.
    pub(crate) fn folded_form(&self) -> &Regex {
        self.folded.get_or_init(|| compile(self.regex, true))
    }
}

/// Compiles a form for bytes. Shipped forms are known to compile: a test does it with each.
pub(crate) fn compile(form: &str, any_case: bool) -> Regex {
    RegexBuilder::new(form)
        .unicode(false)
        .case_insensitive(any_case)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
        .expect("every shipped form compiles")
}
