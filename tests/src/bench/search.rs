//! What a search by words and meaning costs in process, against words alone and the query's own vector.
//!
//! One process makes the store, others open it and search: their memory is that of an agent's process.
//!
//! Statements are made up, and so are their vectors, beyond what could be embedded in a minute: those of
//! the index's own benchmark, kept in the store as the model's would be. Queries go through the model.

use std::path::Path;
use std::process::Command;
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
use super::embed::{processor_ms, resident};
use super::figures::{Series, single};
use super::vectors::Cloud;

/// The argument that starts the process which searches: `FOLDER words` or `FOLDER meaning`.
pub(crate) const PROCESS: &str = "search-process";

/// Sizes that are measured if none are named.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Queries of each kind.
const N_QUERIES: usize = 500;
/// Queries of each kind that go before, so that what is measured is a process that has searched.
const N_BEFORE: usize = 50;
/// Statements, or vectors, of one transaction.
const BULK: usize = 500;
/// Statements that are saved and looked for.
const N_SAVED: usize = 50;
/// "The rarest is in at most 100 records."
const RAREST: usize = 100;
/// The file with the queries, beside the store.
const QUERIES: &str = "queries.json";

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

/// Opens the store that another process made and measures what an agent's process would see.
pub(crate) fn process(arguments: &[String]) -> String {
    let [folder, way] = arguments else {
        return "bench: a folder and `words` or `meaning` are needed".to_owned();
    };
    let folder = Path::new(folder);
    let queries = std::fs::read_to_string(folder.join(QUERIES)).expect("queries were left");
    let kinds: Vec<Kind> = serde_json::from_str(&queries).expect("they are queries");
    if way == "words" {
        words_only(folder, &kinds)
    } else {
        words_and_meaning(folder, &kinds)
    }
}

/// What is asked, and the queries.
type Kind = (String, Vec<String>);

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
    let mut table = format!(
        "### {size} records\n\n| what | p50 ms | p95 ms | p99 ms | note |\n|---|---|---|---|---|\n"
    );
    table += &*prepare(folder.path(), size);
    for way in ["words", "meaning"] {
        let program = std::env::current_exe().expect("the benchmark knows where it is");
        let searched = Command::new(program)
            .args([PROCESS.as_ref(), folder.path().as_os_str(), way.as_ref()])
            .output()
            .expect("it starts");
        assert!(searched.status.success(), "the searching process failed");
        table += String::from_utf8_lossy(&searched.stdout).trim_start();
    }
    table
}

/// Makes the store and the queries.
fn prepare(folder: &Path, size: usize) -> String {
    let corpus = Corpus::new(size);
    let (memory, me) = open(folder, None);
    let began = Instant::now();
    fill(&memory, &me, &corpus, size);
    let rate = size as f64 / began.elapsed().as_secs_f64();
    let note = format!("{BULK} a transaction");
    let mut table = single("saving", &format!("{rate:.0} records/s"), &note);
    let began = Instant::now();
    keep_vectors(&memory, size);
    table += &*single("keeping the vectors", &seconds(began), "made, not embedded");
    let bytes = memory.engine().size_bytes().expect("the store has a size");
    let bytes = format!("{}", bytes / size as u64);
    table += &*single(
        "bytes a record on disk",
        &bytes,
        "vectors and indexes included",
    );
    let queries = serde_json::to_string(&kinds(&corpus, size)).expect("texts are JSON");
    std::fs::write(folder.join(QUERIES), queries).expect("the folder can be written to");
    table
}

fn words_only(folder: &Path, kinds: &[Kind]) -> String {
    let mut table = String::new();
    let (memory, me) = open(folder, None);
    let began = Instant::now();
    memory.warm_up_words(&me).expect("words are loaded");
    table += &*single("loading all words", &seconds(began), "once a process");
    for (kind, queries) in kinds {
        let [words] = run(queries, [&mut |query| search(&memory, &me, &asking(query))]);
        table += &*words.row(&format!("words only, {kind}"));
    }
    table + &*memory_row("resident memory without a model")
}

