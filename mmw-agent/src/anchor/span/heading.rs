//! Sections of Markdown: from a heading to the next one of the same or a higher rank.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{MAX_NAMESAKES, NotFound};

/// A heading.
struct Heading {
    /// Its text, without markup.
    text: String,
    /// 1 is the highest.
    rank: usize,
    /// Its line, counted from 0.
    line: usize,
}

/// Returns the lines of the section, with the heading itself.
///
/// A heading is meant by its text, by the anchor that web views make of it (`staging-servers`, for a
/// second one `staging-servers-1`), or by its text in other letter case, the first form that fits.
pub(super) fn find(fragment: &str, text: &str) -> Result<Range<usize>, NotFound> {
    let headings = headings(text);
    let nth = meant(&headings, &wanted(fragment))?;
    Ok(section(&headings, nth, &super::lines_of(text)))
}

/// Returns the sections of all headings that go by that name, whichever of several is meant.
pub(super) fn all(fragment: &str, text: &str) -> Vec<Range<usize>> {
    let headings = headings(text);
    let wanted = wanted(fragment);
    let lines = super::lines_of(text);
    let base = match meant(&headings, &wanted) {
        Ok(nth) => slug(&headings[nth].text),
        // The number may be one that only a heading of the same name once gave it.
        Err(_) => match slug(&wanted).rsplit_once('-') {
            Some((base, number)) if number.parse::<usize>().is_ok() => base.to_owned(),
            _ => slug(&wanted),
        },
    };
    (0..headings.len())
        .filter(|nth| !base.is_empty() && slug(&headings[*nth].text) == base)
        .take(MAX_NAMESAKES)
        .map(|nth| section(&headings, nth, &lines))
        .collect()
}

fn wanted(fragment: &str) -> String {
    let wanted = decoded(fragment);
    wanted.trim().trim_start_matches('#').trim().to_owned()
}

fn meant(headings: &[Heading], wanted: &str) -> Result<usize, NotFound> {
    let lower = wanted.to_lowercase();
    if lower.is_empty() {
        return Err(NotFound::Absent);
    }
    let only = |fits: &dyn Fn(&Heading) -> bool| {
        let mut fitting = (0..headings.len()).filter(|nth| fits(&headings[*nth]));
        match (fitting.next(), fitting.next()) {
            (Some(nth), None) => Ok(nth),
            (Some(_), Some(_)) => Err(NotFound::Ambiguous),
            (None, _) => Err(NotFound::Absent),
        }
    };
    only(&|heading| heading.text == wanted)
        .or_else(|_| {
            // Only now, and only of those that can have it: all of very many headings take a while.
            let relatives: Vec<usize> = (0..headings.len())
                .filter(|nth| family(&slug(&headings[*nth].text)) == family(&lower))
                .collect();
            let slugs = slugs(relatives.iter().map(|nth| &headings[*nth]));
            let by_slug = slugs.iter().position(|slug| *slug == lower);
            by_slug.map(|at| relatives[at]).ok_or(NotFound::Absent)
        })
        .or_else(|_| only(&|heading| heading.text.to_lowercase() == lower))
}

fn section(headings: &[Heading], nth: usize, lines: &[&str]) -> Range<usize> {
    let this = &headings[nth];
    let next = headings[nth + 1..]
        .iter()
        .find(|other| other.rank <= this.rank);
    let end = next.map_or(lines.len(), |next| next.line);
    super::without_blank_end(lines, this.line..end.max(this.line + 1))
}

