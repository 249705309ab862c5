//! Vectors are near those of the published weights, and the same bits on every kind of instructions.

use mmw_store::embed::{Embedder, LocalModel, Passage, Vector};

use super::model;

/// How near a vector must be to the one that was computed in full precision.
pub(super) const NEAR: f32 = 0.99;
/// The same for a text without any word: there is little to point anywhere, so eight bits turn it more.
pub(super) const NEAR_WITHOUT_WORDS: f32 = 0.98;

pub(super) fn sentences() -> Vec<String> {
    include_str!("data/sentences.txt")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is a text"))
        .collect()
}

fn embed(model: &LocalModel, texts: &[String]) -> Vec<Vector> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    model.embed(&texts).expect("they fit")
}

fn bits(vectors: &[Vector]) -> Vec<u32> {
    let numbers = vectors.iter().flat_map(Vector::values);
    numbers.map(|number| number.to_bits()).collect()
}

#[test]
fn every_vector_is_near_to_the_one_of_the_published_weights() {
    let sentences = sentences();
    let vectors = embed(&model(), &sentences);
    let (numbers, _) = include_bytes!("data/reference.f32").as_chunks();
    let numbers: Vec<f32> = numbers
        .iter()
        .map(|four| f32::from_le_bytes(*four))
        .collect();
    let reference = numbers.chunks_exact(384);
    assert_eq!(reference.len(), sentences.len());
    let mut sum = 0.0;
    for ((sentence, vector), reference) in sentences.iter().zip(&vectors).zip(reference) {
        let reference = Vector::new(reference.to_vec()).unwrap();
        let cosine = vector.cosine(&reference);
        let has_words = sentence.chars().any(char::is_alphanumeric);
        let near = if has_words { NEAR } else { NEAR_WITHOUT_WORDS };
        assert!(cosine >= near, "{cosine} {sentence}");
        sum += cosine;
    }
    let mean = sum / sentences.len() as f32;
    assert!(mean >= 0.995, "{mean}");
}

#[test]
fn all_instructions_give_the_same_bits() {
    // Portable arithmetic is slow without optimisation: the short sentences are enough.
    let sentences: Vec<String> = sentences()
        .into_iter()
        .filter(|s| s.len() < 60)
        .take(12)
        .collect();
    let models = model().with_all_instructions();
    let expected = bits(&embed(&models[0], &sentences));
    assert_eq!(models[0].instructions(), "portable");
    for model in &models {
        assert_eq!(
            bits(&embed(model, &sentences)),
            expected,
            "{}",
            model.instructions()
        );
    }
}

/// Changes when a vector changes in its last bit, on any processor: stored vectors would not compare.
#[test]
fn the_bits_are_those_that_stores_were_written_with() {
    let bytes: Vec<u8> = bits(&embed(&model(), &sentences()))
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    assert_eq!(crc32fast::hash(&bytes), GOLDEN);
}

const GOLDEN: u32 = 3_254_376_311;

#[test]
fn a_text_has_the_same_vector_alone_and_in_company() {
    let sentences = sentences();
    let model = model();
    let together = embed(&model, &sentences);
    for (sentence, vector) in sentences.iter().zip(&together).step_by(7) {
        assert_eq!(&embed(&model, std::slice::from_ref(sentence))[0], vector);
    }
}

#[test]
fn like_meaning_is_nearer_than_unlike() {
    let model = model();
    let near = |a: &str, b: &str| {
        let vectors = model.embed(&[a, b]).unwrap();
        vectors[0].cosine(&vectors[1])
    };
    let asked = "which database do the integration tests need?";
    let fact = "[2026-03-14] Ann: tests run against PostgreSQL 16";
    assert!(near(asked, fact) > near(asked, "the office has a new coffee machine") + 0.3);
}

#[test]
fn the_last_word_of_a_long_record_is_found_by_meaning() {
    let model = model();
    let filler =
        "The committee met again and spoke about the budget of the coming year. ".repeat(60);
    let fact = format!("{filler}The parrot's name is Humboldt.");
    let passage = Passage {
        date: Some("2026-03-14"),
        who: Some("Ann"),
        fact: &fact,
    };
    let pieces = model.pieces(&passage);
    let texts: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let vectors = model.embed(&texts).unwrap();
    let asked = model
        .embed(&["what is the bird called?"])
        .unwrap()
        .remove(0);
    let cosines: Vec<f32> = vectors.iter().map(|vector| vector.cosine(&asked)).collect();
    let best = (0..cosines.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
    assert!(
        pieces.len() > 3 && best == Some(pieces.len() - 1),
        "{cosines:?}"
    );
}
