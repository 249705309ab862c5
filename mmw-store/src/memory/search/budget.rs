//! Keeps an answer within its tokens.
//!
//! "Tokens are budgeted (`max_tokens`, default about 6,000, estimated at 2.5 characters a token):
//! long content is cut at a grapheme with `truncated: true`."

use mmw_core::wire::{Anchor, Hit, SearchAnswer};
use unicode_segmentation::UnicodeSegmentation as _;

use super::query::Detail;

/// The budget of an answer that names none.
pub(super) const DEFAULT_MAX_TOKENS: i64 = 6_000;
/// The smallest budget.
pub(super) const MIN_MAX_TOKENS: i64 = 200;
/// The largest budget.
pub(super) const MAX_MAX_TOKENS: i64 = 100_000;
/// Characters that one token is estimated at, times two.
const HALF_CHARS_PER_TOKEN: usize = 5;
/// No content is cut below this, in characters: a stump would say less than an omission.
const MIN_CONTENT_CHARS: usize = 200;
/// What a brief hit shows of its content, in characters.
const BRIEF_CONTENT_CHARS: usize = 240;

/// Cuts long contents, then leaves out hits from the end. The first hit always stays.
pub(super) fn apply(answer: &mut SearchAnswer, max_tokens: usize, detail: Detail) {
    if detail == Detail::Full {
        fit(answer, max_tokens);
        return;
    }
    let anchors: Vec<Vec<Anchor>> = answer.hits.iter_mut().map(make_brief).collect();
    fit(answer, max_tokens);
    if detail == Detail::BriefWithAnchors {
        for (hit, anchors) in answer.hits.iter_mut().zip(anchors) {
            hit.anchors = anchors;
        }
    }
}

fn fit(answer: &mut SearchAnswer, max_tokens: usize) {
    let budget = max_tokens * HALF_CHARS_PER_TOKEN / 2;
    let n_hits = answer.hits.len();
    let mut left = budget;
    for at in 0..n_hits {
        let hit = &mut answer.hits[at];
        let others = cost(hit).saturating_sub(n_chars(&hit.record.content));
        // What comes after must keep room for a stump each, as far as there is room.
        let fair = left.saturating_sub(others) / (n_hits - at).min(4);
        let room = fair.max(MIN_CONTENT_CHARS);
        if n_chars(&hit.record.content) > room {
            cut(hit, room);
        }
        let cost = cost(hit);
        if cost > left && at > 0 {
            let omitted = answer.hits.split_off(at).len();
            answer.omitted = u32::try_from(omitted).unwrap_or(u32::MAX);
            answer.notice.get_or_insert_with(|| {
                format!("{omitted} further hits were left out to keep within max_tokens")
            });
            return;
        }
        left = left.saturating_sub(cost);
    }
}

fn n_chars(text: &str) -> usize {
    text.chars().count()
}

/// What a hit costs, in characters: as the JSON that models are shown.
fn cost(hit: &Hit) -> usize {
    serde_json::to_string(hit).map_or(usize::MAX, |json| n_chars(&json))
}

/// Cuts the content to at most `max_chars` characters at the end of a grapheme.
fn cut(hit: &mut Hit, max_chars: usize) {
    let mut n = 0;
    let mut end = 0;
    for (start, grapheme) in hit.record.content.grapheme_indices(true) {
        n += n_chars(grapheme);
        if n > max_chars {
            break;
        }
        end = start + grapheme.len();
    }
    hit.record.content.truncate(end);
    hit.truncated = true;
}

/// Makes a hit brief. Returns the anchors that it had.
fn make_brief(hit: &mut Hit) -> Vec<Anchor> {
    if n_chars(&hit.record.content) > BRIEF_CONTENT_CHARS {
        cut(hit, BRIEF_CONTENT_CHARS);
    }
    hit.graph_relations.clear();
    hit.differences.clear();
    std::mem::take(&mut hit.anchors)
}
