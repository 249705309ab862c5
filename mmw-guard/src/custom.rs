//! Rules that a user adds: a file in the format of gitleaks or betterleaks, read from its text.
//!
//! Nothing is read from a disk here and nothing is guessed: a file that is not understood is
//! refused whole, and the program that was given it does not start. Rules of a file are added to the
//! guard's own; they switch none off.
//!
//! | of the format | here |
//! |---|---|
//! | `id`, `regex`, `secretGroup` (`valueGroup`), `keywords`, `entropy` | as there |
//! | `allowlist`, `allowlists` of a rule or of the file: `regexes`, `stopwords`, `condition`, `regexTarget`, `targetRules` | as there |
//! | `paths`, `commits`, `path`, `prefilter` | a memory has neither path nor commit: such a rule is left out, such a criterion never holds |
//! | `filter` | the part that [`filter`] names; what is not understood takes no match back |
//! | `skipReport` | the rule is left out |
//! | `required`, `components`, `tokenEfficiency` | no effect: the rule fires without them |
//! | `validate`, `analyze`, `revoke`, `tags`, `severity`, `confidence`, `specificity` | no effect |
//! | `extend.useDefault`, `extend.disabledRules` | no effect, with a warning: the guard's own rules always run |
//! | `extend.path`, `extend.url` | refused |
//! | any other field | refused |

mod allow;
mod error;
mod file;
mod filter;
mod form;
mod load;

use std::ops::Range;

use aho_corasick::AhoCorasick;

use self::allow::{AllowList, Finding};
use self::filter::Filter;
use self::form::Form;
use crate::entropy::shannon;

pub use self::error::CustomRulesError;

/// Rules of a user's file.
#[derive(Debug)]
pub struct CustomRules {
    parts: Parts,
    /// None if no rule has keywords.
    keywords: Option<AhoCorasick>,
    /// For each keyword: its rule.
    calls: Vec<usize>,
    fingerprint: u64,
}

/// What a file says.
#[derive(Debug)]
struct Parts {
    rules: Vec<CustomRule>,
    allowed: Vec<AllowList>,
    filter: Option<Filter>,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct CustomRule {
    id: String,
    /// What it finds, for people.
    title: String,
    form: Form,
    /// The group that is the secret; without one, the first that took part, or the whole match.
    group: Option<usize>,
    /// One of these stands in a text that the rule runs on; without any it runs on all.
    keywords: Vec<String>,
    /// A secret has more than this many bits per byte; 0 asks for none.
    entropy: f64,
    allowed: Vec<AllowList>,
    filter: Option<Filter>,
}

impl CustomRules {
    /// Reads the text of a rule file. Every expression is checked; each is compiled when a text
    /// first calls for it, or by [`CustomRules::compile`].
    ///
    /// ```
    /// use mmw_guard::CustomRules;
    ///
    /// let rules = CustomRules::parse(r#"
    /// [[rules]]
    /// id = "acme-ticket"
    /// description = "Ticket of the build farm"
    /// regex = '''\bacme-([a-z0-9]{16})\b'''
    /// keywords = ["acme-"]
    /// "#)?;
    /// let text = "use acme-0a1b2c3d4e5f6a7b for the farm";
    /// let (span, rule) = rules.find(text).remove(0);
    /// assert_eq!((&text[span], rules.id(rule)), ("0a1b2c3d4e5f6a7b", "acme-ticket"));
    ///
    /// let refused = CustomRules::parse("[[rules]]\nid = \"a\"\nregex = '(x'").unwrap_err();
    /// assert_eq!(refused.to_string(), "line 3: rule `a`, regex: unclosed group");
    /// # Ok::<(), mmw_guard::CustomRulesError>(())
    /// ```
    ///
    /// # Errors
    /// [`CustomRulesError`]: what is wrong, where, and what to do.
    pub fn parse(text: &str) -> Result<Self, CustomRulesError> {
        let parts = load::load(text)?;
        let mut words = Vec::new();
        let mut calls = Vec::new();
        for (index, rule) in parts.rules.iter().enumerate() {
            for word in &rule.keywords {
                words.push(word.as_str());
                calls.push(index);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&words)
            .map_err(|error| CustomRulesError::NotUnderstood {
                line: None,
                message: format!("the keywords can't be searched for: {error}"),
            })?;
        let keywords = (!words.is_empty()).then_some(keywords);
        Ok(Self {
            keywords,
            calls,
            fingerprint: fingerprint(text),
            parts,
        })
    }

    /// Compiles every expression, so that none fails later and no text waits for it. A rule whose
    /// expression is larger than is taken would find nothing.
    ///
    /// # Errors
    /// [`CustomRulesError::Unusable`] with the rule.
    pub fn compile(&self) -> Result<(), CustomRulesError> {
        let unusable = |place: String| {
            move |message| CustomRulesError::Unusable {
                line: None,
                place,
                message,
            }
        };
        for rule in &self.parts.rules {
            let of = |field| format!("rule `{}`, {field}", rule.id);
            rule.form.check().map_err(unusable(of("regex")))?;
            check(&rule.allowed).map_err(unusable(of("allow-list")))?;
            if let Some(filter) = &rule.filter {
                filter.check().map_err(unusable(of("filter")))?;
            }
        }
        check(&self.parts.allowed).map_err(unusable("the allow-list of the file".into()))?;
        match &self.parts.filter {
            Some(filter) => filter
                .check()
                .map_err(unusable("the filter of the file".into())),
            None => Ok(()),
        }
    }

    /// Returns where secrets stand in a text, in bytes, with the place of the rule.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        self.find_in(text, false)
    }

