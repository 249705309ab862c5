//! Measures search: how well it finds what answers a question, by words, by meaning and by both, beside
//! plain full-text search.
//!
//! Every record goes through the product: it is saved in a real file, embedded and searched. Nothing is
//! fetched; sets that others made are read where they lie. No rule is tuned here.
//!
//! | file | what is there |
//! |---|---|
//! | `set` | records, questions and their answers |
//! | `layouts`, `uniform`, `dialogues`, `beam`, `longmemeval`, `dates` | reading them |
//! | `identifiers`, `small` | sets that are made here |
//! | `product`, `clock`, `baseline` | what is measured |
//! | `measure`, `metrics`, `intervals` | figures |
//! | `bars`, `report` | what is shown of them |

mod bars;
mod baseline;
mod beam;
mod clock;
mod dates;
mod dialogues;
mod identifiers;
mod intervals;
mod layouts;
mod longmemeval;
mod measure;
mod metrics;
mod product;
mod report;
mod set;
mod small;
mod uniform;

use std::error::Error;
use std::path::{Path, PathBuf};

use mmw_core::env::{Clock as _, SystemClock};

use self::measure::{Measured, Negatives};
use self::set::Set;
use super::page;

/// Developer facts with questions in other words, made for this project.
const FACTS: &str = include_str!("../../data/dev-facts.jsonl");
/// Questions about topics that no set has.
const ABSENT: &str = include_str!("../../data/absent-questions.txt");
/// The name of the facts that come with the project.
const FACTS_NAME: &str = "dev-facts";

/// What is measured, and how it is shown.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArguments {
    /// A folder or file of sets; may be repeated. See docs/evaluation.md for what is understood.
    #[arg(
        long,
        value_name = "PATH",
        env = "MMW_EVAL_SETS",
        value_delimiter = ';'
    )]
    sets: Vec<PathBuf>,
    /// Facts with questions, one JSON object a line; may be repeated. Takes the place of the project's own.
    #[arg(long, value_name = "FILE")]
    facts: Vec<PathBuf>,
    /// Sets whose records the facts are hidden among, for a set of its own.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    noise: Vec<String>,
    /// Sets that are measured with all their groups in one store too.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pool: Vec<String>,
    /// Only sets of these names.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// The most groups of a set: conversations, or questions with a history each.
    #[arg(long, value_name = "N", default_value_t = 100)]
    groups: usize,
    /// How often questions are drawn for an interval.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    samples: usize,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// Put the tables into docs/evaluation.md.
    #[arg(long, conflicts_with = "json")]
    write: bool,
}

/// A set with what else is asked of it.
struct Task {
    set: Set,
    asks_absent: bool,
    forgets: bool,
}

/// Measures search; returns what is to be printed.
pub(super) fn run(wanted: &SearchArguments, repository: &Path) -> Result<String, Box<dyn Error>> {
    let absent: Vec<&str> = ABSENT
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut measured: Vec<Measured> = Vec::new();
    for task in tasks(wanted)? {
        let negatives = Negatives {
            absent: if task.asks_absent { &absent } else { &[] },
            forgets: task.forgets,
        };
        measured.push(measure::measure(&task.set, negatives)?);
    }
    if wanted.json {
        return Ok(format!("{:#}", report::json(&measured, wanted.samples)));
    }
    let date: String = SystemClock.now().to_string().chars().take(10).collect();
    let text = format!(
        "Measured on {date} with `cargo xtask eval search{}`; intervals are of {} draws.\n\n{}",
        followed(wanted),
        wanted.samples,
        report::tables(&measured, wanted.samples)
    );
    if wanted.write {
        let path = page::write(repository, "search", &text)?;
        let bars = report::bars_table(&bars::of(&measured));
        return Ok(format!("{bars}\nwritten to {}", path.display()));
    }
    Ok(text)
}

/// Returns the arguments that say what is measured, without the places where it lies.
fn followed(wanted: &SearchArguments) -> String {
    let mut text = String::new();
    if !wanted.sets.is_empty() {
        text += " --sets DIR";
    }
    if !wanted.facts.is_empty() {
        text += " --facts FILE";
    }
    let named = [
        ("noise", &wanted.noise),
        ("pool", &wanted.pool),
        ("only", &wanted.only),
    ];
    for (argument, names) in named.into_iter().filter(|(_, names)| !names.is_empty()) {
        text += &*format!(" --{argument} {}", names.join(","));
    }
    text
}

