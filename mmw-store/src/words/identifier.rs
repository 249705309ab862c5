//! Identifiers: found whole and by part.
//!
//! ```text
//! src/main.rs:42         the whole
//! src/main.rs  42        segments, between `:`, `@` and `#`
//! src  main.rs  42       components, between `/` too
//! src  main  rs  42      leaves: plain words, stemmed as such
//! main.rs:42             tails, for the index only: the end of a path is how people name it
//! ```
//!
//! The index also gets the pieces of `camelCase`, `appstaging` for `app-staging`, `1.2` for
//! `v1.2.3` and `2026-03` for `2026-03-14`. A query gets none of these, so that it asks for no more
//! than was written.

use unicode_normalization::char::is_combining_mark;

use super::pieces::{Pieces, Purpose, Role};

/// The most tails of one identifier in the index.
const MAX_TAILS: usize = 16;
/// The most pieces of a `camelCase` word; one with more is noise such as base64.
const MAX_HUMPS: usize = 8;
/// The longest `camelCase` word that is taken apart, in bytes.
const MAX_HUMPED_BYTES: usize = 64;

/// Tells whether a character may stand inside an identifier beside letters and digits.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(
        c,
        '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '#' | '+' | '\''
    )
}

/// Adds the words of a run of letters, digits and joiners.
pub(super) fn token(run: &str, out: &mut Pieces) {
    let mut rest = run;
    if let Some((scheme, after)) = run.split_once("://")
        && scheme.bytes().all(|b| b.is_ascii_alphabetic())
    {
        if out.purpose == Purpose::Index {
            out.word(scheme, Role::Extra);
        }
        rest = after;
    }
    while let Some((start, end)) = trimmed(rest, 0, rest.len()) {
        let trimmed = &rest[start..end];
        let Some(at) = time_after_date(trimmed) else {
            if trimmed.contains(is_joiner) {
                compound(trimmed, out);
            } else {
                leaf(trimmed, out);
            }
            return;
        };
        compound(&trimmed[..at], out);
        rest = &trimmed[at + 1..];
    }
}

/// Returns where letters begin and end between `start` and `end`, with the dot of `.NET` and the
/// signs of `C++` and `C#`; nothing if there are none.
fn trimmed(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let inner = &text[start..end];
    let first = inner.find(|c| !is_joiner(c))?;
    let last = inner.rfind(|c| !is_joiner(c))?;
    let last_end = last + inner[last..].chars().next()?.len_utf8();
    let (before, after) = (&inner[..first], &inner[last_end..]);
    let is_dotted = before.ends_with('.')
        && !before.ends_with("..")
        && inner[first..].starts_with(char::is_alphabetic);
    let n_signs = match after.as_bytes() {
        [b'+', b'+', ..] => 2,
        [b'+' | b'#', ..] => 1,
        _ => 0,
    };
    Some((
        start + first - usize::from(is_dotted),
        start + last_end + n_signs,
    ))
}

/// Returns where the `T` stands in `2026-03-14T10:00:00Z`, which is two words to people.
fn time_after_date(run: &str) -> Option<usize> {
    let bytes = run.as_bytes();
    let is_like = |shape: &[u8], bytes: &[u8]| {
        shape.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            exact => byte == exact,
        })
    };
    (bytes.len() > 12 && is_like(b"0000-00-00T00", bytes)).then_some(10)
}

/// A part of an identifier between `/`, `:`, `@` and `#`.
#[derive(Clone, Copy)]
struct Component {
    start: usize,
    end: usize,
    /// Something other than `/` follows.
    ends_segment: bool,
}

