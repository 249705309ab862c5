//! What honest text hardly ever has: hidden characters, mixed scripts, text turned around, and
//! instructions in comments.
//!
//! Emoji sequences, Persian and Indic joiners and a byte order mark in front are honest.

use super::phrases::Finding;
use super::tables::Rule;
use super::words::Found;
use crate::normal::{is_bidi_control, is_tag, is_zero_width};

/// The fewest tag characters that hide something.
const MIN_TAGS: usize = 3;
/// The fewest variation selectors in a row that hide something.
const MIN_SELECTORS: usize = 4;
/// The fewest words of mixed scripts that are no accident.
const MIN_MIXED_WORDS: u32 = 2;
/// The fewest known words with digits for letters that are no accident.
const MIN_RESPELLED_WORDS: u32 = 3;
/// The fewest known words turned around that are no accident.
const MIN_REVERSED_WORDS: u32 = 3;
/// How long a text may be that is read backwards, in bytes.
const MAX_REVERSED_BYTES: usize = 64 << 10;

const fn sign(id: &'static str, weight: f32, why: &'static str) -> Rule {
    Rule {
        id,
        family: id,
        weight,
        strong: weight >= 3.0,
        damped: false,
        why,
    }
}

static HIDDEN_TAGS: Rule = sign("hidden-tags", 6.0, "it has invisible tag characters");
static HIDDEN_SELECTORS: Rule = sign(
    "hidden-selectors",
    5.0,
    "it has a run of invisible variation selectors",
);
static BIDI_CONTROL: Rule = sign(
    "bidi-control",
    2.0,
    "it has characters that turn the direction of writing",
);
static SPLIT_WORD: Rule = sign("split-word", 3.0, "invisible characters split its words");
static MIXED_SCRIPTS: Rule = sign(
    "mixed-scripts",
    3.0,
    "letters of another script stand in its words",
);
static RESPELLED_WORDS: Rule = sign(
    "respelled-words",
    2.0,
    "digits and signs stand for letters in its words",
);
static HIDDEN_COMMENT: Rule = sign("hidden-comment", 3.0, "a comment in it speaks to the agent");

/// Adds the signs that the invisible characters of a text give.
pub(super) fn of(text: &str, signs: &mut Vec<&'static Rule>) {
    if tag_count(text) >= MIN_TAGS {
        signs.push(&HIDDEN_TAGS);
    }
    if longest_selector_run(text) >= MIN_SELECTORS {
        signs.push(&HIDDEN_SELECTORS);
    }
    if text.chars().any(is_bidi_control) {
        signs.push(&BIDI_CONTROL);
    }
    if splits_a_word(text) {
        signs.push(&SPLIT_WORD);
    }
}

/// Adds the signs that the spelling of a text's words gives.
pub(super) fn of_words(found: &Found, signs: &mut Vec<&'static Rule>) {
    if found.n_mixed >= MIN_MIXED_WORDS {
        signs.push(&MIXED_SCRIPTS);
    }
    if found.n_respelled >= MIN_RESPELLED_WORDS {
        signs.push(&RESPELLED_WORDS);
    }
}

/// Passes a text on from its end to its start, if its words are known in that direction.
pub(super) fn of_reversed(text: &str, found: &Found, read: &mut dyn FnMut(&str)) {
    if found.n_reversed >= MIN_REVERSED_WORDS && text.len() <= MAX_REVERSED_BYTES {
        let turned: String = text.chars().rev().collect();
        read(&turned);
    }
}

/// Adds a sign if something of weight stands in a comment.
pub(super) fn of_comments(text: &str, findings: &[Finding], signs: &mut Vec<&'static Rule>) {
    let in_comment = |finding: &Finding| {
        let from = text.floor_char_boundary(finding.start.min(text.len()));
        text[..from]
            .rfind("<!--")
            .is_some_and(|open| !text[open..from].contains("-->"))
    };
    // A handful is enough to tell.
    let speaks = |finding: &&Finding| {
        finding.weight >= 2.0
            && (finding.rule.strong || matches!(finding.rule.family, "address" | "call" | "step"))
    };
    if text.contains("<!--") && findings.iter().filter(speaks).take(64).any(in_comment) {
        signs.push(&HIDDEN_COMMENT);
    }
}

/// Returns each tag character outside a flag of a region (`🏴` and the tags that belong to it).
fn tags(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut in_flag = false;
    text.chars().filter(move |c| {
        if !is_tag(*c) {
            in_flag = *c == '\u{1f3f4}';
            return false;
        }
        // Only small letters and digits name regions.
        in_flag = in_flag
            && matches!(*c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' | '\u{e007f}');
        !in_flag
    })
}

/// Counts the tag characters that belong to no flag.
pub(super) fn tag_count(text: &str) -> usize {
    let flags_are_short = text
        .split('\u{1f3f4}')
        .skip(1)
        .all(|after| after.chars().take_while(|c| is_tag(*c)).count() <= 7);
    if flags_are_short {
        tags(text).count()
    } else {
        text.chars().filter(|c| is_tag(*c)).count()
    }
}

/// Returns what the tag characters of a text spell, if they hide something.
pub(super) fn tag_text(text: &str) -> Option<String> {
    if text.is_ascii() || tag_count(text) < MIN_TAGS {
        return None;
    }
    Some(
        text.chars()
            .filter(|c| is_tag(*c))
            .filter_map(|c| char::from_u32(u32::from(c) - 0xe0000))
            .filter(|c| !c.is_control())
            .collect(),
    )
}

fn longest_selector_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}') {
            run + 1
        } else {
            0
        };
        longest = longest.max(run);
    }
    longest
}

/// Tells whether a character without width stands between two Latin letters. A soft hyphen may.
fn splits_a_word(text: &str) -> bool {
    let mut before = ' ';
    let mut hidden = false;
    for c in text.chars() {
        if is_zero_width(c) && c != '\u{ad}' {
            hidden = true;
        } else {
            if hidden && before.is_ascii_alphabetic() && c.is_ascii_alphabetic() {
                return true;
            }
            (before, hidden) = (c, false);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        let mut signs = Vec::new();
        of(text, &mut signs);
        signs.into_iter().map(|sign| sign.id).collect()
    }

    #[test]
    fn emoji_joiners_and_a_byte_order_mark_are_honest() {
        for text in [
            "👨‍👩‍👧‍👦",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
            "می\u{200c}خواهم",
            "\u{feff}abc",
            "❤️",
            "क्\u{200d}ष",
            "co\u{ad}operate",
            "<!-- prettier-ignore -->",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn hidden_characters_are_signs() {
        assert_eq!(rules("a\u{e0041}\u{e0042}\u{e0043}"), ["hidden-tags"]);
        assert_eq!(
            rules("\u{1f3f4}\u{e0041}\u{e0042}\u{e0043}"),
            ["hidden-tags"]
        );
        assert_eq!(
            rules("a\u{fe01}\u{fe02}\u{fe03}\u{fe04}"),
            ["hidden-selectors"]
        );
        assert_eq!(rules("a\u{202e}b"), ["bidi-control"]);
        assert_eq!(rules("ig\u{200b}nore"), ["split-word"]);
        assert_eq!(tag_text("a\u{e0041}\u{e0062}\u{e0063}").unwrap(), "Abc");
    }
}
