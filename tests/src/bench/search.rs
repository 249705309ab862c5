//! What a search by words and meaning costs in process, against words alone and the query's own vector.
//!
//! Statements are made up, and so are their vectors, beyond what could be embedded in a minute: those of
//! the index's own benchmark, kept in the store as the model's would be. Queries go through the model.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mmw_core::env::{Clock as _, SystemClock, SystemEntropy};
use mmw_core::place::{Caller, Way};
use mmw_core::wire::{EnvelopeArgs, RememberArgs, SearchArgs};
use mmw_guard::Guard;
use mmw_store::Memory;
use mmw_store::embed::{Embedder, Instructions, LocalModel, OpenEmbedder, built_in, pack};
use mmw_store::engine::{read, write};

use super::corpus::{Corpus, Dice};
use super::embed::resident;
use super::figures::{Series, single};
use super::vectors::Cloud;

/// Sizes that are measured if none are named.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Queries of each kind.
const N_QUERIES: usize = 500;
/// Statements, or vectors, of one transaction.
const BULK: usize = 500;
/// Statements that are saved and looked for.
const N_SAVED: usize = 50;
/// "The rarest is in at most 100 records."
const RAREST: usize = 100;

/// Measures every size named by the arguments (`1000,1000000`), or the usual ones.
pub(crate) fn measure(arguments: &[String]) -> String {
    let named = arguments.first().map(|sizes| {
        let sizes = sizes.split(',').map(str::parse);
        sizes.collect::<Result<Vec<usize>, _>>()
    });
    match named {
        None => SIZES.iter().map(|size| of_size(*size)).collect(),
        Some(Ok(sizes)) => sizes.into_iter().map(of_size).collect(),
        Some(Err(_)) => "bench: sizes are numbers, separated by commas".to_owned(),
    }
}

fn open(folder: &Path, embedder: Option<Box<OpenEmbedder>>) -> (Memory, Caller) {
    let file = folder.join("memory.db");
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
    let memory = Memory::open_with(&file, Guard::standard(), embedder, clock, entropy);
    let memory = memory.expect("the store opens");
    let me = memory.local_caller("bench", Way::Library);
    (memory, me.expect("the project is there"))
}

fn of_size(size: usize) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let corpus = Corpus::new(size);
    let mut table = format!(
        "### {size} records\n\n| what | p50 ms | p95 ms | p99 ms | note |\n|---|---|---|---|---|\n"
    );
    let (words, me) = open(folder.path(), None);
    fill(&words, &me, &corpus, size);
    let began = Instant::now();
    keep_vectors(&words, size);
    table += &*single("keeping the vectors", &seconds(began), "made, not embedded");
    let bytes = words.engine().size_bytes().expect("the store has a size");
    let bytes = format!("{}", bytes / size as u64);
    table += &*single(
        "bytes a record on disk",
        &bytes,
        "vectors and indexes included",
    );
    let model = LocalModel::built_in(Instructions::Best).expect("the model is there");
    let queries = kinds(&corpus, size);
    for (kind, queries) in &queries {
        let alone = run(queries, |query| search(&words, &me, query));
        table += &*alone.row(&format!("words only, {kind}"), "");
    }
    drop(words);
    let before = resident();
    let (memory, me) = open(folder.path(), built_in());
    let began = Instant::now();
    memory.warm_up(&me).expect("vectors are loaded");
    table += &*single(
        "loading the model and all vectors",
        &seconds(began),
        "once a process",
    );
    for (kind, queries) in &queries {
        let vector = run(queries, |query| {
            model.embed_query(query).expect("it is a query");
        });
        let both = run(queries, |query| search(&memory, &me, query));
        let over = both.at(50) - vector.at(50);
        table += &*vector.row(&format!("the query's own vector, {kind}"), "");
        let note = format!("p50 is {over:+.2} ms against the vector alone");
        table += &*both.row(&format!("words and meaning, {kind}"), &note);
    }
    if let (Some(before), Some(after)) = (before, resident()) {
        let note = format!("of the process, {before} before the model and the vectors");
        table += &*single("resident memory", &after, &note);
    }
    table += &*saved_and_found(&memory, &me);
    table
}

