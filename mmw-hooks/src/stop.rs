//! The Stop hook: an agent that is about to end its turn is asked once to save what it learned, if
//! files changed in its session since it last saved something.
//!
//! It asks nothing of the store or of a server and changes nothing but its own mark.
//!
//! | room | what it is for |
//! |---|---|
//! | [`decide`] | which files the agent is asked about: the rule, without a look outside |
//! | [`files`] | when files changed |
//! | [`program`] | the command, within its time |

pub mod decide;
pub mod files;
pub mod program;

use std::path::PathBuf;

use crate::clients::Client;
use crate::deadline::Deadline;
use crate::event::Stop;
use crate::git;
use crate::git::place::Tree;
use crate::mark::{Known, Mark, Place};
use crate::registered;
use crate::reply;
use crate::transcript::tool::Tool;
use crate::transcript::{Session, late};
use crate::wire::Payload;
use crate::world::World;
use decide::Evidence;

/// Returns what is to be written to standard output for an event; `None` for nothing.
///
/// Files are named from the top of the repository, as the agent names them when it anchors a fact.
/// A question is marked on disk before it is returned, so that it is asked once.
#[must_use]
pub fn answer(
    event: &[u8],
    named: Option<Client>,
    world: &World,
    deadline: Deadline,
) -> Option<String> {
    if world.is_off {
        return None;
    }
    let stop = Stop::read(&Payload::parse(event)?, named)?;
    let place = Place::of(world.agent_home.as_deref()?, stop.client, &stop.session);
    let known = place.look();
    let asked = match known {
        Known::Never => None,
        Known::Asked(mark) => Some(mark),
        Known::Unclear => return None,
    };
    let tree = Tree::of(&stop.folder, world.home.as_deref())?;
    // What a merge or the like brings is not the session's.
    if tree.in_the_midst() {
        return None;
    }
    let mut asking = weigh(&stop, asked, &tree, world, deadline)?;
    if stop.client == Client::ClaudeCode
        && let Some(said) = &stop.said
        && late::waited(&stop.transcript, said, deadline)
    {
        asking = weigh(&stop, asked, &tree, world, deadline)?;
    }
    let reply = reply::block(stop.client, &asking.tool, &asking.changed);
    let mark = Mark {
        at: world.now,
        n_prompts: asking.n_prompts,
    };
    place.leave(known, mark).then_some(reply)
}

/// A question that may be asked.
struct Asking {
    /// The tool that saves, as it is registered.
    tool: Tool,
    changed: Vec<PathBuf>,
    n_prompts: usize,
}

/// Returns what the agent is to be asked, by what can be seen now; `None` for nothing.
fn weigh(
    stop: &Stop,
    asked: Option<Mark>,
    tree: &Tree,
    world: &World,
    deadline: Deadline,
) -> Option<Asking> {
    // Git is asked while the transcript is read: each may take its time.
    let (session, changes) = std::thread::scope(|scope| {
        let session = scope.spawn(|| Session::read(&stop.transcript, deadline));
        let dirty = scope.spawn(|| git::status::dirty(tree, deadline));
        let session = session.join().ok()??;
        let since = decide::since(&session, None, asked);
        let committed = match since {
            Some(since) if may_ask(&session, asked) => git::commits::since(tree, since, deadline),
            _ => Vec::new(),
        };
        let dirty = dirty.join().ok()??;
        Some((session, git::Changes { dirty, committed }))
    })?;
    if !may_ask(&session, asked) {
        return None;
    }
    let folders = folders(stop, &session, tree, world);
    let registered = registered::find(stop.client, &session, &folders, world)?;
    let evidence = Evidence {
        session: &session,
        saved: registered.saved,
        asked,
    };
    let seen = files::look(&tree.top, &changes, &session);
    let changed = decide::changed(&evidence, &seen);
    (!changed.is_empty()).then_some(Asking {
        tool: registered.tool,
        changed,
        n_prompts: session.n_prompts,
    })
}

/// Tells whether the session may be asked: not twice without a word of a person in between.
fn may_ask(session: &Session, asked: Option<Mark>) -> bool {
    !session.asked && asked.is_none_or(|mark| session.n_prompts > mark.n_prompts)
}

/// Returns the folders in which a project's settings may lie, the nearest first.
fn folders(stop: &Stop, session: &Session, tree: &Tree, world: &World) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let near = stop
        .folder
        .ancestors()
        .take_while(|folder| folder.starts_with(&tree.top) && *folder != tree.top.as_path());
    let named = [
        Some(stop.folder.as_path()),
        world.project.as_deref(),
        session.folder.as_deref(),
    ];
    for folder in named
        .into_iter()
        .flatten()
        .chain(near)
        .chain([tree.top.as_path()])
    {
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    folders
}
