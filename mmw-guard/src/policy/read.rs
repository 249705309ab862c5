//! Reads a policy from TOML and says exactly what is wrong with one.
//!
//! Nothing is guessed: an unknown field, a pattern that can't be compiled or an allowance without a
//! reason makes the whole policy malformed. Errors never repeat a pattern or a value.

use std::collections::BTreeSet;

use mmw_core::time::{DAY_MS, Timestamp};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use super::{
    Action, Allow, Allowed, MAX_ALLOWS, MAX_FORM_BYTES, MAX_PATTERNS, MAX_POLICY_BYTES,
    PATTERN_PREFIX, Pattern, Planted, Policy,
};
use crate::rules::{self, Form, RULES};

/// The largest compiled form of one pattern, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// The longest id of a pattern, in bytes.
const MAX_ID_BYTES: usize = 32;
/// The longest reason, in characters.
const MAX_REASON_CHARS: usize = 400;

/// Why a policy can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, {field}: {problem}")]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// The field, as it is written.
    pub field: String,
    /// What is wrong, without the value.
    pub problem: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    planted: Option<Spanned<String>>,
    secrets: Option<Spanned<String>>,
    #[serde(default)]
    pattern: Vec<Spanned<RawPattern>>,
    #[serde(default)]
    allow: Vec<Spanned<RawAllow>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPattern {
    id: Option<Spanned<String>>,
    regex: Option<Spanned<String>>,
    action: Option<Spanned<String>>,
    why: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAllow {
    rule: Option<Spanned<String>>,
    value: Option<Spanned<String>>,
    regex: Option<Spanned<String>>,
    reason: Option<Spanned<String>>,
    until: Option<Spanned<toml::Value>>,
}

/// A text with the way from a place in it to its line.
struct Page<'t>(&'t str);

impl Page<'_> {
    fn wrong(&self, at: usize, field: &str, problem: impl Into<String>) -> Malformed {
        let before = self.0.as_bytes().get(..at).unwrap_or(self.0.as_bytes());
        Malformed {
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            field: field.to_owned(),
            problem: problem.into(),
        }
    }

    /// Returns a text that must be there, trimmed, not empty and not too long.
    fn needed<'v>(
        &self,
        value: Option<&'v Spanned<String>>,
        at: usize,
        field: &str,
        max_chars: usize,
    ) -> Result<&'v str, Malformed> {
        let Some(value) = value else {
            return Err(self.wrong(at, field, "is missing"));
        };
        let text = value.get_ref().trim();
        if text.is_empty() {
            return Err(self.wrong(value.span().start, field, "is empty"));
        }
        let n_chars = text.chars().count();
        if n_chars > max_chars {
            let problem = format!("has {n_chars} characters; at most {max_chars} are allowed");
            return Err(self.wrong(value.span().start, field, problem));
        }
        Ok(text)
    }

    fn action(&self, value: &Spanned<String>, field: &str) -> Result<Action, Malformed> {
        let named = Action::ALL
            .into_iter()
            .find(|action| action.name() == value.get_ref());
        named.ok_or_else(|| {
            let problem = "must be \"redact\", \"quarantine\" or \"reject\"";
            self.wrong(value.span().start, field, problem)
        })
    }

    /// Compiles a form as it is written, or so that it matches the whole of a value.
    fn form(
        &self,
        value: &Spanned<String>,
        field: &str,
        is_whole: bool,
    ) -> Result<Regex, Malformed> {
        let at = value.span().start;
        let written = value.get_ref();
        if written.len() > MAX_FORM_BYTES {
            let problem = format!(
                "has {} bytes; at most {MAX_FORM_BYTES} are allowed",
                written.len()
            );
            return Err(self.wrong(at, field, problem));
        }
        let compile = |form: &str| {
            RegexBuilder::new(form)
                .size_limit(MAX_COMPILED_BYTES)
                .build()
                .map_err(|error| self.wrong(at, field, what_is_wrong(&error)))
        };
        // As written first: `a)|(b` is no expression, even though `(a)|(b)` is one.
        let form = compile(written)?;
        if form.is_match("") {
            return Err(self.wrong(
                at,
                field,
                "matches the empty text: it would match everywhere",
            ));
        }
        if is_whole {
            return compile(&format!(r"\A(?:{written})\z"));
        }
        Ok(form)
    }
}

