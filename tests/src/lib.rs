//! The harness of the end-to-end tests, the benchmark and the evaluation: real programs, real files,
//! real sockets. Nothing here knows a rule of the product.

#[cfg(feature = "programs")]
pub mod bench;
pub mod environment;
pub mod eval;
#[cfg(feature = "programs")]
pub mod programs;
#[cfg(feature = "programs")]
pub mod rpc;
#[cfg(feature = "programs")]
pub mod server;
#[cfg(feature = "programs")]
pub mod stdio;
