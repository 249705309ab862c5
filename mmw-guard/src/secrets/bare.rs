//! Tokens that stand alone: nothing names them, but nobody writes such a run of characters by hand.
//!
//! Ids and digests of the usual kinds are spared by their form: hexadecimal, UUID, ULID, lock file
//! hashes, public keys, parts of addresses. Short tokens pass; without a name they cannot be told.

use std::ops::Range;

use crate::entropy::disorder;
use crate::shape;
use crate::views::base64_text;

/// The row of the table that it reports.
pub(super) const RULE: &str = "random-token";
/// The shortest run of letters and digits that is judged, in bytes.
const MIN_RUN_BYTES: usize = 20;
/// The shortest run of letters of one case and digits, in bytes: a ULID has 26.
const MIN_ONE_CASE_BYTES: usize = 28;
/// The longest run that is taken for a token, in bytes; longer ones are data.
const MAX_RUN_BYTES: usize = 400;
/// The fewest words that make an encoded run a text.
const MIN_WORDS: usize = 3;
/// How far back its context is read, in bytes.
const CONTEXT_BYTES: usize = 40;
/// How far back the beginning of an address is looked for, in bytes.
const ADDRESS_BYTES: usize = 256;

/// How files of pictures, sound, archives and documents begin in base64.
const FILES: &[&str] = &[
    "iVBORw0KGgo",
    "R0lGOD",
    "/9j/",
    "UklGR",
    "UEsDB",
    "JVBERi",
    "H4sI",
    "AAAB",
    "d09G",
    "T2dnU",
];

