"""The worker's own view of a job, read from JSON.

The worker stands alone: it may run where pydantic and the rest of the project are not installed,
so it keeps the few fields it needs, under the names they have on the wire.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runners import (
    cuda_types,
    what_it_says,
    whole_scalars,
)
from runners.cuda_types import CudaType
from runners.expressions import ExpressionError, count, evaluate, is_number, names, total
from runners.fault import Fault

Json = dict[str, Any]

# What a case holds beside its variables where scalar arguments are others than declared: how many
# of them (`scalar_values`). No variable can have this name.
MOVED = "*"
SOME, ALL, NONE, LASTING = 1, 2, 3, 4
# By how many times the part of `LASTING` that is forgotten is less.
TIMES_LASTING = 16
# From here on it says which one is moved, alone and by this part of it.
ALONE, APART = 1 << 24, 1 / 16
# And from here on, which one is on the other side of one: below that a number is no factor that
# anybody would make as large, but a rounding's or a step's.
ACROSS, LEAST_FACTOR = 1 << 26, 1 / 16
# From here on, which one has the other sign; twice that, and another size. What is as small as a
# rounding or as large as a sentinel keeps its own.
TURNED, MOST_TURNED, OTHER_SIZE = 1 << 27, 1 << 16, 11 / 16
# The inputs there: such as nobody declared, for which the tolerance is no cap.
ACROSS_FAMILY = "mixed"


class SpecError(Fault):
    """A job does not say what to run: the workload's author can mend it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__("ConfigError", message, remedy)


class BaselineFailure(Fault):
    """The unedited kernel does not do what its workload says."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__("BaselineError", message, remedy)


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch geometry.

    Field order and names are those of the project's `Launch`: its text is part of a digest.
    """

    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared: str = "0"
    tunable: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel's text and launch."""

    name: str
    source: str
    path: str
    launch: Launch | None

    @property
    def digest(self) -> str:
        """Identify source and launch by the project's rule."""
        text = self.source if self.launch is None else f"{self.source}\0{self.launch}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument with its parsed type; `init` and `role` as in the project's model.

    Where a range's end is an expression it is `end`, and `init` has what that is at most in the
    declared cases.
    """

    name: str
    type: CudaType
    shape: str | None
    value: str | None
    init: str
    role: str
    end: str = ""

    @property
    def written(self) -> bool:
        """Tell whether the kernel is meant to change what this points to."""
        return self.type.pointer and self.role in {"output", "inout"}

    def elements(self, case: Mapping[str, float]) -> int:
        """Return how many values a pointer argument points to."""
        return count(self.shape or "1", case)

    def init_at(self, case: Mapping[str, float]) -> str:
        """Return what it holds at first in a case: a range whose end is one there."""
        if not self.end:
            return self.init
        return f"{self.init.rpartition(':')[0]}:{count(self.end, case)}"


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """Case variables with weight; `timed` cases are timed, all are checked."""

    values: Mapping[str, float]
    weight: float = 1.0
    timed: bool = True

    @property
    def name(self) -> str:
        """Return the label the project gives this case."""
        words = " ".join(f"{k}={v:g}" for k, v in self.values.items() if k != MOVED) or "default"
        return f"{words}, other scalars" if MOVED in self.values else words


@dataclass(frozen=True, slots=True)
class Work:
    """What is run: how it is reached, its arguments and cases, and how equal is enough."""

    name: str
    kind: str
    symbol: str
    arguments: tuple[Argument, ...]
    cases: tuple[CaseSpec, ...]
    rtol: float
    atol: float
    launch: Launch | None
    reference: str | None
    root: Path
    warm: bool
    loose: bool = False  # fast maths is allowed: the tolerance alone draws the line
    # Values of variables that nobody declared, and that the original's text tells apart.
    named: tuple[tuple[str, tuple[int, ...]], ...] = ()
    # What the original's text asks of floats (`runners.asked`).
    asks: tuple[str, ...] = ()
    # It asks for infinities and adds no floats: no order of sums makes one (`runners.float_sums`).
    tops: bool = False
    # What it calls for floats (`runners.asked.calls`).
    calls: tuple[str, ...] = ()
    # It works something out in doubles.
    precise: bool = False
    # Its text has no floats: all that it works out is whole numbers.
    whole: bool = False
    # It has whole numbers of 64 bits.
    wide: bool = False
    # Scalars that may be beyond one, and within, for all that the original's text says
    # (`runners.crossing`).
    beyond: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    # Scalars that may have the other sign (`runners.other_sign`).
    turned: tuple[str, ...] = ()
    # Arrays that may hold infinities of one sign, and whether the original asks for infinities in
    # what it makes of them (`runners.extremes`).
    infinite: tuple[str, ...] = ()
    leaves_out: bool = False
    # Arrays that may be infinite throughout: of those it only compares and chooses, from an
    # infinity or an element on (`runners.extremes.chosen`).
    throughout: tuple[str, ...] = ()
    # Arrays of which nothing but sums are made, and multiples by scalars.
    summed: tuple[str, ...] = ()
    # Arrays whose elements are put in order, and nothing else is (`runners.ranked`).
    ranked: tuple[str, ...] = ()
    # Numbers of the original's text that values may be multiples of: days, tiles, moduli.
    steps: tuple[int, ...] = ()
    # Odd numbers of which its text names multiples by powers of two (`runners.binades`).
    odd: tuple[int, ...] = ()
    # Letters and numbers of the original's text that elements may be compared with.
    marks: tuple[int, ...] = ()
    # It goes through loops, and has numbers that something may fade by (`runners.fading`).
    loops: bool = False
    fades: bool = False
    # It takes words for sets of bits (`runners.bit_sets`).
    sets: bool = False
    # Arrays of whole numbers to which something is added for an index (`runners.indexing`).
    leads: tuple[str, ...] = ()

    def elements(self, case: Mapping[str, float]) -> int:
        """Return how many values all pointer arguments of a case point to."""
        # One question instead of one for each: searches for cases ask thousands of times.
        return total(tuple([a.shape or "1" for a in self.arguments if a.type.pointer]), case)

    @property
    def variables(self) -> frozenset[str]:
        """Return the case variables that decide sizes: those in shapes, values and the launch."""
        texts = [t for a in self.arguments for t in (a.shape, a.value) if t]
        if self.launch is not None:
            texts += [*self.launch.grid, *self.launch.block, self.launch.shared]
        found = frozenset().union(*(names(text) for text in texts))
        if any(a.init.startswith("capture:") for a in self.arguments):
            # What launches differ in is a variable, too: of those only sizes of arrays may move.
            shapes = [names(a.shape) for a in self.arguments if a.shape]
            found &= frozenset().union(*shapes) & {a.name for a in self.arguments}
        return found


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One request's job."""

    kernel: Source
    baseline: Source
    work: Work
    device: str
    effort: str
    seed: int
    energy: str = ""  # how well its energy is to be known: weigh, energy, or not at all

    @property
    def checks(self) -> str:
        """Return the effort of the checks; that of the timing is `effort`.

        All that can be checked is what a confirmation pays for. The unedited kernel is compared
        with itself in time; that it equals itself is seen on what screening checks.
        """
        thorough = self.effort == "confirm" and self.kernel != self.baseline
        return "confirm" if thorough else "screen"

    @property
    def key(self) -> str:
        """Identify what a set of expected answers is for: workload, original and seed."""
        text = json.dumps([repr(self.work), self.baseline.digest, self.seed])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _launch(data: Json | None) -> Launch | None:
    if data is None:
        return None
    grid, block = (tuple(str(e) for e in data[key]) for key in ("grid", "block"))
    return Launch(grid, block, str(data.get("shared", "0")), bool(data.get("tunable", False)))


