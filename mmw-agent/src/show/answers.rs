//! Answers of `remember`, `search` and `forget`.

use std::fmt::Write as _;

use mmw_core::wire::{
    DifferenceView, ForgetAnswer, Hit, ReasonView, RecordView, RememberAnswer, ReplacedView,
    SearchAnswer, WhyNotAnswer,
};

use super::Page;
use super::clean::{clean, snippet};
use super::style::{DIM, GOOD, PLAIN, WARN, status};

/// The most ids that are listed of a longer list.
const MAX_LISTED_IDS: usize = 10;

/// Shows what became of a statement.
pub(crate) fn remembered(page: &mut Page, answer: &RememberAnswer, project: &str) {
    let Some(record) = &answer.record else {
        return not_in_memory(page, answer);
    };
    let word = if answer.deduplicated {
        format!("{GOOD}already there{GOOD:#}")
    } else {
        format!("{GOOD}saved{GOOD:#}")
    };
    let shown = status(answer.status.as_deref().unwrap_or("unverified"));
    page.line(format!("{word}  {shown}{}", about(page, record, true)));
    page.body("  ", PLAIN, &record.content);
    replaced(page, &answer.replaced);
    page.remark("  ", "", &format!("{} in {project}", record.id));
    if let Some(note) = &answer.source_note {
        page.remark("  ", "! ", note);
    }
    if !answer.superseded.is_empty() {
        let n = answer.superseded.len();
        page.remark(
            "  ",
            "",
            &format!("comes after {n} earlier {}", plural(n, "version")),
        );
    }
    if answer.conflicts_with.is_empty() {
        return;
    }
    page.gap();
    page.line(format!("{} with what was said before:", status("conflict")));
    for claim in &answer.conflicts_with {
        let from = claim
            .source_id
            .as_deref()
            .map_or(String::new(), |id| format!("{} · ", clean(id)));
        page.body("  ", PLAIN, &claim.content);
        page.remark(
            "  ",
            "",
            &format!("{from}{} · {}", page.age(claim.created_at), claim.id),
        );
    }
    if let Some(fact_key) = &record.fact_key {
        page.hint(&format!(
            "both stay until you decide: mmw-agent resolve {}",
            command_words(fact_key, &record.workspace)
        ));
    }
}

/// Shows that a write waits on this computer for the server.
pub(crate) fn queued(page: &mut Page, server: &str, id: Option<&str>) {
    page.line(format!(
        "{WARN}queued{WARN:#}  on this computer's disk: it is sent to {} in its turn, once that takes it",
        clean(server)
    ));
    if let Some(id) = id {
        page.remark("  ", "", id);
    }
    page.hint("`mmw-agent status` tells what waits, `mmw-agent sync` sends it now");
}

fn not_in_memory(page: &mut Page, answer: &RememberAnswer) {
    let Some(held) = &answer.quarantine else {
        page.line(format!(
            "{WARN}{}{WARN:#}: it is not in memory",
            clean(&answer.outcome)
        ));
        return;
    };
    page.line(format!(
        "{WARN}held for review{WARN:#}: it is not in memory"
    ));
    page.remark("  ", "", &format!("{}: {}", held.rule, held.reason));
    page.remark("  ", "", &held.candidate_id);
    replaced(page, &answer.replaced);
    page.hint("to decide: mmw-agent review");
}

fn replaced(page: &mut Page, replaced: &[ReplacedView]) {
    for one in replaced {
        page.line(format!(
            "  {WARN}replaced{WARN:#} {} in {} ({})",
            one.count,
            clean(&one.field),
            clean(&one.rule)
        ));
    }
}

