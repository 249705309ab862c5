//! The tokenizer of uncased BERT models: cleaning, words, then the longest pieces of a vocabulary.
//!
//! It gives the tokens that the models were trained with, so it follows the reference exactly, its
//! version of the Unicode tables included. One difference is meant: what looks like a special token
//! (`[SEP]`) is text here, because a record is never an instruction to the tokenizer.

use std::collections::HashMap;

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// Longer words are unknown, in characters after cleaning.
const MAX_WORD_CHARS: usize = 100;

/// What marks a piece that continues a word.
const CONTINUES: &str = "##";

/// A vocabulary and the way from text to its numbers.
#[derive(Debug, Clone)]
pub struct WordPiece {
    /// Pieces that begin a word.
    begin: HashMap<Box<str>, u32>,
    /// Pieces that continue one, without their mark.
    continued: HashMap<Box<str>, u32>,
    /// The longest piece in bytes.
    max_piece_bytes: usize,
    unknown: u32,
    first: u32,
    last: u32,
}

impl WordPiece {
    /// Returns the tokenizer of a vocabulary with one piece a line, numbered from 0, or nothing if
    /// it lacks `[UNK]`, `[CLS]` or `[SEP]` or holds a piece twice.
    #[must_use]
    pub fn new(vocabulary: &str) -> Option<Self> {
        let mut begin = HashMap::new();
        let mut continued = HashMap::new();
        let mut max_piece_bytes = 0;
        for (number, line) in (0_u32..).zip(vocabulary.lines()) {
            let (pieces, piece) = match line.strip_prefix(CONTINUES) {
                Some(rest) if !rest.is_empty() => (&mut continued, rest),
                _ => (&mut begin, line),
            };
            max_piece_bytes = max_piece_bytes.max(piece.len());
            if pieces.insert(piece.into(), number).is_some() {
                return None;
            }
        }
        let special = |name: &str| begin.get(name).copied();
        Some(Self {
            unknown: special("[UNK]")?,
            first: special("[CLS]")?,
            last: special("[SEP]")?,
            begin,
            continued,
            max_piece_bytes,
        })
    }

    /// Returns how many pieces the vocabulary has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.begin.len() + self.continued.len()
    }

    /// Tells whether the vocabulary has no pieces; never so, since some are required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the tokens of a text as a model reads it, between `[CLS]` and `[SEP]`. As many as there
    /// are: nothing is cut off.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let mut tokens = vec![self.first];
        self.words(text, |word| self.word(word, &mut tokens));
        tokens.push(self.last);
        tokens
    }

    /// Returns how many tokens a text has, those around it not counted.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.encode(text).len() - 2
    }

    /// Hands out the words of a text: cleaned, without case and accents, every punctuation mark and
    /// Chinese character a word of its own.
    fn words(&self, text: &str, mut take: impl FnMut(&str)) {
        let mut word = String::new();
        let mut step = |c: char| {
            if c.is_whitespace() || is_punctuation(c) {
                if !word.is_empty() {
                    take(&word);
                    word.clear();
                }
                if !c.is_whitespace() {
                    take(c.encode_utf8(&mut [0; 4]));
                }
            } else {
                word.push(c);
            }
        };
        if text.is_ascii() {
            let kept = text.chars().filter(|c| !is_dropped(*c));
            kept.for_each(|c| step(c.to_ascii_lowercase()));
        } else {
            text.chars()
                .filter(|c| !is_dropped(*c))
                .flat_map(spaced)
                .nfd()
                .filter(|c| !c.is_mark_nonspacing())
                .flat_map(char::to_lowercase)
                .for_each(&mut step);
        }
        step(' ');
    }

    fn word(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut rest = word;
        let mut pieces = &self.begin;
        let fits = word.len() <= MAX_WORD_CHARS || word.chars().count() <= MAX_WORD_CHARS;
        while fits && !rest.is_empty() {
            let longest = rest.len().min(self.max_piece_bytes);
            let found = (1..=longest)
                .rev()
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, after)| Some((*pieces.get(piece)?, after)));
            let Some((token, after)) = found else { break };
            tokens.push(token);
            rest = after;
            pieces = &self.continued;
        }
        if !rest.is_empty() {
            tokens.truncate(before);
            tokens.push(self.unknown);
        }
    }
}

/// Tells what cleaning removes.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        ' '..='~' => false,
        '\0' | '\u{fffd}' => true,
        _ => c.is_other(),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && c.is_punctuation())
}

/// Returns a character as it enters normalisation: white space as a space, a Chinese one between two.
fn spaced(c: char) -> impl Iterator<Item = char> {
    let is_chinese = is_chinese(c);
    let c = if c.is_whitespace() { ' ' } else { c };
    let space = is_chinese.then_some(' ');
    space.into_iter().chain([c]).chain(space)
}

/// The blocks that the reference takes for Chinese; Japanese and Korean letters are not among them.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF
        | 0x3400..=0x4DBF
        | 0x2_0000..=0x2_A6DF
        | 0x2_A700..=0x2_B73F
        | 0x2_B740..=0x2_B81F
        | 0x2_B920..=0x2_CEAF
        | 0xF900..=0xFAFF
        | 0x2_F800..=0x2_FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: &str =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[\n]\nsep\nun\n##aff\n##able\n,\n中\ncafe\n##\n#";

    fn check(text: &str, pieces: &[&str]) {
        let tokens = WordPiece::new(PIECES).unwrap().encode(text);
        let lines: Vec<&str> = PIECES.lines().collect();
        let found: Vec<&str> = tokens.iter().map(|token| lines[*token as usize]).collect();
        assert_eq!(
            (found[0], found[found.len() - 1]),
            ("[CLS]", "[SEP]"),
            "{text}"
        );
        assert_eq!(&found[1..found.len() - 1], pieces, "{text}");
    }

    #[test]
    fn words_become_their_longest_pieces() {
        check("unaffable", &["un", "##aff", "##able"]);
        check(
            "UNaffable,unable",
            &["un", "##aff", "##able", ",", "un", "##able"],
        );
        check("", &[]);
    }

    #[test]
    fn a_word_with_an_unknown_part_is_unknown_as_a_whole() {
        check("unaffably un", &["[UNK]", "un"]);
        check(&"un".repeat(51), &["[UNK]"]);
    }

    #[test]
    fn accents_case_and_control_characters_vanish() {
        check("CAFÉ cafe\u{301} ca\u{ad}fe c\u{0}afe", &["cafe"; 4]);
    }

    #[test]
    fn a_chinese_character_is_a_word() {
        check("un中un", &["un", "中", "un"]);
    }

    #[test]
    fn a_special_token_in_a_text_is_text() {
        check("[SEP]", &["[", "sep", "]"]);
    }

    #[test]
    fn a_mark_alone_is_two_punctuation_marks() {
        check("##", &["#", "#"]);
    }

    #[test]
    fn a_vocabulary_must_have_its_special_tokens_and_no_piece_twice() {
        assert!(WordPiece::new("").is_none());
        assert!(WordPiece::new("[UNK]\n[CLS]").is_none());
        assert!(WordPiece::new("[UNK]\n[CLS]\n[SEP]\na\na").is_none());
        assert!(WordPiece::new("[UNK]\n[CLS]\n[SEP]\na\n##a").is_some());
    }
}
