//! A product of whole numbers: rows of inputs in eight bits with a matrix of weights in eight bits.
//!
//! The sums are exact, so that every way to compute them gives the same; what becomes of a sum
//! ([`Product::finish`]) is one source for all ways. The way of every processor is here, those with
//! vector instructions are in `simd`.

/// Outputs that lie together in a block of weights.
pub(super) const BLOCK: usize = 16;
/// Outputs come in multiples of that: two blocks are multiplied at once.
pub(super) const OUTPUTS: usize = 2 * BLOCK;
/// Inputs come in multiples of that: so many weights of one output lie side by side.
pub(super) const INPUTS: usize = 4;

/// What is added to an input to make it positive, which the fastest instruction asks for.
pub(super) const OFFSET: i32 = 128;

/// A matrix of weights: of each 16 outputs, and of each 4 inputs, the weights of all outputs in turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights<'a> {
    /// How many inputs an output has.
    pub(super) n_inputs: usize,
    /// The weights: 16 outputs by 4 inputs each.
    pub(super) packed: &'a [[i8; BLOCK * INPUTS]],
    /// What a weight of each output stands for.
    pub(super) scales: &'a [[f32; BLOCK]],
    /// What is added to each output.
    pub(super) bias: &'a [[f32; BLOCK]],
    /// The sum of the weights of each output, which the offset of the inputs is taken back with.
    pub(super) sums: &'a [[i32; BLOCK]],
}

impl<'a> Weights<'a> {
    /// Returns how many blocks of 16 outputs there are.
    #[inline(always)]
    pub(super) fn n_blocks(&self) -> usize {
        self.scales.len()
    }

    /// Returns the weights of a block.
    #[inline(always)]
    pub(super) fn block(&self, nth: usize) -> &'a [[i8; BLOCK * INPUTS]] {
        let length = self.n_inputs / INPUTS;
        &self.packed[nth * length..][..length]
    }
}

/// What is multiplied, and where the outputs go.
pub(super) struct Product<'a> {
    /// Rows of inputs, each with the offset added.
    pub(super) inputs: &'a [[u8; INPUTS]],
    /// What an input of each row stands for.
    pub(super) scales: &'a [f32],
    /// The weights.
    pub(super) weights: Weights<'a>,
    /// Rows of outputs.
    pub(super) outputs: &'a mut [[f32; BLOCK]],
}

impl Product<'_> {
    /// Returns how many rows there are.
    #[inline(always)]
    pub(super) fn n_rows(&self) -> usize {
        self.scales.len()
    }

    /// Returns the inputs of a row.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[[u8; INPUTS]] {
        let length = self.weights.n_inputs / INPUTS;
        &self.inputs[row * length..][..length]
    }

    /// Returns all inputs in sixteen bits.
    #[inline(always)]
    pub(super) fn widened(&self) -> Vec<[i16; INPUTS]> {
        self.inputs.iter().map(|four| four.map(i16::from)).collect()
    }

    /// Turns the sums of a block into outputs.
    #[inline(always)]
    pub(super) fn finish(&mut self, row: usize, block: usize, mut sums: [i32; BLOCK]) {
        let of_weights = self.weights.sums[block];
        for (sum, of_weights) in sums.iter_mut().zip(of_weights) {
            *sum = sum.wrapping_sub(OFFSET.wrapping_mul(of_weights));
        }
        self.finish_without_offset(row, block, sums);
    }

    /// Turns the sums of a block into outputs, for inputs that the offset was taken from.
    #[inline(always)]
    pub(super) fn finish_without_offset(&mut self, row: usize, block: usize, sums: [i32; BLOCK]) {
        let n_blocks = self.weights.n_blocks();
        let input_scale = self.scales[row];
        // Copied, so that compilers see that nothing is written over and work on all side by side.
        let scales = self.weights.scales[block];
        let bias = self.weights.bias[block];
        let mut outputs = [0.0; BLOCK];
        for nth in 0..BLOCK {
            outputs[nth] = sums[nth] as f32 * (input_scale * scales[nth]) + bias[nth];
        }
        self.outputs[row * n_blocks + block] = outputs;
    }

    /// Multiplies without any instruction that a processor may lack.
    pub(super) fn run(mut self) {
        let wide = self.widened();
        for block in 0..self.weights.n_blocks() {
            for (row, n_rows) in groups(self.n_rows(), ROWS) {
                match n_rows {
                    1 => self.tile::<1>(&wide, block, row),
                    2 => self.tile::<2>(&wide, block, row),
                    3 => self.tile::<3>(&wide, block, row),
                    _ => self.tile::<ROWS>(&wide, block, row),
                }
            }
        }
    }

    fn tile<const N: usize>(&mut self, wide: &[[i16; INPUTS]], block: usize, row: usize) {
        let weights = self.weights.block(block);
        let inputs: [&[[i16; INPUTS]]; N] =
            std::array::from_fn(|nth| &wide[(row + nth) * weights.len()..][..weights.len()]);
        let mut sums = [[0; BLOCK]; N];
        for quarter in 0..BLOCK / 4 {
            // Of each of four outputs, the sums of even and odd pairs of products.
            let mut pairs = [[0; 8]; N];
            for (at, weights) in weights.iter().enumerate() {
                let (quarters, _) = weights.as_chunks::<16>();
                let weights = quarters[quarter].map(i16::from);
                for nth in 0..N {
                    let [a, b, c, d] = inputs[nth][at];
                    add_pairs(&mut pairs[nth], &weights, &[a, b, c, d, a, b, c, d]);
                }
            }
            for (sums, pairs) in sums.iter_mut().zip(&pairs) {
                for output in 0..4 {
                    sums[4 * quarter + output] = pairs[2 * output] + pairs[2 * output + 1];
                }
            }
        }
        for (nth, sums) in sums.into_iter().enumerate() {
            self.finish(row + nth, block, sums);
        }
    }
}

