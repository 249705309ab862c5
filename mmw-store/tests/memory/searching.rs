//! Search by words: never an error for a text, never a hit lost by asking for more.

use mmw_core::wire::{RememberArgs, SearchArgs};
use proptest::prelude::*;

use crate::support::{World, asking, statement};

/// Reports: full-text engines took ordinary text for syntax.
const ORDINARY_QUERIES: &[&str] = &[
    "multi-agent",
    "foo\"bar",
    "it's",
    "GB/s",
    "TODO: fix",
    "a,b",
    "C++",
    "*",
    "NOT",
    "OR",
    "(",
    "gateway/run.py",
    "user@host",
    "why?",
    "2026-03-14",
    "gpt-4o",
    "say \"hi",
    "(python",
    "foo AND bar",
    "NEAR(",
    "install.sh | bash",
    "the of and",
    "^x",
    "#tag",
    "col:val",
    "{\"a\":1}",
    "\\",
    "''",
    "--",
    ";DROP TABLE records",
    "\u{202e}abc",
    "🦀",
    "?!",
];

#[test]
fn ordinary_text_is_never_syntax() {
    let world = World::new();
    for query in ORDINARY_QUERIES {
        world.save(statement(&format!("note on {query} for limes")));
    }
    for query in ORDINARY_QUERIES {
        let answer = world.search(&SearchArgs {
            limit: Some(50),
            ..asking(query)
        });
        let has_word = query.chars().any(char::is_alphanumeric);
        let found = answer
            .hits
            .iter()
            .any(|hit| hit.record.content.contains(query));
        assert!(found || !has_word, "{query}: {:?}", answer.notice);
    }
}

#[test]
fn a_query_without_words_says_so_and_an_empty_one_is_refused() {
    let world = World::new();
    world.note("lime");
    for query in ["", " ", "\t\n"] {
        assert!(
            world
                .memory
                .search(&world.me, &asking(query))
                .unwrap_err()
                .to_string()
                .starts_with("query"),
            "{query:?}"
        );
    }
    assert_eq!(
        world.search(&asking("?!")).notice.unwrap(),
        "the query has no word to look for"
    );
    assert_eq!(
        world.search(&asking("quokka")).notice.unwrap(),
        "nothing in memory matches these words"
    );
}

#[test]
fn limits_are_checked() {
    let world = World::new();
    for limit in [0, -1, 51, 1_000_000_000] {
        let refused = world
            .memory
            .search(
                &world.me,
                &SearchArgs {
                    limit: Some(limit),
                    ..asking("x")
                },
            )
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("limit: must be 1 to 50, not {limit}")
        );
    }
}

#[test]
fn a_long_query_is_cut_and_says_so() {
    let world = World::new();
    world.note("lime");
    let answer = world.search(&asking(&format!("lime {}", "word ".repeat(10_000))));
    assert_eq!(answer.hits.len(), 1);
    let many: String = (0..100).map(|n| format!("w{n} ")).collect();
    assert!(
        world
            .search(&asking(&many))
            .notice
            .unwrap()
            .contains("first 32 words")
    );
}

#[test]
fn a_sentence_finds_a_record_that_lacks_some_of_its_words() {
    let world = World::new();
    world.note("staging is deployed with docker compose");
    world.note("the cat sat on the mat");
    let hits = world.find("how do we deploy the staging server");
    assert_eq!(hits.len(), 1);
}

#[test]
fn the_last_word_of_a_long_record_is_findable_and_the_cut_is_told() {
    let world = World::new();
    let mut content = "filler ".repeat(2_000);
    content.push_str("quokka");
    let id = world.note(&content);
    let hit = &world
        .search(&SearchArgs {
            max_tokens: Some(400),
            ..asking("quokka")
        })
        .hits[0];
    assert!(hit.truncated && hit.record.content.len() < 2_000);
    assert_eq!(world.explain(id).record.content.len(), content.len());
}

#[test]
fn an_answer_keeps_within_its_tokens() {
    let world = World::new();
    for n in 0..50 {
        world.note(&format!("lime {n} {}", "long text ".repeat(300)));
    }
    for max_tokens in [200, 1_000, 6_000] {
        let answer = world.search(&SearchArgs {
            max_tokens: Some(max_tokens),
            limit: Some(50),
            ..asking("lime")
        });
        let chars = serde_json::to_string(&answer.hits).unwrap().chars().count();
        let budget = usize::try_from(max_tokens).unwrap() * 5 / 2;
        assert!(
            chars <= budget.max(2_500) * 5 / 4,
            "{chars} characters for {max_tokens} tokens"
        );
        assert_eq!(
            answer.hits.len() + usize::try_from(answer.omitted).unwrap(),
            50
        );
    }
}

