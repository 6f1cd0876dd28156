"""The GPU plane's part: carry an order out in a checkout, without a token, and write the bundle."""

from __future__ import annotations

import fcntl
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot import bundle, changed_files, comment, projects, run
from bot.checkout import Checkout
from bot.chosen import Chosen
from bot.interfaces import Change, Report, Reviewed
from bot.orders import BenchState, Order, held_to
from bot.outcome import Ratio, summarize
from bot.progress_file import ProgressFile
from bot.review import NO_WORKLOAD, Means, Watch, reviewed
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.budget import Stopped
from optimizer.errors import OptimlError, RunnerError
from runners.fault import Fault
from runners.wire import unwrap

BUNDLE = "bundle"
PROGRESS = "progress.jsonl"
PATCH = "optiml.patch"
OUT_OF_TIME = "not reviewed: the time for all kernels together was over"
TOO_MANY = f"not reviewed: a review searches {bundle.MAX_TRAJECTORIES} kernels at most; name it"
INTERRUPTED = "not reviewed: the run ended before its turn"


@dataclass(frozen=True, slots=True)
class Plane:
    """Where an order is carried out: a checkout of its head, and a folder for what is written.

    `replay` takes verdicts from a recording instead of a GPU; `record` writes them down. `lock`
    is a file that reviews on one GPU take in turn, so that they do not disturb each other. No
    kernel is begun later than `minutes` after the first.
    """

    checkout: Path
    out: Path
    replay: Path | None = None
    record: Path | None = None
    lock: Path | None = None
    minutes: float = math.inf


@dataclass(frozen=True, slots=True)
class Done:
    """What a review wrote. `best` is the largest speedup that held, None when nothing did."""

    report: Report
    best: Ratio | None = None
    page: Path | None = None
    patch: Path | None = None


def carry_out(
    order: Order,
    plane: Plane,
    settings: Settings,
    *,
    command: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Done:
    """Review what an order asks for and write bundle, reports, patch and progress.

    Whatever fails is written into the bundle, too, so that the order's giver can tell it, and
    raised: `ConfigError`, `BaselineError`, `RunnerError`.
    """
    folder = plane.out / BUNDLE
    with ProgressFile(plane.out / PROGRESS, say) as progress:
        try:
            with _turn(plane.lock, progress):
                progress.say(BenchState.RUNNING)
                talk = _Talk(command, say, progress.watch)
                report = comment.compose(_reviewed(order, plane, settings, talk))
                done = _files(report, plane.out)
                bundle.write(folder, order, report.results)
        except Fault as fault:
            try:
                unwrap(fault)
            except OptimlError as error:
                _failed(folder, order, error, progress)
                raise
        except (OptimlError, KeyboardInterrupt) as error:
            _failed(folder, order, error, progress)
            raise
        except Exception as error:
            _failed(folder, order, error, progress)
            raise
        progress.say(BenchState.DONE)
    return done


def _failed(folder: Path, order: Order, error: BaseException, progress: ProgressFile) -> None:
    bundle.write_failure(folder, order, error)
    progress.say(BenchState.FAILED, str(error).partition("\n")[0])


@contextmanager
def _turn(lock: Path | None, progress: ProgressFile) -> Iterator[None]:
    """Wait for the GPU. The kernel gives the lock back however this process ends."""
    if lock is None:
        yield
        return
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("a")
    except OSError as error:
        raise RunnerError(f"cannot open the lock {lock}: {error.strerror}") from error
    with file:
        progress.say(BenchState.QUEUED, "waiting for the GPU")
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True, slots=True)
class _Talk:
    """How a review is called, and who hears of it."""

    command: str
    say: Callable[[str], None]
    watch: Watch


