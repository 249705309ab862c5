//! What would change in a settings file, as a person reads it.

use mmw_guard::Guard;
use similar::TextDiff;

/// How many unchanged lines are shown around a change.
const AROUND: usize = 2;

/// Returns the lines that differ, with some around them; secrets in those are left out.
pub(crate) fn difference(before: &str, after: &str, guard: &Guard) -> String {
    let difference = TextDiff::from_lines(before, after);
    let mut lines = difference.unified_diff();
    let text = lines
        .context_radius(AROUND)
        .missing_newline_hint(false)
        .to_string();
    // Other servers' keys stand in the same file.
    guard.redact(&text).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_shown_and_no_secret_beside_it() {
        let before = "a\nb\n\"token\": \"ghp_Wb4cP9zKx7Lm2Qv8Rt5Yu1Io3As6Df0Gh2J\"\nc\nd\ne\n";
        let after = before.replace("c\n", "c\nmmw\n");
        let shown = difference(before, &after, &Guard::standard());
        assert!(shown.contains("+mmw\n"), "{shown}");
        assert!(!shown.contains("ghp_Wb4cP9"), "{shown}");
        assert!(!shown.contains(" a\n"), "{shown}");
        assert_eq!(difference(before, before, &Guard::standard()), "");
    }
}
