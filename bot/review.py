"""The straight line from a change to its comment. Command line, Action and webhook all call it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.comment import Door, compose
from bot.interfaces import Change, Forge, Pull, Report, Reviewed
from optimizer.budget import Budget, SearchSettings
from optimizer.errors import BaselineError
from optimizer.model import Effort, Environment, Kernel, Status, Step, Verdict, Workload
from optimizer.search import search
from optimizer.tools import Event, Tools


@dataclass(frozen=True, slots=True)
class Watch:
    """Who listens while a review is under way."""

    on_kernel: Callable[[Change], None] = lambda _: None
    on_step: Callable[[Step], None] = lambda _: None
    on_event: Callable[[Event], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Means:
    """What a review works with.

    `tools` returns the tools to judge candidates of one kernel on one workload.
    """

    tools: Callable[[Kernel, Workload], Tools]
    budget: Budget
    settings: SearchSettings = field(default_factory=SearchSettings)
    environment: Environment = field(default_factory=Environment)


HERE = Door()
NO_WORKLOAD = "the base branch has no workload for it"
SILENT = Watch()


def review(
    pull: Pull, forge: Forge, means: Means, door: Door = HERE, watch: Watch = SILENT
) -> Report:
    """Search every changed kernel, time the change against its base, and publish what was found.

    A kernel whose own baseline fails is told of and does not keep others from being reviewed.
    Raise `RunnerError` when no machine can give verdicts.
    """
    results = [reviewed(change, means, pull, watch) for change in forge.changed_kernels(pull)]
    report = compose(results, door)
    forge.publish(pull, report)
    return report


def reviewed(change: Change, means: Means, pull: Pull, watch: Watch = SILENT) -> Reviewed:
    """Search one changed kernel and time it against its base; see `review`."""
    watch.on_kernel(change)
    if change.workload is None:
        return Reviewed(change, problem=NO_WORKLOAD)
    try:
        verdict, problem = _against_base(change, change.workload, means)
        found = search(
            change.kernel,
            change.workload,
            means.tools(change.kernel, change.workload),
            means.budget,
            watch.on_step,
            on_event=watch.on_event,
            settings=means.settings,
            environment=replace(means.environment, commit=pull.head),
        )
    except BaselineError as error:
        return Reviewed(change, problem=str(error))
    return Reviewed(change, found, verdict, problem)


def _against_base(change: Change, workload: Workload, means: Means) -> tuple[Verdict | None, str]:
    """Time the change with its base as the baseline, in one job on one GPU."""
    before, after = change.before, change.after or change.kernel
    if before is None or before.digest == after.digest:
        return None, ""
    evaluator = means.tools(before, workload).evaluator
    try:
        (verdict,) = evaluator.evaluate([after], workload, Effort.CONFIRM)
    except BaselineError as error:
        return None, f"not compared with the base, which fails: {error.message}"
    if verdict.status is not Status.CORRECT:
        return None, f"not compared with the base: {verdict.status.value}"
    return verdict, ""
