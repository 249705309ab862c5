//! Reads the rows of rule files and checks what each kind of row promises.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::sequence::{self, Part};

/// The shortest keyword, in bytes: the keyword index compares from three bytes on.
const MIN_KEYWORD_BYTES: usize = 3;
const MAX_ID_BYTES: usize = 48;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<TokenRow>,
    #[serde(default)]
    nearby: Vec<NearbyRow>,
    #[serde(default)]
    block: Vec<BlockRow>,
    #[serde(default)]
    coded: Vec<CodedRow>,
    #[serde(default)]
    rule: Vec<PatternRow>,
}

/// A secret that its own beginning gives away.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRow {
    id: String,
    title: String,
    vendor: String,
    why: String,
    #[serde(default)]
    docs: String,
    prefixes: Vec<String>,
    #[serde(default)]
    before: String,
    #[serde(default)]
    form: String,
    #[serde(default)]
    forms: Vec<String>,
    #[serde(default)]
    checksum: String,
    #[serde(default)]
    entropy: f64,
    #[serde(default = "yes")]
    loose: bool,
    #[serde(default)]
    near_miss: Vec<String>,
}

const fn yes() -> bool {
    true
}

/// A secret without a beginning of its own, known by its vendor's name before it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NearbyRow {
    id: String,
    title: String,
    vendor: String,
    why: String,
    #[serde(default)]
    docs: String,
    names: Vec<String>,
    #[serde(default)]
    form: String,
    #[serde(default)]
    forms: Vec<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    near_miss: Vec<String>,
}

/// A secret between two marks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockRow {
    id: String,
    title: String,
    vendor: String,
    why: String,
    #[serde(default)]
    docs: String,
    /// The words that its opening mark has.
    marks: Vec<String>,
    generate: String,
    positive: Vec<String>,
    negative: Vec<String>,
}

/// A secret that code recognises: the row has the words for people and the examples.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CodedRow {
    id: String,
    title: String,
    vendor: String,
    why: String,
    #[serde(default)]
    docs: String,
    generate: String,
    positive: Vec<String>,
    negative: Vec<String>,
}

/// A secret that only its surroundings betray: a regular expression around a keyword.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternRow {
    id: String,
    title: String,
    vendor: String,
    why: String,
    #[serde(default)]
    docs: String,
    keywords: Vec<String>,
    #[serde(default)]
    entropy: f64,
    regex: String,
    #[serde(default)]
    generate: String,
    #[serde(default)]
    positive: Vec<String>,
    #[serde(default)]
    negative: Vec<String>,
}

/// What a row became.
pub(crate) enum Form {
    Token {
        before: Vec<Part>,
        forms: Vec<Vec<Part>>,
        checksum: String,
        loose: bool,
    },
    Nearby {
        forms: Vec<Vec<Part>>,
    },
    Block,
    Coded,
    Pattern {
        regex: String,
    },
}

/// A rule as it goes into the tables.
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) vendor: String,
    pub(crate) why: String,
    pub(crate) docs: String,
    pub(crate) entropy: f64,
    pub(crate) keywords: Vec<String>,
    pub(crate) form: Form,
    pub(crate) generate: String,
    pub(crate) positive: Vec<String>,
    pub(crate) negative: Vec<String>,
}

impl Rule {
    /// Tells whether a keyword counts only where a word begins. A token that has a check of its own
    /// is known inside a word too.
    pub(crate) fn begins_a_word(&self, keyword: &str) -> bool {
        let is_plain = keyword.starts_with(|c: char| c.is_ascii_alphanumeric());
        match &self.form {
            Form::Token {
                before, checksum, ..
            } => is_plain && before.is_empty() && checksum.is_empty(),
            Form::Nearby { .. } => is_plain,
            Form::Block | Form::Coded | Form::Pattern { .. } => false,
        }
    }

    /// Tells whether a keyword is compared byte for byte. A prefix always is; of a pattern's
    /// keywords, one with a capital letter.
    pub(crate) fn is_exact(&self, keyword: &str) -> bool {
        match self.form {
            Form::Token { .. } | Form::Block | Form::Coded => true,
            Form::Nearby { .. } => false,
            Form::Pattern { .. } => keyword.bytes().any(|b| b.is_ascii_uppercase()),
        }
    }
}

