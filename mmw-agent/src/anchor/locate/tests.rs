//! What becomes of parts when files are edited.

use proptest::prelude::*;

use super::*;

const OLD: &str = "one\ntwo\nfn a() {\n    1\n}\n\nfn b() {\n    2\n}\n\nlast\n";

/// Anchors a part of a text and tells what it has become in another one, and its lines there.
fn fate_in(
    path: &str,
    old: &str,
    label: &str,
    new: &str,
    with_surroundings: bool,
) -> (Fate, String) {
    let kind = span::kind_of(path, label);
    let lines = span::lines_of(old);
    let range = span::find(kind, label, old).unwrap();
    let hash = of_lines(&lines[range.clone()]).unwrap();
    let surroundings = Surroundings::of(&lines, &range, &hash);
    let part = Part {
        kind,
        label,
        hash: &hash,
        surroundings: surroundings.as_ref().filter(|_| with_surroundings),
    };
    let fate = locate(&part, new);
    let at = match &fate {
        Fate::Unchanged(range) | Fate::Changed(Some(range)) => {
            span::lines_of(new)[range.clone()].join("|")
        }
        Fate::Changed(None) | Fate::Missing => String::new(),
    };
    (fate, at)
}

fn told(fate: &Fate) -> &'static str {
    match fate {
        Fate::Unchanged(_) => "unchanged",
        Fate::Changed(_) => "changed",
        Fate::Missing => "missing",
    }
}

fn is(label: &str, new: &str, expected: &str, at: &str) {
    for with_surroundings in [true, false] {
        let (fate, found_at) = fate_in("x.rs", OLD, label, new, with_surroundings);
        let found = (told(&fate), found_at.as_str());
        assert_eq!(found, (expected, at), "{label} {with_surroundings}\n{new}");
    }
}

#[test]
fn an_edit_elsewhere_changes_no_part() {
    let body = "fn a() {|    1|}";
    for new in [
        OLD.to_owned(),
        OLD.replace("    2", "    3"),
        format!("zero\n\n{OLD}"),
        OLD.replace("one\ntwo\n", ""),
        OLD.replace('\n', "\r\n"),
        format!("{OLD}mod x {{\n    fn a() {{\n        9\n    }}\n}}\n"),
    ] {
        is("fn a", &new, "unchanged", body);
        is("L3-L5", &new, "unchanged", body);
    }
}

#[test]
fn an_edit_inside_is_a_change_wherever_the_part_is_now() {
    let new = format!("zero\n{}", OLD.replace("    1", "    one"));
    is("fn a", &new, "changed", "fn a() {|    one|}");
    let (fate, at) = fate_in("x.rs", OLD, "L3-L5", &new, true);
    assert_eq!(
        (told(&fate), at.as_str()),
        ("changed", "fn a() {|    one|}")
    );
    // One of several equal lines: what is around them tells which one was edited.
    let new = OLD.replacen('}', "};", 1);
    assert_eq!(told(&fate_in("x.rs", OLD, "L5", &new, true).0), "changed");
    assert_eq!(told(&fate_in("x.rs", OLD, "L9", &new, true).0), "unchanged");
    let old = "# A\n\ntext\n\n# B\n\nother\n";
    let new = old.replace("text\n", "text\n\nmore\n");
    for with_surroundings in [true, false] {
        let fate = |label, new: &str| told(&fate_in("x.md", old, label, new, with_surroundings).0);
        assert_eq!((fate("A", &new), fate("B", &new)), ("changed", "unchanged"));
    }
}

#[test]
fn a_heading_keeps_its_section_when_another_of_its_name_comes_before_it() {
    let old = "# A\n\n## Notes\n\nfirst\n\n## Notes\n\nsecond\n";
    let new = format!("# Z\n\n## Notes\n\nzeroth\n\n{old}");
    for with_surroundings in [true, false] {
        for (label, at) in [
            ("Notes", "## Notes||first"),
            ("notes-1", "## Notes||second"),
        ] {
            let (fate, found) = fate_in("x.md", old, label, &new, with_surroundings);
            assert_eq!((told(&fate), found.as_str()), ("unchanged", at), "{label}");
            let gone = new.replace("first", "one").replace("second", "two");
            let (fate, _) = fate_in("x.md", old, label, &gone, with_surroundings);
            assert_eq!(told(&fate), "changed", "{label}");
        }
    }
}

#[test]
fn of_two_equal_blocks_the_one_that_was_anchored_counts() {
    let old = "# A\nx\n## S\nsame\n# B\ny\n## S\nsame\n# C\n";
    let first = old.replacen("same", "edited", 1);
    let fate = |label, new: &str| told(&fate_in("x.md", old, label, new, true).0);
    assert_eq!(
        (fate("s", &first), fate("s-1", &first)),
        ("changed", "unchanged")
    );
}

#[test]
fn what_was_taken_out_is_missing() {
    let new = OLD.replace("fn a() {\n    1\n}\n", "");
    is("fn a", &new, "missing", "");
    assert_eq!(fate_in("x.rs", OLD, "L3-L5", &new, true).0, Fate::Missing);
    is("L3-L11", "one\n", "missing", "");
}

#[test]
fn a_renamed_part_is_found_by_what_is_around_it() {
    let new = OLD.replace("fn a()", "fn c()");
    let (fate, at) = fate_in("x.rs", OLD, "fn a", &new, true);
    assert_eq!((told(&fate), at.as_str()), ("changed", "fn c() {|    1|}"));
}

