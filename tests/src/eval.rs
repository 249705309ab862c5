//! Measures how good the product's decisions are: the guard's on corpora of real texts, and those of
//! `search`.
//!
//! The corpora lie outside the project. What is measured is the guard as programs use it, and other
//! finders on the same rows in the same run. No rule is tuned here and no figure is fixed.

mod bars;
mod baselines;
mod corpus;
mod figures_json;
mod misses;
mod page;
mod planted;
mod rivals;
mod running;
#[cfg(feature = "search")]
mod search;
mod secrets;
mod statistics;
mod table;

use std::error::Error;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use mmw_core::env::{Clock as _, SystemClock};
use mmw_guard::{CustomRules, Guard};

use self::corpus::CorpusError;
use self::misses::{Wanted, What};

/// The exit code for arguments that can't be followed, absent corpora among them.
const USAGE: u8 = 2;

/// Measures how good the product's decisions are.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask eval", bin_name = "cargo xtask eval")]
struct Arguments {
    #[command(subcommand)]
    what: Evaluation,
}

#[derive(Debug, Subcommand)]
enum Evaluation {
    /// The guard: secrets and planted instructions.
    Guard(GuardArguments),
    /// Search: what it finds, what comes first, what it says of absent topics.
    #[cfg(feature = "search")]
    Search(search::SearchArguments),
}

#[derive(Debug, clap::Args)]
struct GuardArguments {
    /// Folder of the corpora; see docs/evaluation.md for what it holds.
    #[arg(long, value_name = "DIR", env = "MMW_EVAL_CORPUS")]
    corpus: Option<PathBuf>,
    /// A rule file in the format of gitleaks or betterleaks, added to the guard.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Measure other finders on the same rows; fetches them from the network at the first run.
    #[arg(long)]
    compare: bool,
    /// Where what is fetched is kept.
    #[arg(long, value_name = "DIR", default_value = "target/eval-compare")]
    cache: PathBuf,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
    /// Put the tables into docs/evaluation.md.
    #[arg(long, conflicts_with_all = ["json", "misses"])]
    write: bool,
    /// List rows that came out wrong instead of figures.
    #[arg(long, value_name = "WHAT")]
    misses: Option<What>,
    /// The most rows that are listed.
    #[arg(long, default_value_t = 40, requires = "misses")]
    limit: usize,
    /// Only rows whose source, kind or family has this in its name.
    #[arg(long, requires = "misses")]
    source: Option<String>,
}

