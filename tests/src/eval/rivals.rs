//! Other finders of secrets, measured in the same run on the same rows.
//!
//! Neither is part of the project: both are fetched for the measurement, checked, and kept under
//! `target/`. A rule file in the format of betterleaks runs through the guard's own loader, with none of
//! the guard's rules; detect-secrets runs as it is.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;
use mmw_guard::{CustomRules, CustomRulesError};
use sha2::{Digest as _, Sha256};

use super::corpus::{Corpora, Row};
use super::secrets::{self, Figures, Found, FoundInRows, RULE_FILE_SOURCES, Recall};

/// A package that carries the rule file as betterleaks publishes it (MIT), and its checksum.
const PACKAGE: &str =
    "https://static.crates.io/crates/kingfisher-rules/kingfisher-rules-3.0.1.crate";
const PACKAGE_SHA256: &str = "ae83deaf5347fc4213918c557d69528c82772674825176d8a9fd734b8be78175";
/// Where in it the file is, and the end of its name there.
const SOURCES: &str = "kingfisher-rules-3.0.1/generated/upstream-sources.json.gz";
const RULE_FILE: &str = "/config/betterleaks.toml";
/// The other finder, as pip names it.
const DETECT_SECRETS: &str = "detect-secrets==1.5.0";
const DETECT_SECRETS_SCRIPT: &str = include_str!("rivals/detect_secrets.py");

/// Another finder with its figures.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    /// The sources that are left out because the finder's own tests came from them.
    pub(crate) left_out: Vec<&'static str>,
    pub(crate) figures: Figures,
    /// Its recall on the rows that are left.
    pub(crate) own: Recall,
    /// This guard's recall on the same rows.
    pub(crate) ours: Recall,
}