/// Adds the sums of neighbouring products. Written so that compilers find the instruction that most
/// processors have for it.
#[inline(always)]
fn add_pairs(sums: &mut [i32; 8], weights: &[i16; 16], inputs: &[i16; 8]) {
    for (nth, sum) in sums.iter_mut().enumerate() {
        let product = |at: usize| i32::from(weights[at]) * i32::from(inputs[at % 8]);
        *sum += product(2 * nth) + product(2 * nth + 1);
    }
}

/// Rows that are multiplied together, so that weights are read once for all of them.
const ROWS: usize = 4;

/// Parts rows into groups of at most `most`, as equal as can be: the start and length of each.
pub(super) fn groups(n_rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let n_groups = n_rows.div_ceil(most);
    (0..n_groups).map(move |nth| {
        let start = nth * n_rows / n_groups;
        (start, (nth + 1) * n_rows / n_groups - start)
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::simd::Isa;
    use super::*;

    /// Numbers of which every sum is as large as it can be are as likely as any others.
    fn extreme() -> impl Strategy<Value = u8> {
        prop_oneof![any::<u8>(), Just(0), Just(127), Just(128), Just(255)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn all_instructions_multiply_any_numbers_to_the_same_sums(
            n_rows in 1_usize..10,
            n_fours in 1_usize..20,
            n_pairs in 1_usize..3,
            bytes in prop_oneof![vec(extreme(), 700), extreme().prop_map(|byte| vec![byte; 700])],
            weights in prop_oneof![vec(extreme(), 900), extreme().prop_map(|byte| vec![byte; 900])],
        ) {
            let n_blocks = 2 * n_pairs;
            // Some numbers again and again, never in step with rows or blocks.
            let mut bytes = bytes.iter().cycle().copied();
            let inputs: Vec<[u8; INPUTS]> = (0..n_rows * n_fours)
                .map(|_| std::array::from_fn(|_| bytes.next().unwrap()))
                .collect();
            let mut weights = weights.iter().cycle().map(|byte| byte.cast_signed());
            let packed: Vec<[i8; BLOCK * INPUTS]> = (0..n_blocks * n_fours)
                .map(|_| std::array::from_fn(|_| weights.next().unwrap()))
                .collect();
            let mut exact = Vec::new();
            let mut sums = Vec::new();
            for block in packed.chunks_exact(n_fours) {
                sums.push(std::array::from_fn(|output| {
                    let of_output = |four: &[i8; BLOCK * INPUTS]| {
                        let four = &four[output * INPUTS..][..INPUTS];
                        four.iter().map(|weight| i32::from(*weight)).sum::<i32>()
                    };
                    block.iter().map(of_output).sum()
                }));
            }
            for row in inputs.chunks_exact(n_fours) {
                for block in packed.chunks_exact(n_fours) {
                    exact.push(std::array::from_fn(|output| {
                        let mut sum = 0;
                        for (input, weights) in row.iter().zip(block) {
                            for (nth, input) in input.iter().enumerate() {
                                let weight = i32::from(weights[output * INPUTS + nth]);
                                sum += (i32::from(*input) - OFFSET) * weight;
                            }
                        }
                        sum as f32
                    }));
                }
            }
            for isa in Isa::all() {
                let mut outputs = vec![[0.0; BLOCK]; n_rows * n_blocks];
                isa.multiply(Product {
                    inputs: &inputs,
                    scales: &vec![1.0; n_rows],
                    weights: Weights {
                        n_inputs: n_fours * INPUTS,
                        packed: &packed,
                        scales: &vec![[1.0; BLOCK]; n_blocks],
                        bias: &vec![[0.0; BLOCK]; n_blocks],
                        sums: &sums,
                    },
                    outputs: &mut outputs,
                });
                prop_assert_eq!(&outputs, &exact, "{}", isa.name());
            }
        }
    }
}
