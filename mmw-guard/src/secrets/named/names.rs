//! The name that a keyword is a part of: `DB_PASSWORD_PROD`, `x-api-key`, `accessToken`.
//!
//! Tells whether the name as a whole still calls its value a secret: a `token_count` or a
//! `password_hash` does not. Values are not looked at.

use super::scan::{Place, before, byte, is_name_byte};

/// The most bytes of a name before and after its keyword.
const MAX_BEFORE_BYTES: usize = 64;
const MAX_AFTER_BYTES: usize = 40;

/// Words after the keyword that turn the name to something about the secret.
const ABOUT: &[&str] = &[
    "age",
    "alg",
    "algo",
    "algorithm",
    "arn",
    "at",
    "attempt",
    "attempts",
    "audience",
    "authentication",
    "based",
    "box",
    "by",
    "bucket",
    "budget",
    "cache",
    "callback",
    "category",
    "change",
    "changed",
    "char",
    "chars",
    "check",
    "checker",
    "checksum",
    "class",
    "column",
    "command",
    "comment",
    "config",
    "context",
    "cost",
    "count",
    "counter",
    "counts",
    "created",
    "date",
    "decay",
    "delay",
    "desc",
    "description",
    "dialog",
    "digest",
    "dir",
    "directory",
    "disabled",
    "efficiency",
    "enabled",
    "encoder",
    "encoding",
    "endpoint",
    "entropy",
    "entry",
    "env",
    "error",
    "estimate",
    "exp",
    "expiration",
    "expire",
    "expired",
    "expires",
    "expiry",
    "field",
    "file",
    "filename",
    "fingerprint",
    "flow",
    "fn",
    "form",
    "format",
    "func",
    "function",
    "generator",
    "getter",
    "grant",
    "handler",
    "hash",
    "hashed",
    "hasher",
    "header",
    "help",
    "hint",
    "history",
    "id",
    "ids",
    "in",
    "index",
    "info",
    "input",
    "issuer",
    "iv",
    "kind",
    "label",
    "len",
    "length",
    "less",
    "lifetime",
    "limit",
    "limiter",
    "limits",
    "link",
    "list",
    "location",
    "manager",
    "map",
    "mask",
    "max",
    "md5",
    "message",
    "method",
    "min",
    "mode",
    "model",
    "name",
    "names",
    "number",
    "out",
    "parser",
    "path",
    "pattern",
    "placeholder",
    "policy",
    "position",
    "prefix",
    "price",
    "prompt",
    "protected",
    "provider",
    "rate",
    "ref",
    "regex",
    "required",
    "reset",
    "role",
    "rotation",
    "rules",
    "scanner",
    "scope",
    "scopes",
    "sha",
    "sha1",
    "sha256",
    "size",
    "source",
    "stats",
    "status",
    "store",
    "storage",
    "strategy",
    "strength",
    "suffix",
    "table",
    "template",
    "time",
    "timeout",
    "title",
    "total",
    "ttl",
    "type",
    "types",
    "updated",
    "uri",
    "url",
    "usage",
    "used",
    "valid",
    "validation",
    "validator",
    "var",
    "variable",
    "vault",
    "version",
    "visible",
    "window",
    "word",
    "field_name",
    "endpoints",
    "exchange",
    "response",
    "request",
    "review",
    "service",
    "session",
    "server",
    "set",
    "sort",
    "string",
    "text_area",
    "to",
    "val_len",
    "verify",
    "verified",
    "warning",
    "per",
];

/// Words before the keyword that make it no secret: public keys, map keys, counted tokens.
const OPEN: &[&str] = &[
    "public",
    "pub",
    "batch",
    "item",
    "node",
    "content",
    "blob",
    "asset",
    "build",
    "commit",
    "file",
    "image",
    "bucket",
    "entry",
    "field",
    "cell",
    "sha",
    "digest",
    "minimum",
    "maximum",
    "space",
    "search",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "shortcut",
    "hot",
    "arrow",
    "lookup",
    "composite",
    "unique",
    "index",
    "idempotency",
    "dedup",
    "dedupe",
    "map",
    "object",
    "row",
    "storage",
    "translation",
    "i18n",
    "fact",
    "group",
    "dict",
    "max",
    "min",
    "num",
    "number",
    "count",
    "total",
    "input",
    "output",
    "prompt",
    "completion",
    "next",
    "page",
    "continuation",
    "cancellation",
    "cancel",
    "stop",
    "special",
    "pad",
    "eos",
    "bos",
    "sep",
    "mask",
    "unk",
    "cls",
    "sync",
    "cursor",
    "verification",
    "anon",
    "hash",
    "json",
    "yaml",
    "config",
    "query",
    "react",
    "template",
    "event",
    "message",
    "msg",
    "candidate",
    "accessibility",
    "layer",
    "s3",
    "data",
    "record",
    "registry",
    "parent",
    "child",
    "thinking",
    "reasoning",
    "cached",
    "per",
    "press",
    "host",
    "known",
    "entity",
    "answer",
    "up",
    "ssh_host",
];

/// Heads that join a short keyword without a sign between: `dbpass`, `rootpwd`, `apikey`.
const HEADS: &[&str] = &[
    "db", "my", "user", "root", "admin", "ftp", "sftp", "ssh", "smtp", "mail", "sql", "mysql",
    "pg", "redis", "api", "app", "auth", "login", "bind", "proxy", "http", "https", "svn", "git",
    "vpn", "wifi", "key", "trust", "store", "default", "web", "test", "prod", "dev", "new", "old",
    "master", "bot", "net", "imap", "pop", "ldap", "rabbit", "mongo", "any", "sudo", "account",
];

