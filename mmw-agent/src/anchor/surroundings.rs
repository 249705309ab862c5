//! What is remembered of a part's lines and the ones around it, to find it again when lines move. Pure.
//!
//! Only short hashes of lines are kept, and only on this computer, beside the store: they never leave it.

use std::ops::Range;

use mmw_core::source::ContentHash;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How many lines on each side are remembered.
const N_AROUND: usize = 4;

/// The most lines that are hashed again to compare places in full.
const MAX_HASHED_LINES: usize = 400_000;

/// The hash of one line: eight bytes are plenty to tell the lines of one file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct LineHash(u64);

impl LineHash {
    fn of(line: &str) -> Self {
        let digest = Sha256::digest(line.as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[..8]);
        Self(u64::from_le_bytes(bytes))
    }
}

/// The lines around a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Surroundings {
    /// How many lines the part has.
    n_lines: usize,
    /// How often the file had these very lines.
    n_times: usize,
    /// How much of what was around the part was around another place with these lines, at most.
    rival: usize,
    first: LineHash,
    before: Vec<LineHash>,
    after: Vec<LineHash>,
}

/// A text, line by line, to look for parts in.
pub(super) struct Text<'t> {
    /// Its lines.
    pub(super) lines: &'t [&'t str],
    hashes: Vec<LineHash>,
}

impl<'t> Text<'t> {
    /// Hashes every line.
    pub(super) fn of(lines: &'t [&'t str]) -> Self {
        Self {
            hashes: lines.iter().map(|line| LineHash::of(line)).collect(),
            lines,
        }
    }
}

impl Surroundings {
    /// Notes what is around some lines with that hash.
    pub(super) fn of(lines: &[&str], part: &Range<usize>, hash: &ContentHash) -> Option<Self> {
        let first = lines.get(part.start)?;
        let from = part.start.saturating_sub(N_AROUND);
        let to = (part.end + N_AROUND).min(lines.len());
        let hashes =
            |range: Range<usize>| lines[range].iter().map(|line| LineHash::of(line)).collect();
        let mut noted = Self {
            n_lines: part.len(),
            n_times: 1,
            rival: 0,
            first: LineHash::of(first),
            before: hashes(from..part.start),
            after: hashes(part.end..to),
        };
        let text = Text::of(lines);
        let places = noted.same_lines(&text, hash);
        noted.n_times = places.len().max(1);
        let others = places.iter().filter(|place| *place != part);
        noted.rival = others
            .map(|place| noted.likeness(&text, place))
            .max()
            .unwrap_or(0);
        Some(noted)
    }

    /// Returns how often the file had these very lines when the part was anchored.
    pub(super) const fn n_times(&self) -> usize {
        self.n_times
    }

    /// Tells whether a place with the part's lines can be no other than the part: it was the only one,
    /// or more of what was around it is around this place than ever was around another.
    pub(super) fn is_surely(&self, text: &Text<'_>, place: &Range<usize>) -> bool {
        self.n_times == 1 || self.likeness(text, place) > self.rival
    }

    /// Returns where the very same lines are now, in order.
    pub(super) fn same_lines(&self, text: &Text<'_>, hash: &ContentHash) -> Vec<Range<usize>> {
        let Some(last) = text.lines.len().checked_sub(self.n_lines) else {
            return Vec::new();
        };
        (0..=last)
            .filter(|start| text.hashes.get(*start) == Some(&self.first))
            .take(MAX_HASHED_LINES / self.n_lines.max(1) + 1)
            .map(|start| start..start + self.n_lines)
            .filter(|range| {
                super::hashes::of_lines(&text.lines[range.clone()]).as_ref() == Some(hash)
            })
            .collect()
    }

    /// Returns how many of the lines that were around the part are around a place too, counted from
    /// the place outwards.
    pub(super) fn likeness(&self, text: &Text<'_>, place: &Range<usize>) -> usize {
        let above = text.hashes[..place.start].iter().rev();
        let below = text.hashes[place.end..].iter();
        let n_above = self
            .before
            .iter()
            .rev()
            .zip(above)
            .take_while(|(a, b)| a == b);
        let n_below = self.after.iter().zip(below).take_while(|(a, b)| a == b);
        n_above.count() + n_below.count()
    }

