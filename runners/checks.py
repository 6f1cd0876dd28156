"""What was checked of a candidate so far, what is in doubt, and how it is refused.

All that runs, times or reads a candidate notes here what it saw; a verdict carries it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import Storage
from runners.spec import Json


class Wrong(Exception):  # noqa: N818 - a verdict on a candidate, not an error of ours
    """The candidate is refused; `status` is the verdict's, the message says where and why."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Doubt:
    """An output that differs in what rounding may decide, and where that was."""

    combination: Combination
    answer: Answer
    got: Storage
    words: str


@dataclass(slots=True)
class Report:
    """What was checked so far: worst error and its bound by layer and subject."""

    checks: dict[tuple[str, str], Json] = field(default_factory=dict)
    scaled: dict[tuple[str, str], float] = field(default_factory=dict)
    runs: int = 0
    nearest: tuple[float, Storage, Answer] | None = None
    doubts: list[Doubt] = field(default_factory=list)
    asked: int = 0
    # Its code works in fewer digits than its original's.
    narrow: bool = False
    # It multiplies on tensor cores and its original does not.
    cut_off: bool = False
    # What is judged now was picked from thousands of runs, since it differed most.
    picked: bool = False

    def look(self, ratio: float, got: Storage, answer: Answer) -> None:
        """Keep the comparison that came nearest to its bound, or went beyond it."""
        if self.nearest is None or ratio >= self.nearest[0]:
            self.nearest = (ratio, got, answer)

    def add(
        self, layer: str, what: str, *, passed: bool, error: float | None, bound: float | None
    ) -> None:
        """Note a check; of several under one name the one nearest its bound is kept."""
        held = self.checks.get((layer, what))

        def ratio(e: float | None, b: float | None) -> float:
            return (e or 0.0) / max(b or 0.0, 1e-300)

        worse = held is None or ratio(error, bound) >= ratio(held["error"], held["bound"])
        if worse or not passed:
            self.checks[layer, what] = {
                "layer": layer,
                "what": what,
                "passed": passed,
                "error": error if error is not None and math.isfinite(error) else None,
                "bound": bound if bound is not None and math.isfinite(bound) else None,
            }

    def forget(self, layer: str) -> None:
        """Drop what a layer found that turned out to be no fault of the candidate's."""
        self.checks = {key: held for key, held in self.checks.items() if key[0] != layer}
        self.nearest = None

    def snapshot(self) -> Report:
        """Return what was checked so far, to come back to."""
        mine = (dict(self.checks), dict(self.scaled), [*self.doubts])
        return replace(self, checks=mine[0], scaled=mine[1], doubts=mine[2])

    def restore(self, before: Report) -> None:
        """Take back what was found since a snapshot."""
        self.checks, self.scaled = before.checks, before.scaled
        self.nearest, self.doubts = before.nearest, before.doubts

    def as_json(self) -> list[Json]:
        """Return the checks as a verdict carries them."""
        return list(self.checks.values())
