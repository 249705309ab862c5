//! The system's clock against what is stored, and against a server's: one that was set back puts new facts behind
//! old ones.

use std::path::Path;
use std::time::UNIX_EPOCH;

use mmw_core::time::Timestamp;

use super::Finding;
use crate::connect::places::System;

const ID: &str = "clock";

/// 2026-01-01: no program of this kind ran before.
const EARLIEST: Timestamp = Timestamp::from_ms(1_767_225_600_000);
/// Disks of other computers may tell a slightly other time: two minutes.
const TOLERATED_MS: i64 = 120_000;

pub(super) fn examine(store: &Path, now: Timestamp) -> Vec<Finding> {
    vec![judge(written_at(store), now)]
}

fn judge(written_at: Option<Timestamp>, now: Timestamp) -> Finding {
    let fix = fix(System::HERE);
    if now < EARLIEST {
        return Finding::bad(ID, format!("the clock says {now}, which can't be"), fix);
    }
    match written_at {
        Some(written) if now.plus_ms(TOLERATED_MS) < written => {
            let said = format!("the clock says {now}, but the store was written at {written}");
            Finding::bad(ID, said, fix)
        }
        _ => Finding::good(ID, format!("the clock says {now}")),
    }
}

/// Compares the clock with the one of a server, which says the whole second.
pub(super) fn beside(server: Timestamp, now: Timestamp) -> Finding {
    const ID: &str = "server_clock";
    let off_by = now.as_ms() - server.as_ms();
    if off_by.abs() <= TOLERATED_MS {
        return Finding::good(ID, "the server's clock says the same");
    }
    let (seconds, way) = (
        off_by.abs() / 1_000,
        if off_by > 0 { "ahead of" } else { "behind" },
    );
    let much = match seconds {
        ..7_200 => format!("{} minutes", seconds / 60),
        7_200..172_800 => format!("{} hours", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    };
    let said = format!(
        "the clock says {now} and is {much} {way} the server's: what is said now counts as said at another time"
    );
    Finding::bad(ID, said, fix(System::HERE))
}

/// Returns the command that sets a clock by the network's.
fn fix(system: System) -> &'static str {
    match system {
        System::Unix => "sudo timedatectl set-ntp true",
        System::Mac => "sudo sntp -sS time.apple.com",
        System::Windows => "w32tm /resync",
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

    #[test]
    fn a_clock_far_from_the_servers_is_told_of_with_how_far_and_which_way() {
        let server = EARLIEST.plus_ms(86_400_000_000);
        let check = |off_by_s: i64, state, part: &str| {
            let found = beside(server, server.plus_ms(off_by_s * 1_000));
            assert_eq!(found.state, state, "{}", found.said);
            assert!(found.said.contains(part), "{part}: {}", found.said);
            assert_eq!(found.fix.is_some(), state == State::Bad);
        };
        for near in [0, 1, -1, 120, -120] {
            check(near, State::Good, "the same");
        }
        check(121, State::Bad, "2 minutes ahead of");
        check(-7_200, State::Bad, "2 hours behind");
        check(3_600 * 24 * 365, State::Bad, "365 days ahead of");
    }
}
