//! `ci`: everything that must pass before a change is taken, in order, up to the first failure.

use std::time::{Duration, Instant};

use crate::process::{Outcome, Problem, Repository, Step};
use crate::{codegen, e2e, tidy};

/// One station of the pipeline.
struct Station {
    name: &'static str,
    work: Work,
}

enum Work {
    /// A program, with its output on this terminal.
    Run(Step),
    /// The same; its test results are counted.
    Test(Step),
    /// A command of this program, and how a person repeats it.
    Own(&'static str, fn(&Repository) -> Outcome),
}

/// What `cargo test` reported, added up over all its binaries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    binaries: u32,
    passed: u32,
    failed: u32,
    ignored: u32,
}

/// Runs the pipeline and prints how long each station took.
pub(crate) fn run(repository: &Repository) -> Outcome {
    let mut timings = Vec::new();
    let mut counted = Counted::default();
    let mut outcome = Ok(());
    for station in stations(repository)? {
        println!("\n=== {} ===", station.name);
        let began = Instant::now();
        outcome = station.run(repository, &mut counted);
        timings.push((station.name, began.elapsed(), outcome.is_ok()));
        if outcome.is_err() {
            break;
        }
    }
    println!("\n{}", table(&timings, counted));
    outcome.map_err(|problem| Problem(format!("ci stopped. {problem}")))
}

fn stations(repository: &Repository) -> Outcome<Vec<Station>> {
    let run = |name, step| Station {
        name,
        work: Work::Run(step),
    };
    let test = |name, step| Station {
        name,
        work: Work::Test(step),
    };
    let own = |name, line, command| Station {
        name,
        work: Work::Own(line, command),
    };
    let mut stations = vec![
        run("format", Step::cargo("cargo fmt --all --check")),
        run(
            "clippy",
            Step::cargo("cargo clippy --workspace --all-targets -- -D warnings"),
        ),
        // The tests start the programs: build them first, so that they are never an older state.
        run("build", e2e::build()),
        test("test", Step::cargo("cargo test --workspace")),
        own("tidy", "cargo xtask tidy", tidy::run),
        own("codegen", "cargo xtask codegen --check", |repository| {
            codegen::run(repository, true)
        }),
    ];
    let choice = e2e::Choice {
        clients: true,
        crash: false,
    };
    // The first step of the e2e tests builds the programs, which stands above already.
    let mut steps = e2e::steps(repository, choice)?;
    let tests = steps.pop();
    stations.extend(steps.into_iter().skip(1).map(|step| run("clients", step)));
    stations.extend(tests.map(|step| test("e2e", step)));
    Ok(stations)
}

impl Station {
    fn run(&self, repository: &Repository, counted: &mut Counted) -> Outcome {
        match &self.work {
            Work::Run(step) => {
                println!("$ {}", step.line());
                step.run(repository)
            }
            Work::Test(step) => {
                println!("$ {}", step.line());
                step.run_reading(repository, |line| counted.add(line))
            }
            Work::Own(line, command) => {
                println!("$ {line}");
                command(repository).map_err(|problem| Problem(format!("{problem}\nfailed: {line}")))
            }
        }
    }
}

impl Counted {
    /// Adds a line such as `test result: ok. 7 passed; 0 failed; 0 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let number_before = |word: &str| -> u32 {
            let words: Vec<&str> = result.split([' ', ';']).collect();
            words
                .windows(2)
                .find(|pair| pair[1] == word)
                .and_then(|pair| pair[0].parse().ok())
                .unwrap_or(0)
        };
        self.binaries += 1;
        self.passed += number_before("passed");
        self.failed += number_before("failed");
        self.ignored += number_before("ignored");
    }
}

fn table(timings: &[(&str, Duration, bool)], counted: Counted) -> String {
    let mut lines = vec![format!("{:<10} {:>8}  result", "station", "seconds")];
    for (name, took, passed) in timings {
        let result = if *passed { "passed" } else { "FAILED" };
        lines.push(format!("{name:<10} {:>8.1}  {result}", took.as_secs_f64()));
    }
    let all: Duration = timings.iter().map(|(_, took, _)| *took).sum();
    lines.push(format!("{:<10} {:>8.1}", "all", all.as_secs_f64()));
    lines.push(format!(
        "tests: {} passed, {} failed, {} ignored, in {} runs",
        counted.passed, counted.failed, counted.ignored, counted.binaries
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_stations_stand_in_order() {
        let names: Vec<&str> = stations(&Repository::of_this_build())
            .unwrap()
            .iter()
            .map(|station| station.name)
            .collect();
        assert_eq!(
            names,
            [
                "format", "clippy", "build", "test", "tidy", "codegen", "clients", "clients", "e2e"
            ]
        );
    }

    #[test]
    fn results_of_all_test_binaries_are_added_up() {
        let mut counted = Counted::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 10 passed; 1 failed; 2 ignored; 0 measured; 4 filtered out",
            "the test result: is not one",
        ] {
            counted.add(line);
        }
        let expected = Counted {
            binaries: 2,
            passed: 13,
            failed: 1,
            ignored: 2,
        };
        assert_eq!(counted, expected);
    }

    #[test]
    fn a_failing_command_is_repeated() {
        let failing = Station {
            name: "x",
            work: Work::Test(Step::program(Path::new("sh")).arg("-c").arg("exit 1")),
        };
        let told = failing
            .run(&Repository::of_this_build(), &mut Counted::default())
            .unwrap_err();
        assert!(told.0.ends_with("sh -c 'exit 1'"), "{told}");
        let own = Station {
            name: "x",
            work: Work::Own("cargo xtask tidy", |_| Err(Problem("no good".to_owned()))),
        };
        let told = own
            .run(&Repository::of_this_build(), &mut Counted::default())
            .unwrap_err();
        assert_eq!(told.0, "no good\nfailed: cargo xtask tidy");
    }

    #[test]
    fn the_table_shows_what_failed() {
        let timings = [
            ("format", Duration::from_millis(1_240), true),
            ("clippy", Duration::from_millis(61_000), false),
        ];
        let table = table(&timings, Counted::default());
        assert!(table.contains("format          1.2  passed"), "{table}");
        assert!(table.contains("clippy         61.0  FAILED"), "{table}");
        assert!(table.contains("all            62.2"), "{table}");
    }
}
