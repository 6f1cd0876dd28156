"""The unedited kernel: whether it passes its own check and compares as equal to itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from optimizer.errors import BaselineError
from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
from optimizer.significance import interval, no_difference

if TYPE_CHECKING:
    from optimizer.model import Measurement


class Baseline:
    """Judges the unedited kernel of one search. `judge` returns a verdict at an effort.

    `aa` is the A/A comparison so far: the kernel measured against itself.
    """

    def __init__(
        self,
        kernel: Kernel,
        workload: Workload,
        judge: Callable[[Kernel, Effort], Verdict],
        notes: list[str],
    ) -> None:
        self.kernel, self.workload, self.judge, self.notes = kernel, workload, judge, notes
        self.aa: Measurement | None = None

    @property
    def compares_last(self) -> bool:
        """Tell whether the A/A comparison waits for a winner to hold it against.

        Under the full stop rule it takes longer than a whole program's first candidates.
        """
        return self.workload.kind is Kind.PROGRAM

    def measure(self) -> Verdict:
        """Return the first verdict on the unedited kernel."""
        if self.compares_last:
            verdict = self._passing(Effort.SCREEN)
            self.aa = verdict.measurement
            return verdict
        return self.compare()

    def compare(self) -> Verdict:
        """Make the A/A comparison: once more in a fresh process when it sees a difference."""
        verdict = self._passing(Effort.RACE)
        confidence = self.workload.accept.confidence
        if not no_difference(verdict.measurement, confidence):
            verdict = self._passing(Effort.CONFIRM)
        self.aa = verdict.measurement
        if not no_difference(self.aa, confidence):
            seen = interval(self.aa, confidence)
            self.notes.append(f"A/A comparison differs: the kernel against itself reads {seen}")
        return verdict

    def _passing(self, effort: Effort) -> Verdict:
        verdict = self.judge(self.kernel, effort)
        if verdict.status is not Status.CORRECT:
            remedy = "make it build and pass its own check first"
            if verdict.status is Status.TIMED_OUT:
                remedy = "make it take less time: a smaller case, smaller arguments, fewer rounds"
            raise BaselineError(
                f"{self.kernel.name}: the unedited kernel: {verdict.status.value}\n"
                f"{verdict.log}".rstrip(),
                remedy,
            )
        return verdict