/// Says what is wrong with an expression, without the expression.
fn what_is_wrong(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "is too large when compiled: use smaller repetitions".to_owned()
        }
        regex::Error::Syntax(text) => {
            // The last line names the mistake; those before it show the expression.
            let last = text.lines().last().unwrap_or_default();
            let what = last.strip_prefix("error: ").unwrap_or(last);
            format!("is no regular expression: {what}")
        }
        _ => "is no regular expression".to_owned(),
    }
}

pub(super) fn policy(text: &str) -> Result<Policy, Malformed> {
    let page = Page(text);
    if text.len() > MAX_POLICY_BYTES {
        let problem = format!(
            "has {} bytes; at most {MAX_POLICY_BYTES} are allowed",
            text.len()
        );
        return Err(page.wrong(0, "the policy", problem));
    }
    let raw: Raw = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let first_line = error.message().lines().next().unwrap_or_default();
        page.wrong(at, "the policy", first_line)
    })?;
    let planted = match &raw.planted {
        None => Planted::ByScore,
        Some(word) => match word.get_ref().as_str() {
            "reject" => Planted::Reject,
            "quarantine" => Planted::Quarantine,
            _ => {
                let problem = "must be \"quarantine\" or \"reject\", or left out";
                return Err(page.wrong(word.span().start, "planted", problem));
            }
        },
    };
    let secrets = match &raw.secrets {
        None => Action::Redact,
        Some(word) => page.action(word, "secrets")?,
    };
    let patterns = patterns(&page, &raw.pattern)?;
    let allows = allows(&page, &raw.allow, &patterns)?;
    Ok(Policy {
        planted,
        secrets,
        patterns,
        allows,
    })
}

fn patterns(page: &Page<'_>, raw: &[Spanned<RawPattern>]) -> Result<Vec<Pattern>, Malformed> {
    let mut patterns: Vec<Pattern> = Vec::with_capacity(raw.len());
    let mut seen = BTreeSet::new();
    for (nth, row) in raw.iter().enumerate() {
        let at = row.span().start;
        let field = |name: &str| format!("pattern[{nth}].{name}");
        if nth == MAX_PATTERNS {
            let problem = format!("is one too many: at most {MAX_PATTERNS} are allowed");
            return Err(page.wrong(at, &format!("pattern[{nth}]"), problem));
        }
        let RawPattern {
            id,
            regex,
            action,
            why,
        } = row.get_ref();
        let name = page.needed(id.as_ref(), at, &field("id"), MAX_ID_BYTES)?;
        let id_at = id.as_ref().map_or(at, |id| id.span().start);
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !is_name {
            let problem = "must be lower-case letters, digits and `-`, with a letter first";
            return Err(page.wrong(id_at, &field("id"), problem));
        }
        if !seen.insert(name.to_owned()) {
            return Err(page.wrong(id_at, &field("id"), "is taken by a pattern before it"));
        }
        page.needed(regex.as_ref(), at, &field("regex"), MAX_FORM_BYTES)?;
        let (Some(regex), Some(action)) = (regex, action) else {
            return Err(page.wrong(at, &field("action"), "is missing"));
        };
        let why = page.needed(why.as_ref(), at, &field("why"), MAX_REASON_CHARS)?;
        patterns.push(Pattern {
            rule: format!("{PATTERN_PREFIX}{name}"),
            form: page.form(regex, &field("regex"), false)?,
            action: page.action(action, &field("action"))?,
            why: why.to_owned(),
        });
    }
    Ok(patterns)
}

