//! Rust source without what is not code: comments and the contents of strings are blanked out.
//!
//! Lines keep their numbers. It is no parser: it knows comments, strings, raw strings and character
//! literals, which is what a search for words in code needs.

/// Returns the source with comments and string contents replaced by spaces.
pub(super) fn code(source: &str) -> String {
    Scanner {
        rest: source,
        code: String::with_capacity(source.len()),
        before: ' ',
    }
    .run()
}

/// Returns each place of `word` in the code as its line, from 1. A word is whole: no letter, digit
/// or `_` stands beside it.
pub(super) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    code.lines()
        .enumerate()
        .filter(|(_, line)| has_word(line, word))
        .map(|(nth, _)| nth + 1)
        .collect()
}

/// Tells whether the word stands in the line, whole.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_open = !word.starts_with(part_of_word);
    let ends_open = !word.ends_with(part_of_word);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        (starts_open || !before.is_some_and(part_of_word))
            && (ends_open || !after.is_some_and(part_of_word))
    })
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
    before: char,
}

impl Scanner<'_> {
    fn run(mut self) -> String {
        while let Some(c) = self.rest.chars().next() {
            let in_word = self.before.is_alphanumeric() || self.before == '_';
            if self.rest.starts_with("//") {
                self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.blank(block_comment(self.rest));
            } else if let Some(length) = raw_string(self.rest).filter(|_| !in_word) {
                self.blank(length);
            } else if c == '"' {
                self.blank(string(self.rest));
            } else if let Some(length) = character(self.rest) {
                self.blank(length);
            } else {
                self.keep(c);
            }
        }
        self.code
    }

    fn keep(&mut self, c: char) {
        self.code.push(c);
        self.before = c;
        self.rest = &self.rest[c.len_utf8()..];
    }

    fn blank(&mut self, length: usize) {
        let (gone, rest) = self.rest.split_at(length);
        self.code
            .extend(gone.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.before = ' ';
        self.rest = rest;
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let after_prefix = ["br", "cr", "r"]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = after_prefix.len() - after_prefix.trim_start_matches('#').len();
    let body = after_prefix[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - body.len();
    Some(
        body.find(&end)
            .map_or(text.len(), |at| start + at + end.len()),
    )
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character literal, which `'a` of a lifetime is not.
fn character(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let first = body.chars().next()?;
    if first == '\\' {
        let end = body.get(2..)?.find('\'')?;
        return Some(1 + 2 + end + 1);
    }
    body[first.len_utf8()..]
        .starts_with('\'')
        .then_some(first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&code(source)), expected, "{source}");
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"f("todo!() \" x") + 1"#, "f( ) + 1");
        check("f(r#\"a \"b\" c\"#, br\"x\")", "f( , )");
        check(
            r"let q = '\''; let s = '\u{1F600}'; g",
            "let q = ; let s = ; g",
        );
        check(
            "fn f<'a>(x: &'a str) -> char { '\"' }",
            "fn f<'a>(x: &'a str) -> char { }",
        );
        check("for x in bar\"s\"", "for x in bar");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = "one\n/* two\nthree */\n\"four\nfive\" six\n";
        assert_eq!(code(source).lines().count(), source.lines().count());
        assert_eq!(lines_with(&code(source), "six"), [5]);
    }

    #[test]
    fn unfinished_text_ends_at_the_end() {
        for odd in [
            "\"a", "/* a", "r#\"a", "'", "'\\", "'\\'", "'\\é", "\\", "'é",
        ] {
            let _ = code(odd);
        }
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("use std::fs;", "std::fs"));
        assert!(!has_word("use std::fsync;", "std::fs"));
        assert!(!has_word("use mystd::fs;", "std::fs"));
        assert!(has_word("x.todo!()", "todo!"));
    }
}
