//! Percentiles and the table that shows them.

use std::time::Duration;

/// Durations of one thing.
pub(crate) struct Series(Vec<Duration>);

impl Series {
    pub(crate) fn new(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }

    /// Returns the duration that `percent` of all do not exceed, in milliseconds.
    pub(crate) fn at(&self, percent: usize) -> f64 {
        let last = self.0.len() - 1;
        self.0[last * percent / 100].as_secs_f64() * 1_000.0
    }

    /// Returns the row of a table.
    pub(crate) fn row(&self, name: &str, note: &str) -> String {
        format!(
            "| {name} | {:.3} | {:.3} | {:.3} | {note} |\n",
            self.at(50),
            self.at(95),
            self.at(99)
        )
    }
}

/// Returns the row of a single figure.
pub(crate) fn single(name: &str, value: &str, note: &str) -> String {
    format!("| {name} | {value} | | | {note} |\n")
}
