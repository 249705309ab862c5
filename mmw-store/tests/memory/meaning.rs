//! Searching by meaning on the real store: with the built-in model, and with a made-up one where the
//! test is about when and what is embedded.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mmw_core::place::Way;
use mmw_core::wire::{ForgetArgs, RememberArgs, SearchAnswer, SearchArgs};
use mmw_store::embed::{EmbedError, Embedder, ModelId, OpenEmbedder, Passage, Vector, built_in};
use mmw_store::{EmbeddingState, Memory, Progress};

use super::support::{World, asking, statement};

/// Long enough for a slow machine that does other things too.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A model whose directions are letters: texts with like letters are near.
pub(super) struct Letters {
    id: ModelId,
    is_there: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
    n_calls: Arc<AtomicUsize>,
    is_remote: bool,
}

impl Letters {
    pub(super) fn named(name: &str) -> Self {
        Self {
            id: ModelId {
                name: name.to_owned(),
                dimensions: 26,
                template: 1,
            },
            is_there: Arc::new(AtomicBool::new(true)),
            seen: Arc::default(),
            n_calls: Arc::default(),
            is_remote: false,
        }
    }

    pub(super) fn opener(self) -> Option<Box<OpenEmbedder>> {
        let this = Arc::new(self);
        Some(Box::new(move || Ok(Arc::clone(&this) as Arc<dyn Embedder>)))
    }
}

impl Embedder for Letters {
    fn model(&self) -> &ModelId {
        &self.id
    }

    fn pieces(&self, passage: &Passage<'_>) -> Vec<String> {
        vec![passage.fact.to_owned()]
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        self.n_calls.fetch_add(1, Ordering::SeqCst);
        if !self.is_there.load(Ordering::SeqCst) {
            return Err(EmbedError::Unavailable("gone for lunch".to_owned()));
        }
        let mut vectors = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            self.seen.lock().unwrap().push((*text).to_owned());
            let mut counts = vec![0.0; 26];
            for c in text.bytes().filter(u8::is_ascii_lowercase) {
                counts[usize::from(c - b'a')] += 1.0;
            }
            vectors.push(Vector::new(counts).ok_or(EmbedError::NoVector { index })?);
        }
        Ok(vectors)
    }

    fn is_remote(&self) -> bool {
        self.is_remote
    }
}

pub(super) fn ask(world: &World, query: &str) -> SearchAnswer {
    let args = SearchArgs {
        query: query.to_owned(),
        ..SearchArgs::default()
    };
    world.memory.search(&world.me, &args).unwrap()
}

fn contents(answer: &SearchAnswer) -> Vec<&str> {
    answer
        .hits
        .iter()
        .map(|hit| hit.record.content.as_str())
        .collect()
}

fn progress(memory: &Memory) -> Progress {
    match memory.embedding_state().unwrap() {
        EmbeddingState::On(progress) => progress,
        other => panic!("{other:?}"),
    }
}

/// Searches until meaning takes part in full.
fn ask_until_complete(world: &World, query: &str) -> SearchAnswer {
    let began = Instant::now();
    loop {
        let answer = ask(world, query);
        if !answer.degraded.iter().any(|what| what == "semantic") {
            return answer;
        }
        assert!(began.elapsed() < LONG, "{:?}", answer.degraded);
        std::thread::yield_now();
    }
}

#[test]
fn a_paraphrase_without_a_common_word_is_found() {
    let world = World::embedding(built_in());
    world.save(statement("the nightly build fails when the disk is full"));
    world.save(statement("lunch is at noon in the canteen"));
    world.save(statement(
        "we chose PostgreSQL for its transactional guarantees",
    ));
    assert!(world.memory.settle(LONG).unwrap());
    let answer = ask(&world, "which database did they pick?");
    assert!(contents(&answer)[0].contains("PostgreSQL"), "{answer:?}");
    let parts = &answer.hits[0].score_parts;
    assert_eq!((parts.lexical, parts.semantic_rank), (Some(0.0), Some(1)));
    assert_eq!(answer.degraded, Vec::<String>::new());
}

