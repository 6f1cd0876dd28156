"""A candidate as an agent gives it, the clock it is charged by, and what it cannot change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot import headers, projects
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Launch, Workload
from optimizer.policies import edits


class Stopwatch:
    """A clock that runs only while the session works, so that an agent's thinking costs nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spent = 0.0
        self._since: float | None = None

    def __enter__(self) -> None:
        self._since = self._clock()

    def __exit__(self, *_: object) -> None:
        self._spent, self._since = self(), None

    def __call__(self) -> float:
        """Return the seconds worked so far."""
        running = 0.0 if self._since is None else self._clock() - self._since
        return self._spent + running


@dataclass(frozen=True, slots=True)
class Draft:
    """A candidate as an agent gives it: a whole source, blocks, a suggestion, or none of them.

    Blocks are (search, replace) applied to step `base`. With nothing given the file is taken as it
    is on disk now. `predicted` is the speedup of the whole workload the agent expects.
    """

    source: str | None = None
    blocks: tuple[tuple[str, str], ...] = ()
    suggestion: str = ""
    base: int = 0
    title: str = ""
    why: str = ""
    kind: str = ""
    predicted: float | None = None
    launch: Launch | None = None


@dataclass(slots=True)
class Pinned:
    """What decides a measurement besides the candidate, as it was when the session began."""

    root: Path
    digests: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, kernel: Kernel, workload: Workload) -> Pinned:
        """Take note of the project file, the reference, generators and local headers."""
        root = Path(workload.root)
        found = {projects.FILE, *headers.included(
            kernel.path, kernel.source, lambda path: _text(root / path), workload.build.include
        )}  # fmt: skip
        for words in (workload.reference, *(a.init for a in workload.arguments)):
            parts = (words or "").removeprefix("python:").removeprefix("file:").split(":")
            found |= {part for part in parts if part.endswith((".py", ".npy"))}
        return cls(root, {name: _digest(root / name) for name in sorted(found)})

    def changed(self) -> tuple[str, ...]:
        """Return the names of files that are not what they were."""
        return tuple(n for n, was in self.digests.items() if _digest(self.root / n) != was)


def apply_blocks(source: str, blocks: Sequence[tuple[str, str]]) -> str:
    """Return the source with each (search, replace) applied in order, exactly once each.

    Raise `ConfigError` that says why a block does not fit.
    """
    listed = tuple(edits.Block(search, replace) for search, replace in blocks)
    wish = edits.Wish("", "", "", None, listed, None)
    text = edits.applied(wish, source)
    if isinstance(text, edits.Refused):
        raise ConfigError(text.reason, "copy the text from the source as it is, blanks included")
    return text


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
