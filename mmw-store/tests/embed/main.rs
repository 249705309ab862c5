//! The built-in model against witnesses that share no code with it: the tokenizer of reference, and
//! vectors that numpy computed from the published weights.

mod asset;
mod tokens;
mod vectors;
mod witness;

use mmw_store::embed::{Instructions, LocalModel};

/// Returns the built-in model.
fn model() -> LocalModel {
    LocalModel::built_in(Instructions::Best).expect("the built-in model is right")
}
