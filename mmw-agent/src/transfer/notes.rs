//! Markdown that people write for their agents: `CLAUDE.md`, `AGENTS.md`, `MEMORY.md`.
//!
//! Each entry of a list and each paragraph is a statement, under the heading that it stands under. Code is
//! left out: it says nothing by itself. What is written is kept as it is written.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::foreign::Statement;

/// Returns the statements of a file. `name` is how the file is called.
pub(crate) fn statements(name: &str, text: &str) -> Vec<Statement> {
    let mut reading = Reading {
        name,
        text,
        headings: Vec::new(),
        found: Vec::new(),
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut heading: Option<(HeadingLevel, String)> = None;
    // How deep in a list or a quotation, whose entries are taken whole, we are; and in code or a table.
    let (mut depth, mut is_other) = (0_usize, 0_usize);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title)) = heading.take() {
                    reading.headings.retain(|(above, _)| *above < level);
                    reading.headings.push((level, title.trim().to_owned()));
                }
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(&piece);
                }
            }
            Event::Start(Tag::CodeBlock(_) | Tag::MetadataBlock(_) | Tag::HtmlBlock) => {
                is_other += 1;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::MetadataBlock(_) | TagEnd::HtmlBlock) => {
                is_other = is_other.saturating_sub(1);
            }
            Event::Start(Tag::Item) => {
                // An entry with what is below it is one statement: a part alone says less.
                if depth == 0 {
                    reading.take(range);
                }
                depth += 1;
            }
            Event::End(TagEnd::Item) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Paragraph) if depth == 0 && is_other == 0 => reading.take(range),
            _ => {}
        }
    }
    reading.found
}

struct Reading<'t> {
    name: &'t str,
    text: &'t str,
    headings: Vec<(HeadingLevel, String)>,
    found: Vec<Statement>,
}

impl Reading<'_> {
    fn take(&mut self, range: Range<usize>) {
        let Some(written) = self.text.get(range.clone()) else {
            return;
        };
        let content = without_bullet(written);
        // A line that only announces a list, or a bare import of another file.
        if content.ends_with(':') || content.len() < 3 || is_reference(&content) {
            return;
        }
        let line = 1 + self.text[..range.start].matches('\n').count() as u64;
        let file = match self.headings.last() {
            Some((_, title)) if !title.is_empty() => format!("{}#{title}", self.name),
            _ => self.name.to_owned(),
        };
        self.found.push(Statement {
            line,
            name: file.clone(),
            content,
            file: Some(file),
            tags: Vec::new(),
            ..Statement::default()
        });
    }
}

/// `@path/to/file` on a line of its own takes in another file where it stands.
fn is_reference(content: &str) -> bool {
    content.starts_with('@') && !content.contains(char::is_whitespace)
}

/// Returns an entry without its bullet, and without the indent of its further lines.
fn without_bullet(written: &str) -> String {
    let written = written.trim();
    let after = written
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with([' ', '\t']));
    let numbered = || {
        let digits = written.bytes().take_while(u8::is_ascii_digit).count();
        let rest = written.get(digits..)?.strip_prefix(['.', ')'])?;
        (digits > 0 && rest.starts_with([' ', '\t'])).then_some(rest)
    };
    let Some(rest) = after.or_else(numbered) else {
        return written.to_owned();
    };
    let n_indent = written.len() - rest.trim_start().len();
    let mut lines = rest.trim().lines();
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let n_spaces = line.len() - line.trim_start().len();
        text.push('\n');
        // Only white space is cut, and that is one byte a character but for rarities.
        text.push_str(line.get(n_spaces.min(n_indent)..).unwrap_or(line));
    }
    for mark in ["[ ] ", "[x] ", "[X] "] {
        if let Some(rest) = text.strip_prefix(mark) {
            return rest.trim().to_owned();
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[(u64, &str, &str)]) {
        let found = statements("CLAUDE.md", text);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.file.as_deref().unwrap(), one.content.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn entries_and_paragraphs_are_statements_under_their_heading() {
        check(
            "Be brief.\n\n# Style\n\n- Tabs, never spaces\n- Names:\n  - `snake_case` in Rust\n\n## Tests\n\n1. Run `cargo test`\n   before a commit\n\nTwo lines\nof one paragraph.\n",
            &[
                (1, "CLAUDE.md", "Be brief."),
                (5, "CLAUDE.md#Style", "Tabs, never spaces"),
                (6, "CLAUDE.md#Style", "Names:\n- `snake_case` in Rust"),
                (11, "CLAUDE.md#Tests", "Run `cargo test`\nbefore a commit"),
                (14, "CLAUDE.md#Tests", "Two lines\nof one paragraph."),
            ],
        );
    }

    #[test]
    fn what_says_nothing_by_itself_is_left_out() {
        check(
            "---\ntitle: x\n---\n\n# Commands\n\nRun these:\n\n```sh\nrm -rf /\n```\n\n@docs/more.md\n\n<!-- a comment -->\n\n- [x] Done is done\n",
            &[(17, "CLAUDE.md#Commands", "Done is done")],
        );
    }

    #[test]
    fn what_is_above_a_heading_of_the_same_level_no_longer_counts() {
        check(
            "# A\n## B\nunder b\n# C\nunder c\n",
            &[(3, "CLAUDE.md#B", "under b"), (5, "CLAUDE.md#C", "under c")],
        );
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\PC|\n|- |# |```|    ){0,80}") {
            for one in statements("a.md", &text) {
                prop_assert!(!one.content.trim().is_empty());
            }
        }
    }
}
