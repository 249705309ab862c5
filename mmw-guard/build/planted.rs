//! Lowers the words and phrases of planted instructions to static tables, so that nothing is parsed
//! or built when the program runs.
//!
//! The grammar of a pattern is told in `rules/planted/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

#[path = "../src/planted/hash.rs"]
mod hash;

/// The most words that a gap may span.
const MAX_GAP: u8 = 14;
/// The shortest word that is also known turned around, or with its letters moved by thirteen.
const MIN_DISGUISED: usize = 5;
/// How much more often than others such words stand in a text.
const COMMON: usize = 60;
const UBIQUITOUS: usize = 600;
/// Tokens that are no words, with what stands for them in patterns.
const SPECIAL: [&str; 8] = [
    "@url", "@email", "@colon", "@image", "@call", "@pipe", "@code", "@quote",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Words that stand in almost any sentence: a pattern is not begun at them if it has others.
    ubiquitous: String,
    /// Words that stand in almost any text.
    common: String,
    class: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrases {
    phrase: Vec<Phrase>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    id: String,
    family: String,
    weight: f32,
    #[serde(default)]
    strong: bool,
    #[serde(default)]
    damped: bool,
    why: String,
    patterns: Vec<String>,
    positive: Vec<String>,
    negative: Vec<String>,
}

/// What a step of a pattern takes: its words, and how many may stand before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    element: usize,
    gap: u8,
}

#[derive(Debug, Default)]
struct Tables {
    /// The words that each element takes.
    elements: Vec<BTreeSet<String>>,
    by_words: BTreeMap<BTreeSet<String>, usize>,
}

impl Tables {
    fn element(&mut self, words: BTreeSet<String>) -> usize {
        *self.by_words.entry(words.clone()).or_insert_with(|| {
            self.elements.push(words);
            self.elements.len() - 1
        })
    }
}

/// Reads `rules/planted/*.toml` and writes the tables to a file.
pub(crate) fn lower(rules: &Path, out: &Path) -> io::Result<()> {
    let mut files: Vec<_> = fs::read_dir(rules)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let mut words = None;
    let mut phrases = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path)?;
        let named =
            |error: toml::de::Error| io::Error::other(format!("{}: {error}", path.display()));
        if path.ends_with("words.toml") {
            words = Some(toml::from_str::<Words>(&text).map_err(named)?);
        } else {
            phrases.extend(toml::from_str::<Phrases>(&text).map_err(named)?.phrase);
        }
    }
    let words = words.ok_or_else(|| io::Error::other("rules/planted/words.toml is missing"))?;
    let text = generate(&words, &phrases).map_err(io::Error::other)?;
    fs::write(out, text)
}

fn generate(words: &Words, phrases: &[Phrase]) -> Result<String, String> {
    let classes = classes(words)?;
    let mut costs: BTreeMap<&str, usize> = BTreeMap::new();
    costs.extend(words.common.split_whitespace().map(|word| (word, COMMON)));
    costs.extend(
        words
            .ubiquitous
            .split_whitespace()
            .map(|word| (word, UBIQUITOUS)),
    );
    let mut tables = Tables::default();
    // Known to the matcher by name.
    let mut named = Vec::new();
    for (name, class) in [
        ("NEGATION", "negation"),
        ("MENTION", "mention"),
        ("DEVELOPMENT", "development"),
        ("ROLE", "role"),
        ("DANGEROUS", "dangerous"),
    ] {
        let words = classes.get(class).ok_or(format!("no class `{class}`"))?;
        named.push((name, tables.element(words.clone())));
    }
    let mut patterns: Vec<(usize, usize, Vec<Step>)> = Vec::new();
    let mut ids = BTreeSet::new();
    for (index, phrase) in phrases.iter().enumerate() {
        check(phrase, &mut ids)?;
        for pattern in &phrase.patterns {
            let variants = parse(pattern, &classes, &mut tables)
                .map_err(|error| format!("{}: `{pattern}`: {error}", phrase.id))?;
            for steps in variants {
                let anchor = anchor(&steps, &tables, &costs);
                patterns.push((index, anchor, steps));
            }
        }
    }
    patterns.sort();
    patterns.dedup();
    Ok(write(&tables, &named, phrases, &patterns))
}

