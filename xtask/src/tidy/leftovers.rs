//! What says that something is not finished: it is finished, or it is an issue.

use super::Complaint;
use super::checkout::Checkout;
use super::scan;

/// Macros and attributes that may not stand in code.
const IN_CODE: [(&str, &str); 2] = [
    ("todo!", "write it, or leave it out"),
    ("unimplemented!", "write it, or leave it out"),
];

/// The mark of a thing to be mended, in two halves so that this file does not carry it.
const MARK: &str = concat!("FIX", "ME");

/// Checks code for leftovers, and all text files for the mark.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    let complain = |path: &str, line: usize, what: &str, remedy: &str| Complaint {
        place: format!("{path}:{line}"),
        rule: "leftovers",
        what: format!("`{what}`"),
        remedy: remedy.to_owned(),
    };
    let mut complaints = Vec::new();
    for (path, source) in checkout.rust() {
        let code = scan::code(source);
        for (word, remedy) in IN_CODE {
            let lines = scan::lines_with(&code, word);
            complaints.extend(lines.iter().map(|line| complain(path, *line, word, remedy)));
        }
        let run_it = "a test that never runs proves nothing: mend it or remove it";
        for (nth, line) in code.lines().enumerate() {
            if is_attribute(line) && scan::has_word(line, "ignore") {
                complaints.push(complain(path, nth + 1, "#[ignore]", run_it));
            }
        }
        for (nth, line) in source.lines().enumerate() {
            let documented = ["///", "//!"]
                .iter()
                .find_map(|start| line.trim_start().strip_prefix(start));
            let fence = documented.and_then(|text| text.trim_start().strip_prefix("```"));
            if fence.is_some_and(|words| scan::has_word(words, "ignore")) {
                complaints.push(complain(path, nth + 1, "```ignore", run_it));
            }
        }
    }
    for (path, text) in checkout.texts() {
        let lines = scan::lines_with(text, MARK);
        let remedy = "mend it, or file an issue and remove the mark";
        complaints.extend(lines.iter().map(|line| complain(path, *line, MARK, remedy)));
    }
    complaints
}

fn is_attribute(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[ignore") || line.starts_with("#[cfg_attr(")
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    fn check_one(source: &str, found: bool) {
        let places: &[&str] = if found { &["a/src/b.rs:2"] } else { &[] };
        check_places(
            check,
            &[("a/src/b.rs", &format!("//! b\n{source}\n"))],
            places,
        );
    }

    #[test]
    fn unfinished_code_is_found() {
        check_one("fn f() { todo!() }", true);
        check_one("fn f() { unimplemented!(\"later\") }", true);
        check_one("fn f() -> &'static str { \"todo!\" }", false);
        check_one("// no `todo!` here", false);
    }

    #[test]
    fn a_test_that_never_runs_is_found() {
        check_one("#[ignore]", true);
        check_one("    #[ignore = \"slow\"]", true);
        check_one("#[cfg_attr(windows, ignore)]", true);
        check_one("/// ```ignore", true);
        check_one("/// ```rust,ignore", true);
        check_one("/// ```no_run", false);
        check_one("#[serde(rename = \"ignore\")]", false);
        check_one("// unknown arguments: ignore them", false);
    }

    #[test]
    fn the_mark_is_found_in_every_text() {
        check_places(
            check,
            &[
                ("docs/a.md", &format!("x\n{MARK}: y\n")),
                ("b.toml", "# mend me"),
            ],
            &["docs/a.md:2"],
        );
    }
}
