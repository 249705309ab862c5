//! The time at which the records of a set are saved: when they were said, not today.
//!
//! The product doesn't believe a date that lies more than a month back, since an agent that saves what it
//! just learned has no reason for one. Conversations of years ago are therefore saved as they happened,
//! by a clock that is set to them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use mmw_core::env::{Clock, SystemClock};
use mmw_core::fact::plan::MAX_BACKDATED_DAYS;
use mmw_core::time::{DAY_MS, Timestamp};

/// The present, unless it is set to some other moment.
#[derive(Debug, Default)]
pub(crate) struct SettableClock(Mutex<Option<Timestamp>>);

impl SettableClock {
    /// Stops at a moment, or goes on with the present.
    pub(crate) fn set(&self, moment: Option<Timestamp>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = moment;
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        let set = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.unwrap_or_else(|| SystemClock.now())
    }
}

/// What can be saved at once: places of records, and the last moment at which one of them was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) places: Range<usize>,
    /// Nothing if none of them says when.
    pub(crate) last: Option<Timestamp>,
}

/// Cuts records into spans of at most so many, in order. The dates within one are all believed at its
/// last moment; records with and without a date are kept apart.
pub(crate) fn spans(said: &[Option<Timestamp>], most: usize) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut first = None;
    for (place, moment) in said.iter().copied().enumerate() {
        let earliest = first.min(moment);
        let fits = |span: &&mut Span| {
            let is_near = match (earliest, span.last.max(moment)) {
                (Some(earliest), Some(latest)) => {
                    latest <= earliest.plus_ms(MAX_BACKDATED_DAYS * DAY_MS)
                }
                _ => true,
            };
            span.last.is_some() == moment.is_some() && span.places.len() < most && is_near
        };
        match spans.last_mut().filter(fits) {
            Some(span) => {
                span.places.end = place + 1;
                span.last = span.last.max(moment);
                first = earliest;
            }
            None => {
                spans.push(Span {
                    places: place..place + 1,
                    last: moment,
                });
                first = moment;
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(nth: i64) -> Option<Timestamp> {
        Some(Timestamp::from_ms(nth * DAY_MS))
    }

    #[test]
    fn the_clock_stands_where_it_was_set_and_goes_on_when_let_go() {
        let clock = SettableClock::default();
        clock.set(day(3));
        assert_eq!(Some(clock.now()), day(3));
        clock.set(None);
        assert!(Some(clock.now()) > day(19_000));
    }

    #[test]
    fn what_lies_more_than_a_month_apart_is_saved_apart() {
        let said = [day(100), day(90), day(121), None, None, day(1)];
        let found: Vec<_> = spans(&said, 9)
            .into_iter()
            .map(|span| (span.places, span.last))
            .collect();
        let expected = [
            (0..2, day(100)),
            (2..3, day(121)),
            (3..5, None),
            (5..6, day(1)),
        ];
        assert_eq!(found, expected);
        assert_eq!(spans(&[None; 5], 2).len(), 3);
        assert!(spans(&[], 2).is_empty());
    }

    proptest! {
        #[test]
        fn every_date_is_believed_when_it_is_saved(
            said in prop::collection::vec(prop::option::of(0_i64..200), 0..60),
            most in 1_usize..20,
        ) {
            let said: Vec<_> = said.into_iter().map(|nth| nth.and_then(day)).collect();
            let mut next = 0;
            for span in spans(&said, most) {
                prop_assert_eq!(span.places.start, next);
                prop_assert!((1..=most).contains(&span.places.len()));
                next = span.places.end;
                for moment in &said[span.places] {
                    prop_assert_eq!(moment.is_some(), span.last.is_some());
                    if let (Some(moment), Some(now)) = (*moment, span.last) {
                        prop_assert!(moment <= now);
                        prop_assert!(now <= moment.plus_ms(MAX_BACKDATED_DAYS * DAY_MS));
                    }
                }
            }
            prop_assert_eq!(next, said.len());
        }
    }
}