/// Returns the sets to be measured, in the order in which they are shown.
fn tasks(wanted: &SearchArguments) -> Result<Vec<Task>, Box<dyn Error>> {
    let mut sets = Vec::new();
    for path in &wanted.sets {
        sets.extend(layouts::read(path, wanted.groups)?);
    }
    let noise: Vec<&Set> = wanted
        .noise
        .iter()
        .map(|name| named(&sets, name))
        .collect::<Result<_, _>>()?;
    let mut tasks = Vec::new();
    let mut add = |set: Set, asks_absent: bool, forgets: bool| {
        let is_wanted = wanted.only.is_empty() || wanted.only.contains(&set.name);
        if is_wanted && !set.questions.is_empty() {
            tasks.push(Task {
                set,
                asks_absent,
                forgets,
            });
        }
    };
    for facts in facts(wanted)? {
        if !noise.is_empty() {
            add(facts.among(&noise), true, true);
        }
        for size in small::SIZES {
            add(small::dealt(&facts, size), true, false);
        }
        add(facts, true, true);
    }
    let names = identifiers::set();
    if !noise.is_empty() {
        add(names.among(&noise), false, false);
    }
    add(names, false, false);
    for name in &wanted.pool {
        add(named(&sets, name)?.pooled(), true, false);
    }
    for set in sets {
        add(set, true, false);
    }
    if tasks.is_empty() {
        return Err("nothing is left to measure: no set has a name of --only".into());
    }
    Ok(tasks)
}

fn facts(wanted: &SearchArguments) -> Result<Vec<Set>, Box<dyn Error>> {
    if wanted.facts.is_empty() {
        return Ok(vec![uniform::facts(FACTS_NAME, FACTS)?]);
    }
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        uniform::facts(&name, &text).map_err(|why| format!("{}: {why}", path.display()).into())
    };
    wanted.facts.iter().map(read).collect()
}

fn named<'a>(sets: &'a [Set], name: &str) -> Result<&'a Set, String> {
    let all: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let found = sets.iter().find(|set| set.name == name);
    found.ok_or_else(|| format!("no set is called {name}; there are: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        arguments: SearchArguments,
    }

    fn arguments(line: &str) -> SearchArguments {
        let words = ["search"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words).unwrap().arguments
    }

    /// A pair of files with one record and one question.
    fn made_up(folder: &Path) {
        let doc =
            r#"{"group":"g","id":"1","text":"the cat sleeps in the kitchen","speaker":"Ann"}"#;
        let question = r#"{"group":"g","text":"where is the cat?","gold":["1"]}"#;
        std::fs::write(folder.join("mine.docs.jsonl"), doc).unwrap();
        std::fs::write(folder.join("mine.queries.jsonl"), question).unwrap();
        let fact = r#"{"id":"f1","fact":"rent is due on the first","question":"when do we pay for the flat?"}"#;
        std::fs::write(folder.join("few.jsonl"), fact).unwrap();
    }

    #[test]
    fn what_comes_with_the_project_is_whole() {
        let facts = uniform::facts(FACTS_NAME, FACTS).unwrap();
        assert_eq!((facts.docs.len(), facts.questions.len()), (64, 64));
        let absent: std::collections::HashSet<&str> = ABSENT.lines().collect();
        assert_eq!(absent.len(), 150);
        let names: Vec<String> = tasks(&arguments(""))
            .unwrap()
            .into_iter()
            .map(|task| task.set.name)
            .collect();
        assert_eq!(names.len(), 8);
        assert!(
            names.contains(&"dev-facts, stores of 16".to_owned()),
            "{names:?}"
        );
    }

    #[test]
    fn facts_are_hidden_among_the_sets_that_are_named() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path());
        let line = format!(
            "--sets {0} --facts {0}/few.jsonl --noise mine --pool mine --only few+noise,mine-pool,mine",
            folder.path().display()
        );
        let tasks = tasks(&arguments(&line)).unwrap();
        let shown: Vec<_> = tasks
            .iter()
            .map(|task| (task.set.name.as_str(), task.set.docs.len()))
            .collect();
        assert_eq!(shown, [("few+noise", 2), ("mine-pool", 1), ("mine", 1)]);
        assert!(tasks[0].forgets && !tasks[2].forgets);
        let line = format!("--sets {} --noise other", folder.path().display());
        let told = super::tasks(&arguments(&line)).err().unwrap().to_string();
        assert!(told.contains("there are: mine"), "{told}");
    }

    #[test]
    fn figures_are_printed_written_and_given_as_json() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path());
        let line = format!(
            "--sets {} --only mine --samples 10",
            folder.path().display()
        );
        let text = run(&arguments(&line), folder.path()).unwrap();
        for part in [
            "`cargo xtask eval search --sets DIR --only mine`; intervals are of 10 draws",
            "### mine: 1 records in 1 stores, 1 questions",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let json = run(&arguments(&format!("{line} --json")), folder.path()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["sets"][0]["ways"][4]["R@1"][0], 1.0);
        let page = folder.path().join(page::PAGE);
        std::fs::create_dir(page.parent().unwrap()).unwrap();
        std::fs::write(
            &page,
            "a\n<!-- eval:search:begin -->\n<!-- eval:search:end -->\n",
        )
        .unwrap();
        run(&arguments(&format!("{line} --write")), folder.path()).unwrap();
        assert!(
            std::fs::read_to_string(page)
                .unwrap()
                .contains("### The bars")
        );
    }
}