/// Why another finder can't be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RivalError {
    /// A program is missing or failed.
    #[error("`{0}` failed: {1}")]
    Program(String, String),
    /// A file can't be read or written.
    #[error("{0} can't be read or written")]
    File(PathBuf, #[source] std::io::Error),
    /// What was fetched is not what was expected.
    #[error("{PACKAGE} has the SHA-256 {0}, not {PACKAGE_SHA256}: it is not used")]
    Checksum(String),
    /// The package has no rule file where it is expected.
    #[error("{PACKAGE} has no {RULE_FILE} in {SOURCES}")]
    NoRuleFile,
    /// The rule file is refused.
    #[error("the rule file is refused")]
    Refused(#[from] CustomRulesError),
    /// A finder answered something else than a list for each row.
    #[error("detect-secrets answered {0} of {1} rows")]
    Answers(usize, usize),
}

/// Measures both finders. What they need is fetched into `cache` if it is not there.
pub(crate) fn measure(
    corpora: &Corpora,
    ours: &FoundInRows,
    cache: &Path,
) -> Result<Vec<Measured>, RivalError> {
    fs::create_dir_all(cache).map_err(|error| RivalError::File(cache.to_owned(), error))?;
    let rules = CustomRules::parse(&rule_file(cache)?)?;
    rules.compile()?;
    let by_rules = |rows: &[Row]| rows.iter().map(|row| with_rules(&rules, row)).collect();
    let mut measured = vec![scored(
        format!(
            "betterleaks.toml b1aa878, {} rules, in this guard's loader",
            rules.len()
        ),
        &RULE_FILE_SOURCES,
        corpora,
        ours,
        &by_rules(&corpora.secrets),
        &by_rules(&corpora.no_secrets),
    )];
    let python = python(cache)?;
    measured.push(scored(
        "detect-secrets 1.5.0".to_owned(),
        &["detect-secrets"],
        corpora,
        ours,
        &detect_secrets(&python, cache, &corpora.secrets)?,
        &detect_secrets(&python, cache, &corpora.no_secrets)?,
    ));
    Ok(measured)
}

fn scored(
    name: String,
    left_out: &[&'static str],
    corpora: &Corpora,
    ours: &FoundInRows,
    in_secrets: &FoundInRows,
    in_no_secrets: &FoundInRows,
) -> Measured {
    Measured {
        name,
        left_out: left_out.to_vec(),
        own: secrets::recall_without(&corpora.secrets, in_secrets, left_out),
        ours: secrets::recall_without(&corpora.secrets, ours, left_out),
        figures: secrets::score(
            &corpora.secrets,
            in_secrets,
            &corpora.no_secrets,
            in_no_secrets,
        ),
    }
}

fn with_rules(rules: &CustomRules, row: &Row) -> Vec<Found> {
    let found = rules.find(&row.text).into_iter();
    found
        .map(|(span, rule)| Found {
            span,
            rule: rules.id(rule).to_owned(),
        })
        .collect()
}

/// Returns the text of the rule file.
fn rule_file(cache: &Path) -> Result<String, RivalError> {
    let package = cache.join("kingfisher-rules-3.0.1.crate");
    if !package.is_file() {
        let part = cache.join("package.part");
        let mut fetch = Command::new("curl");
        fetch.args([
            "--silent",
            "--show-error",
            "--fail",
            "--location",
            "--output",
        ]);
        run(fetch.arg(&part).arg(PACKAGE))?;
        checked(&part)?;
        fs::rename(&part, &package).map_err(|error| RivalError::File(package.clone(), error))?;
    }
    checked(&package)?;
    let mut unpack = Command::new("tar");
    let packed = run(unpack.arg("-xzOf").arg(&package).arg(SOURCES))?;
    let mut json = String::new();
    GzDecoder::new(&*packed)
        .read_to_string(&mut json)
        .map_err(|error| RivalError::File(package, error))?;
    let sources: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&json).map_err(|_| RivalError::NoRuleFile)?;
    let file = sources
        .iter()
        .find_map(|(name, text)| text.as_str().filter(|_| name.ends_with(RULE_FILE)));
    file.map(str::to_owned).ok_or(RivalError::NoRuleFile)
}

fn checked(package: &Path) -> Result<(), RivalError> {
    let bytes = fs::read(package).map_err(|error| RivalError::File(package.to_owned(), error))?;
    let digest: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if digest == PACKAGE_SHA256 {
        Ok(())
    } else {
        Err(RivalError::Checksum(digest))
    }
}

/// Returns a Python that has detect-secrets, in an environment of its own.
fn python(cache: &Path) -> Result<PathBuf, RivalError> {
    let environment = cache.join("detect-secrets-1.5.0");
    let python = environment.join("bin/python");
    let has_it =
        |python: &Path| run(Command::new(python).args(["-c", "import detect_secrets"])).is_ok();
    if !(python.is_file() && has_it(&python)) {
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", DETECT_SECRETS]))?;
    }
    Ok(python)
}

fn detect_secrets(python: &Path, cache: &Path, rows: &[Row]) -> Result<FoundInRows, RivalError> {
    let input = cache.join("rows.jsonl");
    let unusable = |error| RivalError::File(input.clone(), error);
    let mut file = File::create(&input).map_err(unusable)?;
    for row in rows {
        writeln!(file, "{}", serde_json::Value::from(row.text.as_str())).map_err(unusable)?;
    }
    let input_file = File::open(&input).map_err(unusable)?;
    let mut scan = Command::new(python);
    scan.args(["-c", DETECT_SECRETS_SCRIPT]).stdin(input_file);
    let printed = run(&mut scan)?;
    fs::remove_file(&input).map_err(unusable)?;
    let mut found = FoundInRows::new();
    for (line, row) in BufReader::new(&*printed).lines().zip(rows) {
        let values: Option<Vec<(String, String)>> =
            line.ok().and_then(|line| serde_json::from_str(&line).ok());
        let Some(values) = values else { break };
        found.push(
            values
                .iter()
                .flat_map(|value| everywhere(&row.text, value))
                .collect(),
        );
    }
    if found.len() == rows.len() {
        Ok(found)
    } else {
        Err(RivalError::Answers(found.len(), rows.len()))
    }
}

/// It tells values, not places: each place where one stands counts as found.
fn everywhere(text: &str, (kind, value): &(String, String)) -> Vec<Found> {
    let places = text.match_indices(value.as_str());
    places
        .filter(|(_, found)| !found.is_empty())
        .map(|(at, found)| Found {
            span: at..at + found.len(),
            rule: kind.clone(),
        })
        .collect()
}

/// Runs a program to its end and returns what it printed.
fn run(command: &mut Command) -> Result<Vec<u8>, RivalError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| RivalError::Program(name.clone(), why);
    let output = command
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let told = String::from_utf8_lossy(&output.stderr);
        let last = told.lines().rev().find(|line| !line.trim().is_empty());
        Err(failed(last.unwrap_or("it said nothing").to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_wherever_it_stands() {
        let found = everywhere("a=xy, b=xy", &("Keyword".to_owned(), "xy".to_owned()));
        let spans: Vec<_> = found.iter().map(|found| found.span.clone()).collect();
        assert_eq!(spans, [2..4, 8..10]);
        assert!(everywhere("abc", &("Keyword".to_owned(), String::new())).is_empty());
    }

    #[test]
    fn another_package_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("kingfisher-rules-3.0.1.crate");
        fs::write(&package, "something else").unwrap();
        let told = rule_file(folder.path()).unwrap_err().to_string();
        assert!(told.contains("it is not used"), "{told}");
    }

    #[test]
    fn a_program_that_fails_is_named_with_what_it_said() {
        let told = run(Command::new("sh").args(["-c", "echo why >&2; false"])).unwrap_err();
        assert_eq!(told.to_string(), "`sh` failed: why");
        assert!(run(&mut Command::new("no-such-program-here")).is_err());
    }
}
