//! Turns of a conversation: what answers a turn is found by the words of that turn, and by them alone as
//! long as it is there.

use mmw_core::ids::RecordId;
use mmw_core::wire::{RememberArgs, SearchArgs};
use mmw_store::{Legs, Recalled};
use proptest::prelude::*;

use super::support::{World, asking, statement};

fn turn(session: &str, content: &str) -> RememberArgs {
    RememberArgs {
        kind: Some("context".to_owned()),
        source_id: Some(format!("session:{session}")),
        ..statement(content)
    }
}

fn save(world: &World, args: RememberArgs) -> RecordId {
    world.save(args).record.unwrap().id
}

fn recalled(world: &World, query: &str) -> Vec<Recalled> {
    let found = world.memory.recall(&world.me, &asking(query), Legs::Words);
    found.unwrap().recalled
}

#[test]
fn an_answer_is_found_by_the_words_of_its_question() {
    let world = World::new();
    let asked = save(&world, turn("1", "Have you ever been to Lisbon?"));
    let answer = save(&world, turn("1", "Yes, twice."));
    save(&world, turn("2", "I had soup for lunch."));
    save(&world, statement("Never again."));
    let hits = world.find("Lisbon");
    let found: Vec<RecordId> = hits.iter().map(|hit| hit.record.id).collect();
    assert_eq!(found, [asked, answer]);
    assert!(hits[0].score > hits[1].score);
    // What brought it up is told.
    assert_eq!(hits[0].score_parts.lexical_before, None);
    let parts = &hits[1].score_parts;
    assert!(
        parts.lexical > Some(0.0) && parts.lexical_before == parts.lexical,
        "{parts:?}"
    );
}

#[test]
fn words_reach_two_turns_far_and_no_further() {
    let world = World::new();
    let turns = ["Lisbon?", "Hm.", "Yes, twice.", "Good for you."];
    let ids = turns.map(|content| save(&world, turn("1", content)));
    let mut found = world.ids("Lisbon");
    found.sort();
    assert_eq!(found, ids[..3]);
    let absent = world
        .memory
        .why_not(&world.me, &asking("Lisbon"), ids[3])
        .unwrap();
    assert_eq!(absent.code, "no_match");
}

#[test]
fn other_sessions_workspaces_and_kinds_have_their_own_words() {
    let world = World::new();
    let asked = save(&world, turn("1", "Have you ever been to Lisbon?"));
    let others = [
        turn("2", "Yes, in May."),
        RememberArgs {
            workspace: Some("travel".to_owned()),
            ..turn("1", "Yes, in June.")
        },
        RememberArgs {
            kind: Some("fact".to_owned()),
            ..turn("1", "Yes, in July.")
        },
        RememberArgs {
            fact_key: Some("visits".to_owned()),
            ..turn("1", "Yes, in August.")
        },
        RememberArgs {
            source_id: Some("notes/session:1".to_owned()),
            ..turn("1", "Yes, in September.")
        },
    ];
    for other in others {
        save(&world, other);
    }
    let everywhere = SearchArgs {
        workspace: Some("*".to_owned()),
        ..asking("Lisbon")
    };
    let hits = world.search(&everywhere).hits;
    let found: Vec<RecordId> = hits.iter().map(|hit| hit.record.id).collect();
    assert_eq!(found, [asked]);
}

#[test]
fn a_forgotten_turn_takes_its_words_away_at_once() {
    let world = World::new();
    let asked = save(&world, turn("1", "Have you ever been to Lisbon?"));
    let answer = save(&world, turn("1", "Yes, twice."));
    assert!(world.ids("Lisbon").contains(&answer));
    world.forget(asked);
    assert_eq!(world.ids("Lisbon"), []);
    assert!(!world.ids("twice").is_empty());
}

#[test]
fn a_filter_leaves_out_what_does_not_pass_it_though_it_follows_on_a_match() {
    let world = World::new();
    let asked = save(
        &world,
        RememberArgs {
            tags: vec!["travel".to_owned()],
            ..turn("1", "Have you ever been to Lisbon?")
        },
    );
    let answer = save(&world, turn("1", "Yes, twice."));
    let of = |args: SearchArgs| -> Vec<RecordId> {
        let hits = world.search(&args).hits;
        hits.iter().map(|hit| hit.record.id).collect()
    };
    let tagged = SearchArgs {
        tags: vec!["travel".to_owned()],
        ..asking("Lisbon")
    };
    assert_eq!(of(tagged), [asked]);
    let of_kind = SearchArgs {
        kind: Some("context".to_owned()),
        ..asking("Lisbon")
    };
    assert_eq!(of(of_kind), [asked, answer]);
}

