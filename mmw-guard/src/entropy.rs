//! How mixed a text is. Random keys score high, words and repetitions low.
//!
//! Entropy alone decides nothing: a rule uses it as a floor after its form has matched.

/// Returns the Shannon entropy of the bytes of a text, in bits per byte (0 to 8).
pub(crate) fn shannon(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
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
}
