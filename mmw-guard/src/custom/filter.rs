//! The part of betterleaks' filter expressions that is understood: when a match is taken back.
//!
//! Understood are `entropy(…) < 3.5` (and `<=`, `>`, `>=`), `matchesAny(…, […])`, `containsAny(…, […])` on
//! `finding["secret"]`, `finding["match"]` and `finding["line"]`, joined with `||`, `&&`, `!` and brackets; a call
//! may be written with `filter.` before it. Words are compared without regard to case.
//! Anything else is *unknown*: neither true nor false. A match is taken back only if the expression
//! is true whatever the unknown parts are, so that what is not understood never lets a secret pass.

use std::str::FromStr as _;

use super::allow::{Finding, Target};
use super::form::Form;
use crate::entropy::shannon;

/// The most brackets within brackets.
const MAX_DEPTH: usize = 32;

/// A filter.
#[derive(Debug)]
pub(super) enum Filter {
    Either(Vec<Filter>),
    Both(Vec<Filter>),
    Not(Box<Filter>),
    Entropy(Target, Comparison, f64),
    MatchesAny(Target, Vec<Form>),
    ContainsAny(Target, Vec<String>),
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// A filter as it was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) filter: Filter,
    /// Whether a part of it is not understood.
    pub(super) is_partial: bool,
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// If an expression in it is malformed. What is only unknown is no error.
    pub(super) fn read(text: &str) -> Result<Read, String> {
        let tokens = tokens(text);
        // Names that are bound before the expression itself: what uses them is unknown.
        let from = last_outside(&tokens, |token| *token == Token::Sign(";")).map_or(0, |at| at + 1);
        let tokens = &tokens[from..];
        let filter = either(tokens, 0)?;
        Ok(Read {
            is_partial: from > 0 || filter.has_unknown(),
            filter,
        })
    }

    /// Tells whether the filter takes the match back, whatever its unknown parts say.
    pub(super) fn discards(&self, finding: &Finding<'_>) -> bool {
        self.value(finding) == Some(true)
    }

    /// Returns the value; none if it hangs on what is unknown.
    fn value(&self, finding: &Finding<'_>) -> Option<bool> {
        match self {
            Self::Either(parts) => any(parts.iter().map(|part| part.value(finding))),
            Self::Both(parts) => {
                any(parts.iter().map(|part| part.value(finding).map(|is| !is))).map(|is| !is)
            }
            Self::Not(part) => part.value(finding).map(|is| !is),
            Self::Entropy(target, comparison, bound) => {
                let entropy = shannon(finding.part(*target));
                Some(match comparison {
                    Comparison::Less => entropy < *bound,
                    Comparison::LessOrEqual => entropy <= *bound,
                    Comparison::More => entropy > *bound,
                    Comparison::MoreOrEqual => entropy >= *bound,
                })
            }
            Self::MatchesAny(target, forms) => {
                let part = finding.part(*target).as_bytes();
                Some(forms.iter().any(|form| form.is_match(part)))
            }
            Self::ContainsAny(target, words) => {
                let part = finding.part(*target).to_lowercase();
                Some(words.iter().any(|word| part.contains(word.as_str())))
            }
            Self::Unknown => None,
        }
    }

    fn has_unknown(&self) -> bool {
        match self {
            Self::Either(parts) | Self::Both(parts) => parts.iter().any(Self::has_unknown),
            Self::Not(part) => part.has_unknown(),
            Self::Unknown => true,
            Self::Entropy(..) | Self::MatchesAny(..) | Self::ContainsAny(..) => false,
        }
    }

    /// Compiles its expressions.
    ///
    /// # Errors
    /// If one is larger than is taken.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Either(parts) | Self::Both(parts) => parts.iter().try_for_each(Self::check),
            Self::Not(part) => part.check(),
            Self::MatchesAny(_, forms) => forms.iter().try_for_each(Form::check),
            Self::Entropy(..) | Self::ContainsAny(..) | Self::Unknown => Ok(()),
        }
    }
}

/// True if one is, false if all are, else unknown.
fn any(values: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for value in values {
        match value {
            Some(true) => return Some(true),
            Some(false) => {}
            None => known = false,
        }
    }
    known.then_some(false)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(f64),
    Sign(&'static str),
    Other,
}

/// The longest first.
const SIGNS: [&str; 18] = [
    "||", "&&", "<=", ">=", "==", "!=", "??", "(", ")", "[", "]", "!", "<", ">", ",", ";", "?", ".",
];

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some((text, length)) = raw(rest) {
            tokens.push(Token::Text(text));
            length
        } else if matches!(c, '"' | '\'' | '`') {
            let (text, length) = quoted(rest, c);
            tokens.push(Token::Text(text));
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            sign.len()
        } else if c.is_ascii_digit() {
            let length = rest
                .bytes()
                .take_while(|b| b.is_ascii_digit() || *b == b'.')
                .count();
            tokens.push(f64::from_str(&rest[..length]).map_or(Token::Other, Token::Number));
            length
        } else if c.is_alphabetic() || c == '_' {
            let length = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else {
            tokens.push(Token::Other);
            c.len_utf8()
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Returns a raw text of three quotes (`r"""a"""`), and the bytes that it takes.
fn raw(rest: &str) -> Option<(String, usize)> {
    const OPEN: &str = "r\"\"\"";
    let text = rest.strip_prefix(OPEN)?;
    let end = text.find(&OPEN[1..])?;
    Some((text[..end].to_owned(), end + 2 * OPEN.len() - 1))
}

/// Returns a quoted text without its escapes, and the bytes that it takes. Backquotes know none.
fn quoted(rest: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return (text, at + 1);
        }
        if c == '\\' && quote != '`' {
            match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, c)) => text.push(c),
                None => {}
            }
        } else {
            text.push(c);
        }
    }
    (text, rest.len())
}

