//! Writes the tables as Rust source.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::rows::{Form, Rule};
use crate::sequence::Part;

/// Returns the source of the tables.
pub(crate) fn tables(rules: &[Rule], every_file: &[String]) -> Result<String, String> {
    let mut sets = Vec::new();
    let mut rows = String::new();
    let mut words = String::new();
    let mut calls = String::new();
    let mut examples = String::new();
    let mut n_words = 0;
    for (index, rule) in rules.iter().enumerate() {
        let form = form(&rule.form, &mut sets);
        writeln!(
            rows,
            "Rule {{ id: {:?}, title: {:?}, vendor: {:?}, why: {:?}, docs: {:?}, entropy: {:?}, keywords: &{:?}, form: {form} }},",
            rule.id, rule.title, rule.vendor, rule.why, rule.docs, rule.entropy, rule.keywords
        )
        .map_err(|trouble| trouble.to_string())?;
        for keyword in &rule.keywords {
            let exact = rule.is_exact(keyword);
            let begins = if rule.begins_a_word(keyword) {
                ".beginning_a_word()"
            } else {
                ""
            };
            write!(words, "Word::new({keyword:?}, {exact}){begins}, ")
                .map_err(|t| t.to_string())?;
            write!(calls, "{index}, ").map_err(|t| t.to_string())?;
            n_words += 1;
        }
        writeln!(
            examples,
            "Examples {{ generate: {:?}, positive: &{:?}, negative: &{:?} }},",
            rule.generate, rule.positive, rule.negative
        )
        .map_err(|trouble| trouble.to_string())?;
    }
    let n_rules = rules.len();
    let mut ids: Vec<(&str, usize)> = rules
        .iter()
        .enumerate()
        .map(|(index, rule)| (rule.id.as_str(), index))
        .collect();
    ids.sort_unstable();
    let n_sets = sets.len();
    let sets: String = sets.iter().map(|set| format!("Set({set:?}),\n")).collect();
    let fingerprint = fingerprint(every_file);
    Ok(format!(
        "pub(crate) static RULES: [Rule; {n_rules}] = [\n{rows}];\n\
         static SETS: [Set; {n_sets}] = [\n{sets}];\n\
         pub(crate) static WORDS: [Word; {n_words}] = [{words}];\n\
         /// The rules by id.\n\
         static BY_ID: [(&str, usize); {n_rules}] = {ids:?};\n\
         pub(crate) static CALLS: [u16; {n_words}] = [{calls}];\n\
         /// A number that changes with any rule file.\n\
         pub(crate) const FILES_FINGERPRINT: u64 = {fingerprint:#x};\n\
         #[cfg(test)]\n\
         pub(crate) static EXAMPLES: [Examples; {n_rules}] = [\n{examples}];\n"
    ))
}

fn fingerprint(texts: &[String]) -> u64 {
    // The hasher has fixed keys; whether its numbers change with the compiler does not matter: a new
    // number only makes stored records be looked at once more.
    let mut hasher = DefaultHasher::new();
    for text in texts {
        text.hash(&mut hasher);
    }
    hasher.finish()
}

fn form(form: &Form, sets: &mut Vec<[u64; 4]>) -> String {
    match form {
        Form::Token {
            before,
            forms,
            checksum,
            loose,
        } => format!(
            "Form::Token {{ before: {}, forms: {}, checksum: {}, is_loose: {loose} }}",
            parts(before, sets),
            all(forms, sets),
            match checksum.as_str() {
                "github" | "npm" => "Some(Checksum::Crc32)",
                _ => "None",
            }
        ),
        Form::Nearby { forms } => format!("Form::Nearby {{ forms: {} }}", all(forms, sets)),
        Form::Block => "Form::Block".to_owned(),
        Form::Coded => "Form::Coded".to_owned(),
        Form::Pattern { regex } => format!("Form::Pattern(Pattern::new({regex:?}))"),
    }
}

fn all(forms: &[Vec<Part>], sets: &mut Vec<[u64; 4]>) -> String {
    let forms: String = forms.iter().map(|form| parts(form, sets) + ", ").collect();
    format!("&[{forms}]")
}

fn parts(parts: &[Part], sets: &mut Vec<[u64; 4]>) -> String {
    let parts: String = parts
        .iter()
        .map(|part| match part {
            Part::Bytes(bytes) => format!("Part::Bytes(&{bytes:?}), "),
            Part::Run { set, min, max } => {
                let at = sets
                    .iter()
                    .position(|known| known == set)
                    .unwrap_or_else(|| {
                        sets.push(*set);
                        sets.len() - 1
                    });
                format!("Part::Run {{ set: &SETS[{at}], min: {min}, max: {max} }}, ")
            }
        })
        .collect();
    format!("&[{parts}]")
}
