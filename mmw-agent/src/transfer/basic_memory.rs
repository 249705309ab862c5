//! Notes of basic-memory: Markdown with a head, observations and relations.
//!
//! An observation is `- [category] text #tag (context)`, or an entry without a category that has a tag; a
//! relation is `- type [[Note]]`, with quotation marks around a type of several words. The rest of the note is
//! prose and is left in its file.

use super::foreign::Statement;

/// What stands between the lines of dashes at the top.
#[derive(Debug, Default, PartialEq, Eq)]
struct Head {
    title: Option<String>,
    permalink: Option<String>,
    tags: Vec<String>,
}

/// Tells whether a file is such a note: its head has a `permalink`.
pub(crate) fn is_note(text: &str) -> bool {
    head(text).0.permalink.is_some()
}

/// Returns the statements of a note. `name` is how its file is called.
pub(crate) fn statements(name: &str, text: &str) -> Vec<Statement> {
    let (head, n_lines) = head(text);
    let title = head.title.unwrap_or_else(|| name.to_owned());
    let note = head.permalink.unwrap_or_else(|| title.clone());
    let mut found = Vec::new();
    let mut is_code = false;
    for (line, number) in text.lines().zip(1..).skip(n_lines) {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let Some(entry) = line.strip_prefix("- ").map(str::trim) else {
            continue;
        };
        if is_code {
            continue;
        }
        let (content, mut tags, kind) = match (relation(entry), observation(entry)) {
            (None, Some((category, text))) => {
                let mut tags: Vec<String> = category.map(str::to_owned).into_iter().collect();
                tags.extend(hash_tags(text));
                let kind = category.and_then(kind_of);
                (format!("{title}: {text}"), tags, kind)
            }
            (Some((relation, other)), _) => (
                format!("{title} {} {other}", relation.replace('_', " ")),
                vec!["relation".to_owned()],
                None,
            ),
            (None, None) => continue,
        };
        tags.extend(head.tags.iter().cloned());
        found.push(Statement {
            line: number,
            name: note.clone(),
            content,
            kind,
            tags,
            ..Statement::default()
        });
    }
    found
}

/// Reads the head, and how many lines it takes.
fn head(text: &str) -> (Head, usize) {
    let mut head = Head::default();
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return (head, 0);
    }
    let mut is_in_tags = false;
    for (line, number) in lines.zip(2..) {
        if line.trim_end() == "---" {
            return (head, number);
        }
        if is_in_tags && let Some(tag) = line.trim().strip_prefix("- ") {
            head.tags.push(unquoted(tag));
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        is_in_tags = false;
        let value = value.trim();
        match key.trim() {
            "title" if !value.is_empty() => head.title = Some(unquoted(value)),
            "permalink" if !value.is_empty() => head.permalink = Some(unquoted(value)),
            "tags" => {
                is_in_tags = value.is_empty();
                let list = value.trim_start_matches('[').trim_end_matches(']');
                let tags = list.split(',').map(unquoted).filter(|tag| !tag.is_empty());
                head.tags.extend(tags);
            }
            _ => {}
        }
    }
    // It never ended, so it was none.
    (Head::default(), 0)
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).trim().to_owned()
}

/// `[category] text`, or a text with a tag. A box to tick, a moment of a transcript and a link are no category.
fn observation(entry: &str) -> Option<(Option<&str>, &str)> {
    if ["[ ]", "[x]", "[-]"]
        .iter()
        .any(|mark| entry.starts_with(mark))
    {
        return None;
    }
    let (category, text) = match entry
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((category, rest)) if rest.starts_with(char::is_whitespace) => {
            (category.trim(), rest.trim())
        }
        _ => ("", entry),
    };
    if is_category(category) && !text.is_empty() {
        return Some((Some(category), text));
    }
    let text = if category.is_empty() { text } else { entry };
    hash_tags(text).next().is_some().then_some((None, text))
}

fn is_category(name: &str) -> bool {
    let mut letters = name.chars();
    let is_mark = match (letters.next(), letters.next()) {
        (Some(only), None) => matches!(only, 'x' | 'X') || !only.is_alphanumeric(),
        (None, _) => true,
        _ => false,
    };
    // `00:01:15`, or from one to another.
    let is_moment = name.contains(':')
        && name
            .chars()
            .all(|c| c.is_ascii_digit() || ":.,- ".contains(c));
    !is_mark && !is_moment && !name.contains(['[', ']', '(', ')'])
}

