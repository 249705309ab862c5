//! Which clients are connected, to a program that is there, and only once.

use std::path::Path;

use super::Finding;
use super::elsewhere::{Elsewhere, From, elsewhere};
use crate::config::Config;
use crate::connect::client::{ALL, Client};
use crate::connect::entry::Entry;
use crate::connect::registered::{Registered, registered};

const ID: &str = "client";

pub(super) fn examine(config: &Config, entry: &Entry) -> Vec<Finding> {
    if !config.places.are_known() {
        let said = "there is no home folder in which clients would keep their settings";
        return vec![Finding::bad(
            ID,
            said,
            "set HOME to the whole path of yours",
        )];
    }
    let here: Vec<&Client> = ALL
        .iter()
        .filter(|one| one.is_here(&config.places))
        .collect();
    if here.is_empty() {
        let said = "none of the clients that can be connected is on this computer";
        return vec![Finding::skipped(ID, said)];
    }
    here.into_iter()
        .map(|client| examine_client(client, config, entry))
        .collect()
}

fn examine_client(client: &Client, config: &Config, entry: &Entry) -> Finding {
    let (name, fix) = (
        client.name,
        format!("mmw-agent connect --client {}", client.id),
    );
    let mut servers = Vec::new();
    let mut hooks = Vec::new();
    for setting in client.settings(&config.places, entry, true) {
        match registered(&setting) {
            Ok(found) => {
                let (server, hook) = found.into_iter().partition(|one| one.server.is_some());
                servers.extend::<Vec<Registered>>(server);
                hooks.extend::<Vec<Registered>>(hook);
            }
            Err(why) => {
                let said = format!("{name}: {} can't be read, {why}", setting.file.display());
                return Finding::bad(ID, said, format!("mend that file, then {fix}"));
            }
        }
    }
    let elsewhere = elsewhere(client, config, entry);
    if servers.is_empty() && hooks.is_empty() {
        return match elsewhere.iter().find(|one| one.what.server.is_some()) {
            Some(one) => Finding::good(ID, format!("{name} is connected {}", brought_by(one))),
            None => Finding::warning(ID, format!("{name} is here and not connected"), fix),
        };
    }
    if let Some(gone) = servers
        .iter()
        .chain(&hooks)
        .find(|one| !is_there(&one.program, config))
    {
        let said = format!(
            "{name} starts {}, which is not there (in {})",
            gone.program,
            gone.file.display()
        );
        return Finding::bad(ID, said, fix);
    }
    for (several, what) in [(&servers, "the server"), (&hooks, "the Stop hook")] {
        if several.len() > 1 {
            let said = format!(
                "{name} has {what} {} times: {}",
                several.len(),
                listed(several)
            );
            let fix = format!("mmw-agent disconnect --client {}, then {fix}", client.id);
            return Finding::bad(ID, said, fix);
        }
    }
    if let Some(twice) = twice(client, &servers, &hooks, &elsewhere) {
        return twice;
    }
    if servers.is_empty() && elsewhere.iter().all(|one| one.what.server.is_none()) {
        return Finding::bad(
            ID,
            format!("{name} has the Stop hook but not the server"),
            fix,
        );
    }
    let with = match (client.has_stop_hook(), hooks.is_empty()) {
        (true, false) => ", with the Stop hook",
        (true, true) => ", without the Stop hook",
        (false, _) => "",
    };
    Finding::good(ID, format!("{name} is connected{with}"))
}

/// Tells of what a client has from its own settings and from elsewhere too. A project's server of the same name
/// that starts the same program stands in for the client's own, as in every project that is shared by a team.
fn twice(
    client: &Client,
    servers: &[Registered],
    hooks: &[Registered],
    elsewhere: &[Elsewhere],
) -> Option<Finding> {
    let is_same = |one: &Registered, more: &Elsewhere| {
        let is_named = more.from == From::Project && one.server == more.what.server;
        is_named && one.program == more.what.program
    };
    for more in elsewhere {
        let own = if more.what.server.is_some() {
            servers
        } else {
            hooks
        };
        let Some(one) = own.iter().find(|one| !is_same(one, more)) else {
            continue;
        };
        let (what, harm) = match (&one.server, &more.what.server) {
            (Some(own), Some(other)) if own == other && more.from == From::Project => {
                ("the server", "it starts only one of the two")
            }
            (Some(_), _) => ("the server", "its agent may see every tool twice"),
            (None, _) => ("the Stop hook", "it may ask twice"),
        };
        let said = format!(
            "{} has {what} from {} and {}: {harm}",
            client.name,
            listed(std::slice::from_ref(one)),
            brought_by(more),
        );
        let off = match &more.from {
            From::Plugin(id) => format!("claude plugin disable {id}"),
            From::Project => format!("take it out of {}", more.what.file.display()),
        };
        let fix = format!("mmw-agent disconnect --client {}, or {off}", client.id);
        return Some(Finding::warning(ID, said, fix));
    }
    None
}

fn brought_by(one: &Elsewhere) -> String {
    match &one.from {
        From::Plugin(id) => format!("by the plugin {id}"),
        From::Project => format!(
            "by the project, {}",
            listed(std::slice::from_ref(&one.what))
        ),
    }
}

fn listed(registered: &[Registered]) -> String {
    let each = registered.iter().map(|one| match &one.server {
        Some(server) => format!("`{server}` in {}", one.file.display()),
        None => format!("in {}", one.file.display()),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn is_there(program: &str, config: &Config) -> bool {
    if Path::new(program).components().count() > 1 {
        return Path::new(program).is_file();
    }
    let found = which::which_in_global(program, Some(&config.places.path));
    found.is_ok_and(|mut found| found.next().is_some())
}
