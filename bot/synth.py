"""`optiml synth`: a description and a workload become a verified kernel, then an optimized one."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from bot import asking, run
from bot import outcome as outcomes
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer import bottleneck
from optimizer.budget import Budget
from optimizer.errors import ConfigError, ProposalError, RunnerError
from optimizer.exchange import Recorded
from optimizer.interfaces import Model
from optimizer.model import Kernel, Launch, Step, Verdict, Workload
from optimizer.synthesis import cutlass
from optimizer.synthesis.mixture import Attempt, Bench, Synthesis, synthesize
from optimizer.synthesis.task import Task
from optimizer.tools import Event
from runners import cuda_types
from runners.evaluator import DispatchedEvaluator
from runners.workload import PROJECT_FILE, ProjectConfig, parse_project

NOTEBOOK = "synthesis.json"
EXCHANGES = "synthesis-exchanges.jsonl"
MOST_BYTES = 1 << 20
UNVERIFIED = (
    "UNVERIFIED: the workload names no reference, so nothing says that this computes what was "
    "asked; candidates were held against the first one that ran"
)
_TENSOR_CHANCE = "tensor-chance"
_TENSOR_CODE = re.compile(r"\b(wmma::mma_sync|make_tiled_mma|gemm)\s*\(")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for, read and checked. `config` is what the project says about budgets."""

    description: str
    workload: Workload
    path: str
    reference: str
    config: ProjectConfig


@dataclass(frozen=True, slots=True)
class Made:
    """What came of it: the attempts, the search from the best of them, files by what they are."""

    synthesis: Synthesis
    finished: run.Finished
    kernel: Kernel
    unverified: bool

    @property
    def launch(self) -> Launch | None:
        """Return the launch the kernel wants, if it is not the workload's."""
        stated = self.finished.outcome.trajectory.workload.launch
        return self.kernel.launch if self.kernel.launch != stated else None


def voice_of(settings: Settings, folder: Path) -> asking.Voice:
    """Return the model of the settings; what it is asked and answers is kept in the folder.

    Raise `ConfigError` where there is none, `RunnerError` where the folder cannot be written.
    """
    if not asking.is_set(settings):
        raise ConfigError("no language model is named, and synthesis needs one", asking.NO_MODEL)
    answers = Recorded.load(Path(settings.answers)) if settings.answers else None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunnerError(f"cannot write to {folder}: {error.strerror}") from error
    return asking.voice(settings, answers=answers, file=folder / EXCHANGES)


def wish(description: str, project: Path, name: str, *, unverified: bool) -> Wish:
    """Read the workload from a project file; the kernel's own file need not be there yet.

    Raise `ConfigError` for an unknown workload, and for one without a reference unless a kernel
    that nobody can verify is wanted.
    """
    file = project / PROJECT_FILE if project.is_dir() else project
    text = _text(file, "describe the workload first: docs/synthesis.md has an example")
    root = file.parent.resolve()
    found = parse_project(text, root, str(file))
    fitting = [(path, one) for path, one in found.workloads if one.name == name]
    if not fitting:
        known = ", ".join(one.name for _, one in found.workloads)
        raise ConfigError(f"{file} has no workload {name!r}", f"it has: {known}")
    path, workload = fitting[0]
    _inside(root, path)
    reference = ""
    if workload.reference is not None:
        script, _, function = workload.reference.rpartition(":")
        reference = _text(_inside(root, script), "the reference is a numpy function in a file")
        if f"def {function}" not in reference:
            raise ConfigError(f"{script} has no function {function}", "mend `reference:`")
    elif not unverified:
        raise ConfigError(
            f"{name} has no reference, so no result could be verified",
            "give it `reference: FILE.py:FUNCTION`, a numpy function; --unverified goes on without",
        )
    return Wish(description, workload, path, reference, found.config)


def make(
    asked: Wish,
    workshop: Workshop,
    model: Model,
    folder: Path,
    on_attempt: Callable[[Attempt], None],
    watching: Callable[[], AbstractContextManager[Watcher]] | None = None,
) -> Made:
    """Write, verify and optimize; the attempts are kept in the folder whatever comes of them.

    What synthesis has spent is taken from what the search may spend. Raise `ProposalError` when no
    line of thought wrote a correct kernel.
    """
    tree = workshop.cutlass
    task = _task(asked, workshop, tree)
    bench = _bench(task, workshop)
    begun = time.monotonic()
    written = synthesize(
        task, model, bench, workshop.budget,
        library=cutlass.Library(tree) if tree is not None else None, on_attempt=on_attempt,
        answer_tokens=workshop.settings.answer_tokens,
    )  # fmt: skip
    _keep(written, folder)
    best = written.best
    if best is None or best.kernel is None:
        why = f" ({written.stopped})" if written.stopped else ""
        raise ProposalError(
            f"none of {len(written.attempts)} answers is a correct kernel{why}",
            f"what was written and what was wrong with it is in {folder / NOTEBOOK}",
        )
    _charge(workshop, written, time.monotonic() - begun)
    with watching() if watching is not None else nullcontext(Watcher()) as watcher:
        finished = run.optimize(
            run.Order(best.kernel, asked.workload, folder), workshop,
            watcher.on_step, watcher.on_event,
        )  # fmt: skip
    found = finished.outcome.trajectory
    notes = [_told(attempt) for attempt in written.attempts]
    unverified = asked.workload.reference is None
    notes += [UNVERIFIED] if unverified else []
    noted = replace(found, notes=(*notes, *found.notes))
    files = run.write_files(noted, folder)
    kernel = noted.best.kernel
    files["source"] = folder / Path(asked.path).name
    _write(files["source"], kernel.source)
    files["attempts"] = folder / NOTEBOOK
    files["answers"] = folder / EXCHANGES
    return Made(
        written,
        replace(finished, outcome=outcomes.summarize(noted), files=files),
        kernel,
        unverified,
    )


