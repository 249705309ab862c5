//! Writes the encoder as a graph in ONNX, with the weights of a model file in 32 bits.

use std::cell::RefCell;

use rten_onnx::onnx::{
    AttributeProto, AttributeType, DataType, Dimension, GraphProto, ModelProto, NodeProto,
    OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};
use rten_onnx::protobuf::{EncodeMessage, ValueWriter};

use super::published::{Dense, Kind, Published};

/// The version of ONNX's operators.
const OPERATORS: i64 = 20;

/// Returns the graph: numbers of tokens and their positions in, the mean of all rows out.
pub(super) fn write(model: &Published<'_>) -> Vec<u8> {
    let mut graph = Graph::default();
    let mean = graph.encoder(model);
    graph.0.input = ["tokens", "positions"]
        .map(|name| value(name, DataType::INT32))
        .into();
    graph.0.output = vec![value(&mean, DataType::FLOAT)];
    let whole = ModelProto {
        ir_version: Some(9),
        opset_import: vec![OperatorSetIdProto {
            domain: None,
            version: Some(OPERATORS),
        }],
        graph: Some(graph.0),
        ..ModelProto::default()
    };
    let mut bytes = Vec::new();
    let written = whole.encode(ValueWriter::new(&mut bytes));
    written.expect("memory takes everything");
    bytes
}

fn value(name: &str, elem_type: DataType) -> ValueInfoProto {
    let any = Dimension {
        dim_value: None,
        dim_param: Some(format!("of_{name}")),
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            tensor_type: Some(TypeProtoTensor {
                elem_type: Some(elem_type),
                shape: Some(TensorShapeProto { dim: vec![any] }),
            }),
            sequence: None,
        }),
    }
}

fn integers(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        ints: ints.to_vec(),
        r#type: Some(AttributeType::INTS),
        ..AttributeProto::default()
    }
}

fn integer(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(i),
        r#type: Some(AttributeType::INT),
        ..AttributeProto::default()
    }
}

fn float(name: &str, f: f32) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        f: Some(f),
        r#type: Some(AttributeType::FLOAT),
        ..AttributeProto::default()
    }
}

#[derive(Default)]
struct Graph(GraphProto);

/// All methods return the name of what they add.
impl Graph {
    fn constant(&mut self, shape: &[usize], data_type: DataType, bytes: Vec<u8>) -> String {
        let name = format!("c{}", self.0.initializer.len());
        let dims = shape.iter().map(|n| i64::try_from(*n).expect("small"));
        self.0.initializer.push(TensorProto {
            dims: dims.collect(),
            data_type: Some(data_type),
            raw_data: Some(RefCell::new(bytes)),
            name: Some(name.clone()),
            ..TensorProto::default()
        });
        name
    }

    fn floats(&mut self, shape: &[usize], numbers: &[f32]) -> String {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.constant(shape, DataType::FLOAT, bytes.collect())
    }

    fn whole(&mut self, numbers: &[i64]) -> String {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.constant(&[numbers.len()], DataType::INT64, bytes.collect())
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attribute: Vec<AttributeProto>) -> String {
        let name = format!("n{}", self.0.node.len());
        self.0.node.push(NodeProto {
            domain: None,
            name: Some(format!("{operator} {name}")),
            input: inputs.iter().map(|input| (*input).to_owned()).collect(),
            output: vec![name.clone()],
            op_type: Some(operator.to_owned()),
            attribute,
        });
        name
    }

    fn dense(&mut self, rows: &str, dense: &Dense) -> String {
        let weights = self.floats(&[dense.n_inputs, dense.n_outputs], &dense.weights);
        let bias = self.floats(&[dense.n_outputs], &dense.bias);
        let product = self.node("MatMul", &[rows, &weights], Vec::new());
        self.node("Add", &[&product, &bias], Vec::new())
    }

    fn normalise(&mut self, rows: &str, model: &Published<'_>, kind: Kind, layer: usize) -> String {
        let both = model.two(kind, layer);
        let [gain, shift] = both.map(|numbers| self.floats(&[numbers.len()], &numbers));
        let settings = vec![integer("axis", -1), float("epsilon", model.epsilon())];
        self.node("LayerNormalization", &[rows, &gain, &shift], settings)
    }

    /// Parts rows into heads: a matrix of `order` for each.
    fn heads(&mut self, rows: &str, model: &Published<'_>, order: &[i64]) -> String {
        let parted = self.whole(&[-1, whole(model.heads()), whole(width(model))]);
        let parted = self.node("Reshape", &[rows, &parted], Vec::new());
        self.node("Transpose", &[&parted], vec![integers("perm", order)])
    }

    fn attend(&mut self, rows: &str, model: &Published<'_>, layer: usize) -> String {
        let [query, key, values] = [0, 1, 2].map(|nth| {
            let kinds = [Kind::MixWeights, Kind::MixScales];
            self.dense(rows, &model.dense(kinds, layer, (nth, 3)))
        });
        let query = self.heads(&query, model, &[1, 0, 2]);
        let key = self.heads(&key, model, &[1, 2, 0]);
        let values = self.heads(&values, model, &[1, 0, 2]);
        let root = self.floats(&[], &[(width(model) as f32).sqrt()]);
        let weights = self.node("MatMul", &[&query, &key], Vec::new());
        let weights = self.node("Div", &[&weights, &root], Vec::new());
        let weights = self.node("Softmax", &[&weights], vec![integer("axis", -1)]);
        let mixed = self.node("MatMul", &[&weights, &values], Vec::new());
        let mixed = self.node("Transpose", &[&mixed], vec![integers("perm", &[1, 0, 2])]);
        let flat = self.whole(&[-1, whole(model.hidden())]);
        let mixed = self.node("Reshape", &[&mixed, &flat], Vec::new());
        let kinds = [Kind::OutWeights, Kind::OutScales];
        self.dense(&mixed, &model.dense(kinds, layer, (0, 1)))
    }

    fn encoder(&mut self, model: &Published<'_>) -> String {
        let hidden = model.hidden();
        let [pieces, positions] = [model.pieces(), model.floats(Kind::Positions, 0)]
            .map(|rows| self.floats(&[rows.len() / hidden, hidden], &rows));
        let pieces = self.node("Gather", &[&pieces, "tokens"], Vec::new());
        let positions = self.node("Gather", &[&positions, "positions"], Vec::new());
        let rows = self.node("Add", &[&pieces, &positions], Vec::new());
        let mut rows = self.normalise(&rows, model, Kind::FirstNorm, 0);
        for layer in 0..model.layers() {
            let answers = self.attend(&rows, model, layer);
            let sum = self.node("Add", &[&rows, &answers], Vec::new());
            rows = self.normalise(&sum, model, Kind::MidNorm, layer);
            let kinds = [Kind::UpWeights, Kind::UpScales];
            let between = self.dense(&rows, &model.dense(kinds, layer, (0, 1)));
            let between = self.node("Gelu", &[&between], Vec::new());
            let kinds = [Kind::DownWeights, Kind::DownScales];
            let answers = self.dense(&between, &model.dense(kinds, layer, (0, 1)));
            let sum = self.node("Add", &[&rows, &answers], Vec::new());
            rows = self.normalise(&sum, model, Kind::LastNorm, layer);
        }
        let tokens = self.whole(&[0]);
        self.node(
            "ReduceMean",
            &[&rows, &tokens],
            vec![integer("keepdims", 0)],
        )
    }
}

/// Returns the width of a head.
fn width(model: &Published<'_>) -> usize {
    model.hidden() / model.heads()
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).expect("small")
}