/// Shows hits. `explain` adds what each score is made of and the links.
pub(crate) fn found(page: &mut Page, answer: &SearchAnswer, asked_workspace: &str, explain: bool) {
    for hit in &answer.hits {
        page.gap();
        show_hit(page, hit, asked_workspace, explain);
    }
    if explain && !answer.hits.is_empty() {
        scores(page, &answer.hits);
    }
    page.gap();
    match (&answer.notice, answer.hits.is_empty()) {
        (Some(notice), true) => page.line(clean(notice)),
        (None, true) => page.line("nothing found"),
        (Some(notice), false) => page.remark("", "", notice),
        (None, false) => {}
    }
    if !answer.hits.is_empty() {
        page.remark("", "", &summary(answer));
    }
    if !answer.elsewhere.is_empty() {
        let places: Vec<String> = answer
            .elsewhere
            .iter()
            .map(|place| format!("{} ({})", clean(&place.workspace), place.hits))
            .collect();
        page.hint(&format!(
            "also in {}: --workspace NAME or --all",
            places.join(", ")
        ));
    }
    if let Some((fact_key, workspace)) = answer.hits.iter().find_map(|hit| {
        let disagrees = hit
            .status_reasons
            .iter()
            .any(|reason| reason.code == "versions_disagree");
        let record = &hit.record;
        disagrees.then(|| Some((record.fact_key.as_deref()?, record.workspace.as_str())))?
    }) {
        let words = command_words(fact_key, workspace);
        page.hint(&format!("to decide a conflict: mmw-agent resolve {words}"));
    }
}

fn summary(answer: &SearchAnswer) -> String {
    let n = answer.hits.len();
    let mut text = format!("{n} {}", plural(n, "hit"));
    if answer.total as usize > n {
        let _ = write!(text, " of {}", answer.total);
    }
    let _ = write!(text, " · {:.1} ms", answer.took_ms);
    if answer.omitted > 0 {
        let _ = write!(text, " · {} left out to keep it short", answer.omitted);
    }
    if !answer.degraded.is_empty() {
        let _ = write!(text, " · without: {}", answer.degraded.join(", "));
    }
    text
}

fn show_hit(page: &mut Page, hit: &Hit, asked_workspace: &str, explain: bool) {
    let record = &hit.record;
    let foreign = record.workspace != asked_workspace;
    page.line(format!(
        "{}{}",
        status(&hit.status),
        about(page, record, foreign)
    ));
    page.body("  ", PLAIN, &record.content);
    if hit.truncated {
        page.remark("  ", "", "… cut; `mmw-agent explain` has the rest");
    }
    reasons(page, &hit.status_reasons);
    differences(page, &hit.differences);
    if let Some(local) = &hit.local_source {
        let compared = hit.local_span.as_ref().map_or(String::new(), |span| {
            let lines = span.lines.as_deref();
            let lines = lines.map_or(String::new(), |lines| format!(", now lines {lines}"));
            format!(" ({} `{}`{lines})", span.kind, span.label)
        });
        page.remark("  ", "", &format!("file: {local}{compared}"));
    }
    if let Some(newer) = hit.superseded_by.filter(|_| hit.differences.is_empty()) {
        page.remark("  ", "", &format!("superseded by {newer}"));
    }
    if hit.older_versions > 0 {
        let n = hit.older_versions as usize;
        page.remark(
            "  ",
            "",
            &format!("+ {n} older {} (--history)", plural(n, "version")),
        );
    }
    if explain {
        for link in &hit.graph_relations {
            let arrow = if link.direction == "in" { "←" } else { "→" };
            let end = snippet(&link.snippet, 60);
            page.remark(
                "  ",
                "",
                &format!("{arrow} {} {} {end}", link.kind, link.id),
            );
        }
    }
    page.remark("  ", "", &record.id.to_string());
}

