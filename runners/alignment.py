"""Which buffers a finalist needs aligned where its original does not: a limit, said, never refused.

Every buffer that is verified begins at a multiple of 256 bytes, as `cudaMalloc` gives. Whoever
passes a part of a tensor passes less: an address of any element. An access of several elements at
once needs more, and fails or, where its author rounds the address, is wrong. Where a candidate's
device code has wider accesses than its original's, both are run on buffers that are moved by some
elements, one buffer at a time, in processes of their own: a misaligned address ends a context.

PTX ISA 9.0: "ld", "st", "red", "cp.async", "cp.async.bulk": "the address must be naturally
aligned, that is, a multiple of the access size"; bulk copies: of 16 bytes.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from runners import one_run, safe_files, sizes
from runners.answers import Answers, module_command
from runners.arena import ALIGN
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.limit import said
from runners.poison import NAN_POISON
from runners.removal import TemporaryFolder
from runners.run import Damage, Run
from runners.sandbox import Sandbox
from runners.sanitizer import inside, plain
from runners.spec import Argument, JobSpec, Json, Work
from runners.unaligned import CANDIDATE, LOG, ORIGINAL

# What every note says, for those that look for it.
MUST = "must begin at a multiple of"
SECONDS = 10.0
# Of what is run: elements of all buffers, seconds the original takes, and how many cases.
MOST_ELEMENTS, MOST_SECONDS, MOST_CASES = 1 << 18, 0.1, 2
# With more buffers than these they are moved by their roles; a process for each that is moved.
MOST_ALONE = 6
FARTHEST = ALIGN // 2
MOST_LOG_BYTES = 1 << 20
BULK_BYTES, FRAGMENT_BYTES = 16, 32

_BEGIN = r"(?:^|[;{}])\s*(?:@!?%?\w+\s+)?"
_ACCESS = re.compile(_BEGIN + r"(ldu?|st|red|atom)((?:\.[\w:]+)+)", re.MULTILINE)
_COPY = re.compile(r"\bcp\.async\.c[ag]\.[^\[;]*\[[^\]]*\]\s*,\s*\[[^\]]*\]\s*,\s*(\d+)")
_BULK = re.compile(r"\bcp\.(?:reduce\.)?async\.bulk\.(?!tensor|prefetch|commit|wait)[^;\[]*global")
_FRAGMENT = re.compile(r"\bwmma\.(load|store)\.(?![^;\[]*\.shared)")
_TYPE = re.compile(r"(?:[bsuf]|bf)(\d+)(?:x(\d))?")
_ELSEWHERE = frozenset({"shared", "local", "param", "const"})

# An operation, what it moves at once, and how many bytes that is.
Access = tuple[str, str, int]


def accesses(ptx: str) -> frozenset[Access]:
    """Return what kinds of access to global memory a PTX text has, and the bytes of each.

    >>> sorted(accesses("ld.global.nc.v4.f32 {%f1}, [%rd1]; st.shared.v2.f32 [%r1], {%f1};"))
    [('ld', 'v4.f32', 16)]
    >>> sorted(accesses("@%p1 st.global.u8 [%rd1], %r1; cp.async.cg.shared.global [%r], [%d], 16;"))
    [('cp', '', 16), ('st', 'v1.u8', 1)]
    """
    found: set[Access] = set()
    for operation, text in _ACCESS.findall(ptx):
        words = text[1:].split(".")
        if _ELSEWHERE & {word.split("::")[0] for word in words}:
            continue
        kind = next((m for m in map(_TYPE.fullmatch, reversed(words)) if m), None)
        lanes = next((int(w[1:]) for w in words if re.fullmatch(r"v\d", w)), 1)
        if kind is not None:
            size = int(kind[1]) // 8 * int(kind[2] or 1) * lanes
            found.add((operation, f"v{lanes}.{kind[0]}", size))
    found |= {("cp", "", int(size)) for size in _COPY.findall(ptx)}
    found |= {("bulk", "", BULK_BYTES)} if _BULK.search(ptx) else set()
    found |= {(f"wmma.{one}", "", FRAGMENT_BYTES) for one in _FRAGMENT.findall(ptx)}
    return frozenset(found)


def granted(argument: Argument) -> int:
    """Return the bytes that the address of any element of a buffer is a multiple of."""
    return _low_bit(argument.type.size)


def _low_bit(number: int) -> int:
    return number & -number


def wider(work: Work, mine: str, theirs: str) -> int:
    """Return the bytes of the widest access that one PTX text has and another has not.

    Zero where none needs more than any element of every buffer is aligned to.
    """
    least = min((granted(a) for a in work.arguments if a.type.pointer), default=0)
    more = accesses(mine) - accesses(theirs) if mine and theirs else frozenset()
    return max((size for *_, size in more if size > least), default=0) if least else 0


def places(work: Work, widest: int) -> list[tuple[str, ...]]:
    """Return which buffers are moved together: each that could matter alone, then all of them."""
    those = [a for a in work.arguments if a.type.pointer and granted(a) < widest]
    alone: list[tuple[str, ...]] = [(a.name,) for a in those]
    if len(alone) > MOST_ALONE:
        roles = [[a.name for a in those if a.written == written] for written in (False, True)]
        alone = [tuple(names) for names in roles if names]
    together = tuple(a.name for a in those)
    return [*alone, together] if len(alone) > 1 else alone


def factors(work: Work, names: Sequence[str]) -> list[int]:
    """Return by how many elements buffers are moved, so that ever less is granted."""
    least = min(granted(a) for a in work.arguments if a.name in names)
    return [FARTHEST // least >> n for n in range((FARTHEST // least).bit_length())]


def chosen(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return small cases: one whose sizes are whole words, and the largest declared one."""
    fit = [
        c
        for c in wanted
        if c.family == DECLARED
        and 0 < sizes.elements(job.work, c.case) <= MOST_ELEMENTS
        and answers.of(c) is not None
        and answers.seconds(c) <= MOST_SECONDS
    ]
    if not fit:
        return []

    def whole(one: Combination) -> tuple[int, int]:
        words = sum(value > 0 and value % 32 == 0 for value in one.case.values())
        return words, sizes.elements(job.work, one.case)

    declared = [dict(case.values) for case in job.work.cases]

    def large(one: Combination) -> tuple[bool, int]:
        return dict(one.case) in declared, sizes.elements(job.work, one.case)

    picked = {one.key: one for one in (max(fit, key=whole), max(fit, key=large))}
    return list(picked.values())[:MOST_CASES]


