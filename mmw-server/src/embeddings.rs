//! The embedder that the environment chooses: the built-in one, a model in a file, one behind an
//! OpenAI-compatible `/v1/embeddings` address, or none.
//!
//! | file | what is there |
//! |---|---|
//! | `settings` | the variables, read the same way by both programs |
//! | `endpoint` | an address, and a key that is never printed |
//! | `form` | what models want to see before a query or a document |
//! | `estimate` | how many tokens a text has, about |
//! | `wire` | the request and the answer |
//! | `http` | one exchange with a server, and what its refusals mean |
//! | `breaker` | queries fail at once while the server is known to be away |
//! | `client` | [`Embeddings`]: texts in, vectors out |
//! | `open` | what opens the chosen embedder when it is first needed |
//!
//! Connections are made here and nowhere else, and only if `MMW_EMBEDDINGS_URL` is set. What is
//! embedded, when, and what of it is kept from leaving is the store's business.

mod breaker;
mod client;
mod endpoint;
mod estimate;
mod form;
mod http;
mod open;
mod settings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod wire;

pub use self::client::Embeddings;
pub use self::endpoint::{Endpoint, Hidden};
pub use self::open::opener;
pub use self::settings::{Choice, Remote, SettingError, VARIABLES, read};