/// Runs the evaluation that the arguments name.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let wanted = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.what,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(USAGE);
            // Nobody is left to tell if the terminal is gone.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let repository = Path::new(".");
    let told = match wanted {
        Evaluation::Guard(wanted) => guard(&wanted, repository),
        #[cfg(feature = "search")]
        Evaluation::Search(wanted) => search::run(&wanted, repository),
    };
    match told {
        Ok(text) => {
            let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let mut told = format!("eval: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                told = format!("{told}: {error}");
                cause = error.source();
            }
            let _ = writeln!(std::io::stderr(), "{told}");
            match error.downcast_ref() {
                Some(CorpusError::Absent(_)) => ExitCode::from(USAGE),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Measures the guard; returns what is to be printed.
fn guard(wanted: &GuardArguments, repository: &Path) -> Result<String, Box<dyn Error>> {
    let folder = wanted
        .corpus
        .as_deref()
        .ok_or_else(|| CorpusError::Absent("no folder was named".to_owned()))?;
    let corpora = corpus::read(folder)?;
    let guard = match &wanted.rules {
        None => Guard::standard(),
        Some(file) => with_rules(file)?,
    };
    let results = running::run(&guard, &corpora);
    if let Some(what) = wanted.misses {
        let wanted = Wanted {
            what,
            limit: wanted.limit,
            source: wanted.source.as_deref(),
        };
        return Ok(misses::list(&corpora, &results, &wanted));
    }
    let secrets = results.secrets(&corpora);
    let planted = results.planted(&corpora);
    let rivals = if wanted.compare {
        rivals::measure(&corpora, &results.in_secrets, &wanted.cache)?
    } else {
        Vec::new()
    };
    if wanted.json {
        let figures = figures_json::of(&secrets, &planted, &rivals);
        return Ok(format!("{figures:#}"));
    }
    let date: String = SystemClock.now().to_string().chars().take(10).collect();
    let text = format!(
        "Measured on {date} with `cargo xtask eval guard{}{}`: {} rows with a secret, {} without, {} planted \
         instructions, {} honest rows.\n\n{}{}{}",
        if wanted.compare { " --compare" } else { "" },
        if wanted.rules.is_some() {
            " --rules FILE"
        } else {
            ""
        },
        corpora.secrets.len(),
        corpora.no_secrets.len(),
        corpora.planted.len(),
        corpora.honest.len(),
        table::bars(&secrets, &planted),
        table::secrets(&secrets, &rivals),
        table::planted(&planted),
    );
    if wanted.write {
        let path = page::write(repository, "guard", &text)?;
        return Ok(format!(
            "{}\nwritten to {}",
            table::bars(&secrets, &planted),
            path.display()
        ));
    }
    Ok(text)
}

/// Returns the guard with the rules of a file.
fn with_rules(file: &Path) -> Result<Guard, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{} can't be read: {error}", file.display()))?;
    let rules = CustomRules::parse(&text)?;
    rules.compile()?;
    Ok(Guard::standard().with_rules(Arc::new(rules)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> GuardArguments {
        let words = ["eval", "guard"].into_iter().chain(line.split_whitespace());
        match Arguments::try_parse_from(words).unwrap().what {
            Evaluation::Guard(wanted) => wanted,
            #[cfg(feature = "search")]
            Evaluation::Search(_) => unreachable!("the line begins with guard"),
        }
    }

    fn made_up(line: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        corpus::tests::made_up(folder.path());
        let mut wanted = arguments(line);
        wanted.corpus = Some(folder.path().to_owned());
        guard(&wanted, folder.path()).unwrap()
    }

    #[test]
    fn made_up_corpora_give_tables_and_json() {
        let text = made_up("");
        for part in [
            "3 rows with a secret, 2 without",
            "### The bars",
            "| secrets found, foreign rows | 50.0 ",
            "| `password",
            "| tier A | 1 | 100.0 ",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&made_up("--json")).unwrap();
        assert_eq!(json["secrets"]["all"]["found"]["hits"], 2);
        assert_eq!(json["planted"]["planted"]["tier A"]["reject"]["hits"], 1);
    }

    #[test]
    fn rows_that_came_out_wrong_are_listed_on_demand() {
        let missed = made_up("--misses secrets");
        assert!(missed.starts_with("1 rows\np3 | one |"), "{missed}");
        assert!(made_up("--misses secrets --source two").starts_with("0 rows"));
        assert!(made_up("--misses fp").starts_with("0 rows"));
        assert!(made_up("--misses planted").starts_with("0 rows"));
    }

    #[test]
    fn rules_of_a_file_are_measured_with_the_guard() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.toml");
        std::fs::write(&file, "[[rules]]\nid = 'word'\nregex = 'word is (\\w+)'\n").unwrap();
        let json = made_up(&format!("--json --rules {}", file.display()));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["secrets"]["all"]["found"]["hits"], 3);
        assert_eq!(json["secrets"]["by_rule"]["word"]["right"], 1);
    }

    #[test]
    fn the_page_gets_the_tables_between_its_marks() {
        let folder = tempfile::tempdir().unwrap();
        corpus::tests::made_up(folder.path());
        let page = folder.path().join(page::PAGE);
        std::fs::create_dir(page.parent().unwrap()).unwrap();
        std::fs::write(
            &page,
            "a\n<!-- eval:guard:begin -->\n<!-- eval:guard:end -->\nz\n",
        )
        .unwrap();
        let mut wanted = arguments("--write");
        wanted.corpus = Some(folder.path().to_owned());
        guard(&wanted, folder.path()).unwrap();
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.starts_with("a\n") && page.ends_with("z\n") && page.contains("### The bars"));
    }

    #[test]
    fn absent_corpora_are_a_matter_of_usage() {
        let error = guard(&arguments("--corpus no/such/folder"), Path::new(".")).unwrap_err();
        assert!(
            matches!(error.downcast_ref(), Some(CorpusError::Absent(_))),
            "{error}"
        );
    }
}
