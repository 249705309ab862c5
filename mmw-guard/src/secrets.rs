//! Finds secrets in one text: keywords in one pass, the forms they call for beside them, judgement.
//!
//! Nothing is replaced here. What is found is a span of the text as it came in, whichever reading
//! of it gave the secret away. Work grows with the length of the text and with nothing else: each
//! form is looked for beside its keyword only, and no stretch is searched twice for the same form.

mod bare;
mod block;
mod named;
mod nearby;
mod pattern;
mod token;

use std::borrow::Cow;
use std::ops::Range;

use crate::beside::Beside;
use crate::keywords::{Index, Word};
use crate::placeholder::{self, FILLER};
use crate::rules::{self, CALLS, Form, RULES};
use crate::views::{self, View, base64_blocks, base64_text};

/// The shortest run of base64 that is read, in bytes: shorter ones hold no secret with its name.
const MIN_ENCODED_BYTES: usize = 40;
/// How many encodings are read, one in the other.
const MAX_ENCODINGS: usize = 2;

/// The keywords of the rows, then those of names and sentences.
static WORDS: [Word; CALLS.len() + named::WORDS.len()] = {
    let mut words = [Word::new("", true); CALLS.len() + named::WORDS.len()];
    let mut n = 0;
    while n < words.len() {
        words[n] = if n < CALLS.len() {
            rules::WORDS[n]
        } else {
            named::WORDS[n - CALLS.len()].keyword()
        };
        n += 1;
    }
    words
};
static KEYWORDS: Index<{ WORDS.len() }> = Index::new(&WORDS);

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

/// A text as it is looked at: its placeholders, and its other readings.
#[derive(Debug)]
pub(crate) struct Read<'t> {
    pub(crate) text: &'t str,
    pub(crate) placeholders: Vec<Range<usize>>,
    /// The text with its placeholders filled.
    pub(crate) masked: Cow<'t, str>,
    /// The other readings, each made from the one before.
    pub(crate) views: Vec<View>,
}

impl<'t> Read<'t> {
    /// Reads a text.
    pub(crate) fn new(beside: &Beside<'_>, text: &'t str) -> Self {
        let placeholders = placeholder::spans(text, |id| beside.knows(id));
        let masked = placeholder::masked(text, &placeholders);
        let views = views::readings(&masked);
        Self {
            text,
            placeholders,
            masked,
            views,
        }
    }
}

/// Returns the secrets of a text, sorted, without overlaps, never inside a placeholder.
///
/// `any_case` is for names that were lower-cased.
pub(crate) fn find(beside: &Beside<'_>, text: &str, any_case: bool) -> Vec<Hit> {
    find_in(beside, &Read::new(beside, text), any_case)
}

/// Returns the secrets of a text that was read already.
pub(crate) fn find_in(beside: &Beside<'_>, read: &Read<'_>, any_case: bool) -> Vec<Hit> {
    let Read {
        text,
        placeholders,
        masked,
        views,
    } = read;
    let mut hits: Vec<Hit> = Vec::new();
    // Tokens that stand alone are judged last, where nothing else names them.
    let mut alone = Vec::new();
    in_reading(beside, masked, any_case, |hit| hits.push(hit));
    alone.extend(bare::in_text(masked));
    for (n, view) in views.iter().enumerate() {
        in_lines(beside, view, any_case, |hit| {
            let span = views::origin(&views[..=n], hit.span);
            hits.push(Hit { span, ..hit });
        });
        alone.extend(bare_in_lines(view).map(|span| views::origin(&views[..=n], span)));
    }
    if !any_case && let Some(rule) = rules::place_of(bare::RULE) {
        let named = stretches(&hits);
        let is_named = |span: &Range<usize>| {
            let first = named.partition_point(|named| named.end <= span.start);
            named.get(first).is_some_and(|named| named.start < span.end)
        };
        hits.extend(
            alone
                .into_iter()
                .filter(|span| !is_named(span))
                .map(|span| Hit {
                    span,
                    rule,
                    value: None,
                }),
        );
    }
    for run in base64_blocks(masked, MIN_ENCODED_BYTES) {
        let rule = base64_text(&masked[run.clone()])
            .and_then(|said| rule_of_decoded(beside, &said, any_case, MAX_ENCODINGS));
        hits.extend(rule.map(|rule| Hit {
            span: run,
            rule,
            value: None,
        }));
    }
    if beside.has_patterns() {
        beside.find(masked, &mut hits);
    }
    let mut found = settled(hits, masked, placeholders);
    beside.spare(text, &mut found);
    found
}

/// Returns the rule of a secret in a text that was decoded, perhaps from one encoding in another.
fn rule_of_decoded(
    beside: &Beside<'_>,
    said: &str,
    any_case: bool,
    encodings: usize,
) -> Option<usize> {
    let mut first = None;
    in_reading(beside, said, any_case, |hit| {
        first = first.or(Some(hit.rule));
    });
    if first.is_none() && !any_case && !bare::in_text(said).is_empty() {
        first = rules::place_of(bare::RULE);
    }
    if first.is_some() || encodings <= 1 {
        return first;
    }
    base64_blocks(said, MIN_ENCODED_BYTES)
        .into_iter()
        .find_map(|run| {
            let said = base64_text(&said[run])?;
            rule_of_decoded(beside, &said, any_case, encodings - 1)
        })
}

