//! Kinds of secrets that take a regular expression, compiled when a text first calls for it.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The largest compiled form of one rule, in bytes.
const MAX_COMPILED_BYTES: usize = 32 << 20;

/// How a match is told from something that only looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    /// A form that its vendor gave it: only examples are spared.
    Token,
    /// Everything between two marks.
    Any,
    /// A value that a name calls secret: long, mixed, no identifier.
    Assigned,
    /// A value that a name calls a password: a digit or a symbol.
    Password,
    /// The same in quotes or in SQL: any word that is no code.
    QuotedPassword,
    /// The same in an environment line: any word that is no code.
    PlainPassword,
    /// A value that a sentence calls a password: a digit or a symbol, or quotes around it.
    ProsePassword,
}

/// An expression and how its matches are judged.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// How a match is judged.
    pub(crate) judge: Judge,
    regex: &'static str,
    exact: OnceLock<Regex>,
    folded: OnceLock<Regex>,
}

impl Pattern {
    /// Makes a pattern; nothing is compiled yet.
    pub(crate) const fn new(judge: Judge, regex: &'static str) -> Self {
        Self {
            judge,
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
