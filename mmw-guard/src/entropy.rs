//! How mixed a text is. Random keys score high, words and repetitions low.
//!
//! Neither measure decides anything alone: a rule uses one as a floor after its form has matched.

/// Returns the Shannon entropy of the bytes of a text, in bits per byte (0 to 8).
pub(crate) fn shannon(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    let mut entropy = 0.0;
    for byte in text.bytes() {
        // Each different byte once: the others are 0 by then.
        let count = std::mem::take(&mut counts[usize::from(byte)]);
        if count > 0 {
            let share = f64::from(count) / total;
            entropy -= share * share.log2();
        }
    }
    entropy
}

/// The letters that follow each letter of the alphabet in the words of English and of programs, down
/// to one pair in two thousand. Half of all pairs, and nineteen of twenty that are written.
const FOLLOWERS: [&str; 26] = [
    "abcdfgiklmnprstuvwxy",
    "aceilorsuy",
    "acdehiklmoprstu",
    "abcdefilmoprstu",
    "abcdefghiklmnopqrstuvwxy",
    "adefilorstu",
    "aehilnorstu",
    "aeiortuy",
    "abcdefgklmnoprstvxz",
    "aeo",
    "aeios",
    "abcdefilmnopstuy",
    "abdeilmopsu",
    "abcdefgiklnoprstuvy",
    "abcdefgiklmnoprstuvwx",
    "acdehiloprstuy",
    "u",
    "abcdefgiklmnoprstuvy",
    "acdefghiklmnoprstuvwy",
    "abcdefhilmnoprstuwy",
    "abcdefgilmnprst",
    "aeios",
    "aeinors",
    "ceipt",
    "aelmnpst",
    "aei",
];

/// A bit for each letter that often follows.
const FOLLOWS: [u32; 26] = {
    let mut table = [0; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            table[letter] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    table
};

/// Returns how unlike words a text is: the share of its neighbours that words don't have, 0 to 1.
///
/// A neighbour counts if it turns from letter to digit or back, from small to capital letter, or if
/// it is a pair of letters that words hardly have. Words and identifiers stay below 0.2, random
/// text of any alphabet is above 0.3 from some sixteen bytes on.
pub(crate) fn disorder(text: &str) -> f64 {
    let mut odd = 0_u32;
    let mut pairs = 0_u32;
    let mut before = 0;
    for byte in text.bytes() {
        let pair = PAIRS[usize::from(before)][usize::from(byte & 0x7f)];
        let pair = if byte.is_ascii() { pair } else { 0 };
        pairs += u32::from(pair & 1);
        odd += u32::from(pair >> 1);
        before = if byte.is_ascii() { byte } else { 0 };
    }
    if pairs == 0 {
        return 0.0;
    }
    f64::from(odd) / f64::from(pairs)
}

/// For two ASCII bytes, 1 if both are letters or digits, and 2 more if words don't have them.
static PAIRS: [[u8; 128]; 128] = {
    let mut pairs = [[0; 128]; 128];
    let mut a = 0;
    while a < 128_u8 {
        let mut b = 0;
        while b < 128_u8 {
            if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric() {
                let odd = a.is_ascii_digit() != b.is_ascii_digit()
                    || a.is_ascii_lowercase() && b.is_ascii_uppercase()
                    || a.is_ascii_alphabetic() && !is_common(a, b);
                pairs[a as usize][b as usize] = if odd { 3 } else { 1 };
            }
            b += 1;
        }
        a += 1;
    }
    pairs
};

/// Tells whether words have one letter after the other.
const fn is_common(a: u8, b: u8) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    FOLLOWS[(a - b'a') as usize] >> (b - b'a') & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_scores_nothing_and_variety_scores_high() {
        assert!(shannon("") < 0.01);
        assert!(shannon("aaaaaaaa") < 0.01);
        assert!((shannon("abcdefgh") - 3.0).abs() < 1e-9);
        assert!(shannon("Zk3v9QpL2xWm7RtB") > 3.9);
    }

    #[test]
    fn words_and_identifiers_are_in_order_and_random_text_is_not() {
        for text in [
            "getAccessTokenFromSession",
            "my-app-secret-name",
            "MAX_OUTPUT_TOKENS",
            "application/octet-stream",
            "claude-sonnet-4-20250514",
            "refresh_token_expires_at",
        ] {
            assert!(disorder(text) < 0.22, "{text}: {}", disorder(text));
        }
        for text in [
            "Zk3v9QpL2xWm7RtB",
            "9f86d081884c7d659a2feaa0c55ad015",
            "cvvdykicpoxffpejmw",
            "QZXJ7KWPN2VTB4HG",
            "q7w3z8x2k9v4b1n6",
        ] {
            assert!(disorder(text) > 0.3, "{text}: {}", disorder(text));
        }
        assert!(disorder("") < 0.01);
        assert!(disorder("-").abs() < 0.01);
    }
}
