//! Which facts no longer say what their files say: in the working tree, or by a range of commits.
//!
//! Hits are compared by `anchor`; here it is told who changed the files. Nothing is written.

mod history;

use mmw_core::wire::{Hit, LocalSpan, ReasonView};
use serde::Serialize;

pub(crate) use self::history::{BadRange, Commit};
use self::history::{Content, Repository};
use crate::anchor::{Anchors, Checked, Recorded, State};

/// A fact whose source has changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StaleFact {
    /// The record.
    pub(crate) id: String,
    pub(crate) workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fact_key: Option<String>,
    pub(crate) content: String,
    /// Its own source, if it names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_id: Option<String>,
    /// The commit that it was saved at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_revision: Option<String>,
    /// `unverified`, `stale` or `conflict`.
    pub(crate) status: String,
    /// What was found here, in words.
    pub(crate) reasons: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) local_source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) local_span: Option<LocalSpan>,
    /// What changed its files, the newest first.
    pub(crate) commits: Vec<Commit>,
    /// A file differs from what is committed.
    pub(crate) uncommitted: bool,
}

/// What a look gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Report {
    /// How many statements rest on files that could be compared.
    pub(crate) checked: usize,
    /// Those that no longer say what their files say.
    pub(crate) stale: Vec<StaleFact>,
    /// The commits that were compared, if it was commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<(String, String)>,
}

/// Codes of the reasons that files give.
const BY_FILES: [&str; 2] = ["source_changed", "source_missing"];

/// Compares statements with the files of the working tree.
pub(crate) fn of_the_tree(anchors: &Anchors, hits: Vec<Hit>) -> Report {
    let repository = Repository::at(&anchors.top());
    let mut checked = 0;
    let mut stale = Vec::new();
    for (nth, hit) in by_document(hits) {
        let Some((hit, is_troubled)) = completed(anchors, &hit) else {
            continue;
        };
        checked += 1;
        if !is_troubled {
            continue;
        }
        let reasons = hit
            .status_reasons
            .iter()
            .filter(|reason| is_by_files(reason));
        let (texts, sources): (Vec<String>, Vec<Option<String>>) = reasons
            .map(|reason| (reason.text.clone(), reason.source_id.clone()))
            .unzip();
        let since = hit.record.source_revision.clone();
        let own = of_hit(&hit);
        let mut fact = fact(hit, texts);
        for document in documents(sources) {
            let mut commits = repository.changes(&document, since.as_deref());
            let is_own = |own: &&Recorded| own.document() == Some(&document);
            if let Some(own) = own.as_ref().filter(is_own) {
                keep_what_changed(anchors, &repository, own, &mut commits);
            }
            fact.commits.extend(commits);
            fact.uncommitted |= repository.differs(&document);
        }
        stale.push((nth, fact));
    }
    Report {
        checked,
        stale: in_order(stale),
        range: None,
    }
}

/// Tells which statements said what their files said before a range of commits, and no longer do after
/// it.
///
/// # Errors
/// A range that names no commits.
pub(crate) fn of_commits(
    anchors: &Anchors,
    hits: Vec<Hit>,
    range: &str,
) -> Result<Report, BadRange> {
    let repository = Repository::at(&anchors.top());
    let (from, to) = repository.range(range)?;
    let changed = repository.changed_files(&from, &to)?;
    let mut checked = 0;
    let mut stale = Vec::new();
    for (place, hit) in by_document(hits) {
        let own = of_hit(&hit);
        let inherited = hit.anchors.iter().map(|anchor| {
            Recorded::new(
                Some(&anchor.source_id),
                anchor.source_hash.as_deref(),
                anchor.source_hash_text.as_deref(),
                anchor.span.as_ref(),
            )
        });
        let rests_on: Vec<Recorded> = [own].into_iter().chain(inherited).flatten().collect();
        if rests_on
            .iter()
            .all(|recorded| recorded.document().is_none())
        {
            continue;
        }
        checked += 1;
        let mut reasons = Vec::new();
        let mut sources = Vec::new();
        let mut own_state = None;
        for (nth, recorded) in rests_on.iter().enumerate() {
            let Some(document) = recorded
                .document()
                .filter(|document| changed.contains(*document))
            else {
                continue;
            };
            let at = |commit: &str| checked_at(anchors, &repository, recorded, document, commit);
            if let (Some(before), Some(after)) = (at(&from), at(&to))
                && before.state == State::Unchanged
                && after.state != State::Unchanged
            {
                reasons.push(sentence(recorded, &after));
                sources.push(Some(recorded.source_id.clone()));
                if nth == 0 && hit.record.source_id.as_ref() == Some(&recorded.source_id) {
                    own_state = Some(after);
                }
            }
        }
        if reasons.is_empty() {
            continue;
        }
        let mut fact = fact(hit, reasons);
        fact.local_source = own_state.map(|checked| checked.state.name().to_owned());
        for document in documents(sources) {
            fact.commits
                .extend(repository.commits(&document, &from, &to));
        }
        stale.push((place, fact));
    }
    Ok(Report {
        checked,
        stale: in_order(stale),
        range: Some((from, to)),
    })
}

