//! What of a record can be found: by its words, by its meaning, and by what it is filtered by.

use mmw_core::record::{FactKey, Record};
use mmw_core::source::SourceId;
use mmw_core::time::Timestamp;

use crate::embed::Passage;
use crate::engine::LexicalDoc;
use crate::words::{self, Facet};

/// Names of months, for a day as a person would write it.
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the words of a record: of what it says, its topic, source, tags, of who said it and when.
pub(super) fn words_of(record: &Record) -> LexicalDoc {
    let (day, iso) = (written_day(record.said.created_at), iso_day(record));
    let mut texts = vec![record.content.as_str()];
    texts.extend(record.fact_key.as_ref().map(FactKey::as_str));
    texts.extend(record.origin.id.as_ref().map(SourceId::as_str));
    texts.extend(record.tags.iter().map(String::as_str));
    texts.extend(record.label.as_deref());
    texts.extend([day.as_str(), iso.as_str()]);
    let mut doc = words::document(&texts);
    for facet in facets_of(record) {
        doc.text.push(' ');
        doc.text.push_str(&facet.word());
    }
    doc
}

fn facets_of(record: &Record) -> Vec<Facet<'_>> {
    let mut facets = vec![Facet::Kind(record.kind.name()), Facet::Scope(&record.scope)];
    facets.extend(record.tags.iter().map(|tag| Facet::Tag(tag)));
    facets.extend(
        record
            .origin
            .id
            .as_ref()
            .map(|id| Facet::Document(id.document())),
    );
    facets
}

/// Returns a record's passage with its day, which lives as long as `day` does: see [`written_day`].
pub(super) fn passage_of<'a>(record: &'a Record, day: &'a str) -> Passage<'a> {
    Passage {
        date: Some(day),
        who: record.label.as_deref(),
        fact: &record.content,
    }
}

/// Returns the day of a moment as a person would write it, in UTC: `14 March 2026`.
pub(super) fn written_day(moment: Timestamp) -> String {
    let iso = moment.to_string();
    let mut parts = iso.get(..10).unwrap_or_default().split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
    match (year, number(month), number(day)) {
        (Some(year), Some(month @ 1..=12), Some(day)) => {
            format!("{day} {} {year}", MONTHS[month - 1])
        }
        _ => iso,
    }
}

fn iso_day(record: &Record) -> String {
    let iso = record.said.created_at.to_string();
    iso.get(..10).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::build;

    #[test]
    fn a_day_is_written_as_a_person_would() {
        let day = |text| written_day(Timestamp::parse(text).unwrap());
        assert_eq!(day("2026-03-14T09:30:00Z"), "14 March 2026");
        assert_eq!(day("2023-12-01"), "1 December 2023");
        // Nothing is guessed for times beyond four digits a year.
        written_day(Timestamp::from_ms(i64::MAX));
        written_day(Timestamp::from_ms(i64::MIN));
    }

    #[test]
    fn who_said_it_when_and_every_facet_is_indexed_and_facets_are_not_counted() {
        let place = build::World::plan().here;
        let mut record = build::record(&place, 1, "staging runs as app");
        record.label = Some("Ada".to_owned());
        record.tags = vec!["ops team".to_owned()];
        record.origin.id = Some(build::source_id("docs/deploy.md#Staging"));
        let doc = words_of(&record);
        let words: Vec<&str> = doc.text.split(' ').collect();
        let facets = [
            Facet::Kind("fact"),
            Facet::Scope(&record.scope),
            Facet::Tag("ops team"),
            Facet::Document("docs/deploy.md"),
        ];
        for facet in facets {
            assert!(words.contains(&&*facet.word()), "{facet:?}");
        }
        assert!(words.contains(&"ada"), "{words:?}");
        assert!(doc.counts.len() <= words.len() - facets.len());
        let day = written_day(record.said.created_at);
        assert!(
            passage_of(&record, &day)
                .text()
                .starts_with(&format!("[{day}] Ada: "))
        );
    }
}