@dataclass(frozen=True, slots=True)
class Need:
    """Buffers that have to begin at a multiple of so many bytes, each alone or `together`."""

    names: tuple[str, ...]
    size: int
    theirs: int
    together: bool = False

    @property
    def words(self) -> str:
        """Say it, for report and comment."""
        *rest, last = self.names
        shown = f"{', '.join(rest)} and {last}" if rest else last
        shown += ", moved together," if self.together else ""
        takes = "any address" if self.theirs == 1 else f"any multiple of {self.theirs}"
        return f"{shown} {MUST} {self.size} bytes; the original takes {takes}"


@dataclass(frozen=True, slots=True)
class Told:
    """What a process did: its log, where its files lie, and whether it ended by itself in time.

    `late`: its time was over before.
    """

    names: tuple[str, ...]
    log: list[Json]
    folder: Path
    ended: bool
    late: bool = False


class Alignment:
    """Moves the buffers of finalists, in processes of their own."""

    def __init__(self, scratch: Path, gpu: int, sandbox: Sandbox | None = None) -> None:
        self._scratch, self._gpu = scratch / "alignment", gpu
        self._sandbox = sandbox or Sandbox("own")

    @contextlib.contextmanager
    def begun(
        self, request: Json, job: JobSpec, widest: int, asked: Sequence[Combination]
    ) -> Iterator[list[Future[Told]]]:
        """Run candidate and original on moved buffers meanwhile; nothing where there are none."""
        moved = places(job.work, widest) if asked and job.kernel != job.baseline else []
        if not moved:
            yield []
            return
        self._scratch.mkdir(parents=True, exist_ok=True)
        with (
            TemporaryFolder(dir=self._scratch) as name,
            ThreadPoolExecutor(len(moved)) as pool,
        ):
            yield [
                pool.submit(self._told, request, job, asked, names, Path(name) / str(number))
                for number, names in enumerate(moved)
            ]

    def _told(
        self,
        request: Json,
        job: JobSpec,
        asked: Sequence[Combination],
        names: tuple[str, ...],
        folder: Path,
    ) -> Told:
        """Have a process move some buffers; return what it did."""
        begun = time.monotonic()
        try:
            folder.mkdir()
            path = folder / "request.json"
            path.write_text(json.dumps(described(request, job, asked, names) | {"gpu": self._gpu}))
            self._moved(request, job, path)
        except OSError:
            return Told(names, [], folder, ended=False)
        ended = time.monotonic() - begun < 0.9 * SECONDS
        log = logged(folder / LOG)
        return Told(names, log, folder, ended, late=not ended and not _over(log))

    def _moved(self, request: Json, job: JobSpec, path: Path) -> None:
        """Run the process: host code of a stranger's where it can do no harm."""
        line = module_command("runners.unaligned", str(path))
        if job.work.kind == "kernel":
            plain(line, path.with_name("printed.txt"), SECONDS)
        else:
            artifacts = [Path(str(request[w]["path"])).parent for w in ("candidate", "baseline")]
            inside(self._sandbox, line, path.parent, [job.work.root, *artifacts], SECONDS)


