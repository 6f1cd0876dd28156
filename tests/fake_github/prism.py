"""Prism as a validating proxy between our client and the fake, with GitHub's own OpenAPI document.

`scripts/prism` installs `@stoplight/prism-cli` and `@octokit/openapi` into a cache folder outside
the tree (520 MB). Where they are not, the tests that need them are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fake_github.routes import ROUTES

_PUBLIC = "https://api.github.com"
_STARTS = 120.0  # seconds


def folder() -> Path:
    """Return where `scripts/prism` puts things."""
    cache = os.environ.get("XDG_CACHE_HOME", "")  # noqa: TID251 - as the script has it
    return (Path(cache) if cache else Path.home() / ".cache") / "optiml" / "prism"


def installed() -> Path:
    """Return the program; skip the test where it is not."""
    program = folder() / "node_modules" / ".bin" / "prism"
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not program.exists():
        pytest.skip("Prism is not installed: scripts/prism does that")
    return program


def document(base: str) -> dict[str, Any]:
    """Return GitHub's document for a server at `base`, with the paths that the fake serves.

    Two things stand in the way of a proxy: absolute addresses of api.github.com, and workflow ids
    that are `oneOf` a number and a text, which a number in a path matches twice. A third cannot be
    mended: Prism follows redirections itself, so downloads do not go through it.
    """
    place = folder() / "node_modules/@octokit/openapi/generated/api.github.com.json"
    found: dict[str, Any] = json.loads(place.read_text().replace(_PUBLIC, base))
    kind = found["components"]["parameters"]["workflow-id"]["schema"]
    if "oneOf" in kind:
        kind["anyOf"] = kind.pop("oneOf")
    served = [(method.lower(), pattern) for method, pattern, *_ in ROUTES]
    found["paths"] = {
        path: item
        for path, item in found["paths"].items()
        if any(method in item and pattern.match(_example(path)) for method, pattern in served)
    }
    found["servers"] = [{"url": base}]
    found.pop("x-webhooks", None)
    found.pop("webhooks", None)
    return found


def _example(path: str) -> str:
    return path.replace("{", "").replace("}", "")


@contextmanager
def proxy(upstream: str, scratch: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Start Prism before a server; yield its address and the document it validates with."""
    program = installed()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    spec = document(base)
    file = scratch / "github.json"
    file.write_text(json.dumps(spec))
    log = scratch / "prism.log"
    words = [str(program), "proxy", "-h", "127.0.0.1", "-p", str(port), "--errors", str(file)]
    with log.open("wb") as out:
        process = subprocess.Popen([*words, upstream], stdout=out, stderr=out)
        try:
            _wait(f"{base}/meta", process, log)
            yield base, spec
        finally:
            process.terminate()
            process.wait(20)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _STARTS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own address
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"Prism did not start: {log.read_text()[-2000:]}")
