//! How long ago something was, in words.

use mmw_core::time::{DAY_MS, Timestamp};

/// Units from the largest, with their length in milliseconds.
const UNITS: &[(&str, i64)] = &[
    ("year", 365 * DAY_MS),
    ("month", 30 * DAY_MS),
    ("day", DAY_MS),
    ("hour", DAY_MS / 24),
    ("minute", DAY_MS / 24 / 60),
];

/// Returns "3 days ago", "in 2 hours" or "just now": whole units, cut and not rounded.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    let passed = now.as_ms() - moment.as_ms();
    let Some((unit, length)) = UNITS.iter().find(|(_, length)| passed.abs() >= *length) else {
        return "just now".to_owned();
    };
    let n = passed.abs() / length;
    let s = if n == 1 { "" } else { "s" };
    if passed > 0 {
        format!("{n} {unit}{s} ago")
    } else {
        format!("in {n} {unit}{s}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passed_ms: i64, words: &str) {
        let now = Timestamp::from_ms(100 * 365 * DAY_MS);
        assert_eq!(ago(now.plus_ms(-passed_ms), now), words);
    }

    #[test]
    fn an_age_is_said_in_its_largest_unit() {
        check(0, "just now");
        check(59_999, "just now");
        check(60_000, "1 minute ago");
        check(DAY_MS - 1, "23 hours ago");
        check(DAY_MS, "1 day ago");
        check(3 * DAY_MS + 5, "3 days ago");
        check(60 * DAY_MS, "2 months ago");
        check(365 * DAY_MS, "1 year ago");
        check(-2 * DAY_MS, "in 2 days");
        check(-10, "just now");
    }
}
