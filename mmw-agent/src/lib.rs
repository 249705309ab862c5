//! The agent: the memory beside a coding agent, and the same memory in a person's hands.
//!
//! Started without a command it speaks MCP on standard input and output, on a store that it keeps
//! itself; with a command it shows and changes that store for the person at the terminal. It judges
//! nothing: every rule is in `mmw-core`, every use case in `mmw_store::Memory`.
//!
//! | room | what it is for |
//! |---|---|
//! | `cli` | one command a file |
//! | `about` | what the program says of itself |
//! | [`config`] | the environment, read once |
//! | [`project`] | which project a folder belongs to |
//! | `git` | the program git, asked questions |
//! | `roots` | the folders whose files may be read, and the one way to open a file in them |
//! | `anchor` | what a statement's file is when it is saved, and whether it still is that later |
//! | `freshness` | which facts no longer say what their files say, and who changed those |
//! | `keys` | keys of servers, each for its endpoint |
//! | `local` | the store on this computer, opened when it is first needed |
//! | [`connect`] | registers the program with coding agents, and takes it out again |
//! | `doctor` | whether everything works, tried |
//! | `relay` | MCP in front of a server |
//! | `show` | what a person reads |
//! | `transfer` | files that memories are carried in, ours and others' |
//! | `terminal` | whether a person is there at all |
//! | [`exit`] | exit codes and what they mean |
//!
//! Standard output carries the protocol or the answer and nothing else; everything that is said
//! beside it goes to standard error.

mod about;
mod anchor;
mod cli;
pub mod config;
pub mod connect;
mod doctor;
pub mod exit;
mod freshness;
mod git;
mod keys;
mod local;
pub mod project;
mod relay;
mod roots;
mod show;
mod terminal;
mod transfer;

pub use cli::run;
