"""What a review asks of the place where the code lives, and the values that pass between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.suggestion import Hunk, Suggestion
from optimizer.model import Kernel, Trajectory, Verdict, Workload


@dataclass(frozen=True, slots=True)
class Pull:
    """The change under review: from where it branched (`base`) to its last commit (`head`)."""

    base: str
    head: str
    repository: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A kernel that a change touches.

    `before` is the kernel as the base has it, None when it is new, and `after` as the change has
    it: the same text as `kernel`, with headers written in where those are what changed. `hunks`
    are the lines of the file that the diff shows. `reason` says how
    it is touched: `changed` or `includes scale.cuh`. `workload` is None when the base branch's
    `.optiml.yml` has none; `snippet` then offers one.
    """

    kernel: Kernel
    workload: Workload | None
    before: Kernel | None = None
    after: Kernel | None = None
    hunks: tuple[Hunk, ...] = ()
    reason: str = "changed"
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What came of one changed kernel.

    `against_base` is the verdict on the change itself, timed with the base as its baseline.
    `problem` says why there is no trajectory or no comparison; empty when all went well.
    """

    change: Change
    trajectory: Trajectory | None = None
    against_base: Verdict | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What is to be published: nothing when `markdown` is None.

    `results` are kept so that a forge can commit the measured sources.
    """

    markdown: str | None
    suggestions: tuple[Suggestion, ...] = ()
    results: tuple[Reviewed, ...] = field(default=())


class Forge(Protocol):
    """GitHub, a local checkout, or a fake of either."""

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        """Return the kernels a change touches, with workloads of the base branch."""
        ...

    def publish(self, pull: Pull, report: Report) -> None:
        """Write the one comment and its suggestions, or update them."""
        ...