def source(data: Json) -> Source:
    """Read one kernel of a job; raise `KeyError` for what it lacks."""
    return Source(
        str(data["name"]),
        str(data["source"]),
        str(data.get("path", "")),
        _launch(data.get("launch")),
    )


def _argument(data: Json) -> Argument:
    name = str(data["name"])
    try:
        kind = cuda_types.parse(str(data["type"]))
    except cuda_types.TypeNameError as error:
        raise SpecError(f"argument {name}: {error}") from error
    shape, value = data.get("shape"), data.get("value")
    if kind.pointer and shape is None:
        raise SpecError(f"argument {name} is a pointer and needs a shape")
    if not kind.pointer and value is None:
        raise SpecError(f"argument {name} is a scalar and needs a value")
    init = str(data.get("init", "normal"))
    return Argument(name, kind, shape, value, init, str(data.get("role", "input")))


def _ranged(argument: Argument, cases: Sequence[CaseSpec]) -> Argument:
    """Return an argument with the largest declared end of its range, where that is an expression.

    Raises `SpecError` where there is no number in a range, and `ExpressionError`.
    """
    word, _, bounds = argument.init.partition(":")
    low, _, end = bounds.partition(":")
    if word != "randint" or not end or is_number(end) or not is_number(low):
        return argument  # who makes the inputs says what is wrong there
    ends = [count(end, case.values) for case in cases]
    if min(ends) <= int(low):
        raise SpecError(f"argument {argument.name}: randint:{bounds} is an empty range")
    return replace(argument, init=f"{word}:{low}:{max(ends)}", end=end)


