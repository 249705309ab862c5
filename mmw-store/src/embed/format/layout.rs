//! Which parts a model file has, in which order, and what is in each.

use std::ops::Range;

use super::{Config, FormatError};

/// What is in a part. The number is the one of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// The model's name, UTF-8.
    Name = 0,
    /// One piece a line, UTF-8; the first has number 0.
    Vocabulary = 1,
    /// Of each piece a row, in eight bits.
    Pieces = 2,
    /// What a number of each piece stands for.
    PieceScales = 3,
    /// Of each position a row; that of the first type of token is added to it.
    Positions = 4,
    /// Gain and shift of the normalisation before the first layer.
    FirstNorm = 5,
    /// Query, key and value: weights in eight bits, packed.
    MixWeights = 6,
    /// What a weight of each output stands for, then what is added to it.
    MixScales = 7,
    /// The sum of each output's weights, whole numbers of 32 bits.
    MixSums = 8,
    /// What attention ends with; as above.
    OutWeights = 9,
    OutScales = 10,
    OutSums = 11,
    /// Gain and shift after attention.
    MidNorm = 12,
    /// From hidden to intermediate rows; as above.
    UpWeights = 13,
    UpScales = 14,
    UpSums = 15,
    /// And back.
    DownWeights = 16,
    DownScales = 17,
    DownSums = 18,
    /// Gain and shift after the layer.
    LastNorm = 19,
}

/// The parts that there are once, in order.
const ONCE: [Kind; 6] = [
    Kind::Name,
    Kind::Vocabulary,
    Kind::Pieces,
    Kind::PieceScales,
    Kind::Positions,
    Kind::FirstNorm,
];

/// The parts of each layer, in order.
const EACH: [Kind; 14] = [
    Kind::MixWeights,
    Kind::MixScales,
    Kind::MixSums,
    Kind::OutWeights,
    Kind::OutScales,
    Kind::OutSums,
    Kind::MidNorm,
    Kind::UpWeights,
    Kind::UpScales,
    Kind::UpSums,
    Kind::DownWeights,
    Kind::DownScales,
    Kind::DownSums,
    Kind::LastNorm,
];

impl Kind {
    /// Returns the place of the part in the table.
    pub(in super::super) fn place(self, layer: usize) -> usize {
        let nth = self as usize;
        match nth.checked_sub(ONCE.len()) {
            None => nth,
            Some(_) => nth + layer * EACH.len(),
        }
    }
}

/// A part: what is in it, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Part {
    kind: Kind,
    layer: usize,
    width: usize,
    rows: usize,
    columns: usize,
}

impl Part {
    /// Returns how many bytes it has.
    pub(super) fn n_bytes(&self) -> usize {
        self.width * self.rows * self.columns
    }

    #[cfg(test)]
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    #[cfg(test)]
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns its entry of the table.
    pub(super) fn entry(&self, range: &Range<usize>) -> [u8; super::ENTRY_BYTES] {
        let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes();
        let word = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let long = |number: usize| u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes();
        let mut entry = [0; super::ENTRY_BYTES];
        entry[0..2].copy_from_slice(&short(self.kind as usize));
        entry[2..4].copy_from_slice(&short(self.layer));
        entry[4..6].copy_from_slice(&short(self.width));
        entry[8..12].copy_from_slice(&word(self.rows));
        entry[12..16].copy_from_slice(&word(self.columns));
        entry[16..24].copy_from_slice(&long(range.start));
        entry[24..32].copy_from_slice(&long(range.len()));
        entry
    }
}

/// The most bytes of a name.
const MAX_NAME: usize = 256;
/// The most bytes of all parts.
const MAX_FILE: u64 = 1 << 30;
/// The most bytes of a vocabulary.
const MAX_VOCABULARY: usize = 64 << 20;

/// Returns the parts of a model of these sizes, which were checked.
///
/// # Errors
/// [`FormatError::Size`] if name or vocabulary are beyond their limits.
pub(in super::super) fn parts(
    config: &Config,
    name_bytes: usize,
    vocabulary_bytes: usize,
) -> Result<Vec<Part>, FormatError> {
    let limits = [
        ("the name", name_bytes, MAX_NAME),
        ("the vocabulary", vocabulary_bytes, MAX_VOCABULARY),
    ];
    for (what, found, most) in limits {
        if found == 0 || found > most {
            return Err(FormatError::Size { what, found });
        }
    }
    let part = |kind: Kind, layer: usize| {
        let (hidden, between) = (config.hidden, config.intermediate);
        let (width, rows, columns) = match kind {
            Kind::Name => (1, 1, name_bytes),
            Kind::Vocabulary => (1, 1, vocabulary_bytes),
            Kind::Pieces => (1, config.vocabulary, hidden),
            Kind::PieceScales => (4, 1, config.vocabulary),
            Kind::Positions => (4, config.positions, hidden),
            Kind::FirstNorm | Kind::MidNorm | Kind::LastNorm => (4, 2, hidden),
            Kind::MixWeights => (1, 3 * hidden, hidden),
            Kind::MixScales => (4, 2, 3 * hidden),
            Kind::MixSums => (4, 1, 3 * hidden),
            Kind::OutWeights => (1, hidden, hidden),
            Kind::OutScales | Kind::DownScales => (4, 2, hidden),
            Kind::OutSums | Kind::DownSums => (4, 1, hidden),
            Kind::UpWeights => (1, between, hidden),
            Kind::UpScales => (4, 2, between),
            Kind::UpSums => (4, 1, between),
            Kind::DownWeights => (1, hidden, between),
        };
        Part {
            kind,
            layer,
            width,
            rows,
            columns,
        }
    };
    let once = ONCE.map(|kind| part(kind, 0));
    let each = (0..config.layers).flat_map(|layer| EACH.map(|kind| part(kind, layer)));
    let parts: Vec<Part> = once.into_iter().chain(each).collect();
    // In 64 bits, so that no sum of lengths leaves the range of a smaller processor.
    let long = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let n_bytes = parts.iter().fold(0_u64, |sum, part| {
        sum.saturating_add(long(part.width) * long(part.rows) * long(part.columns))
    });
    if n_bytes > MAX_FILE {
        return Err(FormatError::Size {
            what: "the sum of all parts in bytes",
            found: usize::try_from(n_bytes).unwrap_or(usize::MAX),
        });
    }
    Ok(parts)
}
