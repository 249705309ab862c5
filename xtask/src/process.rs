//! Starting other programs, and the repository that they run in.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// What went wrong, in words; may have several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Problem>;

/// Returns a problem with that text.
pub(crate) fn problem<T>(text: impl Into<String>) -> Outcome<T> {
    Err(Problem(text.into()))
}

/// The folder that holds the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Returns the repository that this program was built in.
    pub(crate) fn of_this_build() -> Self {
        let member = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = member
            .parent()
            .expect("xtask lies in a folder of the workspace");
        Self::at(root)
    }

    /// Returns the repository in that folder.
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Returns the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder that cargo builds into.
    pub(crate) fn target(&self) -> Outcome<PathBuf> {
        let step = Step::cargo("cargo metadata --no-deps --format-version 1 --offline");
        let text = step.output(self)?;
        let metadata: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| Problem(format!("cargo metadata gave no JSON: {error}")))?;
        match metadata["target_directory"].as_str() {
            Some(folder) => Ok(PathBuf::from(folder)),
            None => problem("cargo metadata names no target directory"),
        }
    }
}

/// A program with its arguments, to be run in the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    words: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Step {
    /// Returns the step that starts this program.
    pub(crate) fn program(program: &Path) -> Self {
        Self {
            words: vec![program.display().to_string()],
            environment: Vec::new(),
        }
    }

    /// Returns the step of a line whose words are separated by single spaces.
    pub(crate) fn cargo(line: &str) -> Self {
        Self {
            words: line.split(' ').map(str::to_owned).collect(),
            environment: Vec::new(),
        }
    }

    /// Returns the step with one argument more.
    pub(crate) fn arg(mut self, word: impl Into<String>) -> Self {
        self.words.push(word.into());
        self
    }

    /// Returns the step with a variable set.
    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the line with which a person repeats the step.
    pub(crate) fn line(&self) -> String {
        let variables = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = self.words.iter().map(|word| quoted(word));
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }

    fn command(&self, repository: &Repository) -> Command {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(repository.root());
        command
    }

    /// Runs the step with its output on this terminal.
    pub(crate) fn run(&self, repository: &Repository) -> Outcome {
        let status = self
            .command(repository)
            .status()
            .map_err(|error| self.did_not_start(&error))?;
        if status.success() {
            Ok(())
        } else {
            problem(format!("failed ({status}): {}", self.line()))
        }
    }

    /// Runs the step with its output on this terminal and returns its exit code.
    pub(crate) fn run_for_code(&self, repository: &Repository) -> Outcome<ExitCode> {
        let status = self
            .command(repository)
            .status()
            .map_err(|error| self.did_not_start(&error))?;
        match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(code) => Ok(ExitCode::from(code)),
            None => problem(format!("failed ({status}): {}", self.line())),
        }
    }

    /// Runs the step, shows every line of its standard output and hands it on.
    pub(crate) fn run_reading(
        &self,
        repository: &Repository,
        mut each_line: impl FnMut(&str),
    ) -> Outcome {
        let mut child = self
            .command(repository)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.did_not_start(&error))?;
        if let Some(stdout) = child.stdout.take() {
            let mut lines = BufReader::new(stdout);
            let mut line = Vec::new();
            while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line);
                print!("{text}");
                each_line(text.trim_end());
                line.clear();
            }
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => problem(format!("failed ({status}): {}", self.line())),
            Err(error) => Err(self.did_not_start(&error)),
        }
    }

    /// Runs the step and returns its standard output; its errors go to this terminal if it fails.
    pub(crate) fn output(&self, repository: &Repository) -> Outcome<String> {
        let output = self
            .command(repository)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| self.did_not_start(&error))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return problem(format!(
                "failed ({}): {}\n{}",
                output.status,
                self.line(),
                told.trim_end()
            ));
        }
        String::from_utf8(output.stdout)
            .map_err(|_| Problem(format!("gave no UTF-8: {}", self.line())))
    }

    fn did_not_start(&self, error: &std::io::Error) -> Problem {
        Problem(format!("could not start ({error}): {}", self.line()))
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Step {
        Step::program(Path::new("sh")).arg("-c").arg(script)
    }

    fn here() -> Repository {
        Repository::of_this_build()
    }

    #[test]
    fn a_failing_step_names_the_line_that_repeats_it() {
        let step = shell("exit 3").env("A", "b c");
        let told = step.run(&here()).unwrap_err().to_string();
        assert!(told.ends_with("A='b c' sh -c 'exit 3'"), "{told}");
        assert!(told.contains('3'), "{told}");
    }

    #[test]
    fn an_exit_code_is_handed_on_and_a_killed_program_is_told() {
        let code = |script| shell(script).run_for_code(&here());
        assert_eq!(code("exit 2").unwrap(), ExitCode::from(2));
        assert_eq!(code("true").unwrap(), ExitCode::SUCCESS);
        assert!(code("kill -9 $$").is_err());
    }

    #[test]
    fn a_program_that_is_absent_is_named() {
        let step = Step::program(Path::new("no-such-program-here"));
        let told = step.run(&here()).unwrap_err().to_string();
        assert!(told.contains("could not start"), "{told}");
    }

    #[test]
    fn lines_are_handed_on_while_they_are_shown() {
        let mut lines = Vec::new();
        let outcome = shell("echo one; echo two; exit 1")
            .run_reading(&here(), |line| lines.push(line.to_owned()));
        assert_eq!(lines, ["one", "two"]);
        assert!(outcome.is_err());
    }

    #[test]
    fn the_output_comes_back_and_errors_are_told() {
        assert_eq!(shell("printf x").output(&here()).unwrap(), "x");
        let told = shell("echo why >&2; false").output(&here()).unwrap_err();
        assert!(told.0.ends_with("why"), "{told}");
    }
}
