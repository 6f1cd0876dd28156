"""What a GPU plane answers to an order: written where strangers' code has run, read as hostile.

A bundle is a folder, or a zip of one, with `optiml-bundle.json` (the order word for word, and for
each changed kernel what came of it) and one trajectory per searched kernel. Reading checks sizes
and schema, that it answers this very order (id, nonce, head), that every figure can be a figure,
and that it can be told without stumbling. What it says of the pull request's text is not believed:
`bot.vouching` holds it against what GitHub has.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot import comment, report
from bot.interfaces import Change, Reviewed
from bot.orders import BundleError, Order, held_to
from bot.untrusted import Limits, TextLimits, json_of, members_of_folder, members_of_zip
from optimizer.errors import BaselineError, ConfigError, OptimlError, RunnerError
from optimizer.model import Kernel, Measurement, Status, Step, Trajectory, Verdict, Workload
from optimizer.significance import LONGEST_US, SHORTEST_US
from optimizer.trajectory import parse_trajectory, write_trajectory

FORMAT = 1
MANIFEST = "optiml-bundle.json"
LIMITS = Limits()
MAX_TRAJECTORIES = LIMITS.members - 1
MAX_RESULTS = 1000
MAX_STEPS = 5000
MAX_BLOCKS = 100_000
MAX_SOURCE = 2 << 20  # characters
MAX_LINES = 20_000  # differences of texts are quadratic at worst: half a second for these
MAX_EDITS = 64  # on the way to a winner, each of which is looked at again and may be committed
MAX_OFFERED = 8 << 20  # characters of all sources on that way
TEXTS = TextLimits(
    usual=4096,
    by_key={"source": MAX_SOURCE, "snippet": 1 << 16, "log": 1 << 14, "title": 500, "name": 500},
)
_NAMES = re.compile(r"optiml-bundle\.json|[0-9]{3}\.jsonl")
_SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".cc", ".cxx"})
# Mappings of figures, in which one that could not be had is left out.
_FIGURES = frozenset({"counters", "lines", "seconds", "peaks", "facts", "kernels", "instructions"})
_EVIDENCE = ("counters", "lines", "instructions", "checks", "seconds")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there are no results at all; `kind` is config, baseline, runner or unexpected."""

    kind: str
    message: str
    remedy: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Say what an exception means to whoever gave the order."""
        if isinstance(error, KeyboardInterrupt):
            return cls("runner", "the review was interrupted before there was a result")
        if not isinstance(error, OptimlError):
            return cls("unexpected", f"{type(error).__name__}: {error}")
        for kind, family in (
            ("config", ConfigError),
            ("baseline", BaselineError),
            ("runner", RunnerError),
        ):
            if isinstance(error, family):
                return cls(kind, error.message, error.remedy)
        return cls("unexpected", error.message, error.remedy)

    @property
    def error(self) -> OptimlError:
        """Return it as the error it was; what was unexpected there is a machine's failure here."""
        families = {"config": ConfigError, "baseline": BaselineError}
        return families.get(self.kind, RunnerError)(self.message, self.remedy)


@dataclass(frozen=True, slots=True)
class _Entry:
    kernel: Kernel
    workload: Workload | None
    reason: str
    snippet: str
    against_base: Verdict | None
    problem: str
    trajectory: str | None


@dataclass(frozen=True, slots=True)
class _Manifest:
    optiml_bundle: int
    order: Order
    failure: Failure | None
    results: tuple[_Entry, ...]


_MANIFEST: TypeAdapter[_Manifest] = TypeAdapter(_Manifest)