def _work(data: Json) -> Work:
    tolerance = data.get("tolerance") or {}
    cases = tuple(
        CaseSpec(
            {str(k): float(v) for k, v in case.get("values", {}).items()},
            float(case.get("weight", 1.0)),
            bool(case.get("time", True)),
        )
        for case in data.get("cases") or [{}]
    )
    return Work(
        str(data["name"]),
        str(data["kind"]),
        str(data.get("symbol", "")),
        tuple(_ranged(_argument(a), cases) for a in data.get("arguments") or ()),
        cases,
        float(tolerance.get("rtol", 1e-5)),
        float(tolerance.get("atol", 1e-6)),
        _launch(data.get("launch")),
        data.get("reference"),
        Path(str(data.get("root", "."))),
        bool(data.get("warm", False)),
        bool((data.get("accept") or {}).get("allow_fast_math", False)),
    )


def parse(data: Json) -> JobSpec:
    """Read a job; raise `SpecError` that names what is missing or does not fit."""
    try:
        effort = str(data.get("effort", "screen"))
        energy = effort if effort in {"weigh", "energy"} else ""
        original, work = source(data["baseline"]), _work(data["workload"])
        job = JobSpec(
            source(data["kernel"]),
            original,
            replace(work, **what_it_says.fields(original, work)),
            str(data.get("device", "cuda:0")),
            "screen" if energy else effort,
            int(data.get("seed", 0)),
            energy,
        )
        for case in job.work.cases:
            for argument in job.work.arguments:
                if argument.type.pointer:
                    argument.elements(case.values)
                else:
                    scalar_values(argument, case.values)
    except (KeyError, TypeError, AttributeError) as error:
        raise SpecError(f"the job has no usable {error}") from error
    except ExpressionError as error:
        raise SpecError(str(error)) from error
    return job


def scalar_values(argument: Argument, case: Mapping[str, float]) -> tuple[float | int, ...]:
    """Return a by-value argument's numbers: one, or `{a, b, ...}` for vectors and structs.

    Where the case says so floats are others than declared: by a quarter less or a little
    more, and with `ALL` those that are zero, too; with `NONE` they are zero, and a half where they
    were zero; with `LASTING` those between zero and one are nearer to one, or to zero where they
    are small; from `ALONE` on those of one argument are a little less, from `ACROSS` on they are
    on the other side of one, and from `TURNED` on they have the other sign. Whole numbers are sizes
    and counts, which a workload declares as variables if they vary: code made for the one that is
    declared is right. One has another value (`runners.whole_scalars`) only to say where it is not.
    """
    text = (argument.value or "0").strip()
    parts: Sequence[str] = text[1:-1].split(",") if text.startswith("{") else [text]
    numbers = tuple(evaluate(part, case) for part in parts)
    many = int(case.get(MOVED, 0))
    if whole_scalars.moved(many) and not argument.type.pointer:
        value = whole_scalars.another(argument.name, text, argument.type.scalar, many)
        return numbers if value is None else (value,)
    other = many >= ALONE and many not in {
        alone(argument),
        across(argument),
        *turned(argument),
    }
    if not many or argument.type.pointer or other:
        return numbers
    kinds = [one.scalar.kind for one in argument.type.fields for _ in range(one.lanes)]
    kinds += kinds[-1:] * len(numbers)
    return tuple(
        number if kind != "f" else _moved(number, _part(argument.name, at, number), many)
        for at, (number, kind) in enumerate(zip(numbers, kinds, strict=False))
    )


def alone(argument: Argument) -> int:
    """Return what a case holds where one scalar argument is another than declared, and no other."""
    return ALONE + zlib.crc32(argument.name.encode()) % ALONE


def each_alone(work: Work, case: Mapping[str, float]) -> tuple[dict[str, float], ...]:
    """Return a case once for each scalar argument that can be moved, with that one moved.

    By a little, so that the lower one of two ends stays the lower one; zeros stay.
    """
    found = []
    for argument in work.arguments:
        if argument.type.pointer:
            continue
        changed = {**case, MOVED: float(alone(argument))}
        if scalar_values(argument, changed) != scalar_values(argument, case):
            found.append(changed)
    return tuple(found)


def across(argument: Argument) -> int:
    """Return what a case holds where one scalar argument is on the other side of one."""
    return ACROSS + zlib.crc32(argument.name.encode()) % ALONE


def turned(argument: Argument) -> tuple[int, int]:
    """Return what a case holds where one scalar argument has the other sign, of two sizes."""
    which = zlib.crc32(argument.name.encode()) % ALONE
    return TURNED + which, 2 * TURNED + which


