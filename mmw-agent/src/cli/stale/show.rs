//! What a person reads of stale facts, on a terminal and in a comment.

use crate::freshness::{Commit, Report, StaleFact};
use crate::show::Page;
use crate::show::answers::plural;
use crate::show::clean::{clean, snippet};
use crate::show::style::{PLAIN, status};

/// How much of a fact is shown in a comment, in characters.
const SNIPPET_CHARS: usize = 200;

/// Shows a report.
pub(super) fn report(page: &mut Page, report: &Report) {
    for fact in &report.stale {
        page.gap();
        let topic = fact.fact_key.as_deref().unwrap_or("–");
        page.line(format!(
            "{}  {} · {}",
            status(&fact.status),
            clean(topic),
            clean(&fact.workspace)
        ));
        page.body("  ", PLAIN, &fact.content);
        for reason in &fact.reasons {
            page.remark("  ", "! ", reason);
        }
        for commit in &fact.commits {
            page.remark("  ", "", &told(commit));
        }
        if fact.uncommitted {
            page.remark("  ", "", "changed here, not committed yet");
        }
        page.remark("  ", "", &fact.id);
    }
    page.gap();
    page.line(summary(report));
    if !report.stale.is_empty() {
        page.hint(
            "what still holds is saved again with the same key, what does not with its correction: \
             mmw-agent remember",
        );
    }
}

fn summary(report: &Report) -> String {
    let n = report.stale.len();
    let what = format!("{n} {}", plural(n, "fact"));
    let of = format!(
        "{} {}",
        report.checked,
        plural(report.checked, "anchored fact")
    );
    match (&report.range, n) {
        (None, 0) => format!("none of {of} is stale"),
        (None, 1) => format!("{what} of {of} no longer says what its file says"),
        (None, _) => format!("{what} of {of} no longer say what their files say"),
        (Some(_), 0) => format!("these commits make none of {of} stale"),
        (Some(_), _) => format!("these commits make {what} of {of} stale"),
    }
}

fn told(commit: &Commit) -> String {
    format!(
        "{} {} {}: {}",
        commit.commit, commit.date, commit.author, commit.subject
    )
}

/// Returns a report as Markdown. What facts and commits say stands in code, where nothing of it acts:
/// no link, no name that calls somebody.
pub(super) fn in_markdown(report: &Report) -> String {
    let n = report.stale.len();
    let mut text = match (&report.range, n) {
        (_, 0) => return format!("{}.\n", capital(&summary(report))),
        (Some(_), 1) => "### 1 saved fact rests on what these commits change\n".to_owned(),
        (Some(_), _) => format!("### {n} saved facts rest on what these commits change\n"),
        (None, _) => format!("### {}\n", capital(&summary(report))),
    };
    for fact in &report.stale {
        text.push_str(&item(fact));
    }
    text.push_str(
        "\nWhat still holds is saved again with the same key once this is merged; what does not is \
         saved with its correction.\n",
    );
    text
}

fn item(fact: &StaleFact) -> String {
    let topic = fact.fact_key.as_deref().unwrap_or(&fact.id);
    let mut text = format!("\n- {} in {}\n", code(topic), code(&fact.workspace));
    text.push_str(&format!(
        "  - says {}\n",
        code(&snippet(&fact.content, SNIPPET_CHARS))
    ));
    for reason in &fact.reasons {
        text.push_str(&format!("  - {}\n", code(reason)));
    }
    for commit in &fact.commits {
        text.push_str(&format!("  - changed by {}\n", code(&told(commit))));
    }
    if fact.uncommitted {
        text.push_str("  - changed in the working tree, not committed yet\n");
    }
    text
}

/// Puts text into a span of code that nothing in it can end.
fn code(text: &str) -> String {
    let text: String = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser};

    use super::*;

    fn fact(content: &str) -> StaleFact {
        StaleFact {
            id: "0192f0c1-8a6b-7c3d-9e4f-0123456789ab".to_owned(),
            workspace: "backend".to_owned(),
            fact_key: Some("deploy".to_owned()),
            content: content.to_owned(),
            source_id: Some("docs/deploy.md#Staging".to_owned()),
            source_revision: None,
            status: "stale".to_owned(),
            reasons: vec!["docs/deploy.md#Staging changes".to_owned()],
            local_source: None,
            local_span: None,
            commits: vec![Commit {
                commit: "4c53699".to_owned(),
                author: content.to_owned(),
                date: "2026-11-30".to_owned(),
                subject: "docs: staging".to_owned(),
            }],
            uncommitted: false,
        }
    }

    fn of(stale: Vec<StaleFact>) -> Report {
        Report {
            checked: 3,
            stale,
            range: Some(("a".to_owned(), "b".to_owned())),
        }
    }

    #[test]
    fn one_fact_is_told_of_as_one() {
        let mut report = of(vec![fact("x")]);
        report.range = None;
        let said = summary(&report);
        assert_eq!(
            said,
            "1 fact of 3 anchored facts no longer says what its file says"
        );
    }

    #[test]
    fn a_comment_says_which_fact_which_file_and_who() {
        let text = in_markdown(&of(vec![fact("port 8081")]));
        assert!(
            text.starts_with("### 1 saved fact rests on what these commits change\n\n- `deploy` in `backend`\n  - says"),
            "{text}"
        );
        for part in [
            "port 8081",
            "docs/deploy.md#Staging changes",
            "4c53699 2026-11-30",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let none = in_markdown(&of(Vec::new()));
        assert_eq!(none, "These commits make none of 3 anchored facts stale.\n");
    }

    proptest! {
        #[test]
        fn nothing_that_was_saved_acts_in_a_comment(content in "(?s)[a@#`<>!\\[\\]()*_~|\\\\\n -]{0,40}") {
            let text = in_markdown(&of(vec![fact(&content)]));
            for event in Parser::new(&text) {
                if let Event::Text(text) = &event {
                    let is_ours = !text.contains(['@', '<', '[', '!', '*', '|', '`']);
                    prop_assert!(is_ours, "{}", text);
                }
                let acts = matches!(&event, Event::Html(_) | Event::InlineHtml(_))
                    || matches!(&event, Event::Start(pulldown_cmark::Tag::Link { .. } | pulldown_cmark::Tag::Image { .. }));
                prop_assert!(!acts, "{:?}", event);
            }
        }
    }
}
