//! An expression of a rule file: written for another engine, checked here, compiled on first need.
//!
//! The files are written for Go's and RE2's syntax. What those take as a literal and this engine
//! does not is escaped; nothing else is changed.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;

/// The longest expression, in bytes.
pub(super) const MAX_FORM_BYTES: usize = 32 << 10;
/// The largest compiled form of one expression, in bytes.
const MAX_COMPILED_BYTES: usize = 32 << 20;
/// The largest cache of one expression while it is matched, in bytes.
const MAX_CACHE_BYTES: usize = 4 << 20;

/// An expression.
#[derive(Debug)]
pub(super) struct Form {
    pattern: String,
    is_unicode: bool,
    exact: OnceLock<Option<Regex>>,
    folded: OnceLock<Option<Regex>>,
}

impl Form {
    /// Checks an expression: without Unicode first, since that compiles and runs many times faster.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_FORM_BYTES {
            return Err(format!(
                "has {} bytes, and at most {MAX_FORM_BYTES} are taken",
                pattern.len()
            ));
        }
        let pattern = escaped(pattern);
        let is_unicode = match parses(&pattern, false) {
            Ok(()) => false,
            Err(why) => match parses(&pattern, true) {
                Ok(()) => true,
                Err(_) => return Err(why),
            },
        };
        Ok(Self {
            pattern,
            is_unicode,
            exact: OnceLock::new(),
            folded: OnceLock::new(),
        })
    }

    /// Returns the compiled expression; none if it is larger than is taken. [`Form::check`] says so
    /// before the first text comes.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.exact.get_or_init(|| self.compiled(false)).as_ref()
    }

    /// Returns it compiled for texts that were lower-cased: letters match in either case.
    pub(super) fn folded(&self) -> Option<&Regex> {
        self.folded.get_or_init(|| self.compiled(true)).as_ref()
    }

    fn compiled(&self, any_case: bool) -> Option<Regex> {
        RegexBuilder::new(&self.pattern)
            .unicode(self.is_unicode)
            .case_insensitive(any_case)
            // Both ways have room where one has, or a name could pass what a text does not.
            .size_limit(MAX_COMPILED_BYTES * (1 + usize::from(any_case)))
            .dfa_size_limit(MAX_CACHE_BYTES)
            .build()
            .ok()
    }

    /// Compiles the expression.
    ///
    /// # Errors
    /// If it is larger than is taken.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.regex() {
            Some(_) => Ok(()),
            None => Err(format!(
                "takes more than {} MB when compiled: shorten its repetitions",
                MAX_COMPILED_BYTES >> 20
            )),
        }
    }

    /// Tells whether it matches anywhere.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// Counts its groups, the whole match not included.
    pub(super) fn groups(&self) -> usize {
        let hir = ParserBuilder::new()
            .unicode(self.is_unicode)
            .utf8(false)
            .build()
            .parse(&self.pattern);
        hir.map_or(0, |hir| hir.properties().explicit_captures_len())
    }
}

fn parses(pattern: &str, unicode: bool) -> Result<(), String> {
    let parsed = ParserBuilder::new()
        .unicode(unicode)
        .utf8(false)
        .build()
        .parse(pattern);
    parsed.map(|_| ()).map_err(|error| match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "is not understood".to_owned(),
    })
}

/// Returns the pattern with what RE2 takes literally escaped for this engine: `{` that begins no
/// repetition, `[` and doubled signs in a class, and the angle brackets, which mean words here.
fn escaped(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let mut taken = c.len_utf8();
        match c {
            '\\' => {
                let next = after.chars().next();
                match next {
                    Some(bracket @ ('<' | '>')) => out.push(bracket),
                    Some(next) => out.extend(['\\', next]),
                    None => out.push('\\'),
                }
                taken += next.map_or(0, char::len_utf8);
                // A class of Unicode names itself in braces, a code point may.
                if matches!(next, Some('p' | 'P' | 'x')) && rest[taken..].starts_with('{') {
                    let name = rest[taken..].find('}').map_or(0, |end| end + 1);
                    out.push_str(&rest[taken..taken + name]);
                    taken += name;
                }
            }
            '[' if in_class => {
                let posix = after
                    .starts_with(':')
                    .then(|| after.find(":]"))
                    .flatten()
                    .map(|end| end + 3);
                match posix {
                    Some(length) => {
                        out.push_str(&rest[..length]);
                        taken = length;
                    }
                    None => out.push_str("\\["),
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if after.starts_with('^') {
                    out.push('^');
                    taken += 1;
                }
                // Directly behind the bracket it is one more sign of the class.
                if rest[taken..].starts_with(']') {
                    out.push_str("\\]");
                    taken += 1;
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class && after.starts_with(c) => out.extend(['\\', c]),
            '{' if !in_class && !is_repetition(after) => out.push_str("\\{"),
            _ => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// Tells whether what follows a brace makes it a repetition: `3}`, `3,}`, `3,5}`.
fn is_repetition(after: &str) -> bool {
    let Some((inner, _)) = after.split_once('}') else {
        return false;
    };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match inner.split_once(',') {
        None => number(inner),
        Some((low, high)) => number(low) && (high.is_empty() || number(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_another_engine_takes_literally_is_escaped() {
        for (from, to) in [
            (r"a{3}b{2,}c{1,4}", r"a{3}b{2,}c{1,4}"),
            (r"^\${[A-Z]+}$", r"^\$\{[A-Z]+}$"),
            (r"{{ x }}", r"\{\{ x }}"),
            (r"a{,3}", r"a\{,3}"),
            (r"[{]{2}", r"[{]{2}"),
            (r"[^[\]]", r"[^\[\]]"),
            (r"[[:alnum:]_]", r"[[:alnum:]_]"),
            (r"[]a]", r"[\]a]"),
            (r"[^]a]", r"[^\]a]"),
            (r"\<b\>", r"<b>"),
            (r"[&&]", r"[\&&]"),
            (r"\p{L}\x{41}{2}", r"\p{L}\x{41}{2}"),
            ("\\", "\\"),
        ] {
            assert_eq!(escaped(from), to, "{from}");
        }
    }

    #[test]
    fn letters_of_other_scripts_take_the_slower_way() {
        assert!(!Form::new("(?i)ключ=[a-z]+").unwrap().is_unicode);
        let form = Form::new("ключ=[а-я]+").unwrap();
        assert!(form.is_unicode);
        assert!(form.is_match("ключ=тайна".as_bytes()));
    }

    #[test]
    fn what_is_wrong_is_told_in_one_line() {
        for (pattern, why) in [("(a", "unclosed group"), ("a(?!b)", "look-around")] {
            let told = Form::new(pattern).unwrap_err();
            assert!(told.contains(why) && !told.contains('\n'), "{told}");
        }
        assert!(Form::new(&"a".repeat(MAX_FORM_BYTES + 1)).is_err());
        let large = Form::new("(?:[a-z]{900}){900}").unwrap();
        assert!(large.check().unwrap_err().contains("MB"));
        assert!(!large.is_match(b"a"));
    }

    #[test]
    fn groups_are_counted() {
        assert_eq!(Form::new("a(b)(?:c)(?P<d>e)").unwrap().groups(), 2);
    }

    proptest! {
        #[test]
        fn escaping_never_panics(pattern in "[\\\\{}\\[\\]^:&~<>pxa,0-9é]{0,24}") {
            let _ = Form::new(&pattern);
        }
    }
}
