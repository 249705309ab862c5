//! Files that memories are carried in: what is written for others, and what others wrote.
//!
//! | room | what it is for |
//! |---|---|
//! | `input` | reads a file or standard input within its limits |
//! | `output` | writes a file whole or not at all, for its owner only |
//! | `own` | the lines of an export of ours |
//! | `pages` | an export as Markdown, for people |
//! | `format` | which program a file comes from, and what it holds then |
//! | `foreign` | statements of other programs, in one shape |
//! | `notes`, `basic_memory` | Markdown: what people write for agents, notes of basic-memory |
//! | `knowledge_graph`, `lists` | JSON: the reference memory server, mem0 and mcp-memory-service |
//! | `database`, `claude_mem` | SQLite: any database that is not trusted, claude-mem's |
//!
//! Everything here is text in and values out; what becomes of them is decided by `mmw_store`. What is
//! read may have been written by anybody: nothing in it is repeated in a complaint.

mod basic_memory;
mod claude_mem;
mod database;
pub(crate) mod foreign;
pub(crate) mod format;
pub(crate) mod input;
mod knowledge_graph;
mod lists;
mod notes;
pub(crate) mod output;
pub(crate) mod own;
pub(crate) mod pages;

use mmw_store::Incoming;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Parcel {
    /// What is to be taken in, in its order.
    pub(crate) incoming: Vec<Incoming>,
    /// Decisions among it that only a person may take over.
    pub(crate) n_decisions: u64,
    /// What is to be told of the file as a whole.
    pub(crate) notes: Vec<String>,
}

/// Why a file can't be imported at all.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// It is of no format that is known.
    #[error(
        "this is no file that can be imported: neither an export nor of a program that is known"
    )]
    Unknown,
    /// It is no database of that program, or a damaged one.
    #[error("the database can't be read: it is damaged, of another program, or not in a file")]
    Database,
    /// It is no text.
    #[error("the file is no text in UTF-8")]
    NoText,
    /// It is no JSON.
    #[error("the file is no JSON, or nested too deep")]
    NoJson,
    /// A newer program wrote it.
    #[error("the file was written by a newer MMW (form {0}); update this program")]
    Newer(u32),
}
