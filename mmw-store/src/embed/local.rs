//! A model that runs here: tokenizer and encoder together, as an [`Embedder`].

use super::bert::Bert;
use super::chunk::cut;
use super::format::{FormatError, ModelFile};
use super::language::is_latin;
use super::simd::Isa;
use super::{EmbedError, Embedder, ModelId, Passage, TEMPLATE_VERSION, Vector, WordPiece};

/// Tokens that are worked on together: enough to read weights once for many, few enough that what
/// lies between stays near the processor (about 6 MB with the built-in model).
const BATCH_TOKENS: usize = 256;

/// Tokens that the pieces of a long text have in common.
const OVERLAP: usize = 32;

/// Vocabularies of one language have some 30,000 tokens, those of many more than this.
const TOKENS_OF_MANY_LANGUAGES: usize = 60_000;

/// Which instructions of the processor are used. All give the same vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// The fastest that this processor has.
    Best,
    /// Those of every processor: for comparing.
    Portable,
}

/// A model that runs in this program, on the calling thread.
#[derive(Debug, Clone)]
pub struct LocalModel {
    id: ModelId,
    tokenizer: WordPiece,
    bert: Bert,
}

impl LocalModel {
    /// Returns the model of a file.
    ///
    /// # Errors
    /// [`FormatError::Vocabulary`] if its vocabulary does not fit it.
    pub fn new(file: ModelFile, instructions: Instructions) -> Result<Self, FormatError> {
        let isa = match instructions {
            Instructions::Best => Isa::best(),
            Instructions::Portable => Isa::PORTABLE,
        };
        Self::with(file, isa)
    }

    fn with(file: ModelFile, isa: Isa) -> Result<Self, FormatError> {
        let tokenizer = WordPiece::new(file.vocabulary()).ok_or(FormatError::Vocabulary)?;
        if tokenizer.len() != file.config().vocabulary {
            return Err(FormatError::Vocabulary);
        }
        let id = ModelId {
            name: format!("{}@{:08x}", file.name(), file.checksum()),
            dimensions: file.config().hidden,
            template: TEMPLATE_VERSION,
        };
        let bert = Bert::new(file, isa);
        Ok(Self {
            id,
            tokenizer,
            bert,
        })
    }

    /// Returns the same model once for every kind of instructions that this processor has.
    #[must_use]
    pub fn with_all_instructions(&self) -> Vec<Self> {
        let with = |isa| Self {
            bert: Bert::new(self.bert.file().clone(), isa),
            ..self.clone()
        };
        Isa::all().into_iter().map(with).collect()
    }

    /// Returns the name of the instructions that are used.
    #[must_use]
    pub fn instructions(&self) -> &'static str {
        self.bert.isa().name()
    }

    /// Returns the model's file.
    #[must_use]
    pub fn file(&self) -> &ModelFile {
        self.bert.file()
    }

    /// Returns the tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &WordPiece {
        &self.tokenizer
    }

    fn window(&self) -> usize {
        self.file().config().window
    }
}

impl Embedder for LocalModel {
    fn model(&self) -> &ModelId {
        &self.id
    }

    /// Every piece begins with the passage's head, unless that alone is more than a quarter of the
    /// window: then it is part of the text that is cut.
    fn pieces(&self, passage: &Passage<'_>) -> Vec<String> {
        let count = |text: &str| self.tokenizer.count(text);
        // Two of the window are for the tokens around the text.
        let budget = self.window() - 2;
        let head = passage.head();
        let head_tokens = count(&head);
        if head_tokens > budget / 4 {
            let text = passage.text();
            let pieces = cut(&text, budget, OVERLAP.min(budget / 4), count);
            return pieces
                .into_iter()
                .map(|piece| text[piece].to_owned())
                .collect();
        }
        // The head ends with a space, so head and piece count together what they count apart.
        let budget = budget - head_tokens;
        cut(passage.fact, budget, OVERLAP.min(budget / 4), count)
            .into_iter()
            .map(|piece| format!("{head}{}", &passage.fact[piece]))
            .collect()
    }

