//! Keeps texts that are told beside an answer short enough for a client to take the answer.
//!
//! A statement may have 16 KiB, a fact any number of versions, a source any number of records. What
//! an answer is *about* is shown whole; what is only named with it shares one budget, and ends in
//! `…` where it was cut. The id fetches the rest with `explain_memory`.

use unicode_segmentation::UnicodeSegmentation as _;

/// What the texts of one answer may have together, in characters: as much as a search answers with.
const BUDGET_CHARS: usize = 15_000;
/// No text is cut below this, in characters.
const MIN_CHARS: usize = 200;

/// Cuts the longest of the texts, each to the same length, until they fit together. Texts that are
/// short enough stay as they are.
pub(super) fn fit<'t>(texts: impl Iterator<Item = &'t mut String>) {
    let texts: Vec<&mut String> = texts.collect();
    let mut lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    lengths.sort_unstable();
    // Short texts take what they need; the others share the rest evenly.
    let mut left = BUDGET_CHARS;
    let mut most = usize::MAX;
    for (nth, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - nth);
        if *length > share {
            most = share.max(MIN_CHARS);
            break;
        }
        left -= length;
    }
    for text in texts {
        cut(text, most);
    }
}

/// Cuts a text to at most so many characters, the `…` included, at the end of a grapheme.
fn cut(text: &mut String, max_chars: usize) {
    if text.len() <= max_chars || text.chars().count() <= max_chars {
        return;
    }
    let mut n_chars = 1;
    let mut end = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        n_chars += grapheme.chars().count();
        if n_chars > max_chars {
            break;
        }
        end = start + grapheme.len();
    }
    text.truncate(end);
    text.push('…');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fitted(mut texts: Vec<String>) -> Vec<String> {
        fit(texts.iter_mut());
        texts
    }

    #[test]
    fn what_fits_is_left_alone_and_only_the_longest_are_cut() {
        let few = vec!["a".repeat(7_000), "b".repeat(8_000)];
        assert_eq!(fitted(few.clone()), few);
        let mixed = fitted(vec!["short".into(), "a".repeat(16_000), "b".repeat(9_000)]);
        assert_eq!(mixed[0], "short");
        let lengths: Vec<usize> = mixed.iter().map(|text| text.chars().count()).collect();
        assert_eq!(lengths, [5, 7_497, 7_497]);
        assert!(mixed[1].ends_with("a…"));
    }

    #[test]
    fn no_grapheme_is_cut() {
        let cut = fitted(vec!["👩‍👩‍👧".repeat(3_001); 2]);
        let kept = cut[0].strip_suffix('…').unwrap();
        assert_eq!(kept.chars().count() % 5, 0);
    }

    proptest! {
        #[test]
        fn texts_fit_together_or_are_as_short_as_they_may_be(
            lengths in prop::collection::vec(0_usize..4_000, 0..120),
        ) {
            let before: Vec<String> = lengths.iter().map(|n| "é".repeat(*n)).collect();
            let after = fitted(before.clone());
            let total: usize = after.iter().map(|text| text.chars().count()).sum();
            prop_assert!(total <= BUDGET_CHARS.max(MIN_CHARS * lengths.len()));
            for (before, after) in before.iter().zip(&after) {
                let is_whole = before == after;
                prop_assert!(is_whole || after.ends_with('…'));
                prop_assert!(is_whole || before.starts_with(after.trim_end_matches('…')));
            }
        }
    }
}
