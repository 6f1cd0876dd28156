"""Run a finalist where a buffer has more elements, or parts of them, than an `int` can count.

No declared case is that large, and an index that is computed in 32 bits is right on all of them. On
a case that is (`runners.enlarged`), the original's results are sampled, and the candidate's in the
same places. What the original cannot do there, or does not do alike twice, is asked of no
candidate. An index that overflows gives garbage or an illegal address, so the comparison may be
generous about rounding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runners import grown_numbers
from runners.arena import ALIGN
from runners.compare import Answer
from runners.cuda_types import Field, Storage, to_float, values
from runners.enlarged import counts, grown, largest, places
from runners.gpu import DeviceError, Gpu, HungError, LaunchError, OutOfMemoryError
from runners.inputs import Arrays
from runners.launchable import Launchable
from runners.spec import Argument, CaseSpec, Work

LAYER = "indices above 2^31"
# Share of the device's free memory that may be taken.
SHARE = 0.45
SECONDS = 5.0
STEP = 8  # by how much the variable grows at once while the original is watched
# Contents repeat after so many elements at most; an odd number, so that an index which is off by a
# power of two meets other contents.
TILE = 2**22 + 1
WINDOW, RANDOM, MARGIN = 4096, 200, 1 << 20
# So much of a window may be off: where rounding decides, single elements are others.
STRAY = 1 / 64
# Beyond this share of typical values, or so many times the budget, it is no rounding error.
GARBAGE, WIDER = 0.05, 16.0
POISON = (0xA5, 0x5A, 0xC3)


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it: why the candidate is wrong, or why nothing can be said; neither if fine.

    `lost`: the original took the device down with it, or a candidate that is slow far out.
    `limit`: what is wrong there is no fault, but to be said (`runners.grown_numbers`).
    """

    wrong: str = ""
    unknown: str = ""
    lost: bool = False
    limit: str = ""


Samples = dict[str, list[Storage]]


