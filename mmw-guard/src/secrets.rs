//! Finds secrets in one text: keywords in one pass, then the forms they call for, then judgement.
//!
//! Nothing is replaced here. What is found is a span of the text as it came in, whichever reading
//! of it gave the secret away.

use std::ops::Range;

use crate::entropy::shannon;
use crate::normal::{View, base64_runs, base64_text, unescaped, unfolded};
use crate::placeholder::{self, FILLER};
use crate::rules::{Judge, Rule, Table};
use crate::shape;

/// The shortest run of base64 that is read, in bytes: shorter ones hold no secret with its name.
const MIN_ENCODED_BYTES: usize = 40;
/// The shortest line of a key block, in bytes.
const MIN_BLOCK_LINE_BYTES: usize = 24;
/// The least entropy of an assigned value without digits, in bits per byte.
const MIN_LETTERS_ENTROPY: f64 = 4.0;

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Where, in bytes of the text.
    pub(crate) span: Range<usize>,
    /// The rule's place in the table.
    pub(crate) rule: usize,
    /// The value as the reading shows it, if that is worth looking for elsewhere.
    pub(crate) value: Option<String>,
}

/// Returns the secrets of a text, sorted, without overlaps, never inside a placeholder.
///
/// `any_case` is for names that were lower-cased.
pub(crate) fn find(table: &Table, text: &str, any_case: bool) -> Vec<Hit> {
    let placeholders = placeholder::spans(text, |id| table.knows(id));
    let masked = placeholder::masked(text, &placeholders);
    let mut hits = Vec::new();
    in_reading(table, &masked, any_case, |hit| hits.push(hit));
    let plain = unfolded(&masked);
    if let Some(view) = &plain {
        in_reading(table, &view.text, any_case, |hit| {
            hits.push(mapped(hit, &[view]));
        });
    }
    let reading = plain.as_ref().map_or(&*masked, |view| view.text.as_str());
    if let Some(view) = unescaped(reading) {
        in_reading(table, &view.text, any_case, |hit| {
            hits.push(match &plain {
                Some(plain) => mapped(hit, &[&view, plain]),
                None => mapped(hit, &[&view]),
            });
        });
    }
    for run in base64_runs(&masked, MIN_ENCODED_BYTES) {
        if let Some(said) = base64_text(&masked[run.clone()]) {
            let mut first = None;
            in_reading(table, &said, any_case, |hit| {
                first = first.or(Some(hit.rule));
            });
            hits.extend(first.map(|rule| Hit {
                span: run,
                rule,
                value: None,
            }));
        }
    }
    settled(hits, &masked, &placeholders)
}

fn mapped(hit: Hit, views: &[&View]) -> Hit {
    let span = views.iter().fold(hit.span, |span, view| view.origin(&span));
    Hit { span, ..hit }
}

/// Merges overlaps, takes in placeholders that are cut, drops what is nothing but placeholders.
pub(crate) fn settled(mut hits: Vec<Hit>, masked: &str, placeholders: &[Range<usize>]) -> Vec<Hit> {
    hits.retain(|hit| {
        masked
            .as_bytes()
            .get(hit.span.clone())
            .is_some_and(|bytes| bytes.iter().any(|b| *b != FILLER))
    });
    for hit in &mut hits {
        hit.span =
            masked.floor_char_boundary(hit.span.start)..masked.ceil_char_boundary(hit.span.end);
        let first = placeholders.partition_point(|span| span.end <= hit.span.start);
        for span in &placeholders[first..] {
            if span.start >= hit.span.end {
                break;
            }
            hit.span = hit.span.start.min(span.start)..hit.span.end.max(span.end);
        }
    }
    hits.sort_by_key(|hit| (hit.span.start, hit.span.end, hit.rule));
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match merged.last_mut() {
            Some(last) if hit.span.start < last.span.end => {
                last.span.end = last.span.end.max(hit.span.end);
                last.rule = last.rule.min(hit.rule);
                last.value = last.value.take().or(hit.value);
            }
            _ => merged.push(hit),
        }
    }
    merged
}

fn in_reading(table: &Table, text: &str, any_case: bool, mut found: impl FnMut(Hit)) {
    let Some(called) = table.called(text, any_case) else {
        return;
    };
    for (index, rule) in table
        .rules()
        .iter()
        .enumerate()
        .filter(|(index, _)| called[*index])
    {
        let form = if any_case {
            rule.folded_form()
        } else {
            rule.form()
        };
        let mut at = 0;
        while let Some(groups) = form.captures_at(text.as_bytes(), at) {
            let Some(whole) = groups.get(0) else { break };
            let group = groups.iter().skip(1).flatten().next().unwrap_or(whole);
            let range =
                text.floor_char_boundary(group.start())..text.ceil_char_boundary(group.end());
            let before = &text[text.floor_char_boundary(whole.start())..range.start];
            let value = accept(rule, before, text, range);
            let next = if let Some(span) = value {
                let next = span.end;
                let value = Some(text[span.clone()].to_owned());
                found(Hit {
                    span,
                    rule: index,
                    value,
                });
                next
            } else if matches!(rule.judge, Judge::Token | Judge::Block | Judge::Any) {
                whole.end()
            } else {
                // Not this one: the next may begin inside what this one took for its value.
                group.start()
            };
            at = next.max(whole.start() + 1);
            if at > text.len() {
                break;
            }
        }
    }
}

