//! Batches: what is sent, and what becomes of every kind of answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mmw_store::embed::{EmbedError, Embedder as _, Passage, Vector};
use serde_json::json;

use super::super::client::Embeddings;
use super::super::endpoint::Hidden;
use super::super::settings::Remote;
use super::super::testing::{Reply, Server, answer, numbers, patience};

/// Connects to a server whose first answer is right and whose others are these.
fn after_the_first(
    later: impl Fn(usize, &[&str]) -> Reply + Send + Sync + 'static,
) -> (Server, Embeddings) {
    let n_asked = AtomicUsize::new(0);
    let server = Server::start(move |seen| match n_asked.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::of(200, answer(&seen.texts())),
        nth => later(nth, &seen.texts()),
    });
    let embeddings = server.connect();
    (server, embeddings)
}

fn refused(connected: Result<Embeddings, EmbedError>) -> EmbedError {
    connected.err().unwrap()
}

#[track_caller]
fn check_is_unusable(error: &EmbedError, word: &str) {
    assert!(
        matches!(error, EmbedError::Unusable(_)) && error.to_string().contains(word),
        "{error}"
    );
}

#[track_caller]
fn check_is_unavailable(error: &EmbedError, word: &str) {
    assert!(
        matches!(error, EmbedError::Unavailable(_)) && error.to_string().contains(word),
        "{error}"
    );
}

#[test]
fn texts_are_sent_as_the_protocol_says_and_nothing_else_is() {
    let server = Server::embedding();
    let remote = Remote {
        key: Some(Hidden::new("sk-1".to_owned())),
        ..server.remote()
    };
    let embeddings = Embeddings::with(&remote, patience()).unwrap();
    assert_eq!(embeddings.model().to_string(), "made-up/3/1");
    embeddings.embed(&["a", "bb"]).unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].line, "POST /v1/embeddings");
    assert_eq!(seen[1].header("authorization"), Some("Bearer sk-1"));
    assert_eq!(seen[1].header("content-type"), Some("application/json"));
    assert_eq!(
        seen[1].body,
        json!({"model": "made-up", "input": ["a", "bb"]})
    );
}

#[test]
fn the_only_model_is_taken_and_of_several_none() {
    let with = |body: serde_json::Value| {
        Server::start(move |seen| match seen.line.as_str() {
            "GET /v1/models" => Reply::of(200, body.to_string()),
            _ => Reply::of(200, answer(&seen.texts())),
        })
    };
    let connect = |server: &Server| {
        let remote = Remote {
            model: None,
            ..server.remote()
        };
        Embeddings::with(&remote, patience())
    };
    let one = json!({"object": "list", "data": [{"id": "nomic-embed-text:latest", "object": "model", "owned_by": "library"}]});
    let embeddings = connect(&with(one)).unwrap();
    assert_eq!(embeddings.model().name, "nomic-embed-text+nomic");
    let several = json!({"data": [{"id": "llama3"}, {"id": "bge-m3"}]});
    let told = refused(connect(&with(several)));
    check_is_unusable(&told, "MMW_EMBEDDINGS_MODEL: llama3, bge-m3");
    check_is_unusable(&refused(connect(&with(json!({"data": []})))), "no model");
    check_is_unusable(&refused(connect(&with(json!([])))), "MMW_EMBEDDINGS_MODEL");
}

#[test]
fn a_server_without_a_list_says_its_model_in_its_info() {
    let server = Server::start(|seen| match seen.line.as_str() {
        "GET /info" => Reply::of(
            200,
            r#"{"model_id":"intfloat/multilingual-e5-small","max_input_length":512}"#,
        ),
        "POST /v1/embeddings" => Reply::of(200, answer(&seen.texts())),
        _ => Reply::of(404, ""),
    });
    let remote = Remote {
        model: None,
        ..server.remote()
    };
    let embeddings = Embeddings::with(&remote, patience()).unwrap();
    assert_eq!(embeddings.model().name, "intfloat/multilingual-e5-small+e5");
    embeddings.embed(&["x"]).unwrap();
    embeddings.embed_query("x").unwrap();
    let seen = server.seen();
    assert_eq!(seen[3].texts(), ["passage: x"]);
    assert_eq!(seen[4].texts(), ["query: x"]);
}

