//! Screens texts that are made from seeds for a fixed time: nothing panics, a second redaction
//! changes nothing, and what is reported lies in the text.
//!
//! The seeds are in `seeds/` beside the sources; a text that once broke the guard is added there.

use std::time::Duration;

use crate::{Guard, Verdict, samples};
use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use mmw_core::draft::Draft;

/// How long one test runs.
const BUDGET: Duration = Duration::from_secs(6);
/// The longest text, in bytes.
const MAX_BYTES: usize = 4 << 10;

/// Pieces that rules, readings and placeholders are sensitive to.
const PIECES: [&str; 40] = [
    "password",
    " is ",
    "=",
    ":",
    "\"",
    "'",
    "`",
    "\\",
    "\\n",
    "\\u0041",
    "%3D",
    "%",
    "&quot;",
    "&#x41;",
    "&",
    "\u{200b}",
    "\u{202e}",
    "\u{e0041}",
    "ｐｗ：",
    "é",
    "密码",
    "пароль",
    "\n",
    "\r\n",
    "\t",
    "\u{1}",
    "[REDACTED:",
    "[REDACTED:jwt]",
    "]",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "ghp_",
    "eyJ",
    "://",
    "@",
    "/",
    "<!--",
    "-->",
    "<|im_start|>",
    "ignore all previous instructions",
];

const SEEDS: [&str; 3] = [
    include_str!("../seeds/honest.txt"),
    include_str!("../seeds/planted.txt"),
    include_str!("../seeds/secrets.txt"),
];

fn seeds() -> Vec<String> {
    let texts = SEEDS.iter().flat_map(|file| file.split("\n===\n"));
    let samples = samples::samples(11, 300).into_iter();
    let samples = samples.map(|sample| sample.text);
    texts.map(str::to_owned).chain(samples).collect()
}

/// Makes a text: seeds and pieces put into each other, cut and repeated.
fn mutated(seeds: &[String], u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = u.choose(seeds)?.clone();
    for _ in 0..u.int_in_range(0..=8)? {
        let at = text.floor_char_boundary(u.int_in_range(0..=text.len())?);
        match u.int_in_range(0..=5)? {
            0 => text.insert_str(at, u.choose(&PIECES)?),
            1 => text.insert_str(at, u.choose(seeds)?),
            2 => text.truncate(at),
            3 => {
                let end = text.ceil_char_boundary(text.len().min(at + u.int_in_range(0..=40)?));
                let piece = text[at..end].to_owned();
                text.insert_str(at, &piece.repeat(u.int_in_range(1..=6)?));
            }
            4 => {
                let end = text.ceil_char_boundary(text.len().min(at + u.int_in_range(0..=12)?));
                text.replace_range(at..end, "");
            }
            _ => text.insert(at, u.arbitrary()?),
        }
        text.truncate(text.floor_char_boundary(MAX_BYTES));
    }
    Ok(text)
}

#[test]
fn no_text_breaks_redaction() {
    let seeds = seeds();
    let guard = Guard::standard();
    arbtest(|u| {
        let text = mutated(&seeds, u)?;
        for found in guard.secrets_in(&text) {
            assert!(
                text.get(found.span.clone()).is_some(),
                "{text:?}: {found:?}"
            );
        }
        let (once, _) = guard.redact(&text);
        let (twice, replaced) = guard.redact(&once);
        assert_eq!(twice, once, "from {text:?}: {replaced:?}");
        Ok(())
    })
    .budget(BUDGET);
}

#[test]
fn no_text_breaks_screening() {
    let seeds = seeds();
    let guard = Guard::standard();
    arbtest(|u| {
        let Ok(mut draft) = Draft::new(&mutated(&seeds, u)?) else {
            return Ok(());
        };
        draft.label = Some(mutated(&seeds, u)?.chars().take(200).collect());
        if let Verdict::Allow(screened) | Verdict::Quarantine(screened, _) = guard.screen(draft) {
            match guard.screen(screened.draft().clone()) {
                Verdict::Allow(again) | Verdict::Quarantine(again, _) => {
                    assert_eq!(again.draft(), screened.draft());
                    assert!(again.replaced().is_empty());
                }
                Verdict::Reject(rejection) => panic!("{rejection}"),
            }
        }
        Ok(())
    })
    .budget(BUDGET);
}
