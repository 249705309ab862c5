//! Lists of what a rule does not mean: expressions and words that take a match back.

use super::form::Form;

/// What an expression of a list is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The value.
    Secret,
    /// The whole match.
    Match,
    /// The lines that the match stands on.
    Line,
}

/// A match of a rule, in the readings that lists and filters ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finding<'t> {
    pub(super) secret: &'t str,
    pub(super) whole: &'t str,
    pub(super) line: &'t str,
}

impl<'t> Finding<'t> {
    pub(super) const fn part(&self, target: Target) -> &'t str {
        match target {
            Target::Secret => self.secret,
            Target::Match => self.whole,
            Target::Line => self.line,
        }
    }
}

/// A list.
#[derive(Debug)]
pub(super) struct AllowList {
    pub(super) target: Target,
    pub(super) regexes: Vec<Form>,
    /// In small letters.
    pub(super) stopwords: Vec<String>,
    /// Whether an expression and a word must both be there.
    pub(super) needs_all: bool,
}

impl AllowList {
    /// Tells whether the list takes the match back.
    pub(super) fn allows(&self, finding: &Finding<'_>) -> bool {
        let part = finding.part(self.target).as_bytes();
        let matches = || self.regexes.iter().any(|form| form.is_match(part));
        let has_word = || {
            let secret = finding.secret.to_lowercase();
            self.stopwords
                .iter()
                .any(|word| secret.contains(word.as_str()))
        };
        if !self.needs_all {
            return !self.regexes.is_empty() && matches()
                || !self.stopwords.is_empty() && has_word();
        }
        (!self.regexes.is_empty() || !self.stopwords.is_empty())
            && (self.regexes.is_empty() || matches())
            && (self.stopwords.is_empty() || has_word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(regexes: &[&str], stopwords: &[&str], needs_all: bool) -> AllowList {
        AllowList {
            target: Target::Secret,
            regexes: regexes
                .iter()
                .map(|form| Form::new(form).unwrap())
                .collect(),
            stopwords: stopwords.iter().map(|word| (*word).to_owned()).collect(),
            needs_all,
        }
    }

    const FINDING: Finding<'_> = Finding {
        secret: "abc123EXAMPLE",
        whole: "key=abc123EXAMPLE",
        line: "# key=abc123EXAMPLE of the manual",
    };

    #[test]
    fn one_criterion_or_all_of_them() {
        for (list, allows) in [
            (list(&["^abc"], &[], false), true),
            (list(&["^xyz"], &["example"], false), true),
            (list(&["^xyz"], &["example"], true), false),
            (list(&["^abc"], &["example"], true), true),
            (list(&[], &["example"], true), true),
            (list(&[], &[], true), false),
            (list(&[], &[], false), false),
        ] {
            assert_eq!(list.allows(&FINDING), allows, "{list:?}");
        }
    }

    #[test]
    fn a_list_looks_at_what_it_names() {
        for (target, allows) in [
            (Target::Secret, false),
            (Target::Match, false),
            (Target::Line, true),
        ] {
            let list = AllowList {
                target,
                ..list(&["manual"], &[], false)
            };
            assert_eq!(list.allows(&FINDING), allows, "{target:?}");
        }
    }
}