#[test]
fn many_texts_go_in_several_requests_and_come_back_in_order() {
    let server = Server::embedding();
    let embeddings = server.connect();
    let texts: Vec<String> = (0..100).map(|n| "ab".repeat(n + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embeddings.embed(&texts).unwrap();
    let expected: Vec<Vector> = texts
        .iter()
        .map(|text| Vector::new(numbers(text).to_vec()).unwrap())
        .collect();
    assert_eq!(vectors, expected);
    let sizes: Vec<usize> = server.seen()[1..]
        .iter()
        .map(|seen| seen.texts().len())
        .collect();
    assert_eq!(sizes, [32, 32, 32, 4]);
    assert_eq!(embeddings.embed(&[]).unwrap(), []);
}

#[test]
fn a_record_beyond_the_window_is_sent_in_pieces_to_its_last_word() {
    let server = Server::embedding();
    let embeddings = server.connect();
    let fact = format!("{}zebra", "some words ".repeat(800));
    let passage = Passage {
        date: None,
        who: Some("ada"),
        fact: &fact,
    };
    let pieces = embeddings.pieces(&passage);
    assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.starts_with("ada: ")));
    assert!(pieces[pieces.len() - 1].ends_with("zebra"));
}

#[test]
fn what_will_not_pass_is_unusable_and_asked_once() {
    for (status, word) in [
        (401, "MMW_EMBEDDINGS_KEY"),
        (403, "MMW_EMBEDDINGS_KEY"),
        (404, "MMW_EMBEDDINGS_MODEL"),
        (400, "embedding model"),
        (418, "418"),
    ] {
        let server = Server::start(move |_| Reply::of(status, "{}"));
        let told = refused(Embeddings::with(&server.remote(), patience()));
        check_is_unusable(&told, word);
        assert_eq!(server.seen().len(), 1, "{status}");
    }
}

#[test]
fn trouble_that_may_pass_is_tried_three_times() {
    for (status, word) in [(429, "too often"), (500, "500"), (503, "503")] {
        let server = Server::start(move |_| Reply::of(status, "{}"));
        let told = refused(Embeddings::with(&server.remote(), patience()));
        check_is_unavailable(&told, word);
        assert_eq!(server.seen().len(), 3, "{status}");
    }
}

