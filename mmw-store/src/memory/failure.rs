//! What can go wrong in a use case, as far as a caller would act differently on it.

use mmw_core::place::Scope;
use mmw_core::plan::Refusal;
use mmw_core::validation::Invalid;
use mmw_guard::Rejection;

use crate::engine::EngineError;

/// What can go wrong in every use case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// An argument can't be accepted.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The key lacks a scope.
    #[error("this key may not do that: it lacks the scope `{}`", .0.name())]
    Forbidden(Scope),
    /// Nothing of that id is to be seen. The words are the same for an absent and a foreign id.
    #[error("there is no {0} with that id here")]
    NotFound(&'static str),
    /// The guard refused a note, or the project's policy can't be read. The message never echoes
    /// the payload.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The plan does not allow it.
    #[error(transparent)]
    Plan(#[from] Refusal),
    /// The store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What can go wrong when something is saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RememberError {
    /// As everywhere.
    #[error(transparent)]
    Common(#[from] Failure),
    /// The guard refused it. The message never echoes the payload.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The idempotency key was used for another request.
    #[error(
        "this idempotency key was used for a different request before; use a new key for a new \
         statement"
    )]
    IdempotencyConflict,
}

impl From<Invalid> for RememberError {
    fn from(invalid: Invalid) -> Self {
        Self::Common(invalid.into())
    }
}

impl From<Refusal> for RememberError {
    fn from(refusal: Refusal) -> Self {
        Self::Common(refusal.into())
    }
}

impl From<EngineError> for RememberError {
    fn from(error: EngineError) -> Self {
        Self::Common(error.into())
    }
}
