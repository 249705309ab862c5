//! What waits for the server, and what keeps it waiting once the server is there.

use mmw_hooks::spool::{STUCK_AFTER, State};

use super::Finding;
use crate::relay::Relay;
use crate::show::answers::plural;

const ID: &str = "queue";

pub(super) fn examine(relay: &Relay) -> Vec<Finding> {
    match relay.queue() {
        Some(queue) => vec![judge(&queue)],
        None => vec![Finding::bad(
            ID,
            "the queue of writes for the server can't be read",
            "make the folder `spool` in the agent's home readable for you",
        )],
    }
}

fn judge(queue: &State) -> Finding {
    let n = queue.n_waiting;
    let waiting = format!("{n} {} for the server", waits(n, "write"));
    if let Some(paused) = &queue.paused {
        let said = format!("{waiting}, and nothing is sent: {}", paused.why);
        return Finding::bad(
            ID,
            said,
            "set MMW_API_KEY to a key that is taken, then mmw-agent sync",
        );
    }
    if let Some(name) = queue.stuck(STUCK_AFTER) {
        let why = queue.last_error.as_ref().map_or("", |note| &note.why);
        let number = name.number();
        let said = format!("{waiting}, and the first, {number}, is not taken: {why}");
        let fix = format!("mmw-agent sync --list, then mmw-agent sync --set-aside {number}");
        return Finding::bad(ID, said, fix);
    }
    if queue.n_dead + queue.n_corrupt > 0 {
        let (dead, corrupt) = (queue.n_dead, queue.n_corrupt);
        let said = format!("{waiting}; {dead} refused or set aside, {corrupt} can't be read");
        let fix = match dead {
            0 => format!("see docs/spool.md for the files in {}", "corrupt"),
            _ => {
                "mmw-agent status tells why, mmw-agent sync --retry-refused tries again".to_owned()
            }
        };
        return Finding::warning(ID, said, fix);
    }
    match n {
        0 => Finding::good(ID, "nothing waits for the server"),
        _ => Finding::warning(ID, waiting, "mmw-agent sync"),
    }
}

fn waits(n: usize, what: &str) -> String {
    let verb = if n == 1 { "waits" } else { "wait" };
    format!("{} {verb}", plural(n, what))
}

#[cfg(test)]
mod tests {
    use mmw_core::time::Timestamp;
    use mmw_hooks::spool::{Note, Oldest, Spool};

    use super::super::State as Health;
    use super::*;

    #[test]
    fn what_keeps_the_queue_waiting_is_named_with_what_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::from_ms(7);
        let spool = Spool::open(folder.path(), "https://mmw.example").unwrap();
        let empty = spool.state(now).unwrap();
        let check = |queue: &State, health, part: &str| {
            let found = judge(queue);
            assert_eq!(found.state, health, "{found:?}");
            let fix = found.fix.unwrap_or_default();
            assert!(
                format!("{} {fix}", found.said).contains(part),
                "{part}: {}",
                found.said
            );
        };
        check(&empty, Health::Good, "nothing waits");
        let some = State {
            n_waiting: 1,
            oldest: Some(Oldest {
                name: mmw_hooks::spool::EntryName::named("42").unwrap(),
                queued_at: None,
            }),
            ..empty.clone()
        };
        check(&some, Health::Warning, "1 write waits for the server");
        let failing = |why: &str| State {
            n_failed: STUCK_AFTER,
            last_error: Some(Note::new(why, now)),
            ..some.clone()
        };
        check(&failing("no connection"), Health::Warning, "mmw-agent sync");
        check(
            &failing("the server answered 500"),
            Health::Bad,
            "--set-aside 42",
        );
        let paused = State {
            paused: Some(Note::new("the server answered 401", now)),
            ..some
        };
        check(&paused, Health::Bad, "MMW_API_KEY");
        let dead = State { n_dead: 2, ..empty };
        check(&dead, Health::Warning, "--retry-refused");
    }
}
