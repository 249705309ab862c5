//! The system's clock against what is stored: one that was set back puts new facts behind old ones.

use std::path::Path;
use std::time::UNIX_EPOCH;

use mmw_core::time::Timestamp;

use super::Finding;

/// 2026-01-01: no program of this kind ran before.
const EARLIEST: Timestamp = Timestamp::from_ms(1_767_225_600_000);
/// Disks of other computers may tell a slightly other time: two minutes.
const TOLERATED_MS: i64 = 120_000;

pub(super) fn examine(store: &Path, now: Timestamp) -> Vec<Finding> {
    vec![judge(written_at(store), now)]
}

fn judge(written_at: Option<Timestamp>, now: Timestamp) -> Finding {
    const ID: &str = "clock";
    const FIX: &str = "set the clock of this computer";
    if now < EARLIEST {
        return Finding::bad(ID, format!("the clock says {now}, which can't be"), FIX);
    }
    match written_at {
        Some(written) if now.plus_ms(TOLERATED_MS) < written => {
            let said = format!("the clock says {now}, but the store was written at {written}");
            Finding::bad(ID, said, FIX)
        }
        _ => Finding::good(ID, format!("the clock says {now}")),
    }
}

/// Returns when a file was written last.
fn written_at(file: &Path) -> Option<Timestamp> {
    let modified = std::fs::metadata(file).ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_ms(i64::try_from(since.as_millis()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_is_told_of() {
        let check = |now: i64, written: Option<i64>, state| {
            let moment = |days: i64| EARLIEST.plus_ms(days * 86_400_000);
            assert_eq!(judge(written.map(moment), moment(now)).state, state);
        };
        check(-1, None, State::Bad);
        check(1, None, State::Good);
        check(10, Some(9), State::Good);
        check(10, Some(10), State::Good);
        check(10, Some(11), State::Bad);
    }
}
