//! A person's own commands in front of a server: the same as on a memory of their own, and honest when the
//! server is down, refuses the key or lacks a right.

mod deciding;
mod person;
mod refused;
mod same;
mod stale;
mod status;
mod waiting;