fn words_and_meaning(folder: &Path, kinds: &[Kind]) -> String {
    let (memory, me) = open(folder, built_in());
    let began = Instant::now();
    memory.warm_up(&me).expect("vectors are loaded");
    memory.warm_up_words(&me).expect("words are loaded");
    let mut table = single(
        "loading the model, all vectors and words",
        &seconds(began),
        "once a process",
    );
    for (_, queries) in kinds {
        for query in queries {
            search(&memory, &me, &asking(query));
        }
    }
    table += &*memory_row("resident memory after searches by meaning");
    let model = LocalModel::built_in(Instructions::Best).expect("the model is there");
    let now = SystemClock.now().to_string();
    let as_of = |query: &str| SearchArgs {
        as_of: Some(now.clone()),
        ..asking(query)
    };
    let of_a_kind = |query: &str| SearchArgs {
        kind: Some("fact".to_owned()),
        ..asking(query)
    };
    for (kind, queries) in kinds {
        let [vector, both, then, facts] = run(
            queries,
            [
                &mut |query| {
                    model.embed_query(query).expect("it is a query");
                },
                &mut |query| search(&memory, &me, &asking(query)),
                &mut |query| search(&memory, &me, &as_of(query)),
                &mut |query| search(&memory, &me, &of_a_kind(query)),
            ],
        );
        table += &*vector.row(&format!("the query's own vector, {kind}"));
        table += &*both.row_over(&format!("words and meaning, {kind}"), &vector);
        table += &*then.row_over(&format!("the same as of a moment, {kind}"), &vector);
        let name = format!("the same with a filter that lets all through, {kind}");
        table += &*facts.row_over(&name, &vector);
    }
    table + &*saved_and_found(&memory, &me)
}

fn memory_row(what: &str) -> String {
    let note = "a process that does nothing else";
    resident().map_or_else(String::new, |found| single(what, &found, note))
}

fn seconds(began: Instant) -> String {
    format!("{:.2} s", began.elapsed().as_secs_f64())
}

fn kinds(corpus: &Corpus, size: usize) -> [Kind; 2] {
    let mut dice = Dice::new(7);
    let rare = |_| corpus.query_with_a_rare_word(&mut dice, RAREST);
    let rare = (0..N_QUERIES).map(rare).collect();
    let mut dice = Dice::new(8);
    let common = |_| corpus.query_of_common_words(&mut dice, size / 100);
    let common = (0..N_QUERIES).map(common).collect();
    [
        ("a rare word".to_owned(), rare),
        ("common words".to_owned(), common),
    ]
}

/// What the same queries cost in one way.
struct Timed {
    wall: Series,
    /// The mean of the asking thread's processor, in milliseconds.
    processor: f64,
}

impl Timed {
    fn row(&self, name: &str) -> String {
        let note = format!("{:.2} ms of the asking thread's processor", self.processor);
        self.wall.row(name, &note)
    }

    /// The row with what it costs beyond something else.
    fn row_over(&self, name: &str, other: &Self) -> String {
        let note = format!(
            "{:+.2} ms against the vector alone, {:+.2} ms of processor",
            self.wall.at(50) - other.wall.at(50),
            self.processor - other.processor
        );
        self.wall.row(name, &note)
    }
}

/// Asks in several ways: a stretch of queries each in turn, so that what else the machine does meets all.
fn run<const N: usize>(queries: &[String], mut ways: [&mut dyn FnMut(&str); N]) -> [Timed; N] {
    const STRETCH: usize = 25;
    let mut times: [(Vec<Duration>, f64); N] = std::array::from_fn(|_| (Vec::new(), 0.0));
    for (way, (_, processor)) in ways.iter_mut().zip(&mut times) {
        for query in queries.iter().take(N_BEFORE) {
            way(query);
        }
        *processor = 0.0;
    }
    for stretch in queries.chunks(STRETCH) {
        for (way, (walls, processor)) in ways.iter_mut().zip(&mut times) {
            let before = processor_ms();
            for query in stretch {
                let began = Instant::now();
                way(query);
                walls.push(began.elapsed());
            }
            *processor += processor_ms() - before;
        }
    }
    times.map(|(walls, processor)| Timed {
        wall: Series::new(walls),
        processor: processor / queries.len().max(1) as f64,
    })
}

fn asking(query: &str) -> SearchArgs {
    SearchArgs {
        query: query.to_owned(),
        ..SearchArgs::default()
    }
}

fn search(memory: &Memory, me: &Caller, asked: &SearchArgs) {
    memory.search(me, asked).expect("it looks");
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
