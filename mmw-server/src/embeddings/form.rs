//! What models want to see before a query or a document.
//!
//! Some models were trained with a few words before each text, and find noticeably less without
//! them. Servers do not add them. The table goes by the model's name, as servers and people write it.

/// The words before texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// What it is called in the id of a model, where it changes what is stored.
    label: &'static str,
    pub(super) document: &'static str,
    pub(super) query: &'static str,
}

const PLAIN: Form = Form {
    label: "plain",
    document: "",
    query: "",
};

const RETRIEVAL: Form = Form {
    label: "retrieval",
    document: "",
    query: "Represent this sentence for searching relevant passages: ",
};

/// The first row all of whose words are in the name, and none of those that may not be, counts.
const TABLE: &[(&[&str], &[&str], Form)] = &[
    (
        &["e5", "instruct"],
        &[],
        Form {
            label: "instruct",
            document: "",
            query: "Instruct: Given a question, retrieve passages that answer it\nQuery: ",
        },
    ),
    (
        &["e5"],
        &["mistral"],
        Form {
            label: "e5",
            document: "passage: ",
            query: "query: ",
        },
    ),
    (
        &["nomic", "embed"],
        &["code"],
        Form {
            label: "nomic",
            document: "search_document: ",
            query: "search_query: ",
        },
    ),
    (
        &["embeddinggemma"],
        &[],
        Form {
            label: "gemma",
            document: "title: none | text: ",
            query: "task: search result | query: ",
        },
    ),
    (
        &["qwen3", "embedding"],
        &[],
        Form {
            label: "instruct",
            document: "",
            query: "Instruct: Given a question, retrieve passages that answer it\nQuery: ",
        },
    ),
    (
        &["bge", "zh"],
        &["m3"],
        Form {
            label: "retrieval",
            document: "",
            query: "为这个句子生成表示以用于检索相关文章：",
        },
    ),
    (&["bge", "small"], &["m3"], RETRIEVAL),
    (&["bge", "base"], &["m3"], RETRIEVAL),
    (&["bge", "large"], &["m3"], RETRIEVAL),
    (&["mxbai", "embed"], &["xsmall"], RETRIEVAL),
    (
        &["arctic", "embed2"],
        &[],
        Form {
            label: "arctic2",
            document: "",
            query: "query: ",
        },
    ),
    (
        &["arctic", "embed", "v2"],
        &[],
        Form {
            label: "arctic2",
            document: "",
            query: "query: ",
        },
    ),
    (&["arctic", "embed"], &[], RETRIEVAL),
];

impl Form {
    /// Returns what a model of that name was trained with.
    pub(super) fn of(model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
        TABLE
            .iter()
            .find(|(all, none, _)| {
                all.iter().all(|word| words.contains(word))
                    && !none.iter().any(|word| words.contains(word))
            })
            .map_or(PLAIN, |(_, _, form)| *form)
    }

    /// Returns the name under which vectors of a model are kept: those made with other words before
    /// the documents do not compare.
    pub(super) fn name(&self, model: &str) -> String {
        // `nomic-embed-text` and `nomic-embed-text:latest` are one model to Ollama.
        let model = model.strip_suffix(":latest").unwrap_or(model);
        if self.document.is_empty() {
            model.to_owned()
        } else {
            format!("{model}+{}", self.label)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_the_names_that_servers_give_them() {
        for (model, label) in [
            ("multilingual-e5-small", "e5"),
            ("intfloat/e5-base-v2", "e5"),
            ("intfloat/multilingual-e5-large-instruct", "instruct"),
            ("nomic-embed-text", "nomic"),
            ("nomic-embed-text:latest", "nomic"),
            ("text-embedding-nomic-embed-text-v1.5", "nomic"),
            ("nomic-embed-code", "plain"),
            ("BAAI/bge-small-en-v1.5", "retrieval"),
            ("bge-large:335m", "retrieval"),
            ("bge-m3", "plain"),
            ("mxbai-embed-large", "retrieval"),
            ("snowflake-arctic-embed:33m", "retrieval"),
            ("snowflake-arctic-embed2", "arctic2"),
            ("Snowflake/snowflake-arctic-embed-l-v2.0", "arctic2"),
            ("embeddinggemma:300m", "gemma"),
            ("qwen3-embedding:0.6b", "instruct"),
            ("text-embedding-3-small", "plain"),
            ("all-minilm", "plain"),
            ("some-e50-model", "plain"),
        ] {
            assert_eq!(Form::of(model).label, label, "{model}");
        }
    }

    #[test]
    fn only_words_before_documents_make_other_vectors() {
        let name = |model: &str| Form::of(model).name(model);
        assert_eq!(name("nomic-embed-text:latest"), "nomic-embed-text+nomic");
        assert_eq!(name("nomic-embed-text"), "nomic-embed-text+nomic");
        assert_eq!(name("bge-small-en-v1.5"), "bge-small-en-v1.5");
    }

    #[test]
    fn chinese_is_asked_in_chinese() {
        assert!(Form::of("BAAI/bge-base-zh-v1.5").query.starts_with('为'));
    }
}
