//! Reads the arguments of a search.

use mmw_core::place::WorkspaceChoice;
use mmw_core::record::{Kind, Record};
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::time::Timestamp;
use mmw_core::validation::{self, Invalid};
use mmw_core::wire::SearchArgs;

use super::budget::{DEFAULT_MAX_TOKENS, MAX_MAX_TOKENS, MIN_MAX_TOKENS};
use crate::engine::Row;
use crate::words::{self, Facet};

/// The limit of a search that names none.
const DEFAULT_LIMIT: i64 = 10;
/// The highest limit.
const MAX_LIMIT: i64 = 50;
/// The longest query, in bytes.
const MAX_QUERY_BYTES: usize = 100_000;
/// The most entries of `current_sources`.
const MAX_CURRENT_SOURCES: usize = 1_000;
/// How far words are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Depth {
    /// How many records of a common word are looked at, where the store has to find them.
    pub(super) of_a_word: usize,
    /// How many records of words are gone through in memory, about: see `matches/held.rs`.
    pub(super) followed: usize,
    /// How many records are scored: those with the most weight.
    pub(super) scored: usize,
}

/// Where words answer alone.
const DEPTH: Depth = Depth {
    of_a_word: 256,
    followed: 1 << 17,
    scored: 256,
};
/// Where meaning answers too: what shares only common words with a query and matters is near to it. The
/// nearest are scored whatever words they share.
const DEPTH_BESIDE_MEANING: Depth = Depth {
    of_a_word: 128,
    followed: 1 << 13,
    scored: 96,
};
/// Where filters may leave out most records.
const FILTERED_DEPTH: Depth = Depth {
    of_a_word: 4_096,
    followed: 1 << 20,
    scored: 8_192,
};

/// The hashes that the caller gives as current.
#[derive(Debug, Clone)]
pub(super) enum CurrentHashes {
    /// For named sources.
    Named(Vec<(SourceId, ContentHash)>),
    /// Alone: its source has to be found out.
    Bare(ContentHash),
}

/// Which ways of finding take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legs {
    /// Words alone.
    Words,
    /// Meaning alone.
    Meaning,
    /// Both, as far as meaning is at hand.
    #[default]
    Both,
}

/// How much a hit says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    Full,
    /// What a reader needs to choose.
    Brief,
    /// That, and what a program needs to compare files, which does not count.
    BriefWithAnchors,
}

/// A search that can be carried out.
#[derive(Debug, Clone)]
pub(super) struct Query {
    pub(super) words: words::Query,
    /// Words that a record must have to be looked at: what is filtered by.
    pub(super) facets: Vec<String>,
    pub(super) legs: Legs,
    /// A record that is looked at whether it matches or not.
    pub(super) watched: Option<Row>,
    pub(super) workspaces: WorkspaceChoice,
    pub(super) limit: usize,
    pub(super) current: CurrentHashes,
    pub(super) exclude_stale: bool,
    pub(super) as_of: Option<Timestamp>,
    pub(super) history: bool,
    pub(super) detail: Detail,
    pub(super) max_tokens: usize,
    scope: Option<String>,
    kind: Option<Kind>,
    tags: Vec<String>,
    source: Option<SourceId>,
}

impl Query {
    pub(super) fn read(args: &SearchArgs) -> Result<Self, Invalid> {
        if args.query.trim().is_empty() {
            return Err(Invalid::new(
                "query",
                "may not be empty; name what you look for",
            ));
        }
        if args.query.len() > MAX_QUERY_BYTES {
            return Err(Invalid::new(
                "query",
                format!(
                    "has {} bytes; at most {MAX_QUERY_BYTES} are allowed",
                    args.query.len()
                ),
            ));
        }
        let source = args
            .source_id
            .as_deref()
            .map(|id| validation::source_id("source_id", id))
            .transpose()?;
        let (current, source) = current_hashes(args, source)?;
        let mut query = Self {
            words: words::query(&args.query),
            facets: Vec::new(),
            legs: Legs::Both,
            watched: None,
            workspaces: validation::workspace_choice(args.workspace.as_deref())?,
            limit: bounded("limit", args.limit, DEFAULT_LIMIT, 1, MAX_LIMIT)?,
            current,
            exclude_stale: args.exclude_stale,
            as_of: args
                .as_of
                .as_deref()
                .map(|text| validation::moment("as_of", text))
                .transpose()?,
            history: args.history,
            detail: match args.detail.as_deref() {
                None | Some("full") => Detail::Full,
                Some("brief") if args.keeps_anchors => Detail::BriefWithAnchors,
                Some("brief") => Detail::Brief,
                Some(_) => return Err(Invalid::new("detail", "must be one of: brief, full")),
            },
            max_tokens: bounded(
                "max_tokens",
                args.max_tokens,
                DEFAULT_MAX_TOKENS,
                MIN_MAX_TOKENS,
                MAX_MAX_TOKENS,
            )?,
            scope: args
                .scope
                .as_deref()
                .map(|scope| validation::label("scope", scope))
                .transpose()?,
            kind: args
                .kind
                .as_deref()
                .map(|kind| validation::choice("kind", kind, Kind::ALL, Kind::name))
                .transpose()?,
            tags: validation::tags(&args.tags)?,
            source,
        };
        query.facets = query.facets();
        Ok(query)
    }

