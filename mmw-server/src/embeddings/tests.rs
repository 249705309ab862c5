//! Against a server on this computer: what is sent, and what becomes of every kind of answer.

mod answers;
mod leaks;
mod memory;
mod opening;
mod queries;
