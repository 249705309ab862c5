//! Vectors are near those of another engine: `rten` runs the same weights in full precision.
//!
//! It shares with ours the committed file and nothing else: the file is read anew by its description,
//! tokens are those of the `tokenizers` crate, and the encoder is a graph of ONNX's operators.

mod graph;
mod published;

use mmw_store::embed::{Embedder, Passage, Vector};
use rten::{Model, ModelOptions, Value};

use super::model;
use super::tokens::Both;
use super::vectors::{NEAR, NEAR_WITHOUT_WORDS, sentences};
use published::Published;

struct Witness {
    model: Model,
    tokens: Both,
}

impl Witness {
    fn new() -> Self {
        let bytes = include_bytes!("../../assets/minilm-l6-v2.mmw");
        let graph = graph::write(&Published(bytes));
        Self {
            model: ModelOptions::with_all_ops()
                // Once for all texts, or most of the time would go into it.
                .prepack_weights(true)
                .load(graph)
                .expect("the graph is one"),
            tokens: Both::new(),
        }
    }

    fn embed(&self, text: &str) -> Vector {
        let mut tokens = vec![101];
        tokens.extend(self.tokens.of_reference(text));
        tokens.push(102);
        let input = |name: &str, numbers: Vec<i32>| {
            let node = self.model.node_id(name).expect("the graph has it");
            let value = Value::from_shape([numbers.len()], numbers).expect("it is one row");
            (node, value.into())
        };
        let positions = (0..).take(tokens.len()).collect();
        let tokens = tokens.into_iter().map(u32::cast_signed).collect();
        let inputs = vec![input("tokens", tokens), input("positions", positions)];
        let outputs = [self.model.output_ids()[0]];
        let [mean] = self.model.run_n(inputs, outputs, None).expect("it runs");
        let ([_], numbers) = mean.into_shape_vec::<f32, 1>().expect("a row of numbers");
        Vector::new(numbers).expect("it points somewhere")
    }
}

/// Numbers that look like chance and are the same on every run.
struct Chance(u32);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % n
    }
}

/// Returns texts that no change of the repository changes: prose and code, line by line and in pieces
/// as long as the model reads, and words and letters by chance.
fn corpus() -> Vec<String> {
    let model = model();
    let mut texts = Vec::new();
    for text in [
        include_str!("../../assets/LICENSE"),
        include_str!("data/reference.py"),
    ] {
        let lines = text.lines().map(str::trim).filter(|line| line.len() > 2);
        texts.extend(lines.step_by(2).map(str::to_owned));
        let pieces = model.pieces(&Passage {
            date: Some("2026-03-14"),
            who: Some("Ann"),
            fact: text,
        });
        texts.extend(pieces.into_iter().step_by(3));
    }
    let pieces: Vec<&str> = model.file().vocabulary().lines().collect();
    let mut chance = Chance(1);
    for n_words in [1, 2, 3, 5, 8, 13, 21, 34] {
        for _ in 0..12 {
            let words = (0..n_words).map(|_| pieces[chance.below(pieces.len())].trim_matches('#'));
            texts.push(words.collect::<Vec<_>>().join(" "));
        }
    }
    let scripts = [
        'а'..='я',
        'α'..='ω',
        'א'..='ת',
        'ء'..='ي',
        'अ'..='ह',
        'ก'..='ฮ',
        'ぁ'..='ん',
        'ァ'..='ン',
        '一'..='龥',
        '가'..='힣',
        '🌀'..='🗿',
        '!'..='~',
        'À'..='ž',
    ];
    for letters in scripts {
        let letters: Vec<char> = letters.collect();
        for n_words in [1, 3, 9] {
            let word = |chance: &mut Chance| -> String {
                (0..1 + chance.below(7))
                    .map(|_| letters[chance.below(letters.len())])
                    .collect()
            };
            let words: Vec<String> = (0..n_words).map(|_| word(&mut chance)).collect();
            texts.push(words.join(" "));
        }
    }
    texts
}

#[test]
fn every_vector_is_near_to_the_one_of_another_engine() {
    let model = model();
    let witness = Witness::new();
    let mut texts = sentences();
    texts.extend(corpus());
    assert!(texts.len() > 300, "only {} texts", texts.len());
    let mut sum = 0.0;
    for text in &texts {
        let own = model.embed(&[text]).expect("it fits").remove(0);
        let cosine = own.cosine(&witness.embed(text));
        let has_words = text.chars().any(char::is_alphanumeric);
        let near = if has_words { NEAR } else { NEAR_WITHOUT_WORDS };
        assert!(cosine >= near, "{cosine} {text:?}");
        sum += cosine;
    }
    let mean = sum / texts.len() as f32;
    assert!(mean >= 0.996, "{mean}");
}
