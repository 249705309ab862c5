//! Reads a model file as its description says, and turns its eight bits back into numbers.
//!
//! The description is that of `mmw_store::embed::ModelFile`; nothing of its code is used, so that a
//! mistake which writer and reader of the product share would be seen.

/// What is in a part: its number in the table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Pieces = 2,
    PieceScales = 3,
    Positions = 4,
    FirstNorm = 5,
    MixWeights = 6,
    MixScales = 7,
    OutWeights = 9,
    OutScales = 10,
    MidNorm = 12,
    UpWeights = 13,
    UpScales = 14,
    DownWeights = 16,
    DownScales = 17,
    LastNorm = 19,
}

/// The bytes of a model file.
pub(super) struct Published<'a>(pub(super) &'a [u8]);

/// A matrix and what is added to its product.
pub(super) struct Dense {
    pub(super) n_inputs: usize,
    pub(super) n_outputs: usize,
    /// Of each input, the weights of all outputs.
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Published<'_> {
    fn number(&self, at: usize, bytes: usize) -> usize {
        let read = self.0[at..][..bytes].iter().rev();
        read.fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    pub(super) fn hidden(&self) -> usize {
        self.number(20, 4)
    }

    pub(super) fn layers(&self) -> usize {
        self.number(24, 4)
    }

    pub(super) fn heads(&self) -> usize {
        self.number(28, 4)
    }

    pub(super) fn epsilon(&self) -> f32 {
        f32::from_bits(u32::try_from(self.number(48, 4)).expect("four bytes"))
    }

    /// Returns the rows, the columns and the bytes of a part.
    fn part(&self, kind: Kind, layer: usize) -> (usize, usize, &[u8]) {
        let entry = (0..self.number(52, 4))
            .map(|nth| 64 + 32 * nth)
            .find(|at| self.number(*at, 2) == kind as usize && self.number(at + 2, 2) == layer)
            .expect("the table names the part");
        let bytes = &self.0[self.number(entry + 16, 8)..][..self.number(entry + 24, 8)];
        (self.number(entry + 8, 4), self.number(entry + 12, 4), bytes)
    }

    /// Returns a part that is in 32 bits.
    pub(super) fn floats(&self, kind: Kind, layer: usize) -> Vec<f32> {
        let (numbers, _) = self.part(kind, layer).2.as_chunks();
        numbers
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect()
    }

    /// Returns the two rows of a part that is in 32 bits.
    pub(super) fn two(&self, kind: Kind, layer: usize) -> [Vec<f32>; 2] {
        let mut first = self.floats(kind, layer);
        let second = first.split_off(first.len() / 2);
        [first, second]
    }

    /// Returns the row of each piece of the vocabulary.
    pub(super) fn pieces(&self) -> Vec<f32> {
        let (_, columns, bytes) = self.part(Kind::Pieces, 0);
        let scales = self.floats(Kind::PieceScales, 0);
        let rows = bytes.chunks_exact(columns).zip(scales);
        rows.flat_map(|(row, scale)| row.iter().map(move |byte| f32::from(*byte as i8) * scale))
            .collect()
    }

    /// Returns a matrix with its parts `nth` to `nth + 1` of `of` equal ones of its outputs.
    pub(super) fn dense(
        &self,
        [weights, scales]: [Kind; 2],
        layer: usize,
        (nth, of): (usize, usize),
    ) -> Dense {
        let (rows, n_inputs, bytes) = self.part(weights, layer);
        let [scales, bias] = self.two(scales, layer);
        let n_outputs = rows / of;
        let first = nth * n_outputs;
        let mut weights = vec![0.0; n_inputs * n_outputs];
        for (at, byte) in bytes.iter().enumerate() {
            // Of each 16 outputs and each 4 inputs, four weights of each output.
            let (four, input) = (at / 4, at % 4);
            let (group, output) = (four / 16, four % 16);
            let input = group % (n_inputs / 4) * 4 + input;
            let output = group / (n_inputs / 4) * 16 + output;
            if (first..first + n_outputs).contains(&output) {
                weights[input * n_outputs + output - first] =
                    f32::from(*byte as i8) * scales[output];
            }
        }
        Dense {
            n_inputs,
            n_outputs,
            weights,
            bias: bias[first..][..n_outputs].to_vec(),
        }
    }
}