    /// Returns what lies now between the lines that were around the part; nothing if they are not both
    /// there, once each, in this order.
    pub(super) fn between(&self, text: &Text<'_>) -> Option<Range<usize>> {
        let start = match self.before.as_slice() {
            [] => 0,
            before => only_place(&text.hashes, before)? + before.len(),
        };
        let end = match self.after.as_slice() {
            [] => text.lines.len(),
            after => only_place(&text.hashes, after)?,
        };
        (start <= end).then_some(start..end)
    }

    /// Returns where the part probably was if only one side of what was around it is still there.
    pub(super) fn beside(&self, text: &Text<'_>) -> Option<Range<usize>> {
        let n = text.lines.len();
        if !self.before.is_empty()
            && let Some(at) = only_place(&text.hashes, &self.before)
        {
            let start = at + self.before.len();
            return (start < n).then(|| start..(start + self.n_lines).min(n));
        }
        if !self.after.is_empty()
            && let Some(end) = only_place(&text.hashes, &self.after)
        {
            return (end > 0).then(|| end.saturating_sub(self.n_lines)..end);
        }
        None
    }
}

fn only_place(all: &[LineHash], wanted: &[LineHash]) -> Option<usize> {
    let mut places = all
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(start, _)| start);
    let place = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::super::hashes::of_lines;
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    fn noted(old: &[&str], part: Range<usize>) -> (Surroundings, ContentHash) {
        let hash = of_lines(&old[part.clone()]).unwrap();
        (Surroundings::of(old, &part, &hash).unwrap(), hash)
    }

    #[test]
    fn the_same_lines_are_found_where_they_are_now() {
        let (noted, hash) = noted(&lines("a b c d e f g h"), 3..5);
        let same = |text: &str| noted.same_lines(&Text::of(&lines(text)), &hash);
        assert_eq!(same("x y a b c d e f g h").first(), Some(&(5..7)));
        assert_eq!(same("d e a b d e"), [0..2, 4..6]);
        assert!(same("a d x e").is_empty());
        assert!(same("d").is_empty());
        assert_eq!(noted.n_times(), 1);
    }

    #[test]
    fn lines_that_are_there_often_are_told_by_what_is_around_them() {
        let old = lines("a } b } c }");
        let (noted, hash) = noted(&old, 3..4);
        assert_eq!(noted.n_times(), 3);
        let now = lines("x a } b } c }");
        let text = Text::of(&now);
        let likeness: Vec<usize> = noted
            .same_lines(&text, &hash)
            .iter()
            .map(|place| noted.likeness(&text, place))
            .collect();
        assert_eq!(likeness, [0, 5, 0]);
        assert!(noted.is_surely(&text, &(4..5)) && !noted.is_surely(&text, &(2..3)));
    }

    #[test]
    fn what_lies_between_the_old_neighbours_is_found_though_it_changed() {
        let old = lines("a b c d e f g h");
        let (noted, _) = noted(&old, 3..5);
        let between = |text: &str| noted.between(&Text::of(&lines(text)));
        assert_eq!(between("x a b c D E E f g h y"), Some(4..7));
        assert_eq!(between("a b c f g h"), Some(3..3));
        assert_eq!(between("a b f g h"), None);
        assert_eq!(between("a b c d f g h a b c"), None);
        assert_eq!(between("f g h a b c"), None);
        let beside = |text: &str| noted.beside(&Text::of(&lines(text)));
        assert_eq!(beside("x a b c D E F"), Some(4..6));
        assert_eq!(beside("D E f g h"), Some(0..2));
        assert_eq!(beside("x y"), None);
        let (all, _) = self::noted(&old, 0..8);
        assert_eq!(all.between(&Text::of(&lines("x y"))), Some(0..2));
    }
}