fn components(run: &str) -> Vec<Component> {
    let mut found: Vec<Component> = Vec::new();
    let mut start = 0;
    let mut chars = run.char_indices().peekable();
    let mut cut = |start: usize, end: usize, ends_segment: bool| match trimmed(run, start, end) {
        Some((start, end)) => found.push(Component {
            start,
            end,
            ends_segment,
        }),
        None => {
            if let Some(last) = found.last_mut() {
                last.ends_segment |= ends_segment;
            }
        }
    };
    while let Some((at, c)) = chars.next() {
        let ends_segment = match c {
            '/' | '\\' => false,
            ':' | '@' => true,
            // `C#` keeps its sign, `a.md#Part` does not.
            '#' if chars.peek().is_some_and(|(_, next)| !is_joiner(*next)) => true,
            _ => continue,
        };
        cut(start, at, ends_segment);
        start = at + 1;
    }
    cut(start, run.len(), true);
    found
}

fn compound(run: &str, out: &mut Pieces) {
    let components = components(run);
    if let [first, .., last] = &components[..] {
        out.joined([&run[first.start..last.end]], Role::Whole);
        segments(run, &components, out);
    }
    for one in &components {
        component(&run[one.start..one.end], out);
    }
    if out.purpose == Purpose::Index {
        tails(run, &components, out);
    }
    for one in &components {
        let raw = &run[one.start..one.end];
        // Somebody may have left the `v` out, so a query asks for the numbers.
        let is_asked = out.purpose == Purpose::Query;
        let mut is_version = is_asked && Shape::of(raw).is_version(raw);
        leaves(raw, |raw| {
            leaf(number(raw, is_version), out);
            is_version = false;
        });
    }
}

/// Adds the segments that have two components or more and are not all of the identifier.
fn segments(run: &str, components: &[Component], out: &mut Pieces) {
    let mut first = 0;
    for (last, component) in components.iter().enumerate() {
        if component.ends_segment {
            let is_all = first == 0 && last + 1 == components.len();
            if first < last && !is_all {
                out.joined([&run[components[first].start..component.end]], Role::Whole);
            }
            first = last + 1;
        }
    }
}

/// Adds every end of the identifier and of its segments that has two components or more, the
/// shortest first.
fn tails(run: &str, components: &[Component], out: &mut Pieces) {
    let all_end = components.len() - 1;
    let mut n_left = MAX_TAILS;
    let mut segment_start = 0;
    for (last, component) in components.iter().enumerate() {
        if !component.ends_segment {
            continue;
        }
        // The end of the identifier closes all its segments, every other end only its own.
        let first = if last == all_end { 0 } else { segment_start };
        for start in (first + 1..last).rev() {
            // A segment of its own is there already.
            let is_segment = start == segment_start && last == all_end;
            if !is_segment && n_left > 0 {
                n_left -= 1;
                out.joined([&run[components[start].start..component.end]], Role::Extra);
            }
        }
        segment_start = last + 1;
    }
}

/// What a component is made of.
struct Shape {
    n_leaves: usize,
    n_leaf_bytes: usize,
    are_words: bool,
    are_numbers: bool,
}

impl Shape {
    fn of(raw: &str) -> Self {
        let mut shape = Self {
            n_leaves: 0,
            n_leaf_bytes: 0,
            are_words: true,
            are_numbers: true,
        };
        leaves(raw, |leaf| {
            let digits = number(leaf, shape.n_leaves == 0);
            shape.are_numbers &= digits.bytes().all(|b| b.is_ascii_digit());
            shape.are_words &= leaf.chars().all(char::is_alphabetic);
            shape.n_leaves += 1;
            shape.n_leaf_bytes += leaf.len();
        });
        shape
    }

    const fn is_plain_word(&self, raw: &str) -> bool {
        self.n_leaves == 1 && self.n_leaf_bytes == raw.len()
    }

    fn is_version(&self, raw: &str) -> bool {
        self.n_leaves > 1 && self.are_numbers && number(raw, true).len() < raw.len()
    }
}

