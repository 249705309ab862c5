//! The moment by which everything must be done.

use std::time::{Duration, Instant};

/// A moment to be done by.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// Returns the moment that is so far ahead.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// Returns how much time is left.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Tells whether the moment has passed.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }
}