fn headings(text: &str) -> Vec<Heading> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut found = Vec::new();
    let mut current: Option<Heading> = None;
    let mut lines = LineNumbers::new(text);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                current = Some(Heading {
                    text: String::new(),
                    rank: level as usize,
                    line: lines.at(range.start),
                });
            }
            Event::End(TagEnd::Heading(_)) => {
                found.extend(current.take().map(|mut heading| {
                    heading.text = heading.text.trim().to_owned();
                    heading
                }));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut current {
                    heading.text.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut current {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    found
}

/// Counts lines up to offsets that rise.
struct LineNumbers<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl<'t> LineNumbers<'t> {
    const fn new(text: &'t str) -> Self {
        Self {
            text,
            offset: 0,
            line: 0,
        }
    }

    fn at(&mut self, offset: usize) -> usize {
        let passed = self.text.as_bytes().get(self.offset..offset);
        self.line += passed
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        self.offset = self.offset.max(offset);
        self.line
    }
}

/// Returns the anchor that web views make of a text: lower case, white space as hyphens, no
/// punctuation.
fn slug(text: &str) -> String {
    text.to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

/// Returns what anchors have in common that can be numbers of each other: `a` of `a`, `a-1` and `a-1-2`.
fn family(mut slug: &str) -> &str {
    while let Some((base, number)) = slug.rsplit_once('-') {
        if base.is_empty() || number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            break;
        }
        slug = base;
    }
    slug
}

/// Returns the anchors of headings: of those that would be equal, each after the first has a
/// number that makes it another than all before.
fn slugs<'h>(headings: impl Iterator<Item = &'h Heading>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut slugs = Vec::new();
    for heading in headings {
        let base = slug(&heading.text);
        let mut this = base.clone();
        let mut n = seen.get(&base).copied().unwrap_or(0);
        while seen.contains_key(&this) {
            n += 1;
            this = format!("{base}-{n}");
        }
        seen.insert(base, n);
        seen.entry(this.clone()).or_insert(0);
        slugs.push(this);
    }
    slugs
}

/// Returns the fragment with `%20` and the like as the characters that they stand for.
fn decoded(fragment: &str) -> String {
    percent_encoding::percent_decode_str(fragment)
        .decode_utf8()
        .map_or_else(|_| fragment.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "\
---
title: x
---
# Deploy

intro

## Staging servers

app-staging

```sh
# no heading
```

### Access

ask

## `prod` & more

app-prod

Notes
-----

first

## Notes

second
";

    fn part(fragment: &str) -> Result<Vec<&'static str>, NotFound> {
        let lines: Vec<&str> = GUIDE.lines().collect();
        find(fragment, GUIDE).map(|range| lines[range].to_vec())
    }

    #[test]
    fn a_section_reaches_to_the_next_heading_of_its_rank() {
        let staging = part("Staging servers").unwrap();
        assert_eq!(staging.first(), Some(&"## Staging servers"));
        assert!(staging.contains(&"# no heading") && staging.contains(&"ask"));
        assert!(!staging.contains(&"app-prod"));
        assert_eq!(part("Access").unwrap(), ["### Access", "", "ask"]);
        assert_eq!(part("Deploy").unwrap().last(), Some(&"second"));
    }

    #[test]
    fn a_heading_is_meant_by_text_case_or_anchor() {
        let staging = part("Staging servers");
        for fragment in [
            "staging servers",
            "staging-servers",
            "Staging%20servers",
            "## Staging servers",
        ] {
            assert_eq!(part(fragment), staging, "{fragment}");
        }
        assert_eq!(part("prod & more"), part("prod--more"));
        assert_eq!(part("notes-1").unwrap(), ["## Notes", "", "second"]);
    }

    #[test]
    fn of_two_headings_of_one_name_the_first_is_meant_unless_it_says_which() {
        assert_eq!(part("Notes").unwrap(), ["Notes", "-----", "", "first"]);
        assert_eq!(part("notes"), part("Notes"));
        let all = |fragment: &str| all(fragment, GUIDE).len();
        assert_eq!(
            (all("Notes"), all("notes-1"), all("notes-7"), all("Access")),
            (2, 2, 2, 1)
        );
        let text = "# a\n## A 1\n## A\n## A\n";
        let headings = headings(text);
        assert_eq!(slugs(headings.iter()), ["a", "a-1", "a-2", "a-3"]);
    }

    proptest::proptest! {
        #[test]
        fn a_heading_is_found_by_the_anchor_that_it_has_among_all(
            names in proptest::collection::vec("[AB]( [12]){0,2}|-|1", 1..9),
        ) {
            let text: String = names.iter().map(|name| format!("# {name}\n")).collect();
            let headings = headings(&text);
            for (nth, slug) in slugs(headings.iter()).iter().enumerate() {
                // What is a heading's very text is that heading.
                let is_a_text = headings.iter().any(|heading| heading.text == *slug);
                if !is_a_text && !slug.is_empty() {
                    proptest::prop_assert_eq!(meant(&headings, slug), Ok(nth), "{} in {}", slug, text);
                }
            }
        }
    }

    #[test]
    fn what_fits_none_is_refused() {
        for fragment in ["Stag", "", "no heading", "title", "#", "notes-2"] {
            assert_eq!(part(fragment), Err(NotFound::Absent), "{fragment}");
        }
    }
}
