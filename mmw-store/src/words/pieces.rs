//! The words of a text as they are collected: one buffer, and where each word lies in it.

use mmw_core::text::cut_at_char;
use unicode_normalization::char::is_combining_mark;

use super::normal::push_folded;
use super::stems::{Stems, is_stop_word};
use super::{MAX_WORD_BYTES, fnv1a_64};

/// What the words are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be found: every form under which somebody may ask for it.
    Index,
    /// To find: what was written, and no more.
    Query,
}

/// What a word is to the text that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A word of the text, or the smallest part of an identifier.
    Leaf,
    /// A leaf that carries nothing in a query. Told apart for queries only.
    Stop,
    /// An identifier, or a part of one that is itself made of parts.
    Whole,
    /// Another form under which a record is found. Only for the index.
    Extra,
}

/// Where one word lies in the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) role: Role,
    /// It is a name in itself: an identifier, `camelCase`, or letters with digits.
    pub(super) is_name: bool,
}

/// The words collected so far.
pub(super) struct Pieces {
    pub(super) purpose: Purpose,
    stems: Stems,
    buffer: String,
    pieces: Vec<Piece>,
}

impl Pieces {
    pub(super) fn new(purpose: Purpose, n_bytes: usize) -> Self {
        Self {
            purpose,
            stems: Stems::new(),
            buffer: String::with_capacity(n_bytes * 2),
            pieces: Vec::with_capacity(n_bytes / 3),
        }
    }

    pub(super) fn text(&self, piece: &Piece) -> &str {
        &self.buffer[piece.start..piece.end]
    }

    pub(super) fn all(&self) -> &[Piece] {
        &self.pieces
    }

    /// Adds a word, stemmed.
    pub(super) fn word(&mut self, raw: &str, role: Role) {
        let start = self.buffer.len();
        let of_whom = raw.strip_suffix("'s").or_else(|| raw.strip_suffix("'S"));
        push_folded(of_whom.unwrap_or(raw), &mut self.buffer);
        let is_stop = self.purpose == Purpose::Query
            && role == Role::Leaf
            && is_stop_word(&self.buffer[start..]);
        if self.buffer.len() - start <= MAX_WORD_BYTES {
            self.stems.stem_tail(&mut self.buffer, start);
        }
        self.finish(start, if is_stop { Role::Stop } else { role });
    }

    /// Adds the pieces of raw text as one word, as they are but for case and diacritics.
    pub(super) fn joined<'a>(&mut self, raw: impl IntoIterator<Item = &'a str>, role: Role) {
        let start = self.buffer.len();
        raw.into_iter()
            .for_each(|raw| push_folded(raw, &mut self.buffer));
        self.finish(start, role);
    }

    /// Adds the pieces of raw text as one stemmed word.
    pub(super) fn joined_word<'a>(&mut self, raw: impl IntoIterator<Item = &'a str>, role: Role) {
        let start = self.buffer.len();
        raw.into_iter()
            .for_each(|raw| push_folded(raw, &mut self.buffer));
        self.stems.stem_tail(&mut self.buffer, start);
        self.finish(start, role);
    }

    /// Ends the word that begins at `start`. One that is too long keeps its beginning and gets the
    /// hash of all of it, so that it is still found, and only by itself.
    fn finish(&mut self, start: usize, role: Role) {
        let word = &self.buffer[start..];
        let is_word = match role {
            Role::Whole => word.contains(is_letter),
            Role::Leaf | Role::Stop | Role::Extra => !word.is_empty(),
        };
        if !is_word {
            self.buffer.truncate(start);
            return;
        }
        if word.len() > MAX_WORD_BYTES {
            let hash = format!("~{:016x}", fnv1a_64(word.as_bytes()));
            let kept = cut_at_char(word, MAX_WORD_BYTES - hash.len()).len();
            self.buffer.truncate(start + kept);
            self.buffer.push_str(&hash);
        }
        self.pieces.push(Piece {
            start,
            end: self.buffer.len(),
            role,
            is_name: role == Role::Whole,
        });
    }

    /// Notes that the last word is a name in itself.
    pub(super) fn mark_as_name(&mut self) {
        if let Some(last) = self.pieces.last_mut() {
            last.is_name = true;
        }
    }
}

/// Tells whether a character makes a word by itself, as marks and punctuation don't.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric() && !is_combining_mark(c))
}