/// Returns statements with their places, those of one file together: git is asked once about each file,
/// and not all of what it says can be kept.
fn by_document(hits: Vec<Hit>) -> Vec<(usize, Hit)> {
    let mut placed: Vec<(usize, Hit)> = hits.into_iter().enumerate().collect();
    placed.sort_by_cached_key(|(_, hit)| {
        let source = hit.record.source_id.as_deref().unwrap_or_default();
        source.split('#').next().unwrap_or_default().to_owned()
    });
    placed
}

fn in_order(mut placed: Vec<(usize, StaleFact)>) -> Vec<StaleFact> {
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, fact)| fact).collect()
}

/// Leaves the commits out that changed only other parts of a file, if it can be told which did not.
fn keep_what_changed(
    anchors: &Anchors,
    repository: &Repository,
    recorded: &Recorded,
    commits: &mut Vec<Commit>,
) {
    let Some(document) = recorded.document().filter(|_| recorded.is_part()) else {
        return;
    };
    let is_as_it_was = |commit: &str| {
        checked_at(anchors, repository, recorded, document, commit)
            .is_some_and(|checked| checked.state == State::Unchanged)
    };
    let changed_it = |commit: &&Commit| {
        let before = format!("{}^", commit.commit);
        is_as_it_was(&before) && !is_as_it_was(&commit.commit)
    };
    let found: Vec<Commit> = commits.iter().filter(changed_it).cloned().collect();
    if !found.is_empty() {
        *commits = found;
    }
}

/// Returns what became of a source at a commit; nothing if it can't be compared.
fn checked_at(
    anchors: &Anchors,
    repository: &Repository,
    recorded: &Recorded,
    document: &str,
    commit: &str,
) -> Option<Checked> {
    match repository.content(commit, document) {
        Content::Known(bytes) => anchors.check_content(recorded, Some(&bytes)),
        Content::Absent => anchors.check_content(recorded, None),
        // No file that large was ever anchored.
        Content::TooLarge => Some(Checked::of_file(State::Changed)),
        Content::Unknown => None,
    }
}

fn of_hit(hit: &Hit) -> Option<Recorded> {
    let record = &hit.record;
    Recorded::new(
        record.source_id.as_deref(),
        record.source_hash.as_deref(),
        record.source_hash_text.as_deref(),
        record.span.as_ref(),
    )
}

/// Returns a hit with what was found of its files, and whether that is trouble.
fn completed(anchors: &Anchors, hit: &Hit) -> Option<(Hit, bool)> {
    let mut value = serde_json::to_value(hit).ok()?;
    let is_troubled = anchors.check_one(&mut value)?;
    Some((serde_json::from_value(value).ok()?, is_troubled))
}

fn is_by_files(reason: &ReasonView) -> bool {
    let code = reason.cause.as_ref().unwrap_or(&reason.code);
    BY_FILES.contains(&code.as_str())
}

fn fact(hit: Hit, reasons: Vec<String>) -> StaleFact {
    let record = hit.record;
    StaleFact {
        id: record.id.to_string(),
        workspace: record.workspace,
        fact_key: record.fact_key,
        content: record.content,
        source_id: record.source_id,
        source_revision: record.source_revision,
        status: hit.status,
        reasons,
        local_source: hit.local_source,
        local_span: hit.local_span,
        commits: Vec::new(),
        uncommitted: false,
    }
}

fn sentence(recorded: &Recorded, checked: &Checked) -> String {
    let source = &recorded.source_id;
    match checked.state {
        State::Unchanged => format!("{source} is as it was"),
        State::Changed => format!("{source} changes"),
        State::Missing if checked.span.is_some() => format!("{source} is taken out of its file"),
        State::Missing => format!("{source} is taken out"),
    }
}

fn documents(sources: Vec<Option<String>>) -> Vec<String> {
    let mut documents: Vec<String> = sources
        .into_iter()
        .flatten()
        .filter_map(|source| Some(source.split('#').next()?.to_owned()))
        .collect();
    documents.sort();
    documents.dedup();
    documents
}