/// Returns where the last such token stands outside all brackets.
fn last_outside(tokens: &[Token], is: impl Fn(&Token) -> bool) -> Option<usize> {
    outside(tokens).filter(|at| is(&tokens[*at])).last()
}

/// Returns the places of the tokens that stand outside all brackets.
fn outside(tokens: &[Token]) -> impl Iterator<Item = usize> + '_ {
    let mut depth = 0_usize;
    (0..tokens.len()).filter(move |at| match &tokens[*at] {
        Token::Sign("(" | "[") => {
            depth += 1;
            false
        }
        Token::Sign(")" | "]") => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    })
}

fn split<'t>(tokens: &'t [Token], sign: &'static str) -> Vec<&'t [Token]> {
    let mut parts = Vec::new();
    let mut from = 0;
    for at in outside(tokens) {
        if tokens[at] == Token::Sign(sign) {
            parts.push(&tokens[from..at]);
            from = at + 1;
        }
    }
    parts.push(&tokens[from..]);
    parts
}

fn either(tokens: &[Token], depth: usize) -> Result<Filter, String> {
    // A choice (`a ? b : c`) binds weaker than everything here.
    let is_choice = |token: &Token| matches!(token, Token::Sign("?" | "??" | ";"));
    if depth > MAX_DEPTH || last_outside(tokens, is_choice).is_some() {
        return Ok(Filter::Unknown);
    }
    let parts = split(tokens, "||");
    let parts = parts.into_iter().map(|part| both(part, depth));
    parts.collect::<Result<_, _>>().map(Filter::Either)
}

fn both(tokens: &[Token], depth: usize) -> Result<Filter, String> {
    let parts = split(tokens, "&&");
    let parts = parts.into_iter().map(|part| single(part, depth));
    parts.collect::<Result<_, _>>().map(Filter::Both)
}

fn single(tokens: &[Token], depth: usize) -> Result<Filter, String> {
    if let [Token::Sign("!"), rest @ ..] = tokens {
        return if depth > MAX_DEPTH {
            Ok(Filter::Unknown)
        } else {
            Ok(Filter::Not(Box::new(single(rest, depth + 1)?)))
        };
    }
    if let [Token::Sign("("), inner @ .., Token::Sign(")")] = tokens
        && outside(tokens).next().is_none()
        && closes_at_the_end(tokens)
    {
        return either(inner, depth + 1);
    }
    call(tokens)
}

/// Tells whether the first bracket is closed by the last token, not before.
fn closes_at_the_end(tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1 == tokens.len();
        }
    }
    false
}

/// Reads one of the calls that are understood.
fn call(tokens: &[Token]) -> Result<Filter, String> {
    let tokens = match tokens {
        [Token::Word(room), Token::Sign("."), call @ ..] if room == "filter" => call,
        tokens => tokens,
    };
    let [Token::Word(name), Token::Sign("("), rest @ ..] = tokens else {
        return Ok(Filter::Unknown);
    };
    let Some((target, rest)) = target(rest) else {
        return Ok(Filter::Unknown);
    };
    Ok(match (name.as_str(), rest) {
        ("entropy", [Token::Sign(")"), Token::Sign(sign), Token::Number(bound)]) => {
            let comparison = match *sign {
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::More,
                ">=" => Comparison::MoreOrEqual,
                _ => return Ok(Filter::Unknown),
            };
            Filter::Entropy(target, comparison, *bound)
        }
        ("matchesAny", list) => match words(list) {
            Some(words) => {
                let forms = words.iter().map(|word| {
                    Form::new(word).map_err(|why| format!("in `matchesAny`, `{word}`: {why}"))
                });
                Filter::MatchesAny(target, forms.collect::<Result<_, _>>()?)
            }
            None => Filter::Unknown,
        },
        ("containsAny", list) => match words(list) {
            Some(words) => {
                let words = words.iter().map(|word| word.to_lowercase());
                Filter::ContainsAny(target, words.collect())
            }
            None => Filter::Unknown,
        },
        _ => Filter::Unknown,
    })
}

