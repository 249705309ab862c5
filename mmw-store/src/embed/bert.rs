//! A BERT encoder: tokens in, one row of numbers a text out.
//!
//! Weights and the inputs of every product are whole numbers in eight bits, sums are exact; what lies
//! between is `f32`. Texts are worked on together, one after the other without padding, and a text
//! gives the same bits alone and in company, on every processor.

use super::format::{Config, Kind, ModelFile, Pooling};
use super::math::{Activate, Attend, Epsilon, Normalise, Quantise};
use super::product::{BLOCK, Product, Weights};
use super::simd::Isa;

/// A model file at work.
#[derive(Debug, Clone)]
pub(super) struct Bert {
    file: ModelFile,
    isa: Isa,
}

/// The three parts of a matrix in the file.
type Matrix = [Kind; 3];

const MIX: Matrix = [Kind::MixWeights, Kind::MixScales, Kind::MixSums];
const OUT: Matrix = [Kind::OutWeights, Kind::OutScales, Kind::OutSums];
const UP: Matrix = [Kind::UpWeights, Kind::UpScales, Kind::UpSums];
const DOWN: Matrix = [Kind::DownWeights, Kind::DownScales, Kind::DownSums];

/// Inputs in eight bits, kept for the next product.
struct Inputs {
    bytes: Vec<u8>,
    scales: Vec<f32>,
}

impl Bert {
    pub(super) fn new(file: ModelFile, isa: Isa) -> Self {
        Self { file, isa }
    }

    pub(super) fn file(&self) -> &ModelFile {
        &self.file
    }

    pub(super) fn isa(&self) -> Isa {
        self.isa
    }

    fn config(&self) -> &Config {
        self.file.config()
    }

    /// Returns a row for each text. Every text has a token, not more than the model's window, and
    /// every token is a number of the vocabulary.
    pub(super) fn encode(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let Config {
            hidden,
            intermediate,
            layers,
            heads,
            ..
        } = *self.config();
        let n_tokens: usize = texts.iter().map(Vec::len).sum();
        if n_tokens == 0 {
            return Vec::new();
        }
        let mut rows = self.first_rows(texts, n_tokens);
        self.normalise(&mut rows, Kind::FirstNorm, 0);
        let mut inputs = Inputs {
            bytes: Vec::with_capacity(n_tokens * intermediate.max(hidden)),
            scales: vec![0.0; n_tokens],
        };
        let mut mixed = vec![0.0; n_tokens * 3 * hidden];
        let mut answers = vec![0.0; n_tokens * hidden];
        let mut between = vec![0.0; n_tokens * intermediate];
        for layer in 0..layers {
            self.multiply(&mut inputs, &rows, MIX, layer, &mut mixed);
            let mut done = 0;
            for text in texts {
                self.isa.run(Attend {
                    mixed: &mixed[done * 3 * hidden..][..text.len() * 3 * hidden],
                    outputs: &mut answers[done * hidden..][..text.len() * hidden],
                    hidden,
                    heads,
                });
                done += text.len();
            }
            // The answers are read before they are written over.
            self.quantise(&mut inputs, &answers);
            self.product(&inputs, OUT, layer, &mut answers);
            add(&mut rows, &answers);
            self.normalise(&mut rows, Kind::MidNorm, layer);
            self.multiply(&mut inputs, &rows, UP, layer, &mut between);
            self.isa.run(Activate(&mut between));
            self.multiply(&mut inputs, &between, DOWN, layer, &mut answers);
            add(&mut rows, &answers);
            self.normalise(&mut rows, Kind::LastNorm, layer);
        }
        self.pool(texts, &rows)
    }

    /// Returns the rows of all tokens before the first layer.
    fn first_rows(&self, texts: &[Vec<u32>], n_tokens: usize) -> Vec<f32> {
        let hidden = self.config().hidden;
        let pieces: &[i8] = self.file.numbers(Kind::Pieces, 0);
        let scales: &[f32] = self.file.numbers(Kind::PieceScales, 0);
        let positions: &[f32] = self.file.numbers(Kind::Positions, 0);
        let mut rows = Vec::with_capacity(n_tokens * hidden);
        for text in texts {
            for (token, position) in text.iter().zip(positions.chunks_exact(hidden)) {
                let token = *token as usize;
                let scale = scales[token];
                let piece = &pieces[token * hidden..][..hidden];
                let both = piece.iter().zip(position);
                rows.extend(both.map(|(piece, at)| f32::from(*piece) * scale + at));
            }
        }
        rows
    }

