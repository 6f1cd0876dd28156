"""A finalist under compute-sanitizer: what is held against it, and what was not looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from runners import lone_loads, strong_accesses
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.plainer import Plainer, asks
from runners.sanitizer import UNABLE, Finding, Sanitizer, follows
from runners.second_look import AGAIN, DECIDES, Asked, Lent, SecondLook, told, unasked, undecided
from runners.spec import JobSpec, Json

# What memcheck may take for runs beyond those that all tools look at.
FURTHER_SECONDS = 25.0


class Watched:
    """One candidate on some combinations: first all tools side by side, then what was left unsaid.

    `seconds` is what each tool has at first; what is asked again is lent its time. `plain` builds
    the candidate as its PTX says (`runners.plainer`), `for_races` with atomics for its relaxed
    loads or stores (`runners.strong_accesses`) or with loads that nothing joins
    (`runners.lone_loads`); None where that cannot be done.
    """

    def __init__(
        self,
        sanitizer: Sanitizer,
        request: Json,
        job: JobSpec,
        combinations: Sequence[Combination],
        seconds: float,
        lent: Lent,
        plain: Callable[[], Json | None] = lambda: None,
        for_races: Callable[[str], Json | None] = lambda _which: None,
    ) -> None:
        self._sanitizer, self._request, self._job = sanitizer, request, job
        self._plainer, self._for_races = Plainer(request["candidate"], plain), for_races
        self._combinations, self._seconds, self._lent = combinations, seconds, lent

    def held(self, report: Report) -> list[str]:
        """Note what was found; return notes on what was not looked at. Raise `Wrong`."""
        first = self._sanitizer.against(self._request, self._job, self._combinations, self._seconds)
        if not first:
            return unasked(self._combinations)
        unsaid: list[Asked] = []
        for found, blamed in first:
            if found.errors is not None:
                unsaid += self._found(found, self._combinations, blamed=blamed, report=report)
        look = SecondLook(self._watch, self._combinations, self._seconds, self._lent)
        for found, _ in first:
            if found.errors is not None:
                continue
            if self._job.kernel == self._job.baseline:
                unsaid.append(Asked(found, found.why))  # it is offered to nobody
                continue
            again = look.ask(found)
            unsaid.append(again)
            if again.refused:
                self._noted(again.finding, report, passed=False)
                raise Wrong("timed out", f"compute-sanitizer {found.tool} {again.refused}")
            if again.finding.errors is not None:
                unsaid += self._found(again.finding, self._combinations, blamed=None, report=report)
        return told(unsaid)

    def glimpse(
        self, further: Sequence[Combination], tools: Sequence[str] = (DECIDES,)
    ) -> list[Finding]:
        """Have memcheck, or others, look at more combinations; for `judged`. Nothing is noted."""
        terms = (self._request, self._job, self._request["candidate"], further, FURTHER_SECONDS)
        return self._sanitizer.examine(*terms, tools)

    def judged(
        self, glimpsed: Sequence[Finding], further: Sequence[Combination], report: Report
    ) -> list[str]:
        """Note what a glimpse found; return notes on what it did not come to. Raise `Wrong`."""
        unsaid, notes = list[Asked](), list[str]()
        for found in glimpsed:
            if found.errors is not None:
                unsaid += self._found(found, further, blamed=None, report=report)
            elif found.why != UNABLE:  # which is said of all tools
                notes.append(
                    f"compute-sanitizer {found.tool} came to {found.ran} of {len(further)} more "
                    "small runs in time"
                )
        return [*told(unsaid), *notes]

    def _found(
        self,
        found: Finding,
        combinations: Sequence[Combination],
        *,
        blamed: bool | None,
        report: Report,
    ) -> list[Asked]:
        """Note what a tool found and raise `Wrong` for it; return what cannot be decided."""
        unsaid: list[Asked] = []
        known = blamed is not None and self._sanitizer.knows(found, self._job, combinations)
        if found.errors and not known and follows(found.tool, self._job.kernel.source):
            # The original was not asked yet, or did not end while others were watched.
            with self._lent.of(AGAIN * self._seconds) as seconds:
                blamed, theirs = self._sanitizer.compared(
                    found, self._request, self._job, combinations, seconds
                )
            if not blamed and theirs.errors is None:
                unsaid.append(undecided(found, theirs))
        if blamed and (excused := self._excused(found, combinations)):
            blamed = False
            unsaid.append(Asked(found, excused))
        self._noted(found, report, passed=not blamed)
        if blamed:
            raise Wrong("wrong result", f"compute-sanitizer {found.tool}: {found.words}")
        return unsaid

    def _excused(self, found: Finding, combinations: Sequence[Combination]) -> str:
        """Return why what was found is no fault of the candidate's; empty where it is one."""
        look = partial(self._looked, combinations)
        if strong_accesses.asks(found):
            for excuse in (lone_loads.excuse, strong_accesses.excuse):
                with self._lent.of(AGAIN * self._seconds) as seconds:
                    if said := excuse(found, self._for_races, look, seconds):
                        return said
        elif asks(found):
            with self._lent.of(AGAIN * self._seconds) as seconds:
                return self._plainer.excuse(found, look, seconds)
        return ""

    def _looked(
        self,
        combinations: Sequence[Combination],
        artifact: Json,
        tool: str,
        seconds: float,
    ) -> Finding | None:
        terms = (self._request, self._job, artifact, combinations, seconds, (tool,))
        return next(iter(self._sanitizer.examine(*terms, alone=True)), None)

    @staticmethod
    def _noted(found: Finding, report: Report, *, passed: bool) -> None:
        errors = None if found.errors is None else float(found.errors)
        report.add("sanitizer", found.tool, passed=passed, error=errors, bound=None)

    def _watch(
        self, original: bool, tool: str, left: Sequence[Combination], seconds: float
    ) -> Finding:
        artifact = self._request["baseline" if original else "candidate"]
        terms = (self._request, self._job, artifact, left, seconds, (tool,))
        (found,) = self._sanitizer.examine(*terms, original=original, alone=True)
        return found
