//! A vector of length 1, as models give it and as the index keeps it.
//!
//! Every embedder gives `f32`, an address on the network included; the store and the index keep
//! eight bits a number and one factor a vector, which loses about a hundredth of recall and three
//! quarters of the memory. Sign codes for the first pass of a search are the index's business.

/// A vector of length 1: the product of two is the cosine of the angle between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Box<[f32]>);

impl Vector {
    /// Returns the vector of that direction, or nothing if there is none: no numbers, only zeros, or
    /// some that are not finite.
    #[must_use]
    pub fn new(mut values: Vec<f32>) -> Option<Self> {
        // Scaled first, so that neither huge nor tiny numbers leave the range when squared. `f64`
        // and a fixed order give the same sum on every processor.
        let largest = values.iter().fold(0_f32, |most, v| most.max(v.abs()));
        if largest == 0.0 || !values.iter().all(|v| v.is_finite()) {
            return None;
        }
        let square = |v: &f32| (f64::from(*v) / f64::from(largest)).powi(2);
        let length = values.iter().map(square).sum::<f64>().sqrt() * f64::from(largest);
        for value in &mut values {
            *value = (f64::from(*value) / length) as f32;
        }
        Some(Self(values.into()))
    }

    /// Returns the numbers.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns the cosine of the angle to another vector, 0 for one of other dimensions.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }

    /// Returns the vector in eight bits a number.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes8 {
        let largest = self.0.iter().fold(0_f32, |most, v| most.max(v.abs()));
        let scale = largest / 127.0;
        let values = self.0.iter().map(|v| (v / scale).round() as i8).collect();
        Bytes8 { scale, values }
    }
}

/// A vector in eight bits a number: `scale * value` is near the number it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Bytes8 {
    /// The factor of all numbers.
    pub scale: f32,
    /// The numbers, from -127 to 127.
    pub values: Box<[i8]>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers() -> impl Strategy<Value = Vec<f32>> {
        proptest::collection::vec(proptest::num::f32::ANY, 0..50)
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for bad in [
            vec![],
            vec![0.0, -0.0],
            vec![1.0, f32::NAN],
            vec![f32::INFINITY],
        ] {
            assert_eq!(Vector::new(bad.clone()), None, "{bad:?}");
        }
    }

    #[test]
    fn cosines_of_other_dimensions_are_zero() {
        let short = Vector::new(vec![1.0]).unwrap();
        let long = Vector::new(vec![1.0, 0.0]).unwrap();
        assert_eq!((short.cosine(&long), long.cosine(&long)), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn a_vector_always_has_length_1(values in numbers()) {
            if let Some(vector) = Vector::new(values) {
                prop_assert!((vector.cosine(&vector) - 1.0).abs() < 1e-5);
            }
        }

        #[test]
        fn eight_bits_are_never_further_off_than_half_a_step(values in numbers()) {
            if let Some(vector) = Vector::new(values) {
                let bytes = vector.to_bytes();
                for (value, byte) in vector.values().iter().zip(&bytes.values) {
                    let off = (f32::from(*byte) * bytes.scale - value).abs();
                    prop_assert!(off <= bytes.scale * 0.501, "{value} {byte} {}", bytes.scale);
                }
            }
        }
    }
}
