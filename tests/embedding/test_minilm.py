"""MiniLM: the right files, the same bytes for the same text, and meaning."""

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redask.core.errors import Misconfigured
from redask.embedding.models import minilm, onnx_quantization
from redask.embedding.models.minilm import MiniLm
from redask.embedding.models.onnx_quantization import (
    Wire,
    _decode_fields,
    _encode_fields,
    _graph,
    quantised,
)

TEXTS = [
    f"{start} {' '.join(['harbour', 'ferry', 'tide', 'late'][: n % 5] * n)}."
    for n, start in enumerate(["A", "The", "No", "When", "Ships", "Every", "It", "On"] * 5)
]


@pytest.fixture(scope="module")
def model() -> MiniLm:
    return MiniLm(threads=2)


def test_a_text_gets_the_same_bytes_in_any_batch_and_with_any_number_of_threads(
    model: MiniLm,
) -> None:
    together = model.embed(TEXTS)
    assert MiniLm(threads=1).embed(TEXTS) == together
    assert MiniLm(threads=4).embed(TEXTS[::-1]) == together[::-1]
    assert [model.embed([text])[0] for text in TEXTS[:10]] == together[:10]


def test_every_number_is_a_float32_and_so_is_cached_in_four_bytes(model: MiniLm) -> None:
    for vector in model.embed(TEXTS[:5]):
        assert tuple(np.array(vector, np.float32).tolist()) == vector


def test_similar_meaning_without_a_common_word_has_a_higher_cosine(model: MiniLm) -> None:
    asked, near, far = model.embed(
        [
            "How can I get my money back?",
            "Refunds are paid within ten days.",
            "The lighthouse was built of brick.",
        ]
    )
    assert np.dot(asked, near) > np.dot(asked, far) + 0.2


def test_only_the_first_256_tokens_and_8192_characters_count(model: MiniLm) -> None:
    long = "ferry " * 254  # and the two tokens around every text
    one, two, three = model.embed([long, long + "lighthouse", long + "x" * 5_000_000])
    assert one == two == three


def test_components_are_float32_values(model: MiniLm) -> None:
    vector = np.array(model.embed(["a ferry"])[0])
    assert (vector.astype(np.float32) == vector).all()


def test_the_model_names_weights_rewriting_and_runtime(model: MiniLm) -> None:
    assert model.model.startswith("minilm-l6-v2-8199be6f-dq1-ort1.28.0-tok")
    assert (model.languages, model.dimensions) == (frozenset({"en"}), 384)


def test_a_file_with_another_checksum_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fake_weights").mkdir()
    (tmp_path / "fake_weights" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(minilm, "_WEIGHTS", ("fake_weights", "model.onnx", minilm._WEIGHTS[2]))
    with pytest.raises(Misconfigured, match=r"fake_weights lacks model\.onnx"):
        MiniLm().embed(["a"])
    (tmp_path / "fake_weights" / "model.onnx").write_bytes(b"something else")
    with pytest.raises(Misconfigured, match="SHA-256 differs"):
        MiniLm().embed(["a"])


def test_a_package_that_is_missing_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tokenizers" else find(name)
    )
    with pytest.raises(Misconfigured, match=r"needs tokenizers, .* embedder\.name = \"none\""):
        MiniLm()


def test_creating_one_loads_nothing_and_disables_telemetry() -> None:
    program = (
        "import os, sys, json\n"
        "from redask.embedding.models import make\n"
        "made = make('minilm')\n"
        "heavy = [name for name in ('onnxruntime', 'tokenizers') if name in sys.modules]\n"
        "made.embed(['a'])\n"
        "print(json.dumps([heavy, os.environ.get('ORT_DISABLE_TELEMETRY')]))"
    )
    env = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env
    )
    assert json.loads(run.stdout) == [[], "1"]


# --- rewriting the graph -----------------------------------------------------------------


def node(operator: str, inputs: list[str], output: str) -> tuple[int, int, bytes]:
    named: list[tuple[int, int, bytes]] = [(1, 2, name.encode()) for name in inputs]
    return 1, 2, _encode_fields([*named, (2, 2, output.encode()), (4, 2, operator.encode())])


def tensor(name: str, *sizes: int) -> tuple[int, int, bytes]:
    dims: list[tuple[int, int, bytes]] = [(1, 0, bytes([size])) for size in sizes]
    return 5, 2, _encode_fields([*dims, (8, 2, name.encode()), (9, 2, b"data")])


