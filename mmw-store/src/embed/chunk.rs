//! Long texts in overlapping pieces that fit a model's window.
//!
//! A pure function over any way to count: tokens of a model that is here, an estimate for one that
//! is not. It knows nothing of vectors; which piece speaks for the record is decided by the index.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Returns the ranges of a text that are embedded: the whole of it if `count` finds at most
/// `budget` in it, otherwise pieces that do, cut between words and overlapping by up to `overlap`.
///
/// Every byte is in a piece, the first piece begins where the text begins and the last one ends
/// where it ends. A word that is beyond the budget alone is cut between characters. A single
/// character is a piece even if `count` finds more in it than `budget`; choose a budget above that.
#[must_use]
pub fn cut(
    text: &str,
    budget: usize,
    overlap: usize,
    count: impl Fn(&str) -> usize,
) -> Vec<Range<usize>> {
    if count(text) <= budget {
        return std::iter::once(0..text.len()).collect();
    }
    let units = units(text, budget, &count);
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < units.len() {
        let end = fill(text, &units, first, budget, &count);
        pieces.push(units[first].range.start..units[end - 1].range.end);
        if end == units.len() {
            break;
        }
        // Step back over what the next piece repeats, but never to where this one began, and leave
        // room for what is new.
        let room = overlap.min(budget.saturating_sub(units[end].weight));
        let mut next = end;
        let mut repeated = 0;
        while next > first + 1 && repeated + units[next - 1].weight <= room {
            next -= 1;
            repeated += units[next].weight;
        }
        // No piece begins with what counts nothing.
        while next < end && units[next].weight == 0 {
            next += 1;
        }
        first = next;
    }
    pieces
}

/// What is not cut, and how much it counts alone.
struct Unit {
    range: Range<usize>,
    weight: usize,
}

/// Returns where the piece that begins at unit `first` ends: as late as the budget allows.
fn fill(
    text: &str,
    units: &[Unit],
    first: usize,
    budget: usize,
    count: &impl Fn(&str) -> usize,
) -> usize {
    let mut end = first + 1;
    let mut weight = units[first].weight;
    while end < units.len() && weight + units[end].weight <= budget {
        weight += units[end].weight;
        end += 1;
    }
    // Parts that touch may count more together than apart.
    let whole = |end: usize| &text[units[first].range.start..units[end - 1].range.end];
    while end > first + 1 && count(whole(end)) > budget {
        end -= 1;
    }
    end
}

fn units(text: &str, budget: usize, count: &impl Fn(&str) -> usize) -> Vec<Unit> {
    let mut units = Vec::new();
    for (start, word) in text.split_word_bound_indices() {
        let weight = count(word);
        if weight <= budget {
            let range = start..start + word.len();
            units.push(Unit { range, weight });
        } else {
            units.extend(word.char_indices().map(|(at, c)| {
                let at = start + at;
                let range = at..at + c.len_utf8();
                Unit {
                    weight: count(&text[range.clone()]),
                    range,
                }
            }));
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts words, as a tokenizer that knows every word would.
    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn check(text: &str, budget: usize, overlap: usize, pieces: &[&str]) {
        let found: Vec<&str> = cut(text, budget, overlap, words)
            .into_iter()
            .map(|range| text[range].trim())
            .collect();
        assert_eq!(found, pieces);
    }

    #[test]
    fn what_fits_is_one_piece() {
        check("a b c", 3, 1, &["a b c"]);
        check("", 3, 1, &[""]);
    }

    #[test]
    fn pieces_overlap_and_the_last_word_is_in_the_last_one() {
        check("a b c d e f g", 3, 1, &["a b c", "c d e", "e f g"]);
        check("a b c d e f g", 3, 0, &["a b c", "d e f", "g"]);
    }

    #[test]
    fn an_overlap_beyond_the_budget_still_moves_on() {
        check("a b c d", 2, 9, &["a b", "b c", "c d"]);
    }

    #[test]
    fn a_word_beyond_the_budget_is_cut_between_characters() {
        let found = cut("日本語 ééééé", 2, 0, |part| {
            part.trim().chars().count()
        });
        let text = "日本語 ééééé";
        let pieces: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.trim().chars().count() <= 2));
    }

    proptest! {
        #[test]
        fn every_byte_is_in_a_piece_and_no_piece_is_beyond_the_budget(
            text in "(\\PC| |\n){0,80}",
            budget in 1_usize..20,
            overlap in 0_usize..20,
        ) {
            let count = |part: &str| part.chars().filter(|c| !c.is_whitespace()).count();
            let pieces = cut(&text, budget, overlap, count);
            prop_assert_eq!(pieces[0].start, 0);
            prop_assert_eq!(pieces[pieces.len() - 1].end, text.len());
            for piece in &pieces {
                prop_assert!(count(&text[piece.clone()]) <= budget);
            }
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].start < pair[1].start && pair[1].start <= pair[0].end);
                prop_assert!(pair[0].end < pair[1].end);
            }
        }
    }
}
