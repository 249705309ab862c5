//! Tokens are those of the `tokenizers` crate: on all text of this repository, on every character and
//! on arbitrary strings.

use std::path::Path;

use mmw_store::embed::WordPiece;
use proptest::prelude::*;
use tokenizers::Tokenizer;
use tokenizers::models::wordpiece::WordPiece as ReferenceModel;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;

pub(super) struct Both {
    own: WordPiece,
    reference: Tokenizer,
}

impl Both {
    pub(super) fn new() -> Self {
        let model = super::model();
        let vocabulary = model.file().vocabulary();
        let numbered =
            ReferenceModel::read_bytes(vocabulary.as_bytes()).expect("the vocabulary is one");
        let reference = ReferenceModel::builder()
            .vocab(numbered)
            .unk_token("[UNK]".to_owned())
            .build()
            .expect("it has its unknown token");
        let mut reference = Tokenizer::new(reference);
        reference
            .with_normalizer(Some(BertNormalizer::default()))
            .with_pre_tokenizer(Some(BertPreTokenizer));
        Self {
            own: model.tokenizer().clone(),
            reference,
        }
    }

    fn check(&self, text: &str) {
        let found = self.own.encode(text);
        let inner = &found[1..found.len() - 1];
        assert_eq!(inner, self.of_reference(text), "{text:?}");
        assert_eq!((found[0], found[found.len() - 1]), (101, 102));
    }

    /// Returns the tokens of the reference, without those around the text.
    pub(super) fn of_reference(&self, text: &str) -> Vec<u32> {
        let encoding = self.reference.encode_fast(text, false);
        encoding.expect("any text has tokens").get_ids().to_vec()
    }
}

/// Calls `take` with every text file of the repository.
fn texts(folder: &Path, take: &mut impl FnMut(&str)) {
    for entry in std::fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it is still there").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_source = |known: &[&str]| {
            known
                .iter()
                .any(|known| path.extension().is_some_and(|found| found == *known))
        };
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "ci", "node_modules"].contains(&&*name) {
                texts(&path, take);
            }
        } else if is_source(&["rs", "md", "toml", "sql", "json", "txt", "py", "jsonl"])
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            take(&text);
        }
    }
}

#[test]
fn all_text_of_the_repository_has_the_tokens_of_the_reference() {
    let both = Both::new();
    let mut n_lines = 0;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    texts(root, &mut |text| {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            both.check(line);
            n_lines += 1;
        }
    });
    assert!(n_lines > 20_000, "only {n_lines} lines");
}

#[test]
fn every_character_has_the_tokens_of_the_reference() {
    let both = Both::new();
    // The planes that have characters; the others are unassigned or private throughout.
    let planes = (0..0x4_0000)
        .chain(0xe_0000..0xe_1000)
        .chain(0xf_0000..0xf_0040);
    let characters: Vec<char> = planes.filter_map(char::from_u32).collect();
    for some in characters.chunks(32) {
        let mut text = String::new();
        for c in some {
            text.extend(['a', *c, 'b', ' ', *c, ' ']);
        }
        both.check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_text_has_the_tokens_of_the_reference(
        texts in proptest::collection::vec(
            prop_oneof![
                any::<String>(),
                "\\PC{0,40}",
                "[a-zA-Z0-9 .,'_#-]{0,60}",
                "[a-zÀ-žά-ώа-яё\u{300}-\u{36f}\u{200b}-\u{200f}一-丂가-각 #\\[\\]]{0,40}",
                "[a-z]{95,105}",
            ],
            20,
        ),
    ) {
        thread_local!(static BOTH: Both = Both::new());
        BOTH.with(|both| texts.iter().for_each(|text| both.check(text)));
    }
}
