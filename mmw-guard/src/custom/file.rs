//! The rule file as it is written: the TOML of gitleaks and betterleaks, with every field they have.
//!
//! A field that is not listed here is refused: it might be the one that keeps a rule from firing.
//! Fields that ask a vendor, that only describe, or that look at paths are read and have no effect.

use serde::Deserialize;
use toml::{Spanned, Value};

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "fields without effect are listed so that they are not refused"
)]
pub(super) struct File {
    title: Option<String>,
    description: Option<String>,
    min_version: Option<Value>,
    /// Looks at paths; a memory has none.
    prefilter: Option<String>,
    pub(super) filter: Option<Spanned<String>>,
    pub(super) extend: Option<Extend>,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    pub(super) allowlist: Option<AllowList>,
    #[serde(default)]
    pub(super) allowlists: Vec<AllowList>,
}

/// What else a file builds on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Extend {
    #[serde(default)]
    pub(super) use_default: bool,
    pub(super) path: Option<Spanned<String>>,
    pub(super) url: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) disabled_rules: Vec<String>,
}

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "fields without effect are listed so that they are not refused"
)]
pub(super) struct Rule {
    pub(super) id: Spanned<String>,
    pub(super) description: Option<String>,
    pub(super) regex: Option<Spanned<String>>,
    #[serde(alias = "valueGroup")]
    pub(super) secret_group: Option<Spanned<usize>>,
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    pub(super) entropy: Option<f64>,
    pub(super) path: Option<String>,
    pub(super) filter: Option<Spanned<String>>,
    pub(super) allowlist: Option<AllowList>,
    #[serde(default)]
    pub(super) allowlists: Vec<AllowList>,
    /// A helper of other rules.
    #[serde(default)]
    pub(super) skip_report: bool,
    /// Rules that must match nearby: it fires without them.
    pub(super) required: Option<Value>,
    /// The same in betterleaks.
    components: Option<Value>,
    /// Common words are told from keys by a language model's tokens there: not here.
    pub(super) token_efficiency: Option<bool>,
    prefilter: Option<String>,
    tags: Option<Value>,
    severity: Option<Value>,
    confidence: Option<Value>,
    specificity: Option<Value>,
    links: Option<Value>,
    validate: Option<Value>,
    analyze: Option<Value>,
    revoke: Option<Value>,
}

/// A list of what is no secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AllowList {
    #[expect(dead_code, reason = "for people")]
    pub(super) description: Option<String>,
    pub(super) condition: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) commits: Vec<String>,
    #[serde(default)]
    pub(super) paths: Vec<String>,
    pub(super) regex_target: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) regexes: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) stopwords: Vec<String>,
    #[serde(default)]
    pub(super) target_rules: Vec<String>,
}
