//! How crowded it is around a record: how near the records are that are nearest to it, whoever asks.
//!
//! In a space of many dimensions some records are near to everything, and so to every query. What is
//! near to a query but no nearer than to all its neighbours says little. Distances of sign codes are
//! enough for this, and cost a tenth of products.
//!
//! What it takes from a record's worth is not decided here.

use super::kernel::{Distances, LANES};
use crate::embed::Isa;

/// Of so many records one counts as a neighbour.
const NEIGHBOUR_OF: usize = 20;
/// The fewest neighbours that are looked at, if there are so many.
const MIN_NEIGHBOURS: usize = 5;

/// Some records that stand for all, by their codes.
#[derive(Debug)]
pub(super) struct Crowd {
    /// As in a block: the first words of [`LANES`] codes, then their second words, and so on.
    codes: Vec<[u64; LANES]>,
    n_records: usize,
    /// The cosine that a distance stands for, by distance.
    cosines: Vec<f64>,
    isa: Isa,
}

/// A look at a crowd, with room for what it reckons.
pub(super) struct Look<'c> {
    crowd: &'c Crowd,
    distances: Vec<[u32; LANES]>,
    /// How many records are at each distance.
    counts: Vec<u32>,
}

impl Crowd {
    /// Returns a crowd without records, whose codes are of so many dimensions.
    pub(super) fn new(dimensions: usize, isa: Isa) -> Self {
        Self {
            codes: Vec::new(),
            n_records: 0,
            cosines: (0..=dimensions)
                .map(|distance| cosine(distance as f64 / dimensions.max(1) as f64))
                .collect(),
            isa,
        }
    }

    /// Adds a record by the code of one of its pieces.
    pub(super) fn push(&mut self, code: impl Iterator<Item = u64>) {
        let n_words = (self.cosines.len() - 1).div_ceil(64);
        let lane = self.n_records % LANES;
        if lane == 0 {
            self.codes.resize(self.codes.len() + n_words, [0; LANES]);
        }
        let first = self.codes.len() - n_words;
        for (words, word) in self.codes[first..].iter_mut().zip(code) {
            words[lane] = word;
        }
        self.n_records += 1;
    }
}

impl<'c> Look<'c> {
    pub(super) fn new(crowd: &'c Crowd) -> Self {
        Self {
            crowd,
            distances: vec![[0; LANES]; crowd.n_records.div_ceil(LANES)],
            counts: vec![0; crowd.cosines.len()],
        }
    }

    /// Returns how near the neighbours of a code are on average, as a cosine; nothing if there are none.
    /// The record at one place of the crowd may be left out: the one whose code it is.
    pub(super) fn around(&mut self, code: &[u64], left_out: Option<usize>) -> Option<f64> {
        let crowd = self.crowd;
        crowd.isa.run(Distances {
            query: code,
            codes: &crowd.codes,
            distances: &mut self.distances,
        });
        self.counts.fill(0);
        let distances = &self.distances.as_flattened()[..crowd.n_records];
        for distance in distances {
            self.counts[*distance as usize] += 1;
        }
        if let Some(distance) = left_out.and_then(|place| distances.get(place)) {
            self.counts[*distance as usize] -= 1;
        }
        let others = crowd.n_records - usize::from(left_out.is_some());
        let wanted = (crowd.n_records / NEIGHBOUR_OF).max(MIN_NEIGHBOURS);
        let wanted = wanted.min(others) as u32;
        let (mut sum, mut missing) = (0.0, wanted);
        for (count, cosine) in self.counts.iter().zip(&crowd.cosines) {
            let here = missing.min(*count);
            sum += f64::from(here) * cosine;
            missing -= here;
            if missing == 0 {
                break;
            }
        }
        (wanted > 0).then(|| sum / f64::from(wanted))
    }
}

/// Returns the cosine of two vectors whose signs differ in this share of the dimensions, as far as signs
/// tell. Bhaskara's formula: to 0.002, and the same on every processor.
fn cosine(share: f64) -> f64 {
    let acute = share.min(1.0 - share);
    let found = (1.0 - 4.0 * acute * acute) / (1.0 + acute * acute);
    if share > 0.5 { -found } else { found }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DIMENSIONS: usize = 128;

    fn crowd(codes: &[[u64; 2]], isa: Isa) -> Crowd {
        let mut crowd = Crowd::new(DIMENSIONS, isa);
        for code in codes {
            crowd.push(code.iter().copied());
        }
        crowd
    }

    #[test]
    fn nobody_is_alone_in_a_crowd_of_himself() {
        let one = crowd(&[[7, 7]], Isa::best());
        assert_eq!(Look::new(&one).around(&[7, 7], Some(0)), None);
        assert_eq!(Look::new(&one).around(&[7, 7], None), Some(1.0));
        let nobody = crowd(&[], Isa::best());
        assert_eq!(Look::new(&nobody).around(&[7, 7], None), None);
    }

    #[test]
    fn a_share_of_signs_stands_for_a_cosine() {
        for percent in 0..=100 {
            let share = f64::from(percent) / 100.0;
            let exact = (std::f64::consts::PI * share).cos();
            assert!((cosine(share) - exact).abs() < 0.002, "{share}");
        }
    }

    proptest! {
        #[test]
        fn only_the_nearest_others_count(
            codes in prop::collection::vec(any::<[u64; 2]>(), 1..300),
            place in any::<prop::sample::Index>(),
        ) {
            let place = place.index(codes.len());
            let distance = |other: &[u64; 2]| -> u32 {
                other.iter().zip(codes[place]).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            let others = codes.iter().enumerate().filter(|(nth, _)| *nth != place);
            let mut near: Vec<u32> = others.map(|(_, code)| distance(code)).collect();
            near.sort_unstable();
            near.truncate((codes.len() / 20).max(5));
            let near: Vec<f64> =
                near.into_iter().map(|near| cosine(f64::from(near) / DIMENSIONS as f64)).collect();
            let mean = near.iter().sum::<f64>() / near.len() as f64;
            for isa in Isa::all() {
                let crowd = crowd(&codes, isa);
                match Look::new(&crowd).around(&codes[place], Some(place)) {
                    Some(around) => prop_assert!((around - mean).abs() < 1e-9, "{around} {mean}"),
                    None => prop_assert!(near.is_empty()),
                }
            }
        }
    }
}