    /// Returns the words of what is filtered by.
    fn facets(&self) -> Vec<String> {
        let kind = self.kind.as_ref().map(|kind| Facet::Kind(kind.name()));
        let scope = self.scope.as_deref().map(Facet::Scope);
        let source = self
            .source
            .as_ref()
            .map(|id| Facet::Document(id.document()));
        let tags = self.tags.iter().map(|tag| Facet::Tag(tag));
        let one = [kind, scope, source].into_iter().flatten();
        one.chain(tags).map(Facet::word).collect()
    }

    /// Returns the hashes that were given for sources by name.
    pub(super) fn named_hashes(&self) -> &[(SourceId, ContentHash)] {
        match &self.current {
            CurrentHashes::Named(named) => named,
            CurrentHashes::Bare(_) => &[],
        }
    }

    /// Tells whether a record may be left out by a filter.
    pub(super) fn filters(&self) -> bool {
        !self.facets.is_empty() || self.sieves()
    }

    /// Tells whether a record may be left out for what only a look at it tells.
    pub(super) const fn sieves(&self) -> bool {
        self.as_of.is_some() || self.exclude_stale
    }

    /// Returns how far words are followed. Independent of `limit`, so that raising it never removes an
    /// earlier hit.
    pub(super) fn depth(&self, beside_meaning: bool) -> Depth {
        if self.sieves() {
            FILTERED_DEPTH
        } else if beside_meaning {
            DEPTH_BESIDE_MEANING
        } else {
            DEPTH
        }
    }

    /// Tells whether the filters on single records let this one through.
    pub(super) fn lets_through(&self, record: &Record) -> bool {
        self.keeps_out(record).is_none()
    }

    /// Returns the filter that keeps a record out, by the name of its argument.
    pub(super) fn keeps_out(&self, record: &Record) -> Option<&'static str> {
        let is_of = |source: &SourceId| {
            let id = record.origin.id.as_ref();
            id.is_some_and(|id| source.covers(id))
        };
        let filters = [
            (
                "scope",
                self.scope
                    .as_ref()
                    .is_none_or(|scope| record.scope == *scope),
            ),
            ("kind", self.kind.is_none_or(|kind| record.kind == kind)),
            (
                "tags",
                self.tags.iter().all(|tag| record.tags.contains(tag)),
            ),
            ("source_id", self.source.as_ref().is_none_or(is_of)),
        ];
        let kept_out = filters.into_iter().find(|(_, lets_through)| !lets_through);
        kept_out.map(|(name, _)| name)
    }
}

/// "With `source_id` it is compared with that source's records (the pair filters nothing)."
/// A `source_id` without a hash is a filter.
fn current_hashes(
    args: &SearchArgs,
    source: Option<SourceId>,
) -> Result<(CurrentHashes, Option<SourceId>), Invalid> {
    if args.current_sources.len() > MAX_CURRENT_SOURCES {
        return Err(Invalid::new(
            "current_sources",
            format!("names more than {MAX_CURRENT_SOURCES} sources"),
        ));
    }
    let mut named = Vec::with_capacity(args.current_sources.len() + 1);
    for (id, hash) in &args.current_sources {
        let field = format!("current_sources[{id}]");
        named.push((
            validation::source_id(&field, id)?,
            validation::hash(&field, hash)?,
        ));
    }
    let hash = args
        .current_source_hash
        .as_deref()
        .map(|hash| validation::hash("current_source_hash", hash))
        .transpose()?;
    match (hash, source) {
        (Some(hash), Some(source)) => {
            named.push((source, hash));
            Ok((CurrentHashes::Named(named), None))
        }
        (Some(hash), None) if named.is_empty() => Ok((CurrentHashes::Bare(hash), None)),
        (Some(_), None) => Err(Invalid::new(
            "current_source_hash",
            "needs a source_id when it goes with current_sources",
        )),
        (None, source) => Ok((CurrentHashes::Named(named), source)),
    }
}

fn bounded(
    field: &str,
    given: Option<i64>,
    default: i64,
    min: i64,
    max: i64,
) -> Result<usize, Invalid> {
    let value = given.unwrap_or(default);
    usize::try_from(value)
        .ok()
        .filter(|_| (min..=max).contains(&value))
        .ok_or_else(|| Invalid::new(field, format!("must be {min} to {max}, not {value}")))
}