/// Returns the span of the value if it is one.
fn accept(rule: &Rule, before: &str, text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (span, quoted) = match rule.judge {
        Judge::Token | Judge::Block | Judge::Any => (range, false),
        Judge::Assigned
        | Judge::Password
        | Judge::QuotedPassword
        | Judge::PlainPassword
        | Judge::ProsePassword => trimmed(text, range),
    };
    let value = text.get(span.clone())?;
    if value
        .bytes()
        .all(|b| b == FILLER || b.is_ascii_whitespace())
    {
        return None;
    }
    let called = text[span.end..].starts_with('(');
    let is_value = || {
        !(called
            || shape::is_example(value)
            || shape::is_code(value)
            || shape::is_path(value)
            || shape::is_named_hash(value))
    };
    let accepted = match rule.judge {
        Judge::Any => true,
        Judge::Token => !shape::is_monotone(value),
        Judge::Block => !base64_runs(value, MIN_BLOCK_LINE_BYTES).is_empty(),
        Judge::Assigned => {
            let digit = value.bytes().any(|b| b.is_ascii_digit());
            let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
            value.len() >= 8
                && letter
                && (digit || shannon(value) >= MIN_LETTERS_ENTROPY)
                && is_value()
                && !shape::is_identifier(value)
                && !(shape::is_uuid(value) && names_a_session(before))
                && !shape::is_term(value)
        }
        Judge::Password => {
            value.len() >= 4 && shape::is_strong(value) && is_value() && !shape::is_term(value)
        }
        Judge::QuotedPassword => {
            let whole =
                before.ends_with(['"', '\'', '`']) && !before.contains(',') && !value.contains(' ');
            value.len() >= 3
                && is_value()
                && !shape::is_term(value)
                && (shape::is_strong(value) || whole)
        }
        Judge::PlainPassword => value.len() >= 3 && is_value(),
        Judge::ProsePassword => {
            let name =
                value.contains('_') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            value.len() >= 4
                && is_value()
                && !shape::is_term(value)
                && (shape::is_strong(value) || quoted && !name)
        }
    };
    (accepted && (rule.entropy <= 0.0 || shannon(value) >= rule.entropy)).then_some(span)
}

/// Tells whether a name speaks of sessions only: their ids are in every log.
fn names_a_session(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !["key", "secret", "token", "credential"]
        .iter()
        .any(|word| name.contains(word))
}

/// Returns a value without quotes, emphasis and the end of its sentence, and whether it was quoted.
fn trimmed(text: &str, range: Range<usize>) -> (Range<usize>, bool) {
    const QUOTES: [char; 9] = ['"', '\'', '`', '“', '”', '‘', '’', '«', '»'];
    let value = &text[range.clone()];
    let inner = value.trim_start_matches("**").trim_start_matches(QUOTES);
    let start = range.end - inner.len();
    let inner = inner.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '。', '，', '、', '；']);
    let closed = inner.trim_end_matches("**").trim_end_matches(QUOTES);
    let bare = closed.trim_end_matches(['.', ',', ';', ':', '。', '，', '、']);
    let end = start + bare.len();
    (
        start..end,
        value.starts_with(QUOTES) && closed.len() < inner.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::STANDARD;

    fn values(text: &str) -> Vec<&str> {
        find(&STANDARD, text, false)
            .into_iter()
            .map(|hit| &text[hit.span])
            .collect()
    }

    #[test]
    fn nothing_of_a_negative_example_is_taken() {
        let mut failures = Vec::new();
        for rule in STANDARD.rules() {
            for text in &rule.negative {
                for hit in find(&STANDARD, text, false) {
                    failures.push((
                        rule.id.clone(),
                        STANDARD.rules()[hit.rule].id.clone(),
                        text.clone(),
                        text[hit.span].to_owned(),
                    ));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn ordinary_developer_text_has_no_secret() {
        for text in [
            "4c536992c26b46b68ffc68ff99b453c1d3041341 fix the token refresh",
            "image@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            "\"integrity\": \"sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4==\"",
            "id 0192f0c1-8a6b-7c3d-9e4f-0123456789ab, ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "mac 00:1B:44:11:3A:B7 at 192.168.10.14, ::1, fe80::1",
            "getAccessTokenFromSession(user_session_token_store)",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0mYbRj8cE1nZkXo3rDkq0a7v0o0wq9N2m1o7J8fX2b me@host",
            "the password is incorrect. password is stored in 1Password",
            "staging is deployed with the systemd unit `app-staging`",
            "tokens: 4096, max_tokens=8192, token_count: 12",
        ] {
            assert_eq!(values(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_reading_gives_away_what_the_text_hides() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let wide: String = token
            .chars()
            .map(|c| {
                if c.is_ascii_graphic() {
                    char::from_u32(c as u32 + 0xfee0).unwrap()
                } else {
                    c
                }
            })
            .collect();
        let broken = token.replacen("B2", "B\u{200b}2", 1);
        let percent = format!("t%3D{token}%0A");
        for (text, hidden) in [
            (format!("x {wide} y"), wide.as_str()),
            (format!("x {broken}。"), broken.as_str()),
            (percent, token.as_str()),
        ] {
            assert_eq!(values(&text), [hidden], "{text}");
        }
        let quoted = r#"{\"password\": \"hunter2x\"}"#;
        assert_eq!(values(quoted), ["hunter2x"]);
    }

    #[test]
    fn forty_hexadecimal_digits_are_a_secret_only_where_a_name_says_so() {
        let hex = "4c536992c26b46b68ffc68ff99b453c1d3041341";
        assert_eq!(values(&format!("COOKIE={hex}")), [hex]);
        assert_eq!(values(&format!("commit={hex}")), Vec::<&str>::new());
    }
}