def write(folder: Path, order: Order, results: Sequence[Reviewed]) -> Path:
    """Write results as a bundle and return the folder; the manifest comes last and whole.

    What no reader needs is shortened where it would be too large. Raise `RunnerError` when it
    cannot be written, or would not be read.
    """
    searched = sum(one.trajectory is not None for one in results)
    if len(results) > MAX_RESULTS or searched > MAX_TRAJECTORIES:
        raise RunnerError(
            f"{searched} searches of {len(results)} kernels are more than a bundle holds",
            "name some of them in the order",
        )
    entries = []
    found = {}
    for number, one in enumerate(results):
        name = None
        if one.trajectory is not None:
            name = f"{number:03}.jsonl"
            found[name] = one.trajectory
        change = one.change
        entries.append(
            _Entry(
                change.kernel,
                None if change.workload is None else replace(change.workload, root="."),
                change.reason,
                change.snippet,
                one.against_base,
                one.problem,
                name,
            )
        )
    _put(folder, _shortened(found), _Manifest(FORMAT, order, None, tuple(entries)))
    try:
        read(folder, order)
    except BundleError as error:
        (folder / MANIFEST).unlink()
        raise RunnerError(f"the results make no sound bundle: {error.message}") from error
    return folder


def write_failure(folder: Path, order: Order, error: BaseException) -> Path:
    """Write why there are no results, so that the order's giver can tell it."""
    _put(folder, {}, _Manifest(FORMAT, order, Failure.of(error), ()))
    return folder


def read(source: bytes | Path, order: Order) -> tuple[Reviewed, ...]:
    """Return what a bundle (a zip's bytes or a folder) answers to an order.

    The changes have no hunks and no base text: `bot.vouching` takes those from GitHub. Raise
    `BundleError` for anything that does not fit, and the failure the GPU plane tells of:
    `ConfigError`, `BaselineError` or `RunnerError`.
    """
    if isinstance(source, bytes):
        members = members_of_zip(source, _NAMES, LIMITS)
    else:
        members = members_of_folder(source, _NAMES, LIMITS)
    manifest = _manifest(members.pop(MANIFEST, b""))
    if manifest.order != order:
        raise BundleError("the bundle answers another order")
    if manifest.failure is not None:
        raise manifest.failure.error
    if len(manifest.results) > MAX_RESULTS:
        raise BundleError(f"there are more than {MAX_RESULTS} results")
    named = [one.trajectory for one in manifest.results if one.trajectory is not None]
    if len(set(named)) != len(named) or set(named) != set(members):
        raise BundleError("the trajectories are not those the manifest names")
    places = [(one.kernel.path, one.kernel.name) for one in manifest.results]
    if len(set(places)) != len(places):
        raise BundleError("a kernel is reported on twice")
    results = tuple(held_to(order, _reviewed(one, members, order)) for one in manifest.results)
    _check_tellable(results)
    return results


def order_in(source: bytes) -> Order:
    """Return the order a zipped bundle says it answers, which is a claim and no more."""
    return _manifest(members_of_zip(source, _NAMES, LIMITS).pop(MANIFEST, b"")).order


def _manifest(data: bytes) -> _Manifest:
    if not data:
        raise BundleError(f"there is no {MANIFEST}")
    found = json_of(data, MANIFEST, TEXTS)
    if not isinstance(found, dict) or found.get("optiml_bundle") != FORMAT:
        raise BundleError(f"{MANIFEST} is not of format {FORMAT}", "use one version on both sides")
    try:
        return _MANIFEST.validate_json(data, strict=True, extra="forbid")
    except ValidationError as error:
        raise BundleError(f"{MANIFEST}: {_words(error)}") from error


def _reviewed(entry: _Entry, members: dict[str, bytes], order: Order) -> Reviewed:
    _check_kernel(entry.kernel)
    change = Change(entry.kernel, entry.workload, reason=entry.reason, snippet=entry.snippet)
    if entry.against_base is not None:
        _check_verdict(entry.against_base)
    if entry.trajectory is None:
        return Reviewed(change, None, entry.against_base, entry.problem)
    found = _trajectory(members[entry.trajectory], entry.trajectory)
    _check_trajectory(found, entry, order)
    return Reviewed(change, found, entry.against_base, entry.problem)