#[test]
fn signs_without_a_word_ask_for_nothing_however_near_something_is() {
    let world = World::embedding(built_in());
    for n in 0..3 {
        world.save(statement(&format!("lime {n}")));
    }
    assert!(world.memory.settle(LONG).unwrap());
    for query in ["?!", "*", "(", "\u{200b}"] {
        let answer = ask(&world, query);
        assert_eq!(contents(&answer), Vec::<&str>::new(), "{query:?}");
        assert!(answer.notice.unwrap().contains("no word"), "{query:?}");
        assert_eq!(answer.degraded, Vec::<String>::new());
    }
}

#[test]
fn what_was_saved_is_found_by_meaning_without_anybody_waiting_for_it() {
    let world = World::embedding(Letters::named("letters").opener());
    world.save(statement("aaab"));
    world.save(statement("zzzy"));
    let answer = ask_until_complete(&world, "aba");
    assert_eq!(contents(&answer)[0], "aaab");
    assert!(answer.hits[0].score_parts.semantic.unwrap() > 0.8);
}

#[test]
fn words_answer_alone_while_the_model_is_away_and_the_answer_says_so() {
    let letters = Letters::named("letters");
    let is_there = Arc::clone(&letters.is_there);
    is_there.store(false, Ordering::SeqCst);
    let world = World::embedding(letters.opener());
    world.save(statement("staging runs systemd"));
    assert!(!world.memory.settle(LONG).unwrap());
    let answer = ask(&world, "systemd");
    assert_eq!(contents(&answer), ["staging runs systemd"]);
    assert_eq!(answer.degraded, ["semantic"]);
    // What could not be embedded waits, and is taken again after a rest.
    is_there.store(true, Ordering::SeqCst);
    world.pass(120_000);
    assert!(world.memory.settle(LONG).unwrap());
    assert_eq!(ask(&world, "systemd").degraded, Vec::<String>::new());
}

#[test]
fn a_query_in_letters_that_the_model_does_not_read_goes_by_words() {
    let world = World::embedding(built_in());
    world.save(statement("сервер развёрнут через systemd"));
    assert!(world.memory.settle(LONG).unwrap());
    let answer = ask(&world, "как развёрнут сервер");
    assert_eq!(contents(&answer), ["сервер развёрнут через systemd"]);
    assert_eq!(answer.degraded, ["semantic_language"]);
    assert_eq!(answer.hits[0].score_parts.semantic, None);
}

#[test]
fn a_forgotten_record_is_not_found_by_meaning_and_has_no_vector() {
    let world = World::embedding(Letters::named("letters").opener());
    let gone = world.save(statement("aaab"));
    world.save(statement("aabb"));
    assert!(world.memory.settle(LONG).unwrap());
    assert_eq!(ask(&world, "aab").hits.len(), 2);
    world.forget(gone.record.unwrap().id);
    let answer = ask(&world, "aab");
    assert_eq!(contents(&answer), ["aabb"]);
    assert_eq!(answer.total, 1);
    let progress = progress(&world.memory);
    assert_eq!((progress.n_embedded, progress.n_records), (1, 1));
}

#[test]
fn the_same_is_seen_by_another_program_on_the_same_store() {
    let world = World::embedding(Letters::named("letters").opener());
    let other = world.other_memory(Letters::named("letters").opener());
    let me = other
        .local_caller("backend-repository", Way::Library)
        .unwrap();
    let args = SearchArgs {
        query: "aab".to_owned(),
        ..SearchArgs::default()
    };
    let theirs = || other.search(&me, &args).unwrap();
    assert_eq!(theirs().hits.len(), 0);
    let first = world.save(statement("aaab"));
    world.save(statement("aabb"));
    assert!(world.memory.settle(LONG).unwrap());
    assert_eq!(theirs().hits.len(), 2);
    assert_eq!(theirs().degraded, Vec::<String>::new());
    world.forget(first.record.unwrap().id);
    assert_eq!(theirs().hits.len(), 1);
    let other_model = world.other_memory(Letters::named("others").opener());
    assert!(other_model.settle(LONG).unwrap());
    assert_eq!(theirs().hits.len(), 1, "vectors of other models do not mix");
}

