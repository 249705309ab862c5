//! The forms that are sent over MCP, REST and the command line, and kept as JSON.
//!
//! Twins of the domain's values with nothing but fields: the only module that derives serde. An
//! argument is taken here as it was written and becomes a value in [`crate::validation`].

pub mod answers;
pub mod args;
mod programs;
mod reading;
#[cfg(test)]
pub(crate) mod samples;
mod scalars;
#[cfg(test)]
mod tests;
pub mod transfer;
mod why_not;

pub use answers::*;
pub use args::*;
pub use programs::*;
pub use reading::*;
pub use why_not::*;
