//! Background work, one errand at a time: the jobs of the job table, and what time alone brings.
//!
//! A job is taken for a lease: a worker that died loses nothing, another one takes it when the
//! lease has ended. A job that keeps failing is put aside, with the error, for a person.

use std::sync::Arc;
use std::time::Duration;

use mmw_core::capture::WAITING_DAYS;
use mmw_core::env::Clock;
use mmw_core::time::{DAY_MS, Timestamp};
use mmw_store::Memory;
use mmw_store::engine::{self, Txn};
use tokio_util::sync::CancellationToken;

use crate::fault::Fault;
use crate::lane::{Errand, Lane};
use crate::metrics;

/// How often the job table is looked at.
const ROUND: Duration = Duration::from_secs(30);

/// How long a worker may take for one job, in milliseconds.
const LEASE_MS: i64 = 5 * 60 * 1000;

/// How often a job is tried before it is put aside.
const MAX_ATTEMPTS: u32 = 5;

/// How long a failed job rests before it is tried again, in milliseconds; doubled each time.
const REST_MS: i64 = 60 * 1000;

/// Jobs of one round, so that a round ends.
const MAX_JOBS_A_ROUND: usize = 100;

/// The kind of the job that erases what waited in the review lane for too long.
pub const EXPIRE_LANE: &str = "expire_lane";

/// Works until `stop` is cancelled.
pub async fn run(lane: Lane, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let mut rounds = tokio::time::interval(ROUND);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = rounds.tick() => {}
            () = stop.cancelled() => return,
        }
        let now = clock.now();
        let round = lane.run(Errand::Background, move |memory| round(memory, now));
        if let Err(fault) = round.await {
            tracing::warn!(code = fault.code.name(), "a round of upkeep failed");
        }
    }
}

/// Does what is due at a moment. Returns how many jobs were worked on.
fn round(memory: &Memory, now: Timestamp) -> Result<usize, Fault> {
    let engine = memory.engine();
    let n_expired = engine::write(engine, |txn| expire_lane(txn, now))?;
    if n_expired > 0 {
        tracing::info!(n_expired, "items of the review lane expired");
    }
    embed(memory)?;
    let mut n_jobs = 0;
    while n_jobs < MAX_JOBS_A_ROUND {
        let taken = engine::write(engine, |txn| txn.take_job(now, now.plus_ms(LEASE_MS)))?;
        let Some((id, kind, _payload, n_attempts)) = taken else {
            break;
        };
        n_jobs += 1;
        let done = match kind.as_str() {
            EXPIRE_LANE => engine::write(engine, |txn| expire_lane(txn, now)).map(|_| ()),
            _ => {
                // A newer program's job: kept for it.
                engine::write(engine, |txn| {
                    txn.postpone_job(id, None, "this program does not know such jobs")
                })?;
                metrics::worked("unknown", "aside");
                continue;
            }
        };
        match done {
            Ok(()) => {
                engine::write(engine, |txn| txn.finish_job(id))?;
                metrics::worked(&kind, "done");
            }
            Err(error) => {
                tracing::warn!(%id, kind, n_attempts, %error, "a job failed");
                let rest_ms = REST_MS << n_attempts.min(10);
                let again = (n_attempts < MAX_ATTEMPTS).then(|| now.plus_ms(rest_ms));
                engine::write(engine, |txn| {
                    txn.postpone_job(id, again, &error.to_string())
                })?;
                metrics::worked(&kind, "failed");
            }
        }
    }
    Ok(n_jobs)
}

/// Sees to it that what waits for a vector gets one: after another model was chosen, say.
fn embed(memory: &Memory) -> Result<(), Fault> {
    let Some(progress) = memory.embed_in_background()? else {
        metrics::without_vector(0);
        return Ok(());
    };
    let (n_embedded, n_records) = (progress.n_embedded, progress.n_records);
    tracing::info!(
        n_embedded,
        n_records,
        model = progress.model,
        "records wait for a vector"
    );
    metrics::without_vector(n_records.saturating_sub(n_embedded));
    Ok(())
}

fn expire_lane(txn: &mut dyn Txn, now: Timestamp) -> engine::EngineResult<u32> {
    txn.expire_lane_items(now.plus_ms(-WAITING_DAYS * DAY_MS))
}

#[cfg(test)]
mod tests {
    use mmw_core::ids::JobId;

    use super::*;
    use crate::testing::memory;

    fn job(memory: &Memory, n: u8, kind: &str, due_at: Timestamp) {
        let id = JobId::from_parts(due_at, [n; 10]);
        engine::write(memory.engine(), |txn| {
            txn.enqueue_job(id, kind, "{}", due_at)
        })
        .unwrap();
    }

    #[test]
    fn due_jobs_are_done_once_and_later_ones_wait() {
        let (memory, _folder) = memory();
        let now = Timestamp::parse("2026-11-29").unwrap();
        job(&memory, 1, EXPIRE_LANE, now);
        job(&memory, 2, EXPIRE_LANE, now.plus_ms(1));
        assert_eq!(round(&memory, now), Ok(1));
        assert_eq!(round(&memory, now), Ok(0));
        assert_eq!(round(&memory, now.plus_ms(1)), Ok(1));
    }

    #[test]
    fn a_job_of_an_unknown_kind_is_put_aside_and_does_not_block_others() {
        let (memory, _folder) = memory();
        let now = Timestamp::parse("2026-11-29").unwrap();
        job(&memory, 1, "of_the_future", now);
        job(&memory, 2, EXPIRE_LANE, now);
        assert_eq!(round(&memory, now), Ok(2));
        assert_eq!(round(&memory, now.plus_ms(DAY_MS)), Ok(0));
    }
}
