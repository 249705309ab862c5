//! The request and the answer of `/v1/embeddings`, and the list of models.
//!
//! Servers differ: some leave out the index, some give texts in another order, some write `null` for
//! what is no number. Nothing here waits or decides what a failure means for the caller.

use mmw_store::embed::Vector;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misread {
    /// It breaks off.
    CutOff,
    /// It is no answer of this kind.
    Shape,
    /// It is in the form of Ollama's own address.
    OllamaForm,
    /// It does not have one vector for each text.
    Count,
    /// A vector has another number of numbers.
    Dimensions(usize),
    /// This text has a vector without direction.
    NoVector(usize),
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    // Wider than what is kept: a number beyond it is no direction, not an answer of another kind.
    embedding: Vec<Option<f64>>,
    index: Option<usize>,
}

/// Returns the body of a request. The form of the numbers is left to the server's default, which is
/// plain ones: not every server knows the setting.
pub(super) fn request(model: Option<&str>, texts: &[String]) -> Vec<u8> {
    let mut request = Map::new();
    if let Some(model) = model {
        request.insert("model".to_owned(), model.into());
    }
    request.insert("input".to_owned(), texts.into());
    Value::Object(request).to_string().into_bytes()
}

/// Reads the vectors of an answer, in the order of the texts. `dimensions` is what they must have, if
/// it is known already.
pub(super) fn vectors(
    body: &[u8],
    n_texts: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vector>, Misread> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            Misread::CutOff
        } else if is_ollama(body) {
            Misread::OllamaForm
        } else {
            Misread::Shape
        }
    })?;
    if answer.data.len() != n_texts {
        return Err(Misread::Count);
    }
    let mut in_order: Vec<Option<Vec<Option<f64>>>> = vec![None; n_texts];
    for (position, item) in answer.data.into_iter().enumerate() {
        let place = in_order.get_mut(item.index.unwrap_or(position));
        match place {
            Some(place @ None) => *place = Some(item.embedding),
            _ => return Err(Misread::Count),
        }
    }
    let in_order: Vec<Vec<Option<f64>>> = in_order.into_iter().flatten().collect();
    let expected = dimensions.or_else(|| in_order.first().map(Vec::len));
    let numbers = in_order.into_iter().enumerate();
    numbers
        .map(|(nth, numbers)| {
            if Some(numbers.len()) != expected {
                return Err(Misread::Dimensions(numbers.len()));
            }
            let numbers = numbers
                .into_iter()
                .map(|n| n.unwrap_or(f64::NAN) as f32)
                .collect();
            Vector::new(numbers).ok_or(Misread::NoVector(nth))
        })
        .collect()
}

fn is_ollama(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body)
        .is_ok_and(|value| value.get("embeddings").is_some() || value.get("embedding").is_some())
}

/// Reads the names of a list of models; nothing if it is none.
pub(super) fn models(body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let ids = list.get("data")?.as_array()?.iter();
    Some(ids.filter_map(|model| name(model.get("id")?)).collect())
}

/// Reads the name of the one model that a server of the Text Embeddings Inference kind has.
pub(super) fn model_of_info(body: &[u8]) -> Option<String> {
    let info: Value = serde_json::from_slice(body).ok()?;
    name(info.get("model_id")?)
}

/// Names are shown and sent back: one with what no name has is none.
fn name(value: &Value) -> Option<String> {
    let name = value.as_str()?.trim();
    let is_plain = !name.is_empty() && name.len() <= 200 && !name.contains(char::is_control);
    is_plain.then(|| name.to_owned())
}

