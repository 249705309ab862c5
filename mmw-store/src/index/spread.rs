//! How near the records of a workspace are to a query in general: what a single cosine is judged by.

/// Mean and deviation of the cosines of some records.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// The mean, 0 if there are no records.
    pub mean: f64,
    /// The standard deviation of those looked at, 0 if there are fewer than two.
    pub deviation: f64,
    /// How many records were looked at.
    pub n: usize,
}

impl Spread {
    /// Returns the spread of these cosines.
    pub(super) fn of(cosines: &[f32]) -> Self {
        let n = cosines.len();
        if n == 0 {
            return Self::default();
        }
        let mean = cosines.iter().map(|c| f64::from(*c)).sum::<f64>() / n as f64;
        let squares = cosines.iter().map(|c| (f64::from(*c) - mean).powi(2));
        let deviation = (squares.sum::<f64>() / n as f64).sqrt();
        Self { mean, deviation, n }
    }
}

/// Returns `n_sample` places that lie evenly among `n`, or all if there are no more.
pub(super) fn evenly(n: usize, n_sample: usize) -> impl Iterator<Item = usize> {
    let n_sample = n_sample.min(n);
    (0..n_sample).map(move |nth| (nth as u128 * n as u128 / n_sample as u128) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_one_have_no_deviation() {
        assert_eq!(Spread::of(&[]), Spread::default());
        let one = Spread {
            mean: 0.5,
            deviation: 0.0,
            n: 1,
        };
        assert_eq!(Spread::of(&[0.5]), one);
    }

    #[test]
    fn a_spread_is_that_of_the_numbers_given() {
        let found = Spread::of(&[0.25, 0.75, 0.25, 0.75]);
        assert_eq!(
            found,
            Spread {
                mean: 0.5,
                deviation: 0.25,
                n: 4
            }
        );
    }

    #[test]
    fn a_sample_lies_evenly() {
        assert_eq!(evenly(0, 4).count(), 0);
        assert_eq!(evenly(3, 4).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(evenly(10, 4).collect::<Vec<_>>(), [0, 2, 5, 7]);
    }
}
