//! What stands beside the shipped rules when texts are redacted: the rules of an operator's file, a
//! project's own patterns, and the values that it allows.
//!
//! Their rules are numbered behind those of the table, first the file's, then the project's, so
//! that a hit names any by one number and the guard's own come first.

use crate::custom::CustomRules;
use crate::policy::{Pattern, Policy};
use crate::rules::{self, RULES};
use crate::secrets::Hit;

/// The rules beside the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'p> {
    policy: &'p Policy,
    custom: Option<&'p CustomRules>,
}

/// A rule by its number.
enum Rule<'p> {
    Shipped(&'static rules::Rule),
    Custom(&'p CustomRules, usize),
    Project(&'p Pattern),
}

impl<'p> Beside<'p> {
    /// Returns what a policy asks.
    pub(crate) const fn of(policy: &'p Policy) -> Self {
        Self {
            policy,
            custom: None,
        }
    }

    /// Returns it with the rules of an operator's file.
    pub(crate) const fn with(self, custom: Option<&'p CustomRules>) -> Self {
        Self { custom, ..self }
    }

    /// Returns the number of the first rule of the project.
    fn first_pattern(&self) -> usize {
        RULES.len() + self.custom.map_or(0, CustomRules::len)
    }

    fn rule(&self, number: usize) -> Rule<'p> {
        match (RULES.get(number), self.custom) {
            (Some(shipped), _) => Rule::Shipped(shipped),
            (None, Some(custom)) if number < self.first_pattern() => {
                Rule::Custom(custom, number - RULES.len())
            }
            (None, _) => Rule::Project(&self.policy.patterns()[number - self.first_pattern()]),
        }
    }

    /// Tells whether placeholders of that rule are ours.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let patterns = self.policy.patterns();
        rules::place_of(id).is_some()
            || self
                .custom
                .is_some_and(|custom| custom.place_of(id).is_some())
            || patterns.iter().any(|pattern| pattern.rule() == id)
    }

    /// Returns the id of a rule by its number.
    pub(crate) fn id(&self, rule: usize) -> &str {
        match self.rule(rule) {
            Rule::Shipped(shipped) => shipped.id,
            Rule::Custom(custom, index) => custom.id(index),
            Rule::Project(pattern) => pattern.rule(),
        }
    }

    /// Returns what a rule finds, in words.
    pub(crate) fn title(&self, rule: usize) -> &str {
        match self.rule(rule) {
            Rule::Shipped(shipped) => shipped.title,
            Rule::Custom(custom, index) => custom.title(index),
            Rule::Project(pattern) => pattern.why(),
        }
    }

    /// Adds what the project's patterns find in a text whose placeholders are masked.
    pub(crate) fn find(&self, masked: &str, hits: &mut Vec<Hit>) {
        for (nth, pattern) in self.policy.patterns().iter().enumerate() {
            hits.extend(pattern.find(masked).map(|span| Hit {
                span,
                rule: self.first_pattern() + nth,
                value: None,
            }));
        }
    }

    /// Tells what the rules of the operator's file find in a reading of a text. `any_case` is for
    /// names that were lower-cased.
    pub(crate) fn find_custom(&self, reading: &str, any_case: bool, mut found: impl FnMut(Hit)) {
        let Some(custom) = self.custom else { return };
        for (span, index) in custom.find_in(reading, any_case) {
            let value = reading.get(span.clone()).map(str::to_owned);
            found(Hit {
                span,
                rule: RULES.len() + index,
                value,
            });
        }
    }

    /// Takes away what is allowed. The whole span must be: what hides behind an allowed value is not.
    pub(crate) fn spare(&self, text: &str, hits: &mut Vec<Hit>) {
        if self.policy.n_allows() > 0 {
            hits.retain(|hit| {
                let value = text.get(hit.span.clone()).unwrap_or("");
                !self.policy.spares(self.id(hit.rule), value)
            });
        }
    }

    /// Tells whether there are patterns to look for.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.policy.patterns().is_empty()
    }

    /// Tells whether a value that is repeated elsewhere was found by one of the project's patterns:
    /// those say by themselves where they match.
    pub(crate) fn is_pattern(&self, rule: usize) -> bool {
        rule >= self.first_pattern()
    }
}
