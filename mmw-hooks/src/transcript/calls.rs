//! Calls of tools whose results have not come yet.
//!
//! A call that was interrupted never gets one. So only the latest calls are kept: after hundreds of
//! interruptions the next one must still be seen to end.

use std::collections::VecDeque;

/// The most calls whose results are awaited.
const MAX_CALLS: usize = 256;

/// Calls by their ids, in their order.
#[derive(Debug)]
pub struct Calls<T>(VecDeque<(String, T)>);

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Calls<T> {
    /// Adds a call; beyond 256 the oldest one is given up.
    pub fn begin(&mut self, id: String, call: T) {
        if self.0.len() >= MAX_CALLS {
            self.0.pop_front();
        }
        self.0.push_back((id, call));
    }

    /// Takes a call whose result came.
    pub fn end(&mut self, id: &str) -> Option<T> {
        let at = self.0.iter().rposition(|(known, _)| known == id)?;
        self.0.remove(at).map(|(_, call)| call)
    }

    /// Tells whether any id fits, the latest first.
    pub fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.0.iter().rev().any(|(id, _)| fits(id))
    }

    /// Takes all that are left.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|(_, call)| call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_hundreds_of_interruptions_the_next_call_is_seen_to_end() {
        let mut calls = Calls::default();
        for n in 0..3 * MAX_CALLS {
            calls.begin(n.to_string(), n);
        }
        calls.begin("last".to_owned(), 7);
        assert!(calls.any(|id| id == "last") && !calls.any(|id| id == "0"));
        assert_eq!(calls.end("last"), Some(7));
        assert_eq!(calls.end("last"), None);
        assert_eq!(calls.drain().count(), MAX_CALLS - 1);
        assert_eq!(calls.drain().count(), 0);
    }
}
