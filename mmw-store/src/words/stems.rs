//! Inflected forms of one word become one: Snowball stems by script, and the words that carry
//! nothing in a query.
//!
//! Latin letters are taken for English and Cyrillic for Russian. Other languages of these scripts
//! would need to be recognised first; their words get a stem too, the same for records and
//! queries, so that equal forms always match.

use rust_stemmers::{Algorithm, Stemmer};

/// Shorter words are left alone, in letters.
const MIN_STEMMED: usize = 3;

/// The stemmers of both languages.
pub(super) struct Stems {
    english: Stemmer,
    russian: Stemmer,
}

impl Stems {
    pub(super) fn new() -> Self {
        Self {
            english: Stemmer::create(Algorithm::English),
            russian: Stemmer::create(Algorithm::Russian),
        }
    }

    /// Replaces the folded word that begins at `start` and ends the buffer by its stem. A word
    /// with anything but letters of one of the two alphabets stays as it is.
    pub(super) fn stem_tail(&self, buffer: &mut String, start: usize) {
        let word = &buffer[start..];
        let is_english = word.bytes().all(|b| b.is_ascii_lowercase());
        if is_english {
            if word.len() >= MIN_STEMMED {
                let stem = self.english.stem(word).into_owned();
                replace_tail(buffer, start, &stem);
            }
        } else if word.chars().all(|c| ('а'..='я').contains(&c))
            && word.chars().count() >= MIN_STEMMED
        {
            let stem = self.russian.stem(word).into_owned();
            replace_tail(buffer, start, &stem);
            drop_fleeting_vowel(buffer, start);
        }
    }
}

fn replace_tail(buffer: &mut String, start: usize, stem: &str) {
    if !stem.is_empty() {
        buffer.truncate(start);
        buffer.push_str(stem);
    }
}

/// Joins `ошибок` with `ошибк(а)`, `конец` with `конц(а)`, `настроек` with `настройк(а)`: a vowel
/// that is there only in some forms, before the last `к` or `ц`. Applied to every stem alike.
fn drop_fleeting_vowel(buffer: &mut String, start: usize) {
    let mut back = buffer[start..].char_indices().rev();
    let (Some((last_at, last)), Some((vowel_at, vowel)), Some((_, before))) =
        (back.next(), back.next(), back.next())
    else {
        return;
    };
    let is_fleeting = matches!((vowel, last), ('о' | 'е', 'к') | ('е', 'ц'));
    if !is_fleeting || back.count() < 2 {
        return;
    }
    let is_after_vowel = matches!(before, 'а' | 'е' | 'и' | 'о' | 'у' | 'ы' | 'э' | 'ю' | 'я');
    let between = match (is_after_vowel, vowel) {
        (true, 'е') => "й",
        (true, _) => return,
        (false, _) => "",
    };
    buffer.replace_range(start + vowel_at..start + last_at, between);
}

/// Tells whether a folded word carries nothing in a query.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Everyday words, folded, without apostrophes, ascending.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "arent", "as", "at", "be", "been", "being",
    "but", "by", "can", "cant", "could", "did", "didnt", "do", "does", "doesnt", "dont", "for",
    "from", "had", "has", "have", "havent", "he", "her", "him", "his", "how", "i", "if", "im",
    "in", "into", "is", "isnt", "it", "its", "ive", "lets", "may", "me", "my", "no", "not", "of",
    "on", "or", "our", "shall", "she", "should", "so", "some", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "us", "was", "wasnt", "we",
    "were", "what", "whats", "when", "where", "wheres", "which", "who", "whos", "why", "will",
    "with", "wont", "would", "you", "your", "youre",
    "а", "без", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "во", "вот",
    "все", "вы", "где", "да", "для", "до", "его", "ее", "ей", "ему", "если", "есть", "еще", "ж",
    "же", "за", "и", "из", "или", "им", "их", "к", "как", "какая", "какие", "какой", "когда",
    "кто", "ли", "меня", "мне", "мы", "на", "над", "нам", "нас", "наш", "не", "нет", "ни", "но",
    "о", "об", "он", "она", "они", "оно", "от", "по", "под", "почему", "при", "про", "с", "со",
    "так", "там", "то", "того", "том", "ты", "у", "уже", "чего", "чем", "что", "чтобы", "эта",
    "эти", "это", "этого", "этой", "этом", "этот", "я",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stop_words_are_ascending() {
        for pair in STOP_WORDS.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn a_fleeting_vowel_is_dropped_from_every_form_alike() {
        let stem = |word: &str| {
            let mut buffer = String::from("kept ");
            buffer.push_str(word);
            Stems::new().stem_tail(&mut buffer, 5);
            buffer[5..].to_owned()
        };
        for (one, other) in [
            ("ошибка", "ошибок"),
            ("ошибки", "ошибок"),
            ("настройка", "настроек"),
            ("сборку", "сборок"),
            ("веткой", "веток"),
            ("строки", "строк"),
            ("конца", "конец"),
            ("человека", "человек"),
            ("рынка", "рынок"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("срок"), stem("сирка"));
    }
}
