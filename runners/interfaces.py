"""What the runners ask of machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from optimizer.model import Effort, Kernel, Verdict, Workload


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to be judged against its baseline on one kind of GPU.

    `device` is `cuda:N` or a device name; `seed` decides inputs and the order of timed blocks.
    `within` are the seconds in which counters are of use, and by which a confirmation bounds what
    it asks beyond results and times; 0 is no limit.
    """

    kernel: Kernel
    baseline: Kernel
    workload: Workload
    device: str = "cuda:0"
    effort: Effort = Effort.SCREEN
    seed: int = 0
    within: float = 0.0


class Dispatcher(Protocol):
    """Takes jobs to machines and brings the verdicts back."""

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order. Raise `NoDeviceError` when none can run."""
        ...


@runtime_checkable
class Expectant(Protocol):
    """What a dispatcher does besides that can begin a job before it is asked for."""

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Begin what takes nothing from the jobs under way; no verdict depends on it.

        False where nothing is begun, so that nobody works out what to expect.
        """
        ...
