//! The values and the rules of MMW, a memory for AI agents.
//!
//! Everything here is decided by pure functions over plain values: no input or output, no clock,
//! no randomness, no async. A rule takes what was read, an id and a moment, and returns a decision;
//! whoever called it writes the decision down. That is why the rules are tested without a database
//! and are the same in the embedded library, in the server and in the agent.
//!
//! | room | what is decided there |
//! |---|---|
//! | [`ids`], [`time`], [`env`] | names of things, moments, and the two doors for clock and randomness |
//! | [`place`] | who calls, from where, and what that lets them see and do |
//! | [`source`] | where a statement came from, and whether that has changed |
//! | [`draft`], [`validation`] | what may be saved, and what is refused with which words |
//! | [`record`], [`fact`] | memory, its versions, which of them is newest, resolutions |
//! | [`status`] | `unverified`, `stale` or `conflict`, always with the reasons |
//! | [`link`] | typed relations between records |
//! | [`capture`] | candidates and quarantined writes: the lane in front of memory |
//! | [`audit`] | the hash chain over everything that was done |
//! | [`plan`] | limits and account states |
//! | [`rank`] | how matches become one order |
//! | [`turn`] | what a turn of a conversation is, and how far those before speak for it |
//! | [`wire`] | the forms that are sent and stored; the only module that derives serde |

pub mod audit;
pub mod capture;
pub mod draft;
pub mod env;
pub mod fact;
pub mod ids;
pub mod link;
pub mod place;
pub mod plan;
pub mod rank;
pub mod record;
pub mod source;
pub mod status;
pub mod text;
pub mod time;
pub mod turn;
pub mod validation;
pub mod wire;
