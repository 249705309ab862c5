//! How sending went and when it is tried again. Rules and their file's form; no files, no clock.
//!
//! It is kept on disk, so that ten processes that start one after the other do not ask a server ten
//! times that is down. A clock that jumps never makes anybody wait longer than one wait.

use std::time::Duration;

use mmw_core::time::Timestamp;
use serde_json::{Value, json};

use super::look::STUCK_AFTER;

/// The first wait, in milliseconds. Each further one is twice as long.
const FIRST_WAIT_MS: u64 = 1000;

/// The longest wait of our own, in milliseconds.
const MAX_WAIT_MS: u64 = 5 * 60 * 1000;

/// The longest wait that a server may ask for, in milliseconds.
const MAX_ASKED_MS: u64 = 60 * 60 * 1000;

/// The longest reason that is kept, in characters.
const MAX_WHY_CHARS: usize = 300;

/// A reason and its moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// In words.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

impl Note {
    /// Returns the note. Control characters become spaces, and a long reason is cut.
    #[must_use]
    pub fn new(why: &str, at: Timestamp) -> Self {
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let why = why.chars().take(MAX_WHY_CHARS).map(plain).collect();
        Self { why, at }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "why": self.why, "at": self.at.to_string() })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let at = Timestamp::parse(value.get("at")?.as_str()?).ok()?;
        Some(Self::new(value.get("why")?.as_str()?, at))
    }
}

/// How sending went and when it is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pace {
    /// Attempts that failed in a row.
    pub(super) n_failed: u32,
    /// The number of the entry that failed last.
    pub(super) failed_at: Option<u64>,
    /// When the wait began and when it ends.
    pub(super) wait: Option<(Timestamp, Timestamp)>,
    pub(super) paused: Option<Note>,
    pub(super) last_error: Option<Note>,
    pub(super) last_success_at: Option<Timestamp>,
}

impl Pace {
    /// Returns until when to wait; `None` if it may be tried now.
    pub(super) fn wait_until(&self, now: Timestamp) -> Option<Timestamp> {
        let (from, until) = self.wait?;
        // Before its beginning the clock was set back, and nobody knows how much of it is over.
        (from <= now && now < until).then_some(until)
    }

    /// Notes that an attempt failed; returns when the next one is. `random` makes the wait anything
    /// from half to all of what it may be, so that many agents do not come back at once.
    pub(super) fn failed(
        &mut self,
        why: &str,
        after: Option<Duration>,
        now: Timestamp,
        random: u64,
    ) -> Timestamp {
        let doubled = FIRST_WAIT_MS << self.n_failed.min(20);
        let own = doubled.min(MAX_WAIT_MS);
        let own = own / 2 + random % (own / 2 + 1);
        let asked = after.map_or(0, |after| {
            let ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            let ms = ms.min(MAX_ASKED_MS);
            // Those who were sent away together do not come back together.
            ms + random % (ms / 10 + 1)
        });
        let wait = i64::try_from(own.max(asked)).unwrap_or(i64::MAX);
        let until = now.plus_ms(wait);
        self.n_failed = self.n_failed.saturating_add(1);
        self.wait = Some((now, until));
        self.last_error = Some(Note::new(why, now));
        until
    }

    /// Notes that the server took an entry, or gave it back for good: it is there.
    pub(super) fn answered(&mut self, now: Timestamp, took: bool) {
        self.n_failed = 0;
        self.wait = None;
        if took {
            self.last_success_at = Some(now);
        }
    }

    /// Notes that nothing is sent until [`Pace::resumed`].
    pub(super) fn paused(&mut self, note: Note) {
        self.n_failed = 0;
        self.wait = None;
        self.last_error = Some(note.clone());
        self.paused = Some(note);
    }

    /// Notes that sending may be tried at once, whatever was. Attempts that failed are not forgotten, or nobody
    /// would ever see that it is always the same entry, but they do not make the next wait long.
    pub(super) fn resumed(&mut self) {
        self.n_failed = self.n_failed.min(STUCK_AFTER);
        self.wait = None;
        self.paused = None;
    }

    /// Notes that what may have been in the way is gone: the next one is tried at once, and has not failed yet.
    pub(super) fn cleared(&mut self) {
        self.n_failed = 0;
        self.wait = None;
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let note = |note: &Option<Note>| note.as_ref().map(Note::to_json);
        let moment = |at: Timestamp| at.to_string();
        let file = json!({
            "format": 1,
            "failed_in_a_row": self.n_failed,
            "failed_at": self.failed_at,
            "waits_since": self.wait.map(|(from, _)| moment(from)),
            "next_attempt_at": self.wait.map(|(_, until)| moment(until)),
            "paused": note(&self.paused),
            "last_error": note(&self.last_error),
            "last_success_at": self.last_success_at.map(moment),
        });
        let mut bytes = file.to_string().into_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// Reads its file. What can't be read counts as nothing known: at worst the server is asked once
    /// more.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let Ok(file) = serde_json::from_slice::<Value>(bytes) else {
            return Self::default();
        };
        let moment = |name: &str| Timestamp::parse(file.get(name)?.as_str()?).ok();
        let note = |name: &str| Note::from_json(file.get(name)?);
        let n_failed = file.get("failed_in_a_row").and_then(Value::as_u64);
        Self {
            n_failed: n_failed.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            failed_at: file.get("failed_at").and_then(Value::as_u64),
            wait: moment("waits_since")
                .zip(moment("next_attempt_at"))
                .filter(|(from, until)| until.as_ms() - from.as_ms() <= LONGEST_MS),
            paused: note("paused"),
            last_error: note("last_error"),
            last_success_at: moment("last_success_at"),
        }
    }
}

