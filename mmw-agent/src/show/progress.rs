//! A bar for long work: on standard error, and only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that is gone when it is dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Returns a bar at its beginning.
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:32} {pos} of {len}  {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::new(0).with_style(style))
    }

    /// Shows how much of all is done.
    pub(crate) fn at(&self, done: u64, all: u64) {
        self.0.set_length(all);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
