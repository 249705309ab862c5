//! What a project asks of the guard beyond its rules: stricter or milder outcomes, patterns of its
//! own, values that it allows.
//!
//! Pure values, read from a text by [`Policy::parse`]; where the text is kept and who may set it is
//! for the store and the programs to say. Nothing here acts on a draft.

#[cfg(test)]
mod effects;
mod read;

use std::ops::Range;

use mmw_core::time::Timestamp;
use regex::Regex;

pub use self::read::Malformed;
use crate::fingerprint::Fingerprint;

/// The longest policy, in bytes.
pub const MAX_POLICY_BYTES: usize = 64 * 1024;
/// The most patterns of one policy.
pub const MAX_PATTERNS: usize = 64;
/// The most allowed values of one policy.
pub const MAX_ALLOWS: usize = 256;
/// The longest regular expression or value, in bytes.
pub const MAX_FORM_BYTES: usize = 1_000;
/// What the rule of a project's own pattern is called by: `project-<id>`.
pub const PATTERN_PREFIX: &str = "project-";
/// The rule that a refusal names when the policy itself can't be read.
pub const POLICY_RULE: &str = "policy";

/// A policy file that explains itself, with everything at its default.
pub const EXAMPLE: &str = include_str!("policy/example.toml");

/// What is done with a text that reads as an instruction to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Planted {
    /// The score decides: held back from one line on, refused from a higher one on.
    #[default]
    ByScore,
    /// What would be held back is refused.
    Reject,
    /// What would be refused is held back: a person sees it.
    Quarantine,
}

/// What is done with a text that has a secret in it, or that a pattern finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Action {
    /// The value is replaced and the rest is saved.
    #[default]
    Redact,
    /// Secrets are replaced, and the write waits for a person.
    Quarantine,
    /// The write is refused.
    Reject,
}

/// A pattern of a project's own.
#[derive(Debug, Clone)]
pub struct Pattern {
    rule: String,
    form: Regex,
    action: Action,
    why: String,
}

impl Pattern {
    /// Returns the id of its rule, with [`PATTERN_PREFIX`].
    #[must_use]
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// Returns what is done with what it finds.
    #[must_use]
    pub const fn action(&self) -> Action {
        self.action
    }

    /// Returns why the project does not want it in memory.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns where it finds something, without empty findings.
    pub(crate) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let found = self.form.find_iter(text).map(|found| found.range());
        found.filter(|span| !span.is_empty())
    }
}

/// A value that a rule finds and that the project wants to keep.
#[derive(Debug, Clone)]
struct Allow {
    rule: String,
    what: Allowed,
    /// The first moment at which it no longer holds.
    ends_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
enum Allowed {
    Value(String),
    Form(Regex),
}

/// A project's policy. The default one leaves everything to the rules.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    planted: Planted,
    secrets: Action,
    patterns: Vec<Pattern>,
    allows: Vec<Allow>,
}

impl Policy {
    /// Reads a policy from its text (TOML; [`EXAMPLE`] shows everything that can stand in one).
    ///
    /// # Errors
    /// [`Malformed`] with the line, the field and what would be right; nothing is taken over then.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        read::policy(text)
    }

    /// Returns what of the policy holds at a moment: allowed values end with their last day, in UTC.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        let mut then = self.clone();
        then.allows
            .retain(|allow| allow.ends_at.is_none_or(|end| now < end));
        then
    }

    /// Returns the policy as it is used on what is stored: what would be refused or held back for a
    /// secret or a pattern is replaced instead, and planted instructions are held back at most.
    #[must_use]
    pub fn that_only_redacts(&self) -> Self {
        let mut mild = self.clone();
        mild.secrets = Action::Redact;
        mild.planted = Planted::Quarantine;
        for pattern in &mut mild.patterns {
            pattern.action = Action::Redact;
        }
        mild
    }

    /// Returns what the policy allows, and nothing else of it.
    #[must_use]
    pub fn that_only_allows(&self) -> Self {
        Self {
            allows: self.allows.clone(),
            ..Self::default()
        }
    }

    /// Tells whether a text in which this rule found something is refused.
    #[must_use]
    pub fn refuses(&self, rule: &str) -> bool {
        let pattern = self.patterns.iter().find(|pattern| pattern.rule == rule);
        pattern.map_or(self.secrets, Pattern::action) == Action::Reject
    }

    /// Returns what is done with planted instructions.
    #[must_use]
    pub const fn planted(&self) -> Planted {
        self.planted
    }

    /// Returns what is done with secrets.
    #[must_use]
    pub const fn secrets(&self) -> Action {
        self.secrets
    }

    /// Returns the project's own patterns.
    #[must_use]
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Returns how many values are allowed.
    #[must_use]
    pub const fn n_allows(&self) -> usize {
        self.allows.len()
    }

    /// Tells whether it changes nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.planted == Planted::ByScore
            && self.secrets == Action::Redact
            && self.patterns.is_empty()
            && self.allows.is_empty()
    }

    /// Tells whether a value that a rule found is allowed: the whole value, not a part of it.
    pub(crate) fn spares(&self, rule: &str, value: &str) -> bool {
        self.allows.iter().any(|allow| {
            allow.rule == rule
                && match &allow.what {
                    Allowed::Value(allowed) => allowed == value,
                    Allowed::Form(form) => form.is_match(value),
                }
        })
    }

    /// Takes what the policy changes into a fingerprint. The default adds nothing.
    pub(crate) fn mark(&self, before: Fingerprint) -> Fingerprint {
        if self.is_default() {
            return before;
        }
        let mut done = before.with(match self.planted {
            Planted::ByScore => "by-score",
            Planted::Reject => "reject",
            Planted::Quarantine => "quarantine",
        });
        done = done.with(self.secrets.name());
        for pattern in &self.patterns {
            done = done.with(&pattern.rule).with(pattern.form.as_str());
            done = done.with(pattern.action.name());
        }
        for allow in &self.allows {
            done = done.with(&allow.rule);
            done = match &allow.what {
                Allowed::Value(value) => done.with("value").with(value),
                Allowed::Form(form) => done.with("form").with(form.as_str()),
            };
        }
        done
    }
}