/// Shows what the scores are made of, a line a hit.
fn scores(page: &mut Page, hits: &[Hit]) {
    page.gap();
    page.line(format!(
        "{DIM}{:>3}  {:>6}  {:>6} {:>4}  {:>7} {:>4}  {}{DIM:#}",
        "no.", "score", "words", "no.", "meaning", "no.", "record"
    ));
    let value = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let rank = |rank: Option<u32>| rank.map_or("–".to_owned(), |rank| rank.to_string());
    for (nth, hit) in (1..).zip(hits) {
        let parts = &hit.score_parts;
        page.line(format!(
            "{nth:>3}  {:>6}  {:>6} {:>4}  {:>7} {:>4}  {}",
            value(Some(hit.score)),
            value(parts.lexical),
            rank(parts.lexical_rank),
            value(parts.semantic),
            rank(parts.semantic_rank),
            snippet(&hit.record.content, 40),
        ));
        if let Some(before) = parts.lexical_before {
            let text = format!("words: {before:.3} of it from the turns before");
            page.remark("     ", "", &text);
        }
        if let Some(crowding) = parts.crowding {
            let text =
                format!("meaning: {crowding:+.3} crowded, a third of it counts against the place");
            page.remark("     ", "", &text);
        }
    }
}

/// Shows what became of one record in a search.
pub(crate) fn why_not(page: &mut Page, answer: &WhyNotAnswer) {
    page.line(format!("{WARN}{}{WARN:#}", clean(&answer.code)));
    page.body("  ", PLAIN, &answer.text);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(answer.score.map(|score| format!("score {score:.3}")));
    if let Some(view) = &answer.score_parts {
        for (name, value, rank) in [
            ("words", view.lexical, view.lexical_rank),
            ("meaning", view.semantic, view.semantic_rank),
        ] {
            let rank = rank.map_or(String::new(), |rank| format!(" (no. {rank})"));
            parts.extend(value.map(|value| format!("{name} {value:.3}{rank}")));
        }
    }
    if !parts.is_empty() {
        page.remark("  ", "", &parts.join(" · "));
    }
}

/// Shows why a status is what it is.
pub(super) fn reasons(page: &mut Page, reasons: &[ReasonView]) {
    for reason in reasons {
        page.remark("  ", "! ", &reason.text);
    }
}

/// Shows what a record and the claims against it differ in.
pub(super) fn differences(page: &mut Page, differences: &[DifferenceView]) {
    for difference in differences {
        let values = |values: &[String]| {
            if values.is_empty() {
                "–".to_owned()
            } else {
                values.join(" · ")
            }
        };
        if !(difference.only_here.is_empty() && difference.only_there.is_empty()) {
            let (here, there) = (
                values(&difference.only_here),
                values(&difference.only_there),
            );
            page.remark("  ", "≠ ", &format!("here: {here} | there: {there}"));
        }
        page.remark("  ", "  ", &difference.text);
    }
}

/// Returns ` topic · kind · source · age` of a record, dimmed.
pub(super) fn about(page: &Page, record: &RecordView, with_workspace: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(record.fact_key.clone());
    if record.kind != "fact" {
        parts.push(record.kind.clone());
    }
    if with_workspace {
        parts.push(record.workspace.clone());
    }
    parts.extend(record.source_id.clone());
    parts.extend(record.source.clone().or_else(|| record.agent.clone()));
    parts.push(page.age(record.created_at));
    parts.extend(record.tags.iter().map(|tag| format!("#{tag}")));
    format!("  {DIM}{}{DIM:#}", clean(&parts.join(" · ")))
}

/// Shows what left the reads, or would.
pub(crate) fn forgotten(page: &mut Page, answer: &ForgetAnswer) {
    let n = answer.forgotten as usize;
    let already = answer.already_forgotten as usize;
    let word = if answer.dry_run {
        format!("{WARN}would forget{WARN:#}")
    } else {
        format!("{GOOD}forgotten{GOOD:#}")
    };
    page.line(format!(
        "{word}  {n} {}, {} {}, {} index {}",
        plural(n, "record"),
        answer.links,
        plural(answer.links as usize, "link"),
        answer.index_rows,
        plural(answer.index_rows as usize, "row"),
    ));
    if already > 0 {
        page.remark("  ", "", &format!("{already} had been forgotten before"));
    }
    for id in answer.ids.iter().take(MAX_LISTED_IDS) {
        page.remark("  ", "", &id.to_string());
    }
    if answer.ids.len() > MAX_LISTED_IDS {
        page.remark(
            "  ",
            "",
            &format!("and {} more", answer.ids.len() - MAX_LISTED_IDS),
        );
    }
}

