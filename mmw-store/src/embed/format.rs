//! The file that holds a model: tokenizer, weights in eight bits, and what they are called.
//!
//! It is read where it lies (in the program itself, which the system maps and shares between
//! processes), so that loading copies nothing. The reader is tolerant of nothing: from the sizes in the
//! head follows where every part must lie, and a file that says otherwise in a single byte is refused.
//! What a number of the file means is said in [`layout`]; all numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `MMWMODEL` |
//! | 8..12 | version of the format, 1 |
//! | 12..16 | CRC-32 of all bytes from 16 on |
//! | 16..20 | pieces of the vocabulary |
//! | 20..24 | width of the hidden rows, a multiple of 32 |
//! | 24..28 | layers |
//! | 28..32 | heads of attention |
//! | 32..36 | width of the intermediate rows, a multiple of 32 |
//! | 36..40 | positions |
//! | 40..44 | window: the most tokens of a text |
//! | 44..48 | pooling: 0 the mean of all tokens, 1 the first token |
//! | 48..52 | what is added to a variance, as `f32` |
//! | 52..56 | parts |
//! | 56..60 | bytes of the model's name |
//! | 60..64 | bytes of the vocabulary |
//! | 64.. | the table: of each part its kind, layer, width of a number in bytes, 0 (`u16` each), its rows and columns (`u32`), where it begins and how many bytes it has (`u64`) |
//! | then | the parts in this order, each at a multiple of 64, zeros between |

mod layout;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub(super) use layout::{Kind, Part, parts};

use super::product::{INPUTS, OUTPUTS};

/// What the file begins with.
const MAGIC: [u8; 8] = *b"MMWMODEL";
/// The version of the format.
const VERSION: u32 = 1;
/// The bytes of the head before the table.
const HEAD_BYTES: usize = 64;
/// The bytes of an entry of the table.
const ENTRY_BYTES: usize = 32;
/// Parts begin at multiples of that: a register, a line of the cache.
const ALIGNMENT: usize = 64;
/// What the checksum covers begins there.
const CHECKED_FROM: usize = 16;

/// How the rows of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The row of the first token.
    First,
}

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// Pieces of the vocabulary.
    pub vocabulary: usize,
    /// Numbers of a token's row, and of a vector.
    pub hidden: usize,
    /// Layers of the encoder.
    pub layers: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Numbers of a row between the two halves of a layer.
    pub intermediate: usize,
    /// Positions that the model knows.
    pub positions: usize,
    /// The most tokens of a text, those around it included.
    pub window: usize,
    /// How rows become one vector.
    pub pooling: Pooling,
    /// What is added to a variance before its root is taken.
    pub epsilon: f32,
}

/// The least window: below it a piece of a long text says too little.
const MIN_WINDOW: usize = 32;

impl Config {
    /// Tells what is wrong with the sizes. Their limits keep every later sum within range.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        let limits = [
            ("vocabulary", self.vocabulary, 3..=1 << 20),
            ("hidden", self.hidden, 1..=4096),
            ("layers", self.layers, 1..=64),
            ("heads", self.heads, 1..=64),
            ("intermediate", self.intermediate, 1..=16_384),
            ("positions", self.positions, MIN_WINDOW..=8192),
            ("window", self.window, MIN_WINDOW..=self.positions),
        ];
        for (what, found, limits) in limits {
            if !limits.contains(&found) {
                return Err(FormatError::Size { what, found });
            }
        }
        let multiples = [
            ("hidden", self.hidden, OUTPUTS),
            ("hidden", self.hidden, self.heads),
            ("intermediate", self.intermediate, OUTPUTS),
        ];
        for (what, found, of) in multiples {
            if found % of != 0 {
                return Err(FormatError::Size { what, found });
            }
        }
        if !(0.0..0.1).contains(&self.epsilon) {
            return Err(FormatError::Epsilon);
        }
        Ok(())
    }
}