impl Action {
    /// Every action.
    const ALL: [Self; 3] = [Self::Redact, Self::Quarantine, Self::Reject];

    /// Returns the word for it in a policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redact => "redact",
            Self::Quarantine => "quarantine",
            Self::Reject => "reject",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        Policy::parse(text).unwrap()
    }

    fn mark(policy: &Policy) -> u64 {
        policy.mark(Fingerprint::new()).get()
    }

    #[test]
    fn the_example_is_the_default_and_says_everything_that_can_be_said() {
        assert!(policy(EXAMPLE).is_default());
        assert_eq!(mark(&policy(EXAMPLE)), mark(&Policy::default()));
        let lines = EXAMPLE.lines().map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or(line);
            let is_setting = bare.starts_with("[[")
                || bare
                    .split_once(" = ")
                    .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase()));
            if is_setting { bare } else { "" }
        });
        let everything = policy(&lines.collect::<Vec<_>>().join("\n"));
        assert_eq!(everything.patterns().len(), 1);
        assert_eq!(everything.n_allows(), 2);
    }

    #[test]
    fn an_allowed_value_is_allowed_as_a_whole_for_its_rule_and_until_its_day() {
        let policy = policy(
            "[[allow]]\nrule = \"password\"\nvalue = \"demo-pw-1\"\nreason = \"public demo\"\n\
             [[allow]]\nrule = \"password\"\nregex = \"demo-[0-9]+|x\"\nreason = \"demos\"\nuntil = 2026-11-30\n",
        );
        let on = |text: &str| policy.at(Timestamp::parse(text).unwrap());
        let today = on("2026-11-30T23:59:59Z");
        assert!(today.spares("password", "demo-pw-1"));
        assert!(today.spares("password", "demo-7"));
        assert!(!today.spares("password", "demo-7z"));
        assert!(!today.spares("password", "demo-pw-12"));
        assert!(!today.spares("jwt", "demo-pw-1"));
        let tomorrow = on("2026-12-01T00:00:00Z");
        assert!(tomorrow.spares("password", "demo-pw-1"));
        assert!(!tomorrow.spares("password", "demo-7"));
        assert_ne!(mark(&today), mark(&tomorrow));
    }

    #[test]
    fn every_part_makes_another_fingerprint() {
        let texts = [
            "",
            "planted = \"reject\"",
            "planted = \"quarantine\"",
            "secrets = \"reject\"",
            "secrets = \"quarantine\"",
            "[[pattern]]\nid = \"a\"\nregex = \"x\"\naction = \"redact\"\nwhy = \"w\"",
            "[[pattern]]\nid = \"a\"\nregex = \"x\"\naction = \"reject\"\nwhy = \"w\"",
            "[[pattern]]\nid = \"a\"\nregex = \"y\"\naction = \"redact\"\nwhy = \"w\"",
            "[[allow]]\nrule = \"jwt\"\nvalue = \"x\"\nreason = \"r\"",
            "[[allow]]\nrule = \"jwt\"\nregex = \"x\"\nreason = \"r\"",
        ];
        let mut marks: Vec<u64> = texts.iter().map(|text| mark(&policy(text))).collect();
        marks.sort_unstable();
        marks.dedup();
        assert_eq!(marks.len(), texts.len());
    }
}
