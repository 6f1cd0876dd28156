"""A mixture of thoughts: lines of thought written side by side, mended, measured, and merged.

Everything a round asks is asked at once, and what came back is measured in the order of the lines,
so a recording of answers and verdicts gives the same kernels again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from optimizer.budget import Budget
from optimizer.dialogue import Usage
from optimizer.errors import BaselineError, BudgetSpent, ModelError
from optimizer.model import Check, Effort, Kernel, Status, Verdict
from optimizer.significance import speedup
from optimizer.synthesis.line import ANSWER_TOKENS, Line
from optimizer.synthesis.task import Task, brief
from optimizer.synthesis.thoughts import CRITIC, CUTE, FIRST, Thought

if TYPE_CHECKING:
    from optimizer.interfaces import Evaluator, Model
    from optimizer.synthesis.cutlass import Library

# Twice: OptiML reports that most candidates compile after one repair and hardly any after three.
REPAIRS = 2
# What the critic is shown: more sources than these do not fit a small model's context.
SHOWN = 3
UNCHECKED = "not checked at"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer of a line of thought and what became of it; `repair` counts from 0.

    `speedup` is over the first correct kernel, None where nothing was timed.
    """

    thought: str
    repair: int
    plan: str
    kernel: Kernel | None
    verdict: Verdict
    author: str = ""
    usage: Usage = field(default_factory=Usage)
    speedup: float | None = None

    @property
    def works(self) -> bool:
        """Tell whether it is a correct kernel."""
        return self.kernel is not None and self.verdict.status is Status.CORRECT