fn check<'a>(phrase: &'a Phrase, ids: &mut BTreeSet<&'a str>) -> Result<(), String> {
    let id = &phrase.id;
    let well_named = (3..=48).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !well_named || !ids.insert(id) {
        return Err(format!(
            "`{id}` is no id of [a-z0-9-]{{3,48}}, or is there twice"
        ));
    }
    if phrase.positive.is_empty() || phrase.negative.is_empty() || phrase.patterns.is_empty() {
        return Err(format!(
            "{id}: needs patterns, positive and negative examples"
        ));
    }
    if phrase.why.is_empty() || phrase.family.is_empty() || !(0.0..=6.0).contains(&phrase.weight) {
        return Err(format!(
            "{id}: needs a why, a family and a weight of at most 6"
        ));
    }
    Ok(())
}

/// Returns the words of each class, with the words of the classes that it names.
fn classes(words: &Words) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let mut classes: BTreeMap<String, BTreeSet<String>> = SPECIAL
        .iter()
        .map(|name| (name[1..].to_owned(), BTreeSet::from([(*name).to_owned()])))
        .collect();
    let mut left: Vec<_> = words.class.iter().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|(name, text)| {
            let mut members = BTreeSet::new();
            for word in text.split_whitespace() {
                match word.strip_prefix('@') {
                    None => _ = members.insert(word.to_owned()),
                    Some(other) => match classes.get(other) {
                        Some(known) => members.extend(known.iter().cloned()),
                        None => return true,
                    },
                }
            }
            classes.insert((*name).clone(), members);
            false
        });
        if left.len() == before {
            return Err(format!("classes name what is not there: {left:?}"));
        }
    }
    Ok(classes)
}

/// Returns the steps of a pattern, once with and once without each part that may be missing.
fn parse(
    pattern: &str,
    classes: &BTreeMap<String, BTreeSet<String>>,
    tables: &mut Tables,
) -> Result<Vec<Vec<Step>>, String> {
    // Each with the gap that a part which is missing left behind.
    let mut variants: Vec<(Vec<Step>, u8)> = vec![(Vec::new(), 0)];
    let mut gap = 0;
    for part in pattern.split_whitespace() {
        if let Some(number) = part.strip_prefix("..") {
            gap = number.parse().map_err(|_| format!("`{part}` is no gap"))?;
            if gap == 0 || gap > MAX_GAP {
                return Err(format!("a gap is 1 to {MAX_GAP} words"));
            }
            continue;
        }
        let (part, may_miss) = part
            .strip_suffix('?')
            .map_or((part, false), |part| (part, true));
        let mut words = BTreeSet::new();
        for choice in part.split('|') {
            match choice.strip_prefix('@') {
                Some(class) => {
                    words.extend(
                        classes
                            .get(class)
                            .ok_or(format!("no class `{class}`"))?
                            .iter()
                            .cloned(),
                    );
                }
                None => _ = words.insert(choice.to_owned()),
            }
        }
        let element = tables.element(words);
        let mut with = variants.clone();
        for (steps, left) in &mut with {
            let gap = if steps.is_empty() { 0 } else { gap.max(*left) };
            steps.push(Step { element, gap });
            *left = 0;
        }
        if may_miss {
            for (_, left) in &mut variants {
                *left = gap.max(*left);
            }
            variants.extend(with);
        } else {
            variants = with;
        }
        gap = 0;
    }
    if variants.iter().any(|(steps, _)| steps.is_empty()) {
        return Err("every part of it may miss".to_owned());
    }
    Ok(variants.into_iter().map(|(steps, _)| steps).collect())
}

/// Returns the step whose words are rarest: matching begins there.
fn anchor(steps: &[Step], tables: &Tables, costs: &BTreeMap<&str, usize>) -> usize {
    let cost = |step: &Step| -> usize {
        let words = tables.elements[step.element].iter();
        words
            .map(|word| costs.get(word.as_str()).copied().unwrap_or(1))
            .sum()
    };
    (0..steps.len())
        .min_by_key(|at| cost(&steps[*at]))
        .unwrap_or_default()
}

fn rotated(word: &str) -> String {
    word.bytes()
        .map(|b| char::from((b - b'a' + 13) % 26 + b'a'))
        .collect()
}

