//! What the guard decides on a draft, and the words in which it says so.

use mmw_core::capture::Finding;
use mmw_core::draft::Screened;

/// What the guard decides on a draft.
#[derive(Debug)]
pub enum Verdict {
    /// It may become memory (secrets are replaced).
    Allow(Screened),
    /// It waits for a person (secrets are replaced).
    Quarantine(Screened, Finding),
    /// It is refused.
    Reject(Rejection),
}

/// Why a draft is refused. Neither field ever repeats what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Memory rejected by Security Guard: {rule}: {reason}")]
pub struct Rejection {
    /// The id of the rule.
    pub rule: String,
    /// The reason in words, never the payload.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_reads_as_the_surface_promises() {
        let rejection = Rejection {
            rule: "jwt".into(),
            reason: "why".into(),
        };
        assert_eq!(
            rejection.to_string(),
            "Memory rejected by Security Guard: jwt: why"
        );
    }
}
