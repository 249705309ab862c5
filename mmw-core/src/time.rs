//! Moments in UTC with millisecond precision, read and written as RFC 3339.
//!
//! Offsets are converted on the way in; what cannot be read is refused, never guessed.

use std::fmt;

use ::time::format_description::well_known::Rfc3339;
use ::time::{Date, Month, OffsetDateTime, UtcOffset};

/// One day in milliseconds.
pub const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A moment: milliseconds since 1970-01-01T00:00:00Z. Between the years 1 and 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text was not a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time such as 2026-03-14T09:30:00Z or a date such as 2026-03-14")]
pub struct TimeError;

impl Timestamp {
    /// Returns the moment that many milliseconds after 1970; clamped to the years 1 to 9999.
    #[must_use]
    pub const fn from_ms(ms: i64) -> Self {
        const FIRST: i64 = -62_135_596_800_000;
        const LAST: i64 = 253_402_300_799_999;
        if ms < FIRST {
            Self(FIRST)
        } else if ms > LAST {
            Self(LAST)
        } else {
            Self(ms)
        }
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// Returns the moment `ms` milliseconds later (earlier if negative), clamped to the range.
    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// Reads an RFC 3339 time with any offset, or a bare date (its first instant in UTC).
    /// Fractions below a millisecond are cut.
    ///
    /// # Errors
    /// [`TimeError`] for anything else, the years 0 and 10000 included.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let text = text.trim();
        let moment = match OffsetDateTime::parse(text, &Rfc3339) {
            // An offset can lead out of the years that there are.
            Ok(moment) => moment.checked_to_offset(UtcOffset::UTC).ok_or(TimeError)?,
            Err(_) => Self::parse_date(text).ok_or(TimeError)?,
        };
        if !(1..=9999).contains(&moment.year()) {
            return Err(TimeError);
        }
        let ms = moment.unix_timestamp_nanos().div_euclid(1_000_000);
        i64::try_from(ms).map(Self::from_ms).map_err(|_| TimeError)
    }

    fn parse_date(text: &str) -> Option<OffsetDateTime> {
        let [year, month, day] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        let plain = |part: &str, width: usize| {
            part.len() == width && part.bytes().all(|b| b.is_ascii_digit())
        };
        if !(plain(year, 4) && plain(month, 2) && plain(day, 2)) {
            return None;
        }
        let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
        let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
        Some(date.midnight().assume_utc())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .expect("a timestamp lies between the years 1 and 9999");
        let text = moment
            .format(&Rfc3339)
            .expect("RFC 3339 can print the years 1 to 9999");
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, printed: &str) {
        assert_eq!(Timestamp::parse(input).unwrap().to_string(), printed);
    }

    #[test]
    fn offsets_become_utc() {
        check("2025-07-25T02:00:00Z", "2025-07-25T02:00:00Z");
        check("2025-07-25T02:00:00+05:30", "2025-07-24T20:30:00Z");
        check("2024-02-29T23:59:59.123456Z", "2024-02-29T23:59:59.123Z");
        check("2026-03-14", "2026-03-14T00:00:00Z");
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for bad in [
            "",
            "june 0000",
            "十万年前",
            "9077",
            "PR 2024",
            "2025-02-29",
            "2025-13-01",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "9999-12-31T23:59:59-23:59",
            "0001-01-01T00:00:00+23:59",
            "2025-07-25 02:00",
            "2025-7-5",
        ] {
            assert_eq!(Timestamp::parse(bad), Err(TimeError), "{bad}");
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        let far = Timestamp::from_ms(i64::MAX);
        assert_eq!(far.plus_ms(i64::MAX), far);
        assert!(far.to_string().starts_with("9999-12-31"));
        assert!(
            Timestamp::from_ms(i64::MIN)
                .to_string()
                .starts_with("0001-01-01")
        );
    }
}
