//! Blocks of code by their first words: `fn deploy`, `class Cart`, `deploy:`.
//!
//! No grammar of any language is known. A block begins at the line that has the words, at its
//! beginning or behind modifiers. If its head opens a brace, it reaches to the closing one at the depth
//! of its beginning, else as far as lines are indented deeper. Formatted code of nearly every language
//! reads like that. Comments and attributes right above belong to it: what they say is what facts are
//! made of.

use std::ops::Range;

use super::{MAX_NAMESAKES, without_blank_end};

/// Words that may stand before the ones that are looked for.
const MODIFIERS: [&str; 48] = [
    "pub",
    "public",
    "private",
    "protected",
    "internal",
    "export",
    "default",
    "static",
    "final",
    "abstract",
    "async",
    "const",
    "unsafe",
    "extern",
    "inline",
    "override",
    "virtual",
    "sealed",
    "partial",
    "readonly",
    "declare",
    "open",
    "data",
    "suspend",
    "local",
    "synchronized",
    "native",
    "function",
    "function*",
    "fn",
    "func",
    "fun",
    "def",
    "sub",
    "proc",
    "macro_rules!",
    "class",
    "struct",
    "enum",
    "union",
    "trait",
    "interface",
    "record",
    "object",
    "impl",
    "module",
    "mod",
    "type",
];

/// Further ones, for what is no block of its own in every language.
const VALUES: [&str; 6] = ["let", "var", "val", "mut", "namespace", "package"];

/// Words that are followed by a call, not by the name of what is declared.
const NOT_TYPES: [&str; 16] = [
    "return", "await", "new", "else", "throw", "yield", "if", "while", "for", "case", "in", "not",
    "and", "or", "delete", "go",
];

/// How a line that belongs to the block below it begins.
const ATTACHED: [&str; 9] = ["//", "#[", "# ", "@", "/*", "*", "--", "\"\"\"", ";;"];

/// Returns the lines of every block that begins with the words, in order. `Cart::add` and `Cart.add` are
/// also a block `add` in one of `Cart`.
pub(super) fn all(fragment: &str, lines: &[&str]) -> Vec<Range<usize>> {
    let words = fragment.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.strip_suffix("()").unwrap_or(&words).trim_end();
    let found = simple(words, lines);
    let Some((outer, inner)) = words.rsplit_once("::").or_else(|| words.rsplit_once('.')) else {
        return found;
    };
    if !found.is_empty() || !is_name(inner) {
        return found;
    }
    let mut found: Vec<Range<usize>> = simple(outer, lines)
        .into_iter()
        .flat_map(|outer| {
            let within = simple(inner, &lines[outer.clone()]).into_iter();
            within.map(move |inner| outer.start + inner.start..outer.start + inner.end)
        })
        .filter(|inner| inner.len() < lines.len())
        .collect();
    found.sort_by_key(|range| (range.start, range.end));
    found.dedup();
    found
}

fn simple(words: &str, lines: &[&str]) -> Vec<Range<usize>> {
    if words.is_empty() || MODIFIERS.contains(&words) || VALUES.contains(&words) {
        return Vec::new();
    }
    // Most lines do not have the first word at all, and that is seen at once.
    let first = words.split(' ').next().unwrap_or(words);
    let first = memchr::memmem::Finder::new(first);
    let begun = |how: fn(&str, &str) -> bool| -> Vec<Range<usize>> {
        (0..lines.len())
            .filter(|nth| first.find(lines[*nth].as_bytes()).is_some())
            .filter(|nth| how(lines[*nth], words))
            .take(MAX_NAMESAKES)
            .map(|nth| block(lines, nth))
            .collect()
    };
    let found = begun(begins_with);
    if !found.is_empty() {
        return found;
    }
    // `int add(int x) {`: languages that say the type where others say what it is.
    let may_be_a_name = words.chars().all(|c| is_of_a_word(c) || ":.~".contains(c));
    if may_be_a_name {
        begun(declares)
    } else {
        found
    }
}

fn is_name(words: &str) -> bool {
    words.chars().all(is_of_a_word)
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns what is behind the words at the beginning of a text; `fn deploy` is not the beginning of
/// `fn deploy_all`.
fn behind<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let behind = line.strip_prefix(words)?;
    let ends = !words.ends_with(is_of_a_word) || !behind.starts_with(is_of_a_word);
    ends.then_some(behind)
}

fn begins_with(line: &str, words: &str) -> bool {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    begins(&line, words) || without_aside(&line).is_some_and(|line| begins(&line, words))
}

/// Returns a line without what stands between its first word and the name: the receiver of
/// `func (c *Cart) Add(`, the parameters of `impl<T> Cart<T>`.
fn without_aside(line: &str) -> Option<String> {
    let (word, rest, close) = match (line.strip_prefix("func ("), line.strip_prefix("impl<")) {
        (Some(rest), _) => ("func", rest, ')'),
        (_, Some(rest)) => ("impl", rest, '>'),
        _ => return None,
    };
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 && c == close {
            return Some(format!("{word} {}", rest[at + 1..].trim_start()));
        }
    }
    None
}

