//! Migrations are added, never edited: a store somewhere has run the old text.
//!
//! `frozen.txt` beside them holds a line `<sha256>  <file>` for each, as `sha256sum` prints it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::Complaint;
use super::checkout::Checkout;

/// The folder of the migrations.
const FOLDER: &str = "mmw-store/src/migrations/";

/// The list of checksums.
const FROZEN: &str = "mmw-store/src/migrations/frozen.txt";

/// Checks that every migration is listed with its checksum, and numbered without a gap.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    let complain = |place: &str, what: String, remedy: &str| Complaint {
        place: place.to_owned(),
        rule: "migrations",
        what,
        remedy: remedy.to_owned(),
    };
    let present: BTreeMap<&str, String> = checkout
        .paths()
        .filter_map(|path| Some((path.strip_prefix(FOLDER)?, checkout.bytes(path)?)))
        .filter(|(file, _)| file.ends_with(".sql"))
        .map(|(file, bytes)| (file, checksum(bytes)))
        .collect();
    let Some(list) = checkout.text(FROZEN) else {
        return if present.is_empty() {
            Vec::new()
        } else {
            vec![complain(
                FROZEN,
                "the list of checksums is missing".to_owned(),
                "write a line `<sha256>  <file>` for each migration",
            )]
        };
    };
    let mut complaints = Vec::new();
    let mut frozen = BTreeMap::new();
    for (nth, line) in list.lines().enumerate() {
        match line.split_once("  ") {
            Some((sum, file)) => {
                frozen.insert(file, sum);
            }
            None if line.is_empty() || line.starts_with('#') => {}
            None => complaints.push(complain(
                &format!("{FROZEN}:{}", nth + 1),
                "is no line `<sha256>  <file>`".to_owned(),
                "write it as `sha256sum` does",
            )),
        }
    }
    for (file, sum) in &present {
        match frozen.get(file) {
            Some(kept) if kept == sum => {}
            Some(_) => complaints.push(complain(
                &format!("{FOLDER}{file}"),
                "a frozen migration was edited".to_owned(),
                "restore it and add a new migration for the change",
            )),
            None => complaints.push(complain(
                &format!("{FOLDER}{file}"),
                "the migration is not frozen".to_owned(),
                &format!("add the line `{sum}  {file}` to frozen.txt"),
            )),
        }
    }
    for file in frozen.keys().filter(|file| !present.contains_key(*file)) {
        complaints.push(complain(
            &format!("{FOLDER}{file}"),
            "a frozen migration was removed".to_owned(),
            "restore it: stores that are older still need it",
        ));
    }
    complaints.extend(
        gaps(present.keys().copied())
            .into_iter()
            .map(|(file, number)| {
                complain(
                    &format!("{FOLDER}{file}"),
                    format!("should be number {number}"),
                    "number the migrations from 1 without a gap: `0001_name.sql`",
                )
            }),
    );
    complaints
}

fn checksum(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Returns the files that break the numbering of their folder, with the number they should have.
fn gaps<'a>(files: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u32)> {
    let mut next: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for file in files {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let number = next.entry(folder).or_insert(1);
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        if digits.parse() != Ok(*number) {
            wrong.push((file, *number));
        }
        *number += 1;
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    const FIRST: &str = "mmw-store/src/migrations/0001_first.sql";
    const SECOND: &str = "mmw-store/src/migrations/0002_second.sql";

    fn list(files: &[(&str, &str)]) -> String {
        files
            .iter()
            .map(|(path, text)| {
                let file = path.strip_prefix(FOLDER).unwrap();
                format!("{}  {file}\n", checksum(text.as_bytes()))
            })
            .collect()
    }

    #[test]
    fn a_checksum_is_that_of_sha256sum() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum(b"abc"), expected);
    }

    #[test]
    fn a_migration_is_added_and_never_edited_or_removed() {
        let both = list(&[(FIRST, "a;"), (SECOND, "b;")]);
        check_places(
            check,
            &[(FIRST, "a;"), (SECOND, "b;"), (FROZEN, &both)],
            &[],
        );
        check_places(
            check,
            &[(FIRST, "a; "), (SECOND, "b;"), (FROZEN, &both)],
            &[FIRST],
        );
        check_places(check, &[(FIRST, "a;"), (FROZEN, &both)], &[SECOND]);
        let one = list(&[(FIRST, "a;")]);
        check_places(
            check,
            &[(FIRST, "a;"), (SECOND, "b;"), (FROZEN, &one)],
            &[SECOND],
        );
        check_places(check, &[(FIRST, "a;")], &[FROZEN]);
        check_places(check, &[], &[]);
    }

    #[test]
    fn a_gap_or_a_line_that_is_none_is_found() {
        let third = "mmw-store/src/migrations/0003_third.sql";
        let text = list(&[(FIRST, "a;"), (third, "c;")]);
        check_places(
            check,
            &[(FIRST, "a;"), (third, "c;"), (FROZEN, &text)],
            &[third],
        );
        let odd = format!("{}odd\n", list(&[(FIRST, "a;")]));
        let place = format!("{FROZEN}:2");
        check_places(check, &[(FIRST, "a;"), (FROZEN, &odd)], &[&place]);
    }
}
