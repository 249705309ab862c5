//! No command: MCP on standard input and output, on the store of this computer.
//!
//! The store is opened and git asked when the first call needs them, so that `initialize` is
//! answered at once. Standard output is the protocol's from here on.

use std::sync::Arc;

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::Way;
use mmw_server::mcp::{Embedded, serve_stdio};

use super::Desk;
use crate::exit::{Exit, Trouble, chain};
use crate::show;

/// Serves until the input ends.
pub(super) fn run(desk: Desk) -> Result<Exit, Trouble> {
    if desk.terminal.stdin {
        show::say(
            "mmw-agent speaks MCP here and waits for a client; `mmw-agent --help` lists the \
             commands for you. Ctrl-D ends it.\n",
        );
    }
    let opener = Arc::new(desk.local);
    let caller = Arc::clone(&opener);
    let embedded = Embedded {
        open: Box::new(move || opener.memory()),
        caller: Box::new(move |_| caller.caller(Way::Stdio)),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Trouble::usage(format!("the program can't start: {error}")))?;
    let served = runtime.block_on(serve_stdio(embedded));
    // A read of standard input that nobody will answer must not hold the program back.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Err(Trouble::usage(chain(&error))),
    }
}