def _trajectory(data: bytes, name: str) -> Trajectory:
    if not data.endswith(b"\n"):
        raise BundleError(f"{name} is cut short")
    for line in data[:-1].split(b"\n"):
        json_of(line, name, TEXTS)
    try:
        return parse_trajectory(data, name)
    except ConfigError as error:
        raise BundleError(error.message) from error


def _check_kernel(kernel: Kernel) -> None:
    path = PurePosixPath(kernel.path)
    if (
        not kernel.name
        or path.is_absolute()
        or path.as_posix() != kernel.path
        or path.suffix not in _SUFFIXES
        or any(part.startswith("..") or part == ".git" for part in path.parts)
        or re.search(r"[\x00-\x1f\x7f\\]", kernel.path)
    ):
        raise BundleError("a kernel's path leads nowhere it may")


def _check_trajectory(found: Trajectory, entry: _Entry, order: Order) -> None:
    if not found.steps or not found.stopped or len(found.steps) > MAX_STEPS:
        raise BundleError("a trajectory has no end, or too many steps")
    if entry.workload is None or replace(found.workload, root=".") != entry.workload:
        raise BundleError("a trajectory is of another workload than its kernel")
    if found.environment.commit != order.head:
        raise BundleError("a trajectory is of another commit")
    if found.baseline.kernel != entry.kernel or found.baseline.edit is not None:
        raise BundleError("a trajectory does not start at the kernel it is about")
    for step in found.steps:
        _check_step(step, found)
    offered = found.path(found.winner or 0)
    if len(offered) > MAX_EDITS + 1 or sum(len(s.kernel.source) for s in offered) > MAX_OFFERED:
        raise BundleError("the way to a winner is too long")
    if found.winner is not None:
        won = (found.best.verdict, found.confirmation)
        if any(one is None or one.status is not Status.CORRECT for one in won):
            raise BundleError("a winner was not correct, or not confirmed")
        if found.winner and (found.confirmation is None or not found.confirmation.measurement):
            raise BundleError("a winner was confirmed without a measurement")
    if found.confirmation is not None:
        _check_verdict(found.confirmation)
    if found.aa is not None:
        _check_measurement(found.aa)


def _check_step(step: Step, found: Trajectory) -> None:
    first = found.baseline.kernel
    if (step.kernel.name, step.kernel.path) != (first.name, first.path):
        raise BundleError("a step is of another file")
    if step.number and (step.edit is None or step.edit.source != step.kernel.source):
        raise BundleError("a step's edit is not what was measured")
    if step.kernel.source.count("\n") > MAX_LINES:
        raise BundleError(f"a source has more than {MAX_LINES} lines")
    if step.same_as is not None and not 0 <= step.same_as < len(found.steps):
        raise BundleError("a step equals one that is not there")
    if step.edit is not None and not 0 < (step.edit.predicted or 1.0) < 1e9:
        raise BundleError("an edit predicts what cannot be")
    _check_verdict(step.verdict)


def _check_verdict(verdict: Verdict) -> None:
    if verdict.measurement is not None:
        _check_measurement(verdict.measurement)
    for one in verdict.resources.values():
        counts = (one.registers, one.shared_bytes, one.stack_bytes, one.spill_bytes)
        if any(not 0 <= count < 1 << 40 for count in counts) or not 0 <= (one.occupancy or 0) <= 1:
            raise BundleError("a kernel uses what no GPU has")