/// A file is not a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// It begins otherwise.
    #[error("it is not a model file: it does not begin with MMWMODEL")]
    Magic,
    /// It has another version.
    #[error("it has version {0} of the format, this program reads version {VERSION}")]
    Version(u32),
    /// A size is beyond its limits or does not fit another one.
    #[error("{what} is {found}, which no model has")]
    Size {
        /// Which of the sizes.
        what: &'static str,
        /// What stands there.
        found: usize,
    },
    /// The way to make one vector is unknown.
    #[error("pooling {0} is unknown")]
    Pooling(u32),
    /// What is added to a variance is no small number.
    #[error("what is added to a variance is no number from 0 to 0.1")]
    Epsilon,
    /// Parts do not lie where the sizes say.
    #[error("part {0} does not lie where the sizes say")]
    Part(usize),
    /// It ends elsewhere than the last part.
    #[error("it has {found} bytes, the sizes say {wanted}")]
    Length {
        /// The bytes that there are.
        found: usize,
        /// The bytes that there should be.
        wanted: usize,
    },
    /// It was changed.
    #[error("its checksum is wrong: it was damaged or cut short, make or fetch it again")]
    Checksum,
    /// A text in it is not UTF-8.
    #[error("its name or its vocabulary is not UTF-8")]
    Text,
    /// The vocabulary can't be used.
    #[error(
        "the vocabulary lacks a special token, holds a piece twice or has not as many as the head says"
    )]
    Vocabulary,
    /// It lies so that its numbers can't be read.
    #[error("it lies at an address that is no multiple of 4")]
    Address,
    /// Numbers of this processor are the other way round.
    #[error("this processor is big-endian, which is not supported")]
    Endian,
}

/// The bytes of a file, where they lie.
#[derive(Debug, Clone)]
enum Bytes {
    /// In the program.
    Fixed(&'static [u8]),
    /// In memory, eight bytes in each so that numbers lie well; the last one may be more than the file has.
    Read { words: Box<[u64]>, length: usize },
}

/// A model file that was read and found right.
#[derive(Debug, Clone)]
pub struct ModelFile {
    bytes: Bytes,
    config: Config,
    checksum: u32,
    parts: Vec<Range<usize>>,
}

impl ModelFile {
    /// Reads a file that is part of the program. Its checksum is left to the tests: it would bring the
    /// whole file into memory, of which a query needs half.
    ///
    /// # Errors
    /// [`FormatError`] says what is wrong with the file.
    pub fn of_program(bytes: &'static [u8]) -> Result<Self, FormatError> {
        Self::new(Bytes::Fixed(bytes))
    }

    /// Reads a file from anywhere, its checksum included. It is copied once.
    ///
    /// # Errors
    /// [`FormatError`] says what is wrong with the file.
    pub fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut words = vec![0_u64; bytes.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let read = Self::new(Bytes::Read {
            words: words.into(),
            length: bytes.len(),
        })?;
        if !read.is_intact() {
            return Err(FormatError::Checksum);
        }
        Ok(read)
    }

    fn new(bytes: Bytes) -> Result<Self, FormatError> {
        if cfg!(target_endian = "big") {
            return Err(FormatError::Endian);
        }
        let all = bytes.all();
        let head: &[u8; HEAD_BYTES] = all.first_chunk().ok_or(FormatError::Magic)?;
        if !head.starts_with(&MAGIC) {
            return Err(FormatError::Magic);
        }
        let word = |nth: usize| {
            let at = MAGIC.len() + 4 * nth;
            u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
        };
        let size = |nth: usize| usize::try_from(word(nth)).unwrap_or(usize::MAX);
        if word(0) != VERSION {
            return Err(FormatError::Version(word(0)));
        }
        let config = Config {
            vocabulary: size(2),
            hidden: size(3),
            layers: size(4),
            heads: size(5),
            intermediate: size(6),
            positions: size(7),
            window: size(8),
            pooling: match word(9) {
                0 => Pooling::Mean,
                1 => Pooling::First,
                other => return Err(FormatError::Pooling(other)),
            },
            epsilon: f32::from_bits(word(10)),
        };
        config.check()?;
        let parts = parts(&config, size(12), size(13))?;
        if size(11) != parts.len() {
            return Err(FormatError::Size {
                what: "the number of parts",
                found: size(11),
            });
        }
        let ranges = lying(&parts);
        let wanted = ranges.last().map_or(0, |last| last.end);
        if all.len() != wanted {
            let found = all.len();
            return Err(FormatError::Length { found, wanted });
        }
        let mut end = HEAD_BYTES + parts.len() * ENTRY_BYTES;
        for (nth, (part, range)) in parts.iter().zip(&ranges).enumerate() {
            let entry = &all[HEAD_BYTES + nth * ENTRY_BYTES..][..ENTRY_BYTES];
            let between = &all[end..range.start];
            if entry != part.entry(range) || between.iter().any(|byte| *byte != 0) {
                return Err(FormatError::Part(nth));
            }
            end = range.end;
        }
        if all.as_ptr().align_offset(align_of::<f32>()) != 0 {
            return Err(FormatError::Address);
        }
        let file = Self {
            checksum: word(1),
            config,
            parts: ranges,
            bytes,
        };
        let texts = [Kind::Name, Kind::Vocabulary];
        if texts
            .iter()
            .any(|kind| std::str::from_utf8(file.part(*kind, 0)).is_err())
        {
            return Err(FormatError::Text);
        }
        Ok(file)
    }