class _World:
    """Buffers of one case in one allocation, between margins."""

    def __init__(
        self, gpu: Gpu, work: Work, changed: Mapping[str, float], arrays: Arrays, limit: int
    ) -> None:
        self._gpu, self._case, self._arrays = gpu, changed, arrays
        self._pointers = [a for a in work.arguments if a.type.pointer]
        self._counts = counts(work, changed)
        self._compared = [a for a in self._pointers if a.name in grown(work, changed)]
        size = sum(self._room(a) for a in self._pointers) + MARGIN
        self._words = size // 4
        self._windows = {a.name: self._places(a, limit) for a in self._compared}
        self.base = gpu.allocate(size)

    def _room(self, argument: Argument) -> int:
        size = self._counts[argument.name] * argument.type.size
        return -(-size // ALIGN) * ALIGN + MARGIN

    def _places(self, argument: Argument, limit: int) -> list[tuple[int, int]]:
        """Return stretches of an output: its ends, where indices or bytes overflow, by chance."""
        count, size = self._counts[argument.name], argument.type.size
        half = max(1, WINDOW // size // 2)
        marks = [0, count, *range(limit, count, limit)]
        marks += range(2 * limit // size, count, max(1, 2 * limit // size))
        # Where what a place belongs to lies that far in another buffer.
        marks += [
            int(count * (far / other))
            for other in self._counts.values()
            for far in range(limit, other, limit)
        ]
        # Where a bit of its words does, or the like.
        marks += [
            int(count * (far / other))
            for other in (places(a, self._case) for a in self._pointers)
            for far in (limit, 2 * limit)
            if far < other
        ]
        rng = np.random.default_rng()
        marks = marks[:RANDOM] + rng.integers(0, count + 1, RANDOM).tolist()
        edges = {(max(0, mark - half), min(count, mark + half)) for mark in marks}
        return sorted(one for one in edges if one[0] < one[1])

    def run(
        self, launchable: Launchable, turn: int, seconds: float, *, reverse: bool = False
    ) -> Samples:
        """Fill everything anew, run once, and return the samples of each output."""
        gpu = self._gpu
        addresses = self._fresh(turn, reverse=reverse)
        _took(gpu, launchable, self._case, addresses, seconds)
        return {
            a.name: [
                gpu.download(addresses[a.name] + start * a.type.size, (end - start) * a.type.size)
                for start, end in self._windows[a.name]
            ]
            for a in self._compared
        }

    def _fresh(self, turn: int, *, reverse: bool = False) -> dict[str, int]:
        """Fill everything anew; return where the buffers are."""
        addresses, at = {}, self.base + MARGIN
        for argument in reversed(self._pointers) if reverse else self._pointers:
            addresses[argument.name] = at
            at += self._room(argument)
        self._gpu.fill(self.base, POISON[turn] * 0x01010101, self._words)
        for argument in self._pointers:
            if argument.role != "output":
                self._tile(argument, addresses[argument.name])
        self._gpu.synchronize()
        return addresses

    def bearable(
        self, one: Launchable, base: Mapping[str, float], seconds: float, tries: int = 1
    ) -> bool:
        """Tell whether it will end in time, by how long it takes on its way from a declared case.

        The work may grow with the square of the variable, or worse, and nothing ends a kernel. Of
        several tries the quickest counts: a first call may make room, and others may be busy.
        """
        addresses = self._fresh(0)
        (name,) = (k for k, value in self._case.items() if value != base[k])
        value, goal, before = base[name], self._case[name], 0.0
        while value < goal:
            case = {**self._case, name: value}
            took = min(_took(self._gpu, one, case, addresses, seconds) for _ in range(tries))
            power = max(1.0, math.log(took / before, STEP)) if before else 1.0
            if took * min(STEP, goal / value) ** (power + 0.5) > seconds:
                return False
            value, before = value * STEP, took
        return True

    def _period(self, argument: Argument) -> int:
        """Return after how many elements contents repeat."""
        held = len(self._arrays[argument.name]) // argument.type.size
        count = min(held, TILE, self._counts[argument.name])
        return max(1, count - 1 + count % 2)

    def _before(self, argument: Argument, start: int, end: int) -> Storage:
        """Return what a stretch of a buffer held before a run."""
        data = self._arrays[argument.name].reshape(-1, argument.type.size)
        at = np.arange(start, end) % self._period(argument)
        return np.ascontiguousarray(data[at]).reshape(-1)

    def _tile(self, argument: Argument, address: int) -> None:
        """Repeat contents over a buffer, each copy twice as long as the one before."""
        size, whole = argument.type.size, self._counts[argument.name] * argument.type.size
        have = self._period(argument) * size
        self._gpu.upload(address, self._arrays[argument.name][:have])
        while have < whole:
            more = min(have, whole - have)
            self._gpu.copy(address + have, address, more)
            have += more

    def differs(
        self,
        found: Sequence[Samples],
        answers: Mapping[str, Answer],
        *,
        last: bool,
    ) -> str:
        """Say where samples are not alike: of the last run, or else of the original's two.

        What the last run left as it was is no rounding, however little the original changes it.
        """
        for argument in self._compared:
            answer = answers.get(argument.name)
            if answer is None or answer.unordered:
                continue
            for number, (start, end) in enumerate(self._windows[argument.name]):
                one, two, *rest = (samples[argument.name][number] for samples in found)
                rows = [part.reshape(-1, argument.type.size) for part in (one, two)]
                left = np.full(len(rows[0]), fill_value=argument.role == "output")
                for row, poison in zip(rows, POISON, strict=False):
                    left &= (row == poison).all(axis=1)
                got = rest[0] if last else two
                off = _off(got, one, answer)
                if last and argument.role != "output":
                    kept = (got == self._before(argument, start, end)).reshape(rows[0].shape)
                    off |= kept.all(axis=1) & _off(got, one, answer, garbage=0.0)
                off &= ~left
                if off.sum() > STRAY * (~left).sum():
                    at = start + int(np.argmax(off))
                    return f"{argument.name}[{at}] and {int(off.sum()) - 1} near it"
        return ""

    def wrote(self, found: Sequence[Samples]) -> bool:
        """Tell whether the last window of some output was written in the first run."""
        return any(
            a.role != "output" or bool((found[0][a.name][-1] != POISON[0]).any())
            for a in self._compared
        )

    def unwritten(self, samples: Samples) -> str:
        """Return the name of an output of which the third run wrote nothing; none, mostly."""
        return next(
            (
                a.name
                for a in self._compared
                if a.role == "output" and all(bool((s == POISON[2]).all()) for s in samples[a.name])
            ),
            "",
        )


def _took(
    gpu: Gpu,
    launchable: Launchable,
    case: Mapping[str, float],
    addresses: Mapping[str, int],
    seconds: float,
) -> float:
    """Run once; return the seconds until the device was done."""
    bound = launchable.bind(case, addresses)
    launchable.begins()
    start = time.monotonic()
    bound()
    gpu.synchronize(seconds)
    return max(1e-6, time.monotonic() - start)


def _off(
    got: Storage, want: Storage, answer: Answer, garbage: float = GARBAGE
) -> npt.NDArray[np.bool_]:
    """Mark the elements that rounding does not explain."""
    kind = answer.type
    bad = np.zeros(len(want) // kind.size, bool)
    for one, budget in zip(kind.fields, answer.budgets, strict=True):
        g, w = values(got, kind, one), values(want, kind, one)
        apart = g != w
        if one.scalar.kind == "f":
            apart = _apart(g, w, one, garbage)
            if budget is not None:
                a, b = to_float(g, one.scalar), to_float(w, one.scalar)
                with np.errstate(all="ignore"):
                    apart &= ~(np.abs(a - b) <= budget.widened(WIDER).bound(b))
        bad |= apart.reshape(-1, one.lanes).any(axis=1)
    return bad


def _apart(
    g: npt.NDArray[np.generic], w: npt.NDArray[np.generic], one: Field, garbage: float
) -> npt.NDArray[np.bool_]:
    got, want = to_float(g, one.scalar), to_float(w, one.scalar)
    finite = want[np.isfinite(want)]
    scale = float(np.sqrt(np.mean(finite**2))) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        fine = (np.abs(got - want) <= garbage * (np.abs(want) + scale)) | (got == want)
    return np.asarray(~(fine | (np.isnan(got) & np.isnan(want))))


def compared(
    gpu: Gpu,
    work: Work,
    pair: tuple[Launchable, Launchable],
    changed: Mapping[str, float],
    contents: Callable[[Mapping[str, float]], Arrays],
    answers: Mapping[str, Answer],
    limit: int,
) -> Found:
    """Run original, original and candidate on a case. Raises what the candidate breaks with.

    Where it is wrong, once or twice more: it may be a number that overflows.
    """
    base = largest(work).values
    arrays = contents(base)
    found = _compared(gpu, work, pair, (base, changed), arrays, answers, limit)
    if not found.wrong:
        return found

    def run(case: Mapping[str, float], other: Arrays) -> str | None:
        again = _compared(gpu, work, pair, (base, case), other, answers, limit)
        if again.lost:
            raise HungError(f"{found.wrong}; {again.unknown}")
        return None if again.unknown else again.wrong

    wrong, said = grown_numbers.judged(found.wrong, work, (base, changed), arrays, run)
    return Found(wrong=wrong, limit=said)


def _compared(
    gpu: Gpu,
    work: Work,
    pair: tuple[Launchable, Launchable],
    cases: tuple[Mapping[str, float], Mapping[str, float]],
    arrays: Arrays,
    answers: Mapping[str, Answer],
    limit: int,
) -> Found:
    """Run original, original and candidate on a case that is larger than a declared one."""
    candidate, original = pair
    base, changed = cases
    try:
        world = _World(gpu, work, changed, arrays, limit)
    except OutOfMemoryError as error:
        return Found(unknown=f"the memory is not there: {error}")
    try:
        if not world.bearable(original, base, SECONDS):
            gpu.free(world.base)
            return Found(unknown=f"the original would take more than {SECONDS:g} s")
        start = time.monotonic()
        first = world.run(original, 0, SECONDS)
        took = time.monotonic() - start
        # At other addresses, with other poison: what it reads elsewhere is then something else.
        second = world.run(original, 1, SECONDS, reverse=True)
    except (LaunchError, OutOfMemoryError) as error:
        gpu.free(world.base)
        return Found(unknown=f"the original fails: {error}")
    except DeviceError as error:
        return Found(unknown=f"the original fails: {error}", lost=True)
    twice = [first, second]
    if not world.wrote(twice) or world.differs(twice, answers, last=False):
        gpu.free(world.base)
        return Found(unknown="the original does not give the same twice")
    where, patience = CaseSpec(changed).name, max(SECONDS, 10 * took)
    late = f"the candidate would take more than {patience:.0f} s"
    # What works through so much in more passes is slow there; what an index that has run over never
    # comes to the end of was quick until then.
    try:
        if not world.bearable(candidate, base, patience, tries=2):
            gpu.free(world.base)
            return Found(unknown=late)
    except HungError:
        return Found(unknown=late, lost=True)
    except (LaunchError, OutOfMemoryError) as error:
        gpu.free(world.base)
        return Found(unknown=f"the candidate is not launched: {error}")
    except DeviceError as error:
        raise DeviceError(f"{where}, where the original runs: {error}") from error
    try:
        candidate.failed()  # what was before is not its fault
        third = world.run(candidate, 2, patience)
    except (LaunchError, OutOfMemoryError) as error:
        gpu.free(world.base)
        return Found(unknown=f"the candidate is not launched: {error}")
    except DeviceError as error:
        kind = HungError if isinstance(error, HungError) else DeviceError
        raise kind(f"{where}, where the original runs: {error}") from error
    gpu.free(world.base)
    failed, unwritten = candidate.failed(), world.unwritten(third)
    if unwritten and failed != "":
        # What fails aloud is a limit, also where host code says nothing of it.
        why = failed or "a launch may have failed"
        return Found(unknown=f"the candidate writes nothing to {unwritten}: {why}")
    differ = world.differs([first, second, third], answers, last=True)
    said = f"{where}: {grown_numbers.SAID}: {differ} are wrong"
    return Found(wrong=said if differ else "")
