//! `tidy`: the rules of the house that neither the compiler nor clippy knows.
//!
//! One file a rule. A rule looks at the checkout and returns complaints; each names the file, the
//! rule and what to do. `tidy` is also a test, so that `cargo test` finds what it finds.

mod checkout;
mod fences;
mod imports;
mod leftovers;
mod manifests;
mod migrations;
mod modules;
mod paths;
mod scan;
mod serde_derives;
mod trees;

use std::fmt;

use checkout::Checkout;

use crate::process::{Outcome, Repository, problem};

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Complaint {
    /// The file, with the line if there is one.
    place: String,
    /// The rule's name.
    rule: &'static str,
    /// What is wrong.
    what: String,
    /// What to do about it.
    remedy: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: [{}] {}\n    {}",
            self.place, self.rule, self.what, self.remedy
        )
    }
}

/// The rules that need nothing but the files.
const RULES: [fn(&Checkout) -> Vec<Complaint>; 8] = [
    manifests::check,
    imports::check,
    fences::check,
    serde_derives::check,
    migrations::check,
    modules::check,
    leftovers::check,
    paths::check,
];

/// Checks the repository and tells what breaks a rule.
pub(crate) fn run(repository: &Repository) -> Outcome {
    let complaints = complaints(repository)?;
    if complaints.is_empty() {
        println!("tidy: the rules of the house hold");
        return Ok(());
    }
    let listed: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    problem(format!(
        "{} complaints of tidy\n{}",
        listed.len(),
        listed.join("\n")
    ))
}

fn complaints(repository: &Repository) -> Outcome<Vec<Complaint>> {
    let checkout = Checkout::read(repository)?;
    let mut complaints: Vec<Complaint> = RULES.iter().flat_map(|rule| rule(&checkout)).collect();
    complaints.extend(trees::check(repository, &checkout)?);
    complaints.sort();
    Ok(complaints)
}

/// Checks that a rule complains about exactly these places of a small checkout.
#[cfg(test)]
fn check_places(rule: fn(&Checkout) -> Vec<Complaint>, files: &[(&str, &str)], places: &[&str]) {
    let complaints = rule(&Checkout::of(files));
    let mut found: Vec<&str> = complaints.iter().map(|c| c.place.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, places, "{complaints:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        if let Err(told) = run(&Repository::of_this_build()) {
            panic!("{told}");
        }
    }

    #[test]
    fn a_complaint_names_file_rule_and_remedy() {
        let complaint = Complaint {
            place: "a.rs:3".to_owned(),
            rule: "leftovers",
            what: "a leftover".to_owned(),
            remedy: "finish it".to_owned(),
        };
        assert_eq!(
            complaint.to_string(),
            "a.rs:3: [leftovers] a leftover\n    finish it"
        );
    }
}
