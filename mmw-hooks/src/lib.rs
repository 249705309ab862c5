//! What a coding agent starts for each of its events, such as the end of a tool call.
//!
//! A hook runs in the middle of somebody's session, so it must never harm it: it answers in
//! milliseconds, prints nothing unless it must, and ends with exit code 0 whatever happens. Hence
//! no runtime, no network and no database anywhere in the tree of this crate; `cargo xtask tidy`
//! checks that.
//!
//! Two programs are made of it. `mmw-agent hook-stop` is the Stop hook, in [`stop`]. The program
//! `mmw-hooks` is a frame today: an event is read, within bounds, and let go; distilling events and
//! appending them to the [`spool`] come with the issue for capture.
//!
//! | room | what it is for |
//! |---|---|
//! | [`run`] | the program `mmw-hooks` as one function over arguments, input and output |
//! | [`program`] | hands the process's own arguments, input and output to [`run`] |
//! | [`input`] | reads one event, never more than it needs |
//! | [`wire`] | what a client sent, without expecting much |
//! | [`event`] | what is acted on |
//! | [`clients`] | the supported agents, known by their events |
//! | [`stop`] | the Stop hook: whether an agent is asked to save, and about which files |
//! | [`transcript`] | what happened in a session |
//! | [`git`] | what differs in a working tree, and what was committed |
//! | [`registered`] | whether an agent has MMW's tools, and what they are called there |
//! | [`mark`] | that a session was asked, on disk |
//! | [`private`] | folders that are for their owner only |
//! | [`reply`] | what an agent is told, in the form of its client |
//! | [`spool`] | the queue of writes that wait for a server, on disk |
//! | [`world`] | the environment, read once |
//! | [`deadline`] | by when all must be done |

pub mod clients;
pub mod deadline;
pub mod event;
pub mod git;
pub mod input;
pub mod mark;
pub mod private;
pub mod program;
pub mod registered;
pub mod reply;
pub mod run;
pub mod spool;
pub mod stop;
pub mod transcript;
pub mod wire;
pub mod world;
