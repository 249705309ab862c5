//! Finds the part of a file that the fragment of a source id names, as a range of lines.
//!
//! | fragment | part |
//! |---|---|
//! | `L10`, `L10-L40` | these lines |
//! | in Markdown: `Staging`, `staging-servers` | the section under the heading, up to the next of its rank |
//! | elsewhere: `fn deploy`, `class Cart` | the block that begins with these words |
//!
//! Everything here is a pure function of text. A name that fits two parts is refused: a guess would
//! tell that a fact is fresh by a part that it never spoke of. (Two headings of one name are told apart
//! as links to them are: `notes` is the first, `notes-1` the second.)

mod heading;
mod lines;
mod symbol;

use std::ops::Range;

/// What kind of part a fragment names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Lines by their numbers.
    Lines,
    /// The section of a heading.
    Heading,
    /// A block of code by its first words.
    Symbol,
}

impl Kind {
    /// Returns the name that is sent and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Heading => "heading",
            Self::Symbol => "symbol",
        }
    }

    /// Returns the kind with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Lines, Self::Heading, Self::Symbol]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Why a fragment names no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotFound {
    /// Nothing has that name, or the file is shorter.
    #[error("the file has no such part")]
    Absent,
    /// More than one part has that name.
    #[error("more than one part of the file has that name")]
    Ambiguous,
}

/// The most parts of one name that are looked at: more are as ambiguous as these.
const MAX_NAMESAKES: usize = 64;

/// Returns the lines of a text, without their ends.
pub(crate) fn lines_of(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// Tells what kind of part a fragment of this file names.
pub(crate) fn kind_of(path: &str, fragment: &str) -> Kind {
    if lines::numbers(fragment).is_some() {
        Kind::Lines
    } else if is_markdown(path) {
        Kind::Heading
    } else {
        Kind::Symbol
    }
}

/// Returns the lines of the part, counted from 0.
///
/// # Errors
/// [`NotFound`].
pub(crate) fn find(kind: Kind, fragment: &str, text: &str) -> Result<Range<usize>, NotFound> {
    match kind {
        Kind::Lines => lines::find(fragment, lines_of(text).len()).ok_or(NotFound::Absent),
        Kind::Heading => heading::find(fragment, text),
        Kind::Symbol => only_one(symbol::all(fragment, &lines_of(text))),
    }
}

/// Returns every part that goes by that name, in order.
pub(super) fn all_named(kind: Kind, fragment: &str, text: &str) -> Vec<Range<usize>> {
    match kind {
        Kind::Lines => find(kind, fragment, text).into_iter().collect(),
        Kind::Heading => heading::all(fragment, text),
        Kind::Symbol => symbol::all(fragment, &lines_of(text)),
    }
}

/// Returns the lines that a fragment of line numbers names, if there are that many.
pub(super) fn numbered(fragment: &str, n_lines: usize) -> Option<Range<usize>> {
    lines::find(fragment, n_lines)
}

/// Returns how many lines a fragment of line numbers names.
pub(super) fn n_lines_of(fragment: &str) -> Option<usize> {
    lines::numbers(fragment).map(|(first, last)| last - first + 1)
}

fn only_one(found: Vec<Range<usize>>) -> Result<Range<usize>, NotFound> {
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(range), None) => Ok(range),
        (Some(_), Some(_)) => Err(NotFound::Ambiguous),
        (None, _) => Err(NotFound::Absent),
    }
}

/// Leaves empty lines at the end out: whether there are any says nothing about a part.
fn without_blank_end(lines: &[&str], range: Range<usize>) -> Range<usize> {
    let is_text = |line: &&str| !line.trim().is_empty();
    let n_kept = lines[range.clone()].iter().rposition(is_text);
    range.start..n_kept.map_or(range.start + 1, |last| range.start + last + 1)
}

fn is_markdown(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["md", "markdown", "mdx", "mdc", "qmd", "rmd"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_told_by_file_and_fragment() {
        for (path, fragment, kind) in [
            ("docs/deploy.md", "Staging", Kind::Heading),
            ("docs/deploy.md", "L3-L9", Kind::Lines),
            ("docs\\Deploy.MD", "Staging", Kind::Heading),
            ("src/main.rs", "L10", Kind::Lines),
            ("src/main.rs", "fn deploy", Kind::Symbol),
            ("Makefile", "deploy:", Kind::Symbol),
            ("src/main.rs", "L0", Kind::Symbol),
        ] {
            assert_eq!(kind_of(path, fragment), kind, "{path}#{fragment}");
        }
        for kind in [Kind::Lines, Kind::Heading, Kind::Symbol] {
            assert_eq!(Kind::named(kind.name()), Some(kind));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_and_fragment_give_lines_of_the_text_or_none(
            text in "(?s)[ a#\t\n{}().,:;\"/-]{0,120}",
            fragment in "[aL1-3 {}#().:-]{0,6}",
        ) {
            let n_lines = lines_of(&text).len();
            for kind in [Kind::Lines, Kind::Heading, Kind::Symbol] {
                let mut found = all_named(kind, &fragment, &text);
                found.extend(find(kind, &fragment, &text));
                for range in found {
                    proptest::prop_assert!(range.start < range.end && range.end <= n_lines, "{:?}", range);
                }
            }
        }
    }
}