fn allows(
    page: &Page<'_>,
    raw: &[Spanned<RawAllow>],
    patterns: &[Pattern],
) -> Result<Vec<Allow>, Malformed> {
    let mut allows = Vec::with_capacity(raw.len());
    for (nth, row) in raw.iter().enumerate() {
        let at = row.span().start;
        let field = |name: &str| format!("allow[{nth}].{name}");
        if nth == MAX_ALLOWS {
            let problem = format!("is one too many: at most {MAX_ALLOWS} are allowed");
            return Err(page.wrong(at, &format!("allow[{nth}]"), problem));
        }
        let RawAllow {
            rule,
            value,
            regex,
            reason,
            until,
        } = row.get_ref();
        let name = page.needed(rule.as_ref(), at, &field("rule"), MAX_FORM_BYTES)?;
        let rule_at = rule.as_ref().map_or(at, |rule| rule.span().start);
        let is_own = patterns.iter().any(|pattern| pattern.rule == name);
        if !is_own && rules::place_of(name).is_none() {
            let problem = "names no rule: the id stands in answers and in placeholders";
            return Err(page.wrong(rule_at, &field("rule"), problem));
        }
        if is_private_key(name) {
            let problem = "is a rule for private keys: those can't be allowed";
            return Err(page.wrong(rule_at, &field("rule"), problem));
        }
        page.needed(reason.as_ref(), at, &field("reason"), MAX_REASON_CHARS)?;
        let what = match (value, regex) {
            (Some(value), None) => {
                page.needed(Some(value), at, &field("value"), MAX_FORM_BYTES)?;
                Allowed::Value(value.get_ref().clone())
            }
            (None, Some(regex)) => {
                page.needed(Some(regex), at, &field("regex"), MAX_FORM_BYTES)?;
                Allowed::Form(page.form(regex, &field("regex"), true)?)
            }
            (None, None) => {
                let problem = "is missing: give it, or a `regex`";
                return Err(page.wrong(at, &field("value"), problem));
            }
            (Some(_), Some(regex)) => {
                let problem = "can't go with `value`: give one of the two";
                return Err(page.wrong(regex.span().start, &field("regex"), problem));
            }
        };
        let ends_at = match until {
            None => None,
            Some(day) => {
                let written = match day.get_ref() {
                    toml::Value::Datetime(day) => day.to_string(),
                    toml::Value::String(day) => day.clone(),
                    _ => String::new(),
                };
                let is_day = written.len() == "2027-01-31".len();
                let first = Timestamp::parse(&written).ok().filter(|_| is_day);
                let Some(first) = first else {
                    let problem = "must be a day, like 2027-01-31";
                    return Err(page.wrong(day.span().start, &field("until"), problem));
                };
                Some(first.plus_ms(DAY_MS))
            }
        };
        allows.push(Allow {
            rule: name.to_owned(),
            what,
            ends_at,
        });
    }
    Ok(allows)
}