/// Reads again what differs from the text that the view was made from.
fn in_lines(beside: &Beside<'_>, view: &View, any_case: bool, mut found: impl FnMut(Hit)) {
    for lines in view.changed_lines() {
        let start = lines.start;
        in_reading(beside, &view.text[lines], any_case, |hit| {
            found(Hit {
                span: start + hit.span.start..start + hit.span.end,
                ..hit
            });
        });
    }
}

/// Finds tokens that stand alone in what differs from the text that the view was made from.
fn bare_in_lines(view: &View) -> impl Iterator<Item = Range<usize>> {
    view.changed_lines().into_iter().flat_map(|lines| {
        let start = lines.start;
        bare::in_text(&view.text[lines])
            .into_iter()
            .map(move |span| start + span.start..start + span.end)
    })
}

/// Returns what hits cover, in order and without overlaps.
fn stretches(hits: &[Hit]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = hits.iter().map(|hit| hit.span.clone()).collect();
    spans.sort_unstable_by_key(|span| span.start);
    let mut stretches: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match stretches.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => stretches.push(span),
        }
    }
    stretches
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

/// The stretch of letters around the keyword that was seen last.
#[derive(Debug, Default)]
struct Letters(Range<usize>);

impl Letters {
    /// How many bytes before and behind a keyword no name and no value is longer than.
    const MIN_BYTES: usize = 1024;

    /// Tells whether a keyword stands inside so many letters, without a digit, a quote or white
    /// space, that it names no secret: random text of that length has digits.
    fn surround(&mut self, bytes: &[u8], keyword: &Range<usize>) -> bool {
        let is_letter =
            |byte: &&u8| byte.is_ascii_alphabetic() || matches!(**byte, b'_' | b'-' | b'=' | b':');
        if keyword.start >= self.0.end {
            let before = &bytes[self.0.end..keyword.start];
            let behind = &bytes[keyword.start..];
            let start = keyword.start - before.iter().rev().take_while(is_letter).count();
            let end = keyword.start + behind.iter().take_while(is_letter).count();
            self.0 = start..end.max(keyword.end);
        }
        self.0.start + Self::MIN_BYTES <= keyword.start
            && keyword.end + Self::MIN_BYTES <= self.0.end
    }
}

/// Looks beside every keyword of one reading.
fn in_reading(beside: &Beside<'_>, text: &str, any_case: bool, mut found: impl FnMut(Hit)) {
    let mut done = token::Done::default();
    let mut windows = pattern::Windows::default();
    let mut barren = nearby::Barren::default();
    let mut letters = Letters::default();
    KEYWORDS.find(text.as_bytes(), any_case, |word, at| {
        let Some(index) = CALLS.get(word) else {
            let word = &named::WORDS[word - CALLS.len()];
            if !letters.surround(text.as_bytes(), &at)
                && let Some(hit) = named::found_at(text, at, word, any_case)
            {
                found(hit);
            }
            return;
        };
        let index = usize::from(*index);
        let rule = &RULES[index];
        let span = match &rule.form {
            Form::Token { .. } => token::at(rule, index, text, at, any_case, &mut done),
            Form::Nearby { forms } => {
                nearby::after((index, rule), forms, text, at, any_case, &mut barren)
            }
            Form::Pattern(_) => {
                windows.add(index, text, &at);
                None
            }
            Form::Block => block::around(text, &at, &mut done),
            // No keyword of the rows calls for one.
            Form::Coded => None,
        };
        if let Some(span) = span {
            let value = text.get(span.clone()).map(str::to_owned);
            found(Hit {
                span,
                rule: index,
                value,
            });
        }
    });
    for (index, window) in windows.all() {
        pattern::within(index, text, window, any_case, &mut found);
    }
    beside.find_custom(text, any_case, &mut found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    #[test]
    fn a_keyword_among_kilobytes_of_letters_is_passed_over_and_one_at_their_edge_is_not() {
        let policy = Policy::default();
        let found = |text: &str| find(&Beside::of(&policy), text, false).len();
        let letters = "token=".repeat(1000);
        assert_eq!(found(&letters), 0);
        for text in [
            format!("{letters}a1B2c3D4e5F6g7H8"),
            format!("token=a1B2c3D4e5F6g7H8 {letters}"),
            format!("{letters} token=a1B2c3D4e5F6g7H8 {letters}"),
        ] {
            assert!(found(&text) > 0, "{} bytes", text.len());
        }
    }

    #[test]
    fn names_that_crowd_hide_no_value_behind_the_last_of_them() {
        let policy = Policy::default();
        let value = "0123456789abcdef0123456789abcde5";
        for n in [1, 2, 9, 100] {
            let text = format!("{}api key {value}", "datadog ".repeat(n));
            let hits = find(&Beside::of(&policy), &text, false);
            assert!(
                hits.iter().any(|hit| text[hit.span.clone()] == *value),
                "{n}: {hits:?}"
            );
        }
    }
}
