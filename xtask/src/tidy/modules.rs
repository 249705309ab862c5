//! How a module looks from outside: it says what it is for, it is one idea long, and the `main` of a
//! program calls one function.

use super::Complaint;
use super::checkout::Checkout;
use super::scan;

/// The most lines of a source file; most have 100 to 400 with their tests.
const MAX_LINES: usize = 700;

/// The most lines of code in the `main.rs` of a program.
const MAX_MAIN_LINES: usize = 15;

/// Checks heads, lengths and `main.rs`.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    checkout
        .rust()
        .flat_map(|(path, source)| {
            let found = [
                head(source),
                length(path, source),
                program(path, &scan::code(source)),
            ];
            found.into_iter().flatten().map(|(what, remedy)| Complaint {
                place: path.to_owned(),
                rule: "modules",
                what,
                remedy: remedy.to_owned(),
            })
        })
        .collect()
}

type Found = Option<(String, &'static str)>;

fn head(source: &str) -> Found {
    let first = source.lines().find(|line| !line.trim().is_empty());
    let says = first.and_then(|line| line.strip_prefix("//!"));
    if says.is_some_and(|text| !text.trim().is_empty()) {
        return None;
    }
    Some((
        "the file does not open with `//!`".to_owned(),
        "say in a sentence or two what the module is for and what it does not do",
    ))
}

fn length(path: &str, source: &str) -> Found {
    let n_lines = source.lines().count();
    if n_lines <= MAX_LINES || is_test(path) {
        return None;
    }
    Some((
        format!("has {n_lines} lines, more than {MAX_LINES}"),
        "split it: one idea a file",
    ))
}

fn is_test(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    parts.contains(&"tests") || parts.contains(&"benches") || parts.last() == Some(&"tests.rs")
}

fn program(path: &str, code: &str) -> Found {
    if !path.ends_with("src/main.rs") {
        return None;
    }
    let n_lines = code.lines().filter(|line| !line.trim().is_empty()).count();
    let n_functions = scan::lines_with(code, "fn").len();
    if n_lines <= MAX_MAIN_LINES && n_functions == 1 {
        return None;
    }
    Some((
        format!("has {n_lines} lines of code and {n_functions} functions"),
        "`main` calls one function of the library",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    const MAIN: &str = "//! The program.\n\nfn main() -> ExitCode {\n    mmw_x::run()\n}\n";

    #[test]
    fn a_module_opens_with_what_it_is_for() {
        check_places(check, &[("a/src/lib.rs", "//! For a.\n")], &[]);
        check_places(check, &[("a/src/lib.rs", "\n//! For a.\n")], &[]);
        for bad in ["", "//!\n", "// For a.\n", "use b;\n//! For a.\n"] {
            check_places(check, &[("a/src/lib.rs", bad)], &["a/src/lib.rs"]);
            check_places(check, &[("tests/e2e/main.rs", bad)], &["tests/e2e/main.rs"]);
        }
        check_places(check, &[("a/readme.md", "")], &[]);
    }

    #[test]
    fn a_file_is_one_idea_long() {
        let lines = |n: usize| format!("//! Long.\n{}", "// x\n".repeat(n - 1));
        check_places(check, &[("a/src/b.rs", &lines(MAX_LINES))], &[]);
        let long = lines(MAX_LINES + 1);
        check_places(check, &[("a/src/b.rs", &long)], &["a/src/b.rs"]);
        check_places(check, &[("a/tests/b.rs", &long)], &[]);
        check_places(check, &[("a/src/b/tests.rs", &long)], &[]);
    }

    #[test]
    fn main_calls_one_function() {
        let path = "mmw-agent/src/main.rs";
        check_places(check, &[(path, MAIN)], &[]);
        let two = format!("{MAIN}fn other() {{}}\n");
        check_places(check, &[(path, &two)], &[path]);
        let long = MAIN.replace("    mmw_x::run()\n", &"    step();\n".repeat(20));
        check_places(check, &[(path, &long)], &[path]);
        check_places(check, &[("mmw-agent/src/cli.rs", &two)], &[]);
    }
}
