//! The text of a record as it is embedded and as its words are indexed: `[date] who: fact`.
//!
//! The form is part of what a vector means, so it has a version that is stored with the vector.
//! It was measured: with the date and the speaker before it a fact is found more often than bare.

/// The version of the form. Raised with every change of [`Passage::text`] or of [`Passage::head`].
pub const TEMPLATE_VERSION: u32 = 1;

/// What of a record is embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passage<'a> {
    /// The day on which it was said, as a person would write it down.
    pub date: Option<&'a str>,
    /// Who said it.
    pub who: Option<&'a str>,
    /// What was said.
    pub fact: &'a str,
}

impl Passage<'_> {
    /// Returns what stands before the fact, with the space that parts them: `[date] who: `. Blank
    /// parts are left out.
    #[must_use]
    pub fn head(&self) -> String {
        let filled = |part: Option<&str>| {
            let part = part.unwrap_or_default().trim();
            (!part.is_empty()).then(|| part.to_owned())
        };
        let date = filled(self.date).map(|date| format!("[{date}] "));
        let who = filled(self.who).map(|who| format!("{who}: "));
        [date, who].into_iter().flatten().collect()
    }

    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.head(), self.fact)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(date: Option<&str>, who: Option<&str>, text: &str) {
        let fact = "staging runs as app";
        assert_eq!(Passage { date, who, fact }.text(), text);
    }

    #[test]
    fn date_and_speaker_stand_before_the_fact() {
        check(
            Some("2026-03-14"),
            Some("Ann"),
            "[2026-03-14] Ann: staging runs as app",
        );
        check(Some("2026-03-14"), None, "[2026-03-14] staging runs as app");
        check(None, Some("Ann"), "Ann: staging runs as app");
        check(None, None, "staging runs as app");
    }

    #[test]
    fn blank_parts_are_left_out() {
        check(Some(" "), Some(""), "staging runs as app");
        check(Some(" today "), Some("\t"), "[today] staging runs as app");
    }

    /// The version is a promise: this text may only change together with it.
    #[test]
    fn version_1_is_this_form() {
        assert_eq!(TEMPLATE_VERSION, 1);
        let passage = Passage {
            date: Some("d"),
            who: Some("w"),
            fact: " f ",
        };
        assert_eq!(passage.text(), "[d] w:  f ");
    }

    proptest! {
        #[test]
        fn the_fact_always_ends_the_text_unchanged(
            date in proptest::option::of(any::<String>()),
            who in proptest::option::of(any::<String>()),
            fact: String,
        ) {
            let passage = Passage { date: date.as_deref(), who: who.as_deref(), fact: &fact };
            prop_assert_eq!(passage.text(), passage.head() + &*fact);
        }
    }
}
