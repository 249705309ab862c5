//! What a record is filtered by, as words of its own: an index finds them where it finds the others,
//! so that a filter is part of the search and not a sieve behind it.
//!
//! A facet's word has a `=`, which no word of a text has. It is found, never counted: it weighs
//! nothing in a score.

use super::fnv1a_64;

/// Something that a record has and that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet<'a> {
    /// Its kind, by name.
    Kind(&'a str),
    /// Its scope.
    Scope(&'a str),
    /// One of its tags.
    Tag(&'a str),
    /// The document that it comes from, without the span.
    Document(&'a str),
}

impl Facet<'_> {
    /// Returns the word under which it is indexed. Values come as fingerprints of 64 bits: whoever
    /// searches looks at the record again.
    #[must_use]
    pub fn word(self) -> String {
        let (name, value) = match self {
            Self::Kind(value) => ("kind", value),
            Self::Scope(value) => ("scope", value),
            Self::Tag(value) => ("tag", value),
            Self::Document(value) => ("document", value),
        };
        format!("{name}={:016x}", fnv1a_64(value.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::{document, query};

    #[test]
    fn facets_of_one_value_differ_by_what_they_are() {
        let words = [
            Facet::Kind("x").word(),
            Facet::Scope("x").word(),
            Facet::Tag("x").word(),
            Facet::Document("x").word(),
        ];
        for (nth, word) in words.iter().enumerate() {
            assert!(!words[..nth].contains(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn no_text_and_no_query_has_the_word_of_a_facet(text in "\\PC{0,40}", value in "\\PC{0,20}") {
            let word = Facet::Tag(&value).word();
            let text = format!("{text} {word}");
            prop_assert!(!document(&[&text]).text.split(' ').any(|known| known == word));
            prop_assert!(!query(&text).words.contains(&word));
        }
    }
}
