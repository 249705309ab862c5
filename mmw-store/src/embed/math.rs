//! The arithmetic between the products: normalisation, attention, the activation, eight bits.
//!
//! Every kernel is one source, compiled for each kind of instructions. To give the same bits on all
//! of them, nothing here uses fused multiplication (a processor may lack it, and then a sum is rounded
//! otherwise), and long sums go in sixteen lanes that are added up in order.

use super::product::OFFSET;
use super::simd::Kernel;

/// Numbers that are worked on side by side.
const LANES: usize = 16;

/// 1.5 * 2^23: adding it rounds a number of up to 22 bits to a whole one, halves to the even one.
const ROUNDING: f32 = 12_582_912.0;

/// What is added to the variance of a row before its root is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epsilon(pub(super) f32);

/// Brings every row to mean 0 and variance 1, then to a learned scale and shift.
pub(super) struct Normalise<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
    pub(super) epsilon: Epsilon,
}

impl Kernel for Normalise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.gain.len();
        for row in self.rows.chunks_exact_mut(n) {
            let mean = sum(row, |v| v) / n as f32;
            let variance = sum(row, |v| (v - mean) * (v - mean)) / n as f32;
            let inverse = 1.0 / (variance + self.epsilon.0).sqrt();
            for ((value, gain), shift) in row.iter_mut().zip(self.gain).zip(self.shift) {
                *value = (*value - mean) * inverse * gain + shift;
            }
        }
    }
}

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane += of(*value);
    }
    lanes.iter().sum()
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Brings every row to eight bits: the largest number becomes 127, then the offset is added.
pub(super) struct Quantise<'a> {
    pub(super) rows: &'a [f32],
    pub(super) bytes: &'a mut [u8],
    /// What a number of each row stands for. There are as many rows.
    pub(super) scales: &'a mut [f32],
}

impl Kernel for Quantise<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let n = self.rows.len() / self.scales.len().max(1);
        let rows = self
            .rows
            .chunks_exact(n)
            .zip(self.bytes.chunks_exact_mut(n));
        for ((row, bytes), scale) in rows.zip(self.scales) {
            let mut lanes = [0.0; LANES];
            let (whole, rest) = row.as_chunks::<LANES>();
            for chunk in whole {
                for (lane, value) in lanes.iter_mut().zip(chunk) {
                    *lane = larger(value.abs(), *lane);
                }
            }
            for (lane, value) in lanes.iter_mut().zip(rest) {
                *lane = larger(value.abs(), *lane);
            }
            let largest = lanes.iter().fold(0.0, |most, lane| larger(*lane, most));
            *scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            let inverse = 1.0 / *scale;
            for (value, byte) in row.iter().zip(bytes) {
                // The lowest bits of the rounded number are the whole number itself.
                let rounded = (value * inverse + ROUNDING).to_bits() as u8;
                *byte = rounded ^ OFFSET as u8;
            }
        }
    }
}

/// Replaces every number by its Gaussian error linear unit.
pub(super) struct Activate<'a>(pub(super) &'a mut [f32]);

impl Kernel for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for value in self.0 {
            *value =
                0.5 * *value * (1.0 + error_function(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// Abramowitz and Stegun 7.1.26: off by at most 1.5e-7.
#[inline(always)]
fn error_function(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    (1.0 - series * exponential(-a * a)).copysign(x)
}

/// The exponential function, off by a few units of the last place between -87 and 87.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 87.0 { 87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let power = shifted - ROUNDING;
    // The logarithm of 2 in two parts: a multiple of the first is exact.
    let rest = x - power * 0.693_359_4 + power * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest
                                    * (0.041_666_67
                                        + rest * (0.008_333_33 + rest * 0.001_388_89)))));
    f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000)) * series
}

/// Mixes the values of one text's tokens by how much their keys answer each token's query.
pub(super) struct Attend<'a> {
    /// Of each token, its query, key and value side by side.
    pub(super) mixed: &'a [f32],
    /// Of each token, what it becomes.
    pub(super) outputs: &'a mut [f32],
    pub(super) hidden: usize,
    pub(super) heads: usize,
}

impl Kernel for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.hidden / self.heads {
            32 => self.by_heads::<32>(),
            64 => self.by_heads::<64>(),
            _ => self.by_heads::<0>(),
        }
    }
}

