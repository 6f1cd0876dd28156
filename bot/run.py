"""One kernel from start to files: search, live trajectory, best source, patch, report."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot import changed_files, report
from bot.asking import EXCHANGES
from bot.changed_files import Texts
from bot.outcome import Outcome, summarize
from bot.wiring import Workshop, today
from optimizer.dialogue import NOTHING_USED
from optimizer.errors import ConfigError, RunnerError
from optimizer.memory import lessons
from optimizer.model import Kernel, Step, Trajectory, Workload
from optimizer.search import search
from optimizer.tools import Event
from optimizer.trajectory import Footer, Header, TrajectoryLog, write_trajectory
from runners.flags import repository

TRAJECTORY = "trajectory.jsonl"
REPORT = "report.html"


@dataclass(frozen=True, slots=True)
class Order:
    """What is optimized and where its files go."""

    kernel: Kernel
    workload: Workload
    folder: Path
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its result and the files written, by what they are.

    `remark` says what went wrong without harm to the result.
    """

    outcome: Outcome
    files: dict[str, Path]
    remark: str = ""


def optimize(
    order: Order,
    workshop: Workshop,
    on_step: Callable[[Step], None],
    on_event: Callable[[Event], None],
) -> Finished:
    """Search, writing each step as it comes; whatever happens, the steps so far stay on disk.

    Raise `BaselineError` when the kernel itself fails, `RunnerError` when files cannot be written.
    """
    path = order.folder / TRAJECTORY
    with ExitStack() as stack:
        log, earlier = _opened(order, workshop, path)
        stack.enter_context(log)

        def keep(step: Step) -> None:
            log.append(step)
            on_step(step)

        for step in earlier.steps if earlier else ():
            on_step(step)
        found = search(
            order.kernel,
            order.workload,
            workshop.tools(
                order.kernel,
                order.workload,
                order.folder,
                earlier.spending if earlier else NOTHING_USED,
            ),
            workshop.budget,
            keep,
            on_event=on_event,
            settings=workshop.settings_of(earlier),
            environment=workshop.environment,
            resume=earlier,
        )
        log.finish(
            Footer(
                found.stopped,
                found.winner,
                found.confirmation,
                found.aa,
                found.notes,
                found.spent,
            )
        )
    files = write_files(found, order.folder)
    return Finished(summarize(found), files, _learn(found, workshop))


def write_files(found: Trajectory, folder: Path) -> dict[str, Path]:
    """Write trajectory, report and, when something held, source and patch; return their paths."""
    files = {"trajectory": folder / TRAJECTORY}
    if (folder / EXCHANGES).is_file():
        files["exchanges"] = folder / EXCHANGES
    try:
        # The log holds each step as it was judged first; counters and races came later.
        beside = folder / f".{TRAJECTORY}.new"
        write_trajectory(found, beside)
        beside.replace(files["trajectory"])
        if found.winner:
            path, changed = _changed(found)
            files["patch"] = folder / f"{Path(path).stem}.patch"
            for place, (_, new) in changed.items():
                source = "source" if "source" not in files else f"source {place}"
                name = Path(place).name
                taken = {file.name for file in files.values()} | {REPORT}
                files[source] = folder / (place.replace("/", "-") if name in taken else name)
                _write(files[source], new)
            root = found.workload.root
            patch = changed_files.patch(found.baseline.kernel, found.best.kernel, root)
            _write(files["patch"], patch)
        files["report"] = folder / REPORT
        _write(files["report"], report.render(found))
    except OSError as error:
        raise RunnerError(
            f"cannot write to {folder}: {error.strerror}",
            f"the trajectory so far is in {files['trajectory']}; free some disk, then "
            f"`optiml report {files['trajectory']}`",
        ) from error
    return files


def apply(found: Trajectory, file: Path) -> None:
    """Write the winning source over the file it was made from, and headers that it changes.

    Raise `ConfigError` when a file has changed since the run began, or is not of the project.
    """
    if not found.winner:
        return
    path, changed = _changed(found)
    root = Path(found.workload.root)
    # Paths are as seen from the program's folder; a file of its own is seen from its file.
    base = root if (root / path).is_file() else file.parent
    own = file if Path(path).name == file.name else base / path
    places = {own if name == path else base / name: texts for name, texts in changed.items()}
    top = file.parent.resolve()
    around = repository(top) or top.parent
    for place in places:
        if place != file and around not in place.resolve().parents:
            raise ConfigError(f"{place} is outside of {around} and was left alone")
    for place, (old, _) in places.items():
        with place.open(encoding="utf-8", newline="") as stream:
            now = stream.read()
        if now != old:
            raise ConfigError(
                f"{place} has changed since the run began and was left alone",
                "apply the patch by hand: git apply",
            )
    for place, (_, new) in places.items():
        beside = place.with_name(f".{place.name}.optiml")
        _write(beside, new)
        beside.chmod(place.stat().st_mode & 0o777)
        beside.replace(place)


def _changed(found: Trajectory) -> tuple[str, Texts]:
    """Return the path of what was optimized, and the texts before and after of what changes."""
    best = found.best.kernel
    path = best.path or f"{best.name}.cu"
    before = found.baseline.kernel
    changed = changed_files.changed_files(before, best)
    return path, changed or {path: (before.source, best.source)}


def _opened(
    order: Order, workshop: Workshop, path: Path
) -> tuple[TrajectoryLog, Trajectory | None]:
    try:
        order.folder.mkdir(parents=True, exist_ok=True)
        if order.resume:
            log, earlier = TrajectoryLog.resume(path)
            try:
                _same(order, earlier, path)
            except ConfigError:
                log.close()
                raise
            return log, earlier if earlier.steps else None
        for file in (path, order.folder / EXCHANGES):
            if file.exists() and file.stat().st_size:
                file.replace(file.with_suffix(".previous.jsonl"))
        return TrajectoryLog(path, Header(order.workload, workshop.environment)), None
    except OSError as error:
        raise RunnerError(
            f"cannot write to {order.folder}: {error.strerror}", "name another folder with --out"
        ) from error


def _same(order: Order, earlier: Trajectory, path: Path) -> None:
    if earlier.steps and earlier.baseline.kernel.digest != order.kernel.digest:
        raise ConfigError(
            f"{path} is the trajectory of another source",
            "the file changed since that run; start afresh without --resume",
        )
    if earlier.workload != order.workload:
        raise ConfigError(
            f"{path} was made on another workload",
            "`.optiml.yml` changed since that run; start afresh without --resume",
        )


def _learn(found: Trajectory, workshop: Workshop) -> str:
    if workshop.memory is None or found.environment.recorded:
        return ""
    try:
        workshop.memory.add(lessons(found, today()))
    except ConfigError as error:
        return str(error)
    return ""


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