#[test]
fn a_model_of_other_dimensions_on_the_same_store_is_no_error_and_finds_everything() {
    let world = World::embedding(built_in());
    world.save(statement("the staging server runs as the unit app"));
    world.save(statement("lunch is at noon"));
    assert!(world.memory.settle(LONG).unwrap());
    // 26 dimensions where the store has vectors of 384.
    let letters = Letters::named("letters");
    let is_there = Arc::clone(&letters.is_there);
    is_there.store(false, Ordering::SeqCst);
    let other = world.other_memory(letters.opener());
    let me = &world.me;
    let found = |memory: &Memory| memory.search(me, &asking("staging server")).unwrap();
    let by_words = found(&other);
    assert_eq!(by_words.degraded, ["semantic"]);
    assert_eq!(
        contents(&by_words),
        ["the staging server runs as the unit app"]
    );
    assert_eq!(
        progress(&other).n_embedded,
        0,
        "what failed is not said to be done"
    );
    is_there.store(true, Ordering::SeqCst);
    let other = world.other_memory(Letters::named("letters").opener());
    assert!(other.settle(LONG).unwrap());
    assert_eq!(found(&other).degraded, Vec::<String>::new());
    assert_eq!(progress(&other).n_embedded, 2);
    // Who uses the first model still has its vectors.
    assert_eq!(found(&world.memory).degraded, Vec::<String>::new());
    assert_eq!(progress(&world.memory).n_embedded, 2);
}

#[test]
fn another_model_embeds_everything_again_while_words_answer() {
    let world = World::embedding(Letters::named("old").opener());
    for n in 0..40_u8 {
        let letter = char::from(b'a' + n % 26);
        world.save(statement(&format!("{letter}{letter}{letter} {n}")));
    }
    assert!(world.memory.settle(LONG).unwrap());
    let letters = Letters::named("new");
    let n_calls = Arc::clone(&letters.n_calls);
    let other = world.other_memory(letters.opener());
    let before = progress(&other);
    assert_eq!((before.n_embedded, before.n_records), (0, 40));
    assert!(other.settle(LONG).unwrap());
    let after = progress(&other);
    assert_eq!((after.n_embedded, after.model.as_str()), (40, "new/26/1"));
    let n_before = n_calls.load(Ordering::SeqCst);
    assert!(other.settle(LONG).unwrap());
    assert_eq!(
        n_calls.load(Ordering::SeqCst),
        n_before,
        "nothing is embedded twice"
    );
}

#[test]
fn a_record_with_nothing_to_embed_keeps_nobody_waiting() {
    let world = World::embedding(Letters::named("letters").opener());
    world.save(statement("123"));
    world.save(statement("abc"));
    assert!(world.memory.settle(LONG).unwrap());
    let answer = ask(&world, "abc 123");
    assert_eq!(answer.degraded, Vec::<String>::new());
    assert_eq!(answer.hits.len(), 2);
}

#[test]
fn what_leaves_for_a_model_elsewhere_is_screened_with_the_rules_of_today() {
    let mut letters = Letters::named("letters");
    letters.is_remote = true;
    let seen = Arc::clone(&letters.seen);
    let world = World::embedding(letters.opener());
    let secret = format!("AKIA{}", "Q3EGRIRSPSZJ2XKL");
    world.write_unscreened(1, |record| {
        record.content = format!("the key of the bucket is {secret} and nobody knows");
    });
    assert!(world.memory.settle(LONG).unwrap());
    let seen = seen.lock().unwrap();
    assert!(seen[0].contains("the key of the bucket"), "{seen:?}");
    assert!(seen.iter().all(|text| !text.contains(&secret)), "{seen:?}");
}

