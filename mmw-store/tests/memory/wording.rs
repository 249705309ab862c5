//! What a program has in memory of the words is what the store has, whichever program wrote it.

use std::time::Instant;

use mmw_core::wire::{ForgetArgs, RememberArgs, SearchAnswer, SearchArgs};
use mmw_store::Memory;
use mmw_store::engine::{read, write};
use mmw_store::words;
use proptest::prelude::*;

use super::meaning::LONG;
use super::support::{World, asking, fact, statement};

/// What a reader sees but for how long it took.
fn seen(memory: &Memory, world: &World, args: &SearchArgs) -> SearchAnswer {
    let mut answer = memory.search(&world.me, args).unwrap();
    answer.took_ms = 0.0;
    answer
}

fn n_hits(memory: &Memory, world: &World, query: &str) -> usize {
    seen(memory, world, &asking(query)).hits.len()
}

/// Makes the index of the store useless: what is found from here on is found in memory.
fn empty_the_index(world: &World) {
    world.run_sql("DELETE FROM record_words");
}

#[derive(Debug, Clone)]
enum Step {
    Say {
        content: String,
        source: usize,
        is_turn: bool,
    },
    Forget {
        source: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => ("[a-c]{1,2}( [a-c]{1,2}){0,5}", 0_usize..5, any::<bool>())
            .prop_map(|(content, source, is_turn)| Step::Say { content, source, is_turn }),
        1 => (0_usize..5).prop_map(|source| Step::Forget { source }),
    ]
}