    fn normalise(&self, rows: &mut [f32], kind: Kind, layer: usize) {
        let both: &[f32] = self.file.numbers(kind, layer);
        let (gain, shift) = both.split_at(both.len() / 2);
        self.isa.run(Normalise {
            rows,
            gain,
            shift,
            epsilon: Epsilon(self.config().epsilon),
        });
    }

    fn multiply(
        &self,
        inputs: &mut Inputs,
        rows: &[f32],
        matrix: Matrix,
        layer: usize,
        outputs: &mut [f32],
    ) {
        self.quantise(inputs, rows);
        self.product(inputs, matrix, layer, outputs);
    }

    fn quantise(&self, inputs: &mut Inputs, rows: &[f32]) {
        inputs.bytes.resize(rows.len(), 0);
        self.isa.run(Quantise {
            rows,
            bytes: &mut inputs.bytes,
            scales: &mut inputs.scales,
        });
    }

    fn product(&self, inputs: &Inputs, matrix: Matrix, layer: usize, outputs: &mut [f32]) {
        let [weights, scales, sums] = matrix;
        let both: &[[f32; BLOCK]] = self.file.numbers(scales, layer);
        let (scales, bias) = both.split_at(both.len() / 2);
        self.isa.multiply(Product {
            inputs: bytemuck::cast_slice(&inputs.bytes),
            scales: &inputs.scales,
            weights: Weights {
                n_inputs: inputs.bytes.len() / inputs.scales.len(),
                packed: self.file.numbers(weights, layer),
                scales,
                bias,
                sums: self.file.numbers(sums, layer),
            },
            outputs: bytemuck::cast_slice_mut(outputs),
        });
    }

    fn pool(&self, texts: &[Vec<u32>], rows: &[f32]) -> Vec<Vec<f32>> {
        let hidden = self.config().hidden;
        let mut rest = rows;
        let mut pooled = Vec::with_capacity(texts.len());
        for text in texts {
            let (own, after) = rest.split_at(text.len() * hidden);
            rest = after;
            let counted = match self.config().pooling {
                Pooling::Mean => text.len(),
                Pooling::First => 1,
            };
            // The sum points where the mean does; the length is brought to 1 by `Vector`.
            let mut sum = vec![0.0; hidden];
            for row in own.chunks_exact(hidden).take(counted) {
                add(&mut sum, row);
            }
            pooled.push(sum);
        }
        pooled
    }
}

fn add(to: &mut [f32], more: &[f32]) {
    for (to, more) in to.iter_mut().zip(more) {
        *to += more;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::format::testing::{SIZES, model};
    use super::*;

    fn texts(lengths: &[usize], seed: u32) -> Vec<Vec<u32>> {
        let mut state = seed;
        let mut token = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % u32::try_from(SIZES[0].vocabulary).unwrap()
        };
        lengths
            .iter()
            .map(|length| (0..*length).map(|_| token()).collect())
            .collect()
    }

    fn bits(rows: &[Vec<f32>]) -> Vec<Vec<u32>> {
        rows.iter()
            .map(|row| row.iter().map(|number| number.to_bits()).collect())
            .collect()
    }

    #[test]
    fn no_text_gives_no_row() {
        let bert = Bert::new(model(&SIZES[0], 1), Isa::best());
        assert_eq!(bert.encode(&[]), Vec::<Vec<f32>>::new());
    }

    #[test]
    fn another_text_gives_another_row() {
        let bert = Bert::new(model(&SIZES[0], 1), Isa::best());
        let rows = bert.encode(&texts(&[5, 5], 3));
        assert!(rows[0] != rows[1] && rows[0].iter().all(|number| number.is_finite()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn all_instructions_give_the_same_bits_and_company_changes_none(
            lengths in proptest::collection::vec(1_usize..40, 1..6),
            size in 0..SIZES.len(),
            seed: u32,
        ) {
            let file = model(&SIZES[size], seed);
            let texts = texts(&lengths, seed);
            let plain = Bert::new(file.clone(), Isa::PORTABLE);
            let expected = bits(&plain.encode(&texts));
            for isa in Isa::all() {
                let bert = Bert::new(file.clone(), isa);
                prop_assert_eq!(bits(&bert.encode(&texts)), expected.clone(), "{}", isa.name());
                let alone: Vec<_> = texts.iter().flat_map(|text| bert.encode(std::slice::from_ref(text))).collect();
                prop_assert_eq!(bits(&alone), expected.clone(), "{} alone", isa.name());
            }
        }
    }
}
