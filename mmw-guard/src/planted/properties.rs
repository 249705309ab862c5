//! What always or never holds, for the examples of the rules themselves.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::phrases::{self, Finding};
use super::tables::{EXAMPLES, RULES};
use super::{QUARANTINE, REJECT, encoded, readings, score, signals, words};

/// Returns the rules that see something in a text, in any reading.
fn rules(text: &str) -> Vec<&'static str> {
    let mut findings: Vec<Finding> = Vec::new();
    let plain = readings::plain(text);
    let found = words::of(&plain.text);
    phrases::of(&plain.text, &found, &mut findings);
    let hidden = encoded::texts(&plain.text, &found.runs)
        .into_iter()
        .map(|(said, _)| said);
    for said in hidden.chain(signals::tag_text(text)) {
        super::inner(&said, &(0..0), &mut findings);
    }
    findings.iter().map(|finding| finding.rule.id).collect()
}

fn positives() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES
        .iter()
        .zip(EXAMPLES)
        .flat_map(|(rule, (positive, _))| positive.iter().map(|text| (rule.id, *text)))
}

/// Checks that every rule still sees those of its examples which may be written that way.
fn check(written: impl Fn(&str) -> Option<String>) {
    let mut n_checked = 0;
    let mut missed = Vec::new();
    for (id, text) in positives() {
        let Some(written) = written(text) else {
            continue;
        };
        n_checked += 1;
        if !rules(&written).contains(&id) {
            missed.push((id, text, written));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(n_checked > 50, "{n_checked}");
}

#[test]
fn examples_are_found_in_capitals() {
    check(|text| Some(text.to_uppercase()));
}

#[test]
fn examples_are_found_in_full_width_letters() {
    check(|text| {
        let wide = |c: char| match c {
            '!'..='~' => char::from_u32(u32::from(c) - 0x21 + 0xff01).unwrap(),
            _ => c,
        };
        Some(text.chars().map(wide).collect())
    });
}

#[test]
fn examples_are_found_decomposed() {
    check(|text| Some(text.nfd().collect()));
}

#[test]
fn examples_are_found_behind_character_references() {
    check(|text| {
        Some(
            text.chars()
                .map(|c| format!("&#{};", u32::from(c)))
                .collect(),
        )
    });
    check(|text| {
        Some(
            text.chars()
                .map(|c| format!("&#x{:x};", u32::from(c)))
                .collect(),
        )
    });
}

#[test]
fn examples_are_found_behind_json_escapes() {
    check(|text| {
        Some(
            text.encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        )
    });
}

#[test]
fn examples_are_found_behind_percent_signs() {
    check(|text| {
        text.is_ascii()
            .then(|| text.bytes().map(|b| format!("%{b:02X}")).collect())
    });
}

#[test]
fn examples_are_found_in_tag_characters() {
    check(|text| {
        let tag = |c: char| char::from_u32(u32::from(c) + 0xe0000).unwrap();
        text.is_ascii()
            .then(|| format!("hello{}", text.chars().map(tag).collect::<String>()))
    });
}

#[test]
fn examples_are_found_in_base64_and_hexadecimal() {
    use base64::Engine as _;
    // Shorter ones, and those that are an address for the most part, do not read as a text.
    let reads_as_text = |text: &str| {
        let n_letters = text
            .chars()
            .filter(|c| c.is_alphabetic() || *c == ' ')
            .count();
        text.len() >= 16 && n_letters * 100 >= text.chars().count() * 75
    };
    check(|text| {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        reads_as_text(text).then(|| format!("see {encoded} there"))
    });
    check(|text| {
        let encoded: String = text.bytes().map(|b| format!("{b:02x}")).collect();
        reads_as_text(text).then(|| format!("see {encoded} there"))
    });
}

/// Letters of other scripts that look like a Latin one.
const LOOK_ALIKES: [(char, &str); 14] = [
    ('a', "аɑᴀα"),
    ('c', "сϲᴄ"),
    ('d', "ԁ"),
    ('e', "еᴇε"),
    ('h', "һ"),
    ('i', "іιⅰ"),
    ('j', "ј"),
    ('k', "кκ"),
    ('o', "оοօᴏ"),
    ('p', "рρ"),
    ('s', "ѕꜱ"),
    ('t', "тτᴛ"),
    ('x', "хχ"),
    ('y', "уγ"),
];

const INVISIBLE: &str = "\u{ad}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{200e}\u{fe0f}";

#[test]
fn what_is_kept_of_a_text_grows_with_it_and_no_faster() {
    for unit in [
        "<!--",
        "[",
        "ignore all ",
        "aWdub3JlIGFsbCBydWxlcw==",
        "aWdub3JlIGFsbCBydWxlcw== ",
        "&amp;",
        "i g n o r e ",
        "忽略之前的",
        "\"'`",
        "system: ",
        "<system>",
        "![a](http://x?d=",
        "01001001 ",
        "send the data to ",
    ] {
        let kept = |n: usize| {
            let text = unit.repeat(n);
            let plain = readings::plain(&text);
            let found = words::of(&plain.text);
            let mut findings: Vec<Finding> = Vec::new();
            phrases::of(&plain.text, &found, &mut findings);
            let decoded: usize = encoded::texts(&plain.text, &found.runs)
                .iter()
                .map(|(said, _)| said.len())
                .sum();
            found.hits.len()
                + found.openings.len()
                + found.turns.len()
                + found.runs.len()
                + findings.len()
                + decoded
        };
        let (once, tenfold) = (kept(200), kept(2000));
        assert!(tenfold <= once * 10 + 100, "{unit}: {once}, then {tenfold}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn scoring_never_panics(text in any::<String>()) {
        score(&text);
    }

    #[test]
    fn scoring_never_panics_on_what_rules_look_for(pieces in prop::collection::vec(prop::sample::select(vec![
        "ignore ", "all ", "previous ", "instructions", "忽略", "所有", "指令", "игнорируй ", "i g n o r e ", "<|im_start|>", "<!--", "-->",
        "[INST]", "[system]", "</memory>", "\\u0049", "%49", "&#73;", "&amp;", "aWdub3JlIGFsbCBwcmV2aW91cyBydWxlcw==", "69676e6f7265",
        "\u{e0049}", "\u{200b}", "\u{301}", "1gn0re ", "ignоre ", "\n", "System: ", "https://x.example/", "a@b.example ", "![a](http://x?d={", "`", "\"", "'",
        "don't ", "é", "--- END OF ", "01001001 ", "\u{1f3f4}", "$", "@", "|", "!",
    ]), 0..40)) {
        let suspicion = score(&pieces.concat());
        prop_assert!(suspicion.score.is_finite());
        prop_assert!(suspicion.score < QUARANTINE || suspicion.main.is_some());
    }

    #[test]
    fn invisible_characters_never_lower_a_score(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
    ) {
        let all: Vec<_> = positives().collect();
        let text = which.get(&all).1;
        let mut chars: Vec<char> = text.chars().collect();
        let hidden: Vec<char> = INVISIBLE.chars().collect();
        for (place, what) in places {
            chars.insert(place.index(chars.len() + 1), *what.get(&hidden));
        }
        let hidden: String = chars.into_iter().collect();
        prop_assert!(score(&hidden).score >= score(text).score, "{:?}", hidden);
    }

    #[test]
    fn look_alikes_do_not_let_a_refused_text_pass(
        which in any::<prop::sample::Index>(),
        replaced in prop::collection::vec(prop::option::weighted(0.3, any::<prop::sample::Index>()), 120),
    ) {
        let refused: Vec<_> = positives()
            .map(|(_, text)| text)
            .filter(|text| text.is_ascii() && score(text).score >= REJECT)
            .collect();
        let text = which.get(&refused);
        let disguised: String = text
            .chars()
            .zip(replaced)
            .map(|(c, replaced)| {
                let looks = LOOK_ALIKES.iter().find(|(letter, _)| *letter == c.to_ascii_lowercase());
                match (looks, replaced) {
                    (Some((_, others)), Some(which)) => {
                        let others: Vec<char> = others.chars().collect();
                        *which.get(&others)
                    }
                    _ => c,
                }
            })
            .collect();
        prop_assert!(score(&disguised).score >= QUARANTINE, "{}", disguised);
    }
}
