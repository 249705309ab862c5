//! Registers this program with the coding agents on this computer, and takes it out again.
//!
//! | file | what is there |
//! |---|---|
//! | `client` | the table of clients: where their settings are, what goes into them |
//! | `places` | where a person's folders are, on each system |
//! | `entry` | what a client is told: the program, its arguments, its environment |
//! | `change` | what is to become of one file, and the deed |
//! | `edit` | an edit of one file's text; `json` and `toml` know their syntax, `lines` line ends and marks |
//! | `file` | reading and replacing a file without ever leaving half of one |
//! | `registered` | what of ours is in a client's settings now |
//! | `ledger` | what was changed, so that it can be undone byte for byte |
//! | `difference` | what would change, as a person reads it |
//!
//! A settings file belongs to its person: order, comments, other keys, line ends and permissions stay
//! as they are, and a file that can't be read as what it should be is refused untouched.

pub(crate) mod change;
pub(crate) mod client;
pub(crate) mod difference;
mod edit;
pub(crate) mod entry;
pub(crate) mod file;
mod json;
pub(crate) mod ledger;
mod lines;
pub mod places;
pub(crate) mod registered;
mod toml;
mod wide;
