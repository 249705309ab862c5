//! Forms that are plain sequences of bytes and runs: matched in one direction, without an engine.
//!
//! The build script refuses a sequence in which a greedy run could swallow what follows it, so no
//! match is ever given up and tried again.

/// The upper count of a run that has none.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// A set of bytes.
#[derive(Debug)]
pub(crate) struct Set(pub(crate) [u64; 4]);

impl Set {
    /// Tells whether a byte belongs to the set.
    pub(crate) const fn has(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }
}

/// One part of a sequence.
#[derive(Debug)]
pub(crate) enum Part {
    /// These bytes.
    Bytes(&'static [u8]),
    /// `min` to `max` bytes of a set.
    Run {
        set: &'static Set,
        min: u32,
        max: u32,
    },
}

/// Returns where the sequence that begins at `at` ends, if it stands there whole: what follows may
/// not belong to a last run that has an upper count.
///
/// # Errors
/// The place up to which no other beginning can succeed: where a first run without an upper count
/// ends, every beginning inside it fails at the same byte. Else `at`.
pub(crate) fn end_of(
    parts: &[Part],
    text: &[u8],
    at: usize,
    any_case: bool,
) -> Result<usize, usize> {
    let mut end = at;
    let mut hopeless = at;
    for (n, part) in parts.iter().enumerate() {
        match part {
            Part::Bytes(bytes) => {
                let stands = text.get(end..end + bytes.len()).ok_or(hopeless)?;
                if stands != *bytes && !(any_case && stands.eq_ignore_ascii_case(bytes)) {
                    return Err(hopeless);
                }
                end += bytes.len();
            }
            Part::Run { set, min, max } => {
                let run = text[end..]
                    .iter()
                    .take(*max as usize)
                    .take_while(|byte| has(set, **byte, any_case))
                    .count();
                end += run;
                if n == 0 && *max == UNLIMITED {
                    hopeless = end;
                }
                if run < *min as usize {
                    return Err(hopeless);
                }
            }
        }
    }
    let goes_on = match (parts.last(), text.get(end)) {
        (Some(Part::Run { set, .. }), Some(next)) => has(set, *next, any_case),
        _ => false,
    };
    if goes_on { Err(hopeless) } else { Ok(end) }
}

/// Returns where the run that ends at `end` begins, if it stands there.
pub(crate) fn run_before(part: &Part, text: &[u8], end: usize, any_case: bool) -> Option<usize> {
    let Part::Run { set, min, max } = part else {
        return None;
    };
    let n = text[..end]
        .iter()
        .rev()
        .take(*max as usize)
        .take_while(|byte| has(set, **byte, any_case))
        .count();
    (n >= *min as usize).then(|| end - n)
}

fn has(set: &Set, byte: u8, any_case: bool) -> bool {
    set.has(byte) || any_case && set.has(byte.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The digits.
    static DIGITS: Set = Set([0x03ff_0000_0000_0000, 0, 0, 0]);
    static FORM: [Part; 3] = [
        Part::Run {
            set: &DIGITS,
            min: 2,
            max: 3,
        },
        Part::Bytes(b"-x"),
        Part::Run {
            set: &DIGITS,
            min: 1,
            max: 2,
        },
    ];

    #[test]
    fn a_sequence_stands_whole_or_not_at_all() {
        for (text, end) in [
            ("12-x3", Some(5)),
            ("123-x45 ", Some(7)),
            ("1-x3", None),
            ("1234-x3", None),
            ("12-x345", None),
            ("12-y3", None),
            ("12-x", None),
            ("", None),
        ] {
            assert_eq!(end_of(&FORM, text.as_bytes(), 0, false).ok(), end, "{text}");
        }
        assert_eq!(end_of(&FORM, b"12-X3", 0, true), Ok(5));
    }

    #[test]
    fn a_run_is_read_backwards_too() {
        assert_eq!(run_before(&FORM[0], b"ab123:", 5, false), Some(2));
        assert_eq!(run_before(&FORM[0], b"ab1:", 3, false), None);
    }
}
