//! A query's vector in the forms that the index works with.

use crate::embed::Vector;

/// The most that a value of a vector can be, without its sign.
const MOST_VALUE: f64 = 128.0;

/// A query in whole numbers.
pub(super) struct Query {
    /// In sixteen bits: twice as many cost nothing here, because products are of sixteen bits anyway.
    pub(super) values: Vec<i16>,
    /// The signs.
    pub(super) code: Vec<u64>,
    /// One over the length of the values.
    pub(super) factor: f32,
}

impl Query {
    pub(super) fn new(vector: &Vector) -> Self {
        let values = vector.values();
        let largest = values.iter().fold(0.0, |most, v| v.abs().max(most));
        let whole: f64 = values.iter().map(|v| f64::from(v.abs())).sum();
        // No sum of products leaves 32 bits, not even one of the largest values with equal signs.
        let room = (f64::from(i32::MAX) / MOST_VALUE - values.len() as f64).max(0.0);
        let scale = (f64::from(i16::MAX) / f64::from(largest)).min(room / whole);
        let values: Vec<i16> = values
            .iter()
            .map(|v| (f64::from(*v) * scale).round() as i16)
            .collect();
        let code = code(values.iter().map(|v| *v > 0)).collect();
        let squares = values.iter().map(|v| i64::from(*v) * i64::from(*v)).sum();
        Self {
            factor: inverse_length(squares),
            values,
            code,
        }
    }

    /// Returns the cosine of the angle to a vector whose product with the query is known.
    pub(super) fn cosine(&self, product: i32, factor: f32) -> f32 {
        (product as f32 * (self.factor * factor)).clamp(-1.0, 1.0)
    }
}

/// Returns signs as bits, 64 a word, the last word filled with zeros.
pub(super) fn code(signs: impl Iterator<Item = bool>) -> impl Iterator<Item = u64> {
    let mut signs = signs.peekable();
    std::iter::from_fn(move || {
        signs.peek()?;
        let word = signs.by_ref().take(64).enumerate();
        Some(word.fold(0, |word, (bit, sign)| word | u64::from(sign) << bit))
    })
}

/// Returns one over the root of a sum of squares; 0 if the sum is, so that nothing is like nothing.
pub(super) fn inverse_length(squares: i64) -> f32 {
    if squares == 0 {
        0.0
    } else {
        (1.0 / (squares as f64).sqrt()) as f32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_has_a_bit_a_dimension() {
        assert_eq!(code(std::iter::empty()).count(), 0);
        assert_eq!(
            code([true, false, true].into_iter()).collect::<Vec<_>>(),
            [0b101]
        );
        let signs = (0..65).map(|nth| nth > 62);
        assert_eq!(code(signs).collect::<Vec<_>>(), [1 << 63, 1]);
    }

    #[test]
    fn a_query_uses_the_bits_it_has() {
        let vector = Vector::new(vec![0.25, -1.0, 0.0]).unwrap();
        let query = Query::new(&vector);
        assert_eq!(query.values, [8_192, -32_767, 0]);
        assert_eq!(query.code, [1]);
    }

    proptest! {
        #[test]
        fn no_product_leaves_32_bits(value in 0.001_f32..1.0, dimensions in 1_usize..40_000) {
            let query = Query::new(&Vector::new(vec![value; dimensions]).unwrap());
            let whole: i64 = query.values.iter().map(|v| i64::from(*v) * 128).sum();
            prop_assert!(whole > 0 && whole <= i64::from(i32::MAX));
        }
    }
}
