//! Made-up questions for exact names: facts about a name, and facts about names that look alike.
//!
//! Of each name there are three neighbours: another last part, another first part, and the same parts
//! in another order or a number beside. A question names one exactly, alone or in a sentence.

use super::intervals::Draws;
use super::set::{Doc, Question, Set};

/// The number of questions.
const N_QUESTIONS: usize = 200;

const THINGS: [&str; 20] = [
    "ledger", "invoice", "parcel", "tenant", "session", "orbit", "cargo", "mirror", "signal",
    "beacon", "harvest", "turbine", "quota", "shard", "relay", "cursor", "digest", "packet",
    "canvas", "anchor",
];
const PARTS: [&str; 18] = [
    "loader", "writer", "policy", "cache", "queue", "parser", "index", "handler", "client",
    "budget", "window", "router", "filter", "sender", "monitor", "planner", "merger", "probe",
];
const ENDINGS: [&str; 7] = ["rs", "py", "ts", "go", "sql", "toml", "yaml"];

const ASKED: [&str; 5] = [
    "{}",
    "what do we know about {}?",
    "Where is {} mentioned?",
    "{} problem",
    "why does {} matter here",
];

/// A kind of name with what is said of it.
struct Kind {
    name: &'static str,
    facts: [&'static str; 3],
    family: fn(&mut Draws) -> [String; 4],
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "file path",
        facts: [
            "{} holds the retry rules and must stay free of locks.",
            "Nobody may import {} from the command line tool.",
            "{} was split after the review of last week.",
        ],
        family: paths,
    },
    Kind {
        name: "snake_case",
        facts: [
            "{} is called twice at start because of the old scheduler.",
            "Do not rename {}: a customer's script depends on it.",
            "{} takes milliseconds, not seconds.",
        ],
        family: |draws| joined(draws, |parts| parts.join("_")),
    },
    Kind {
        name: "camelCase",
        facts: [
            "{} swallows the second error.",
            "{} was moved to the shared crate.",
            "Tests replace {} by a fake.",
        ],
        family: |draws| joined(draws, camel),
    },
    Kind {
        name: "ticket",
        facts: [
            "{} is fixed by raising the pool size.",
            "{} waits for an answer of the vendor.",
            "We closed {} without a change.",
        ],
        family: tickets,
    },
    Kind {
        name: "version",
        facts: [
            "Release {} broke the login page.",
            "We pinned the driver to {} until the fix lands.",
            "Version {} is the last one with the old format.",
        ],
        family: versions,
    },
    Kind {
        name: "environment variable",
        facts: [
            "{} must be set before the service starts.",
            "The default of {} is too small for production.",
            "{} is read once and never again.",
        ],
        family: |draws| joined(draws, |parts| parts.join("_").to_uppercase()),
    },
];

/// Makes the set. It is the same each time.
pub(crate) fn set() -> Set {
    let mut draws = Draws::new(7);
    let (mut docs, mut questions) = (Vec::new(), Vec::new());
    let mut used = std::collections::HashSet::new();
    for nth in 0..N_QUESTIONS {
        let kind = &KINDS[nth % KINDS.len()];
        let family = loop {
            let family = (kind.family)(&mut draws);
            let lower: Vec<String> = family.iter().map(|name| name.to_lowercase()).collect();
            let distinct: std::collections::HashSet<&String> = lower.iter().collect();
            if distinct.len() == family.len() && lower.iter().all(|name| !used.contains(name)) {
                used.extend(lower);
                break family;
            }
        };
        for (place, name) in family.iter().enumerate() {
            docs.push(Doc {
                group: "identifiers".into(),
                id: format!("{nth}.{place}"),
                text: draws.one_of(&kind.facts).replace("{}", name),
                ..Doc::default()
            });
        }
        questions.push(Question {
            group: "identifiers".into(),
            text: ASKED[nth % ASKED.len()].replace("{}", &family[0]),
            gold: vec![format!("{nth}.0")],
            kind: kind.name.into(),
        });
    }
    Set::new("identifiers", docs, questions)
}

/// Draws the parts of a name and of its neighbours.
fn parts(draws: &mut Draws) -> ([&'static str; 3], [[&'static str; 3]; 3]) {
    let (thing, first) = (*draws.one_of(&THINGS), *draws.one_of(&PARTS));
    let (second, last) = (*draws.one_of(&PARTS), *draws.one_of(&PARTS));
    let thing2 = *draws.one_of(&THINGS);
    let neighbours = [
        [thing, first, last],
        [thing2, first, second],
        [thing, second, first],
    ];
    ([thing, first, second], neighbours)
}

fn joined(draws: &mut Draws, join: fn(&[&str; 3]) -> String) -> [String; 4] {
    let (name, [a, b, c]) = parts(draws);
    [name, a, b, c].map(|parts| join(&parts))
}

fn camel(parts: &[&str; 3]) -> String {
    let mut name = parts[0].to_owned();
    for part in &parts[1..] {
        name.push_str(&part[..1].to_uppercase());
        name.push_str(&part[1..]);
    }
    name
}

fn paths(draws: &mut Draws) -> [String; 4] {
    let ending = *draws.one_of(&ENDINGS);
    let (name, [a, b, _]) = parts(draws);
    let path = |root: &str, [folder, first, second]: [&str; 3]| {
        format!("{root}/{folder}/{first}_{second}.{ending}")
    };
    [
        path("src", name),
        path("src", a),
        path("src", b),
        path("tests", name),
    ]
}

fn tickets(draws: &mut Draws) -> [String; 4] {
    let project = |thing: &str| thing[..4].to_uppercase();
    let (one, two) = (
        project(draws.one_of::<&'static str>(&THINGS)),
        project(draws.one_of::<&'static str>(&THINGS)),
    );
    let number = 100 + draws.below(9800);
    [
        format!("{one}-{number}"),
        format!("{one}-{}", number + 1),
        format!("{one}-{}", number + 10),
        format!("{two}-{number}"),
    ]
}

fn versions(draws: &mut Draws) -> [String; 4] {
    let (major, minor, patch) = (draws.below(10), draws.below(30), draws.below(20));
    [
        format!("{major}.{minor}.{patch}"),
        format!("{major}.{minor}.{}", patch + 1),
        format!("{major}.{}.{patch}", minor + 1),
        format!("{}.{minor}.{patch}", major + 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_hundred_questions_with_three_neighbours_each() {
        let set = set();
        assert_eq!((set.questions.len(), set.docs.len()), (200, 800));
        assert_eq!(set, super::set());
        for question in &set.questions {
            let name = question
                .text
                .split_whitespace()
                .map(|word| word.trim_end_matches('?'))
                .find(|word| word.contains(|c: char| !c.is_ascii_lowercase()) && *word != "Where")
                .unwrap();
            let of_name: Vec<&Doc> = set
                .docs
                .iter()
                .filter(|doc| {
                    let mut words = doc.text.split_whitespace();
                    words.any(|word| word.trim_end_matches(['.', ':']) == name)
                })
                .collect();
            assert_eq!(of_name.len(), 1, "{name}");
            assert_eq!(of_name[0].id, question.gold[0], "{name}");
        }
    }

    #[test]
    fn names_are_written_as_people_write_them() {
        let mut draws = Draws::new(1);
        assert_eq!(camel(&["ledger", "cache", "probe"]), "ledgerCacheProbe");
        assert!(paths(&mut draws)[3].starts_with("tests/"));
        assert!(
            tickets(&mut draws)[0][..4]
                .chars()
                .all(|c| c.is_ascii_uppercase())
        );
        assert_eq!(versions(&mut draws)[0].split('.').count(), 3);
    }
}