/// Reads what a call looks at: `finding["secret"]`, or `secret` alone.
fn target(tokens: &[Token]) -> Option<(Target, &[Token])> {
    let named = |name: &str| match name {
        "secret" => Some(Target::Secret),
        "match" => Some(Target::Match),
        "line" => Some(Target::Line),
        _ => None,
    };
    match tokens {
        [
            Token::Word(word),
            Token::Sign("["),
            Token::Text(name),
            Token::Sign("]"),
            rest @ ..,
        ] if word == "finding" => Some((named(name)?, rest)),
        [Token::Word(name), rest @ ..] => Some((named(name)?, rest)),
        _ => None,
    }
}

/// Reads `, ["a", "b"])`.
fn words(tokens: &[Token]) -> Option<Vec<&str>> {
    let [
        Token::Sign(","),
        Token::Sign("["),
        list @ ..,
        Token::Sign("]"),
        Token::Sign(")"),
    ] = tokens
    else {
        return None;
    };
    let list = match list {
        // A comma may follow the last.
        [list @ .., Token::Sign(",")] => list,
        list => list,
    };
    let mut words = Vec::new();
    for (at, token) in list.iter().enumerate() {
        match (at % 2, token) {
            (0, Token::Text(text)) => words.push(text.as_str()),
            (1, Token::Sign(",")) => {}
            _ => return None,
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FINDING: Finding<'_> = Finding {
        secret: "aaaabbbb",
        whole: "key: aaaabbbb",
        line: "the key: aaaabbbb EXAMPLE",
    };

    #[test]
    fn what_is_understood_is_evaluated() {
        for (text, discards) in [
            (r#"entropy(finding["secret"]) < 3.5"#, true),
            (r#"entropy(finding["secret"]) <= 1"#, true),
            (r#"entropy(finding["secret"]) < 1"#, false),
            (r#"entropy(secret) >= 0.5"#, true),
            (r#"matchesAny(finding["secret"], [`^a+b+$`, `x`])"#, true),
            (r#"matchesAny(finding["match"], ["^a+"],)"#, false),
            (r#"containsAny(finding["line"], ["example",])"#, true),
            (r#"!matchesAny(finding["secret"], [`x`])"#, true),
            (
                "// why\nentropy(secret) > 7 || containsAny(secret, ['AABB'])",
                true,
            ),
            (
                "entropy(secret) < 7 && (entropy(secret) > 6 || !containsAny(match, [\"key\"]))",
                false,
            ),
            ("(entropy(secret) < 7) && (entropy(secret) > 0)", true),
            ("matchesAny(secret, [`a||b`])", true),
            (r#"filter.entropy(finding["secret"]) <= 3.0"#, true),
            (r#"matchesAny(finding["secret"], [r"""^a"*a"""])"#, true),
            (r#"other.entropy(finding["secret"]) <= 3.0"#, false),
        ] {
            let read = Filter::read(text).unwrap();
            assert_eq!(read.filter.discards(&FINDING), discards, "{text}");
        }
    }

    #[test]
    fn what_is_unknown_never_takes_a_match_back_by_itself() {
        for (text, discards) in [
            ("tokenRatio(secret) >= 2.5", false),
            ("!tokenRatio(secret)", false),
            ("entropy(secret) < 3.5 || tokenRatio(secret) >= 2.5", true),
            ("entropy(secret) < 3.5 && tokenRatio(secret) >= 2.5", false),
            (
                "entropy(secret) > 3.5 || failsTokenEfficiency(secret)",
                false,
            ),
            ("entropy(secret) < 3.5 ? false : false", false),
            ("let a = entropy(secret) < 9 || b; a", false),
            ("let a = 1; a || entropy(secret) < 9", true),
            ("matchesAny(attributes[\"path\"], [`a`])", false),
            ("true", false),
            ("", false),
        ] {
            let read = Filter::read(text).unwrap();
            assert_eq!(read.filter.discards(&FINDING), discards, "{text}");
            assert!(read.is_partial, "{text}");
        }
    }

    #[test]
    fn a_malformed_expression_is_told() {
        let told = Filter::read("matchesAny(secret, [`(a`])").unwrap_err();
        assert!(told.contains("unclosed group"), "{told}");
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_ends(
            text in "(entropy|matchesAny|secret|match|finding|\\(|\\)|\\[|\\]|\"|`|'|,|;|!|\\|\\||&&|<|3|é| |\n|\\?|/|\\*){0,40}"
        ) {
            if let Ok(read) = Filter::read(&text) {
                let _ = read.filter.discards(&FINDING);
            }
        }
    }

    #[test]
    fn brackets_without_end_are_unknown() {
        let deep = format!("{}entropy(secret) < 9{}", "(".repeat(200), ")".repeat(200));
        assert!(Filter::read(&deep).unwrap().is_partial);
        let deep = format!("{}entropy(secret) < 9", "!".repeat(10_000));
        assert!(Filter::read(&deep).unwrap().is_partial);
    }
}
