//! Values that are code: a call, a member, a type, a constant, the name of a variable.

use super::{has_digit, is_name, is_word, starts_with};

/// Tells whether a value is code that fetches one: a call, a member, an environment name, a type.
pub(crate) fn is_code(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "empty",
        "required",
        "optional",
        "string",
        "str",
        "int",
        "bool",
        "boolean",
        "text",
        "secret",
        "password",
        "passwd",
        "token",
        "value",
        "key",
        "env",
        "bearer",
        "basic",
        "missing",
        "invalid",
        "hidden",
        "unset",
        "default",
        "number",
        "integer",
        "varchar",
        "char",
        "self",
        "bytes",
        "object",
        "any",
        "unknown",
        "incorrect",
        "wrong",
        "username",
        "user",
        "email",
        "credentials",
        "input",
        "param",
        "prompt",
        "encrypted",
        "plaintext",
        "authorization",
        "cookie",
        "header",
        "forbidden",
        "private",
        "public",
        "redacted",
        "masked",
        "here",
    ];
    const OBJECTS: &[&str] = &[
        "process.",
        "os.",
        "config.",
        "self.",
        "this.",
        "args.",
        "options.",
        "settings.",
        "req.",
        "request.",
        "env.",
        "import.meta",
        "secrets.",
        "std::",
        "cfg.",
        "conf.",
        "props.",
        "opts.",
    ];
    let starts = |word: &&str| starts_with(value, word);
    let environment_name = value.contains('_')
        && value
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && value.bytes().any(|b| b.is_ascii_uppercase());
    let bare = value.trim_end_matches(['?', '!', '.', ':', ';']);
    WORDS.iter().any(|word| bare.eq_ignore_ascii_case(word))
        || OBJECTS.iter().any(starts)
        || value
            .as_bytes()
            .windows(2)
            .any(|two| matches!(two, b"()" | b"::"))
        || value.ends_with('(')
        || environment_name
        || is_call(value)
        || is_type_or_attribute(value)
        || is_constant_of(value)
        || value.starts_with('^') && value.ends_with('$') && value.contains(['[', '(', '\\'])
        || value.contains('.')
            && value
                .split('.')
                .all(|part| is_name(part) && !has_digit(part))
        || value.rsplit_once('.').is_some_and(|(path, member)| {
            member.len() >= 6 && is_word(member) && path.split('.').all(is_name)
        })
        || value.contains('[')
            && value.ends_with(']')
            && is_name(value.split('[').next().unwrap_or(""))
}

/// `&str`, `&[u8]`, `&mut Vec<u8>`, `&AccountRow`, `Option<String>`, `#[allow]`.
fn is_type_or_attribute(value: &str) -> bool {
    if value.starts_with("#[") || value.starts_with("#![") {
        return true;
    }
    let (referred, rest) = match value.strip_prefix('&') {
        Some(rest) => (true, rest.trim_start_matches("mut ")),
        None => (false, value),
    };
    let rest = rest.trim_end_matches([',', ';']);
    let slice = rest.starts_with('[') && rest.ends_with(']');
    let generic = rest.contains('<') && rest.ends_with('>');
    let named = rest.starts_with(|c: char| c.is_ascii_uppercase())
        && rest.bytes().any(|b| b.is_ascii_lowercase())
        && rest.bytes().all(|b| b.is_ascii_alphabetic());
    referred && (slice || named || matches!(rest, "str" | "self" | "dyn"))
        || generic
            && rest
                .split(['<', '>', ',', ' ', ':', '&', '[', ']', '\''])
                .all(is_word_or_nothing)
            && rest.starts_with(|c: char| c.is_ascii_uppercase())
}

fn is_word_or_nothing(part: &str) -> bool {
    part.is_empty() || is_word(part)
}

/// `winreg.KEY_WOW64_32KEY`: a constant of a module.
fn is_constant_of(value: &str) -> bool {
    let value = value.trim_start_matches('[');
    let (path, constant) = value.rsplit_once('.').unwrap_or(("module", value));
    path.split('.').all(is_name)
        && constant.contains('_')
        && constant.len() >= 6
        && constant
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Tells whether a value is a function and its arguments.
fn is_call(value: &str) -> bool {
    let value = value.trim_end_matches(['?', ';', ',']);
    value.split_once('(').is_some_and(|(callee, rest)| {
        callee.len() >= 2
            && callee
                .split(['.', ':'])
                .all(|part| part.is_empty() || is_name(part))
            && (value.ends_with(')')
                || rest.starts_with(['"', '\''])
                // Cut at its comma.
                || callee.contains('.') && !rest.contains(')'))
    })
}
