"""Input families and sizes beyond the declared ones.

A kernel that is right on one bell curve may be wrong on everything else; public checkers that
test one distribution at one size miss faults this list was made from.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.inputs import FREE, Arrays, interleave, shuffled, stream
from runners.spec import Argument, CaseSpec, Work

DECLARED = "declared"
HALF_STEPS = "half-steps"
FAR, TIMES_FAR, TIMES_FAR_HALF = "far", 2e6, 100.0
# The same near the end of the range: asked about where values are chosen and not computed with.
VAST, TIMES_VAST, TIMES_VAST_HALF = "vast", 4e30, 4500.0
# Families in which the original may overflow or meet NaN: where it does, nothing is promised.
STRESS = frozenset({"large", FAR, VAST, "special", "nan"})
# The one that has infinities, and those whose values are not all finite.
INFINITE = "special"
NOT_FINITE = frozenset({INFINITE, "nan"})
SCREEN = (DECLARED, "mixed", "integers")
EVERY = (
    DECLARED,
    "times-10",
    "shifted",
    "offset",
    "one-hot",
    "edges",
    HALF_STEPS,
    "equal",
    "sorted",
    "large",
    FAR,
    "integers",
    "special",
    "nan",
    "mixed",
)
# What a buffer that is added to may hold before: something else than its first contents.
STARTED = "started"
# Whole numbers that nothing was said of, half of them below zero; sums of a few hundred of those
# below 100 fit into a short, of these they do not.
SIGNED, TIMES_SIGNED, LEAST_WIDE = "signed", 41, 4
# Whole numbers at the ends of their range, whole arrays of them: where differences are largest, and
# what counts in fewer bits than its sums need runs over.
ENDS, MOST_INDEXED = "ends", 1 << 24
# Captured values in another order.
SHUFFLED = "shuffled"

# More than a counter of 16 bits holds; what puts so many into one place, and for how many.
HOT, CROWDED = (1 << 16) + 4096, frozenset({"equal", "one-hot", "large"})
# Elements of a table that whole numbers choose from.
LEAST_CHOSEN = 1024
LONGEST_SORT = 1 << 19
LEAST_BLOCK, MOST_BLOCK = 32, 4096

Values = npt.NDArray[Any]
Transform = Callable[[Values, Scalar, np.random.Generator], Values]


def _times_ten(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return data * 10


def _shifted(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return data + 3


def _offset(data: Values, scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Far from zero for its spread: differences of squares lose everything."""
    return data + (20 if scalar.name == "half" else 100)