impl Attend<'_> {
    /// `HEAD` is the width of a head, or 0 if it is known only when running.
    #[inline(always)]
    fn by_heads<const HEAD: usize>(self) {
        let hidden = self.hidden;
        let width = if HEAD == 0 { hidden / self.heads } else { HEAD };
        let n_tokens = self.outputs.len() / hidden;
        let padded = n_tokens.next_multiple_of(LANES);
        let scale = 1.0 / (width as f32).sqrt();
        // Keys across, so that sixteen tokens are weighed side by side.
        let mut keys = vec![[0.0; LANES]; width * padded / LANES];
        let mut weights = vec![[0.0; LANES]; padded / LANES];
        for head in 0..self.heads {
            let at = head * width;
            for token in 0..n_tokens {
                let key = &self.mixed[token * 3 * hidden + hidden + at..][..width];
                for (nth, value) in key.iter().enumerate() {
                    keys[token / LANES * width + nth][token % LANES] = *value;
                }
            }
            for token in 0..n_tokens {
                let query = &self.mixed[token * 3 * hidden + at..][..width];
                for (group, keys) in keys.chunks_exact(width).enumerate() {
                    let mut lanes = [0.0; LANES];
                    for (query, keys) in query.iter().zip(keys) {
                        let query = query * scale;
                        for (lane, key) in lanes.iter_mut().zip(keys) {
                            *lane += query * key;
                        }
                    }
                    weights[group] = lanes;
                }
                let inverse = soften(&mut weights, n_tokens);
                // Room in registers for heads of known width, in memory for others.
                let mut known = [0.0; HEAD];
                let output = &mut self.outputs[token * hidden + at..][..width];
                output.fill(0.0);
                for (other, weight) in weights.as_flattened()[..n_tokens].iter().enumerate() {
                    let weight = weight * inverse;
                    let value = &self.mixed[other * 3 * hidden + 2 * hidden + at..][..width];
                    let sums = if HEAD == 0 {
                        &mut *output
                    } else {
                        &mut known[..]
                    };
                    for (sum, value) in sums.iter_mut().zip(value) {
                        *sum += weight * value;
                    }
                }
                if HEAD != 0 {
                    output.copy_from_slice(&known);
                }
            }
        }
    }
}

/// Turns the first `n` numbers into their exponentials, against the largest, and returns one over
/// their sum.
#[inline(always)]
fn soften(weights: &mut [[f32; LANES]], n: usize) -> f32 {
    weights.as_flattened_mut()[n..].fill(f32::MIN);
    let mut largest = [f32::MIN; LANES];
    for lanes in weights.iter() {
        for (most, lane) in largest.iter_mut().zip(lanes) {
            *most = larger(*lane, *most);
        }
    }
    let largest = largest
        .iter()
        .fold(f32::MIN, |most, lane| larger(*lane, most));
    let mut sums = [0.0; LANES];
    for lanes in weights.iter_mut() {
        for (sum, lane) in sums.iter_mut().zip(lanes) {
            *lane = exponential(*lane - largest);
            *sum += *lane;
        }
    }
    1.0 / sums.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: f32, found: f32, exact: f64, off: f64) {
        assert!(
            (f64::from(found) - exact).abs() <= off,
            "{x}: {found}, not {exact}"
        );
    }

    #[test]
    fn the_exponential_function_is_right_to_the_last_places() {
        for step in -870..=870 {
            let x = step as f32 / 10.0;
            let exact = f64::from(x).exp();
            check(x, exponential(x), exact, exact * 4e-7);
        }
    }

    #[test]
    fn the_activation_is_near_to_its_definition() {
        for (x, exact) in [
            (0.0, 0.0),
            (1.0, 0.841_345),
            (-1.0, -0.158_655),
            (3.0, 2.995_95),
            (-9.0, 0.0),
        ] {
            let mut found = [x];
            Activate(&mut found).run();
            check(x, found[0], exact, 1e-5);
        }
    }

    #[test]
    fn a_row_is_brought_to_eight_bits_around_the_offset() {
        let mut bytes = [0; 4];
        let mut scales = [0.0];
        let rows = &[-127.0, 0.0, 63.4, 127.0];
        Quantise {
            rows,
            bytes: &mut bytes,
            scales: &mut scales,
        }
        .run();
        assert_eq!((bytes, scales), ([1, 128, 191, 255], [1.0]));
    }

    #[test]
    fn a_row_of_zeros_stays_zero() {
        let mut bytes = [7; 2];
        let mut scales = [0.0];
        Quantise {
            rows: &[0.0, -0.0],
            bytes: &mut bytes,
            scales: &mut scales,
        }
        .run();
        assert_eq!((bytes, scales), ([128, 128], [1.0]));
    }

    #[test]
    fn a_normalised_row_has_mean_0_and_variance_1() {
        let mut rows: Vec<f32> = (0_u8..20).map(f32::from).collect();
        Normalise {
            rows: &mut rows,
            gain: &[1.0; 20],
            shift: &[0.0; 20],
            epsilon: Epsilon(0.0),
        }
        .run();
        let variance = rows.iter().map(|v| v * v).sum::<f32>() / 20.0;
        assert!(rows.iter().sum::<f32>().abs() < 1e-5 && (variance - 1.0).abs() < 1e-5);
    }

    #[test]
    fn equal_keys_mix_values_evenly() {
        // Two tokens, one head of two numbers: query, key, value.
        let mixed = [1.0, 0.0, 2.0, 2.0, 1.0, 3.0, 0.0, 5.0, 2.0, 2.0, 3.0, 5.0];
        let mut outputs = [0.0; 4];
        Attend {
            mixed: &mixed,
            outputs: &mut outputs,
            hidden: 2,
            heads: 1,
        }
        .run();
        assert_eq!(outputs, [2.0, 4.0, 2.0, 4.0]);
    }
}