/// Returns the spans of tokens that stand alone.
pub(super) fn in_text(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0_usize;
    // A long run has a member at every twentieth byte: the others need no look.
    while let Some(probe) = at
        .checked_add(MIN_RUN_BYTES - 1)
        .filter(|probe| *probe < bytes.len())
    {
        if let Some(gap) = (at..=probe)
            .rev()
            .find(|n| !bytes[*n].is_ascii_alphanumeric())
        {
            at = gap + 1;
            continue;
        }
        let end = probe
            + bytes[probe..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
        let run = at..end;
        at = end;
        if is_random(&bytes[run.clone()]) {
            let token = whole(bytes, &run);
            if !is_spared(text, &token) {
                at = at.max(token.end);
                found.push(token);
            }
        }
    }
    found
}

/// Tells whether letters and digits follow each other as chance has it: written words change
/// between small letters, capitals and digits far more rarely.
fn is_random(run: &[u8]) -> bool {
    if run.len() > MAX_RUN_BYTES {
        return false;
    }
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let mut counts = [0_usize; 3];
    let mut n_other = 0;
    for byte in run {
        counts[usize::from(class(*byte))] += 1;
        n_other += usize::from(!byte.is_ascii_hexdigit());
    }
    let changes = run
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    if reads_as_words(run) {
        return false;
    }
    let [small, capital, digit] = counts;
    // A digest with a mark before or behind it (`R194`) is one still.
    if n_other * 8 < run.len() || digit < 2 {
        return false;
    }
    if small > 0 && capital > 0 {
        // Chance changes class at six places of ten.
        return changes * 3 >= run.len();
    }
    // Of letters of one case and digits, at four of ten.
    run.len() >= MIN_ONE_CASE_BYTES && digit >= 4 && changes * 4 >= run.len()
}

/// Tells whether half of a run is words of four small letters and more, as names in code with numbers
/// in them are (`ID3D11GeometryShader`, `CreateFromWin32Handle`): chance draws few.
fn reads_as_words(run: &[u8]) -> bool {
    let mut n_in_words = 0;
    for word in run.split(|byte| !byte.is_ascii_lowercase()) {
        let is_word =
            word.len() >= 4 && std::str::from_utf8(word).is_ok_and(|word| disorder(word) <= 0.34);
        if is_word {
            n_in_words += word.len() + 1;
        }
    }
    n_in_words * 2 >= run.len()
}

/// Returns the run with what belongs to the same token. A slash belongs to it only where the token
/// is base64 by another sign; else it parts the names of a path.
fn whole(bytes: &[u8], run: &Range<usize>) -> Range<usize> {
    let around = |joins: &dyn Fn(u8) -> bool| {
        let before = bytes[..run.start]
            .iter()
            .rev()
            .take(MAX_RUN_BYTES)
            .take_while(|byte| joins(**byte))
            .count();
        let after = bytes[run.end..]
            .iter()
            .take(MAX_RUN_BYTES)
            .take_while(|byte| joins(**byte) || **byte == b'=')
            .count();
        run.start - before..run.end + after
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let encoded = around(&|byte| plain(byte) || matches!(byte, b'+' | b'/'));
    let is_base64 = bytes[encoded.clone()]
        .iter()
        .any(|byte| matches!(byte, b'+' | b'='));
    if is_base64 { encoded } else { around(&plain) }
}

fn is_spared(text: &str, token: &Range<usize>) -> bool {
    let said = &text[token.clone()];
    let before =
        &text[text.floor_char_boundary(token.start.saturating_sub(CONTEXT_BYTES))..token.start];
    let before = before.to_ascii_lowercase();
    let is_data = said.len() > MAX_RUN_BYTES
        || [
            "base64,",
            "data:",
            "ssh-rsa ",
            "ed25519 ",
            "ssh-dss ",
            "nistp256 ",
            "public",
            "integrity",
            "certificate",
        ]
        .iter()
        .any(|word| before.contains(word))
        || said.starts_with("AAAA")
        || said.starts_with("MII")
        || said.starts_with("eyJ")
        || FILES.iter().any(|magic| said.starts_with(magic));
    let is_digest = [
        "sha1", "sha256", "sha384", "sha512", "sha-", "hash", "digest", "checksum", "h1:", "md5",
        "etag", "nonce",
    ]
    .iter()
    .any(|word| before.contains(word) || said.to_ascii_lowercase().starts_with(word));
    is_data
        || is_digest
        || shape::is_example(said)
        || shape::is_identifier(said)
        || shape::is_periodic(said)
        || is_in_address(text, token.start)
        // What is written in it is read elsewhere: as secrets, and as orders to the agent.
        || base64_text(said).is_some_and(|text| text.split_whitespace().count() >= MIN_WORDS)
}

/// Tells whether a token is a part of a path in an address: what is shared by address is no secret
/// of its own. A parameter is not spared.
fn is_in_address(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let start = bytes[..at]
        .iter()
        .rev()
        .take(ADDRESS_BYTES)
        .take_while(|byte| {
            byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'(')
        })
        .count();
    let before = &bytes[at - start..at];
    let is_address = memchr::memmem::find(before, b"://").is_some();
    is_address && !before.iter().any(|byte| matches!(byte, b'?' | b'=' | b'@'))
        || before.ends_with(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        in_text(text).into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn a_run_that_nobody_writes_by_hand_is_found() {
        for token in [
            "2Tm6cdsRVBTL9hRCmR6MRDTpMLFS4I",
            "Zk3v9QpL2xWm7RtB4nYc",
            "p4q7z0m3k8x1w6v9t2r5s8y1u4b7n0c3",
        ] {
            assert_eq!(found(&format!("it was {token}, then")), [token]);
        }
    }

    #[test]
    fn ids_digests_names_and_addresses_are_spared() {
        for text in [
            "4c536992c26b46b68ffc68ff99b453c1d3041341",
            "0192f0c1-8a6b-7c3d-9e4f-0123456789ab",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "sha512-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Qw8x1w6v9t2r5s8y1==",
            "golang.org/x/text v0.3.7 h1:olpwvP2KacW1ZWvsR7uQhoyTYvKAupfQrRGBFM352Gk=",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0mYbRj8cE1nZkXo3rDkq0a7v0o0wq9N2m1o7J8fX2b",
            "https://docs.example/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
            "getAccessTokenFromSessionStoreV2ForUserId",
            "InternationalizationTestSuite2024Results",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
            "shortA1b2C3",
            // Words that look mixed by their numbers.
            "ID3D11GeometryShader, CreateFromWin32Handle",
            "totalEventCountLast24Hours K32EnumProcessModules",
            "x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
            "aB3aB3aB3aB3aB3aB3aB3aB3aB3",
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