/// `type [[Note]]`, with at most a remark in brackets behind it.
fn relation(entry: &str) -> Option<(&str, &str)> {
    let (label, rest) = entry.split_once("[[")?;
    let (other, tail) = rest.split_once("]]")?;
    let label = label.trim();
    let quoted = ['"', '\'']
        .iter()
        .find_map(|mark| label.strip_prefix(*mark)?.strip_suffix(*mark));
    let label = match quoted {
        Some(quoted) => quoted.trim(),
        None => Some(label).filter(|label| !label.contains(char::is_whitespace))?,
    };
    let tail = tail.trim();
    let is_remark = tail.is_empty() || (tail.starts_with('(') && tail.ends_with(')'));
    let is_type = !label.is_empty() && label.len() <= 64;
    (is_remark && is_type && !other.trim().is_empty()).then_some((label, other.trim()))
}

fn hash_tags(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches(['.', ',', ')', ';']).to_owned())
}

fn kind_of(category: &str) -> Option<&'static str> {
    match category.to_lowercase().as_str() {
        "decision" => Some("decision"),
        "preference" => Some("preference"),
        "pattern" => Some("pattern"),
        "context" => Some("context"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOTE: &str = "---\ntitle: Billing\ntype: note\ntags:\n  - money\n  - \"ops\"\npermalink: svc/billing\n---\n\n# Billing\n\nProse stays here.\n\n- [decision] Runs on 8081 #port\n- [ ] a box\n- [docs](https://example.org)\n- depends_on [[Postgres]] (main)\n\n```\n- [fact] in code\n```\n";

    #[test]
    fn observations_and_relations_are_statements_of_the_note() {
        assert!(is_note(NOTE));
        let found = statements("billing.md", NOTE);
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.content.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (14, "Billing: Runs on 8081 #port"),
                (17, "Billing depends on Postgres")
            ]
        );
        assert_eq!(found[0].tags, ["decision", "port", "money", "ops"]);
        assert_eq!(
            (found[0].kind, found[0].name.as_str()),
            (Some("decision"), "svc/billing")
        );
    }

    fn check(entry: &str, told: &[(&str, &[&str])]) {
        let note = format!("---\npermalink: n\ntitle: N\n---\n- {entry}\n");
        let found = statements("n.md", &note);
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|one| {
                let tags = one.tags.iter().map(String::as_str).collect();
                (one.content.as_str(), tags)
            })
            .collect();
        let told: Vec<(&str, Vec<&str>)> = told
            .iter()
            .map(|(content, tags)| (*content, tags.to_vec()))
            .collect();
        assert_eq!(found, told, "{entry}");
    }

    #[test]
    fn entries_mean_what_they_mean_to_basic_memory() {
        check("[fact] x", &[("N: x", &["fact"])]);
        check("no category #ops", &[("N: no category #ops", &["ops"])]);
        check("[] empty #ops", &[("N: empty #ops", &["ops"])]);
        check("plain", &[]);
        check("[ ] to do #ops", &[]);
        check("[/] half done", &[]);
        check("[00:01:15] spoken", &[]);
        check(
            "[00:01:15] spoken #talk",
            &[("N: [00:01:15] spoken #talk", &["talk"])],
        );
        check("[docs](https://example.org)", &[]);
        check(
            "implements [[Spec]]",
            &[("N implements Spec", &["relation"])],
        );
        check(
            "\"depends on\" [[Spec]] (for now)",
            &[("N depends on Spec", &["relation"])],
        );
        check("we talked about [[Spec]] a lot", &[]);
        check("see [[Spec]] and more", &[]);
    }

    #[test]
    fn a_file_without_a_permalink_is_no_note() {
        for text in [
            "",
            "# Title",
            "---\ntitle: x\n---\n",
            "---\npermalink: x\n",
            "x\n---\npermalink: x\n---",
        ] {
            assert!(!is_note(text), "{text}");
        }
        assert_eq!(head("---\ntags: [a, 'b']\n---").0.tags, ["a", "b"]);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\PC|\n|---\n|- \\[|\\]|\\[\\[){0,60}") {
            let _ = (is_note(&text), statements("a.md", &text));
        }
    }
}