#[test]
fn an_emoji_is_never_cut_in_half() {
    let world = World::new();
    world.note(&format!("lime {}", "👩‍👩‍👧".repeat(400)));
    let hit = &world
        .search(&SearchArgs {
            detail: Some("brief".into()),
            ..asking("lime")
        })
        .hits[0];
    assert!(hit.truncated);
    assert!(
        hit.record.content["lime ".len()..]
            .chars()
            .count()
            .is_multiple_of(5)
    );
}

#[test]
fn filters_narrow() {
    let world = World::new();
    world.save(RememberArgs {
        kind: Some("decision".into()),
        tags: vec!["a".into(), "b".into()],
        ..statement("lime one")
    });
    world.save(RememberArgs {
        scope: Some("private".into()),
        ..statement("lime two")
    });
    let found = |args: SearchArgs| {
        world
            .search(&args)
            .hits
            .into_iter()
            .map(|hit| hit.record.content)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(SearchArgs {
            kind: Some("decision".into()),
            ..asking("lime")
        }),
        ["lime one"]
    );
    assert_eq!(
        found(SearchArgs {
            tags: vec!["a".into(), "b".into()],
            ..asking("lime")
        }),
        ["lime one"]
    );
    assert!(
        found(SearchArgs {
            tags: vec!["a".into(), "c".into()],
            ..asking("lime")
        })
        .is_empty()
    );
    assert_eq!(
        found(SearchArgs {
            scope: Some("private".into()),
            ..asking("lime")
        }),
        ["lime two"]
    );
}

#[test]
fn what_is_saved_is_found_at_once_by_its_words() {
    let world = World::new();
    for (content, query) in [
        ("内存泄漏修复", "泄漏"),
        ("资料库迁移前一定要先备份", "备份"),
        ("결제 모듈을 고쳤다", "결제"),
        ("ошибка в развёртывании сервера", "ошибки"),
        ("Ｃｌｏｕｄ のみ", "cloud"),
        ("重跑gen-itgc后", "itgc"),
        ("built with C++ and gpt-4o", "gpt-4o"),
        ("see foo/bar.rs for TS-1234", "bar.rs"),
        ("unit `app-staging`", "app-staging"),
    ] {
        let id = world.note(content);
        assert_eq!(world.ids(query).first(), Some(&id), "{content} by {query}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn raising_the_limit_never_removes_an_earlier_hit(
        records in prop::collection::vec(prop::collection::vec(0_usize..12, 1..6), 1..60),
        query in prop::collection::vec(0_usize..12, 1..4),
        limits in (1_i64..50, 1_i64..50),
    ) {
        let word = |n: &usize| ["lime", "lemon", "kiwi", "fig", "plum", "pear", "date", "melon", "grape", "guava", "quince", "mango"][*n];
        let say = |words: &[usize]| words.iter().map(word).collect::<Vec<_>>().join(" ");
        let world = World::new();
        for words in &records {
            world.try_save(statement(&say(words))).unwrap();
        }
        let ask = |limit| {
            let args = SearchArgs { limit: Some(limit), max_tokens: Some(100_000), ..asking(&say(&query)) };
            world.search(&args).hits.into_iter().map(|hit| (hit.record.id, hit.score.to_bits())).collect::<Vec<_>>()
        };
        let (few, many) = (ask(limits.0.min(limits.1)), ask(limits.0.max(limits.1)));
        prop_assert_eq!(&many[..few.len()], &few[..]);
        let scores_fall = many.windows(2).all(|pair| f64::from_bits(pair[0].1) >= f64::from_bits(pair[1].1));
        prop_assert!(scores_fall);
    }

    #[test]
    fn any_text_is_a_query(content in "\\PC{1,60}", query in ".{1,200}") {
        let world = World::new();
        let _ = world.try_save(statement(&content));
        if let Err(refused) = world.memory.search(&world.me, &asking(&query)) {
            prop_assert!(query.trim().is_empty(), "{refused}");
        }
    }
}