/// Tells whether a refusal is about the length of what was sent, as servers word it.
pub(super) fn is_about_length(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    [
        "too large",
        "too long",
        "context length",
        "context window",
        "context size",
        "batch size",
        "must have less than",
        "maximum input length",
        "maximum number of tokens",
    ]
    .iter()
    .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(body: &str, n_texts: usize, expected: Result<&[[f32; 2]], Misread>) {
        let found = vectors(body.as_bytes(), n_texts, Some(2));
        let found = found.map(|v| v.iter().map(|v| v.values().to_vec()).collect::<Vec<_>>());
        assert_eq!(
            found,
            expected.map(|v| v.iter().map(|v| v.to_vec()).collect()),
            "{body}"
        );
    }

    #[test]
    fn the_answers_of_servers_are_understood() {
        let openai = r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,0.0]},{"object":"embedding","index":1,"embedding":[0.0,-2.0]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}"#;
        check(openai, 2, Ok(&[[1.0, 0.0], [0.0, -1.0]]));
        let llama = r#"{"model":"gpt-3.5-turbo","object":"list","usage":{"prompt_tokens":0,"total_tokens":0},"data":[{"embedding":[1,0],"index":0,"object":"embedding"}]}"#;
        check(llama, 1, Ok(&[[1.0, 0.0]]));
        let without_index = r#"{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}"#;
        check(without_index, 2, Ok(&[[1.0, 0.0], [0.0, 1.0]]));
    }

    #[test]
    fn the_index_gives_the_order() {
        let body = r#"{"data":[{"embedding":[0,1],"index":1},{"embedding":[1,0],"index":0}]}"#;
        check(body, 2, Ok(&[[1.0, 0.0], [0.0, 1.0]]));
    }

    #[test]
    fn what_does_not_fit_is_told_apart() {
        for (body, n_texts, misread) in [
            (r#"{"data":[{"embedding":[1,0]"#, 1, Misread::CutOff),
            ("", 1, Misread::CutOff),
            ("<html>", 1, Misread::Shape),
            (r#"{"data":[{"embedding":"AAAA"}]}"#, 1, Misread::Shape),
            (r#"{"data":[{"embedding":[[1,0]]}]}"#, 1, Misread::Shape),
            (r#"{"embeddings":[[1,0]]}"#, 1, Misread::OllamaForm),
            (r#"{"data":[]}"#, 1, Misread::Count),
            (
                r#"{"data":[{"embedding":[1,0]},{"embedding":[1,0]}]}"#,
                1,
                Misread::Count,
            ),
            (
                r#"{"data":[{"embedding":[1,0],"index":0},{"embedding":[1,0],"index":0}]}"#,
                2,
                Misread::Count,
            ),
            (
                r#"{"data":[{"embedding":[1,0],"index":7}]}"#,
                1,
                Misread::Count,
            ),
            (
                r#"{"data":[{"embedding":[1,0,0]}]}"#,
                1,
                Misread::Dimensions(3),
            ),
            (r#"{"data":[{"embedding":[0,0]}]}"#, 1, Misread::NoVector(0)),
            (
                r#"{"data":[{"embedding":[null,1]}]}"#,
                1,
                Misread::NoVector(0),
            ),
            (
                r#"{"data":[{"embedding":[1e39,1]}]}"#,
                1,
                Misread::NoVector(0),
            ),
            (r#"{"data":[{"embedding":[NaN,1]}]}"#, 1, Misread::Shape),
        ] {
            check(body, n_texts, Err(misread));
        }
    }

    #[test]
    fn vectors_of_one_answer_have_one_length() {
        let body = br#"{"data":[{"embedding":[1,0]},{"embedding":[1,0,0]}]}"#;
        assert_eq!(vectors(body, 2, None), Err(Misread::Dimensions(3)));
    }

    #[test]
    fn a_request_asks_for_plain_numbers_by_saying_nothing() {
        let texts = ["a \"b\"".to_owned()];
        let sent = String::from_utf8(request(Some("m"), &texts)).unwrap();
        assert_eq!(sent, r#"{"model":"m","input":["a \"b\""]}"#);
        assert_eq!(request(None, &texts), br#"{"input":["a \"b\""]}"#);
    }

    #[test]
    fn names_of_models_are_read() {
        let list =
            br#"{"object":"list","data":[{"id":"a"},{"id":7},{"id":"b\u0007"},{"id":"c/d:1"}]}"#;
        assert_eq!(models(list).unwrap(), ["a", "c/d:1"]);
        assert_eq!(models(b"{}"), None);
        let info = br#"{"model_id":"intfloat/e5","model_sha":null}"#;
        assert_eq!(model_of_info(info).as_deref(), Some("intfloat/e5"));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_fall_over(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (vectors(&body, 1, Some(2)), models(&body), model_of_info(&body), is_about_length(&body));
        }

        #[test]
        fn any_order_of_indexes_gives_the_texts_order(order in Just((0..9_usize).collect::<Vec<_>>()).prop_shuffle()) {
            let items: Vec<String> = order.iter().map(|n| format!("{{\"index\":{n},\"embedding\":[1,{n}]}}")).collect();
            let body = format!("{{\"data\":[{}]}}", items.join(","));
            for (n, vector) in vectors(body.as_bytes(), 9, None).unwrap().iter().enumerate() {
                prop_assert!((vector.values()[1] / vector.values()[0] - n as f32).abs() < 1e-4);
            }
        }
    }
}
