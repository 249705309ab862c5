//! The harness of the end-to-end tests and of the benchmark: real programs, real files, real
//! sockets. Nothing here knows a rule of the product.

pub mod bench;
pub mod environment;
pub mod programs;
pub mod rpc;
pub mod server;
pub mod stdio;
