//! Cuts a text into runs: words and identifiers on the one hand, scripts without spaces on the
//! other. A change between the two is a border.

use super::identifier;
use super::normal::{is_letter_or_digit, is_unspaced, normal};
use super::pieces::{Pieces, Purpose, Role};

/// Adds all words of a text.
pub(super) fn text(text: &str, out: &mut Pieces) {
    let text = normal(text);
    let mut run_start = 0;
    let mut run = Class::Border;
    for (at, c) in text.char_indices() {
        let class = Class::of(c, run);
        if class != run {
            flush(run, &text[run_start..at], out);
            (run, run_start) = (class, at);
        }
    }
    flush(run, &text[run_start..], out);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Token,
    Unspaced,
    Border,
}

impl Class {
    fn of(c: char, run: Self) -> Self {
        if is_letter_or_digit(c) {
            // A mark that is not of a script's own, such as a dakuten, stays with what it marks.
            if run == Self::Unspaced && !c.is_alphanumeric() {
                Self::Unspaced
            } else {
                Self::Token
            }
        } else if identifier::is_joiner(c) {
            Self::Token
        } else if is_unspaced(c) {
            Self::Unspaced
        } else {
            Self::Border
        }
    }
}

fn flush(class: Class, run: &str, out: &mut Pieces) {
    match class {
        Class::Token => identifier::token(run, out),
        Class::Unspaced => unspaced(run, out),
        Class::Border => {}
    }
}

/// Adds a run without spaces: every character and every two neighbours for the index, for a query
/// the neighbours alone, or the one character that there is.
fn unspaced(run: &str, out: &mut Pieces) {
    let is_single = run.chars().nth(1).is_none();
    if out.purpose == Purpose::Index || is_single {
        let mut singles = run.char_indices().peekable();
        while let Some((at, _)) = singles.next() {
            let end = singles.peek().map_or(run.len(), |(end, _)| *end);
            out.joined([&run[at..end]], Role::Leaf);
        }
    }
    let role = match out.purpose {
        Purpose::Index => Role::Extra,
        Purpose::Query => Role::Leaf,
    };
    let starts = run.char_indices().map(|(at, _)| at);
    let ends = run
        .char_indices()
        .map(|(at, _)| at)
        .skip(2)
        .chain([run.len()]);
    if !is_single {
        for (start, end) in starts.zip(ends) {
            out.joined([&run[start..end]], role);
        }
    }
}