@dataclass(frozen=True, slots=True)
class Synthesis:
    """All attempts in order and the fastest correct one; `stopped` says what ended it early."""

    attempts: tuple[Attempt, ...]
    best: Attempt | None
    evaluations: int
    usage: Usage
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What kernels are measured on.

    `against` returns an evaluator whose baseline is the given kernel; its verdicts hold the numpy
    reference against both. `tensor` tells from a verdict whether tensor cores are what counts.
    """

    against: Callable[[Kernel], Evaluator]
    tensor: Callable[[Kernel, Verdict], bool] = lambda _kernel, _verdict: False
    clock: Callable[[], float] = time.monotonic


def synthesize(
    task: Task,
    model: Model,
    bench: Bench,
    budget: Budget,
    *,
    thoughts: Sequence[Thought] = FIRST,
    library: Library | None = None,
    on_attempt: Callable[[Attempt], None] = lambda _: None,
    answer_tokens: int = ANSWER_TOKENS,
) -> Synthesis:
    """Return what the lines of thought came to; the best is the root of a search.

    What a model may cost is for `model` to hold (`BudgetSpent` ends the synthesis, not the
    result); evaluations and minutes are held here. A model that fails for one line of thought
    leaves the others. Raise `RunnerError` when no verdict can be had.
    """
    run = _Mixture(task, model, bench, budget, on_attempt)
    run.answer_tokens = answer_tokens
    lines = [Line(thought, _opening(task, thought)) for thought in thoughts]
    run.work(lines)
    best = run.best
    if (
        library is not None
        and best is not None
        and best.kernel is not None
        and bench.tensor(best.kernel, best.verdict)
    ):
        said = f"{_opening(task, CUTE)}\n\n{_shown([best])}\n\n{library.describe()}"
        run.work([Line(CUTE, said, library)])
    if any(attempt.kernel for attempt in run.attempts):
        run.work([Line(CRITIC, f"{_opening(task, CRITIC)}\n\n{_shown(run.ranked()[:SHOWN])}")])
    best = run.proved()
    usage = sum((attempt.usage for attempt in run.attempts), Usage())
    return Synthesis(tuple(run.attempts), best, run.evaluations, usage, run.stopped)


class _Mixture:
    """The state of a synthesis."""

    answer_tokens: int = ANSWER_TOKENS

    def __init__(
        self,
        task: Task,
        model: Model,
        bench: Bench,
        budget: Budget,
        on_attempt: Callable[[Attempt], None],
    ) -> None:
        self.task, self.model, self.bench, self.budget = task, model, bench, budget
        self.on_attempt = on_attempt
        self.attempts: list[Attempt] = []
        self.evaluations = 0
        self.stopped = ""
        self._begun = bench.clock()
        self._evaluator: Evaluator | None = None
        self._known: dict[str, Verdict] = {}

    @property
    def best(self) -> Attempt | None:
        """Return the fastest correct attempt."""
        return next((attempt for attempt in self.ranked() if attempt.works), None)

    def ranked(self) -> list[Attempt]:
        """Return the last attempt of each kernel that there is, correct and fast ones first."""
        found = [attempt for attempt in self.attempts if attempt.kernel is not None]
        return sorted(found, key=lambda a: (not a.works, -(a.speedup or 0.0)))

    def proved(self) -> Attempt | None:
        """Return the fastest attempt that holds on all families and sizes; mark those that do not.

        It is what a search asks first of its root, so it costs nothing twice.
        """
        while (best := self.best) is not None and best.kernel is not None:
            verdict = self._alone(best.kernel, Effort.RACE)
            if verdict.status is Status.CORRECT:
                return best
            place = self.attempts.index(best)
            failed = replace(best, verdict=verdict, speedup=None)
            self.attempts[place] = failed
            self.on_attempt(failed)
        return None

    def work(self, lines: Sequence[Line]) -> None:
        """Let lines of thought write, and mend what failed, until they are done or it is over."""
        waiting = list(lines)
        while waiting and not self._over():
            self._ask(waiting)
            again = []
            for place, line in enumerate(waiting):
                attempt = self._tried(line, waiting[place + 1 :])
                if attempt is None:
                    continue
                if not attempt.works and line.repair < REPAIRS and not line.failure:
                    line.complain(attempt.verdict)
                    again.append(line)
            waiting = again

    def _ask(self, lines: Sequence[Line]) -> None:
        """Ask for all lines at once; one that fails leaves the others."""
        tunable = self.task.launch.tunable

        def ask(line: Line) -> None:
            line.usage, line.failure = Usage(), ""
            try:
                line.ask(self.model, self.answer_tokens, tunable=tunable)
            except BudgetSpent as error:
                line.failure, self.stopped = error.message, error.message
            except ModelError as error:
                line.failure = error.message

        with ThreadPoolExecutor(len(lines), thread_name_prefix="thought") as pool:
            list(pool.map(ask, lines))

    def _tried(self, line: Line, behind: Sequence[Line]) -> Attempt | None:
        """Measure what a line of thought wrote; None when nothing may be measured any more."""
        kernel = None
        if line.failure:
            verdict = Verdict(Status.REJECTED, log=f"the model did not answer: {line.failure}")
        elif line.draft.trouble:
            verdict = Verdict(Status.REJECTED, log=line.draft.trouble)
        else:
            kernel = self.task.kernel(line.draft.source, line.draft.launch)
            outside = self.task.outside(kernel.source)
            if outside:
                verdict = Verdict(Status.REJECTED, log="\n".join(outside))
            elif self._spent() and kernel.digest not in self._known:
                return None
            else:
                verdict = self._verdict(kernel, behind)
        author = line.answer.author if line.answer else ""
        attempt = Attempt(
            line.thought.name, line.repair, line.draft.plan, kernel, verdict, author, line.usage,
            speedup(verdict.measurement) if verdict.status is Status.CORRECT else None,
        )  # fmt: skip
        self.attempts.append(attempt)
        self.on_attempt(attempt)
        return attempt

    def _verdict(self, kernel: Kernel, behind: Sequence[Line]) -> Verdict:
        """Return the verdict on a kernel, beside the first correct one or by itself."""
        if kernel.digest not in self._known:
            if self._evaluator is None:
                self.evaluations += 1
                self._known[kernel.digest] = self._first(kernel)
            else:
                self._beside(self._evaluator, kernel, behind)
        return self._known[kernel.digest]

    def _beside(self, evaluator: Evaluator, kernel: Kernel, behind: Sequence[Line]) -> None:
        """Measure a kernel beside the first correct one, with those behind it in one batch."""
        batch = {kernel.digest: kernel}
        for line in behind:
            if line.failure or line.draft.trouble:
                continue
            other = self.task.kernel(line.draft.source, line.draft.launch)
            room = len(batch) < self.budget.evaluations - self.evaluations
            if room and other.digest not in self._known and not self.task.outside(other.source):
                batch[other.digest] = other
        self.evaluations += len(batch)
        found = evaluator.evaluate(list(batch.values()), self.task.workload, Effort.SCREEN)
        self._known.update(zip(batch, found, strict=True))

    def _first(self, kernel: Kernel) -> Verdict:
        """Hold a kernel against the reference alone; a correct one is what others are timed by."""
        verdict = self._alone(kernel, Effort.SCREEN)
        if verdict.status is Status.CORRECT:
            self._evaluator = self.bench.against(kernel)
        return verdict

    def _alone(self, kernel: Kernel, effort: Effort) -> Verdict:
        """Return the verdict on a kernel that is its own baseline, nothing being excused."""
        try:
            (verdict,) = self.bench.against(kernel).evaluate([kernel], self.task.workload, effort)
        except BaselineError as error:
            said = error.message.replace("the original", "the kernel")
            status = Status.WRONG_RESULT if "reference" in said else Status.CRASHED
            if "does not compile" in said:
                status = Status.DOES_NOT_COMPILE
            return Verdict(status, log=said)
        notes = verdict.measurement.notes if verdict.measurement else ()
        unchecked = [note for note in notes if note.startswith(UNCHECKED)]
        if verdict.status is not Status.CORRECT or not unchecked:
            return verdict
        # A search excuses what the original cannot do; here there is no original to ask.
        log = "\n".join(note.replace("the original", "the kernel") for note in unchecked)
        failed = Check("sizes", "other sizes and inputs", passed=False)
        checks = (*verdict.checks, failed)
        return replace(verdict, status=Status.WRONG_RESULT, log=log, checks=checks)

    def _over(self) -> bool:
        """Tell whether nothing more may be asked."""
        return self._spent() or bool(self.stopped)

    def _spent(self) -> bool:
        """Tell whether nothing more may be measured; answers that were paid for still are."""
        if self.evaluations >= self.budget.evaluations:
            self.stopped = self.stopped or "evaluations"
            return True
        if self.bench.clock() - self._begun >= 60.0 * self.budget.minutes:
            self.stopped = self.stopped or "minutes"
            return True
        return False


def _shown(attempts: Sequence[Attempt]) -> str:
    parts = []
    for attempt in attempts:
        words = attempt.verdict.status.value
        if attempt.speedup is not None:
            words += f", {attempt.speedup:.2f} times the speed of the first correct one"
        parts.append(f"{attempt.thought}: {words}")
        if attempt.kernel is not None and attempt.kernel.launch is not None:
            at = attempt.kernel.launch
            parts.append(f"    grid {list(at.grid)}, block {list(at.block)}, shared {at.shared}")
        if not attempt.works:
            parts += [f"    ! {line}" for line in attempt.verdict.log[:600].splitlines()]
        source = attempt.kernel.source if attempt.kernel else ""
        parts += [f"    | {line}" for line in source.splitlines()]
    return "\n".join(parts)


def _opening(task: Task, thought: Thought) -> str:
    """Return the task, the same for all lines so that servers can cache it, then the advice."""
    return f"{brief(task)}\n\nYour line of thought, {thought.name}: {thought.advice}"
