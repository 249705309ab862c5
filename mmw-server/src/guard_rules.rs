//! The rule file that an operator adds to the guard (`MMW_GUARD_RULES`): read, checked, handed over.
//!
//! A file that can't be used keeps the program from starting: an operator who asks for more rules
//! must not get fewer in silence. What the rules mean is for `mmw-guard` to say.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mmw_guard::{CustomRules, CustomRulesError, Guard};

/// The variable that names the file.
pub const VARIABLE: &str = "MMW_GUARD_RULES";

/// A byte more than the guard takes, so that it says itself what is too much.
const MAX_READ_BYTES: u64 = (2 << 20) + 1;

/// Why a rule file can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileError {
    /// The file can't be read.
    #[error("{VARIABLE}: {0} can't be read: mend the path, or unset {VARIABLE}")]
    Unreadable(PathBuf, #[source] io::Error),
    /// The file is no text.
    #[error(
        "{VARIABLE}: {0} is no UTF-8 text: it must be rules as gitleaks or betterleaks write them"
    )]
    NoText(PathBuf),
    /// The file has something in it that can't be used.
    #[error("{VARIABLE}: {0} can't be used")]
    Refused(PathBuf, #[source] CustomRulesError),
}

/// Returns the guard with the rules of a file, the standard one if none is named. Every rule is
/// compiled here, so that none fails later.
///
/// # Errors
/// [`RuleFileError`].
pub fn guard(file: Option<&Path>) -> Result<Guard, RuleFileError> {
    let Some(file) = file else {
        return Ok(Guard::standard());
    };
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(MAX_READ_BYTES).read_to_end(&mut bytes))
        .map_err(|error| RuleFileError::Unreadable(file.to_owned(), error))?;
    let text = String::from_utf8(bytes).map_err(|_| RuleFileError::NoText(file.to_owned()))?;
    let refused = |error| RuleFileError::Refused(file.to_owned(), error);
    let rules = CustomRules::parse(&text).map_err(refused)?;
    rules.compile().map_err(refused)?;
    tracing::info!(file = %file.display(), rules = rules.len(), "rules of a file are added to the guard");
    for warning in rules.warnings() {
        tracing::info!(file = %file.display(), "{warning}");
    }
    Ok(Guard::standard().with_rules(Arc::new(rules)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(bytes: &[u8], words: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.toml");
        std::fs::write(&file, bytes).unwrap();
        let error = guard(Some(&file)).unwrap_err();
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let told = format!("{error}: {}", cause.unwrap_or_default());
        for word in words.iter().chain(&[VARIABLE, "rules.toml"]) {
            assert!(told.contains(word), "{told}");
        }
    }

    #[test]
    fn rules_of_a_file_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.toml");
        std::fs::write(&file, "[[rules]]\nid = 'farm'\nregex = 'farm-[0-9]{6}'\n").unwrap();
        let (clean, _) = guard(Some(&file)).unwrap().redact("farm-123456");
        assert_eq!(clean, "[REDACTED:farm]");
        assert_eq!(guard(None).unwrap().redact("farm-123456").0, "farm-123456");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_with_its_place() {
        refused(
            b"[[rules]]\nid = 'a'\nregex = '(x'\n",
            &["line 3", "rule `a`", "unclosed group"],
        );
        refused(
            b"[[rules]]\nid = 'a'\nregex = '(?:[a-z]{900}){900}'\n",
            &["rule `a`", "MB"],
        );
        refused(b"\xff\xfe", &["UTF-8"]);
        refused(&vec![b'#'; (2 << 20) + 9], &["2097153", "at most 2097152"]);
        let told = guard(Some(Path::new("no/such/file")))
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("no/such/file") && told.contains("unset"),
            "{told}"
        );
    }
}