/// Returns a fact's key and workspace as they are typed after `resolve`.
fn command_words(fact_key: &str, workspace: &str) -> String {
    let quoted = |word: &str| {
        let word = clean(word);
        let plain = |c: char| c.is_alphanumeric() || "-_./@".contains(c);
        if word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    if workspace == mmw_core::place::DEFAULT_WORKSPACE {
        return quoted(fact_key);
    }
    format!("{} --workspace {}", quoted(fact_key), quoted(workspace))
}

/// Returns the word, with an `s` unless there is one.
pub(crate) fn plural(n: usize, word: &str) -> String {
    if n == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{page, plain};
    use super::*;
    use mmw_core::time::DAY_MS;

    fn hit(json: &str) -> Hit {
        let base = format!(
            r#"{{"id":"0192f0c1-8a6b-7c3d-9e4f-0123456789ab","workspace":"default","kind":"fact",
            "scope":"shared","confidence":0.5,"visibility":"project",
            "author":"0192f0c1-8a6b-7c3d-9e4f-0123456789ac","created_at":"{at}","received_at":"{at}",
            "score":1.0,"score_parts":{{}},{json}}}"#,
            at = mmw_core::time::Timestamp::from_ms(1_800_000_000_000 - 3 * DAY_MS)
        );
        serde_json::from_str(&base).unwrap()
    }

    fn answer(hits: Vec<Hit>) -> SearchAnswer {
        SearchAnswer {
            total: u32::try_from(hits.len()).unwrap(),
            hits,
            elsewhere: Vec::new(),
            degraded: Vec::new(),
            omitted: 0,
            took_ms: 0.42,
            notice: None,
        }
    }

    #[test]
    fn a_hit_says_status_source_and_age_in_words() {
        let mut page = page();
        let hit = hit(
            r#""content":"port 8081","status":"stale","source_id":"docs/deploy.md","fact_key":"port",
            "status_reasons":[{"code":"source_changed","level":"stale",
            "text":"docs/deploy.md has changed since this was saved"}]"#,
        );
        found(&mut page, &answer(vec![hit]), "default", false);
        assert_eq!(
            plain(&page),
            "stale  port · docs/deploy.md · 3 days ago\n  port 8081\n  ! docs/deploy.md has changed \
             since this was saved\n  0192f0c1-8a6b-7c3d-9e4f-0123456789ab\n\n1 hit · 0.4 ms\n"
        );
    }

    #[test]
    fn nothing_found_tells_where_else_to_look() {
        let mut page = page();
        let mut answer = answer(Vec::new());
        answer.elsewhere.push(mmw_core::wire::Elsewhere {
            workspace: "backend".into(),
            hits: 2,
        });
        found(&mut page, &answer, "default", false);
        assert_eq!(
            plain(&page),
            "nothing found\n→ also in backend (2): --workspace NAME or --all\n"
        );
    }

    #[test]
    fn recalled_text_can_not_steer_the_terminal() {
        let mut page = page();
        let hit = hit(
            r#""content":"a\u001b[2Jb","status":"unverified","source":"\u001b]0;x\u0007",
            "status_reasons":[],"tags":["\u009b1m"]"#,
        );
        found(&mut page, &answer(vec![hit]), "default", true);
        let text = plain(&page);
        assert!(text.contains("a�[2Jb"), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn a_fact_key_is_quoted_for_the_shell() {
        assert_eq!(command_words("deploy-staging", "default"), "deploy-staging");
        assert_eq!(
            command_words("a;b", "back end"),
            "'a;b' --workspace 'back end'"
        );
    }
}