    /// Tells whether the bytes are those that were written.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        crc32fast::hash(&self.bytes.all()[CHECKED_FROM..]) == self.checksum
    }

    /// Returns the sizes of the model.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the checksum that the file names.
    #[must_use]
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Returns the model's name.
    #[must_use]
    pub fn name(&self) -> &str {
        std::str::from_utf8(self.part(Kind::Name, 0)).unwrap_or_default()
    }

    /// Returns the vocabulary, one piece a line.
    #[must_use]
    pub fn vocabulary(&self) -> &str {
        std::str::from_utf8(self.part(Kind::Vocabulary, 0)).unwrap_or_default()
    }

    /// Returns a part as it lies.
    pub(super) fn part(&self, kind: Kind, layer: usize) -> &[u8] {
        &self.bytes.all()[self.parts[kind.place(layer)].clone()]
    }

    /// Returns a part as numbers or arrays of them.
    pub(super) fn numbers<T: bytemuck::AnyBitPattern>(&self, kind: Kind, layer: usize) -> &[T] {
        // Every part begins at a multiple of 64 of a file that lies at a multiple of 4, and its
        // length follows from the sizes, which are multiples of what is asked for.
        bytemuck::cast_slice(self.part(kind, layer))
    }
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Read { words, length } => &bytemuck::cast_slice(words)[..*length],
        }
    }
}

/// Returns where parts lie, one after the other.
fn lying(parts: &[Part]) -> Vec<Range<usize>> {
    let mut end = HEAD_BYTES + parts.len() * ENTRY_BYTES;
    let mut ranges = Vec::with_capacity(parts.len());
    for part in parts {
        let start = end.next_multiple_of(ALIGNMENT);
        end = start + part.n_bytes();
        ranges.push(start..end);
    }
    ranges
}

/// Returns the bytes of a file with these parts.
///
/// # Errors
/// [`FormatError`] if the sizes are beyond their limits or a part has another length than they say.
pub(super) fn write(config: &Config, contents: &[Vec<u8>]) -> Result<Vec<u8>, FormatError> {
    config.check()?;
    let length = |kind: Kind| contents.get(kind.place(0)).map_or(0, Vec::len);
    let (name, vocabulary) = (length(Kind::Name), length(Kind::Vocabulary));
    let parts = parts(config, name, vocabulary)?;
    let ranges = lying(&parts);
    let sizes = [
        config.vocabulary,
        config.hidden,
        config.layers,
        config.heads,
        config.intermediate,
        config.positions,
        config.window,
    ];
    let pooling: u32 = match config.pooling {
        Pooling::Mean => 0,
        Pooling::First => 1,
    };
    let word = |size: usize| u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes();
    let mut file = Vec::new();
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend([0; 4]);
    file.extend(sizes.into_iter().flat_map(word));
    file.extend(pooling.to_le_bytes());
    file.extend(config.epsilon.to_bits().to_le_bytes());
    file.extend([parts.len(), name, vocabulary].into_iter().flat_map(word));
    for (part, range) in parts.iter().zip(&ranges) {
        file.extend(part.entry(range));
    }
    for (nth, range) in ranges.iter().enumerate() {
        file.resize(range.start, 0);
        file.extend(contents.get(nth).into_iter().flatten());
        if file.len() != range.end {
            return Err(FormatError::Part(nth));
        }
    }
    let checksum = crc32fast::hash(&file[CHECKED_FROM..]);
    file[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
    Ok(file)
}

/// Returns weights in the order in which they are multiplied: of each 16 outputs, and of each 4 inputs,
/// the weights of all outputs in turn. `rows` has a row of `n_inputs` for each output.
pub(super) fn pack(rows: &[i8], n_inputs: usize) -> Vec<u8> {
    let n_outputs = rows.len() / n_inputs;
    let mut packed = Vec::with_capacity(rows.len());
    for block in (0..n_outputs).step_by(super::product::BLOCK) {
        for input in (0..n_inputs).step_by(INPUTS) {
            for output in block..block + super::product::BLOCK {
                let four = &rows[output * n_inputs + input..][..INPUTS];
                packed.extend(four.iter().map(|weight| weight.cast_unsigned()));
            }
        }
    }
    packed
}
