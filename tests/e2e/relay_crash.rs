//! A queue of writes under kills: of the server, of the agents, at any moment while it is sent. And a long one.
//!
//! Short in every run; `cargo xtask e2e --crash` kills 120 times, and lets 10,000 writes wait instead of 1,500.

use mmw_core::env::{Clock as _, SystemClock};
use mmw_tests::rpc::Era;
use mmw_tests::server::Server;
use mmw_tests::stdio::StdioClient;
use serde_json::json;

use crate::relay_between::{
    Site, content, contents, quick_folder, spool_of, statement, stored_in, until, wait_for,
};

fn is_full() -> bool {
    mmw_tests::environment::choice("MMW_E2E_CRASH").is_some_and(|full| full == "1")
}

/// Numbers that differ from each other and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

#[test]
fn a_server_and_agents_that_are_killed_again_and_again_lose_nothing_double_nothing_and_keep_the_order()
 {
    let n_kills = if is_full() { 120 } else { 16 };
    let each = 12;
    let site = Site::new();
    let spool = site.spool();
    let mut numbers = Numbers(7);
    let mut n_queued = 0;
    let mut server = Some(site.server());
    let mut agent = site.agent();
    for kill in 0..n_kills {
        for _ in 0..each {
            spool.put(&statement(n_queued, SystemClock.now())).unwrap();
            n_queued += 1;
        }
        // The kill comes after another number of sent writes each time, and after another part of the
        // next one: before it is sent, on the way, committed, answered, removed.
        let left = usize::try_from(numbers.below(each as u64)).unwrap();
        // Any answer of the server ends the wait after the last kill.
        let _ = agent.tool("search", &json!({ "query": "anything" }));
        wait_for("some are sent", || spool.waiting().unwrap().len() <= left);
        for _ in 0..numbers.below(300_000) {
            std::hint::spin_loop();
        }
        if kill % 2 == 0 {
            server.take().unwrap().kill();
            server = Some(site.server());
        } else {
            drop(agent);
            agent = site.agent();
        }
    }
    let told = until(&mut agent, "all is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    assert_eq!(told["queue"]["unreadable"], 0, "{told:#}");
    drop(server);
    assert_eq!(site.stored(), contents(n_queued));
    // And each kill led to one sending more at most.
    let n_sent = site.between.sent().len();
    assert!(n_sent <= n_queued + n_kills, "{n_sent} of {n_queued}");
}

#[test]
fn a_long_queue_is_sent_in_order_while_the_agent_answers_and_what_is_said_meanwhile_comes_last() {
    let n = if is_full() { 10_000 } else { 1_500 };
    let (folder, home) = (quick_folder(), quick_folder());
    let server = Server::start(folder.path());
    let key = server.first_key();
    let spool = spool_of(home.path(), &server.url);
    for nth in 0..n {
        spool.put(&statement(nth, SystemClock.now())).unwrap();
    }
    let mut agent = StdioClient::relay(home.path(), &server.url, &key, Era::Modern);
    let listed = agent.call("tools/list", json!({})).to_string();
    assert!(listed.contains("\"remember\""), "{listed}");
    // Queued or not, its turn is behind what was said before.
    let last = agent.tool("remember", &json!({ "content": content(n) }));
    assert!(!last.is_error, "{}", last.text);
    let told = until(&mut agent, "all is sent", |told| {
        told["queue"]["waiting"] == 0
    });
    assert_eq!(told["queue"]["dead"], 0, "{told:#}");
    drop(agent);
    assert!(server.stop().success());
    assert_eq!(stored_in(folder.path()), contents(n + 1));
}

#[test]
fn two_agents_on_one_home_send_everything_once_and_in_order() {
    let site = Site::new();
    let spool = site.spool();
    let n = 200;
    for nth in 0..n {
        spool.put(&statement(nth, SystemClock.now())).unwrap();
    }
    let mut agents = [site.agent(), site.agent()];
    // While no server is there, each adds to the queue.
    for nth in n..n + 10 {
        let fact = json!({ "content": content(nth) });
        let queued = agents[nth % 2].tool("remember", &fact);
        assert_eq!(queued.structured["queued"], true, "{}", queued.text);
    }
    let server = site.server();
    for agent in &mut agents {
        until(agent, "all is sent", |told| told["queue"]["waiting"] == 0);
    }
    drop(server);
    assert_eq!(site.stored(), contents(n + 10));
    assert_eq!(site.between.sent(), contents(n + 10), "each was sent once");
}
