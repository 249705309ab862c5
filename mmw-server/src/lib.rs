//! The server of MMW: the actions of a memory, served over MCP and REST.
//!
//! Everything here is about reaching a [`mmw_store::Memory`]; what a memory *is* lies below. The
//! agent uses three things of this library: [`mcp::serve_stdio`], the same actions over stdio on an
//! embedded store, [`guard_rules`] and [`embeddings`].
//!
//! | room | what is in it |
//! |---|---|
//! | [`cli`], [`config`], [`compose`] | the program: commands, settings, how the parts are put together |
//! | [`guard_rules`] | the file of rules that an operator adds to the guard |
//! | [`embeddings`] | which embedder the environment chooses, and one behind a server |
//! | [`lane`] | where async begins |
//! | [`actions`] | one file per tool, and the list of them |
//! | [`desk`] | the checks and counts that every call passes |
//! | [`mcp`], [`rest`], [`http`] | the protocols |
//! | [`documents`] | the pages that are generated from the list of actions |
//! | [`fault`] | what a caller is told when something fails |
//! | [`health`], [`metrics`], [`upkeep`] | operating it |

pub mod actions;
pub mod cli;
pub mod compose;
pub mod config;
pub mod desk;
pub mod documents;
pub mod embeddings;
pub mod fault;
pub mod guard_rules;
pub mod health;
pub mod http;
mod json_text;
pub mod lane;
pub mod mcp;
pub mod metrics;
pub mod outgoing;
pub mod rescan_report;
pub mod rest;
#[cfg(test)]
mod testing;
pub mod upkeep;
