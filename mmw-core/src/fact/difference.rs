//! What two disagreeing versions differ in, so that a person can decide at a glance.

use crate::record::Record;
use crate::source::ContentHash;

/// The most differing values that are listed for one side.
pub const MAX_LISTED_VALUES: usize = 8;

/// Why an older and a newer claim may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Set if both name one source whose hash changed in between: the source was revised.
    pub source_revised: Option<(ContentHash, ContentHash)>,
    /// Words, numbers and names that only the older claim has.
    pub only_in_older: Vec<String>,
    /// Words, numbers and names that only the newer claim has.
    pub only_in_newer: Vec<String>,
}

/// Compares an older with a newer claim.
#[must_use]
pub fn between(older: &Record, newer: &Record) -> Difference {
    let source_revised = match (&older.origin.hash, &newer.origin.hash) {
        (Some(was), Some(is)) if older.origin.id == newer.origin.id && was != is => {
            Some((was.clone(), is.clone()))
        }
        _ => None,
    };
    Difference {
        source_revised,
        only_in_older: only_in_first(&older.content, &newer.content),
        only_in_newer: only_in_first(&newer.content, &older.content),
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '+' | '#'))
        })
        .filter(|word| !word.is_empty())
        .collect()
}

fn only_in_first(first: &str, second: &str) -> Vec<String> {
    let others = words(second);
    let mut values: Vec<&str> = Vec::new();
    for word in words(first) {
        if !others.contains(&word) && !values.contains(&word) {
            values.push(word);
        }
    }
    // Values tell more than words do: what has a digit or joins parts comes first.
    let is_value = |word: &str| {
        word.chars()
            .any(|c| c.is_numeric() || matches!(c, '-' | '_' | '/' | '.'))
    };
    values.sort_by_key(|word| !is_value(word));
    values.truncate(MAX_LISTED_VALUES);
    values.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_values_stand_side_by_side() {
        let (old, new) = (
            "staging runs on port 8080, unit `app`",
            "staging runs on port 8081, unit `app-staging`",
        );
        assert_eq!(only_in_first(old, new), ["8080", "app"]);
        assert_eq!(only_in_first(new, old), ["8081", "app-staging"]);
        assert!(only_in_first(old, old).is_empty());
    }

    #[test]
    fn the_list_is_bounded() {
        let long: Vec<String> = (0..50).map(|n| format!("w{n}")).collect();
        assert_eq!(only_in_first(&long.join(" "), "x").len(), MAX_LISTED_VALUES);
    }
}
