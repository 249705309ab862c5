//! How many tokens a text has, about: the tokenizer of a model elsewhere is not known.
//!
//! Meant to be too high rather than too low for the tokenizers of BERT's and OpenAI's kind, so that
//! what is cut by it fits. A text that does not fit nevertheless is the client's to halve.

use mmw_store::embed::{Passage, cut};

/// Tokens that the pieces of a long text have in common.
const OVERLAP: usize = 32;

/// Letters of a word that are one token, at least, in hundredths of a token for a letter.
const LETTER: usize = 34;
/// A character of a word in which letters and digits are mixed, such as a hash.
const MIXED: usize = 75;
/// A letter of another alphabet: models of English read such words letter by letter.
const OTHER_LETTER: usize = 100;
/// A character of a script without spaces.
const IDEOGRAPH: usize = 130;
/// A sign that is no letter and not ASCII: a picture, a mathematical sign.
const SIGN: usize = 300;

/// Returns how many tokens a text has, about.
pub(super) fn tokens(text: &str) -> usize {
    let mut sum = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_ascii_alphanumeric();
        let end = rest
            .find(|c: char| c.is_ascii_alphanumeric() != is_word)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        sum += if is_word {
            of_word(run)
        } else {
            run.chars().map(of_char).sum()
        };
        rest = after;
    }
    sum.div_ceil(100)
}

fn of_word(word: &str) -> usize {
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    let weight = if n_digits == 0 { LETTER } else { MIXED };
    (word.len() * weight).max(100)
}

fn of_char(c: char) -> usize {
    match c {
        _ if c.is_whitespace() => 0,
        _ if c.is_ascii() => 100,
        // Han, kana, hangul and what stands beside them.
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => IDEOGRAPH,
        _ if c.is_alphabetic() => OTHER_LETTER,
        _ => SIGN,
    }
}

/// Returns a passage in pieces of at most `budget` tokens, each with the passage's head, unless that
/// alone is more than a quarter of the budget.
pub(super) fn pieces(passage: &Passage<'_>, budget: usize) -> Vec<String> {
    let head = passage.head();
    let head_tokens = tokens(&head);
    let (head, text, budget) = if head_tokens > budget / 4 {
        (String::new(), passage.text(), budget)
    } else {
        (head, passage.fact.to_owned(), budget - head_tokens)
    };
    cut(&text, budget, OVERLAP.min(budget / 4), tokens)
        .into_iter()
        .map(|piece| format!("{head}{}", &text[piece]))
        .collect()
}

#[cfg(test)]
mod tests {
    use mmw_store::embed::{Instructions, LocalModel};
    use proptest::prelude::*;

    use super::*;

    /// The least that a budget is.
    const LEAST: usize = 32;

    #[test]
    fn pieces_cut_by_the_estimate_fit_a_real_tokenizer() {
        let model = LocalModel::built_in(Instructions::Best).unwrap();
        let hashes: String = (0..400_u32)
            .map(|n| {
                format!(
                    "{:08x}{:08x} ",
                    n.wrapping_mul(2_654_435_761),
                    n.wrapping_mul(40_503)
                )
            })
            .collect();
        let russian = "Сервер развёртывания перезапускается каждую ночь в три часа. ".repeat(80);
        let german = "Die Auslieferung läuft nächtlich über größere Rechenzentren. ".repeat(80);
        let chinese = "每天晚上三点重新启动部署服务器。".repeat(120);
        for (what, text) in [
            ("prose", include_str!("../../../docs/security.md")),
            ("code", include_str!("../lane.rs")),
            (
                "lists",
                include_str!("../../../Cargo.lock").split_at(60_000).0,
            ),
            ("hashes", &hashes),
            ("Russian", &russian),
            ("German", &german),
            ("Chinese", &chinese),
        ] {
            let passage = Passage {
                date: Some("2026-03-14"),
                who: Some("ada"),
                fact: text,
            };
            for piece in pieces(&passage, 500) {
                let n_tokens = model.tokenizer().count(&piece);
                assert!(n_tokens <= 510, "{what}: {n_tokens}");
            }
        }
    }

    #[test]
    fn the_estimate_of_prose_is_not_far_too_high() {
        let model = LocalModel::built_in(Instructions::Best).unwrap();
        let text = include_str!("../../../docs/security.md");
        let real = model.tokenizer().count(text);
        assert!(tokens(text) <= real * 2, "{} for {real}", tokens(text));
    }

    #[test]
    fn a_short_record_is_one_piece_with_its_head() {
        let passage = Passage {
            date: None,
            who: Some("ada"),
            fact: "staging runs as app",
        };
        assert_eq!(pieces(&passage, 500), ["ada: staging runs as app"]);
    }

    proptest! {
        #[test]
        fn pieces_are_never_beyond_the_budget_and_hold_the_last_word(
            who in proptest::option::of("\\PC{0,80}"),
            fact in "(\\PC| |\n|[a-z0-9]{1,9} ){0,300}",
            budget in LEAST..200_usize,
        ) {
            let pieces = pieces(&Passage { date: Some("2026-03-14"), who: who.as_deref(), fact: &fact }, budget);
            for piece in &pieces {
                prop_assert!(tokens(piece) <= budget, "{} in {piece:?}", tokens(piece));
            }
            let last = fact.chars().last().map(String::from).unwrap_or_default();
            prop_assert!(pieces[pieces.len() - 1].ends_with(&last));
        }
    }
}
