//! Other readings of a text for secret rules: Unicode forms unfolded, invisible characters left
//! out, escapes decoded, base64 read.
//!
//! A reading remembers where its parts came from, so that what is found in it is replaced in the
//! text itself, which is never changed here. Only the lines that differ are read again.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

mod letters;
mod signs;

/// A part of a reading and what it was made from.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where it begins in the reading, in bytes.
    at: usize,
    /// Where it begins in the text, in bytes.
    from: usize,
    /// Its length in the reading, in bytes.
    len: usize,
    /// Its length in the text.
    from_len: usize,
    /// Whether it was copied byte for byte.
    is_copy: bool,
}

/// A reading of a text, with the way back.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The reading.
    pub(crate) text: String,
    pieces: Vec<Piece>,
    /// What differs from the text, as ranges of the reading.
    changed: Vec<Range<usize>>,
}

impl View {
    fn copy(&mut self, text: &str, from: Range<usize>) {
        if from.is_empty() {
            return;
        }
        self.pieces.push(Piece {
            at: self.text.len(),
            from: from.start,
            len: from.len(),
            from_len: from.len(),
            is_copy: true,
        });
        self.text.push_str(&text[from]);
    }

    fn replace(&mut self, from: Range<usize>, with: impl Iterator<Item = char>) {
        let at = self.text.len();
        self.text.extend(with);
        self.changed.push(at..self.text.len());
        if self.text.len() > at {
            self.pieces.push(Piece {
                at,
                from: from.start,
                len: self.text.len() - at,
                from_len: from.len(),
                is_copy: false,
            });
        }
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let next = self.pieces.partition_point(|piece| piece.at <= at);
        self.pieces
            .get(next.checked_sub(1)?)
            .filter(|piece| at < piece.at + piece.len)
    }

    /// Returns what a span of the reading covers in the text it was made from.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.piece(span.start);
        let last = span.end.checked_sub(1).and_then(|last| self.piece(last));
        let (Some(first), Some(last)) = (first, last) else {
            return 0..0;
        };
        if span.is_empty() {
            return 0..0;
        }
        let start = if first.is_copy {
            first.from + (span.start - first.at)
        } else {
            first.from
        };
        let end = if last.is_copy {
            last.from + (span.end - last.at)
        } else {
            last.from + last.from_len
        };
        start..end
    }

    /// Returns the lines of the reading that differ from the text, each with its neighbours: a name
    /// may stand on one line and its value on the next.
    pub(crate) fn changed_lines(&self) -> Vec<Range<usize>> {
        let mut lines: Vec<Range<usize>> = Vec::new();
        for change in &self.changed {
            if lines.last().is_some_and(|last| change.end < last.end) {
                continue;
            }
            let start = line_start(&self.text, line_start(&self.text, change.start));
            let end = line_end(&self.text, line_end(&self.text, change.end));
            let end = self.key_end(start, end);
            match lines.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => lines.push(start..end),
            }
        }
        lines
    }

    /// Returns where a private key ends whose opening mark stands in these lines: what differs may be
    /// in its mark alone.
    fn key_end(&self, start: usize, end: usize) -> usize {
        const MAX_KEY_BYTES: usize = 8 << 10;
        if memchr::memmem::find(&self.text.as_bytes()[start..end], b"PRIVATE KEY").is_none() {
            return end;
        }
        self.text
            .ceil_char_boundary(self.text.len().min(end + MAX_KEY_BYTES))
    }
}

/// Returns where the line begins that ends before `at`, or that `at` stands in.
fn line_start(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.saturating_sub(1)];
    memchr::memrchr(b'\n', before).map_or(0, |line_break| line_break + 1)
}

/// Returns where the line ends that begins at `at`, or that `at` stands in, line break included.
fn line_end(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |n| at + n + 1)
}

/// What makes one reading of another. Each is applied to the reading before it: a text may be folded,
/// then escaped, and what was escaped may be escaped again.
const STEPS: [fn(&str) -> Option<View>; 9] = [
    letters::unfolded,
    letters::without_accents,
    letters::without_look_alikes,
    signs::without_controls,
    signs::unescaped,
    signs::without_controls,
    signs::joined,
    signs::unescaped,
    signs::unescaped,
];

/// Returns the other readings of a text, each made from the one before, the first from the text.
pub(crate) fn readings(text: &str) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    for step in STEPS {
        let reading = views.last().map_or(text, |view| view.text.as_str());
        views.extend(step(reading));
    }
    views
}

/// Returns what a span of the last of these readings covers in the text that they were made from.
pub(crate) fn origin(views: &[View], span: Range<usize>) -> Range<usize> {
    views
        .iter()
        .rev()
        .fold(span, |span, view| view.origin(&span))
}

