//! What became of one sending, and what an HTTP status means for it. Values only; sends nothing.

use std::time::Duration;

/// The most of a code that is shown, in characters.
const MAX_CODE_CHARS: usize = 64;

/// How every reason begins that the server itself gave.
const ANSWERED: &str = "the server answered";

/// Tells whether a reason is an answer of the server, not that there was none.
pub(super) fn is_answer(why: &str) -> bool {
    why.starts_with(ANSWERED)
}

/// What became of an entry that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The server has it.
    Done,
    /// It is not known, or may be otherwise in a moment: the same entry is sent again later.
    Retry {
        /// In words, without the entry's content.
        why: String,
        /// How long the server asked to wait at least.
        after: Option<Duration>,
    },
    /// Nothing can be sent until a person has done something, such as setting another key.
    Paused {
        /// In words, without the entry's content.
        why: String,
    },
    /// The server will never take it: it becomes a dead letter, and the next one is sent.
    Refused {
        /// In words, without the entry's content.
        why: String,
    },
    /// It is not for the one who sends, who has the key of another project: it stays, and the next one is
    /// sent.
    NotOurs,
    /// It was not sent, and nothing is to be sent now: the program is about to end, for example.
    /// Counts as no attempt.
    Leave,
}

impl Outcome {
    /// Returns what an answer with this status means. `retry_after` is what the server asked for.
    ///
    /// | status | outcome |
    /// |---|---|
    /// | 200–299 | done |
    /// | 408, 429, 500–599 | sent again |
    /// | 401, 403, 407; 300–399 and what is no status | paused: a key or an address has to be mended, and every other entry would fare the same |
    /// | 421 | not ours |
    /// | every other 400–499 | refused |
    #[must_use]
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        let why = format!("{ANSWERED} {status}");
        match status {
            200..=299 => Self::Done,
            421 => Self::NotOurs,
            408 | 429 | 500..=599 => Self::Retry {
                why,
                after: retry_after,
            },
            401 => Self::Paused {
                why: why + ": it does not know the key, or no longer",
            },
            403 => Self::Paused {
                why: why + ": the key, or its project, may not do this now",
            },
            407 => Self::Paused {
                why: format!("a proxy answered {status}: it wants to know who you are"),
            },
            300..=399 => Self::Paused {
                why: why + ", a redirect, which is not followed: its address may have changed",
            },
            400..=499 => Self::Refused { why },
            _ => Self::Paused {
                why: why + ", which is no status of HTTP: it may be another service",
            },
        }
    }

    /// Returns what an error of MMW means by its code, as its tools name it in an answer with status 200.
    /// A code that is not known is a refusal.
    #[must_use]
    pub fn of_code(code: &str, retry_after: Option<Duration>) -> Self {
        // A code goes into a file and a status: one that was made up stays short.
        let shown: String = code.chars().take(MAX_CODE_CHARS).collect();
        let why = format!("{ANSWERED} with the error {shown}");
        match code {
            "busy" | "unavailable" | "rate_limited" | "internal" => Self::Retry {
                why,
                after: retry_after,
            },
            "other_project" => Self::NotOurs,
            "unauthorized" | "forbidden" | "host_not_allowed" | "limit_reached" | "read_only"
            | "suspended" => Self::Paused {
                why: why + ": the key, or its project, may not do this now",
            },
            _ => Self::Refused { why },
        }
    }

    /// Returns the outcome of a sending without an answer: not connected, or cut off.
    #[must_use]
    pub fn no_answer(why: impl Into<String>) -> Self {
        Self::Retry {
            why: why.into(),
            after: None,
        }
    }
}

/// Reads the header `Retry-After` in seconds. `None` for a date: then the queue's own pace holds.
#[must_use]
pub fn retry_after(header: &str) -> Option<Duration> {
    let digits = header.trim();
    let is_plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| Duration::from_secs(digits.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Done => "done",
            Outcome::Retry { .. } => "retry",
            Outcome::Paused { .. } => "paused",
            Outcome::Refused { .. } => "refused",
            Outcome::NotOurs => "not ours",
            Outcome::Leave => "leave",
        }
    }

    #[test]
    fn every_status_has_its_outcome() {
        let kind = |status| kind_of(&Outcome::of_status(status, None));
        let table = [
            ("done", &[200, 201, 202, 204, 299][..]),
            ("not ours", &[421]),
            ("retry", &[408, 429, 500, 501, 502, 503, 504, 507, 520, 599]),
            (
                "paused",
                &[
                    401, 403, 407, 300, 301, 302, 304, 307, 308, 0, 100, 199, 600, 999,
                ],
            ),
            (
                "refused",
                &[
                    400, 402, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422, 425, 426, 428, 431,
                    451, 499,
                ],
            ),
        ];
        for (expected, statuses) in table {
            for status in statuses {
                assert_eq!(kind(*status), expected, "{status}");
            }
        }
        let again: Vec<u16> = (400..500).filter(|s| kind(*s) == "retry").collect();
        assert_eq!(again, [408, 429]);
    }

    #[test]
    fn a_code_means_what_its_status_means() {
        let statuses = [
            ("malformed_json", 400),
            ("invalid_argument", 400),
            ("unauthorized", 401),
            ("forbidden", 403),
            ("host_not_allowed", 403),
            ("limit_reached", 403),
            ("read_only", 403),
            ("suspended", 403),
            ("not_found", 404),
            ("idempotency_conflict", 409),
            ("too_large", 413),
            ("other_project", 421),
            ("rejected_by_guard", 422),
            ("rate_limited", 429),
            ("internal", 500),
            ("busy", 503),
            ("unavailable", 503),
        ];
        let wait = Some(Duration::from_secs(3));
        for (code, status) in statuses {
            let by_code = Outcome::of_code(code, wait);
            let by_status = Outcome::of_status(status, wait);
            assert_eq!(kind_of(&by_code), kind_of(&by_status), "{code}");
        }
        let unknown = Outcome::of_code(&"x".repeat(9999), None);
        let Outcome::Refused { why } = unknown else {
            panic!("it is refused");
        };
        assert!(why.len() < 200 && is_answer(&why));
        assert!(!is_answer(
            "the connection is refused: nothing listens there"
        ));
    }

    #[test]
    fn what_the_server_asked_for_is_kept() {
        let wait = Some(Duration::from_secs(7));
        for status in [408, 429, 503] {
            let Outcome::Retry { why, after } = Outcome::of_status(status, wait) else {
                panic!("{status} is sent again");
            };
            assert_eq!(after, wait);
            assert!(why.contains(&status.to_string()) && is_answer(&why));
        }
    }

    #[test]
    fn only_seconds_are_read() {
        assert_eq!(retry_after("0"), Some(Duration::ZERO));
        assert_eq!(retry_after(" 120 "), Some(Duration::from_secs(120)));
        let endless = retry_after("99999999999999999999999");
        assert_eq!(endless, Some(Duration::from_secs(u64::MAX)));
        for other in ["", "-1", "1.5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(retry_after(other), None, "{other}");
        }
    }
}
