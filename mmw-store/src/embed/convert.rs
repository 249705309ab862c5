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