/// Adds a component as a whole, if it is made of parts, and the forms that it is known under.
fn component(raw: &str, out: &mut Pieces) {
    let shape = Shape::of(raw);
    if shape.is_plain_word(raw) {
        return;
    }
    out.joined([raw], Role::Whole);
    let bare = number(raw, shape.is_version(raw));
    if bare.len() < raw.len() {
        out.joined([bare], Role::Whole);
    }
    if out.purpose == Purpose::Query || shape.n_leaves < 2 {
        return;
    }
    if shape.are_numbers {
        let borders = bare.match_indices(is_joiner).map(|(at, _)| at);
        for at in borders.skip(1).take(MAX_TAILS) {
            out.joined([&bare[..at]], Role::Extra);
        }
    } else if shape.are_words && raw.len() <= MAX_HUMPED_BYTES {
        out.joined_word(raw.split(is_joiner), Role::Extra);
    }
}

/// Returns a version's number without the `v` in front.
fn number(raw: &str, is_first: bool) -> &str {
    match raw.strip_prefix(['v', 'V']) {
        Some(bare) if is_first && bare.starts_with(|c: char| c.is_ascii_digit()) => bare,
        _ => raw,
    }
}

/// Hands out the smallest parts of a component. An apostrophe between two letters is no border.
fn leaves<'a>(raw: &'a str, mut each: impl FnMut(&'a str)) {
    let mut start = 0;
    let mut before = None;
    let mut chars = raw.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_inside = !is_joiner(c)
            || (c == '\''
                && before.is_some_and(char::is_alphabetic)
                && chars.peek().is_some_and(|(_, next)| next.is_alphabetic()));
        if !is_inside {
            if start < at {
                each(&raw[start..at]);
            }
            start = at + 1;
        }
        before = Some(c);
    }
    if start < raw.len() {
        each(&raw[start..]);
    }
}

/// Adds a plain word, and for the index the words inside it.
fn leaf(raw: &str, out: &mut Pieces) {
    // A mark without a letter before it is no part of the word after it.
    let raw = raw.trim_start_matches(|c: char| !c.is_ascii() && is_combining_mark(c));
    out.word(raw, Role::Leaf);
    if out.purpose == Purpose::Query && is_name(raw) {
        out.mark_as_name();
    }
    if out.purpose == Purpose::Index {
        humps(raw, out);
        let bare = number(raw, true);
        if bare.len() < raw.len() && bare.bytes().all(|b| b.is_ascii_digit()) {
            out.joined([bare], Role::Extra);
        }
        if raw.contains('\'') {
            for part in raw.split('\'').filter(|part| part.len() > 2) {
                out.word(part, Role::Extra);
            }
        }
    }
}

/// Tells whether a single word is a name rather than a word of a language: `camelCase`, `E1042`.
fn is_name(raw: &str) -> bool {
    let has_digit = raw.contains(|c: char| c.is_ascii_digit());
    let has_letter = raw.contains(char::is_alphabetic);
    let has_hump = raw
        .chars()
        .zip(raw.chars().skip(1))
        .any(|(before, c)| before.is_lowercase() && c.is_uppercase());
    has_hump || (has_digit && has_letter)
}

/// Adds the pieces of a `camelCase` word.
fn humps(raw: &str, out: &mut Pieces) {
    if raw.len() > MAX_HUMPED_BYTES || !raw.chars().skip(1).any(char::is_uppercase) {
        return;
    }
    let borders = |raw: &str| {
        let mut at_borders = [0; MAX_HUMPS];
        let mut n_borders = 0;
        let mut chars = raw.char_indices().peekable();
        let mut before = ' ';
        while let Some((at, c)) = chars.next() {
            let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let is_border = at > 0 && c.is_uppercase() && (!before.is_uppercase() || next_is_lower);
            if is_border {
                *at_borders.get_mut(n_borders)? = at;
                n_borders += 1;
            }
            before = c;
        }
        Some((at_borders, n_borders))
    };
    let Some((at_borders, n_borders)) = borders(raw) else {
        return;
    };
    if n_borders == 0 {
        return;
    }
    let mut start = 0;
    for at in at_borders[..n_borders].iter().copied().chain([raw.len()]) {
        if at - start > 1 {
            out.word(&raw[start..at], Role::Extra);
        }
        start = at;
    }
}
