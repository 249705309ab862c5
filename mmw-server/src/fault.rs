//! What a caller is told when something could not be done: one form for MCP, REST and commands.
//!
//! Each operation's error is matched once, here. The log gets the chain of causes, the caller the
//! message; contents and keys are in neither.

use std::fmt;

use mmw_core::plan::Refusal;
use mmw_core::validation::Invalid;
use mmw_store::engine::EngineError;
use mmw_store::{Failure, RememberError};
use serde_json::{Map, Value, json};

/// How long a caller is asked to wait when the server is busy, in seconds.
pub const BUSY_RETRY_SECONDS: u32 = 1;

/// The stable code of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// An argument can't be accepted.
    InvalidArgument,
    /// The body is no JSON.
    MalformedJson,
    /// The body is JSON, but no request.
    InvalidRequest,
    /// No key, or one that does not work.
    Unauthorized,
    /// The key lacks a scope, or only a person may do this.
    Forbidden,
    /// The request names a host or comes from a web page that is not served.
    HostNotAllowed,
    /// Nothing of that id (or address) is here for this caller.
    NotFound,
    /// The address takes another HTTP method.
    MethodNotAllowed,
    /// The idempotency key was used for another request.
    IdempotencyConflict,
    /// The write was said to a project that the key is not of.
    OtherProject,
    /// The body is above the limit.
    TooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The guard refused the write.
    RejectedByGuard,
    /// The project is full.
    LimitReached,
    /// The account is in its grace period.
    ReadOnly,
    /// The account is suspended.
    Suspended,
    /// A person was asked and did not agree.
    Declined,
    /// Too many calls in a minute.
    RateLimited,
    /// All turns are taken, or the server is stopping.
    Busy,
    /// The store can't be written to.
    Unavailable,
    /// The server's own fault.
    Internal,
}

impl Code {
    /// Every code, for the generated documents.
    pub const ALL: [Self; 21] = [
        Self::InvalidArgument,
        Self::MalformedJson,
        Self::InvalidRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::HostNotAllowed,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::IdempotencyConflict,
        Self::OtherProject,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::RejectedByGuard,
        Self::LimitReached,
        Self::ReadOnly,
        Self::Suspended,
        Self::Declined,
        Self::RateLimited,
        Self::Busy,
        Self::Unavailable,
        Self::Internal,
    ];

    /// Returns the name that callers see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::MalformedJson => "malformed_json",
            Self::InvalidRequest => "invalid_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::HostNotAllowed => "host_not_allowed",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::IdempotencyConflict => "idempotency_conflict",
            Self::OtherProject => "other_project",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::RejectedByGuard => "rejected_by_guard",
            Self::LimitReached => "limit_reached",
            Self::ReadOnly => "read_only",
            Self::Suspended => "suspended",
            Self::Declined => "declined",
            Self::RateLimited => "rate_limited",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// Returns the HTTP status that REST answers with (`3-surface.md`, "Errors").
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidArgument | Self::MalformedJson | Self::InvalidRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden
            | Self::HostNotAllowed
            | Self::LimitReached
            | Self::ReadOnly
            | Self::Suspended
            | Self::Declined => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::IdempotencyConflict => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::OtherProject => 421,
            Self::RejectedByGuard => 422,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::Busy | Self::Unavailable => 503,
        }
    }

    /// Tells whether `/mcp` answers with this HTTP status too, instead of a tool error over 200.
    #[must_use]
    pub const fn is_of_the_transport(self) -> bool {
        matches!(self, Self::IdempotencyConflict | Self::Busy)
    }

    /// Returns the code of a JSON-RPC error. Those that JSON-RPC does not name are the HTTP status,
    /// outside the range that the protocol reserves.
    #[must_use]
    pub const fn rpc(self) -> i32 {
        match self {
            Self::MalformedJson => -32700,
            Self::InvalidRequest | Self::UnsupportedMediaType => -32600,
            Self::InvalidArgument => -32602,
            Self::Internal => -32603,
            other => other.status() as i32,
        }
    }
}

/// What could not be done, for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stable code.
    pub code: Code,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The argument that it is about.
    pub field: Option<String>,
    /// After how many seconds it is worth trying again.
    pub retry_after_s: Option<u32>,
}

