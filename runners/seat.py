"""A warm worker on one GPU, and a spare that takes over when it breaks."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from optimizer.errors import RunnerError
from runners import gpu_nodes
from runners.neighbours import require_alone
from runners.sandbox import Child, Sandbox, interpreter_paths, write_all
from runners.waiting import readable
from runners.wire import MAX_VERDICT_BYTES, unwrap

WORKER = ("-I", "-m", "runners.worker", "--serve")
# How a worker says that it ends behind this answer, in the form that it writes JSON in.
_RETIRES = b'"retire":true'
# A context, the helper kernels and the first allocation of a fresh process.
START_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Gone(Exception):  # noqa: N818  it says what happened to the worker
    """The worker ended or was ended while it worked on a request."""

    timed_out: bool
    words: str


class Seat:
    """One GPU with its worker. Not thread-safe: one request at a time is what timing needs.

    `index` is CUDA's device number, `command` what is run there (for tests), `images` a folder of
    `runners.images`. The GPU is locked against other instances of this program for as long as the
    seat lives.
    """

    def __init__(
        self,
        index: int,
        sandbox: Sandbox,
        scratch: Path,
        *,
        readable: Sequence[Path] = (),
        command: Sequence[str] | None = None,
        locked: bool = True,
        images: Path | None = None,
    ) -> None:
        self.index = index
        self._sandbox = sandbox
        self._scratch = scratch
        self._readable = (*interpreter_paths(), *readable, *([images] if images else []))
        words = ["--strangers"] if sandbox.trust == "stranger" else []
        words += ["--images", str(images)] if images else []
        self._command = list(command or (sys.executable, *WORKER, *words))
        self._lock = _locked(index) if locked else None
        self.alone()
        self._child: Child | None = None
        self._spare: Child | None = None
        self._buffer = b""
        self._closing = threading.Lock()

    def alone(self) -> None:
        """Raise `RunnerError` when another process computes on the GPU that is to be timed on."""
        if self._lock is not None:
            try:
                require_alone(self.index, visible_device(self.index))
            except RunnerError:
                self._lock.close()
                raise

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Send one request and return the answer's line. Raise `Gone` when none comes.

        A worker that has something to say before it is asked is replaced: it could only be an
        answer made up ahead, and would be taken for the next candidate's.
        """
        child = self._worker()
        if self._buffer or readable(child.stdout.fileno(), 0.0):
            self.renew()
            child = self._worker()
        try:
            write_all(child, line)
            answer = self._line(child, seconds)
        except (OSError, ValueError) as error:
            raise self._gone(timed_out=False, why=str(error)) from error
        if _RETIRES in answer[-4096:]:
            self.renew()  # it has lost its context and is about to end: the spare takes over now
        return answer

    def tell(self, operation: str, seconds: float = START_SECONDS, **more: bool) -> dict[str, Any]:
        """Return the answer to `hello` or `calibrate`. Raise the error it reports."""
        number = secrets.token_hex(4)
        question = {"op": operation, "id": number, "nonce": number, **more}
        try:
            answer = json.loads(self.ask(json.dumps(question).encode() + b"\n", seconds))
        except Gone as gone:
            message = f"the worker on GPU {self.index} did not start: {gone.words[-600:].strip()}"
            raise RunnerError(message, "run `optiml doctor`") from gone
        except ValueError as error:
            raise RunnerError(f"the worker on GPU {self.index} answered nonsense") from error
        if "error" in answer:
            unwrap(answer["error"])
        return dict(answer)

    def admit(self, folder: Path) -> None:
        """Let workers read a workload's folder; one that runs already is replaced."""
        if any(folder.is_relative_to(known) for known in self._readable):
            return
        self._readable = (*self._readable, folder)
        self.renew()
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.kill()

    def renew(self) -> None:
        """Put a fresh process in the worker's place, as a confirmation or a fault needs."""
        child, self._child = self._child, None
        self._buffer = b""
        if child is not None:
            child.kill()

    def warm(self) -> None:
        """Start the spare, so that the next fault costs no start-up."""
        if self._spare is None and not self._closing.locked():
            self._spare = self._start()

    def close(self) -> None:
        """End both processes and free the GPU."""
        with self._closing:
            for child in (self._child, self._spare):
                if child is not None:
                    child.kill()
            self._child = self._spare = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _worker(self) -> Child:
        if self._child is not None and self._child.wait(0.0) is not None:
            self.renew()
        if self._child is None:
            self._child, self._spare = self._spare or self._start(), None
        return self._child

    def _start(self) -> Child:
        return self._sandbox.spawn(
            self._command,
            cwd=self._scratch,
            readable=self._readable,
            writable=(self._scratch,),
            environment={
                "CUDA_VISIBLE_DEVICES": visible_device(self.index),
                "HOME": str(self._scratch),
            },
            gpu=True,
            profile="worker",
        )

    def _line(self, child: Child, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._gone(timed_out=True, why=f"no answer in {seconds:.0f} s")
            if not readable(child.stdout.fileno(), min(left, 1.0)):
                continue
            part = child.stdout.read(1 << 16)
            if not part:
                raise self._gone(timed_out=False, why="")
            self._buffer += part
            if len(self._buffer) > MAX_VERDICT_BYTES:
                raise self._gone(timed_out=False, why="it flooded its output")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _gone(self, *, timed_out: bool, why: str) -> Gone:
        child = self._child
        words = why
        if child is not None:
            code = child.wait(0.2)
            said = child.last_words().strip()
            words = "\n".join(w for w in (why, said, f"exit {code}" if code else "") if w)
        self.renew()
        return Gone(timed_out, words)


def visible_device(index: int) -> str:
    """Return the device list of a worker that sees one GPU, inside an already limited list."""
    outer = os.environ.get("CUDA_VISIBLE_DEVICES", "")  # noqa: TID251  it narrows what is there
    return gpu_nodes.visible(index, outer)


def _locked(index: int) -> IO[str]:
    """Return the held lock file of a GPU. Raise `RunnerError` when another run times on it."""
    path = Path(tempfile.gettempdir()) / f"optiml-gpu-{visible_device(index)}-{os.getuid()}.lock"
    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW
    file = os.fdopen(os.open(path, flags, 0o600), "r+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        message = f"another optiml is timing on GPU {index}"
        raise RunnerError(message, "wait for it, or choose another with --device") from error
    return file


def facts_of(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a worker's `hello`."""
    return {k: float(v) for k, v in answer.items() if isinstance(v, int | float)}
