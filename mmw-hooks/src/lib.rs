//! What a coding agent starts for each of its events, such as the end of a tool call.
//!
//! A hook runs in the middle of somebody's session, so it must never harm it: it answers in
//! milliseconds, prints nothing, and ends with exit code 0 whatever happens. Hence no runtime, no
//! network and no database anywhere in the tree of this crate; `cargo xtask tidy` checks that.
//!
//! **What stands today is the frame only.** An event is read, within bounds, and let go: nothing is
//! captured, nothing is written. Distilling events and the spool that they are appended to come
//! with the issue for capture.
//!
//! | room | what it is for |
//! |---|---|
//! | [`run`] | the whole program as one function over arguments, input and output |
//! | [`input`] | reads one event, never more than it needs |
//! | [`program`] | hands the process's own arguments, input and output to [`run`] |

pub mod input;
pub mod program;
pub mod run;
