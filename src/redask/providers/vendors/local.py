"""A model in this process: a GGUF file, run by llama.cpp through `xllamacpp` (extra `local`).

The model's name is the file's path (`REDASK_LOCAL_MODEL`, or MODEL). It is loaded at the first
call and stays loaded. Without a temperature it decodes greedily, without a prompt cache, one call
at a time: so its answers are deterministic, although it supports no knobs. Text is generated in a
thread; a cancelled call stops at its next token. llama.cpp also listens on a loopback port, which
cannot be switched off: a random API key protects it.
"""

import asyncio
import os
import secrets
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import xllamacpp

from redask.core.errors import Misconfigured, ProviderFailed
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.vendors import chat, failures
from redask.providers.vendors.endpoint import Access

NAME = "local"
CONTEXT_TOKENS = 16_384
_MAGIC = b"GGUF"


class LocalModel:
    """A model file, loaded at the first call."""

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, access: Access) -> None:
        self.model = access.model
        _check_file(Path(access.model))
        self._server: Any = None
        # Its threads wait for each other: one core is left to other threads.
        self._threads = max((os.cpu_count() or 2) - 1, 1)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="redask-local")

    def narrow(self, seed: int) -> int:
        """32 bits, as for llama.cpp; sent only where an override enables seeds."""
        return determinism.narrow_to_32_bits(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:  # noqa: ARG002
        """A local model costs nothing, by definition."""
        return 0.0

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Answer once; hand each piece to `emit` as it comes. Cancelling stops it."""
        request = {
            "messages": chat.messages(prompt),
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "cache_prompt": False,
            "stream": True,
            "stream_options": {"include_usage": True},
            **chat.knobs_sent(knobs),
        }
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        stopped = threading.Event()

        def put_piece(piece: str | None) -> None:
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except RuntimeError:  # the loop is closed: the caller is gone
                stopped.set()

        working = loop.run_in_executor(
            self._worker, partial(self._answer, request, put_piece, stopped)
        )
        try:
            while (piece := await pieces.get()) is not None:
                if emit is not None:
                    await emit(piece)
            return (await working).completion()
        finally:
            stopped.set()

    def _answer(
        self,
        request: dict[str, Any],
        put_piece: Callable[[str | None], None],
        stopped: threading.Event,
    ) -> chat.ChatReply:
        """Generate the reply, in the worker thread."""
        reply = chat.ChatReply(NAME, self.model)
        errors: list[Exception] = []

        def on_chunk(chunk: object) -> bool:
            try:
                if piece := reply.read_chunk(chunk):
                    put_piece(piece)
            except Exception as error:  # an exception must not propagate through C++
                errors.append(error)
            return stopped.is_set() or bool(errors)

        try:
            if not stopped.is_set():
                self._load().handle_chat_completions(request, on_chunk)
            for error in errors:
                raise error
        except (ProviderFailed, Misconfigured):
            raise
        except Exception as error:
            raise failures.of_body(NAME, str(error)) from None
        finally:
            put_piece(None)
        return reply

    def _load(self) -> Any:
        if self._server is None:
            params = xllamacpp.CommonParams()
            params.model.path = self.model
            params.n_ctx = CONTEXT_TOKENS
            params.n_parallel = 1
            params.cache_prompt = False
            params.warmup = False
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
            params.verbosity = -1
            params.api_keys = [secrets.token_hex(16)]
            try:
                self._server = xllamacpp.Server(params)
            except Exception:
                raise Misconfigured(_NO_MODEL, detail="REDASK_LOCAL_MODEL") from None
        return self._server


_NO_MODEL = "the local model cannot be loaded: REDASK_LOCAL_MODEL must name a whole GGUF file"


def _check_file(file: Path) -> None:
    """Check the file's signature; one message for all errors hides which files exist."""
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except (OSError, ValueError):
        magic = b""
    if magic != _MAGIC:
        raise Misconfigured(_NO_MODEL, detail="REDASK_LOCAL_MODEL")
