//! The lines of an export of ours: written and read.

use mmw_core::wire::transfer::{EXPORT_VERSION, ExportHeader, ExportLine};
use mmw_store::{Arriving, Incoming};
use serde_json::error::Category;

use super::{Parcel, Unfit};

/// The longest line that is read, in bytes: no record needs as much.
const MAX_LINE_BYTES: usize = 4 << 20;

/// Returns the text of an export.
pub(crate) fn text(lines: &[ExportLine]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    Ok(text)
}

/// Reads an export. A line that is broken is an entry of its own, so that the others are not lost.
///
/// # Errors
/// If the first line is no header, or one of a newer form.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parcel, Unfit> {
    let mut parcel = Parcel::default();
    let mut promised: Option<ExportHeader> = None;
    let mut found = ExportHeader::default();
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let read = read(line);
        if promised.is_none() {
            match read {
                Ok(ExportLine::MmwExport(header)) if header.version > EXPORT_VERSION => {
                    return Err(Unfit::Newer(header.version));
                }
                Ok(ExportLine::MmwExport(header)) => promised = Some(header),
                _ => return Err(Unfit::Unknown),
            }
            continue;
        }
        let what = match read {
            Ok(line) => {
                match &line {
                    ExportLine::Forgotten(_) => found.forgotten += 1,
                    ExportLine::Record(record) => {
                        found.records += 1;
                        parcel.n_decisions += u64::from(record.approval.is_some());
                    }
                    ExportLine::Link(link) => {
                        found.links += 1;
                        parcel.n_decisions += u64::from(link.kind == "outdates");
                    }
                    ExportLine::Resolution(_) => {
                        found.resolutions += 1;
                        parcel.n_decisions += 1;
                    }
                    ExportLine::Waiting(_) => found.waiting += 1,
                    // Two exports in one file are no harm.
                    ExportLine::MmwExport(_) => {}
                }
                Arriving::Line(Box::new(line))
            }
            Err(why) => Arriving::Broken(why),
        };
        parcel.incoming.push(Incoming { line: number, what });
    }
    let Some(promised) = promised else {
        return Err(Unfit::Unknown);
    };
    if found.records < promised.records {
        parcel.notes.push(format!(
            "the file says that it holds {} records, and {} can be read: it may have been cut off",
            promised.records, found.records
        ));
    }
    if found.waiting < promised.waiting {
        parcel.notes.push(format!(
            "the file says that {} statements in it wait for review, and {} can be read: it may have \
             been cut off",
            promised.waiting, found.waiting
        ));
    }
    Ok(parcel)
}

fn read(line: &[u8]) -> Result<ExportLine, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("is longer than {} MiB", MAX_LINE_BYTES >> 20));
    }
    serde_json::from_slice(line).map_err(|error| {
        // The library's own words repeat what it stumbled over.
        let what = match error.classify() {
            Category::Data => "has not the fields of a line of an export",
            _ => "is no JSON",
        };
        format!("{what} (column {})", error.column())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "{\"mmw_export\":{\"version\":1,\"records\":1}}\n";

    fn broken(text: &str) -> Vec<(u64, String)> {
        let parcel = parse(text.as_bytes()).unwrap();
        let reasons = parcel.incoming.into_iter().map(|one| match one.what {
            Arriving::Broken(why) => (one.line, why),
            other => panic!("{other:?}"),
        });
        reasons.collect()
    }

    #[test]
    fn a_broken_line_is_told_by_number_and_never_repeated() {
        let text = format!("{HEADER}{{\"record\":{{\"id\":\"hunter2\"}}}}\n\n{{\"link\":hunter2\n");
        let broken = broken(&text);
        assert_eq!(broken.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 4]);
        for (_, why) in &broken {
            assert!(!why.contains("hunter2"), "{why}");
        }
        let deep = format!("{HEADER}{{\"record\":{}1", "[".repeat(100_000));
        assert_eq!(self::broken(&deep).len(), 1);
        let long = format!("{HEADER}\"{}\"", "x".repeat(MAX_LINE_BYTES));
        assert!(self::broken(&long)[0].1.contains("longer"));
    }

    #[test]
    fn another_file_and_a_newer_form_are_refused() {
        assert_eq!(parse(b""), Err(Unfit::Unknown));
        assert_eq!(parse(b"# Notes"), Err(Unfit::Unknown));
        let newer = b"{\"mmw_export\":{\"version\":2}}";
        assert_eq!(parse(newer), Err(Unfit::Newer(2)));
    }

    #[test]
    fn a_file_that_was_cut_off_is_noticed() {
        let parcel = parse(HEADER.as_bytes()).unwrap();
        assert!(parcel.notes[0].contains("cut off"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&bytes);
            let mut with_header = HEADER.as_bytes().to_vec();
            with_header.extend(bytes);
            prop_assert!(parse(&with_header).is_ok());
        }
    }
}
