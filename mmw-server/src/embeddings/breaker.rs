//! Queries fail at once while the server is known to be away, so that words answer at once.
//!
//! After a failed query the next ones are refused for a while; then one is let through to see. A query
//! that was given up because it took too long goes on beside: as long as it does, the next ones are
//! refused too, and its answer opens the way again. A server that loads its model for a minute would
//! otherwise be interrupted by every query anew.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mmw_store::embed::EmbedError;

/// How long queries are refused at most because a server asks for it.
const LONGEST_REST: Duration = Duration::from_secs(60);

#[derive(Debug)]
enum State {
    Closed,
    Open { until: Instant, why: EmbedError },
    Awaited { why: EmbedError },
}

/// What stands between queries and a server.
#[derive(Debug)]
pub(super) struct Breaker {
    rest: Duration,
    state: Mutex<State>,
}

impl Breaker {
    /// Returns one that lets queries through. `rest` is how long they are refused after a failure.
    pub(super) fn new(rest: Duration) -> Self {
        Self {
            rest,
            state: Mutex::new(State::Closed),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a query through, or tells why not.
    pub(super) fn check(&self) -> Result<(), EmbedError> {
        let mut state = self.state();
        match &mut *state {
            State::Closed => Ok(()),
            State::Open { until, .. } if *until <= Instant::now() => {
                // One goes to see; the others wait for what comes of it.
                *until = Instant::now() + self.rest;
                Ok(())
            }
            State::Open { why, .. } | State::Awaited { why } => Err(why.clone()),
        }
    }

    /// Notes what came of a query. `rest` is how long the server wants to be left alone.
    pub(super) fn settle(&self, outcome: Result<(), &EmbedError>, rest: Option<Duration>) {
        let mut state = self.state();
        match outcome {
            Err(why) if !why.is_about_a_text() => {
                if matches!(*state, State::Closed) {
                    tracing::warn!(%why, "searching by words alone for a while");
                }
                let rest = rest.unwrap_or_default().min(LONGEST_REST).max(self.rest);
                *state = State::Open {
                    until: Instant::now() + rest,
                    why: why.clone(),
                };
            }
            Ok(()) | Err(_) => {
                if !matches!(*state, State::Closed) {
                    tracing::info!("searching by meaning again");
                }
                *state = State::Closed;
            }
        }
    }

    /// Gives up waiting for a query that goes on beside, unless `answer` has its outcome after all.
    /// Whoever goes on calls [`Breaker::settle`] after the outcome can be had.
    pub(super) fn give_up<T>(
        &self,
        why: EmbedError,
        answer: impl FnOnce() -> Option<T>,
    ) -> Result<T, EmbedError> {
        let mut state = self.state();
        if let Some(answer) = answer() {
            return Ok(answer);
        }
        if matches!(*state, State::Closed) {
            tracing::warn!(%why, "searching by words alone until the answer is there");
        }
        *state = State::Awaited { why: why.clone() };
        Err(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> EmbedError {
        EmbedError::Unavailable("away".to_owned())
    }

    #[test]
    fn a_failure_refuses_the_next_queries_with_the_same_words() {
        let breaker = Breaker::new(Duration::from_secs(600));
        assert_eq!(breaker.check(), Ok(()));
        breaker.settle(Err(&away()), None);
        assert_eq!(breaker.check(), Err(away()));
        breaker.settle(Ok(()), None);
        assert_eq!(breaker.check(), Ok(()));
    }

    #[test]
    fn after_the_rest_a_query_is_let_through() {
        let breaker = Breaker::new(Duration::ZERO);
        breaker.settle(Err(&away()), None);
        assert_eq!(breaker.check(), Ok(()));
    }

    #[test]
    fn of_the_queries_after_the_rest_one_goes_to_see() {
        let breaker = Breaker::new(Duration::from_secs(600));
        let why = away();
        *breaker.state() = State::Open {
            until: Instant::now(),
            why,
        };
        assert_eq!(breaker.check(), Ok(()));
        assert_eq!(breaker.check(), Err(away()));
    }

    #[test]
    fn a_text_that_is_too_long_is_no_failure_of_the_server() {
        let breaker = Breaker::new(Duration::from_secs(600));
        breaker.settle(Err(&EmbedError::NoVector { index: 0 }), None);
        assert_eq!(breaker.check(), Ok(()));
    }

    #[test]
    fn what_is_given_up_is_awaited_unless_it_has_come() {
        let breaker = Breaker::new(Duration::ZERO);
        assert_eq!(breaker.give_up(away(), || Some(7)), Ok(7));
        assert_eq!(breaker.check(), Ok(()));
        assert_eq!(breaker.give_up(away(), || None::<()>), Err(away()));
        assert_eq!(breaker.check(), Err(away()));
        breaker.settle(Ok(()), None);
        assert_eq!(breaker.check(), Ok(()));
    }
}
