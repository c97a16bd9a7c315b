"""A model of a few words in the ONNX format, written byte by byte: its messages are protocol buffers."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

_FLOAT, _INT64 = 1, 7
_IR_VERSION, _OPSET = 8, 13

# What means the same has the same direction.
MEANINGS = {
    "[PAD]": (0.0, 0.0, 0.0),
    "[UNK]": (0.0, 0.0, 0.1),
    "car": (1.0, 0.1, 0.0),
    "automobile": (1.0, 0.0, 0.0),
    "soup": (0.0, 1.0, 0.0),
    "broth": (0.1, 1.0, 0.0),
}


def write_model(
    folder: Path, table: NDArray[np.floating] | None = None, input_name: str = "input_ids"
) -> None:
    """Put a model into a folder, as sentence models come; another table or input makes it a wrong one."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: place for place, word in enumerate(MEANINGS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 (no secret)
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.array(list(MEANINGS.values()) if table is None else table, np.float32)
    (folder / "model.onnx").write_bytes(_model(table, input_name))


def _model(table: NDArray[np.float32], input_name: str) -> bytes:
    """One node: the vector of each word."""
    node = _strings(1, ("table", input_name)) + _text(2, "last_hidden_state") + _text(4, "Gather")
    graph = (
        _message(1, node)
        + _text(2, "tiny")
        + _message(5, _tensor("table", table))
        + _message(11, _value(input_name, _INT64, ("batch", "words")))
        + _message(11, _value("attention_mask", _INT64, ("batch", "words")))
        + _message(12, _value("last_hidden_state", _FLOAT, ("batch", "words", "width")))
    )
    return _number(1, _IR_VERSION) + _message(7, graph) + _message(8, _text(1, "") + _number(2, _OPSET))


def _tensor(name: str, values: NDArray[np.float32]) -> bytes:
    sizes = b"".join(_number(1, size) for size in values.shape)
    return sizes + _number(2, _FLOAT) + _text(8, name) + _message(9, values.tobytes())


def _value(name: str, kind: int, sizes: Iterable[str]) -> bytes:
    shape = b"".join(_message(1, _text(2, size)) for size in sizes)
    return _text(1, name) + _message(2, _message(1, _number(1, kind) + _message(2, shape)))


def _strings(field: int, texts: Iterable[str]) -> bytes:
    return b"".join(_text(field, text) for text in texts)


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _message(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += struct.pack("B", value & 127 | 128)
        value >>= 7
    return out + struct.pack("B", value)
