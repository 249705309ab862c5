//! The desk: where every call of MCP and REST comes to, and is checked, run and counted alike.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use mmw_core::env::Clock;
use mmw_core::place::{Caller, Reviewer};
use mmw_core::plan::{AccountState, Limits, may_use};
use mmw_core::wire::EnvelopeArgs;
use serde_json::Value;

use crate::actions::{Action, Answer, Asked, Object, Question, Registry};
use crate::fault::Fault;
use crate::lane::Lane;
use crate::metrics;

/// The header that carries an idempotency key, over REST and over MCP.
pub const IDEMPOTENCY_KEY_HEADER: &str = "x-idempotency-key";

/// Who calls, and what the account may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The caller.
    pub caller: Caller,
    /// The state of the account.
    pub state: AccountState,
    /// The limits of the project.
    pub limits: Limits,
}

impl Access {
    /// Returns the access of a caller on an embedded store: nothing is limited there.
    #[must_use]
    pub fn local(caller: Caller) -> Self {
        Self {
            caller,
            state: AccountState::Active,
            limits: Limits::default(),
        }
    }
}

/// One call, before it is checked.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// The arguments as they were written.
    pub arguments: Object,
    /// What the agent adds to a write.
    pub envelope: EnvelopeArgs,
    /// The proof that a person decides, if they were asked.
    pub reviewer: Option<Reviewer>,
    /// Whoever asks compares files itself, and takes out of the answer what that takes.
    pub compares: bool,
}

/// The desk. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    /// The way to the memory.
    pub lane: Lane,
    /// What can be done.
    pub actions: Registry,
    /// The clock that ages are told by.
    pub clock: Arc<dyn Clock>,
}

impl Desk {
    /// Checks a call and runs it.
    ///
    /// # Errors
    /// The first thing that does not allow it, or whatever it runs into.
    pub async fn call(&self, name: &str, access: &Access, order: Order) -> Result<Answer, Fault> {
        let begun = Instant::now();
        let outcome = self.call_uncounted(name, access, order).await;
        let code = outcome.as_ref().err().map(|fault| fault.code);
        metrics::called(name, access.caller.way, code, begun.elapsed());
        tracing::info!(
            tool = name,
            way = access.caller.way.name(),
            project = %access.caller.project,
            outcome = code.map_or("ok", |code| code.name()),
            took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            "called"
        );
        outcome
    }

    async fn call_uncounted(
        &self,
        name: &str,
        access: &Access,
        order: Order,
    ) -> Result<Answer, Fault> {
        let (arguments, asked) = self.check(self.action(name)?, access, order)?;
        self.run(name, move |action, memory| {
            action.call(memory, &asked, &arguments)
        })
        .await
    }

    /// Checks a call and returns the question that a person must answer before it is run; none if
    /// the key may decide, or if nobody has to be asked.
    ///
    /// # Errors
    /// As [`Desk::call`].
    pub async fn question(
        &self,
        name: &str,
        access: &Access,
        order: Order,
    ) -> Result<Option<Question>, Fault> {
        let action = self.action(name)?;
        let (arguments, asked) = self.check(action, access, order)?;
        if asked.reviewer.is_some() || !action.can_ask() {
            return Ok(None);
        }
        self.run(name, move |action, memory| {
            action.question(memory, &asked, &arguments)
        })
        .await
    }

    fn action(&self, name: &str) -> Result<&Action, Fault> {
        // The protocols look names up before they come here.
        self.actions.get(name).ok_or_else(Fault::internal)
    }

    fn check(
        &self,
        action: &Action,
        access: &Access,
        order: Order,
    ) -> Result<(Object, Asked), Fault> {
        action.permit(&access.caller)?;
        may_use(access.state, action.facts.scope)?;
        let arguments = action.check(order.arguments)?;
        let asked = Asked {
            caller: access.caller.clone(),
            envelope: order.envelope,
            reviewer: order.reviewer.or_else(|| Reviewer::by_key(&access.caller)),
            now: self.clock.now(),
            compares: order.compares,
        };
        Ok((arguments, asked))
    }

    async fn run<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce(&Action, &mmw_store::Memory) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let actions = self.actions.clone();
        let errand = self.action(name)?.facts.errand;
        let name = name.to_owned();
        self.lane
            .run(errand, move |memory| {
                let action = actions.get(&name).ok_or_else(Fault::internal)?;
                work(action, memory)
            })
            .await
    }
}

/// Takes the idempotency key of the header, if there is one, into what the agent adds.
///
/// # Errors
/// A key that is no ASCII, or another one than the envelope has.
pub fn key_of_header(headers: &HeaderMap, envelope: &mut EnvelopeArgs) -> Result<(), Fault> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY_HEADER) else {
        return Ok(());
    };
    let key = key
        .to_str()
        .map_err(|_| Fault::argument(IDEMPOTENCY_KEY_HEADER, "must be plain ASCII"))?;
    if envelope.idempotency_key.get_or_insert(key.to_owned()) != key {
        return Err(Fault::argument(
            IDEMPOTENCY_KEY_HEADER,
            "is not the `idempotency_key` of the envelope: give one of them, or the same in both",
        ));
    }
    Ok(())
}

/// Reads what an agent adds to a write. Unknown keys are ignored.
///
/// # Errors
/// A value of another type.
pub fn envelope(value: Option<&Value>) -> Result<EnvelopeArgs, Fault> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(EnvelopeArgs::default());
    };
    serde_path_to_error::deserialize(value).map_err(|error| {
        Fault::argument(format!("envelope.{}", error.path()), "has the wrong form")
    })
}
