//! Means with their bootstrap intervals.
//!
//! Questions are drawn again and again, with repetitions, by a generator of fixed seed: the same
//! figures come out each time. Two ways of searching are compared on the same draws, by what they differ
//! in each question.

/// A mean and where it lies in 95 of 100 draws.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Numbers that look random and are the same each time (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Draws(u64);

impl Draws {
    /// Starts with that seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper half of a product: no bias that would show below 2^32.
        ((u128::from(mixed) * n as u128) >> 64) as usize
    }

    /// Returns one of them; there must be some.
    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Returns the mean of a value of each question, with the interval of so many draws; nothing of none.
pub(crate) fn bootstrap(values: &[f64], n_draws: usize) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let n = values.len();
    let mean = |sum: f64| sum / n as f64;
    let mut draws = Draws::new(1);
    let mut means: Vec<f64> = (0..n_draws)
        .map(|_| mean((0..n).map(|_| values[draws.below(n)]).sum()))
        .collect();
    means.sort_by(f64::total_cmp);
    let all = mean(values.iter().sum());
    let at = |share: f64| {
        let place = (share * means.len() as f64) as usize;
        means.get(place).or(means.last()).copied().unwrap_or(all)
    };
    Some(Interval {
        mean: all,
        low: at(0.025),
        high: at(0.975),
    })
}

/// Returns the value that a share of the values lies below; 0 of none.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (share * values.len() as f64) as usize;
    values.get(place).or(values.last()).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_interval_of_a_share_is_about_that_of_the_normal_distribution() {
        let values: Vec<f64> = (0..400).map(|nth| f64::from(nth % 4 == 0)).collect();
        let found = bootstrap(&values, 2000).unwrap();
        // 0.25 ± 1.96 · sqrt(0.25 · 0.75 / 400)
        assert!((found.mean - 0.25).abs() < 1e-12);
        assert!(
            (found.low - 0.2076).abs() < 0.005 && (found.high - 0.2924).abs() < 0.005,
            "{found:?}"
        );
        assert_eq!(bootstrap(&values, 2000).unwrap(), found);
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(bootstrap(&[], 10), None);
        assert_eq!(bootstrap(&[0.5], 0).unwrap().low, 0.5);
    }

    #[test]
    fn quantiles_by_hand() {
        let mut values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&mut values, 0.5), 3.0);
        assert_eq!(quantile(&mut values, 0.95), 4.0);
        assert_eq!(quantile(&mut [], 0.5), 0.0);
    }

    proptest! {
        #[test]
        fn the_interval_lies_within_the_values(values in prop::collection::vec(0.0_f64..=1.0, 1..50)) {
            let found = bootstrap(&values, 100).unwrap();
            let (least, most) = values.iter().fold((1.0_f64, 0.0_f64), |(a, b), v| (a.min(*v), b.max(*v)));
            prop_assert!(least - 1e-9 <= found.low && found.low <= found.high && found.high <= most + 1e-9);
        }

        #[test]
        fn draws_stay_below(n in 1_usize..1000, seed: u64) {
            let mut draws = Draws::new(seed);
            prop_assert!((0..50).all(|_| draws.below(n) < n));
        }
    }
}