fn begins(line: &str, words: &str) -> bool {
    let is_name = is_name(words);
    let mut rest = line;
    let mut is_declared = false;
    loop {
        if let Some(behind) = behind(rest, words) {
            // A bare name at the beginning of a line may be a call or a value.
            let opens = behind.ends_with(['{', ':']) || behind.trim_start().starts_with([':', '=']);
            if !is_name || is_declared || opens {
                return true;
            }
        }
        let Some((first, behind)) = rest.split_once(' ') else {
            return false;
        };
        // `pub(crate)`, `extern "C"`, `impl<T>` and the like.
        let word = first.split(['(', '<']).next().unwrap_or(first);
        let is_modifier =
            MODIFIERS.contains(&word) || VALUES.contains(&word) || first.starts_with('"');
        if !is_modifier {
            return false;
        }
        is_declared = true;
        rest = behind;
    }
}

/// Tells whether a line is the head of a function behind a type: `static int *add(int x) {`.
fn declares(line: &str, name: &str) -> bool {
    let mut from = 0;
    while let Some(at) = line[from..].find(name).map(|at| from + at) {
        from = at + name.len();
        let (before, after) = (&line[..at], &line[from..]);
        let is_whole = !before.ends_with(is_of_a_word) && !after.starts_with(is_of_a_word);
        let is_called = after.trim_start().starts_with('(');
        let is_type = |c: char| is_of_a_word(c) || " \t<>[],:&*~?@".contains(c);
        let has_type = before.chars().any(is_of_a_word)
            && before.chars().all(is_type)
            && !before
                .split_whitespace()
                .any(|word| NOT_TYPES.contains(&word));
        let is_statement = line.trim_end().ends_with(';');
        if is_whole && is_called && has_type && !is_statement {
            return true;
        }
    }
    false
}

fn indentation(line: &str) -> usize {
    line.chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

/// Tells whether a line at the block's own depth still belongs to it: a closing bracket or word, or what
/// opens the body on a line of its own.
fn closes_or_opens(line: &str) -> bool {
    let line = line.trim();
    let word = line.split([' ', ';', '(']).next().unwrap_or(line);
    line.starts_with(['}', ')', ']', '{', '>'])
        || matches!(word, "end" | "where" | "begin" | "BEGIN" | "END")
}

/// Returns the lines of the block that begins at a line.
fn block(lines: &[&str], beginning: usize) -> Range<usize> {
    let end = by_braces(lines, beginning).unwrap_or_else(|| by_depth(lines, beginning));
    let depth = indentation(lines[beginning]);
    let above = lines[..beginning].iter().rev().take_while(|line| {
        indentation(line) == depth
            && ATTACHED
                .iter()
                .any(|mark| line.trim_start().starts_with(mark))
    });
    without_blank_end(lines, beginning - above.count()..end)
}

/// Returns where the block ends whose head opens a brace: behind the first line that closes one at the
/// depth of the beginning. What is not indented before that, such as text or directives, belongs to it.
fn by_braces(lines: &[&str], beginning: usize) -> Option<usize> {
    let depth = indentation(lines[beginning]);
    let opens = |line: &str| line.trim_end().ends_with('{');
    let mut is_open = opens(lines[beginning]);
    for (nth, line) in lines.iter().enumerate().skip(beginning + 1) {
        let is_at_depth = indentation(line) == depth;
        if is_open {
            if is_at_depth && line.trim_start().starts_with('}') {
                if !opens(line) {
                    return Some(nth + 1);
                }
            } else if indentation(line) < depth && line.trim_start().starts_with('}') {
                return None;
            }
        } else if line.trim().is_empty() {
            return None;
        } else if is_at_depth && closes_or_opens(line) {
            is_open = opens(line);
        } else if indentation(line) <= depth {
            return None;
        }
    }
    None
}

/// Returns where the block ends that is told by indentation alone.
fn by_depth(lines: &[&str], beginning: usize) -> usize {
    let depth = indentation(lines[beginning]);
    let mut end = beginning + 1;
    let mut quotes = Quotes::default();
    quotes.pass(lines[beginning]);
    for (nth, line) in lines.iter().enumerate().skip(beginning + 1) {
        let is_quoted = quotes.is_open();
        quotes.pass(line);
        if line.trim().is_empty() {
            continue;
        }
        let belongs = is_quoted
            || indentation(line) > depth
            || (indentation(line) == depth && closes_or_opens(line));
        if !belongs {
            break;
        }
        end = nth + 1;
    }
    end
}

/// Whether a text in three quotation marks is open, whose lines are indented as they like.
#[derive(Default)]
struct Quotes {
    open: Option<&'static str>,
}

impl Quotes {
    const MARKS: [&'static str; 2] = ["\"\"\"", "'''"];

    const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn pass(&mut self, line: &str) {
        let mut rest = line;
        loop {
            let next = match self.open {
                Some(mark) => rest.find(mark).map(|at| (at, mark)),
                None => Self::MARKS
                    .iter()
                    .filter_map(|mark| Some((rest.find(mark)?, *mark)))
                    .min(),
            };
            let Some((at, mark)) = next else { return };
            self.open = if self.open.is_some() {
                None
            } else {
                Some(mark)
            };
            rest = &rest[at + mark.len()..];
        }
    }
}

#[cfg(test)]
mod tests;