    /// As [`CustomRules::find`]; `any_case` is for texts that were lower-cased.
    pub(crate) fn find_in(&self, text: &str, any_case: bool) -> Vec<(Range<usize>, usize)> {
        let mut found = Vec::new();
        let called = self.called(text);
        for (index, rule) in self.parts.rules.iter().enumerate() {
            if !called[index] {
                continue;
            }
            let regex = if any_case {
                rule.form.folded()
            } else {
                rule.form.regex()
            };
            let Some(regex) = regex else { continue };
            for groups in regex.captures_iter(text.as_bytes()) {
                let Some(whole) = groups.get(0) else { continue };
                let secret = match rule.group {
                    Some(group) => groups.get(group),
                    None => groups
                        .iter()
                        .skip(1)
                        .flatten()
                        .find(|group| !group.is_empty())
                        .or(Some(whole)),
                };
                let Some(secret) = secret.filter(|secret| !secret.is_empty()) else {
                    continue;
                };
                let span = whole_characters(text, &secret.range());
                let finding = Finding {
                    secret: &text[span.clone()],
                    whole: &text[whole_characters(text, &whole.range())],
                    line: lines_around(text, &whole.range()),
                };
                if self.accepts(rule, &finding) {
                    found.push((span, index));
                }
            }
        }
        found
    }

    /// Returns the id of a rule by its place; an empty one for a place that is none.
    #[must_use]
    pub fn id(&self, index: usize) -> &str {
        self.parts
            .rules
            .get(index)
            .map_or("", |rule| rule.id.as_str())
    }

    /// Returns what a rule finds, in the words of the file.
    pub(crate) fn title(&self, index: usize) -> &str {
        let rule = self.parts.rules.get(index);
        rule.map_or("", |rule| rule.title.as_str())
    }

    /// Returns the place of a rule, if there is one of that id.
    #[must_use]
    pub fn place_of(&self, id: &str) -> Option<usize> {
        self.parts.rules.iter().position(|rule| rule.id == id)
    }

    /// Returns how many rules have an effect.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.rules.len()
    }

    /// Tells whether no rule has an effect.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.rules.is_empty()
    }

    /// Returns what of the file has no effect, one sentence each, for whoever starts the program.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    /// Returns a number that changes with the text of the file.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Tells for each rule whether it runs on a text.
    fn called(&self, text: &str) -> Vec<bool> {
        let rules = &self.parts.rules;
        let mut called: Vec<bool> = rules.iter().map(|rule| rule.keywords.is_empty()).collect();
        if let Some(keywords) = &self.keywords {
            for found in keywords.find_overlapping_iter(text) {
                called[self.calls[found.pattern().as_usize()]] = true;
            }
        }
        called
    }

    fn accepts(&self, rule: &CustomRule, finding: &Finding<'_>) -> bool {
        let filters = rule.filter.iter().chain(&self.parts.filter);
        let lists = rule.allowed.iter().chain(&self.parts.allowed);
        (rule.entropy <= 0.0 || shannon(finding.secret) > rule.entropy)
            && !filters.into_iter().any(|filter| filter.discards(finding))
            && !lists.into_iter().any(|list| list.allows(finding))
    }
}

fn check(lists: &[AllowList]) -> Result<(), String> {
    lists
        .iter()
        .flat_map(|list| &list.regexes)
        .try_for_each(Form::check)
}

/// Byte expressions may stop inside a character: the whole of it is taken.
fn whole_characters(text: &str, range: &Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

/// Returns the lines that a span touches.
fn lines_around<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    let span = whole_characters(text, span);
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..]
        .find('\n')
        .map_or(text.len(), |at| span.end + at);
    &text[start..end]
}

/// FNV-1a: tells files apart, proves nothing.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