def described(
    request: Json, job: JobSpec, asked: Sequence[Combination], names: Sequence[str]
) -> Json:
    """Return what `runners.unaligned` is asked to do."""
    combinations = [{"case": dict(c.case), "family": c.family, "seed": c.seed} for c in asked]
    return {
        **{key: request[key] for key in ("job", "candidate", "baseline")},
        "combinations": combinations,
        "moved": list(names),
        "factors": factors(job.work, names),
    }


def logged(path: Path) -> list[Json]:
    """Read a log as far as it goes; a stranger's host code may have written to it."""
    found: list[Json] = []
    try:
        text = safe_files.text(path, MOST_LOG_BYTES)
    except OSError:
        return found
    for line in text.splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            break
        if not isinstance(one, dict):
            break
        found.append(one)
    return found


def _over(log: Sequence[Json]) -> bool:
    """Tell whether a log says how it ended: all was run, or something was seen to fail."""
    return bool(log) and any(word in log[-1] for word in ("end", "error", "unknown"))


def notes(
    job: JobSpec, answers: Answers, asked: Sequence[Combination], every: Sequence[Told]
) -> list[str]:
    """Say which buffers have to be aligned for the candidate alone, or that time was short."""
    found: list[Need] = []
    late: list[str] = []
    for number, told in enumerate(every):
        if found and number == len(every) - 1 > 0:
            break  # what fails with one of them moved may fail with all of them
        with contextlib.suppress(KeyError, IndexError, TypeError, ValueError, OSError):
            need = needed(job, answers, asked, told)
            found += [] if need is None else [need]
            late += list(told.names) if need is None and told.late else []
    joined: dict[Need, list[str]] = {}
    for need in found:
        joined.setdefault(replace(need, names=()), []).extend(need.names)
    limits = [said(replace(key, names=tuple(names)).words) for key, names in joined.items()]
    which = ", ".join(dict.fromkeys(late))
    words = f"not seen whether {which} may begin anywhere: that took over {SECONDS:g} s"
    return [*limits, words] if late else limits


def needed(job: JobSpec, answers: Answers, asked: Sequence[Combination], told: Told) -> Need | None:
    """Return the alignment that a candidate was seen to need where the original was right."""
    least = min(granted(a) for a in job.work.arguments if a.name in told.names)
    right: dict[tuple[int, str], bool] = {}
    done: dict[tuple[str, int], int] = {}
    size, last = ALIGN, None
    for line in told.log:
        step = (str(line.get("who")), int(line.get("factor") or 0))
        if line.get("unknown"):
            return None
        if line.get("begins"):
            last = step
        elif "error" in line or "outputs" in line:
            key = (int(line["combination"]), str(line.get("outputs")))
            if key not in right:
                right[key] = "outputs" in line and _right(job, answers, asked, told.folder, key)
            if not right[key]:
                break
            last = None
            done[step] = done.get(step, 0) + 1
            if step[0] == CANDIDATE and done[step] == len(asked):
                size = _low_bit(step[1] * least)
        elif line.get("end"):
            return None
    # Wrong, failed, or, in host code, ended the process. Until its original is done nothing counts.
    failed = last is not None and last[0] == CANDIDATE and told.ended
    known = done.get((ORIGINAL, 1)) == len(asked)
    return Need(told.names, size, least, len(told.names) > 1) if failed and known else None


def _right(
    job: JobSpec,
    answers: Answers,
    asked: Sequence[Combination],
    folder: Path,
    key: tuple[int, str],
) -> bool:
    """Tell whether outputs in a file are what is expected of a combination."""
    combination = asked[key[0]]
    path = folder / Path(key[1]).name
    written = [a for a in job.work.arguments if a.written]
    nbytes = [a.elements(combination.case) * a.type.size for a in written]
    try:
        with safe_files.opened(path, sum(nbytes)) as file:
            data = np.fromfile(file, np.uint8, sum(nbytes))
    except OSError:
        return False
    if data.nbytes != sum(nbytes):
        return False
    parts = np.split(data, np.cumsum(nbytes)[:-1])
    outputs = {a.name: part for a, part in zip(written, parts, strict=True)}
    run = Run(outputs, Damage(), 0.0, NAN_POISON)
    try:
        one_run.judged(Report(), job, answers, combination, run, "moved buffers")
    except Wrong:
        return False
    return True