impl Fault {
    /// Returns a fault.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            field: None,
            retry_after_s: matches!(code, Code::Busy).then_some(BUSY_RETRY_SECONDS),
        }
    }

    /// Returns a refusal of an argument.
    pub fn argument(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            ..Self::new(Code::InvalidArgument, problem)
        }
    }

    /// Returns the fault with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns that the server's own part failed; the log has the rest.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            Code::Internal,
            "the server failed at this; its log says why",
        )
    }

    /// Returns the form in which programs read it: `{code, message, hint, field}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("code".to_owned(), json!(self.code.name()));
        object.insert("message".to_owned(), json!(self.message));
        for (name, value) in [("field", &self.field), ("hint", &self.hint)] {
            if let Some(value) = value {
                object.insert(name.to_owned(), json!(value));
            }
        }
        Value::Object(object)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code.name())?;
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, ". {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl From<Invalid> for Fault {
    fn from(invalid: Invalid) -> Self {
        Self::argument(invalid.field, invalid.problem)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::ReadOnly => Code::ReadOnly,
            Refusal::Suspended => Code::Suspended,
            Refusal::RecordLimit { .. } => Code::LimitReached,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        let code = match &error {
            EngineError::Busy => Code::Busy,
            EngineError::DiskFull | EngineError::ReadOnly => Code::Unavailable,
            EngineError::Corrupt(_) | EngineError::NewerSchema { .. } => Code::Internal,
            _ => {
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                return Self::internal();
            }
        };
        tracing::error!(code = code.name(), "{error}");
        Self::new(code, error.to_string())
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Invalid(invalid) => invalid.into(),
            Failure::Rejected(rejection) => Self::new(Code::RejectedByGuard, rejection.to_string()),
            Failure::Plan(refusal) => refusal.into(),
            Failure::Engine(error) => error.into(),
            Failure::Forbidden(_) => Self::new(Code::Forbidden, failure.to_string()),
            // Of all that is looked for, facts alone have a key in place of an id.
            Failure::NotFound("fact") => {
                Self::new(Code::NotFound, "there is no fact with that key here")
            }
            Failure::NotFound(_) => Self::new(Code::NotFound, failure.to_string()),
            other => {
                tracing::error!(error = &other as &dyn std::error::Error, "not foreseen");
                Self::internal()
            }
        }
    }
}

impl From<RememberError> for Fault {
    fn from(error: RememberError) -> Self {
        match error {
            RememberError::Common(failure) => failure.into(),
            RememberError::Rejected(rejection) => {
                Self::new(Code::RejectedByGuard, rejection.to_string())
            }
            RememberError::IdempotencyConflict => {
                Self::new(Code::IdempotencyConflict, error.to_string())
            }
            other => {
                tracing::error!(error = &other as &dyn std::error::Error, "not foreseen");
                Self::internal()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_each_code_is_the_contract_s() {
        for (code, status) in [
            (Code::MalformedJson, 400),
            (Code::InvalidArgument, 400),
            (Code::Unauthorized, 401),
            (Code::Forbidden, 403),
            (Code::NotFound, 404),
            (Code::IdempotencyConflict, 409),
            (Code::RejectedByGuard, 422),
            (Code::LimitReached, 403),
            (Code::RateLimited, 429),
            (Code::TooLarge, 413),
            (Code::ReadOnly, 403),
            (Code::Suspended, 403),
            (Code::Busy, 503),
        ] {
            assert_eq!(code.status(), status, "{}", code.name());
        }
    }

    #[test]
    fn no_code_of_ours_lies_in_the_protocol_s_range_but_its_own() {
        for code in Code::ALL {
            let rpc = code.rpc();
            assert!(rpc > 0 || matches!(rpc, -32700 | -32600 | -32602 | -32603));
        }
    }

    #[test]
    fn a_fault_reads_as_one_line_with_code_field_and_advice() {
        let fault = Fault::argument("limit", "must be at most 50").hint("Ask for less.");
        assert_eq!(
            fault.to_string(),
            "invalid_argument: limit: must be at most 50. Ask for less."
        );
    }
}