def _one_hot(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Zero but for a few spikes, one of them at an end."""
    spikes = np.zeros_like(data)
    if len(data):
        where = rng.integers(0, len(data), max(1, len(data) // 1000))
        spikes[where] = data[where] + 5
        spikes[rng.choice([0, len(data) - 1])] = 7
    return spikes


def _edges(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """The largest beside the smallest, where a block of threads ends and the next one begins.

    What looks at all elements but those that two blocks share finds another maximum in no other
    way: it is one pair of hundreds.
    """
    out = data.copy()
    at = _boundary(len(out), rng)
    if at:
        out[at - 1], out[at] = 50, -50 if data.min() < 0 else 0
    return out


def _half_steps(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Whole numbers and halves between them up to 127, which comes again and again.

    How a half is rounded shows nowhere else but by chance: scaled by their largest, as bytes are,
    these stay what they are. Some are halfway between two numbers of 8 bits, as bfloat16 has, and
    some between two of 11, as halves and TF32 have.
    """
    count = len(data)
    out = np.asarray(rng.integers(-254, 255, count) / 2.0)
    for part, bits in ((1, 8), (2, 11)):
        some = slice(part, None, 4)
        odd = rng.integers(1 << bits - 1, 1 << bits, len(out[some])) * 2 + 1
        signs = rng.integers(0, 2, len(odd)) * 2 - 1
        out[some] = signs * np.ldexp(odd, rng.integers(-3, 7, len(odd)) - bits - 1)
    out[:: 1 << 4] = 127
    return out


def _boundary(count: int, rng: np.random.Generator) -> int:
    """Choose a multiple of the largest power of two that fits twice, 4096 at most; 0 for none."""
    if count < 2 * LEAST_BLOCK:
        return 0
    step = min(MOST_BLOCK, 1 << ((count // 2).bit_length() - 1))
    return step * int(rng.integers(1, (count - 1) // step + 1))


def _equal(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One number of four bits, whose sums are exact in any order.

    Errors of a sum of equal numbers all go the same way, and what is left of their spread is
    nothing but those errors: no order of summation could be called right.
    """
    if not len(data):
        return data
    part, exponent = np.frexp(np.float64(data[rng.integers(len(data))]))
    return np.full_like(data, np.ldexp(np.rint(part * 16) / 16, exponent))


def _few(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Three numbers of four bits in turns: a row that is partly equal errs in one direction."""
    three = [_equal(data, scalar, rng)[:1] for _ in range(3)]
    return np.concatenate(three)[rng.integers(0, 3, len(data))] if len(data) else data


def _sorted(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    return np.asarray(np.sort(data))


def _large(data: Values, scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Magnitudes beyond the range of a half, unless the type is one."""
    factor = 300.0 if scalar.name == "half" else 1e5
    return np.asarray(data * factor)


def _far(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """All far below zero, then all far above: a largest or smallest that begins at some number."""
    return _apart(data, TIMES_FAR_HALF if scalar.name == "half" else TIMES_FAR, rng)


def _vast(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    return _apart(data, TIMES_VAST_HALF if scalar.name == "half" else TIMES_VAST, rng)


def _apart(data: Values, times: float, rng: np.random.Generator) -> Values:
    size = (np.abs(data) + 1) * times
    turn = int(rng.integers(len(data) // 3, 2 * len(data) // 3 + 1))
    return np.asarray(np.where(np.arange(len(data)) < turn, -size, size))


def _integers(_data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """Small whole numbers, whose sums a float holds exactly in any order."""
    return np.asarray(rng.integers(-8, 9, len(_data)).astype(np.float64))


def _special(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A few NaN, infinities and denormals among ordinary numbers; the first one is infinite.

    What stands for no element is read at the first place, and then multiplied by zero.
    """
    out = data.copy()
    if len(out):
        for value in (np.nan, np.inf, -np.inf, 1e-40, -0.0):
            out[rng.integers(0, len(out), max(1, len(out) // 5000))] = value
        out[0] = np.inf
    return out


def _nan(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One NaN, not at the start of anything: there comparisons with it may depend on the order."""
    out = data.copy()
    if len(out) > 3:
        out[int(rng.integers(len(out) // 3, len(out) - 1)) | 1] = np.nan
    return out


def _mixed(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Stretches of unlike structure inside one input."""
    out = data.copy()
    kinds = (_times_ten, _one_hot, _few, _sorted, _integers)
    edges = np.sort(rng.integers(0, len(out) + 1, 6))
    for start, end, transform in zip(edges[:-1], edges[1:], kinds, strict=True):
        # Sorting millions would take longer than all the rest together.
        last = min(end, start + LONGEST_SORT) if transform is _sorted else end
        out[start:last] = transform(out[start:last], scalar, rng)
    return out


_FLOATS: dict[str, Transform] = {
    "times-10": _times_ten,
    "shifted": _shifted,
    "offset": _offset,
    "one-hot": _one_hot,
    "edges": _edges,
    HALF_STEPS: _half_steps,
    "equal": _equal,
    "sorted": _sorted,
    "large": _large,
    FAR: _far,
    VAST: _vast,
    "integers": _integers,
    "special": _special,
    "nan": _nan,
    "mixed": _mixed,
}


def _whole(family: str, data: Values, rng: np.random.Generator) -> Values:
    """Rearrange whole numbers within the values they already have, so that indices stay valid.

    Where they are indices, no more than `HOT` of them meet in one place: threads that exchange a
    word until it holds take a time there that grows with the square of their number.
    """
    if not len(data):
        return data
    if family in CROWDED and len(data) > HOT:
        return np.concatenate([_whole(family, data[:HOT], rng), data[HOT:]])
    if family == "equal":
        return np.full_like(data, data[rng.integers(len(data))])
    if family == "sorted":
        return np.asarray(np.sort(data))
    if family == "one-hot":
        out = np.full_like(data, data.min())
        out[rng.integers(0, len(data), max(1, len(data) // 1000))] = data.max()
        return out
    if family == "edges":
        out, at = data.copy(), _boundary(len(data), rng)
        if at:
            out[at - 1], out[at] = data.max(), data.min()
        return out
    if family == "large":
        high = rng.random(len(data)) < 0.5
        return np.asarray(np.where(high, data.max(), data.min()).astype(data.dtype))
    if family == "mixed":
        out = data.copy()
        half = len(out) // 2
        out[:half] = np.sort(out[:half])
        out[half : half + min(half // 2, HOT)] = out[0]
        return out
    return data


def _field(
    family: str, init: str, data: Values, scalar: Scalar, rng: np.random.Generator
) -> Values:
    word = init.partition(":")[0]
    if family == SIGNED:
        if not _signs(init, scalar):
            return data
        wide = data * TIMES_SIGNED if scalar.size >= LEAST_WIDE else data
        return np.asarray(np.where(rng.random(len(data)) < 0.5, -wide, wide))
    if word == captured.WORD:
        return _captured(family, data, scalar, rng)
    if scalar.kind == "f" and word in FREE:
        wide = data if scalar.name in {"float", "double"} else to_float(data, scalar)
        if word == "uniform" and family in {"integers", FAR, VAST, HALF_STEPS}:
            return from_float(np.abs(_FLOATS[family](wide, scalar, rng)), scalar)
        return from_float(_FLOATS[family](wide, scalar, rng), scalar)
    if word == "sorted" and family in {"integers", "equal", "mixed"}:
        return _ascending(family, data, scalar, rng)
    if word == "randint" or (scalar.kind != "f" and word in FREE):
        return _whole(family, data, rng)
    if word == "permutation" and family in {"sorted", "equal"}:
        return np.sort(data)
    if word == "permutation" and family == "mixed":
        return data[::-1].copy()
    return data


def _captured(family: str, data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Vary real values: numbers as any others, bytes by their order; the rest may be indices.

    What is nowhere below zero may have to be so: a probability, a variance.
    """
    if family == SHUFFLED:
        free = scalar.kind == "f" or scalar.size == 1
        return np.asarray(rng.permutation(data)) if free else data
    if scalar.kind != "f":
        return _whole(family, data, rng) if scalar.size == 1 else data
    wide = data if scalar.name in {"float", "double"} else to_float(data, scalar)
    varied = _FLOATS[family](wide, scalar, rng)
    if len(wide) and float(np.nanmin(wide)) >= 0:
        varied = np.abs(varied)
    return from_float(varied, scalar)


def _ascending(family: str, data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Sorted keys of which many are equal, within one array and between arrays."""
    if scalar.kind != "f":
        return np.asarray(np.sort(_whole(family, data, rng)))
    wide = to_float(data, scalar)
    if family == "mixed":
        wide = np.where(rng.random(len(wide)) < 0.5, wide, np.rint(2 * wide) / 2)
    else:
        wide = _FLOATS[family](wide, scalar, rng)
    return from_float(np.sort(wide), scalar)


def started(work: Work) -> bool:
    """Tell whether there is a buffer that is added to, whose first contents are all the same."""
    return any(_adds(argument) for argument in work.arguments)


def signed(work: Work) -> bool:
    """Tell whether there are whole numbers that may be below zero, for all the workload says."""
    return any(
        argument.type.pointer
        and argument.role != "output"
        and any(_signs(argument.init, one.scalar) for one in argument.type.fields)
        for argument in work.arguments
    )


def _signs(init: str, scalar: Scalar) -> bool:
    return scalar.kind == "i" and init == "normal"


def captured_work(work: Work) -> bool:
    """Tell whether contents are those of real launches."""
    return any(argument.init.partition(":")[0] == captured.WORD for argument in work.arguments)


def varied(work: Work) -> bool:
    """Tell whether there are captured values that may be in another order."""
    return any(shuffled(argument) and argument.role != "output" for argument in work.arguments)


def chosen(work: Work) -> bool:
    """Tell whether floats without a range go in: something may be chosen from them."""
    return any(
        argument.type.pointer
        and argument.role != "output"
        and argument.init.partition(":")[0] in FREE
        and any(one.scalar.kind == "f" for one in argument.type.fields)
        for argument in work.arguments
    )


def _adds(argument: Argument) -> bool:
    if argument.role != "inout":
        return False
    return argument.init.partition(":")[0] in {"zeros", "ones"} or shuffled(argument)


def apply(family: str, work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return inputs of the same shapes with the structure of a family.

    Contents whose values carry meaning (constants, sorted keys, data from files) stay as they are.
    """
    if family == DECLARED:
        return arrays
    if family == ENDS:
        return _at_ends(work, arrays, seed)
    out = dict(arrays)
    least = _least_spoilt(work, arrays) if family in NOT_FINITE else 0
    for argument in work.arguments:
        if argument.name in arrays and len(arrays[argument.name]) // argument.type.size >= least:
            out[argument.name] = _argument(family, argument, arrays[argument.name], seed)
            # Not at the start of a row either.
            for turn in range(1, 9) if family == "nan" else ():
                if not _starts_a_row(work, argument, out[argument.name]):
                    break
                again = seed + 7919 * turn
                out[argument.name] = _argument(family, argument, arrays[argument.name], again)
    return out


def ended(work: Work) -> bool:
    """Tell whether there are whole numbers of a declared range."""
    return any(True for _ in _ranges(work))


def _ranges(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield arrays of whole numbers that have a range, with its first and last number."""
    for argument in work.arguments:
        word, _, bounds = argument.init.partition(":")
        plain = argument.type.pointer and all(f.scalar.kind in "iu" for f in argument.type.fields)
        if plain and word == "randint" and argument.role != "output":
            with contextlib.suppress(ValueError):  # who makes the inputs says what is wrong there
                low, high = (int(part) for part in bounds.split(":"))
                yield argument, low, high - 1


def _at_ends(work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays that are all at the end of their range, by turns at the last and the first.

    Of what may be indices no more than `HOT` are the same; what is of no small range is none.
    """
    out = dict(arrays)
    for turn, (argument, low, high) in enumerate(_ranges(work)):
        value = high if (turn + seed) % 2 else low
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            index = field.scalar.size >= LEAST_WIDE and high - low < MOST_INDEXED
            data[: HOT if index else len(data)] = value
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _starts_a_row(work: Work, argument: Argument, data: npt.NDArray[np.uint8]) -> bool:
    """Tell whether a NaN is at a multiple of a case's size."""
    only = argument.type.scalar
    if only is None or only.kind != "f":
        return False
    where = np.flatnonzero(
        np.isnan(to_float(values(data, argument.type, argument.type.fields[0]), only))
    )
    sizes = {int(v) for case in work.cases for v in case.values.values() if v >= 2}
    return any(bool((where % size == 0).any()) for size in sizes)


def _least_spoilt(work: Work, arrays: Arrays) -> int:
    """Return how many elements an array of floats has that is given a NaN or an infinity.

    Short ones are coefficients: right code multiplies them by the zeros it pads a tile with, or
    leaves those products out, and a NaN would tell one from the other. What whole numbers choose
    from is no coefficient.
    """
    counts = [
        len(arrays[a.name]) // a.type.size
        for a in work.arguments
        if a.name in arrays and any(one.scalar.kind == "f" for one in a.type.fields)
    ]
    chosen = any(
        one.scalar.kind in "iu" and one.scalar.size >= LEAST_WIDE
        for a in work.arguments
        if a.name in arrays and a.role == "input"
        for one in a.type.fields
    )
    least = max(counts, default=0) // 8
    return min(least, LEAST_CHOSEN) if chosen else least


def _argument(
    family: str, argument: Argument, data: npt.NDArray[np.uint8], seed: int
) -> npt.NDArray[np.uint8]:
    kind = argument.type
    rng = stream(seed, family, argument.name)
    if family == STARTED:
        if not _adds(argument):
            return data
        count = data.nbytes // kind.size
        some = [rng.integers(1, 4, count * field.lanes) for field in kind.fields]
        return interleave(
            [
                from_float(v.astype(np.float64), f.scalar)
                if f.scalar.kind == "f"
                else v.astype(f.scalar.dtype)
                for v, f in zip(some, kind.fields, strict=True)
            ],
            kind,
            count,
        )
    parts = [
        _field(family, argument.init, values(data, kind, field), field.scalar, rng)
        for field in kind.fields
    ]
    return interleave(parts, kind, data.nbytes // kind.size)


def jitter(work: Work, arrays: Arrays, seed: int, times: float = 1.0) -> Arrays:
    """Move every random float by one rounding error, up or down, or so many times as much.

    What this changes in the original's output is the accuracy that output can be asked to have
    (Higham, Accuracy and Stability, 1.5: backward error times condition). Inputs of fewer digits
    than the results stay: halves whose sums are floats are exact, and so are their products.
    """
    out = dict(arrays)
    written = [one.scalar for a in work.arguments if a.written for one in a.type.fields]
    finest = min((one.roundoff for one in written if one.kind == "f"), default=1.0)
    for argument in work.arguments:
        only = argument.type.scalar
        free = argument.init.partition(":")[0] in {*FREE, "sorted", "ones", captured.WORD}
        if argument.name not in arrays or only is None or only.kind != "f" or not free:
            continue
        if only.roundoff > finest and argument.role == "input":
            continue
        data = values(arrays[argument.name], argument.type, argument.type.fields[0])
        rng = stream(seed, "jitter", argument.name)
        signs = rng.integers(0, 2, min(len(data), 1_000_003)) * 2 - 1
        if only.name in {"float", "double"}:
            factors = (1 + 2 * times * only.roundoff * signs).astype(only.dtype)
            with np.errstate(all="ignore"):
                moved = data * np.resize(factors, len(data))
        else:
            factors = np.resize(1 + 2 * times * only.roundoff * signs, len(data))
            moved = from_float(to_float(data, only) * factors, only)
        out[argument.name] = np.ascontiguousarray(moved).view(np.uint8).reshape(-1)
    return out


def undefined(work: Work, arrays: Arrays) -> Arrays:
    """Put a NaN in the place of what right code may make an infinity or NaN of: where that goes.

    Infinities, and numbers so small that their reciprocal overflows.
    """
    out = dict(arrays)
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.name not in arrays or only is None or only.kind != "f":
            continue
        wide = to_float(values(arrays[argument.name], argument.type, argument.type.fields[0]), only)
        small = (np.abs(wide) < 2.0**-126) & (wide != 0) & (only.name in {"float", "bfloat16"})
        infinite = np.isinf(wide) | small
        if infinite.any():
            odd = from_float(np.where(infinite, np.nan, wide), only)
            out[argument.name] = np.ascontiguousarray(odd).view(np.uint8).reshape(-1)
    return out


def _near(value: int) -> Iterator[int]:
    """Sizes a hand-made kernel is likely to forget, nearest trouble first."""
    yield value + 1
    yield 1
    yield value - 1
    yield 31
    yield AWKWARD
    yield (1 << value.bit_length()) + 1
    yield 33
    yield _prime_below(value)


def _prime_below(value: int) -> int:
    """Return the largest prime below a number; 2 at least."""
    candidate = value - 1
    while candidate > 2 and any(candidate % d == 0 for d in range(2, int(candidate**0.5) + 1)):
        candidate -= 1
    return max(2, candidate)


def _awkward(size: int) -> bool:
    """Tell whether what is this size, by its rounded reciprocal, is less than one in any precision.

    A row found by such a product is the one before. One size in seventy is like that.
    """
    single = np.float32(size) * (np.float32(1) / np.float32(size))
    return bool(single < 1) and float(size) * (1.0 / float(size)) < 1


def _awkward_below(value: int) -> int:
    """Return the next smaller odd size that is awkward; a prime where there is none near."""
    near = range((value - 1) // 2 * 2 - 1, max(AWKWARD, value // 2), -2)
    return next((size for size in near[:MOST_STEPS] if _awkward(size)), _prime_below(value))


def sizes(
    work: Work, limit: int, most_elements: int = 1 << 20, large: int = 0, between: int = 0
) -> tuple[CaseSpec, ...]:
    """Return undeclared cases around declared ones, unlike each other, cheap first.

    `limit` around the smallest, whose buffers hold `most_elements` values at most: one whole-number
    case variable moves at a time. And `large` beside the largest, where all of them move, too: what
    is right for a thousand elements and for the declared million may be wrong for one more. Last,
    each variable far beyond its largest, the others small: what keeps a row in a block's threads,
    registers or shared memory holds so much and no more. Where it is small itself, as a stride is,
    the others stay as large as they may: of small images a wide filter leaves nothing. `between`:
    so many of each variable between its smallest and largest, where a kernel may change its way.
    """
    declared = [dict(case.values) for case in work.cases]
    found: list[CaseSpec] = []

    def take(changed: dict[str, float], most: int) -> bool:
        fit = min(changed.values(), default=0) >= 0 and 0 < _elements(work, changed) <= most
        if fit and changed not in declared:
            declared.append(changed)
            found.append(CaseSpec(changed, timed=False))
            return True
        return False

    base = min(
        (case for case in work.cases if _elements(work, case.values) > 64),
        key=lambda case: _elements(work, case.values),
        default=work.cases[0],
    )
    turns = [(name, _near(int(base.values[name]))) for name in _movable(work, base)]
    left = limit
    for _ in range(8):
        for name, near in turns:
            value = next(near)
            if left and value >= 1 and take({**base.values, name: float(value)}, most_elements):
                left -= 1
    every = [case for case in work.cases if _elements(work, case.values) > 0]
    fit = [case for case in every if _elements(work, case.values) <= LARGEST]
    top = max(fit, key=lambda case: _elements(work, case.values), default=base)
    if fit and large:
        left = large
        for changed in _beside(top.values, _movable(work, top)):
            if left and take(changed, 2 * LARGEST):
                left -= 1
    for name in _movable(work, top)[:MOST_LONG] if every and large else ():
        # Of a case that is too large itself, each variable may still be as large.
        values = [int(case.values.get(name, 0)) for case in every]
        for middle in _between(min(values), max(values), between):
            take({**base.values, name: middle}, most_elements)
        value = max(values)
        for long in _far_beyond(value):
            tried = [base.values, _at_most(FEW, work, base), _at_most(2.0, work, base)]
            if value <= SMALL:
                # As large as they may be, or all but one: it may be a length that is looked
                # back over, and several blocks of it are wanted.
                others = [k for k in _movable(work, top) if top.values[k] > SMALL]
                tried = [top.values, *({**top.values, k: FEW} for k in others), *tried]
            any(take({**other, name: long}, most_elements) for other in tried)
        if value > LARGEST and _sizes_nothing(work, base, name):
            take({**base.values, name: float(2**31 - 1)}, most_elements)
    return tuple(found)


def scattered(work: Work, seed: int, count: int, most_elements: int = 1 << 16) -> list[CaseSpec]:
    """Return cases in which every variable is drawn by itself, from one to its largest.

    Some faults need two sizes at a time: columns that no vector divides in a matrix that one does,
    a band of one, a length of whole warps. A third are multiples of 32, a third of four. What is no
    size, as a flag, is one of those declared.
    """
    first = work.cases[0].values
    top = {name: int(_largest(work, name)) for name in _movable(work, work.cases[0])}
    flags = {
        name: sorted({case.values[name] for case in work.cases if name in case.values})
        for name in first.keys() - top.keys()
    }
    if len(top) < 2:
        return []
    rng = stream(seed, "scattered")
    found: list[CaseSpec] = []
    for _ in range(20 * count):
        drawn = {name: _drawn(most, rng) for name, most in top.items()}
        drawn |= {name: float(rng.choice(flags[name])) for name in sorted(flags)}
        case = CaseSpec({**first, **drawn}, timed=False)
        known = any(dict(case.values) == dict(other.values) for other in (*work.cases, *found))
        if not known and 0 < _elements(work, case.values) <= most_elements:
            found.append(case)
        if len(found) == count:
            break
    return found


def _drawn(most: int, rng: np.random.Generator) -> float:
    """Draw a size up to one, small ones as often as large ones."""
    size = int(np.exp(rng.uniform(0.0, np.log(most + 1))))
    multiple = int(rng.choice((1, 4, 32)))
    return float(min(most, -(-size // multiple) * multiple)) if size > 1 else 1.0


def whole_words(
    work: Work, values: Mapping[str, float], most_elements: int, most: int = 4
) -> list[dict[str, float]]:
    """Return cases near to one in which sizes are multiples of 32: all of them, then each alone.

    Sizes up to `SMALL` (strides, radii) stay. `most` cases at most, of so many elements. Behind
    them, for up to two variables, one that is as large as it may be: blocks that take a row after
    the other come to their second.
    """
    names = [k for k in _movable(work, CaseSpec(values)) if values[k] > SMALL]
    whole = {name: float(-(-int(values[name]) // 32) * 32) for name in names}
    tried = [{**values, **whole}, *({**values, name: whole[name]} for name in names)]
    found: list[dict[str, float]] = []
    for case in tried:
        fits = 0 < _elements(work, case) <= most_elements
        if fits and case != dict(values) and case not in found:
            found.append(case)
    few = _at_most(FEW, work, CaseSpec(values))
    wide = [k for k in _movable(work, CaseSpec(values)) if _largest(work, k) > SMALL]
    long = (_as_long(work, few, name, most_elements) for name in wide[:2])
    return [*found[:most], *(case for case in long if case is not None)]


def _largest(work: Work, name: str) -> float:
    return max(case.values.get(name, 0.0) for case in work.cases)


def _as_long(
    work: Work, values: dict[str, float], name: str, most_elements: int
) -> dict[str, float] | None:
    """Return a case with one variable as large as so many elements allow; None where it is flat."""
    low, high = int(values[name]), most_elements
    while high - low > 1:
        middle = (low + high) // 2
        if 0 < _elements(work, {**values, name: float(middle)}) <= most_elements:
            low = middle
        else:
            high = middle
    return {**values, name: float(low)} if LEAST_LONG <= low <= FLAT else None


def _between(least: int, most: int, count: int) -> Iterator[float]:
    """Yield so many sizes between two that are far apart, by equal factors.

    Each is the next that is odd and awkward.
    """
    if least == most:
        least = 2 * SMALL
    if most < 4 * least:
        return
    for number in range(1, count + 1):
        size = int(least * (most / least) ** (number / (count + 1))) | 1
        near = range(size, most, 2)[:MOST_STEPS]
        yield float(next((one for one in near if _awkward(one)), size))


LARGEST = 1 << 24
# Up to here a variable is tried at four times its largest value, beyond at twice it.
LONG, MOST_LONG, FEW = 4096, 6, 9.0
# A variable up to here is a stride, a radius or the like, of which arrays hold 64 at most.
SMALL, ROOM = 16, 64
# The least size that is awkward, a prime; and how far from a size others like it are looked for.
AWKWARD, MOST_STEPS = 107, 500
# What is long is more than is resident at once; beyond this it is a flat case, without rows.
LEAST_LONG, FLAT = 300, 20000
# A grid has no more blocks than this in y and z, and a block's registers hold 4096 of a row.
MOST_BLOCKS, MOST_HELD = 65535, 4096


def _sizes_nothing(work: Work, case: CaseSpec, name: str) -> bool:
    """Tell whether a variable is a value that is passed, by which no buffer grows."""
    other = {**case.values, name: case.values[name] + 1}
    return _elements(work, other) == _elements(work, case.values)


def _at_most(limit: float, work: Work, case: CaseSpec) -> dict[str, float]:
    movable = _movable(work, case)
    return {k: min(v, limit) if k in movable else v for k, v in case.values.items()}


def _far_beyond(value: int) -> tuple[float, ...]:
    """Return lengths beyond what a kernel made for a value is likely to have room for."""
    long = (4 if value <= LONG else 2) * value + 1
    limit = ROOM if value <= SMALL else MOST_HELD if value <= MOST_HELD else MOST_BLOCKS
    # A few more than the limit: what is cut off is then no single element, and where a thread has
    # sixteen at a time, or a warp one each, there is one more turn.
    more = limit + (5 if limit == ROOM else 69)
    return (float(long),) if long > limit else (float(long), float(more))


def _movable(work: Work, case: CaseSpec) -> list[str]:
    return [
        name
        for name, value in case.values.items()
        if name in work.variables and float(value).is_integer() and value >= 2
    ]


def _beside(values: Mapping[str, float], names: list[str]) -> Iterator[dict[str, float]]:
    """Yield neighbours of a large case, all variables at a time and one at a time.

    The nearest odd sizes, odd multiples of 64, one less than multiples of 128, sizes a little and
    half as large again, primes.
    """

    def every(change: Callable[[int], int]) -> dict[str, float]:
        return {**values, **{name: float(change(int(values[name]))) for name in names}}

    yield every(lambda v: v + 1 + v % 2)
    yield every(lambda v: (v + v // 9 + 1) | 1)
    # Whole warps of halves, and not whole blocks of them: odd sizes alone leave those out.
    yield every(lambda v: v if v <= SMALL else v // 128 * 128 + 192)
    # One short of whole blocks, so that words of 32 are whole but for their last bit.
    yield every(lambda v: v if v <= SMALL else v | 127)
    for step in (1, -1):
        for name in names:
            yield {**values, name: values[name] + step}
    yield every(_awkward_below)
    yield every(lambda v: (v + v // 2) | 1)
    for name in names:
        yield {**values, name: float(_prime_below(max(3, int(values[name]) * 3 // 5)))}
    for name in names:
        yield {**values, name: values[name] + 64}
    yield every(lambda v: 2 * v + 1)


def _elements(work: Work, case: Mapping[str, float]) -> int:
    """Return the elements of all buffers of a case; -1 when a shape has no value there."""
    try:
        return sum(a.elements(case) for a in work.arguments if a.type.pointer)
    except ValueError:
        return -1
