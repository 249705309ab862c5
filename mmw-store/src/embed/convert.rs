//! Makes a model file of a published folder: `config.json`, `model.safetensors`, `vocab.txt` and, where
//! there are any, `1_Pooling/config.json`, `sentence_bert_config.json` and `tokenizer_config.json`.
//!
//! The result depends on nothing but the contents: the same bytes on every run and every machine. Of
//! BERT models only the uncased ones with absolute positions and the Gaussian activation are taken;
//! any other would run and mean nothing.

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

use super::format::{Config, FormatError, Pooling, pack, write};

/// A folder can't be made into a model file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A file is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A file is not what its name says.
    #[error("{file} can't be read")]
    Json {
        /// Which of the files.
        file: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The weights can't be read.
    #[error("model.safetensors can't be read")]
    Weights(#[from] safetensors::SafeTensorError),
    /// A setting has a value that is not supported, or none.
    #[error("{file}: {setting} is {found}, supported is {wanted}")]
    Setting {
        /// Which of the files.
        file: &'static str,
        /// Which setting.
        setting: &'static str,
        /// What stands there.
        found: String,
        /// What could stand there.
        wanted: &'static str,
    },
    /// Weights are missing or have another type or shape.
    #[error(
        "model.safetensors: {name} is not there as numbers of 32 bits with the shape {shape:?}"
    )]
    Tensor {
        /// The name of the weights.
        name: String,
        /// The shape that follows from the settings.
        shape: Vec<usize>,
    },
    /// A weight is not finite.
    #[error("model.safetensors: {0} has a number that is not finite")]
    NotFinite(String),
    /// The sizes are beyond what a model file holds.
    #[error("the sizes are not supported")]
    Format(#[from] FormatError),
}

/// The name of the settings' file.
const CONFIG: &str = "config.json";
/// How many tokens a text may have if nothing says it, as far as there are positions.
const USUAL_WINDOW: usize = 256;

/// Returns the bytes of a model file with that name. `file` returns the contents of a file of the
/// folder by its name, or nothing if there is none.
///
/// # Errors
/// [`ConvertError`] says which file is missing or not supported, and why.
pub fn convert(
    name: &str,
    file: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, ConvertError> {
    let needed = |name: &'static str| file(name).ok_or(ConvertError::Missing(name));
    let json = |name: &'static str| {
        let read = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes);
        file(name)
            .map(read)
            .transpose()
            .map_err(|source| ConvertError::Json { file: name, source })
    };
    let settings = json(CONFIG)?.ok_or(ConvertError::Missing(CONFIG))?;
    demand(CONFIG, &settings, "hidden_act", &["gelu"], "gelu")?;
    let absolute = &["absolute", ""];
    demand(
        CONFIG,
        &settings,
        "position_embedding_type",
        absolute,
        "absolute",
    )?;
    demand(CONFIG, &settings, "model_type", &["bert", ""], "bert")?;
    let tokenizer = json("tokenizer_config.json")?.unwrap_or_default();
    let uncased = &["true", ""];
    demand(
        "tokenizer_config.json",
        &tokenizer,
        "do_lower_case",
        uncased,
        "true",
    )?;
    let vocabulary = needed("vocab.txt")?;
    let config = Config {
        vocabulary: size(&settings, "vocab_size")?,
        hidden: size(&settings, "hidden_size")?,
        layers: size(&settings, "num_hidden_layers")?,
        heads: size(&settings, "num_attention_heads")?,
        intermediate: size(&settings, "intermediate_size")?,
        positions: size(&settings, "max_position_embeddings")?,
        window: window(
            &json("sentence_bert_config.json")?.unwrap_or_default(),
            &settings,
        )?,
        pooling: pooling(&json("1_Pooling/config.json")?.unwrap_or_default())?,
        epsilon: settings["layer_norm_eps"].as_f64().unwrap_or(1e-12) as f32,
    };
    config.check()?;
    let bytes = needed("model.safetensors")?;
    let weights = Published(SafeTensors::deserialize(&bytes)?);
    let mut contents = vec![name.as_bytes().to_vec(), vocabulary];
    weights.embeddings(&config, &mut contents)?;
    for layer in 0..config.layers {
        weights.layer(&config, layer, &mut contents)?;
    }
    Ok(write(&config, &contents)?)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Fails unless a setting is one of these; an absent one is the empty text.