const WORDS: [&str; 8] = [
    "lime", "lemon", "kiwi", "fig", "plum", "pear", "date", "melon",
];

fn say(words: &[usize]) -> String {
    let words: Vec<&str> = words.iter().map(|n| WORDS[*n]).collect();
    words.join(" ")
}

/// What is saved: of which session as a turn, or as a fact of that session.
#[derive(Debug, Clone)]
struct Said {
    session: u8,
    is_turn: bool,
    words: Vec<usize>,
}

fn said() -> impl Strategy<Value = Said> {
    (
        0_u8..3,
        any::<bool>(),
        prop::collection::vec(0_usize..8, 1..5),
    )
        .prop_map(|(session, is_turn, words)| Said {
            session,
            is_turn,
            words,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_no_turn_has_the_same_evidence_whatever_is_in_its_session(
        all in prop::collection::vec(said(), 2..24),
        query in prop::collection::vec(0_usize..8, 1..4),
    ) {
        // Once as turns of sessions, once as statements from documents whose names have as many words.
        let worlds = [("session:", World::new()), ("sessions:", World::new())];
        let evidence = worlds.map(|(prefix, world)| {
            let ids: Vec<(RecordId, bool)> = all.iter().enumerate().filter_map(|(nth, one)| {
                let args = RememberArgs {
                    kind: Some(if one.is_turn { "context" } else { "fact" }.to_owned()),
                    source_id: Some(format!("{prefix}{}#{nth}", one.session)),
                    ..statement(&say(&one.words))
                };
                Some((world.try_save(args).unwrap().record?.id, one.is_turn))
            }).collect();
            let found = world.memory.recall(&world.me, &asking(&say(&query)), Legs::Words).unwrap().recalled;
            let facts = ids.iter().map(|(id, is_turn)| {
                found.iter().find(|one| one.id == *id && !is_turn).map(|one| one.evidence)
            });
            facts.collect::<Vec<_>>()
        });
        let [with, without] = evidence;
        for (with, without) in with.into_iter().zip(without) {
            // A better match beside it may leave a weak one out; what is there counts the same.
            if let (Some(with), Some(without)) = (with, without) {
                prop_assert_eq!(with, without);
            }
        }
    }

    #[test]
    fn evidence_of_turns_lies_between_zero_and_one(
        all in prop::collection::vec(said(), 1..24),
        query in prop::collection::vec(0_usize..8, 1..4),
    ) {
        let world = World::new();
        for one in &all {
            let args = turn(&one.session.to_string(), &say(&one.words));
            world.try_save(args).unwrap();
        }
        for one in recalled(&world, &say(&query)) {
            for part in [one.evidence.lexical, one.evidence.covered, one.evidence.named, one.score] {
                prop_assert!((0.0..=1.0).contains(&part), "{one:?}");
            }
        }
    }

    #[test]
    fn forgetting_a_turn_leaves_what_was_never_there(
        all in prop::collection::vec(said(), 2..16),
        forgotten in any::<prop::sample::Index>(),
        query in prop::collection::vec(0_usize..8, 1..4),
    ) {
        let nth = forgotten.index(all.len());
        let answers = [true, false].map(|is_saved| {
            let world = World::new();
            let ids: Vec<Option<RecordId>> = all.iter().enumerate().map(|(at, one)| {
                let args = turn(&format!("{}#{at}", one.session), &say(&one.words));
                (is_saved || at != nth).then(|| save(&world, args))
            }).collect();
            if is_saved {
                world.forget(ids[nth].unwrap());
            }
            let found = recalled(&world, &say(&query));
            let place = |id: RecordId| ids.iter().position(|known| *known == Some(id));
            let mut found: Vec<_> = found.iter().map(|one| (place(one.id), one.evidence)).collect();
            found.sort_by_key(|(place, _)| *place);
            found
        });
        prop_assert_eq!(&answers[0], &answers[1]);
    }
}
