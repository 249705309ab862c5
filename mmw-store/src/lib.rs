//! Storage and use cases of MMW. Start at [`Memory`].

pub mod engine;
pub mod graph;
pub mod memory;
pub mod sqlite;
pub mod testing;
pub mod words;

pub use memory::Memory;
pub use memory::access::{FirstStart, KeyInfo, NewKey, ProjectInfo};
pub use memory::brief::Brief;
pub use memory::census::Census;
pub use memory::failure::{Failure, RememberError};