    fn reads(&self, text: &str) -> bool {
        self.tokenizer.len() >= TOKENS_OF_MANY_LANGUAGES || is_latin(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let window = self.window();
        let mut encoded = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let tokens = self.tokenizer.encode(text);
            let n_tokens = tokens.len();
            if n_tokens > window {
                return Err(EmbedError::TooLong {
                    index,
                    n_tokens,
                    window,
                });
            }
            encoded.push(tokens);
        }
        let mut vectors = Vec::with_capacity(texts.len());
        let mut rest = &encoded[..];
        while !rest.is_empty() {
            let mut n_tokens = 0;
            let fits = rest.iter().take_while(|tokens| {
                n_tokens += tokens.len();
                n_tokens <= BATCH_TOKENS
            });
            let (batch, after) = rest.split_at(fits.count().max(1));
            for row in self.bert.encode(batch) {
                let index = vectors.len();
                vectors.push(Vector::new(row).ok_or(EmbedError::NoVector { index })?);
            }
            rest = after;
        }
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::format::testing::{SIZES, bytes, model};
    use super::*;

    fn small() -> LocalModel {
        LocalModel::new(model(&SIZES[0], 5), Instructions::Best).unwrap()
    }

    fn passage(fact: &str) -> Passage<'_> {
        Passage {
            date: None,
            who: Some("a"),
            fact,
        }
    }

    #[test]
    fn the_id_names_model_weights_dimensions_and_template() {
        let id = small().model().to_string();
        assert!(id.starts_with("small@") && id.ends_with("/32/1"), "{id}");
        let other = LocalModel::new(model(&SIZES[0], 6), Instructions::Best).unwrap();
        assert_ne!(small().model(), other.model());
    }

    #[test]
    fn a_text_beyond_the_window_is_refused_by_its_number() {
        let long = "a ".repeat(47);
        let told = small().embed(&["a", &long]).unwrap_err();
        let expected = EmbedError::TooLong {
            index: 1,
            n_tokens: 49,
            window: 48,
        };
        assert_eq!(told, expected);
        assert!(small().embed(&[&long[..92]]).is_ok());
    }

    #[test]
    fn an_empty_text_has_a_vector_too() {
        assert_eq!(small().embed(&["", " "]).unwrap().len(), 2);
        assert_eq!(small().embed(&[]).unwrap(), []);
    }

    #[test]
    fn a_short_record_is_one_piece_with_its_head() {
        assert_eq!(small().pieces(&passage("b c")), ["a: b c"]);
    }

    #[test]
    fn a_long_record_is_embedded_to_its_last_word() {
        let fact = format!("{}z", "b ".repeat(200));
        let pieces = small().pieces(&passage(&fact));
        assert!(pieces.len() > 4);
        assert!(pieces.iter().all(|piece| piece.starts_with("a: b")));
        assert!(pieces[pieces.len() - 1].ends_with("b z"));
    }

    #[test]
    fn a_vocabulary_of_another_length_is_refused() {
        let mut bytes = bytes(&SIZES[0], 1);
        // Two lines become one.
        let line = bytes.windows(2).position(|part| part == b"\nz").unwrap();
        bytes[line] = b'y';
        let checksum = crc32fast::hash(&bytes[16..]);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        let file = ModelFile::read(&bytes).unwrap();
        let told = LocalModel::new(file, Instructions::Best).unwrap_err();
        assert_eq!(told, FormatError::Vocabulary);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_pieces_of_any_record_fit_and_hold_its_last_word(
            who in proptest::option::of("\\PC{0,80}"),
            fact in "(\\PC| |\n|[a-z]{1,9} ){0,300}",
        ) {
            let model = small();
            let who = who.as_deref();
            let pieces = model.pieces(&Passage { date: Some("2026-03-14"), who, fact: &fact });
            let texts: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(model.embed(&texts).unwrap().len(), pieces.len());
            let last = fact.split_whitespace().last().unwrap_or_default();
            let end: String = last.chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
            prop_assert!(pieces[pieces.len() - 1].trim_end().ends_with(&end));
        }
    }
}