/// Reads all files. The most telling kinds come first: where findings overlap, the earlier row names it.
pub(crate) fn read(texts: &[(String, String)]) -> Result<Vec<Rule>, String> {
    let (mut tokens, mut nearby, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
    let (mut blocks, mut coded_rows) = (Vec::new(), Vec::new());
    for (file, text) in texts {
        let rows: File = toml::from_str(text).map_err(|trouble| format!("{file}: {trouble}"))?;
        let tell = |id: &str, why: String| format!("{file}: rule `{id}`: {why}");
        for row in rows.block {
            let id = row.id.clone();
            blocks.push(checked(block(row)).map_err(|why| tell(&id, why))?);
        }
        for row in rows.coded {
            let id = row.id.clone();
            coded_rows.push(checked(coded(row)).map_err(|why| tell(&id, why))?);
        }
        for row in rows.token {
            let id = row.id.clone();
            tokens.push(token(row).and_then(checked).map_err(|why| tell(&id, why))?);
        }
        for row in rows.nearby {
            let id = row.id.clone();
            nearby.push(near(row).and_then(checked).map_err(|why| tell(&id, why))?);
        }
        for row in rows.rule {
            let id = row.id.clone();
            patterns.push(checked(pattern(row)).map_err(|why| tell(&id, why))?);
        }
    }
    blocks.append(&mut tokens);
    blocks.append(&mut nearby);
    blocks.append(&mut coded_rows);
    blocks.append(&mut patterns);
    let mut ids = BTreeSet::new();
    for rule in &blocks {
        if !ids.insert(&rule.id) {
            return Err(format!("two rules have the id `{}`", rule.id));
        }
    }
    Ok(blocks)
}

fn forms(form: String, forms: Vec<String>) -> Result<Vec<Vec<Part>>, String> {
    let mut all = forms;
    if !form.is_empty() {
        all.insert(0, form);
    }
    if all.is_empty() {
        return Err("has no `form`".to_owned());
    }
    all.iter().map(|form| sequence::parse(form)).collect()
}

fn token(row: TokenRow) -> Result<Rule, String> {
    let before = if row.before.is_empty() {
        Vec::new()
    } else {
        sequence::parse(&row.before)?
    };
    if before.len() > 1 || !before.iter().all(|part| matches!(part, Part::Run { .. })) {
        return Err("`before` must be one class with a count".to_owned());
    }
    if !matches!(row.checksum.as_str(), "" | "github" | "npm") {
        return Err(format!("`checksum` {} is not known", row.checksum));
    }
    Ok(Rule {
        form: Form::Token {
            before,
            forms: forms(row.form, row.forms)?,
            checksum: row.checksum,
            loose: row.loose,
        },
        id: row.id,
        title: row.title,
        vendor: row.vendor,
        why: row.why,
        docs: row.docs,
        entropy: row.entropy,
        keywords: row.prefixes,
        generate: String::new(),
        positive: Vec::new(),
        negative: row.near_miss,
    })
}

fn near(row: NearbyRow) -> Result<Rule, String> {
    let names = row.names.iter().map(|name| name.to_lowercase()).collect();
    Ok(Rule {
        form: Form::Nearby {
            forms: forms(row.form, row.forms)?,
        },
        id: row.id,
        title: row.title,
        vendor: row.vendor,
        why: row.why,
        docs: row.docs,
        entropy: row.entropy,
        keywords: names,
        generate: String::new(),
        positive: Vec::new(),
        negative: row.near_miss,
    })
}

fn block(row: BlockRow) -> Rule {
    Rule {
        form: Form::Block,
        id: row.id,
        title: row.title,
        vendor: row.vendor,
        why: row.why,
        docs: row.docs,
        entropy: 0.0,
        keywords: row.marks,
        generate: row.generate,
        positive: row.positive,
        negative: row.negative,
    }
}

fn coded(row: CodedRow) -> Rule {
    Rule {
        form: Form::Coded,
        id: row.id,
        title: row.title,
        vendor: row.vendor,
        why: row.why,
        docs: row.docs,
        entropy: 0.0,
        keywords: Vec::new(),
        generate: row.generate,
        positive: row.positive,
        negative: row.negative,
    }
}

fn pattern(row: PatternRow) -> Rule {
    Rule {
        form: Form::Pattern { regex: row.regex },
        id: row.id,
        title: row.title,
        vendor: row.vendor,
        why: row.why,
        docs: row.docs,
        entropy: row.entropy,
        keywords: row.keywords,
        generate: row.generate,
        positive: row.positive,
        negative: row.negative,
    }
}

fn checked(rule: Rule) -> Result<Rule, String> {
    let id = &rule.id;
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if !(3..=MAX_ID_BYTES).contains(&id.len()) || !id.bytes().all(is_plain) {
        return Err(format!(
            "`id` must be 3 to {MAX_ID_BYTES} of a-z, 0-9 and -"
        ));
    }
    if rule.title.is_empty() || rule.vendor.is_empty() {
        return Err("needs `title` and `vendor`".to_owned());
    }
    if !rule.why.ends_with('.') {
        return Err("`why` must be a sentence that ends with a full stop".to_owned());
    }
    if rule.keywords.is_empty() && !matches!(rule.form, Form::Coded) {
        return Err("needs a prefix, name or keyword".to_owned());
    }
    if let Some(short) = rule
        .keywords
        .iter()
        .find(|keyword| keyword.len() < MIN_KEYWORD_BYTES)
    {
        return Err(format!(
            "`{short}` is shorter than {MIN_KEYWORD_BYTES} bytes"
        ));
    }
    Ok(rule)
}
