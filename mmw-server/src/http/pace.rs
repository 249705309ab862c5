//! How often a project may call: its limit of calls a minute.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use mmw_core::ids::ProjectId;
use mmw_core::plan::Limits;

use crate::fault::{Code, Fault};

/// The paces of all projects that have a limit.
#[derive(Default)]
pub struct Pace {
    // One small entry a project with a limit: bounded by what the operator made.
    by_project: Mutex<HashMap<ProjectId, (NonZeroU32, Arc<DefaultDirectRateLimiter>)>>,
    clock: DefaultClock,
}

impl Pace {
    /// Counts a call.
    ///
    /// # Errors
    /// `rate_limited` with the time after which one call more fits.
    pub fn keep(&self, project: ProjectId, limits: &Limits) -> Result<(), Fault> {
        let Some(limit) = limits.max_calls_per_minute else {
            return Ok(());
        };
        let Some(per_minute) = NonZeroU32::new(limit) else {
            return Err(refusal(limit, 60));
        };
        let limiter = self.limiter(project, per_minute);
        limiter.check().map_err(|early| {
            let wait = early.wait_time_from(self.clock.now());
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            refusal(limit, u32::try_from(seconds.max(1)).unwrap_or(60))
        })
    }

    fn limiter(&self, project: ProjectId, per_minute: NonZeroU32) -> Arc<DefaultDirectRateLimiter> {
        let mut paces = self
            .by_project
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match paces.get(&project) {
            Some((limit, limiter)) if *limit == per_minute => Arc::clone(limiter),
            _ => {
                let limiter = Arc::new(RateLimiter::direct(Quota::per_minute(per_minute)));
                paces.insert(project, (per_minute, Arc::clone(&limiter)));
                limiter
            }
        }
    }
}

fn refusal(per_minute: u32, retry_after_s: u32) -> Fault {
    Fault {
        retry_after_s: Some(retry_after_s),
        ..Fault::new(
            Code::RateLimited,
            format!("this project may make {per_minute} calls a minute"),
        )
    }
}

#[cfg(test)]
mod tests {
    use mmw_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_project_is_held_at_its_limit_and_others_go_on() {
        let pace = Pace::default();
        let project = |n| ProjectId::from_parts(Timestamp::from_ms(n), [0; 10]);
        let limits = Limits {
            max_calls_per_minute: Some(2),
            ..Limits::default()
        };
        assert_eq!(pace.keep(project(1), &limits), Ok(()));
        assert_eq!(pace.keep(project(1), &limits), Ok(()));
        let held = pace.keep(project(1), &limits).unwrap_err();
        assert_eq!(held.code, Code::RateLimited);
        assert!((1..=30).contains(&held.retry_after_s.unwrap()));
        assert_eq!(pace.keep(project(2), &limits), Ok(()));
        assert_eq!(pace.keep(project(1), &Limits::default()), Ok(()));
    }
}