def _check_measurement(found: Measurement) -> None:
    for case in found.cases:
        if len(case.candidate_us) != len(case.baseline_us) or len(case.baseline_us) > MAX_BLOCKS:
            raise BundleError("times are not paired, or too many")
        if not 0 < case.weight < 1e9:
            raise BundleError("a case's weight cannot be")
        if not all(
            SHORTEST_US < one < LONGEST_US for one in (*case.candidate_us, *case.baseline_us)
        ):
            raise BundleError("a time cannot be")
    if any(not 0 <= share <= 1.01 for share in found.kernels.values()):
        raise BundleError("a kernel's share of the time cannot be")
    if any(not 0 <= (one or 0) < 1 << 50 for one in _memory(found)):
        raise BundleError("a kernel takes memory that no GPU has")
    for one in found.energy.cases if found.energy else ():
        columns = (one.candidate_mj, one.baseline_mj, one.candidate_us, one.baseline_us)
        if len({len(column) for column in columns}) > 1 or len(columns[0]) > MAX_BLOCKS:
            raise BundleError("energies are not paired, or too many")
        if not all(0 < figure < LONGEST_US for column in columns for figure in column):
            raise BundleError("an energy cannot be")
        if not 0 < one.weight < 1e9:
            raise BundleError("a case's weight cannot be")


def _memory(found: Measurement) -> tuple[int | None, int | None]:
    return found.peak_memory_bytes, found.baseline_memory_bytes


def _check_tellable(results: Sequence[Reviewed]) -> None:
    """Write comment and reports once: what would stumble over forged figures does so here."""
    try:
        comment.compose(results)
        for one in results:
            if one.trajectory is not None:
                report.render(one.trajectory)
    except (ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise BundleError(f"the results cannot be told: {type(error).__name__}") from error


# -- writing ---------------------------------------------------------------------------------------


def _put(folder: Path, trajectories: dict[str, bytes], manifest: _Manifest) -> None:
    data = _MANIFEST.dump_python(manifest, mode="json")
    text = json.dumps(_fitted(data, ""), ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in trajectories.items():
            (folder / name).write_bytes(lines)
        beside = folder.with_name(f".{folder.name}.{MANIFEST}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(folder / MANIFEST)
    except OSError as error:
        raise RunnerError(f"cannot write the bundle {folder}: {error.strerror}") from error


def _shortened(found: dict[str, Trajectory]) -> dict[str, bytes]:
    """Return trajectories as lines; if they are too large, steps off the path lose their detail."""
    room = (LIMITS.total - (8 << 20)) // max(1, len(found))
    written = {}
    for name, one in found.items():
        path = set() if one.winner is None else {step.number for step in one.path(one.winner)}
        lines = list(_lines(one))
        for dropped in ((), _EVIDENCE, ("source", *_EVIDENCE)):
            data = b"".join(_slim(line, {0, *path}, dropped) for line in lines)
            if len(data) <= min(room, LIMITS.member):
                break
        else:
            raise RunnerError("a trajectory is too large to be sent", "give it fewer evaluations")
        written[name] = data
    return written


def _lines(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    rooted = replace(trajectory, workload=replace(trajectory.workload, root="."))
    with tempfile.TemporaryDirectory(prefix="optiml-bundle-") as name:
        path = Path(name) / "trajectory.jsonl"
        write_trajectory(rooted, path)
        with path.open("rb") as file:
            for line in file:
                yield _fitted(json.loads(line), "")


def _slim(line: dict[str, Any], kept: set[int], dropped: tuple[str, ...]) -> bytes:
    if dropped and "number" in line and line["number"] not in kept:
        line["verdict"].update({key: type(line["verdict"][key])() for key in dropped[-5:]})
        line["findings"] = []
        if "source" in dropped:
            line["kernel"]["source"] = ""
            if line["edit"]:
                line["edit"]["source"] = ""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _fitted(value: Any, key: str) -> Any:
    """Cut texts to their limits and leave out figures that are none."""
    if isinstance(value, dict):
        return {
            name: _fitted(inner, name)
            for name, inner in value.items()
            if not (key in _FIGURES and inner is None)
        }
    if isinstance(value, list):
        return [_fitted(inner, key) for inner in value]
    if isinstance(value, str) and key != "source":
        clean = value.replace("\0", "").encode("utf-8", "replace").decode()
        limit = TEXTS.of(key)
        return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"
    return value


def _words(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, found["loc"])) or "the manifest"
    return f"{where}: {found['msg']}"[:300]