/// Tells whether a rule finds private keys: whoever has one is somebody else.
fn is_private_key(rule: &str) -> bool {
    let form = rules::place_of(rule).map(|place| &RULES[place].form);
    rule.contains("private-key") || matches!(form, Some(Form::Block))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, line: usize, field: &str, problem: &str) {
        let wrong = Policy::parse(text).unwrap_err();
        assert_eq!((wrong.line, wrong.field.as_str()), (line, field), "{text}");
        assert!(wrong.problem.contains(problem), "{text}: {wrong}");
    }

    const PATTERN: &str = "id = \"a\"\nregex = \"x\"\naction = \"redact\"\nwhy = \"w\"\n";

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_field() {
        check("planted = \"allow\"", 1, "planted", "must be");
        check("\nsecrets = \"keep\"", 2, "secrets", "must be");
        check("plantd = \"reject\"", 1, "the policy", "plantd");
        check("a = ", 1, "the policy", "");
        check("[[pattern]]\nregex = \"x\"", 1, "pattern[0].id", "missing");
        check(
            "[[pattern]]\nid = \"A b\"",
            2,
            "pattern[0].id",
            "lower-case",
        );
        check(
            &format!("[[pattern]]\n{PATTERN}[[pattern]]\n{PATTERN}"),
            7,
            "pattern[1].id",
            "taken",
        );
        for (form, problem) in [
            ("(", "unclosed group"),
            ("x*", "empty"),
            ("(?:a{1000}){1000}", "too large"),
            ("(?=x)", "look-around"),
            ("", "empty"),
        ] {
            let text = format!(
                "[[pattern]]\nid = \"a\"\nregex = \"{form}\"\naction = \"redact\"\nwhy = \"w\""
            );
            check(&text, 3, "pattern[0].regex", problem);
        }
        let long = "y".repeat(MAX_FORM_BYTES + 1);
        check(
            &format!(
                "[[pattern]]\nid = \"a\"\nregex = \"{long}\"\naction = \"redact\"\nwhy = \"w\""
            ),
            3,
            "pattern[0].regex",
            "at most",
        );
        check(
            "[[allow]]\nrule = \"password\"\nvalue = \"x\"",
            1,
            "allow[0].reason",
            "missing",
        );
        check(
            "[[allow]]\nrule = \"password\"\nreason = \"r\"",
            1,
            "allow[0].value",
            "missing",
        );
        check(
            "[[allow]]\nrule = \"password\"\nvalue = \"x\"\nregex = \"x\"\nreason = \"r\"",
            4,
            "allow[0].regex",
            "one of the two",
        );
        check(
            "[[allow]]\nrule = \"pasword\"",
            2,
            "allow[0].rule",
            "no rule",
        );
        check(
            "[[allow]]\nrule = \"private-key\"",
            2,
            "allow[0].rule",
            "private keys",
        );
        check(
            "[[allow]]\nrule = \"jwt\"\nvalue = \"x\"\nreason = \"r\"\nuntil = \"soon\"",
            5,
            "allow[0].until",
            "a day",
        );
    }

    #[test]
    fn every_limit_holds_there_and_refuses_one_past_it() {
        let patterns = |n: usize| -> String {
            (0..n)
                .map(|n| {
                    format!(
                        "[[pattern]]\nid = \"a{n}\"\nregex = \"x\"\naction = \"redact\"\nwhy = \"w\"\n"
                    )
                })
                .collect()
        };
        assert_eq!(
            Policy::parse(&patterns(MAX_PATTERNS))
                .unwrap()
                .patterns()
                .len(),
            MAX_PATTERNS
        );
        assert!(Policy::parse(&patterns(MAX_PATTERNS + 1)).is_err());
        let allow = "[[allow]]\nrule = \"jwt\"\nvalue = \"x\"\nreason = \"r\"\n";
        assert!(Policy::parse(&allow.repeat(MAX_ALLOWS)).is_ok());
        assert!(Policy::parse(&allow.repeat(MAX_ALLOWS + 1)).is_err());
        let filler = |n: usize| format!("#{}", "x".repeat(n - 1));
        assert!(Policy::parse(&filler(MAX_POLICY_BYTES)).is_ok());
        assert!(Policy::parse(&filler(MAX_POLICY_BYTES + 1)).is_err());
    }

    #[test]
    fn an_expression_that_only_closes_what_the_guard_opened_is_refused() {
        let text = "[[allow]]\nrule = \"jwt\"\nregex = \"a)|(?:.+\"\nreason = \"r\"";
        check(text, 3, "allow[0].regex", "no regular expression");
    }

    #[test]
    fn no_rule_for_private_keys_can_be_allowed() {
        for rule in &RULES {
            let is_key = rule.title.to_lowercase().contains("private key");
            assert!(!is_key || is_private_key(rule.id), "{}", rule.id);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = Policy::parse(&text);
        }

        #[test]
        fn a_refusal_never_repeats_a_pattern(form in "q[a-z(\\[{*+?]{4,20}") {
            let text = format!(
                "[[pattern]]\nid = \"a\"\nregex = '{form}'\naction = \"redact\"\nwhy = \"w\""
            );
            if let Err(wrong) = Policy::parse(&text) {
                proptest::prop_assert!(!wrong.to_string().contains(&form), "{}", wrong);
            }
        }
    }
}
