//! Characters that cannot be seen, and spellings that phrases are compared in.

use unicode_normalization::UnicodeNormalization;

pub(crate) use crate::views::{base64_runs, base64_text, unfolded};

/// Tells whether a character is invisible and joins nothing that can be read.
pub(crate) const fn is_zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
    )
}

/// Tells whether a character turns the direction of writing.
pub(crate) const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Tells whether a character is an invisible mark: bidi marks, variation selectors.
pub(crate) const fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tells whether a character is one of the invisible tag characters.
pub(crate) const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Returns the text in lower case, Latin letters without diacritics: what phrases are compared with.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii() {
            folded.push(c);
        } else if c == 'ß' {
            folded.push_str("ss");
        } else {
            let mut parts = std::iter::once(c).nfd();
            match parts.next() {
                Some(base) if base.is_ascii_alphabetic() => folded.push(base),
                _ => folded.push(c),
            }
        }
    }
    folded
}

/// Letters of other scripts that look like a Latin one, in lower case.
const LOOKALIKES: &str = "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝwьbкkмmтtвbнhгrпnиuѵvԍgɡgαaεeιiκkνvοoρpτtυuχxωwγyηnβbσoɑaıiϲcⅼlɩiոnօoսuցgհhаaᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrᴛtᴜuᴠvᴡwʏyᴢz";

/// Returns a folded text with look-alikes as the Latin letters they imitate, in words that mix
/// scripts or in texts that have Latin words; none if there are no look-alikes.
pub(crate) fn skeleton(folded: &str) -> Option<String> {
    if folded.is_ascii() || !folded.bytes().any(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let mut changed = false;
    let latin = |c: char| {
        let mut pairs = LOOKALIKES.chars();
        while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
            if from == c {
                return Some(to);
            }
        }
        None
    };
    let skeleton = folded
        .chars()
        .map(|c| match if c.is_ascii() { None } else { latin(c) } {
            Some(letter) => {
                changed = true;
                letter
            }
            None => c,
        })
        .collect();
    changed.then_some(skeleton)
}

/// Returns a folded text with digits and signs as the letters they stand for inside words
/// (`1gn0re`); none if no word has any.
pub(crate) fn respelled(folded: &str) -> Option<String> {
    const LETTERS: [(char, char); 14] = [
        ('0', 'o'),
        ('1', 'i'),
        ('3', 'e'),
        ('4', 'a'),
        ('5', 's'),
        ('7', 't'),
        ('@', 'a'),
        ('$', 's'),
        ('!', 'i'),
        ('|', 'l'),
        ('+', 't'),
        ('€', 'e'),
        ('6', 'g'),
        ('8', 'b'),
    ];
    let stands_for = |c: char| {
        LETTERS
            .iter()
            .find(|(sign, _)| *sign == c)
            .map(|(_, letter)| *letter)
    };
    let mut respelled = String::with_capacity(folded.len());
    let mut changed = false;
    for word in folded.split_inclusive(char::is_whitespace) {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        let body =
            word.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '!' | '.' | ','));
        if letters > 0 && body.chars().any(|c| stands_for(c).is_some()) {
            changed = true;
            respelled.extend(body.chars().map(|c| stands_for(c).unwrap_or(c)));
            respelled.push_str(&word[body.len()..]);
        } else {
            respelled.push_str(word);
        }
    }
    changed.then_some(respelled)
}

/// The fewest single letters in a row that are taken for a spaced word.
const MIN_SPACED_LETTERS: usize = 5;

/// Returns a folded text with words joined that were written in single letters (`i g n o r e`);
/// none if there are none. Two spaces or more end a word.
pub(crate) fn joined(folded: &str) -> Option<String> {
    let mut joined = String::with_capacity(folded.len());
    let mut changed = false;
    let words: Vec<&str> = folded.split(' ').collect();
    let is_letter = |word: &str| word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic();
    let mut at = 0;
    while at < words.len() {
        let run = words[at..]
            .iter()
            .take_while(|word| is_letter(word))
            .count();
        if run >= MIN_SPACED_LETTERS {
            changed = true;
            joined.extend(words[at..at + run].iter().copied());
            at += run;
        } else {
            let end = at + run.max(1);
            joined.push_str(&words[at..end].join(" "));
            at = end;
        }
        if at < words.len() {
            joined.push(' ');
        }
    }
    changed.then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_compared_without_case_diacritics_and_look_alikes() {
        assert_eq!(
            folded("Règles Größe ИГНОР 指令"),
            "regles grosse игнор 指令"
        );
        assert_eq!(skeleton("ignоre аll").unwrap(), "ignore all");
        assert!(skeleton("plain").is_none());
        assert!(skeleton("просто").is_none());
        assert_eq!(respelled("1gn0re 4ll!").unwrap(), "ignore all!");
        assert!(respelled("port 8080!").is_none());
        assert_eq!(
            joined("i g n o r e  a b c d e now").unwrap(),
            "ignore  abcde now"
        );
        assert!(joined("a b c").is_none());
    }
}