class Watcher:
    """Follows the search that comes behind the synthesis; this one says nothing."""

    def on_step(self, step: Step) -> None:
        """Hear of a step."""

    def on_event(self, event: Event) -> None:
        """Hear of a stage."""


def _task(asked: Wish, workshop: Workshop, tree: cutlass.Tree | None) -> Task:
    arguments = tuple(
        replace(argument, type=cuda_types.spelled(argument.type))
        for argument in asked.workload.arguments
    )
    facts = {**workshop.environment.facts, **workshop.environment.peaks}
    # Nobody's kernel sets a standard of accuracy here: the declared tolerance alone does, which is
    # what this says to the judge. No flag of the build is changed by it.
    accept = replace(asked.workload.accept, allow_fast_math=True)
    workload = replace(asked.workload, arguments=arguments, accept=accept)
    task = Task(
        asked.description, workload, asked.path,
        asked.reference, facts, workshop.environment.gpu,
    )  # fmt: skip
    if tree is not None:
        task = replace(task, more_headers=tree.has, known_words=tree.words)
    return task


def _bench(task: Task, workshop: Workshop) -> Bench:
    settings = workshop.settings
    device = settings.device if settings.device != "all" else "cuda:0"
    peaks = workshop.environment.peaks

    def inside(_original: str, candidate: str, *, allow_host: bool = False) -> Sequence[str]:
        del allow_host
        return task.outside(candidate)

    def against(kernel: Kernel) -> DispatchedEvaluator:
        return DispatchedEvaluator(workshop.dispatcher, kernel, device, settings.seed, inside)

    def tensor(kernel: Kernel, verdict: Verdict) -> bool:
        # By its own words where no disassembler told: without one there are no instructions.
        if _TENSOR_CODE.search(kernel.source) or bottleneck.classify(verdict, peaks).tensor:
            return True
        tools = workshop.tools(kernel, task.workload)
        found = [one for detector in tools.detectors for one in detector(kernel, verdict)]
        return any(one.detector == _TENSOR_CHANCE for one in found)

    return Bench(against, tensor)


def _charge(workshop: Workshop, written: Synthesis, seconds: float) -> None:
    """Leave the search what synthesis did not spend; its baseline is measured in any case."""
    limit: Budget = workshop.budget
    workshop.settings = replace(
        workshop.settings,
        evaluations=max(1, limit.evaluations - written.evaluations),
        minutes=max(0.01, limit.minutes - seconds / 60.0),
        usd=max(0.0, limit.usd - written.usage.usd),
        tokens=max(0, workshop.settings.tokens - written.usage.tokens),
        calls=max(0, workshop.settings.calls - written.usage.calls),
    )


def _told(attempt: Attempt) -> str:
    words = f"{attempt.thought}, answer {attempt.repair + 1}: {attempt.verdict.status.value}"
    if attempt.speedup is not None:
        words += f", {attempt.speedup:.2f}× the first correct one"
    return words + (f" (by {attempt.author})" if attempt.author else "")


def _keep(written: Synthesis, folder: Path) -> None:
    """Write every attempt down: plan, source, verdict, cost."""
    data = {
        "version": 1,
        "stopped": written.stopped,
        "evaluations": written.evaluations,
        "usd": written.usage.usd,
        "tokens": written.usage.tokens,
        "attempts": [
            {
                "thought": one.thought,
                "repair": one.repair,
                "author": one.author,
                "plan": one.plan,
                "status": one.verdict.status.value,
                "speedup": one.speedup,
                "log": one.verdict.log[:8000],
                "usd": one.usage.usd,
                "tokens": one.usage.tokens,
                "source": one.kernel.source if one.kernel else None,
                "launch": _geometry(one.kernel.launch) if one.kernel else None,
            }
            for one in written.attempts
        ],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / NOTEBOOK, json.dumps(data, indent=1, allow_nan=False) + "\n")
    except OSError as error:
        raise RunnerError(f"cannot write to {folder}: {error.strerror}") from error


def _geometry(launch: Launch | None) -> dict[str, object] | None:
    if launch is None:
        return None
    return {"grid": list(launch.grid), "block": list(launch.block), "shared": launch.shared}


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def _inside(root: Path, name: str) -> Path:
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise ConfigError(f"{name} leads out of {root}", "name a file of the project")
    return path


def _text(path: Path, remedy: str) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path} is larger than {MOST_BYTES >> 20} MiB", remedy)
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file {path}", remedy) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", remedy) from error
