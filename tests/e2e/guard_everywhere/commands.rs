//! Fills every option and argument of every command. What there is comes from `--help`.

use std::fs;
use std::process::Command;

use mmw_tests::{environment, programs};

use super::{Deck, Room};

/// An option or argument that takes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    Option(String),
    Argument,
}

/// A program with the folder that it works on.
struct Program<'r> {
    name: &'static str,
    room: &'r Room,
}

impl Program<'_> {
    fn run(&self, arguments: &[String]) -> String {
        let output = Command::new(programs::path(self.name))
            .args(arguments)
            .env_clear()
            .env("PATH", environment::search_path())
            .env("HOME", self.room.path())
            .env("MMW_AGENT_HOME", self.room.path())
            .env("MMW_DATA_DIR", self.room.path())
            .env("MMW_LOG", "trace")
            .current_dir(self.room.path())
            // What a command says to whoever typed the secret is theirs to see; it is no file.
            .stderr(std::process::Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn help(&self, command: &[&str]) -> String {
        let mut arguments: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        arguments.push("--help".into());
        self.run(&arguments)
    }
}

/// Returns the lines of one section of a help page.
fn section<'h>(help: &'h str, title: &str) -> Vec<&'h str> {
    help.lines()
        .skip_while(|line| *line != title)
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .collect()
}

/// Returns the names of the commands that a help page lists.
fn commands(help: &str) -> Vec<String> {
    section(help, "Commands:")
        .into_iter()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Returns what a help page says can be given a value.
fn slots(help: &str) -> Vec<Slot> {
    let takes_value = |line: &&str| line.trim_start().starts_with('-') && line.contains('<');
    let option = |line: &str| {
        let name = line.split_whitespace().find(|word| word.starts_with("--"));
        name.map(|name| Slot::Option(name.to_owned()))
    };
    let options = section(help, "Options:").into_iter().filter(takes_value);
    let mut slots: Vec<Slot> = options.filter_map(option).collect();
    let has_argument = section(help, "Arguments:")
        .iter()
        .any(|line| line.trim_start().starts_with(['<', '[']));
    if has_argument {
        slots.push(Slot::Argument);
    }
    slots
}

/// Options that say where programs keep their files: those are paths that exist, not texts.
const PLACES: [&str; 4] = ["--data-dir", "--port-file", "--listen", "--output"];

/// Fills every slot of one command. `base` are the arguments that it needs besides; `instead` those
/// for which the secret stands in the place of the positional argument.
fn fill(program: &Program<'_>, command: &[&str], base: &[&str], instead: &[&str], deck: &mut Deck) {
    let words =
        |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    for slot in slots(&program.help(command)) {
        let sample = deck.deal(&format!("{} {} {slot:?}", program.name, command.join(" ")));
        let mut arguments = words(command);
        match &slot {
            Slot::Option(name) if PLACES.contains(&name.as_str()) => continue,
            Slot::Option(name) if matches!(name.as_str(), "--set" | "--check") => {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("policy.toml");
                let comment: String = sample
                    .text
                    .lines()
                    .map(|line| format!("# {line}\n"))
                    .collect();
                fs::write(&file, comment).unwrap();
                arguments.extend(words(base));
                arguments.extend([name.clone(), file.display().to_string()]);
                program.run(&arguments);
                continue;
            }
            Slot::Option(name) => {
                arguments.extend(words(base));
                // Some need the source that they are of.
                if matches!(name.as_str(), "--source-hash" | "--source-revision") {
                    arguments.extend(words(&["--source-id", "a.md"]));
                }
                arguments.push(format!("{name}={}", sample.text));
            }
            Slot::Argument => {
                arguments.extend(words(instead));
                arguments.extend(["--".to_owned(), sample.text.clone()]);
            }
        }
        program.run(&arguments);
    }
}

pub(super) fn of_agent(room: &Room, deck: &mut Deck) {
    let program = Program {
        name: "mmw-agent",
        room,
    };
    program.run(&["remember".into(), "tree bears apples".into()]);
    let known = commands(&program.help(&[]));
    let mut is_first = true;
    while is_first || !deck.is_done() {
        is_first = false;
        for command in &known {
            let base: (&[&str], &[&str]) = match command.as_str() {
                "remember" => (&["tree bears pears"], &[]),
                "search" => (&["apples"], &[]),
                "forget" => (&["--yes"], &["--yes"]),
                "explain" => (&[], &[]),
                "resolve" | "review" | "status" | "verify" | "rescan" | "stale" => (&[], &[]),
                "policy" | "project" => (&[], &[]),
                // `import` is given the name of a file that there is not; what files hold is tested
                // with it.
                "export" | "import" => (&[], &[]),
                "connect" | "disconnect" => (&["--dry-run"], &[]),
                // Takes a client's event on its input and writes nothing.
                "hook-stop" => continue,
                // Take no text: they try what is there, play on a store of their own, send what waits.
                "doctor" | "demo" | "sync" => continue,
                // Prints a script.
                "completions" => continue,
                other => panic!("the command `{other}` is new: say here what it needs"),
            };
            fill(&program, &[command], base.0, base.1, deck);
        }
    }
}

pub(super) fn of_server(room: &Room, deck: &mut Deck) {
    let program = Program {
        name: "mmw-server",
        room,
    };
    program.run(&["project".into(), "create".into(), "default".into()]);
    let known = commands(&program.help(&[]));
    let mut is_first = true;
    while is_first || !deck.is_done() {
        is_first = false;
        for command in &known {
            match command.as_str() {
                // It is tested by what is sent to it.
                "serve" | "completions" => {}
                "verify" | "purge" | "rescan" => fill(&program, &[command], &[], &[], deck),
                "key" | "project" | "audit" => {
                    for inner in commands(&program.help(&[command])) {
                        let base: &[&str] = match (command.as_str(), inner.as_str()) {
                            ("key", "create") => &["a key"],
                            ("project", "create") => &["a project"],
                            ("project", "policy") => &["default"],
                            ("key", "list" | "revoke") | ("project", "list") => &[],
                            ("audit", "verify") => &[],
                            other => panic!("the command {other:?} is new: say here what it needs"),
                        };
                        fill(&program, &[command, &inner], base, &[], deck);
                    }
                }
                other => panic!("the command `{other}` is new: say here what it needs"),
            }
        }
    }
}