fn take(memory: &Memory, world: &World, step: Step) {
    match step {
        Step::Say {
            content,
            source,
            is_turn,
        } => {
            let mut args = statement(&content);
            if is_turn {
                args.kind = Some("context".to_owned());
                args.source_id = Some(format!("session:{source}"));
            } else {
                args.source_id = Some(format!("{source}.md"));
            }
            memory
                .remember(&world.me, args, &Default::default())
                .unwrap();
        }
        Step::Forget { source } => {
            for source in [format!("{source}.md"), format!("session:{source}")] {
                let args = ForgetArgs {
                    source_id: Some(source),
                    ..ForgetArgs::default()
                };
                memory.forget(&world.me, &args).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn words_in_memory_give_the_same_answer_as_those_in_the_store(
        steps in prop::collection::vec((any::<bool>(), step()), 1..25),
        query in "[a-c]{1,2}( [a-c]{1,2}){0,3}",
        kind in prop::option::of(prop::sample::select(vec!["context", "fact"])),
    ) {
        let world = World::new();
        let other = world.other_memory(None);
        world.save(statement("a b"));
        for memory in [&world.memory, &other] {
            memory.warm_up_words(&world.me).unwrap();
        }
        let args = SearchArgs { kind: kind.map(str::to_owned), ..asking(&query) };
        for (by_other, step) in steps {
            take(if by_other { &other } else { &world.memory }, &world, step);
            let fresh = world.other_memory(None);
            let expected = seen(&fresh, &world, &args);
            prop_assert_eq!(&seen(&world.memory, &world, &args), &expected);
            prop_assert_eq!(&seen(&other, &world, &args), &expected);
        }
    }
}

#[test]
fn a_search_with_its_words_in_memory_leaves_the_index_of_the_store_alone() {
    let world = World::new();
    world.save(statement("staging runs as app"));
    world.memory.warm_up_words(&world.me).unwrap();
    let expected = seen(&world.memory, &world, &asking("staging"));
    empty_the_index(&world);
    assert_eq!(seen(&world.memory, &world, &asking("staging")), expected);
    assert_eq!(n_hits(&world.other_memory(None), &world, "staging"), 0);
}

#[test]
fn the_second_search_of_a_program_has_the_words_loaded() {
    let world = World::new();
    world.save(statement("staging runs as app"));
    for _ in 0..2 {
        assert_eq!(n_hits(&world.memory, &world, "staging"), 1);
    }
    empty_the_index(&world);
    let began = Instant::now();
    while n_hits(&world.memory, &world, "staging") == 0 {
        assert!(began.elapsed() < LONG);
        std::thread::yield_now();
    }
}

#[test]
fn words_that_were_replaced_are_found_by_who_has_the_old_ones_in_memory() {
    let world = World::new();
    world.save(statement("staging runs as app"));
    world.memory.warm_up_words(&world.me).unwrap();
    assert_eq!(n_hits(&world.memory, &world, "docker"), 0);
    let other = world.other_engine();
    let found = read(&other, |snapshot| {
        snapshot.rows_with(&(0..i64::MAX), &["app"], 1)
    })
    .unwrap();
    write(&other, |txn| {
        txn.put_words(found[0], &words::document(&["docker"]))
    })
    .unwrap();
    for _ in 0..3 {
        assert_eq!(n_hits(&world.memory, &world, "docker"), 1);
        assert_eq!(n_hits(&world.memory, &world, "app"), 0);
    }
    // The workspace comes back into memory.
    empty_the_index(&world);
    let began = Instant::now();
    while n_hits(&world.memory, &world, "docker") == 0 {
        assert!(began.elapsed() < LONG);
        std::thread::yield_now();
    }
}

#[test]
fn who_is_too_far_behind_to_know_what_changed_reads_all_words_anew() {
    let world = World::new();
    for source in ["a.md", "b.md", "c.md"] {
        let args = RememberArgs {
            source_id: Some(source.to_owned()),
            ..statement(&format!("staging {source}"))
        };
        world.save(args);
    }
    world.memory.warm_up_words(&world.me).unwrap();
    let other = world.other_memory(None);
    for source in ["a.md", "b.md"] {
        let args = ForgetArgs {
            source_id: Some(source.to_owned()),
            ..ForgetArgs::default()
        };
        other.forget(&world.me, &args).unwrap();
    }
    world.run_sql("DELETE FROM changed_words WHERE seq = 1");
    let expected = seen(&world.other_memory(None), &world, &asking("staging"));
    assert_eq!(expected.hits.len(), 1);
    for _ in 0..3 {
        assert_eq!(seen(&world.memory, &world, &asking("staging")), expected);
    }
}

#[test]
fn no_record_of_common_words_is_passed_over_once_words_are_in_memory() {
    let world = World::new();
    // The oldest is the only one with both words twice; all have one of them.
    world.save(statement("alpha beta alpha beta"));
    let all: Vec<_> = (0..1_200)
        .map(|n| {
            let word = if n % 2 == 0 { "alpha" } else { "beta" };
            (statement(&format!("{word} note {n}")), Default::default())
        })
        .collect();
    for chunk in all.chunks(300) {
        world
            .memory
            .remember_all(&world.me, chunk.to_vec())
            .unwrap();
    }
    let args = asking("alpha");
    assert_eq!(
        seen(&world.memory, &world, &args).degraded,
        ["common_words"]
    );
    world.memory.warm_up_words(&world.me).unwrap();
    let answer = seen(&world.memory, &world, &args);
    assert_eq!(answer.degraded, Vec::<String>::new());
    assert_eq!(answer.hits[0].record.content, "alpha beta alpha beta");
}

#[test]
fn a_short_answer_says_that_there_was_more_behind_what_was_kept() {
    let world = World::new();
    let long =
        "a note that says alpha once among very many other words about ships, tides and harbours";
    world.save(statement(long));
    let mut last = None;
    for n in 0..300 {
        last = world.save(fact("greek", &format!("alpha {n}"))).record;
    }
    world.resolve("greek", last.unwrap().id);
    world.memory.warm_up_words(&world.me).unwrap();
    let answer = seen(&world.memory, &world, &asking("alpha"));
    // All that was kept are versions of one fact.
    assert_eq!(answer.hits.len(), 1);
    assert_eq!(answer.degraded, ["common_words"]);
}
