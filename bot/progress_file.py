"""How far a review is, as JSON lines in a file: written on the GPU plane, read by whoever waits."""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bot import wording
from bot.interfaces import Change
from bot.markdown import plain
from bot.orders import BenchState, Progress
from bot.outcome import speedup_of
from bot.review import Watch
from optimizer.model import Step
from optimizer.tools import Event

_TAIL = 16 << 10  # bytes at the end of a file in which its last line is looked for
_LONGEST = 300  # characters of a detail


class ProgressFile:
    """Appends a line for every kernel, stage and candidate; a context manager.

    A line holds `at` (seconds since 1970), `state`, `kernel`, `stage`, `steps` (evaluations so
    far, over all kernels), `best` (speedup of this kernel, null before there is one), `detail`.
    """

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the file; `say` gets a line for people at each stage and each new best."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._clock, self._say = clock, say
        self._kernel = self._stage = ""
        self._steps = 0
        self._best: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def watch(self) -> Watch:
        """Return what a review is to tell."""
        return Watch(self._on_kernel, self._on_step, self._on_event)

    def say(self, state: BenchState, detail: str = "") -> None:
        """Write a line; what cannot be written is left unsaid, for the review matters more."""
        line = {
            "at": self._clock(),
            "state": state.value,
            "kernel": self._kernel,
            "stage": self._stage,
            "steps": self._steps,
            "best": self._best,
            "detail": detail[:_LONGEST],
        }
        try:
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._file.flush()
        except (OSError, ValueError):
            return

    def _on_kernel(self, change: Change) -> None:
        self._kernel, self._stage, self._best = change.kernel.name, "", None
        self._tell()

    def _on_step(self, step: Step) -> None:
        self._steps += step.parent is not None
        value = speedup_of(step)
        if value is not None and math.isfinite(value) and value > (self._best or 0):
            self._best = value
            if step.edit is not None:
                self._say(f"{self._kernel}: {step.edit.title}: {wording.times(value)}")
        self._tell()

    def _on_event(self, event: Event) -> None:
        if event.stage.value != self._stage:
            self._stage = event.stage.value
            self._say(f"{self._kernel}: {self._stage}")
            self._tell()

    def _tell(self) -> None:
        parts = [self._kernel, self._stage]
        self.say(BenchState.RUNNING, ": ".join(part for part in parts if part))


def last_progress(path: Path) -> Progress | None:
    """Return what the last whole line says, None when there is none. The file is not trusted."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(number, "rb") as file:
        seen = os.fstat(number)
        if not stat.S_ISREG(seen.st_mode):
            return None
        file.seek(max(0, seen.st_size - _TAIL))
        lines = file.read(_TAIL).split(b"\n")
    for line in reversed(lines[:-1]):
        found = _progress(line)
        if found is not None:
            return found
    return None


def _progress(line: bytes) -> Progress | None:
    try:
        data: Any = json.loads(line)
        state = BenchState(data["state"])
        steps, best = data["steps"], data["best"]
        detail = " ".join(plain(str(data["detail"])).split())[:_LONGEST]
        detail.encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(steps, int) or not 0 <= steps < 1 << 31:
        return None
    if best is not None and not (isinstance(best, int | float) and 0 < best < 1e6):
        return None
    return Progress(state, "", detail, steps, None if best is None else float(best))
