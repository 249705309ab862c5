//! Finds an anchored part again in what its file is now, and tells whether it is the same. Pure.

use std::ops::Range;

use mmw_core::source::ContentHash;

use super::hashes::of_lines;
use super::span::{self, Kind};
use super::surroundings::{Surroundings, Text};

/// An anchored part, as a record has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    /// What kind of part.
    pub(super) kind: Kind,
    /// The fragment.
    pub(super) label: &'a str,
    /// The hash of its lines when it was anchored.
    pub(super) hash: &'a ContentHash,
    /// What was around it; unknown if it was anchored on another computer.
    pub(super) surroundings: Option<&'a Surroundings>,
}

/// What became of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// The same lines are at this place, be it the old one or another.
    Unchanged(Range<usize>),
    /// The part says something else, at this place as far as that can be told.
    Changed(Option<Range<usize>>),
    /// The file is there, the part is not.
    Missing,
}

/// Looks for a part.
///
/// A heading or symbol is what has its name now; only if nothing has it, what was around the part
/// tells. Line numbers say nothing once lines have moved: there the same lines, told apart by what is
/// around them, are the part wherever they are.
pub(super) fn locate(part: &Part<'_>, text: &str) -> Fate {
    let lines = span::lines_of(text);
    match part.kind {
        Kind::Lines => by_lines(part, &lines),
        Kind::Heading | Kind::Symbol => by_name(part, text, &lines),
    }
}

fn has_hash(part: &Part<'_>, lines: &[&str], range: &Range<usize>) -> bool {
    lines
        .get(range.clone())
        .is_some_and(|lines| of_lines(lines).as_ref() == Some(part.hash))
}

fn by_name(part: &Part<'_>, text: &str, lines: &[&str]) -> Fate {
    let primary = span::find(part.kind, part.label, text).ok();
    if let Some(primary) = &primary
        && has_hash(part, lines, primary)
    {
        return Fate::Unchanged(primary.clone());
    }
    let named = span::all_named(part.kind, part.label, text);
    let same: Vec<&Range<usize>> = named
        .iter()
        .filter(|range| has_hash(part, lines, range))
        .collect();
    let Some(surroundings) = part.surroundings else {
        return match (same.first(), primary) {
            (Some(place), _) => Fate::Unchanged((*place).clone()),
            (None, Some(primary)) => Fate::Changed(Some(primary)),
            (None, None) if named.is_empty() => Fate::Missing,
            (None, None) => Fate::Changed(None),
        };
    };
    let text = Text::of(lines);
    let between = surroundings.between(&text);
    // Of several with the name, the one between the old neighbours is the part, whatever it says now.
    let there = between
        .as_ref()
        .and_then(|place| named.iter().find(|range| overlap(range, place)));
    match (there, same.as_slice()) {
        (Some(there), _) if has_hash(part, lines, there) => Fate::Unchanged(there.clone()),
        (Some(there), _) if surroundings.n_times() > 1 => Fate::Changed(Some(there.clone())),
        (_, [place, ..]) => Fate::Unchanged((*place).clone()),
        (Some(there), []) => Fate::Changed(Some(there.clone())),
        (None, []) => match (primary, between) {
            (Some(primary), _) => Fate::Changed(Some(primary)),
            (None, _) if !named.is_empty() => Fate::Changed(None),
            // It has another name now.
            (None, Some(place)) if !place.is_empty() => Fate::Changed(Some(place)),
            (None, _) => Fate::Missing,
        },
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

fn by_lines(part: &Part<'_>, lines: &[&str]) -> Fate {
    let numbered = span::numbered(part.label, lines.len());
    let Some(surroundings) = part.surroundings else {
        return by_numbers(part, lines, numbered);
    };
    if let Some(place) = &numbered
        && surroundings.n_times() == 1
        && has_hash(part, lines, place)
    {
        return Fate::Unchanged(place.clone());
    }
    let text = Text::of(lines);
    let between = surroundings.between(&text);
    if let Some(place) = &between
        && has_hash(part, lines, place)
    {
        return Fate::Unchanged(place.clone());
    }
    let same = surroundings.same_lines(&text, part.hash);
    let near = numbered.as_ref().map_or(0, |range| range.start);
    let likeliest = same.iter().max_by_key(|place| {
        let far = place.start.abs_diff(near);
        (surroundings.likeness(&text, place), std::cmp::Reverse(far))
    });
    if let Some(place) = likeliest {
        let is_where_it_was = between.as_ref().map(|there| overlap(there, place));
        let none_is_gone = same.len() >= surroundings.n_times();
        if surroundings.is_surely(&text, place) || is_where_it_was.unwrap_or(none_is_gone) {
            return Fate::Unchanged(place.clone());
        }
    }
    match between {
        Some(place) if place.is_empty() => Fate::Missing,
        Some(place) => Fate::Changed(Some(place)),
        None => match surroundings.beside(&text) {
            Some(place) => Fate::Changed(Some(place)),
            None if numbered.is_some() => Fate::Changed(None),
            None => Fate::Missing,
        },
    }
}

/// The most lines that are hashed to look for a part without knowing its first line.
const MAX_HASHED_LINES: usize = 200_000;

/// Looks for lines of which nothing is known but where they were and what they hash to.
fn by_numbers(part: &Part<'_>, lines: &[&str], numbered: Option<Range<usize>>) -> Fate {
    if let Some(place) = &numbered
        && has_hash(part, lines, place)
    {
        return Fate::Unchanged(place.clone());
    }
    let n_lines = span::n_lines_of(part.label).unwrap_or(1);
    if let Some(last) = lines.len().checked_sub(n_lines) {
        let near = numbered.as_ref().map_or(last, |range| range.start);
        let mut places: Vec<usize> = (0..=last).collect();
        places.sort_by_key(|start| start.abs_diff(near));
        let found = places
            .into_iter()
            .take(MAX_HASHED_LINES / n_lines)
            .map(|start| start..start + n_lines)
            .find(|range| has_hash(part, lines, range));
        if let Some(place) = found {
            return Fate::Unchanged(place);
        }
    }
    match numbered {
        Some(place) => Fate::Changed(Some(place)),
        None => Fate::Missing,
    }
}

#[cfg(test)]
mod tests;