fn demand(
    file: &'static str,
    settings: &Value,
    setting: &'static str,
    allowed: &[&str],
    wanted: &'static str,
) -> Result<(), ConvertError> {
    let found = shown(&settings[setting]);
    if allowed.contains(&found.as_str()) {
        return Ok(());
    }
    Err(ConvertError::Setting {
        file,
        setting,
        found,
        wanted,
    })
}

fn size(settings: &Value, setting: &'static str) -> Result<usize, ConvertError> {
    let number = settings[setting].as_u64();
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| ConvertError::Setting {
            file: CONFIG,
            setting,
            found: shown(&settings[setting]),
            wanted: "a whole number",
        })
}

fn window(sentences: &Value, settings: &Value) -> Result<usize, ConvertError> {
    let positions = size(settings, "max_position_embeddings")?;
    let window = sentences["max_seq_length"].as_u64();
    let window = window.and_then(|window| usize::try_from(window).ok());
    Ok(window.unwrap_or(USUAL_WINDOW).min(positions))
}

fn pooling(settings: &Value) -> Result<Pooling, ConvertError> {
    let is = |mode: &str| settings[mode] == Value::Bool(true);
    let both = (is("pooling_mode_mean_tokens"), is("pooling_mode_cls_token"));
    match both {
        _ if settings.is_null() => Ok(Pooling::Mean),
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(ConvertError::Setting {
            file: "1_Pooling/config.json",
            setting: "pooling_mode",
            found: "another".to_owned(),
            wanted: "the mean of all tokens or the first one",
        }),
    }
}

/// Weights as they were published.
struct Published<'a>(SafeTensors<'a>);

/// A matrix in eight bits: of each row the numbers and what one of them stands for.
#[derive(Default)]
struct Rows {
    numbers: Vec<i8>,
    scales: Vec<f32>,
}

