//! What stands beside the shipped rules when texts are redacted: a project's own patterns, and the
//! values that it allows.
//!
//! Its rules are numbered behind those of the table, so that a hit names either by one number.

use crate::policy::Policy;
use crate::rules::{self, RULES};
use crate::secrets::Hit;

/// The rules beside the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'p> {
    policy: &'p Policy,
}

impl<'p> Beside<'p> {
    /// Returns what a policy asks.
    pub(crate) const fn of(policy: &'p Policy) -> Self {
        Self { policy }
    }

    /// Tells whether placeholders of that rule are ours.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let patterns = self.policy.patterns();
        rules::place_of(id).is_some() || patterns.iter().any(|pattern| pattern.rule() == id)
    }

    /// Returns the id of a rule by its number.
    pub(crate) fn id(&self, rule: usize) -> &str {
        match RULES.get(rule) {
            Some(shipped) => shipped.id,
            None => self.policy.patterns()[rule - RULES.len()].rule(),
        }
    }

    /// Returns what a rule finds, in words.
    pub(crate) fn title(&self, rule: usize) -> &str {
        match RULES.get(rule) {
            Some(shipped) => shipped.title,
            None => self.policy.patterns()[rule - RULES.len()].why(),
        }
    }

    /// Adds what the project's patterns find in a text whose placeholders are masked.
    pub(crate) fn find(&self, masked: &str, hits: &mut Vec<Hit>) {
        for (nth, pattern) in self.policy.patterns().iter().enumerate() {
            hits.extend(pattern.find(masked).map(|span| Hit {
                span,
                rule: RULES.len() + nth,
                value: None,
            }));
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
    pub(crate) const fn is_pattern(rule: usize) -> bool {
        rule >= RULES.len()
    }
}
