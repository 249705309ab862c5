//! Reads a text once and tells which known words stand in it, in what order and how disguised.
//!
//! Words of other scripts, digits for letters and single letters are told here, word by word, so
//! that no copy of the text is made for each way to write it. It does not judge.

use super::lookup::{
    DIGIT, HIGH, LETTER, LOW_LINE, SPACE, WORD, kind, place, respelled_place, stem, unspaced_place,
    word_end,
};
use super::readings::{self, is_unspaced, sign_letter};
use super::tables::{
    CALL, CODE, COLON, DANGEROUS, EMAIL, IMAGE, PIPE, QUOTE, ROLE, Reading, URL, Word,
};

/// How many words the end of a sentence counts for: more than any gap spans.
const SENTENCE_WORDS: u32 = 64;
/// The longest word that is looked up, in bytes.
const MAX_WORD_BYTES: usize = 48;
/// The shortest run without spaces that may be an encoding, in bytes.
const MIN_ENCODED_BYTES: usize = 16;
/// The fewest single letters in a row that are taken for a word.
const MIN_SPACED_LETTERS: usize = 3;
/// How many words of mixed scripts are looked into: a text with more is held for them alone.
const MAX_MIXED_WORDS: u32 = 4096;
/// How far behind an image's `(` its address is looked at, in bytes.
const MAX_IMAGE_BYTES: usize = 300;

/// A known word in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    /// The bits of the elements that take it.
    mask: u64,
    /// Where it starts, in bytes.
    pub(super) start: u32,
    /// The number of words before it; marks that are no words have the number of the next word.
    pub(super) at: u32,
    /// Its place in the vocabulary.
    pub(super) word: u16,
    /// How long it is, in bytes; of a long address only how long it is at least.
    length: u8,
    /// Whether it is a mark and no word.
    is_mark: bool,
    /// How it is written.
    pub(super) reading: Reading,
}

impl Hit {
    /// Returns the number of words that stand before what follows it.
    pub(super) fn next(&self) -> u32 {
        self.at + u32::from(!self.is_mark)
    }

    /// Returns where it ends, in bytes; of a long address no later than that.
    pub(super) fn end(&self) -> usize {
        self.start as usize + usize::from(self.length)
    }

    /// Tells whether an element of patterns takes it.
    #[inline]
    pub(super) fn is_a(&self, element: u16) -> bool {
        self.mask >> (element % 64) & 1 != 0 && Word::at(self.word).takes(element)
    }
}

/// What a text was found to have.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The known words in order.
    pub(super) hits: Vec<Hit>,
    /// Those at which a pattern may begin to be matched.
    pub(super) anchors: Vec<u32>,
    /// How many of them are turned around.
    pub(super) n_reversed: u32,
    /// Where a `<`, `[` or a fence may begin something forged.
    pub(super) openings: Vec<u32>,
    /// Where a line begins with the name of a role and a colon.
    pub(super) turns: Vec<u32>,
    /// Long runs without spaces, or short ones that go on like binary digits.
    pub(super) runs: Vec<std::ops::Range<u32>>,
    /// Words that mix scripts so that they look Latin.
    pub(super) n_mixed: u32,
    /// Known words with digits or signs for letters.
    pub(super) n_respelled: u32,
}

/// Reads a text whose invisible characters are gone and whose escapes are decoded.
pub(super) fn of(text: &str) -> Found {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        found: Found {
            // About as many known words as English has.
            hits: Vec::with_capacity(text.len() / 10 + 8),
            ..Found::default()
        },
        at: 0,
        is_line_start: true,
        letters: Letters::default(),
        digits: Digits::default(),
    };
    let mut i = 0;
    while let Some(byte) = reader.bytes.get(i) {
        let kind = kind(*byte);
        if kind & (LETTER | DIGIT | LOW_LINE) != 0 {
            i = reader.word(i);
            i += usize::from(reader.byte(i) == b' ');
        } else if kind == SPACE {
            i += 1;
        } else if kind == HIGH {
            i = reader.other(i);
        } else {
            i = reader.mark(i);
        }
    }
    reader.flush_letters();
    reader.flush_digits();
    reader.found
}

/// Letters that stand alone, one after the other.
#[derive(Debug, Default)]
struct Letters {
    text: Vec<u8>,
    start: usize,
    end: usize,
    at: u32,
}