fn seconds(began: Instant) -> String {
    format!("{:.2} s", began.elapsed().as_secs_f64())
}

fn kinds(corpus: &Corpus, size: usize) -> [(&'static str, Vec<String>); 2] {
    let mut dice = Dice::new(7);
    let rare = |_| corpus.query_with_a_rare_word(&mut dice, RAREST);
    let rare = (0..N_QUERIES).map(rare).collect();
    let mut dice = Dice::new(8);
    let common = |_| corpus.query_of_common_words(&mut dice, size / 100);
    let common = (0..N_QUERIES).map(common).collect();
    [("a rare word", rare), ("common words", common)]
}

fn run(queries: &[String], mut ask: impl FnMut(&str)) -> Series {
    for query in queries.iter().take(20) {
        ask(query);
    }
    let times = queries.iter().map(|query| {
        let began = Instant::now();
        ask(query);
        began.elapsed()
    });
    Series::new(times.collect())
}

fn asking(query: &str) -> SearchArgs {
    SearchArgs {
        query: query.to_owned(),
        ..SearchArgs::default()
    }
}

fn search(memory: &Memory, me: &Caller, query: &str) {
    memory.search(me, &asking(query)).expect("it looks");
}

fn statement(content: String) -> (RememberArgs, EnvelopeArgs) {
    let args = RememberArgs {
        content,
        ..RememberArgs::default()
    };
    (args, EnvelopeArgs::default())
}

fn fill(memory: &Memory, me: &Caller, corpus: &Corpus, size: usize) {
    for from in (0..size).step_by(BULK) {
        let all = (from..size.min(from + BULK)).map(|n| statement(corpus.text(n)));
        let answers = memory.remember_all(me, all.collect());
        assert!(
            answers
                .expect("the store takes them")
                .iter()
                .all(Result::is_ok)
        );
    }
}

/// Keeps a made vector for every record, as if the model had given it.
fn keep_vectors(memory: &Memory, size: usize) {
    let model = LocalModel::built_in(Instructions::Best).expect("the model is there");
    let cloud = Cloud::new(size.max(1_000));
    let now = SystemClock.now();
    let engine = memory.engine();
    let id = model.model().to_string();
    let number = write(engine, |txn| txn.use_embedding_model(&id, now)).expect("it writes");
    let mut nth = 0;
    while read(engine, |snapshot| snapshot.has_unembedded(number, now)).expect("it reads") {
        let from = nth;
        nth += write(engine, |txn| {
            let rows = txn.take_unembedded(number, now, now.plus_ms(60_000), BULK)?;
            for (at, row) in rows.iter().enumerate() {
                let data = pack(&[cloud.record(from + at).to_bytes()]);
                txn.keep_vector(number, *row, &data)?;
            }
            Ok(rows.len())
        })
        .expect("it writes");
    }
}

/// Saves statements one by one and waits until each is found by meaning.
fn saved_and_found(memory: &Memory, me: &Caller) -> String {
    let mut saved = Vec::new();
    let mut found = Vec::new();
    for n in 0..N_SAVED {
        let (args, envelope) = statement(format!("the {n}th plan of the week is to mow the lawn"));
        let began = Instant::now();
        memory.remember(me, args, &envelope).expect("it saves");
        saved.push(began.elapsed());
        while !memory
            .search(me, &asking("gardening"))
            .expect("it looks")
            .degraded
            .iter()
            .all(|what| what != "semantic")
        {
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "it is never embedded"
            );
        }
        found.push(began.elapsed());
    }
    Series::new(saved).row("remember", "durable, with the thread that embeds beside it")
        + &*Series::new(found).row(
            "from remember to found by meaning",
            "searched for all the time",
        )
}
