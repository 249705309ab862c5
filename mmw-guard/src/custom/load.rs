//! Makes rules of what a file says, or tells what is wrong with it. Nothing is guessed.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::allow::{AllowList, Target};
use super::error::{CustomRulesError, line_of};
use super::file;
use super::filter::Filter;
use super::form::Form;
use super::{CustomRule, Parts};
use crate::rules;

/// The largest file, in bytes.
pub(super) const MAX_FILE_BYTES: usize = 2 << 20;
/// The most rules.
pub(super) const MAX_RULES: usize = 2_000;
/// The most rules without keywords: each of them runs on every text.
pub(super) const MAX_WITHOUT_KEYWORDS: usize = 64;
/// The most keywords of all rules together.
const MAX_KEYWORDS: usize = 20_000;
/// The most expressions and words of all lists together.
const MAX_ALLOWED: usize = 20_000;
/// The longest id, in bytes: it has to fit a placeholder.
const MAX_ID_BYTES: usize = 48;

type Result<T> = std::result::Result<T, CustomRulesError>;

/// A file that is being read.
struct Loader<'t> {
    text: &'t str,
    warnings: Warnings,
}

/// What has no effect, each with the rules of which it is said.
#[derive(Default)]
struct Warnings(Vec<(&'static str, Vec<String>)>);

impl Warnings {
    fn add(&mut self, what: &'static str, of: Option<&str>) {
        let at = self.0.iter().position(|(said, _)| *said == what);
        let at = at.unwrap_or_else(|| {
            self.0.push((what, Vec::new()));
            self.0.len() - 1
        });
        self.0[at].1.extend(of.map(str::to_owned));
    }

    /// Returns one sentence for each thing, however many rules it is said of.
    fn sentences(&self) -> Vec<String> {
        const NAMED: usize = 5;
        let sentence = |(what, of): &(&'static str, Vec<String>)| {
            let named = of[..of.len().min(NAMED)].join(", ");
            match of.len() {
                0 => (*what).to_owned(),
                n if n > NAMED => format!("{what}: {named} and {} more", n - NAMED),
                _ => format!("{what}: {named}"),
            }
        };
        self.0.iter().map(sentence).collect()
    }
}

/// Reads a file.
pub(super) fn load(text: &str) -> Result<Parts> {
    at_most("bytes", text.len(), MAX_FILE_BYTES)?;
    let file: file::File = toml::from_str(text).map_err(|error| {
        let message = error.message();
        // The list of all fields would hide what is wrong.
        let message = message.split(", expected one of").next().unwrap_or(message);
        CustomRulesError::NotUnderstood {
            line: error.span().map(|span| line_of(text, span.start)),
            message: message.to_owned(),
        }
    })?;
    let mut loader = Loader {
        text,
        warnings: Warnings::default(),
    };
    loader.file(file)
}

fn at_most(what: &str, found: usize, limit: usize) -> Result<()> {
    if found <= limit {
        return Ok(());
    }
    Err(CustomRulesError::TooMuch {
        what: format!("the file's {what}"),
        found,
        limit,
    })
}

impl Loader<'_> {
    fn unusable<V>(
        &self,
        spanned: &Spanned<V>,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> CustomRulesError {
        CustomRulesError::Unusable {
            line: Some(line_of(self.text, spanned.span().start)),
            place: place.into(),
            message: message.into(),
        }
    }

    fn file(&mut self, file: file::File) -> Result<Parts> {
        self.extend(file.extend.as_ref())?;
        at_most("rules", file.rules.len(), MAX_RULES)?;
        self.limits(&file)?;
        self.no_doubles(&file.rules)?;
        let (for_rules, for_all): (Vec<_>, Vec<_>) = file
            .allowlists
            .into_iter()
            .chain(file.allowlist)
            .partition(|list| !list.target_rules.is_empty());
        let mut by_rule: BTreeMap<String, Vec<AllowList>> = BTreeMap::new();
        for list in &for_rules {
            for rule in &list.target_rules {
                let lists = by_rule.entry(rule.clone()).or_default();
                lists.extend(self.allow_list("the allow-list of several rules", list)?);
            }
        }
        let mut allowed = Vec::new();
        for list in &for_all {
            allowed.extend(self.allow_list("the allow-list of the file", list)?);
        }
        let filter = self.filter("the file", file.filter.as_ref())?;
        let mut rules = Vec::new();
        for rule in file.rules {
            let of_file = by_rule.remove(rule.id.get_ref()).unwrap_or_default();
            rules.extend(self.rule(&rule, of_file)?);
        }
        let without = rules.iter().filter(|rule| rule.keywords.is_empty()).count();
        at_most("rules without keywords", without, MAX_WITHOUT_KEYWORDS)?;
        Ok(Parts {
            rules,
            allowed,
            filter,
            warnings: self.warnings.sentences(),
        })
    }

    /// Nothing outside the file is read.
    fn extend(&mut self, extend: Option<&file::Extend>) -> Result<()> {
        let Some(extend) = extend else { return Ok(()) };
        for (name, address) in [("path", &extend.path), ("url", &extend.url)] {
            if let Some(address) = address {
                return Err(self.unusable(
                    address,
                    format!("extend.{name}"),
                    "other files are not read: put the rules into one file",
                ));
            }
        }
        if extend.use_default {
            let what = "extend.useDefault has no effect: the guard's own rules always run, those of \
                        gitleaks are not part of it";
            self.warnings.add(what, None);
        }
        if !extend.disabled_rules.is_empty() {
            let what =
                "extend.disabledRules has no effect: a rule file switches no rule of the guard off";
            self.warnings.add(what, None);
        }
        Ok(())
    }

    fn limits(&self, file: &file::File) -> Result<()> {
        let keywords = file.rules.iter().map(|rule| rule.keywords.len()).sum();
        at_most("keywords", keywords, MAX_KEYWORDS)?;
        let of_rules = file
            .rules
            .iter()
            .flat_map(|rule| rule.allowlists.iter().chain(&rule.allowlist));
        // A list for several rules is kept for each of them.
        let of_file = file.allowlists.iter().chain(&file.allowlist);
        let allowed = of_rules
            .chain(of_file)
            .map(|list| {
                (list.regexes.len() + list.stopwords.len())
                    .saturating_mul(list.target_rules.len().max(1))
            })
            .fold(0, usize::saturating_add);
        at_most("expressions and words in allow-lists", allowed, MAX_ALLOWED)
    }

    fn no_doubles(&self, rules: &[file::Rule]) -> Result<()> {
        let mut known = BTreeSet::new();
        for rule in rules {
            let id = rule.id.get_ref();
            if !known.insert(id) {
                let message = "there is another rule of this id: rename one of them";
                return Err(self.unusable(&rule.id, format!("rule `{id}`"), message));
            }
        }
        Ok(())
    }

    /// Returns the rule, if it has an effect on texts that have no path.
    fn rule(&mut self, rule: &file::Rule, of_file: Vec<AllowList>) -> Result<Option<CustomRule>> {
        let id = rule.id.get_ref();
        let place = format!("rule `{id}`");
        let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        if id.is_empty() || id.len() > MAX_ID_BYTES || !id.bytes().all(fits) {
            let message = format!(
                "the id stands in placeholders: 1 to {MAX_ID_BYTES} letters, digits, `-`, `_` or `.`"
            );
            return Err(self.unusable(&rule.id, place, message));
        }
        if rule.skip_report {
            return Ok(None);
        }
        if rule.path.is_some() {
            let what = "left out, since they ask for a path and a memory has none";
            self.warnings.add(what, Some(id));
            return Ok(None);
        }
        let Some(regex) = &rule.regex else {
            return Err(self.unusable(&rule.id, place, "has no regex"));
        };
        let form = Form::new(regex.get_ref())
            .map_err(|why| self.unusable(regex, format!("{place}, regex"), why))?;
        let group = rule
            .secret_group
            .as_ref()
            .filter(|group| *group.get_ref() > 0);
        if let Some(group) = group
            && *group.get_ref() > form.groups()
        {
            let message = format!("the regex has {} groups", form.groups());
            return Err(self.unusable(group, format!("{place}, secretGroup"), message));
        }
        let entropy = rule.entropy.unwrap_or(0.0);
        if !entropy.is_finite() || !(0.0..=8.0).contains(&entropy) {
            let message = "must be from 0 to 8 bits per byte";
            return Err(self.unusable(&rule.id, format!("{place}, entropy"), message));
        }
        if rule.required.is_some() || rule.token_efficiency.is_some() {
            let what = "`required` and `tokenEfficiency` have no effect: these fire without them";
            self.warnings.add(what, Some(id));
        }
        if rules::place_of(id).is_some() {
            let what = "the guard has a rule of the same id: both run, and both are told by it";
            self.warnings.add(what, Some(id));
        }
        let mut allowed = of_file;
        for list in rule.allowlists.iter().chain(&rule.allowlist) {
            allowed.extend(self.allow_list(&format!("{place}, allow-list"), list)?);
        }
        let filter = self.filter(&place, rule.filter.as_ref())?;
        let has_empty = rule.keywords.iter().any(String::is_empty);
        Ok(Some(CustomRule {
            id: id.clone(),
            title: rule.description.clone().unwrap_or_else(|| id.clone()),
            form,
            group: group.map(|group| *group.get_ref()),
            // An empty word stands in every text.
            keywords: if has_empty {
                Vec::new()
            } else {
                rule.keywords.clone()
            },
            entropy,
            allowed,
            filter,
        }))
    }

    fn filter(&mut self, of: &str, filter: Option<&Spanned<String>>) -> Result<Option<Filter>> {
        let Some(text) = filter else { return Ok(None) };
        let read = Filter::read(text.get_ref())
            .map_err(|why| self.unusable(text, format!("{of}, filter"), why))?;
        if read.is_partial {
            let what = "filters that are understood in part: what is not takes no match back";
            self.warnings.add(what, Some(of));
        }
        Ok(Some(read.filter))
    }

    /// Returns the list, if it can ever take a match back here.
    fn allow_list(&self, place: &str, list: &file::AllowList) -> Result<Option<AllowList>> {
        let needs_all = match list
            .condition
            .as_ref()
            .map(|condition| (condition, condition.get_ref().to_ascii_uppercase()))
        {
            None => false,
            Some((_, condition)) if matches!(condition.as_str(), "OR" | "||" | "") => false,
            Some((_, condition)) if matches!(condition.as_str(), "AND" | "&&") => true,
            Some((spanned, _)) => {
                return Err(self.unusable(
                    spanned,
                    format!("{place}, condition"),
                    "must be OR or AND",
                ));
            }
        };
        let target = match list.regex_target.as_ref() {
            None => Target::Secret,
            Some(named) => match named.get_ref().as_str() {
                "" | "secret" => Target::Secret,
                "match" => Target::Match,
                "line" => Target::Line,
                _ => {
                    let message = "must be secret, match or line";
                    return Err(self.unusable(named, format!("{place}, regexTarget"), message));
                }
            },
        };
        let mut regexes = Vec::with_capacity(list.regexes.len());
        for regex in &list.regexes {
            let form = Form::new(regex.get_ref())
                .map_err(|why| self.unusable(regex, format!("{place}, regexes"), why))?;
            regexes.push(form);
        }
        let stopwords = list.stopwords.iter().map(|word| word.to_lowercase());
        let stopwords: Vec<String> = stopwords.filter(|word| !word.is_empty()).collect();
        let asks_for_a_place = !list.paths.is_empty() || !list.commits.is_empty();
        let is_empty = regexes.is_empty() && stopwords.is_empty();
        if is_empty || needs_all && asks_for_a_place {
            return Ok(None);
        }
        Ok(Some(AllowList {
            target,
            regexes,
            stopwords,
            needs_all,
        }))
    }
}
