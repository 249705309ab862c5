//! Saves many statements with one wait for the disk.

use mmw_core::place::{Caller, Scope};
use mmw_core::wire::{EnvelopeArgs, RememberAnswer, RememberArgs};

use super::Memory;
use super::failure::{Failure, RememberError};
use super::remember::{Prepared, answer};
use crate::engine::{Txn, write};

/// The most statements of one call: a transaction holds up every other writer.
pub const MAX_BULK: usize = 1_000;

impl Memory {
    /// Saves statements in their order, in one transaction. Each is screened, decided and answered
    /// as [`Memory::remember`] would; one that is refused leaves the others alone.
    ///
    /// # Errors
    /// [`Failure`] if nothing at all was saved: the caller may not write, there are more than
    /// [`MAX_BULK`] statements, or the store failed.
    pub fn remember_all(
        &self,
        caller: &Caller,
        statements: Vec<(RememberArgs, EnvelopeArgs)>,
    ) -> Result<Vec<Result<RememberAnswer, RememberError>>, Failure> {
        self.need(caller, Scope::Write)?;
        if statements.len() > MAX_BULK {
            let why = format!(
                "are {}; at most {MAX_BULK} are saved at once",
                statements.len()
            );
            return Err(mmw_core::validation::Invalid::new("statements", why).into());
        }
        let now = self.clock.now();
        let mut prepared: Vec<Result<Prepared, Option<RememberError>>> = Vec::new();
        for (args, envelope) in statements {
            let one = args
                .into_draft(&envelope)
                .map_err(RememberError::from)
                .and_then(|draft| self.prepare(caller, draft, now));
            prepared.push(one.map_err(Some));
        }
        // Refusals of the store's rules do not undo the transaction: they wrote nothing.
        let mut answers = write(self.engine(), |txn: &mut dyn Txn| {
            let mut answers = Vec::with_capacity(prepared.len());
            for one in prepared.iter() {
                answers.push(match one {
                    Err(_) => None,
                    Ok(one) => Some(match one.commit(txn, caller, now)? {
                        Ok(outcome) => Ok(answer(self, txn.snapshot(), &outcome, now)?),
                        Err(refused) => Err(refused),
                    }),
                });
            }
            Ok(answers)
        })?;
        self.meaning.wake();
        Ok(prepared
            .iter_mut()
            .zip(&mut answers)
            .map(|(one, answered)| match (one, answered.take()) {
                (_, Some(answered)) => answered,
                (Err(refused), None) => Err(refused.take().expect("a refusal is handed out once")),
                (Ok(_), None) => unreachable!("what was prepared was answered"),
            })
            .collect())
    }
}