impl Published<'_> {
    /// Returns weights by name, with or without the prefix that whole models have.
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ConvertError> {
        let found = self
            .0
            .tensor(name)
            .or_else(|_| self.0.tensor(&format!("bert.{name}")));
        let right = found
            .ok()
            .filter(|tensor| tensor.dtype() == Dtype::F32 && tensor.shape() == shape);
        let Some(tensor) = right else {
            return Err(ConvertError::Tensor {
                name: name.to_owned(),
                shape: shape.to_vec(),
            });
        };
        let (numbers, _) = tensor.data().as_chunks();
        let numbers: Vec<f32> = numbers
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect();
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err(ConvertError::NotFinite(name.to_owned()))
        }
    }

    fn embeddings(&self, config: &Config, contents: &mut Vec<Vec<u8>>) -> Result<(), ConvertError> {
        let hidden = config.hidden;
        let pieces = "embeddings.word_embeddings.weight";
        let mut rows = Rows::default();
        rows.extend(&self.get(pieces, &[config.vocabulary, hidden])?, hidden);
        contents.push(
            rows.numbers
                .iter()
                .map(|number| number.cast_unsigned())
                .collect(),
        );
        contents.push(floats(&rows.scales));
        let positions = "embeddings.position_embeddings.weight";
        let mut positions = self.get(positions, &[config.positions, hidden])?;
        // All tokens are of the first type.
        let types = self.get("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        for row in positions.chunks_exact_mut(hidden) {
            row.iter_mut()
                .zip(&types)
                .for_each(|(number, more)| *number += more);
        }
        contents.push(floats(&positions));
        contents.push(self.norm("embeddings.LayerNorm", hidden)?);
        Ok(())
    }

    fn layer(
        &self,
        config: &Config,
        layer: usize,
        contents: &mut Vec<Vec<u8>>,
    ) -> Result<(), ConvertError> {
        let (hidden, between) = (config.hidden, config.intermediate);
        let named = |name: &str| format!("encoder.layer.{layer}.{name}");
        let mix = ["query", "key", "value"].map(|name| named(&format!("attention.self.{name}")));
        self.matrix(&mix, hidden, hidden, contents)?;
        self.matrix(&[named("attention.output.dense")], hidden, hidden, contents)?;
        contents.push(self.norm(&named("attention.output.LayerNorm"), hidden)?);
        self.matrix(&[named("intermediate.dense")], between, hidden, contents)?;
        self.matrix(&[named("output.dense")], hidden, between, contents)?;
        contents.push(self.norm(&named("output.LayerNorm"), hidden)?);
        Ok(())
    }

    /// Adds the three parts of a matrix that is put together of these.
    fn matrix(
        &self,
        names: &[String],
        n_outputs: usize,
        n_inputs: usize,
        contents: &mut Vec<Vec<u8>>,
    ) -> Result<(), ConvertError> {
        let mut rows = Rows::default();
        let mut bias = Vec::new();
        for name in names {
            let weights = self.get(&format!("{name}.weight"), &[n_outputs, n_inputs])?;
            rows.extend(&weights, n_inputs);
            bias.extend(self.get(&format!("{name}.bias"), &[n_outputs])?);
        }
        let sum = |row: &[i8]| row.iter().map(|number| i32::from(*number)).sum::<i32>();
        let sums = rows.numbers.chunks_exact(n_inputs).map(sum);
        let sums = sums.flat_map(i32::to_le_bytes).collect();
        contents.push(pack(&rows.numbers, n_inputs));
        contents.push([floats(&rows.scales), floats(&bias)].concat());
        contents.push(sums);
        Ok(())
    }

    fn norm(&self, name: &str, hidden: usize) -> Result<Vec<u8>, ConvertError> {
        let gain = self.get(&format!("{name}.weight"), &[hidden])?;
        let shift = self.get(&format!("{name}.bias"), &[hidden])?;
        Ok([floats(&gain), floats(&shift)].concat())
    }
}

impl Rows {
    /// Adds rows: the largest number of each becomes 127.
    fn extend(&mut self, weights: &[f32], n_columns: usize) {
        for row in weights.chunks_exact(n_columns) {
            let largest = row
                .iter()
                .fold(0_f32, |most, number| most.max(number.abs()));
            let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            self.numbers
                .extend(row.iter().map(|number| (number / scale).round() as i8));
            self.scales.push(scale);
        }
    }
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use safetensors::tensor::{TensorView, serialize};

    use super::super::format::testing::vocabulary;
    use super::super::{Embedder, Instructions, LocalModel, ModelFile};
    use super::*;

    const HIDDEN: usize = 32;

