//! Technical terms that only look mixed.

/// Tells whether a value is a technical term that only looks mixed (`SHA-256`, `OAuth2`, `UTF-8`).
pub(crate) fn is_term(value: &str) -> bool {
    const TERMS: &[&str] = &[
        "1password",
        "oauth2",
        "oauth1",
        "sha1",
        "sha2",
        "sha3",
        "sha256",
        "sha512",
        "sha384",
        "md5",
        "base64",
        "base64url",
        "base32",
        "utf8",
        "utf16",
        "argon2",
        "argon2id",
        "pbkdf2",
        "es256",
        "rs256",
        "hs256",
        "x509",
        "ed25519",
        "ascii",
        "bcrypt",
        "2fa",
        "ipv4",
    ];
    // No term is longer, its signs aside.
    const MAX_TERM_BYTES: usize = 9;
    let is_term = |part: &str| {
        let letters = || {
            part.bytes()
                .filter(|b| !matches!(b, b'-' | b'_'))
                .map(|b| b.to_ascii_lowercase())
        };
        // Most terms are told by their first letter.
        let Some(first) = letters().next() else {
            return false;
        };
        part.len() <= 2 * MAX_TERM_BYTES
            && TERMS
                .iter()
                .any(|term| term.as_bytes()[0] == first && letters().eq(term.bytes()))
    };
    let sign = |c: char| matches!(c, '-' | '_');
    let first = value.split(sign).next().unwrap_or("");
    let head = value
        .match_indices(sign)
        .nth(1)
        .map_or(value, |(at, _)| &value[..at]);
    let measure = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    let is_named = is_term(value)
        || first.len() < value.len()
            && (is_term(first) || head.len() < value.len() && is_term(head));
    let parts = || value.split(['-', '_', '/']);
    let is_listed = |part: &str| TERMS.iter().any(|term| part.eq_ignore_ascii_case(term));
    let listed = parts()
        .all(|part| part.bytes().all(|b| b.is_ascii_alphabetic()) || is_listed(part))
        && parts().any(is_listed);
    listed
        || is_named
        || measure.len() < value.len()
            && (measure.is_empty() && value.contains(['-', '.'])
                || [
                    "bit",
                    "bits",
                    "bytes",
                    "chars",
                    "characters",
                    "digits",
                    "days",
                    "h",
                    "s",
                    "ms",
                    "min",
                    "px",
                ]
                .iter()
                .any(|unit| measure.eq_ignore_ascii_case(unit)))
}
