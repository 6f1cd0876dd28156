"""A command that runs in a sandbox, or ran: its streams, its limits, its end.

Stdlib only, as `runners.sandbox`.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import selectors
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import FileIO

from runners.fault import Fault
from runners.sandbox_request import Limits

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `code` is negative for a signal; output is cut at its limit.

    `limit` names what it had too much of when that was the end of it: `memory`, `processes`,
    `disk`, `files`, `output` or `time`.
    """

    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    cut: bool = False
    peak_bytes: int = 0
    limit: str = ""


class Child:
    """A command that runs on: binary pipes to and from it, its last words on stderr, its end."""

    def __init__(self, control: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self._control = control
        self._report: dict[str, object] | None = None
        self._lock = threading.Lock()
        self._words: collections.deque[bytes] = collections.deque(maxlen=8)
        self.stdin = FileIO(stdin, "w")
        self.stdout = FileIO(stdout, "r")
        self._listener = threading.Thread(target=self._listen, args=(stderr,), daemon=True)
        self._listener.start()

    def last_words(self) -> str:
        """Return the end of what it wrote to stderr; all of it is there once it has ended."""
        if self._report is not None:
            self._listener.join(0.5)
        return b"".join(self._words)[-8000:].decode(errors="replace")

    def wait(self, seconds: float | None = None) -> int | None:
        """Return its exit code (negative for a signal, -9 when killed), None if it runs on."""
        with self._lock:
            if self._report is None:
                self._control.settimeout(seconds)
                try:
                    data = self._control.recv(65536)
                except (TimeoutError, BlockingIOError):
                    return None
                except OSError:
                    data = b""
                self._report = json.loads(data) if data else {"killed": True}
            _raise_setup(self._report)
            return _code(self._report)

    def kill(self) -> None:
        """End it and everything it started, and close the pipes. May be called twice."""
        with contextlib.suppress(OSError):
            self._control.sendall(b"k")
        with contextlib.suppress(Fault):
            self.wait(10)
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self._control.close()
        self._listener.join(1)

    def _listen(self, stderr: int) -> None:
        with FileIO(stderr, "r") as stream:
            while part := stream.read(_CHUNK):
                self._words.append(part)


def write_all(child: Child, data: bytes) -> None:
    """Write to a child's standard input, however small its pipe is."""
    view = memoryview(data)
    while view:
        view = view[child.stdin.write(view) or 0 :]


def collect(control: socket.socket, out: int, err: int, limits: Limits, begun: float) -> Finished:
    """Read both streams until the end, the limit, or a flood; then see how it ended."""
    kept: dict[int, bytearray] = {out: bytearray(), err: bytearray()}
    flood = 64 * limits.output_bytes
    timed_out = cut = killed = False
    limit = ""
    ends, more = begun + limits.seconds, limits.more
    with selectors.DefaultSelector() as selector:
        for fd in kept:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            left = ends - time.monotonic()
            if left <= 0 and more is not None and not killed:
                # It goes on meanwhile, but for what it prints beyond what a pipe holds.
                left, more = more(), None
                ends = time.monotonic() + left
            timed_out = timed_out or (left <= 0 and not killed)
            if (timed_out or flood <= 0) and not killed:
                killed = True
                limit = "time" if timed_out else "output"
                with contextlib.suppress(OSError):
                    control.sendall(b"k")
            for key, _ in selector.select(5.0 if killed else max(left, 0.001)):
                part = os.read(key.fd, _CHUNK)
                if not part:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    continue
                flood -= len(part)
                room = limits.output_bytes - len(kept[key.fd])
                kept[key.fd] += part[:room]
                cut = cut or len(part) > room
    control.settimeout(max(ends - time.monotonic(), 10.0))
    try:
        report = json.loads(control.recv(65536) or b'{"killed": true}')
    except OSError:
        report = {"killed": True}
    _raise_setup(report)
    done = Finished(_code(report), bytes(kept[out]), bytes(kept[err]), time.monotonic() - begun)
    peak = int(report.get("peak_kib", 0)) << 10
    limit = limit or str(report.get("limit") or "")
    return replace(done, timed_out=timed_out, cut=cut, peak_bytes=peak, limit=limit)


def _raise_setup(report: Mapping[str, object]) -> None:
    if "error" in report:
        raise Fault("RunnerError", f"the sandbox cannot start a command: {report['error']}")


def _code(report: Mapping[str, object]) -> int:
    """Return the exit code; bubblewrap and shells report signal N as 128 + N, we as -N."""
    code = report.get("code", -9)
    if not isinstance(code, int):
        return -9
    return 128 - code if 128 < code < 128 + 65 else code