    /// Returns a published folder of one small layer.
    fn folder() -> HashMap<&'static str, Vec<u8>> {
        let settings = serde_json::json!({
            "model_type": "bert", "hidden_act": "gelu", "vocab_size": 60, "hidden_size": HIDDEN,
            "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64,
            "max_position_embeddings": 40, "layer_norm_eps": 1e-12,
        });
        let mut shapes = vec![
            (
                "embeddings.word_embeddings.weight".to_owned(),
                vec![60, HIDDEN],
            ),
            (
                "embeddings.position_embeddings.weight".to_owned(),
                vec![40, HIDDEN],
            ),
            (
                "embeddings.token_type_embeddings.weight".to_owned(),
                vec![2, HIDDEN],
            ),
        ];
        let dense = [
            ("attention.self.query", HIDDEN, HIDDEN),
            ("attention.self.key", HIDDEN, HIDDEN),
            ("attention.self.value", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", 64, HIDDEN),
            ("output.dense", HIDDEN, 64),
        ];
        for (name, outputs, inputs) in dense {
            shapes.push((
                format!("encoder.layer.0.{name}.weight"),
                vec![outputs, inputs],
            ));
            shapes.push((format!("encoder.layer.0.{name}.bias"), vec![outputs]));
        }
        for name in [
            "embeddings",
            "encoder.layer.0.attention.output",
            "encoder.layer.0.output",
        ] {
            for part in ["weight", "bias"] {
                shapes.push((format!("{name}.LayerNorm.{part}"), vec![HIDDEN]));
            }
        }
        let data: Vec<Vec<u8>> = shapes
            .iter()
            .map(|(_, shape)| {
                let n: usize = shape.iter().product();
                let numbers = (0..n).map(|nth| (nth * 37 % 101) as f32 / 50.0 - 1.0);
                numbers.flat_map(f32::to_le_bytes).collect()
            })
            .collect();
        let views = shapes.iter().zip(&data).map(|((name, shape), data)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), data).unwrap();
            (name.clone(), view)
        });
        HashMap::from([
            (CONFIG, settings.to_string().into_bytes()),
            ("vocab.txt", vocabulary(60).into_bytes()),
            ("model.safetensors", serialize(views, None).unwrap()),
        ])
    }

    fn made(folder: &HashMap<&'static str, Vec<u8>>) -> Result<Vec<u8>, ConvertError> {
        convert("small", |name| folder.get(name).cloned())
    }

    #[test]
    fn a_folder_becomes_a_model_that_embeds_the_same_on_every_run() {
        let bytes = made(&folder()).unwrap();
        assert_eq!(bytes, made(&folder()).unwrap());
        let file = ModelFile::read(&bytes).unwrap();
        assert_eq!(
            (file.config().window, file.config().pooling),
            (40, Pooling::Mean)
        );
        let model = LocalModel::new(file, Instructions::Best).unwrap();
        assert_eq!(model.embed(&["abc", "xyz"]).unwrap().len(), 2);
    }

    #[test]
    fn the_window_and_the_pooling_come_from_their_files() {
        let mut folder = folder();
        folder.insert(
            "sentence_bert_config.json",
            br#"{"max_seq_length": 33}"#.to_vec(),
        );
        folder.insert(
            "1_Pooling/config.json",
            br#"{"pooling_mode_cls_token": true}"#.to_vec(),
        );
        let file = ModelFile::read(&made(&folder).unwrap()).unwrap();
        assert_eq!(
            (file.config().window, file.config().pooling),
            (33, Pooling::First)
        );
    }

    fn check(name: &'static str, contents: Option<&str>, told: &str) {
        let mut folder = folder();
        match contents {
            Some(contents) => folder.insert(name, contents.as_bytes().to_vec()),
            None => folder.remove(name),
        };
        let found = made(&folder).unwrap_err().to_string();
        assert!(found.contains(told), "{found}");
    }

    #[test]
    fn what_is_missing_or_not_supported_is_named() {
        check("vocab.txt", None, "vocab.txt is missing");
        check(CONFIG, None, "config.json is missing");
        check(CONFIG, Some("{"), "config.json can't be read");
        check(
            CONFIG,
            Some(r#"{"hidden_act": "relu"}"#),
            "hidden_act is relu",
        );
        check(CONFIG, Some(r#"{"hidden_act": "gelu"}"#), "vocab_size");
        check(
            "model.safetensors",
            Some("none"),
            "model.safetensors can't be read",
        );
        check(
            "tokenizer_config.json",
            Some(r#"{"do_lower_case": false}"#),
            "do_lower_case",
        );
        check("1_Pooling/config.json", Some("{}"), "pooling_mode");
    }

    #[test]
    fn weights_of_another_shape_are_named() {
        let mut folder = folder();
        let settings = String::from_utf8(folder[CONFIG].clone()).unwrap();
        folder.insert(CONFIG, settings.replace("40", "41").into_bytes());
        let found = made(&folder).unwrap_err().to_string();
        assert!(
            found.contains("position_embeddings") && found.contains("[41, 32]"),
            "{found}"
        );
    }
}
