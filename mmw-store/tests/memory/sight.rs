//! What a program has in memory of the vectors is what the store has, whichever program wrote it.

use mmw_core::wire::{ForgetArgs, RememberArgs, SearchAnswer};
use mmw_store::Memory;
use proptest::prelude::*;

use super::meaning::{LONG, Letters, ask};
use super::support::{World, asking, statement};

/// What a reader sees but for how long it took.
fn seen(memory: &Memory, world: &World) -> SearchAnswer {
    let mut answer = memory.search(&world.me, &asking("abc cab bca")).unwrap();
    answer.took_ms = 0.0;
    answer
}

fn forget(memory: &Memory, world: &World, source: &str) {
    let args = ForgetArgs {
        source_id: Some(source.to_owned()),
        ..ForgetArgs::default()
    };
    memory.forget(&world.me, &args).unwrap();
}

fn say(memory: &Memory, world: &World, source: &str, content: &str) {
    let args = RememberArgs {
        source_id: Some(source.to_owned()),
        ..statement(content)
    };
    memory
        .remember(&world.me, args, &Default::default())
        .unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whoever_was_there_before_and_whoever_comes_now_see_the_same_scores(
        steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0_usize..4, "[a-d]{2,5}"), 1..20),
    ) {
        let world = World::embedding(Letters::named("letters").opener());
        let other = world.other_memory(Letters::named("letters").opener());
        world.save(statement("abc"));
        for (by_other, is_save, source, content) in steps {
            let memory = if by_other { &other } else { &world.memory };
            let source = format!("{source}.md");
            if is_save {
                say(memory, &world, &source, &content);
            } else {
                forget(memory, &world, &source);
            }
            prop_assert!(memory.settle(LONG).unwrap());
            let fresh = world.other_memory(Letters::named("letters").opener());
            let expected = seen(&fresh, &world);
            prop_assert_eq!(&expected.degraded, &Vec::<String>::new());
            prop_assert_eq!(&seen(&world.memory, &world), &expected);
            prop_assert_eq!(&seen(&other, &world), &expected);
        }
    }
}

#[test]
fn who_is_too_far_behind_to_know_what_went_reads_everything_anew() {
    let world = World::embedding(Letters::named("letters").opener());
    for (source, content) in [("a.md", "abc"), ("b.md", "cab"), ("c.md", "bca")] {
        say(&world.memory, &world, source, content);
    }
    assert!(world.memory.settle(LONG).unwrap());
    assert_eq!(ask(&world, "abc").hits.len(), 3);
    let other = world.other_memory(None);
    forget(&other, &world, "a.md");
    forget(&other, &world, "b.md");
    world.run_sql("DELETE FROM removed_vectors WHERE seq = 1");
    let answer = seen(&world.memory, &world);
    assert_eq!(answer.degraded, Vec::<String>::new());
    let fresh = world.other_memory(Letters::named("letters").opener());
    assert_eq!(answer, seen(&fresh, &world));
}