CHAIN = [
    tensor("w", 4, 6),
    tensor("s", 1, 6),
    tensor("b", 6),
    node("Cast", ["w"], "wf"),
    node("Mul", ["wf", "s"], "ws"),
    node("MatMul", ["x", "ws"], "m"),
    node("Add", ["b", "m"], "y"),
    node("Relu", ["y"], "z"),
]


def rewritten(fields: list[tuple[int, int, bytes]], rows: int = 4) -> bytes:
    return _encode_fields(_graph(_encode_fields(fields), rows))


def read(graph: Wire) -> list[Any]:
    """Each node as its operator, inputs and outputs."""
    found = []
    for number, _, value in _decode_fields(graph):
        if number == 1:
            parts = list(_decode_fields(value))
            texts = [[bytes(v).decode() for n, _, v in parts if n == which] for which in (4, 1, 2)]
            found.append((texts[0][0], *texts[1:]))
    return found


def test_a_chain_becomes_one_product_with_its_bias() -> None:
    assert read(rewritten(CHAIN)) == [
        ("DynamicQuantizeMatMul", ["x", "w", "s", "", "b"], ["y"]),
        ("Relu", ["y"], ["z"]),
    ]


def test_a_product_that_is_used_twice_keeps_its_addition() -> None:
    made = read(rewritten([*CHAIN, node("Tanh", ["m"], "t")]))
    assert made[0] == ("DynamicQuantizeMatMul", ["x", "w", "s", ""], ["m"])
    assert ("Add", ["b", "m"], ["y"]) in made


def test_the_scale_is_reshaped_to_one_dimension() -> None:
    made = rewritten(CHAIN)
    (scale,) = [v for n, _, v in _decode_fields(made) if n == 5 and b"\x42\x01s" in bytes(v)]
    assert [v for n, _, v in _decode_fields(scale) if n == 1] == [b"\x06"]


def test_wide_weights_and_other_products_stay_and_a_model_without_any_is_refused() -> None:
    with pytest.raises(ValueError, match="no int8 weights"):
        rewritten(CHAIN, 3)
    with pytest.raises(ValueError, match="no int8 weights"):
        rewritten([node("MatMul", ["a", "b"], "c")])


def test_the_real_model_has_five_products_in_integers_and_one_in_floats_a_layer() -> None:
    made = quantised(minilm._verified_file(*minilm._WEIGHTS), 384)
    (graph,) = [value for number, _, value in _decode_fields(made) if number == 7]
    operators = [each[0] for each in read(graph)]
    assert operators.count("DynamicQuantizeMatMul") == 6 * 5
    assert operators.count("MatMul") == 6 * (1 + 2)  # the inner layer's; attention's own two


TABLE = [
    tensor("t", 9, 4),
    tensor("r", 9, 1),
    node("Cast", ["t"], "tf"),
    node("Mul", ["tf", "r"], "table"),
    node("Gather", ["table", "numbers"], "x"),
]


def test_rows_of_a_table_are_looked_up_before_they_become_floats() -> None:
    assert read(rewritten([*TABLE, *CHAIN]))[:4] == [
        ("Gather", ["t", "numbers"], ["x_rows"]),
        ("Cast", ["x_rows"], ["x_cast"]),
        ("Gather", ["r", "numbers"], ["x_scale"]),
        ("Mul", ["x_cast", "x_scale"], ["x"]),
    ]


def test_a_table_that_is_used_twice_or_scaled_by_column_stays() -> None:
    twice = [*TABLE, node("Relu", ["table"], "other"), *CHAIN]
    by_column = [tensor("t", 9, 4), tensor("r", 1, 4), *TABLE[2:], *CHAIN]
    for graph in (twice, by_column):
        assert ("Gather", ["table", "numbers"], ["x"]) in read(rewritten(graph))


def test_looking_up_first_changes_no_bit_of_a_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a", "Why was the ferry late?", "12.5 % of 3,000", "日本語", "word " * 300]
    ours = MiniLm(threads=1).embed(texts)
    monkeypatch.setattr(onnx_quantization, "_looked_up", lambda nodes, _: nodes)
    assert MiniLm(threads=1).embed(texts) == ours


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_the_version_of_a_package_is_what_the_metadata_says(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = importlib.metadata.version(package)
    assert minilm._version(package) == expected
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))  # as installed in another way
    assert minilm._version(package) == expected