/// A file of sections and functions whose lines are told apart by numbers, with lines in between that
/// are not.
fn file(is_markdown: bool, n_parts: usize, bodies: &[Vec<u8>]) -> Vec<String> {
    let mut lines = Vec::new();
    for nth in 0..n_parts {
        lines.push(if is_markdown {
            format!("## Part {nth}")
        } else {
            format!("fn part_{nth}() {{")
        });
        for (at, kind) in bodies[nth % bodies.len()].iter().enumerate() {
            lines.push(match kind % 4 {
                0 => "    same".to_owned(),
                1 => String::new(),
                _ => format!("    unique {nth} {at}"),
            });
        }
        if !is_markdown {
            lines.push("}".to_owned());
        }
        lines.push(String::new());
    }
    lines
}

/// One edit of a file: at a line, take some out and put some in.
#[derive(Debug, Clone)]
struct Edit {
    at: proptest::sample::Index,
    n_out: usize,
    n_in: usize,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (any::<proptest::sample::Index>(), 0..3_usize, 0..3_usize)
        .prop_map(|(at, n_out, n_in)| Edit { at, n_out, n_in });
    proptest::collection::vec(edit, 0..6)
}

/// Applies edits to the lines outside of a part; what is put in is new text that opens no part.
fn edited(lines: &[String], part: &Range<usize>, edits: &[Edit]) -> String {
    let mut above = lines[..part.start].to_vec();
    let mut below = lines[part.end..].to_vec();
    for (nth, edit) in edits.iter().enumerate() {
        let side = if edit.at.index(2) == 0 {
            &mut above
        } else {
            &mut below
        };
        let at = edit.at.index(side.len() + 1);
        let end = (at + edit.n_out).min(side.len());
        side.splice(
            at..end,
            (0..edit.n_in).map(|k| format!("    new {nth} {k}")),
        );
    }
    let mut all = above;
    all.extend_from_slice(&lines[part.clone()]);
    all.extend(below);
    all.join("\n") + "\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn edits_elsewhere_leave_lines_unchanged_and_edits_inside_change_them(
        bodies in proptest::collection::vec(proptest::collection::vec(0..4_u8, 1..6), 1..4),
        n_parts in 1..6_usize,
        from in any::<proptest::sample::Index>(),
        n in 1..8_usize,
        edits in edits(),
        inside in any::<proptest::sample::Index>(),
        with_surroundings in any::<bool>(),
    ) {
        let lines = file(false, n_parts, &bodies);
        let start = from.index(lines.len());
        let part = start..(start + n).min(lines.len());
        // Lines that the file has twice are told apart by what is around them, as far as that is left.
        prop_assume!(lines[part.clone()].iter().any(|line| line.contains("part_") || line.contains("unique")));
        let old = lines.join("\n") + "\n";
        let label = format!("L{}-L{}", part.start + 1, part.end);
        let elsewhere = edited(&lines, &part, &edits);
        let (fate, at) = fate_in("x.rs", &old, &label, &elsewhere, with_surroundings);
        prop_assert_eq!(told(&fate), "unchanged", "{}\n{}", label, elsewhere);
        prop_assert_eq!(at, lines[part.clone()].join("|"));

        let mut changed = lines.clone();
        changed[part.start + inside.index(part.len())].push_str(" edited");
        let now = edited(&changed, &part, &edits);
        let (fate, _) = fate_in("x.rs", &old, &label, &now, with_surroundings);
        prop_assert_ne!(told(&fate), "unchanged", "{}\n{}", label, now);
        // A → B → A.
        let (fate, _) = fate_in("x.rs", &old, &label, &old, with_surroundings);
        prop_assert_eq!(told(&fate), "unchanged");
    }

    #[test]
    fn edits_elsewhere_leave_a_named_part_unchanged_and_edits_inside_change_it(
        is_markdown in any::<bool>(),
        bodies in proptest::collection::vec(proptest::collection::vec(0..4_u8, 1..6), 1..4),
        n_parts in 1..6_usize,
        which in any::<proptest::sample::Index>(),
        edits in edits(),
        inside in any::<proptest::sample::Index>(),
        with_surroundings in any::<bool>(),
    ) {
        let lines = file(is_markdown, n_parts, &bodies);
        let old = lines.join("\n") + "\n";
        let nth = which.index(n_parts);
        let (path, label) = if is_markdown {
            ("x.md", format!("Part {nth}"))
        } else {
            ("x.rs", format!("fn part_{nth}"))
        };
        let part = span::find(span::kind_of(path, &label), &label, &old).unwrap();
        // What follows a section up to the next heading is a part of it: edits begin behind that.
        let end = lines[part.end..]
            .iter()
            .position(|line| !line.trim().is_empty())
            .map_or(lines.len(), |at| part.end + at);
        let has_next = end < lines.len();
        let outside = if is_markdown { part.start..end + usize::from(has_next) } else { part.clone() };
        let elsewhere = edited(&lines, &outside, if is_markdown && !has_next { &[] } else { &edits });
        let (fate, at) = fate_in(path, &old, &label, &elsewhere, with_surroundings);
        prop_assert_eq!(told(&fate), "unchanged", "{}\n{}", label, elsewhere);
        prop_assert_eq!(at, lines[part.clone()].join("|"));

        let mut changed = lines.clone();
        changed[part.start + inside.index(part.len())].push_str(" edited");
        let now = edited(&changed, &outside, if is_markdown && !has_next { &[] } else { &edits });
        let (fate, _) = fate_in(path, &old, &label, &now, with_surroundings);
        prop_assert_ne!(told(&fate), "unchanged", "{}\n{}", label, now);
    }
}
