//! What listens at the server's address, asked without the key: nothing, something else, or a server, whose
//! clock is then compared with this computer's.

use mmw_core::time::Timestamp;

use super::Finding;
use super::clock;
use crate::connect::places::System;
use crate::relay::{Knock, Relay};

const ID: &str = "address";

/// Tells what was found, and whether it makes sense to speak to it.
pub(super) fn examine(relay: &Relay, now: Timestamp) -> (Vec<Finding>, bool) {
    let endpoint = relay.endpoint();
    let (shown, fixes) = (endpoint.to_string(), Fixes::of(endpoint.local_port()));
    match relay.knock() {
        Knock::Nobody(why) => {
            let said = format!("the server {shown} can't be reached: {why}");
            (vec![Finding::bad("server", said, fixes.start())], false)
        }
        Knock::Silent(why) => {
            let said = format!("something listens at {shown}, and it is no memory server: {why}");
            (
                vec![Finding::bad(ID, said, fixes.take_away(System::HERE))],
                false,
            )
        }
        Knock::Answered { is_memory, date } => {
            let mut found = Vec::new();
            if !is_memory {
                let said = format!("what answers at {shown} is no memory server");
                found.push(Finding::bad(ID, said, fixes.take_away(System::HERE)));
            }
            let date = date.filter(|_| is_memory);
            found.extend(date.map(|date| clock::beside(date, now)));
            (found, is_memory)
        }
    }
}

/// What mends an address.
struct Fixes {
    /// The port, if it is this computer's.
    local_port: Option<u16>,
}

impl Fixes {
    const fn of(local_port: Option<u16>) -> Self {
        Self { local_port }
    }

    fn start(&self) -> String {
        match self.local_port {
            Some(port) => format!("mmw-server serve --listen 127.0.0.1:{port}"),
            None => "see that the server runs and that MMW_ENDPOINT is its address".to_owned(),
        }
    }

    fn take_away(&self, system: System) -> String {
        let Some(port) = self.local_port else {
            return "set MMW_ENDPOINT to the server's address".to_owned();
        };
        let who = match system {
            System::Unix => format!("ss -ltnp 'sport = :{port}'"),
            System::Mac => format!("lsof -nP -iTCP:{port} -sTCP:LISTEN"),
            System::Windows => format!("netstat -ano | findstr :{port}"),
        };
        format!(
            "{who} names the program that has the port: end it, or start mmw-server with another --listen and set \
             MMW_ENDPOINT to it"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_of_this_computer_is_mended_here_and_another_by_its_address() {
        let here = Fixes::of(Some(7667));
        assert!(here.start().ends_with("--listen 127.0.0.1:7667"));
        for system in [System::Unix, System::Mac, System::Windows] {
            assert!(here.take_away(system).contains(":7667"));
        }
        let there = Fixes::of(None);
        for fix in [there.start(), there.take_away(System::Unix)] {
            assert!(
                fix.contains("MMW_ENDPOINT") && !fix.contains("ss "),
                "{fix}"
            );
        }
    }
}