#[test]
fn a_server_that_asks_for_patience_gets_it() {
    let (server, embeddings) = after_the_first(|nth, texts| match nth {
        1 => Reply::of(429, "").with("retry-after", "1"),
        _ => Reply::of(200, answer(texts)),
    });
    let began = Instant::now();
    assert_eq!(embeddings.embed(&["a"]).unwrap().len(), 1);
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_server_that_asks_for_an_hour_is_left_alone() {
    let (server, embeddings) =
        after_the_first(|_, _| Reply::of(429, "").with("retry-after", "3600"));
    check_is_unavailable(&embeddings.embed(&["a"]).unwrap_err(), "429");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn other_dimensions_midway_are_told_with_both_numbers() {
    let (_server, embeddings) =
        after_the_first(|_, _| Reply::of(200, r#"{"data":[{"embedding":[1,2]}]}"#));
    let told = embeddings.embed(&["a"]).unwrap_err();
    check_is_unusable(&told, "2 numbers");
    check_is_unusable(&told, "gave 3");
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let (server, embeddings) = after_the_first(|nth, texts| Reply {
        broken_off_at: (nth == 1).then_some(20),
        ..Reply::of(200, answer(texts))
    });
    assert_eq!(embeddings.embed(&["a"]).unwrap().len(), 1);
    assert_eq!(server.seen().len(), 3);
    let (_server, embeddings) = after_the_first(|_, texts| Reply {
        broken_off_at: Some(20),
        ..Reply::of(200, answer(texts))
    });
    check_is_unavailable(&embeddings.embed(&["a"]).unwrap_err(), "broke off");
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let (_server, embeddings) = after_the_first(|_, _| {
        let numbers = vec!["1.0"; 60_000].join(",");
        Reply::of(200, format!("{{\"data\":[{{\"embedding\":[{numbers}]}}]}}"))
    });
    check_is_unusable(&embeddings.embed(&["a"]).unwrap_err(), "more than vectors");
    let server = Server::start(|_| Reply::of(200, vec![b' '; 2 << 20]));
    check_is_unusable(
        &refused(Embeddings::with(&server.remote(), patience())),
        "more than vectors",
    );
}

#[test]
fn what_is_no_answer_of_this_kind_is_told_with_the_address_to_check() {
    for (body, word) in [
        ("<html>hello</html>", "MMW_EMBEDDINGS_URL"),
        (r#"{"data":[]}"#, "MMW_EMBEDDINGS_URL"),
        (r#"{"embeddings":[[1,2]]}"#, "/v1"),
    ] {
        let server = Server::start(move |_| Reply::of(200, body));
        check_is_unusable(
            &refused(Embeddings::with(&server.remote(), patience())),
            word,
        );
    }
}

#[test]
fn a_text_without_a_direction_is_named_by_its_number() {
    for bad in ["[0,0,0]", "[null,1,1]", "[1e39,1,1]"] {
        let (_server, embeddings) = after_the_first(move |_, texts| {
            let item = |text: &&str| {
                let good = format!("{:?}", numbers(text));
                let numbers = if *text == "bad" { bad } else { &good };
                format!("{{\"embedding\":{numbers}}}")
            };
            let items: Vec<String> = texts.iter().map(item).collect();
            Reply::of(200, format!("{{\"data\":[{}]}}", items.join(",")))
        });
        let mut texts = vec!["good"; 50];
        texts[40] = "bad";
        assert_eq!(
            embeddings.embed(&texts),
            Err(EmbedError::NoVector { index: 40 }),
            "{bad}"
        );
    }
}

#[test]
fn a_server_that_takes_few_texts_at_once_gets_few() {
    let (server, embeddings) = after_the_first(|_, texts| {
        if texts.len() > 8 {
            Reply::of(
                413,
                r#"{"message":"batch size 32 > maximum allowed batch size 8"}"#,
            )
        } else {
            Reply::of(200, answer(texts))
        }
    });
    let texts: Vec<String> = (0..32).map(|n| "b".repeat(n + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embeddings.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_eq!(vector, &Vector::new(numbers(text).to_vec()).unwrap());
    }
    let largest = server
        .seen()
        .iter()
        .filter(|seen| seen.texts().len() > 8)
        .count();
    assert_eq!(largest, 3);
}

#[test]
fn a_text_that_is_too_long_after_all_is_embedded_in_parts() {
    // As a server says it that has an error of its own for it.
    let (server, embeddings) = after_the_first(|_, texts| {
        if texts.iter().any(|text| text.len() > 600) {
            Reply::of(
                500,
                r#"{"error":{"message":"input is too large to process. increase the physical batch size"}}"#,
            )
        } else {
            Reply::of(200, answer(texts))
        }
    });
    let long = format!("{}zebra", "a word ".repeat(140));
    let vectors = embeddings.embed(&["b", &long]).unwrap();
    assert_eq!(vectors.len(), 2);
    assert_eq!(vectors[0], Vector::new(numbers("b").to_vec()).unwrap());
    let answered = server.seen();
    let sent = answered
        .iter()
        .rev()
        .flat_map(|seen| seen.texts())
        .find(|text| text.len() < 600 && text.ends_with("zebra"));
    assert!(sent.is_some());
}

#[test]
fn a_text_that_no_cutting_helps_is_named_by_its_number() {
    let (_server, embeddings) = after_the_first(|_, texts| {
        if texts.iter().any(|text| text.contains('x')) {
            Reply::of(422, "{}")
        } else {
            Reply::of(200, answer(texts))
        }
    });
    let mut texts = vec!["good"; 40];
    let long = "x y ".repeat(100);
    texts[35] = &long;
    let told = embeddings.embed(&texts).unwrap_err();
    assert!(
        matches!(told, EmbedError::TooLong { index: 35, .. }),
        "{told:?}"
    );
    assert!(told.is_about_a_text());
}

#[test]
fn a_place_where_nothing_listens_is_named() {
    let server = Server::embedding();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let endpoint = super::super::Endpoint::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let remote = Remote {
        endpoint,
        ..server.remote()
    };
    let told = refused(Embeddings::with(&remote, patience()));
    check_is_unavailable(&told, &format!("127.0.0.1:{port}: is the server running?"));
}

#[test]
fn a_server_that_speaks_plain_http_is_no_secure_one() {
    let server = Server::embedding();
    let endpoint =
        super::super::Endpoint::parse(&format!("https://127.0.0.1:{}", server.port)).unwrap();
    let remote = Remote {
        endpoint,
        ..server.remote()
    };
    let told = refused(Embeddings::with(&remote, patience()));
    assert!(told.to_string().contains("127.0.0.1"), "{told}");
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.header("authorization").is_none())
    );
}
