//! Reads the dates of the sets, however they are written.
//!
//! | written | from |
//! |---|---|
//! | `1:56 pm on 8 May, 2023` | LoCoMo |
//! | `29.12.2023, 00:51:12` | REALTALK |
//! | `March-15-2024` | BEAM |
//! | `2023/05/20 (Sat) 02:21` | LongMemEval |
//! | `2024-03-15T10:00:00Z`, `8 May 2023` | whoever |
//!
//! The time of day is read where it stands; without one it is noon, which is the same day in most zones.

/// The months by the beginnings of their names.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Returns a date as RFC 3339; nothing if it is none.
pub(crate) fn rfc3339(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (mut numbers, mut month) = (Vec::new(), None);
    let mut time = None;
    for part in lower.split(|c: char| !(c.is_alphanumeric() || c == ':')) {
        // `15T10:00:00Z`
        let (day, clock) = part.split_once('t').unwrap_or((part, ""));
        let clock = if day.parse::<u32>().is_ok() && clock.contains(':') {
            numbers.push(day);
            clock.trim_end_matches('z')
        } else {
            part
        };
        if clock.contains(':') {
            time = time.or_else(|| time_of(clock));
        } else if clock.chars().all(|c| c.is_ascii_digit()) && !clock.is_empty() {
            numbers.push(clock);
        } else if let Some(prefix) = clock.get(..3) {
            month = month.or_else(|| MONTHS.iter().position(|name| *name == prefix));
        }
    }
    let number = |nth: usize| numbers.get(nth)?.parse::<u32>().ok();
    let (year, month, day) = match month {
        Some(month) => (number(1)?, month as u32 + 1, number(0)?),
        None if numbers.first()?.len() == 4 => (number(0)?, number(1)?, number(2)?),
        None => (number(2)?, number(1)?, number(0)?),
    };
    let is_day = (1970..=2100).contains(&year) && (1..=12).contains(&month) && day >= 1;
    let longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !is_day || day > longest[month as usize - 1] {
        return None;
    }
    let (mut hour, minute, second) = time.unwrap_or((12, 0, 0));
    let says = |what: &str| {
        lower
            .split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| word == what)
    };
    if says("pm") && hour < 12 {
        hour += 12;
    } else if says("am") && hour == 12 {
        hour = 0;
    }
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

/// Returns the hour, minute and second of a time of day.
fn time_of(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().flatten().unwrap_or(0);
    (hour < 24 && minute < 60 && second < 60).then_some((hour, minute, second))
}

#[cfg(test)]
mod tests {
    use mmw_core::time::Timestamp;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_of_every_set_are_read() {
        for (written, read) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
            ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
            ("29.12.2023, 00:51:12", "2023-12-29T00:51:12Z"),
            ("March-15-2024", "2024-03-15T12:00:00Z"),
            ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00Z"),
            ("2024-03-15T10:00:00Z", "2024-03-15T10:00:00Z"),
            ("2024-03-15", "2024-03-15T12:00:00Z"),
            ("8 May 2023", "2023-05-08T12:00:00Z"),
        ] {
            assert_eq!(rfc3339(written).as_deref(), Some(read), "{written}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for written in [
            "",
            "soon",
            "8",
            "40 May 2023",
            "2023/13/01",
            "3.4",
            "May 2023",
        ] {
            assert_eq!(rfc3339(written), None, "{written}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_failing(text in "\\PC{0,40}") {
            rfc3339(&text);
        }

        #[test]
        fn what_is_read_is_a_moment(day in 1_u32..=28, month in 1_u32..=12, year in 1970_u32..=2100) {
            let read = rfc3339(&format!("{day}.{month}.{year}")).unwrap();
            prop_assert!(Timestamp::parse(&read).is_ok(), "{}", read);
        }
    }
}