/// Groups of digits of one length, one after the other.
#[derive(Debug, Default)]
struct Digits {
    n_groups: usize,
    length: usize,
    start: usize,
    end: usize,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    found: Found,
    at: u32,
    is_line_start: bool,
    letters: Letters,
    digits: Digits,
}

/// Drafts are far smaller than 4 GiB; of a larger text only the order of what stands behind counts.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b' ')
    }

    fn before(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(b' ', |at| self.byte(at))
    }

    #[inline]
    fn push(&mut self, word: u16, reading: Reading, start: usize, end: usize) {
        self.add(word, reading, start, end, false);
    }

    fn push_mark(&mut self, word: u16, start: usize, end: usize) {
        self.add(word, Reading::Plain, start, end, true);
    }

    #[inline]
    fn add(&mut self, word: u16, reading: Reading, start: usize, end: usize, is_mark: bool) {
        let known = Word::at(word);
        if known.is_anchor() {
            self.found.anchors.push(offset(self.found.hits.len()));
        }
        self.found.n_reversed += u32::from(reading == Reading::Reversed);
        self.found.hits.push(Hit {
            mask: known.mask,
            start: offset(start),
            at: self.at,
            word,
            length: u8::try_from(end - start).unwrap_or(u8::MAX),
            is_mark,
            reading,
        });
    }

    fn end_sentence(&mut self) {
        self.at = self.at.saturating_add(SENTENCE_WORDS);
    }

    /// Reads a word that begins with an ASCII letter or digit, and returns where it ends.
    #[inline]
    fn word(&mut self, start: usize) -> usize {
        let (end, kinds) = word_end(self.bytes, start);
        let next = self.byte(end);
        if kinds & HIGH != 0 || (next == b'\'' && kind(self.byte(end + 1)) & LETTER != 0) {
            return self.other(start);
        }
        let word = &self.bytes[start..end];
        if word.len() == 1 {
            self.letter(start);
        }
        if kinds & DIGIT != 0 || self.digits.n_groups > 0 {
            self.digit_group(start, end);
        }
        // `http` is a word of the rules too, and an address first.
        if next == b':' && self.bytes[end..].starts_with(b"://") {
            self.is_line_start = false;
            return self.address(start, end);
        }
        if let Some(index) = place(word) {
            self.known(index, start, end);
        } else if kinds & (DIGIT | LOW_LINE) != 0
            || word.len() >= MIN_ENCODED_BYTES
            || next == b':'
            || is_sign(next)
        {
            return self.unusual(start, end, kinds);
        }
        self.is_line_start = false;
        self.at = self.at.saturating_add(1);
        end
    }

    /// Reads what is no known word and may be an address, a name, a run or a word in disguise.
    fn unusual(&mut self, start: usize, end: usize, kinds: u8) -> usize {
        self.is_line_start = false;
        let next = self.byte(end);
        let signs = is_sign(next) && kind(self.byte(end + 1)) & WORD != 0;
        if (signs || (kinds & DIGIT != 0 && kinds & LETTER != 0))
            && let Some(end) = self.respelled(start)
        {
            return end;
        }
        if kinds & LOW_LINE != 0 && kinds & LETTER != 0 {
            self.name(start, end);
        }
        // Base64 may have a `+` or `/` after any letter.
        let goes_on = matches!(next, b'+' | b'/') && end - start >= 6 && kinds & DIGIT != 0;
        if end - start >= MIN_ENCODED_BYTES || goes_on {
            self.run(start, end);
        }
        self.at = self.at.saturating_add(1);
        end
    }

    fn known(&mut self, index: u16, start: usize, end: usize) {
        let word = Word::at(index);
        self.push(index, word.reading, start, end);
        if self.is_line_start && word.takes(ROLE) {
            // `System:`, `**System prompt**:`, `### User`.
            let rest = &self.bytes[end..];
            let name = rest
                .iter()
                .take(24)
                .take_while(|b| b.is_ascii_alphabetic() || matches!(b, b' ' | b'*' | b'_'))
                .count();
            if rest.get(name) == Some(&b':') {
                self.found.turns.push(offset(start));
            }
        }
    }

    /// Reads a name like `send_email`: what it begins with tells whether it does harm.
    fn name(&mut self, start: usize, end: usize) {
        let word = &self.bytes[start..end];
        let first = word.split(|b| *b == b'_').next().unwrap_or_default();
        let is_dangerous =
            first.len() >= 3 && place(first).is_some_and(|index| Word::at(index).takes(DANGEROUS));
        if is_dangerous {
            self.push(CALL, Reading::Plain, start, end);
        }
    }

    /// Reads an address whose scheme ends somewhere, and returns where the address ends.
    fn address(&mut self, start: usize, scheme_end: usize) -> usize {
        let rest = &self.bytes[scheme_end..];
        let length = rest
            .iter()
            .position(|b| {
                b.is_ascii_whitespace()
                    || !b.is_ascii()
                    || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b')' | b']')
            })
            .unwrap_or(rest.len());
        let end = scheme_end + length;
        self.push(URL, Reading::Plain, start, end);
        self.is_line_start = false;
        self.at = self.at.saturating_add(1);
        end
    }

    /// Notes a long run of the characters of base64, whichever words it is made of.
    fn run(&mut self, start: usize, end: usize) {
        let in_run =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
        let floor = self.found.runs.last().map_or(0, |run| run.end as usize);
        if start < floor {
            return;
        }
        let front = self.bytes[floor..start]
            .iter()
            .rev()
            .take_while(|b| in_run(b))
            .count();
        let back = self.bytes[end..].iter().take_while(|b| in_run(b)).count();
        self.found
            .runs
            .push(offset(start - front)..offset(end + back));
    }

    fn letter(&mut self, start: usize) {
        if self.letters.text.is_empty() || start != self.letters.end + 1 {
            self.flush_letters();
            self.letters.start = start;
            self.letters.at = self.at;
        }
        self.letters
            .text
            .push(self.bytes[start].to_ascii_lowercase());
        self.letters.end = start + 1;
    }

    /// Reads what letters that stand alone spell together.
    fn flush_letters(&mut self) {
        if self.letters.text.len() < MIN_SPACED_LETTERS {
            self.letters.text.clear();
            return;
        }
        let letters = std::mem::take(&mut self.letters);
        let (before, at_before) = (self.found.hits.len(), self.at);
        self.at = letters.at;
        let mut at = 0;
        let mut n_unknown = 0;
        while at < letters.text.len() {
            let longest = (letters.text.len() - at).min(16);
            let found = (2..=longest).rev().find_map(|length| {
                place(&letters.text[at..at + length]).map(|index| (index, length))
            });
            match found {
                Some((index, length)) => {
                    self.push(
                        index,
                        Reading::Spaced,
                        letters.start + 2 * at,
                        letters.start + 2 * (at + length) - 1,
                    );
                    self.at += 1;
                    at += length;
                    n_unknown = 0;
                }
                None => {
                    self.at += u32::from(n_unknown % 6 == 0);
                    n_unknown += 1;
                    at += 1;
                }
            }
        }
        let spaced = self.found.hits.split_off(before);
        if spaced.is_empty() {
            self.at = at_before;
        } else {
            // The letters themselves are no words then.
            while self
                .found
                .hits
                .last()
                .is_some_and(|hit| hit.start as usize >= letters.start)
            {
                self.found.hits.pop();
            }
            let n = offset(self.found.hits.len());
            while self.found.anchors.last().is_some_and(|anchor| *anchor >= n) {
                self.found.anchors.pop();
            }
            for hit in spaced {
                if Word::at(hit.word).is_anchor() {
                    self.found.anchors.push(offset(self.found.hits.len()));
                }
                self.found.hits.push(hit);
            }
        }
    }

    fn digit_group(&mut self, start: usize, end: usize) {
        let word = &self.bytes[start..end];
        if !matches!(word.len(), 2 | 4 | 8)
            || !word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'x')
        {
            return;
        }
        let goes_on = self.digits.n_groups > 0
            && end - start == self.digits.length
            && start <= self.digits.end + 2;
        if !goes_on {
            self.flush_digits();
            self.digits = Digits {
                n_groups: 0,
                length: end - start,
                start,
                end,
            };
        }
        self.digits.n_groups += 1;
        self.digits.end = end;
    }

    fn flush_digits(&mut self) {
        if self.digits.n_groups >= MIN_ENCODED_BYTES {
            self.found
                .runs
                .push(offset(self.digits.start)..offset(self.digits.end));
        }
        self.digits = Digits::default();
    }

    /// Reads a word with digits, signs or look-alikes for letters; none if it spells no known word.
    fn respelled(&mut self, start: usize) -> Option<usize> {
        let rest = &self.text[start..];
        let mut key = String::new();
        let mut end = start;
        let mut chars = rest.char_indices().take(MAX_WORD_BYTES).peekable();
        let (mut n_letters, mut n_signs, mut n_inner, mut n_alike) = (0, 0, 0, 0);
        while let Some((at, c)) = chars.next() {
            let goes_on = chars
                .peek()
                .is_some_and(|(_, next)| next.is_alphanumeric() || is_sign_char(*next));
            if matches!(c, '\'' | '’') && goes_on && n_letters + n_alike > 0 {
                continue;
            }
            if c.is_ascii_alphabetic() {
                n_letters += 1;
            } else if c.is_ascii_digit() || (is_sign_char(c) && (goes_on || c == '€')) {
                n_signs += 1;
                n_inner += usize::from(goes_on);
            } else if !c.is_ascii() && c.is_alphanumeric() && !is_unspaced(c) {
                n_alike += 1;
            } else {
                break;
            }
            readings::spell(c, &mut key);
            end = start + at + c.len_utf8();
        }
        if n_letters + n_alike < 1
            || n_signs + n_alike == 0
            || (n_inner == 0 && n_alike == 0 && n_signs < 2)
        {
            return None;
        }
        if n_alike == 0 && key.len() < 3 {
            return None;
        }
        let index = respelled_place(&key)?;
        let reading = if n_alike > 0 {
            Reading::LookAlike
        } else {
            Reading::Respelled
        };
        if reading == Reading::Respelled && key.len() >= 4 {
            self.found.n_respelled += 1;
        }
        self.push(index, reading, start, end);
        self.at = self.at.saturating_add(1);
        Some(end)
    }

    /// Reads a word or a mark that is not plain ASCII, and returns where it ends.
    fn other(&mut self, start: usize) -> usize {
        let mut word = String::new();
        let mut end = start;
        let mut tail = None;
        let mut chars = self.text[start..].char_indices().peekable();
        let mut mixed = readings::Mixed::default();
        while let Some((at, c)) = chars.next() {
            let is_apostrophe = matches!(c, '\'' | '’')
                && !word.is_empty()
                && chars
                    .peek()
                    .is_some_and(|(_, next)| next.is_alphabetic() && !is_unspaced(*next));
            if is_apostrophe {
                tail = Some((word.len(), start + at + c.len_utf8()));
            } else if readings::is_word_char(c) && !is_unspaced(c) {
                readings::fold_char(c, &mut word);
                mixed.add(c);
            } else {
                break;
            }
            end = start + at + c.len_utf8();
        }
        if end == start {
            return self.unspaced_or_mark(start);
        }
        self.found.n_mixed += u32::from(mixed.looks_latin());
        let known = if word.len() > 2 * MAX_WORD_BYTES {
            None
        } else {
            place(word.as_bytes())
                .or_else(|| mixed.is_foreign().then(|| stem(&word)).flatten())
                // `l'utilisateur` is `utilisateur` with an article.
                .or_else(|| tail.and_then(|(at, _)| place(&word.as_bytes()[at..])))
        };
        if self.bytes[end..].starts_with(b"://") {
            return self.address(start, end);
        }
        if let Some(index) = known {
            self.known(index, start, end);
        } else if self.found.n_mixed <= MAX_MIXED_WORDS
            && let Some(end) = self.respelled(start)
        {
            self.is_line_start = false;
            return end;
        }
        self.is_line_start = false;
        self.at = self.at.saturating_add(1);
        end
    }

    fn unspaced_or_mark(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        let Some(c) = rest.chars().next() else {
            return start + 1;
        };
        if is_unspaced(c) {
            if let Some((index, length)) = unspaced_place(rest) {
                self.push(index, Reading::Plain, start, start + length);
                self.at = self.at.saturating_add(1);
                return start + length;
            }
            // Two characters are about a word.
            if self.before(start) >= 0x80 && start.is_multiple_of(2) {
                self.at = self.at.saturating_add(1);
            }
        } else {
            match c {
                '。' | '！' | '？' | '…' | '।' | '؟' => self.end_sentence(),
                '“' | '«' | '„' | '「' | '‘' => {
                    self.push_mark(QUOTE, start, start + c.len_utf8());
                }
                _ => {}
            }
        }
        start + c.len_utf8()
    }

    /// Reads a byte of ASCII that belongs to no word, and returns where reading goes on.
    fn mark(&mut self, at: usize) -> usize {
        let byte = self.bytes[at];
        let next = self.byte(at + 1);
        match byte {
            b'\n' => self.line_end(at),
            b'.' | b'!' | b'?' => {
                let before = self.before(at);
                let ends = next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b')' | b'*');
                if ends && !before.is_ascii_whitespace() {
                    self.end_sentence();
                } else if byte == b'!' && next == b'[' {
                    self.image(at);
                } else if byte == b'!'
                    && let Some(end) = self.leading_sign(at)
                {
                    return end;
                }
            }
            b':' if next != b':' && next != b'/' && self.before(at) != b':' => {
                self.push_mark(COLON, at, at + 1);
            }
            b'@' | b'$' | b'|' | b'+' => {
                if let Some(end) = self.leading_sign(at) {
                    return end;
                }
                if byte == b'@' && self.is_mail(at) {
                    self.push_mark(EMAIL, at, at + 1);
                } else if byte == b'|' && next != b'|' && self.before(at) != b'|' {
                    self.push_mark(PIPE, at, at + 1);
                }
            }
            b'`' => {
                self.push_mark(CODE, at, at + 1);
            }
            b'"' => self.push_mark(QUOTE, at, at + 1),
            b'\'' if kind(self.before(at)) & WORD == 0 => self.push_mark(QUOTE, at, at + 1),
            b'<' if matches!(next, b'|' | b'/' | b'!' | b'<') || next.is_ascii_alphabetic() => {
                self.found.openings.push(offset(at));
            }
            b'[' if next == b'/' || next == b' ' || next.is_ascii_alphabetic() => {
                self.found.openings.push(offset(at));
            }
            b'-' | b'=' | b'*' | b'#' if next == byte && self.before(at) != byte => {
                self.found.openings.push(offset(at));
            }
            _ => {}
        }
        at + 1
    }

    fn leading_sign(&mut self, at: usize) -> Option<usize> {
        let is_leading = kind(self.byte(at + 1)) & WORD != 0 && kind(self.before(at)) & WORD == 0;
        let end = is_leading.then(|| self.respelled(at)).flatten()?;
        self.is_line_start = false;
        Some(end)
    }

    fn line_end(&mut self, at: usize) {
        self.is_line_start = true;
        let rest = &self.bytes[at + 1..];
        let first = rest.iter().take(16).find(|b| **b != b' ' && **b != b'\t');
        // A paragraph, a list item, a heading or a row begins; other lines go on.
        if first.is_none_or(|b| {
            matches!(b, b'\n' | b'\r' | b'-' | b'*' | b'#' | b'>' | b'|' | b'+')
                || b.is_ascii_digit()
        }) {
            self.end_sentence();
        }
    }

    fn is_mail(&self, at: usize) -> bool {
        let domain = &self.bytes[at + 1..];
        let length = domain
            .iter()
            .take(80)
            .take_while(|b| b.is_ascii_alphanumeric() || !b.is_ascii() || matches!(b, b'-' | b'.'))
            .count();
        let domain = &domain[..length];
        kind(self.before(at)) & WORD != 0
            && domain
                .first()
                .is_some_and(|b| b.is_ascii_alphabetic() || !b.is_ascii())
            && domain.windows(2).any(|pair| {
                pair[0] == b'.' && (pair[1].is_ascii_alphabetic() || !pair[1].is_ascii())
            })
    }

    /// Notes an image whose address has a place for data.
    fn image(&mut self, at: usize) {
        let rest = &self.bytes[at..];
        let rest = &rest[..rest.len().min(MAX_IMAGE_BYTES)];
        let Some(open) = rest.iter().take(100).position(|b| *b == b'(') else {
            return;
        };
        if !rest[open + 1..]
            .get(..4)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"http"))
        {
            return;
        }
        let address = rest[open + 1..]
            .split(|b| *b == b')' || b.is_ascii_whitespace())
            .next();
        let address = address.unwrap_or_default();
        let Some(query) = address.iter().position(|b| *b == b'?') else {
            return;
        };
        let carries = memchr::memchr_iter(b'=', &address[query..]).any(|at| {
            let value = &address[query + at + 1..];
            value.starts_with(b"${")
                || value
                    .first()
                    .is_some_and(|b| matches!(b, b'{' | b'<' | b'['))
                || value
                    .get(..3)
                    .is_some_and(|three| three.eq_ignore_ascii_case(b"%7b"))
        });
        if carries {
            self.push_mark(IMAGE, at, at + open);
        }
    }
}

const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'@' | b'$' | b'!' | b'|' | b'+')
}

fn is_sign_char(c: char) -> bool {
    c == '€' || sign_letter(c).is_some_and(|_| !c.is_ascii_digit())
}