/// No wait is longer, in milliseconds; one that says so was not written by us.
#[allow(clippy::cast_possible_wrap, reason = "it is an hour and six minutes")]
const LONGEST_MS: i64 = (MAX_ASKED_MS + MAX_ASKED_MS / 10) as i64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    fn waits(n_failed: u32, after: Option<u64>, random: u64) -> i64 {
        let mut pace = Pace {
            n_failed,
            ..Pace::default()
        };
        let until = pace.failed("why", after.map(Duration::from_secs), NOW, random);
        until.as_ms() - NOW.as_ms()
    }

    #[test]
    fn waits_double_up_to_five_minutes() {
        let longest = |n| waits(n, None, 500);
        assert_eq!((longest(0), waits(0, None, 0)), (1000, 500));
        assert_eq!([waits(1, None, 1000), waits(2, None, 2000)], [2000, 4000]);
        for n in [9, 40, u32::MAX] {
            assert_eq!(waits(n, None, 0), 150_000, "{n}");
            assert_eq!(waits(n, None, 150_000), 300_000, "{n}");
        }
    }

    #[test]
    fn a_server_is_waited_for_as_long_as_it_asks_up_to_an_hour() {
        assert_eq!(waits(0, Some(30), 0), 30_000);
        assert_eq!(waits(0, Some(30), 3000), 33_000);
        assert_eq!(waits(0, Some(0), 0), 500);
        assert_eq!(waits(0, Some(3600), 0), 3_600_000);
        assert_eq!(waits(0, Some(3601), 0), 3_600_000);
        assert_eq!(waits(0, Some(u64::MAX), 360_000), LONGEST_MS);
    }

    #[test]
    fn a_reason_is_one_line_and_not_endless() {
        let note = Note::new(&format!("a\nb\u{1b}[1m{}", "é".repeat(400)), NOW);
        assert!(note.why.starts_with("a b [1mé"));
        assert_eq!(note.why.chars().count(), 300);
    }

    #[test]
    fn what_can_not_be_read_is_nothing_known() {
        let half = &Pace::default().to_bytes()[..20];
        for bytes in [
            b"".as_slice(),
            b"[]",
            b"7",
            b"{\"paused\":7}",
            half,
            &[0; 9],
        ] {
            assert_eq!(Pace::from_bytes(bytes), Pace::default());
        }
        // By hand, or by a clock that was wrong by years: nobody waits for it.
        let far = br#"{"waits_since":"2026-01-01","next_attempt_at":"2029-01-01"}"#;
        assert_eq!(Pace::from_bytes(far).wait, None);
    }

    proptest! {
        #[test]
        fn whatever_the_clock_does_nobody_waits_longer_than_one_wait(
            n_failed in 0..50_u32, after in proptest::option::of(0..10_000_u64), random: u64,
            jump in -4_000_000_000_000..4_000_000_000_000_i64,
        ) {
            let mut pace = Pace { n_failed, ..Pace::default() };
            let until = pace.failed("why", after.map(Duration::from_secs), NOW, random);
            prop_assert!(until > NOW);
            prop_assert_eq!(pace.wait_until(NOW), Some(until));
            prop_assert_eq!(pace.wait_until(until), None);
            let then = NOW.plus_ms(jump);
            if let Some(until) = pace.wait_until(then) {
                prop_assert!(until.as_ms() - then.as_ms() <= LONGEST_MS);
            }
            prop_assert_eq!(Pace::from_bytes(&pace.to_bytes()), pace);
        }
    }

    #[test]
    fn a_pause_lasts_until_it_is_lifted_and_an_answer_ends_a_wait() {
        let mut pace = Pace::default();
        pace.failed("down", None, NOW, 0);
        pace.answered(NOW, true);
        assert_eq!((pace.n_failed, pace.wait_until(NOW)), (0, None));
        assert_eq!(pace.last_success_at, Some(NOW));
        let note = Note::new("the server answered 401", NOW);
        pace.paused(note.clone());
        let read = Pace::from_bytes(&pace.to_bytes());
        assert_eq!(
            (&read.paused, &read.last_error),
            (&Some(note.clone()), &Some(note))
        );
        let mut read = read;
        read.resumed();
        assert_eq!(read.paused, None);
        assert!(read.last_error.is_some());
    }

    #[test]
    fn who_tries_at_once_neither_forgets_what_failed_nor_waits_long_for_it() {
        let mut pace = Pace::default();
        for _ in 0..20 {
            pace.failed("the server answered 500", None, NOW, 0);
        }
        pace.resumed();
        assert_eq!((pace.n_failed, pace.wait_until(NOW)), (STUCK_AFTER, None));
        let until = pace.failed("the server answered 500", None, NOW, u64::MAX);
        assert!(until.as_ms() - NOW.as_ms() <= 16_000);
    }
}