/// A name in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

/// Returns the name around a keyword, if the keyword is a word of it and it calls for a secret.
///
/// `short` keywords (`pass`, `key`) are a word of their own or follow a head that is known. `open`
/// ones (`key`, `token`) are no secret after some heads: a public key, a page token.
pub(super) fn name_of(place: &Place<'_>, short: bool, open: bool) -> Option<Name> {
    let bytes = place.bytes();
    let mut start = place.start;
    let limit = start.saturating_sub(MAX_BEFORE_BYTES);
    while start > limit && is_name_byte(bytes[start - 1]) {
        start -= 1;
    }
    while start < place.start && matches!(bytes[start], b'-' | b'.') {
        start += 1;
    }
    let mut end = place.end;
    let limit = (end + MAX_AFTER_BYTES).min(bytes.len());
    while end < limit
        && (bytes[end].is_ascii_alphanumeric()
            || bytes[end] == b'_'
            || bytes[end] == b'-' && byte(bytes, end + 1).is_ascii_alphanumeric())
    {
        end += 1;
    }
    let head = &bytes[start..place.start];
    let tail = &bytes[place.end..end];
    let keyword = &bytes[place.start..place.end];
    (joins(head, keyword, short) && !(open && is_open(head)) && follows(keyword, tail))
        .then_some(Name { start, end })
}

/// Tells whether the keyword begins a word after its head.
fn joins(head: &[u8], keyword: &[u8], short: bool) -> bool {
    let last = before(head, head.len());
    if !short || !last.is_ascii_alphabetic() {
        return true;
    }
    if last.is_ascii_lowercase() && byte(keyword, 0).is_ascii_uppercase() {
        return true;
    }
    let run = head.len()
        - head
            .iter()
            .rev()
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
    let run = &head[run..];
    let last_word = run
        .iter()
        .rposition(u8::is_ascii_uppercase)
        .filter(|_| run.iter().any(u8::is_ascii_lowercase))
        .map_or(run, |at| &run[at..]);
    HEADS.iter().any(|known| {
        run.eq_ignore_ascii_case(known.as_bytes())
            || last_word.eq_ignore_ascii_case(known.as_bytes())
    })
}

/// Tells whether the last word of the head says that what follows may be known to all.
fn is_open(head: &[u8]) -> bool {
    let word = words(head).last().unwrap_or(b"");
    OPEN.iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Tells whether what follows the keyword leaves it a secret.
fn follows(keyword: &[u8], tail: &[u8]) -> bool {
    let first = byte(tail, 0);
    let shouted = before(keyword, keyword.len()).is_ascii_uppercase();
    let run_on = first.is_ascii_lowercase() || first.is_ascii_uppercase() && shouted;
    if run_on {
        let run = tail.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let plural = matches!(&tail[..run], b"s" | b"S" | b"e");
        // The word goes on in lower case: `tokenizer`, `passwordless`.
        if !plural {
            return false;
        }
        return about(&tail[run..]);
    }
    about(tail)
}

fn about(tail: &[u8]) -> bool {
    !words(tail).any(|word| {
        ABOUT
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Returns the words of a name: parts between signs, and within them at capitals.
fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|b| matches!(b, b'_' | b'-' | b'.'))
        .flat_map(|part| part.chunk_by(|a, b| !(a.is_ascii_lowercase() && b.is_ascii_uppercase())))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, keyword: &str, short: bool, expected: Option<&str>) {
        let start = text.find(keyword).unwrap();
        let place = Place {
            text,
            start,
            end: start + keyword.len(),
            any_case: false,
        };
        let found = name_of(&place, short, true).map(|name| &text[name.start..name.end]);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_name_is_taken_whole() {
        check(
            "x = spring.datasource.password = y",
            "password",
            false,
            Some("spring.datasource.password"),
        );
        check(
            "DB_PASSWORD_PROD=1",
            "PASSWORD",
            false,
            Some("DB_PASSWORD_PROD"),
        );
        check("--db-password=1", "password", false, Some("db-password"));
        check("accessToken: 1", "Token", false, Some("accessToken"));
        check("secret->value", "secret", false, Some("secret"));
        check("tokens: x", "token", false, Some("tokens"));
    }

    #[test]
    fn a_name_about_a_secret_is_none() {
        for (text, keyword) in [
            ("token_count", "token"),
            ("tokenizer", "token"),
            ("passwordHash", "password"),
            ("password-reset-url", "password"),
            ("TOKEN_LIMIT", "TOKEN"),
            ("max_tokens", "token"),
            ("publicToken", "Token"),
            ("secretKeyRefName", "secret"),
            ("SECRETNAME", "SECRET"),
        ] {
            check(text, keyword, false, None);
        }
    }

    #[test]
    fn a_short_keyword_is_a_word_of_its_own() {
        for text in ["compass", "bypass", "passed", "trespass"] {
            check(text, "pass", true, None);
        }
        check("dbpass", "pass", true, Some("dbpass"));
        check("smtp_pass", "pass", true, Some("smtp_pass"));
        check("rootPass", "Pass", true, Some("rootPass"));
        check("MYSQLPASS=x", "PASS", true, Some("MYSQLPASS"));
    }
}