def _reviewed(order: Order, plane: Plane, settings: Settings, talk: _Talk) -> list[Reviewed]:
    given: list[Mapping[str, object]] = []
    with Checkout(plane.checkout, order.base, projects.noting(given), lambda _: None) as checkout:
        here = checkout.pull.head
        if here != order.head:
            raise RunnerError(
                f"the checkout is at {here}, the order is for {order.head}",
                "check out the pull request's head commit, with its history and no other files",
            )
        changes = Chosen(checkout, order.kernels).changed_kernels(checkout.pull)
        for number, change in enumerate(changes, 1):
            talk.say(f"kernel {number} of {len(changes)}: {change.kernel.name} ({change.reason})")
        if not any(change.workload for change in changes):
            return [Reviewed(one, problem=NO_WORKLOAD) for one in changes]
        budgeted = bounded(settings, order, projects.joined(given))
        with Workshop(
            budgeted,
            replay=plane.replay,
            record=plane.record,
            command=talk.command,
            say=talk.say,
            includes=False,  # a suggestion has to compile in the project as it is
        ) as shop:

            def look(change: Change) -> Reviewed:
                folder = _reports(plane.out, changes.index(change))
                means = Means(
                    # What a model is asked about the change itself is kept beside its report.
                    lambda kernel, workload: shop.tools(
                        kernel, workload, folder if kernel is change.kernel else None
                    ),
                    shop.budget,
                    shop.search_settings,
                    shop.environment,
                )
                return reviewed(change, means, checkout.pull, talk.watch)

            return _one_by_one(order, plane, changes, look)


def _one_by_one(
    order: Order,
    plane: Plane,
    changes: Sequence[Change],
    look: Callable[[Change], Reviewed],
) -> list[Reviewed]:
    """Review kernel after kernel, keeping a bundle of what is done: we may be killed meanwhile."""
    until = time.monotonic() + 60 * plane.minutes
    results: list[Reviewed] = []
    for number, change in enumerate(changes):
        late = time.monotonic() > until
        if late or sum(one.trajectory is not None for one in results) >= bundle.MAX_TRAJECTORIES:
            results.append(Reviewed(change, problem=OUT_OF_TIME if late else TOO_MANY))
            continue
        found = held_to(order, look(change))
        results.append(found)
        rest = changes[number + 1 :]
        if rest:
            so_far = [*results, *(Reviewed(one, problem=INTERRUPTED) for one in rest)]
            bundle.write(plane.out / BUNDLE, order, so_far)
            if found.trajectory is not None and found.trajectory.stopped == Stopped.INTERRUPTED:
                return so_far
    return results


def bounded(settings: Settings, order: Order, project: dict[str, object]) -> Settings:
    """Return settings for an order: the least of what the order and the project allow."""
    least = projects.joined([
        {"minutes": order.minutes, "evaluations": order.evaluations, "usd": settings.usd},
        {name: project.get(name) for name in ("minutes", "evaluations", "usd")},
    ])  # fmt: skip
    return replace(
        settings,
        policy=order.policy,
        objective=order.objective,
        seed=order.seed,
        minutes=float(str(least["minutes"])),
        evaluations=int(str(least["evaluations"])),
        usd=float(str(least["usd"])),
    )


def _reports(out: Path, number: int) -> Path:
    return out / "reports" / f"{number:03}"


def _files(report: Report, out: Path) -> Done:
    """Write reports and the patch for people; nobody on the control plane reads these."""
    best: Ratio | None = None
    page: Path | None = None
    patches = []
    for number, one in enumerate(report.results):
        if one.trajectory is None:
            continue
        folder = _reports(out, number)
        folder.mkdir(parents=True, exist_ok=True)
        written = run.write_files(one.trajectory, folder)
        page = page or written["report"]
        ratio = summarize(one.trajectory).ratio
        if ratio is None:
            continue
        if best is None or ratio.value > best.value:
            best, page = ratio, written["report"]
        before, after = one.trajectory.baseline.kernel, one.trajectory.best.kernel
        patches.append(changed_files.patch(before, after))
    patch = None
    if any(patches):
        patch = out / PATCH
        patch.write_text("".join(patches), encoding="utf-8", newline="")
    return Done(report, best, page, patch)