#[test]
fn a_large_workspace_is_loaded_beside_and_a_person_may_wait_for_it() {
    let world = World::embedding(Letters::named("letters").opener());
    let all: Vec<_> = (0..10_500_u32)
        .map(|n| {
            let word: String = (0..4)
                .map(|i| char::from(b'a' + u8::try_from((n >> (4 * i)) & 15).unwrap()))
                .collect();
            (statement(&format!("{word} {n}")), Default::default())
        })
        .collect();
    for chunk in all.chunks(500) {
        world
            .memory
            .remember_all(&world.me, chunk.to_vec())
            .unwrap();
    }
    assert!(world.memory.settle(LONG).unwrap());
    let fresh = world.other_memory(Letters::named("letters").opener());
    let me = fresh
        .local_caller("backend-repository", Way::Library)
        .unwrap();
    let args = SearchArgs {
        query: "aaab".to_owned(),
        ..SearchArgs::default()
    };
    assert_eq!(fresh.search(&me, &args).unwrap().degraded, ["semantic"]);
    fresh.warm_up(&me).unwrap();
    assert_eq!(
        fresh.search(&me, &args).unwrap().degraded,
        Vec::<String>::new()
    );
    let beside = world.other_memory(Letters::named("letters").opener());
    let began = Instant::now();
    while beside.search(&me, &args).unwrap().degraded == ["semantic"] {
        assert!(began.elapsed() < LONG);
        std::thread::yield_now();
    }
}

#[test]
fn filters_are_part_of_the_search_by_meaning() {
    let world = World::embedding(Letters::named("letters").opener());
    for n in 0..300 {
        world.save(statement(&format!("zzzy {n}")));
    }
    let rare = RememberArgs {
        kind: Some("decision".to_owned()),
        tags: vec!["far".to_owned()],
        ..statement("abcdefgh")
    };
    world.save(rare);
    assert!(world.memory.settle(LONG).unwrap());
    for (kind, tags) in [
        (Some("decision".to_owned()), Vec::new()),
        (None, vec!["far".to_owned()]),
    ] {
        let args = SearchArgs {
            query: "dcba".to_owned(),
            kind,
            tags,
            ..SearchArgs::default()
        };
        let answer = world.memory.search(&world.me, &args).unwrap();
        assert_eq!(contents(&answer), ["abcdefgh"]);
    }
}

#[test]
fn the_last_word_of_a_long_record_is_found_by_meaning() {
    let world = World::embedding(built_in());
    let filler =
        "the quarterly report lists figures for every region and product line. ".repeat(40);
    world.save(statement(&format!(
        "{filler} The office cat is called Minka."
    )));
    world.save(statement(
        "the coffee machine on the second floor is broken",
    ));
    assert!(world.memory.settle(LONG).unwrap());
    let answer = ask(&world, "what is the name of our feline pet?");
    assert!(contents(&answer)[0].contains("Minka"), "{answer:?}");
}

#[test]
fn a_memory_without_an_embedder_goes_by_words_and_says_nothing_of_it() {
    let world = World::new();
    world.save(statement("staging runs systemd"));
    let answer = ask(&world, "systemd");
    assert_eq!((answer.hits.len(), answer.degraded.len()), (1, 0));
    assert!(world.memory.settle(Duration::ZERO).unwrap());
    assert_eq!(world.memory.embedding_state().unwrap(), EmbeddingState::Off);
}

/// A model that has time for questions and none for records.
struct OnlyQuestions(Letters);

impl Embedder for OnlyQuestions {
    fn model(&self) -> &ModelId {
        self.0.model()
    }

    fn pieces(&self, passage: &Passage<'_>) -> Vec<String> {
        self.0.pieces(passage)
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        Err(EmbedError::Unavailable("no time".to_owned()))
    }

    fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.0.embed_query(text)
    }
}

