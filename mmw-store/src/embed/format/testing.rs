//! Small models with made-up weights, for tests.

use super::super::product::BLOCK;
use super::{Config, Kind, ModelFile, Pooling, pack, parts, write};

const SMALL: Config = Config {
    vocabulary: 60,
    hidden: 32,
    layers: 2,
    heads: 2,
    intermediate: 64,
    positions: 64,
    window: 48,
    pooling: Pooling::Mean,
    epsilon: 1e-12,
};

/// Sizes that take every way through the kernels: heads of 16, 32 and 64 numbers, both poolings.
pub(in super::super) const SIZES: [Config; 3] = [
    SMALL,
    Config {
        hidden: 64,
        pooling: Pooling::First,
        layers: 1,
        ..SMALL
    },
    Config {
        hidden: 128,
        intermediate: 32,
        layers: 1,
        ..SMALL
    },
];

/// Returns a vocabulary of letters and a few special tokens.
pub(in super::super) fn vocabulary(pieces: usize) -> String {
    let letters = ('a'..='z').map(String::from);
    let continued = ('a'..='z').map(|c| format!("##{c}"));
    let special = ["[UNK]", "[CLS]", "[SEP]"].map(str::to_owned);
    let all: Vec<String> = special
        .into_iter()
        .chain(letters)
        .chain(continued)
        .chain((0..).map(|nth| format!("[unused{nth}]")))
        .take(pieces)
        .collect();
    all.join("\n")
}

/// Returns the bytes of a model whose weights come from a seed.
pub(in super::super) fn bytes(config: &Config, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let mut bytes = |n: usize| -> Vec<i8> { (0..n).map(|_| (next() % 255) as i8).collect() };
    let mut contents = vec![
        b"small".to_vec(),
        vocabulary(config.vocabulary).into_bytes(),
    ];
    let parts = parts(config, contents[0].len(), contents[1].len()).unwrap();
    let mut sums: Vec<u8> = Vec::new();
    for part in parts.iter().skip(contents.len()) {
        let n = part.n_bytes();
        let floats = |numbers: Vec<i8>, scale: f32| -> Vec<u8> {
            let numbers = numbers.into_iter().map(|number| f32::from(number) * scale);
            numbers.flat_map(f32::to_le_bytes).collect()
        };
        contents.push(match part.kind() {
            Kind::Name | Kind::Vocabulary => Vec::new(),
            Kind::Pieces => bytes(n).into_iter().map(i8::cast_unsigned).collect(),
            Kind::MixWeights | Kind::OutWeights | Kind::UpWeights | Kind::DownWeights => {
                let rows = bytes(n);
                let n_inputs = part.columns();
                let sum = |row: &[i8]| row.iter().map(|weight| i32::from(*weight)).sum::<i32>();
                let of_rows = rows.chunks_exact(n_inputs).map(sum);
                sums = of_rows.flat_map(i32::to_le_bytes).collect();
                assert_eq!(rows.len() % (n_inputs * BLOCK), 0);
                pack(&rows, n_inputs)
            }
            Kind::MixSums | Kind::OutSums | Kind::UpSums | Kind::DownSums => sums.clone(),
            Kind::PieceScales
            | Kind::Positions
            | Kind::FirstNorm
            | Kind::MidNorm
            | Kind::LastNorm => floats(bytes(n / 4), 0.01),
            Kind::MixScales | Kind::OutScales | Kind::UpScales | Kind::DownScales => {
                floats(bytes(n / 4), 0.001)
            }
        });
    }
    write(config, &contents).unwrap()
}

/// Returns a model whose weights come from a seed.
pub(in super::super) fn model(config: &Config, seed: u32) -> ModelFile {
    ModelFile::read(&bytes(config, seed)).unwrap()
}
