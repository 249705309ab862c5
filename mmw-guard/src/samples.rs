//! Made-up secrets of the shipped kinds, for tests: of the guard and of programs that use it.
//!
//! Nothing here is a real credential: each is drawn from the form of a rule.

use crate::entropy::shannon;
use crate::rules::{Checksum, Form, Part, RULES, Rule, Set, UNLIMITED};
use crate::shape::{is_example, is_identifier, is_monotone};

/// How much longer than its least length a part without an upper count is drawn, in bytes.
const UNLIMITED_EXTRA: usize = 12;

/// A text with a secret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The id of the rule that the secret was drawn from.
    pub rule: &'static str,
    /// The secret.
    pub secret: String,
    /// The secret in a sentence, an assignment or a file.
    pub text: String,
}

/// Returns `n` samples; the same seed gives the same ones.
#[must_use]
pub fn samples(seed: u64, n: usize) -> Vec<Sample> {
    let mut state = seed | 1;
    let mut below = move |n: usize| {
        // A linear congruential generator (Knuth, MMIX): good enough to vary examples.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % n.max(1)
    };
    let drawable: Vec<&Rule> = RULES
        .iter()
        .filter(|rule| matches!(rule.form, Form::Token { .. } | Form::Nearby { .. }))
        .collect();
    let mut all = Vec::with_capacity(n);
    // Every kind in turn, so that a few hundred samples cover the table.
    let mut at = below(drawable.len());
    while all.len() < n && !drawable.is_empty() {
        let rule = drawable[at % drawable.len()];
        at += 1;
        let secret = drawn(rule, &mut below);
        let templates = templates(rule);
        let text = templates[below(templates.len())].replacen("{}", &secret, 1);
        all.push(Sample {
            rule: rule.id,
            secret,
            text,
        });
    }
    all
}

/// Returns texts in which the value in the place of `{}` is a secret of the rule.
pub(crate) fn templates(rule: &Rule) -> Vec<String> {
    match &rule.form {
        Form::Token { .. } => [
            "{}",
            "TOKEN={}",
            "the key is {}.",
            "用{}登录",
            "{\"key\": \"{}\"}",
            "curl -H 'X-Key: {}'",
        ]
        .map(str::to_owned)
        .to_vec(),
        Form::Nearby { .. } => rule
            .keywords
            .iter()
            .flat_map(|name| {
                [
                    format!("{name}_token = \"{{}}\""),
                    format!("{}_API_KEY={{}}", name.to_ascii_uppercase()),
                    format!("{name} token: {{}}"),
                    format!("the {name} api key is {{}}"),
                ]
            })
            .collect(),
        Form::Block | Form::Coded | Form::Pattern(_) => Vec::new(),
    }
}

/// Draws a secret of a rule; `below` returns a number below its argument.
pub(crate) fn drawn(rule: &Rule, below: &mut impl FnMut(usize) -> usize) -> String {
    loop {
        let (secret, body) = match &rule.form {
            Form::Token {
                before,
                forms,
                checksum,
                ..
            } => {
                let mut secret = String::new();
                draw(before, below, &mut secret);
                secret.push_str(rule.keywords[below(rule.keywords.len())]);
                let mut body = String::new();
                draw(forms[below(forms.len())], below, &mut body);
                if *checksum == Some(Checksum::Crc32) {
                    let said = body.len().saturating_sub(6);
                    body.truncate(said);
                    let sum = base62::encode_fmt(u128::from(crc32fast::hash(body.as_bytes())));
                    body.push_str(&format!("{sum:0>6}"));
                }
                (secret + body.as_str(), body)
            }
            Form::Nearby { forms } => {
                let mut body = String::new();
                draw(forms[below(forms.len())], below, &mut body);
                (body.clone(), body)
            }
            Form::Block | Form::Coded | Form::Pattern(_) => return String::new(),
        };
        // Chance may draw what a rule spares on purpose, or what a sentence would end.
        let ends_plainly = secret.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '=');
        let begins_plainly = matches!(rule.form, Form::Token { .. })
            || secret.starts_with(|c: char| c.is_ascii_alphanumeric());
        let spared = is_monotone(&secret)
            || is_example(&secret)
            || shannon(&body) < rule.entropy.max(2.5).min(limit(&body))
            || matches!(rule.form, Form::Nearby { .. }) && is_identifier(&body);
        if ends_plainly && begins_plainly && !spared {
            return secret;
        }
    }
}

/// The entropy that a body of few or of few different characters can have at all.
fn limit(body: &str) -> f64 {
    (body.len() as f64).log2() * 0.6
}

fn draw(parts: &[Part], below: &mut impl FnMut(usize) -> usize, into: &mut String) {
    for part in parts {
        match part {
            Part::Bytes(bytes) => into.push_str(&String::from_utf8_lossy(bytes)),
            Part::Run { set, min, max } => {
                let (min, max) = (*min as usize, *max);
                let extra = if max == UNLIMITED {
                    UNLIMITED_EXTRA
                } else {
                    (max as usize).saturating_sub(min).min(UNLIMITED_EXTRA)
                };
                let members = members(set);
                for _ in 0..min + below(extra + 1) {
                    into.push(char::from(members[below(members.len())]));
                }
            }
        }
    }
}

fn members(set: &Set) -> Vec<u8> {
    (0..=127)
        .filter(|byte| set.has(*byte) && (byte.is_ascii_graphic() || *byte == b' '))
        .collect()
}