def each_across(work: Work, case: Mapping[str, float]) -> tuple[dict[str, float], ...]:
    """Return a case for each scalar argument that may have the other sign, or be beyond one.

    Those that may have the other sign first, and last once more with another size. Of all floats
    that are passed by value the lower one of two stays the lower one: they may be ends of a range.
    """
    floats = [
        a for a in work.arguments if not a.type.pointer and a.type.fields[0].scalar.kind == "f"
    ]
    before = [number for one in floats for number in scalar_values(one, case)]
    found = []
    for many in _others(work, floats, case):
        changed = {**case, MOVED: float(many)}
        after = [number for one in floats for number in scalar_values(one, changed)]
        if after != before and _in_order(before, after):
            found.append(changed)
    return tuple(found)


def _others(work: Work, floats: Sequence[Argument], case: Mapping[str, float]) -> Iterator[int]:
    """Yield what a case may hold where one of these scalars is elsewhere."""
    either = [turned(argument) for argument in floats if argument.name in work.turned]
    yield from (first for first, _ in either)
    for argument in floats:
        sizes = [abs(number) for number in scalar_values(argument, case)]
        allowed = any(size < 1 for size in sizes) <= (argument.name in work.beyond)
        allowed &= any(size > 1 for size in sizes) <= (argument.name in work.within)
        if allowed:
            yield across(argument)
    yield from (second for _, second in either)


def factor(work: Work, case: Mapping[str, float]) -> float:
    """Return by how much a scalar that is on the other side of one is more or less there.

    What has the other sign is added and compared, and grows with no step: as much as it likes.
    """
    if case.get(MOVED, 0) >= TURNED:
        return math.inf
    plain = {name: value for name, value in case.items() if name != MOVED}
    times = [1.0]
    for argument in work.arguments:
        if not argument.type.pointer and case.get(MOVED) == across(argument):
            both = zip(scalar_values(argument, plain), scalar_values(argument, case), strict=True)
            times += [max(one / two, two / one) for one, two in both if one and two]
    return max(times)


def _in_order(before: Sequence[float], after: Sequence[float]) -> bool:
    """Tell whether of any two numbers the lower one stays the lower one."""
    pairs = sorted({*zip(before, after, strict=True)})
    return all(one[1] < other[1] or one[0] == other[0] for one, other in itertools.pairwise(pairs))


def _across(number: float) -> float:
    """Return one more than a number within one, and less than one for a number beyond it.

    The lower one of two on one side stays the lower one. What is far from one stays.
    """
    size = abs(number)
    if size == 1 or not LEAST_FACTOR <= size <= 1 / LEAST_FACTOR:
        return number
    return math.copysign(1 + size if size < 1 else size / (1 + size), number)


def _turned_number(number: float, many: int) -> float:
    """Return a number of the other sign; minus a half for zero, which has none."""
    if not number:
        return -0.5 if many < 2 * TURNED else 0.0
    if not LEAST_FACTOR <= abs(number) <= MOST_TURNED:
        return number
    return -number if many < 2 * TURNED else -number * OTHER_SIZE


def _moved(number: float, part: float, many: int) -> float:
    if many >= TURNED:
        return _turned_number(number, many)
    if many >= ACROSS:
        return _across(number)
    if many >= ALONE:
        return number * (1 - APART)
    if many == NONE:
        return 0.0 if number else 0.5
    if many == LASTING:
        return _lasting(number)
    return part if number else 0.5 * (many == ALL)


def _lasting(number: float) -> float:
    """Return a factor with which what was is remembered sixteen times as long.

    Either it is multiplied by that factor at each step, or by what is left of one. The lower one of
    two stays the lower one.
    """
    size = abs(number)
    if not 0 < size < 1:
        return number
    moved = size / TIMES_LASTING if size < 1 / 2 else 1 - (1 - size) / TIMES_LASTING
    return math.copysign(moved, number)


def _part(name: str, at: int, number: float) -> float:
    """Return a part of a number, a quarter less at least: of each number another part.

    What takes the middle of a range for zero is right as long as both ends move alike. The parts
    are nearly the same, so that the lower one of two ends stays the lower one.
    """
    less = (zlib.crc32(name.encode()) + 5 * at) % 61 / 1024
    return number * (0.75 - less) * (0.9375 if number < 0 else 1)


def moves(work: Work) -> tuple[int, ...]:
    """Return how scalar arguments can be moved at all: of `SOME` to `LASTING`."""
    scalars = [a for a in work.arguments if not a.type.pointer]
    case = work.cases[0].values
    seen = [[scalar_values(a, case) for a in scalars]]
    found: list[int] = []
    for many in (SOME, ALL, NONE, LASTING):
        values = [scalar_values(a, {**case, MOVED: many}) for a in scalars]
        if values not in seen:
            found.append(many)
            seen.append(values)
    return tuple(found)
