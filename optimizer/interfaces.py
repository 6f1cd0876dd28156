"""What the search asks of the world. Each is a Protocol: implement the methods, inherit nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from optimizer.dialogue import Answer, Message, Schema
from optimizer.model import Edit, Effort, Finding, Kernel, Proposal, Step, Verdict, Workload


class ProposalPolicy(Protocol):
    """Suggests edits of a candidate, best first."""

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return at most `limit` proposals not returned before for this step; none when done."""
        ...


@runtime_checkable
class LatePolicy(Protocol):
    """What a policy does besides `propose` that answers while the search goes on.

    A language model takes longer than a GPU: `propose` returns what is known at once, the rest
    comes by `arrived`, and machines are busy meanwhile.
    """

    def observe(self, step: Step) -> None:
        """Hear of a candidate and its verdict, the unedited kernel first."""
        ...

    def arrived(self, wait: float) -> Sequence[tuple[int, Sequence[Proposal]]]:
        """Return what came in since, with the number of the step each is for; none is an answer.

        Where something is under way, wait up to `wait` seconds for the first of it.
        """
        ...


@runtime_checkable
class Foresighted(Protocol):
    """What a policy does besides `propose` whose proposals can be known ahead at no cost."""

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return about what `propose` would, which afterwards answers as if this was not asked."""
        ...


class Evaluator(Protocol):
    """Compiles, checks, times and profiles kernels, wherever that happens."""

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        """Return one verdict per kernel, in order. Raise only when no verdict can be had.

        The sequence may wait for a verdict, or raise, when it is looked at.
        """
        ...


@runtime_checkable
class Expectant(Protocol):
    """What an evaluator does besides that can begin something before it is asked."""

    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        """Begin what can be begun for kernels that will probably be asked about.

        No verdict depends on it. False where nothing can be begun.
        """
        ...


@runtime_checkable
class Punctual(Protocol):
    """What an evaluator does besides that can leave out what there is no time for."""

    def within(self, seconds: float) -> None:
        """Hear in how many seconds an answer asked for next is of use; infinity: whenever.

        Counters that come later are not read to their end. A confirmation leaves out what it can
        do without and says so: no answer is another one for it.
        """
        ...


@runtime_checkable
class Underway(Protocol):
    """What a sequence of verdicts offers besides, of which some may not be in yet."""

    def ready(self, index: int) -> bool:
        """Tell whether looking at a verdict would not wait."""
        ...

    def prefer(self, index: int, urgent: bool) -> None:
        """Have one that has not begun run before those that are not urgent, or after the others."""
        ...


@runtime_checkable
class Revocable(Protocol):
    """What a sequence of verdicts offers besides, of which some need not come."""

    def cancel(self, index: int) -> bool:
        """Have one that has not begun never run; tell whether that was so. A look then raises."""
        ...


class Detector(Protocol):
    """Looks at a kernel; one micro-profiling tool."""

    def __call__(self, kernel: Kernel, verdict: Verdict | None) -> Iterable[Finding]:
        """Yield what it sees; `verdict` is None before running, when blocking spares the GPU."""
        ...


class RewriteRule(Protocol):
    """A built-in or third-party rewrite, for `RulePolicy`."""

    def __call__(self, kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        """Yield edits that keep the kernel's meaning, best first; none where it is not legal."""
        ...


class RewardFunction(Protocol):
    """Turns a verdict into one number: 0 for the baseline, higher for better."""

    def __call__(self, verdict: Verdict, baseline: Verdict) -> float:
        """Return the worth of a candidate."""
        ...


class Model(Protocol):
    """A language model: text in, text out. It is never offered a tool, a file or an address."""

    @property
    def name(self) -> str:
        """Return what the model is called, for authors of edits, prices and logs."""
        ...

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        """Return the answer, of at most `limit` tokens; may be called from several threads.

        The server holds the answer to `schema` where it can; where it cannot the text may be
        anything, so say the shape in the messages, too, and read it with `dialogue.json_in`.
        Raise `ModelError`: `PromptTooLong` asks for a shorter one, `BudgetSpent` for no more.
        """
        ...