/// Padding may be there or not; bits left over at the end do not matter.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Returns what a run of standard or URL-safe base64, or of hexadecimal digits, says, if it says text.
/// Line breaks and spaces inside the run do not matter.
pub(crate) fn base64_text(run: &str) -> Option<String> {
    let mut joined = run.as_bytes().to_vec();
    joined.retain(|byte| !byte.is_ascii_whitespace());
    // A digest could be read as base64 too, and says nothing.
    if joined.iter().all(u8::is_ascii_hexdigit) {
        return hexadecimal_text(&joined);
    }
    let is_url_safe = joined.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if is_url_safe { URL_SAFE } else { STANDARD };
    let bytes = engine.decode(&joined).ok()?;
    readable(bytes)
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_readable = text
        .chars()
        .all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
    is_readable.then_some(text)
}

/// Returns what pairs of hexadecimal digits say, if they say text.
fn hexadecimal_text(digits: &[u8]) -> Option<String> {
    // The first pair of nearly every digest is no letter: most end here.
    let first = *digits.first()?;
    if digits.len() % 2 == 1 || !matches!(first, b'0' | b'2'..=b'7' | b'c'..=b'f' | b'C'..=b'F') {
        return None;
    }
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|n| u8::try_from(n).ok())
    };
    let bytes: Option<Vec<u8>> = digits
        .chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect();
    readable(bytes?)
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Returns where runs of at least `min` base64 characters stand.
pub(crate) fn base64_runs(text: &str, min: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0_usize;
    // A long run has a member at every `min`th byte: the others need no look.
    while let Some(probe) = at
        .checked_add(min.max(1) - 1)
        .filter(|probe| *probe < bytes.len())
    {
        let Some(gap) = (at..=probe).rev().find(|n| !is_base64(bytes[*n])) else {
            let end = bytes[probe..]
                .iter()
                .position(|byte| !is_base64(*byte))
                .map_or(bytes.len(), |n| probe + n);
            runs.push(at..end);
            at = end;
            continue;
        };
        at = gap + 1;
    }
    runs
}

/// Returns runs of base64, those of following lines joined: encoders wrap what they write.
pub(crate) fn base64_blocks(text: &str, min: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for run in base64_runs(text, min) {
        let joins = blocks.last().is_some_and(|last| {
            let between = &text[last.end..run.start];
            between.contains('\n') && between.trim().is_empty() && between.len() <= 16
        });
        match blocks.last_mut() {
            Some(last) if joins => last.end = run.end,
            _ => blocks.push(run),
        }
    }
    // The last line of a wrapped block is shorter than the others.
    for block in &mut blocks {
        if !text[block.clone()].contains('\n') {
            continue;
        }
        let rest = &text[block.end..];
        let tail = rest.trim_start_matches(['\r', '\n', ' ', '\t']);
        let skipped = rest.len() - tail.len();
        let n = tail.bytes().take_while(|byte| is_base64(*byte)).count();
        if (1..=16).contains(&skipped) && n > 0 && n < min {
            block.end += skipped + n;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_lines_that_differ_and_their_neighbours_are_read_again() {
        let text = "one\ntwo\nthree\na%3Db\nfive\nsix\nseven\n";
        let view = signs::unescaped(text).unwrap();
        let lines: Vec<&str> = view
            .changed_lines()
            .into_iter()
            .map(|range| &view.text[range])
            .collect();
        assert_eq!(lines, ["three\na=b\nfive\n"]);
    }

    #[test]
    fn base64_is_read_when_it_says_text() {
        assert_eq!(base64_text("aGVsbG8gd29ybGQ=").unwrap(), "hello world");
        assert_eq!(base64_text("aGVsbG8g\n  d29ybGQ").unwrap(), "hello world");
        assert_eq!(
            base64_text("68656c6c6f20776f726c64").unwrap(),
            "hello world"
        );
        assert!(base64_text("////").is_none());
        assert!(base64_text("a.b").is_none());
        assert_eq!(base64_runs("x aGVsbG8= y", 8), vec![2..10; 1]);
        assert_eq!(base64_runs("aGVsbG8gd29ybGQ", 8), vec![0..15; 1]);
        assert_eq!(
            base64_blocks("aGVsbG8g\nd29ybGQg\nYQ==\nend of it", 8),
            vec![0..22; 1]
        );
    }

    proptest! {
        #[test]
        fn runs_are_what_a_plain_look_finds(text in "[a-z+ /=é\n-]{0,80}", min in 1_usize..12) {
            let mut plain = Vec::new();
            let mut start = 0;
            for (at, byte) in text.bytes().chain(std::iter::once(b' ')).enumerate() {
                if !is_base64(byte) {
                    if at - start >= min {
                        plain.push(start..at);
                    }
                    start = at + 1;
                }
            }
            prop_assert_eq!(base64_runs(&text, min), plain);
        }

        #[test]
        fn every_part_of_a_reading_leads_back_to_the_text(text in any::<String>()) {
            for view in STEPS.iter().filter_map(|step| step(&text)) {
                for (at, c) in view.text.char_indices() {
                    let origin = view.origin(&(at..at + c.len_utf8()));
                    prop_assert!(text.get(origin.clone()).is_some_and(|from| !from.is_empty()), "{origin:?}");
                }
                for lines in view.changed_lines() {
                    prop_assert!(view.text.is_char_boundary(lines.start) && view.text.is_char_boundary(lines.end));
                }
            }
        }
    }
}