/// Returns the slots of a table with open addresses: each has a part of the hash, and the number of
/// the word from one on.
fn places(keys: impl Iterator<Item = (String, usize)>, n: usize) -> String {
    let mut slots = vec![(0_u32, 0_u16); (n * 2).next_power_of_two().max(16)];
    let mask = slots.len() - 1;
    for (key, index) in keys {
        let hashed = hash::of(key.as_bytes());
        let mut at = hash::slot(hashed) & mask;
        while slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        slots[at] = (
            hash::tag(hashed),
            u16::try_from(index + 1).expect("fewer words than 65535"),
        );
    }
    format!("[(u32, u16); {}] = {slots:?}", slots.len())
}

/// Returns a bit for each value that the hash of a key may have.
fn perhaps(keys: impl Iterator<Item = String>) -> String {
    let mut bits = vec![0_u64; hash::PERHAPS_WORDS];
    for key in keys {
        let (word, bit) = hash::perhaps(hash::of(key.as_bytes()));
        bits[word] |= 1 << bit;
    }
    format!("[u64; {}] = {bits:?}", bits.len())
}

fn is_unspaced(word: &str) -> bool {
    word.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

fn write(
    tables: &Tables,
    named: &[(&str, usize)],
    phrases: &[Phrase],
    patterns: &[(usize, usize, Vec<Step>)],
) -> String {
    let mut by_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, words) in tables.elements.iter().enumerate() {
        for word in words {
            by_word.entry(word).or_default().push(index);
        }
    }
    // What a stem takes, a word that begins with it takes too; a stem that is a word as well is one.
    let stems: Vec<(String, Vec<usize>)> = by_word
        .iter()
        .filter_map(|(word, elements)| Some((word.strip_suffix('*')?.to_owned(), elements.clone())))
        .collect();
    for (stem, of_stem) in &stems {
        let exact = by_word.remove(stem.as_str()).unwrap_or_default();
        for (word, elements) in &mut by_word {
            if word.strip_suffix('*') == Some(stem) {
                elements.extend(&exact);
            } else if word.starts_with(stem.as_str()) {
                elements.extend(of_stem);
            }
            elements.sort_unstable();
            elements.dedup();
        }
    }
    // The special tokens come first: their numbers are constants.
    let mut vocabulary: Vec<(String, Vec<usize>, &str)> = SPECIAL
        .iter()
        .map(|name| {
            (
                (*name).to_owned(),
                by_word.get(name).cloned().unwrap_or_default(),
                "Plain",
            )
        })
        .collect();
    let plain: Vec<(&str, &Vec<usize>)> = by_word
        .iter()
        .filter(|(word, _)| !word.starts_with('@'))
        .map(|(word, elements)| (*word, elements))
        .collect();
    vocabulary.extend(
        plain
            .iter()
            .map(|(word, elements)| ((*word).to_owned(), (*elements).clone(), "Plain")),
    );
    let mut taken: BTreeSet<String> = plain.iter().map(|(word, _)| (*word).to_owned()).collect();
    for (word, elements) in &plain {
        if word.len() < MIN_DISGUISED || !word.bytes().all(|b| b.is_ascii_lowercase()) {
            continue;
        }
        for (disguised, reading) in [
            (rotated(word), "Rotated"),
            (word.chars().rev().collect(), "Reversed"),
        ] {
            if taken.insert(disguised.clone()) {
                vocabulary.push((disguised, (*elements).clone(), reading));
            }
        }
    }
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    for (index, name) in SPECIAL.iter().enumerate() {
        line(format!(
            "pub(super) const {}: u16 = {index};",
            name[1..].to_uppercase()
        ));
    }
    for (name, element) in named {
        line(format!("pub(super) const {name}: u16 = {element};"));
    }
    // Texts and lists lie in one piece each: pointers would have to be set whenever a program starts.
    let mut texts = String::new();
    let mut numbers: Vec<usize> = Vec::new();
    let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut kept = |list: &[usize]| {
        *known.entry(list.to_vec()).or_insert_with(|| {
            numbers.extend(list);
            numbers.len() - list.len()
        })
    };
    let mut rows = String::new();
    for (word, elements, reading) in &vocabulary {
        let begins: Vec<usize> = patterns
            .iter()
            .enumerate()
            .filter(|(_, (_, anchor, steps))| elements.contains(&steps[*anchor].element))
            .map(|(index, _)| index)
            .collect();
        let (text, is_stem) = word
            .strip_suffix('*')
            .map_or((word.as_str(), false), |stem| (stem, true));
        let mask = elements
            .iter()
            .fold(0_u64, |mask, element| mask | 1 << (element % 64));
        // Writing to a String can't fail.
        let _ = writeln!(
            rows,
            "    Word {{ text: {}, length: {}, elements: {}, n_elements: {}, begins: {}, n_begins: {}, mask: {mask:#x}, reading: Reading::{reading}, is_stem: {is_stem} }},",
            texts.len(),
            text.len(),
            kept(elements),
            elements.len(),
            kept(&begins),
            begins.len()
        );
        texts.push_str(text);
    }
    line(format!("static TEXTS: &str = {texts:?};"));
    line(format!(
        "static NUMBERS: [u16; {}] = {numbers:?};",
        numbers.len()
    ));
    line(format!(
        "static VOCABULARY: [Word; {}] = [\n{rows}];",
        vocabulary.len()
    ));
    let key = |word: &str| word.strip_suffix('*').unwrap_or(word).to_owned();
    let keyed = |index: usize| (key(&vocabulary[index].0), index);
    let all = SPECIAL.len()..vocabulary.len();
    let slots = places(all.clone().map(keyed), all.len());
    line(format!("pub(super) static SLOTS: {slots};"));
    let bits = perhaps(all.map(|index| keyed(index).0));
    line(format!("pub(super) static PERHAPS: {bits};"));
    // A letter that a digit stands for is an l or an i: in this table both are an i.
    let respelled: Vec<usize> = (SPECIAL.len()..vocabulary.len())
        .filter(|index| {
            let (word, _, reading) = &vocabulary[*index];
            *reading == "Plain" && word.bytes().all(|b| b.is_ascii_lowercase())
        })
        .collect();
    let slots = places(
        respelled
            .iter()
            .map(|index| (vocabulary[*index].0.replace('l', "i"), *index)),
        respelled.len(),
    );
    line(format!("pub(super) static RESPELLED_SLOTS: {slots};"));
    // One bit for each pair of characters with which such a word begins.
    let mut begins = [0_u64; 64];
    for (word, ..) in vocabulary.iter().filter(|(word, ..)| is_unspaced(word)) {
        let pair: String = word.chars().take(2).collect();
        let bit = hash::slot(hash::of(pair.as_bytes())) & 4095;
        begins[bit / 64] |= 1 << (bit % 64);
    }
    line(format!(
        "pub(super) static UNSPACED_BEGINS: [u64; 64] = {begins:?};"
    ));
    line(format!(
        "pub(super) static RULES: [Rule; {}] = [",
        phrases.len()
    ));
    for phrase in phrases {
        line(format!(
            "    Rule {{ id: {:?}, family: {:?}, weight: {:?}, strong: {}, damped: {}, why: {:?} }},",
            phrase.id, phrase.family, phrase.weight, phrase.strong, phrase.damped, phrase.why
        ));
    }
    line("];".to_owned());
    let mut all_steps = String::new();
    let mut rows = String::new();
    let mut n_steps = 0;
    for (phrase, anchor, steps) in patterns {
        let _ = writeln!(
            rows,
            "    Pattern {{ rule: {phrase}, first: {n_steps}, length: {}, anchor: {anchor} }},",
            steps.len()
        );
        for step in steps {
            let _ = write!(
                all_steps,
                "Step {{ element: {}, gap: {} }}, ",
                step.element, step.gap
            );
            n_steps += 1;
        }
    }
    line(format!("static STEPS: [Step; {n_steps}] = [{all_steps}];"));
    line(format!(
        "pub(super) static PATTERNS: [Pattern; {}] = [\n{rows}];",
        patterns.len()
    ));
    line("#[cfg(test)]\npub(super) static EXAMPLES: &[(&[&str], &[&str])] = &[".to_owned());
    for phrase in phrases {
        line(format!(
            "    (&{:?}, &{:?}),",
            phrase.positive, phrase.negative
        ));
    }
    line("];".to_owned());
    out
}