#[test]
fn where_no_record_has_a_vector_everyday_words_alone_are_no_match() {
    let model = Arc::new(OnlyQuestions(Letters::named("letters")));
    let opener: Box<OpenEmbedder> = Box::new(move || Ok(Arc::clone(&model) as Arc<dyn Embedder>));
    let world = World::embedding(Some(opener));
    for n in 0..30 {
        world.save(statement(&format!("service {n} is fed by a pipeline")));
    }
    world.save(statement("the quokka is fed on tuesdays"));
    let answer = ask(&world, "when is the quokka fed");
    assert_eq!(contents(&answer), ["the quokka is fed on tuesdays"]);
    assert_eq!(answer.degraded, ["semantic"]);
}

#[test]
fn what_is_left_is_found_by_meaning_when_another_program_has_forgotten_most() {
    let world = World::embedding(Letters::named("letters").opener());
    let many: Vec<_> = (0..900)
        .map(|n| {
            let args = RememberArgs {
                source_id: Some("old.md".to_owned()),
                ..statement(&format!("aaab {n}"))
            };
            (args, Default::default())
        })
        .collect();
    for some in many.chunks(500) {
        world.memory.remember_all(&world.me, some.to_vec()).unwrap();
    }
    world.save(statement("aabb"));
    assert!(world.memory.settle(LONG).unwrap());
    assert!(!ask(&world, "baaa").hits.is_empty());
    let other = world.other_memory(None);
    let old = ForgetArgs {
        source_id: Some("old.md".to_owned()),
        ..ForgetArgs::default()
    };
    assert_eq!(other.forget(&world.me, &old).unwrap().forgotten, 900);
    let answer = ask(&world, "baaa");
    assert_eq!(contents(&answer), ["aabb"]);
    assert_eq!(answer.degraded, Vec::<String>::new());
}

/// A model on a network that never answers for records.
struct Hanging(Letters, Mutex<std::sync::mpsc::Receiver<()>>);

impl Embedder for Hanging {
    fn model(&self) -> &ModelId {
        self.0.model()
    }

    fn pieces(&self, passage: &Passage<'_>) -> Vec<String> {
        self.0.pieces(passage)
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let _ = self.1.lock().unwrap().recv();
        Err(EmbedError::Unavailable("hung up".to_owned()))
    }

    fn is_remote(&self) -> bool {
        true
    }
}

#[test]
fn nobody_waits_longer_than_said_for_a_model_on_a_network_nor_for_its_end() {
    let (hang_up, hung) = std::sync::mpsc::channel();
    let model = Arc::new(Hanging(Letters::named("letters"), Mutex::new(hung)));
    let opener: Box<OpenEmbedder> = Box::new(move || Ok(Arc::clone(&model) as Arc<dyn Embedder>));
    let world = World::embedding(Some(opener));
    world.save(statement("staging runs systemd"));
    assert!(!world.memory.settle(Duration::from_millis(50)).unwrap());
    // It ends although the model still hangs; only then is it let go.
    drop(world);
    hang_up.send(()).unwrap();
}

#[test]
fn a_model_that_cannot_be_opened_says_why_and_what_was_not_found_says_what_did_not_look() {
    let opener: Box<OpenEmbedder> = Box::new(|| Err(EmbedError::Unusable("no such file".into())));
    let world = World::embedding(Some(opener));
    world.save(statement("staging runs systemd"));
    assert_eq!(
        world.memory.embedding_state().unwrap(),
        EmbeddingState::Unavailable(EmbedError::Unusable("no such file".into()))
    );
    let answer = ask(&world, "zebra");
    assert_eq!(
        (answer.hits.len(), answer.degraded.as_slice()),
        (0, &["semantic".to_owned()][..])
    );
    let notice = answer.notice.unwrap();
    assert!(notice.contains("by meaning"), "{notice}");
    let world = World::embedding(built_in());
    world.save(statement("staging runs systemd"));
    assert!(world.memory.settle(LONG).unwrap());
    let notice = ask(&world, "как развернуть").notice.unwrap();
    assert!(notice.contains("does not read"), "{notice}");
    let notice = ask(&world, "zebra").notice.unwrap();
    assert!(notice.ends_with("or their meaning"), "{notice}");
}
