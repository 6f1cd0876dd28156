"""Input families and sizes beyond the declared ones.

A kernel that is right on one bell curve may be wrong on everything else; public checkers that
test one distribution at one size miss faults this list was made from.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import captured, whole_numbers
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.inputs import FREE, Arrays, interleave, rotatable, shuffled, stream
from runners.spec import Argument, Work

DECLARED = "declared"
# The same at sizes beyond what blocks, registers and shared memory hold.
PLAIN = "plain"
HALF_STEPS = "half-steps"
FAR, TIMES_FAR, TIMES_FAR_HALF = "far", 2e6, 100.0
# The same near the end of the range: asked about where values are chosen and not computed with.
VAST, TIMES_VAST, TIMES_VAST_HALF = "vast", 4e30, 4500.0
# The one that has infinities among all else. For originals whose text asks for them
# (`runners.asked`): nothing but NaN, so that any row and any column is; and infinities alone.
INFINITE, ALL_NAN, INFINITIES = "special", "all-nan", "infinities"
ASKED = frozenset({ALL_NAN, INFINITIES})
# Those whose values are not all finite.
NOT_FINITE = frozenset({INFINITE, "nan", *ASKED})
# Families in which the original may overflow or meet NaN: where it does, nothing is promised.
STRESS = frozenset({"large", FAR, VAST, *NOT_FINITE})
# One number in every place; one whose sums are exact in any order at any length that is tried.
EQUAL, ALIKE = "equal", "power-of-two"
SCREEN = (DECLARED, "mixed", "integers")
EVERY = (
    DECLARED,
    "times-10",
    "shifted",
    "offset",
    "one-hot",
    "edges",
    HALF_STEPS,
    EQUAL,
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
ENDS, MOST_INDEXED, FEW_ELEMENTS = "ends", 1 << 24, 4
# Whole numbers of a declared range, some of them its ends and many multiples of a power of two:
# what takes a value of the range for none loses it, and in a table by their last bits they meet.
CLUSTERED, CLUSTER, MOST_CLUSTERS = "clustered", 1 << 10, 64
# Places from one pair of such numbers to the next, no divisor of a row or a block.
APART = 61
# Whole numbers of which two are half a row each, or one is most of it: how counts are compared.
HALVES, MOSTLY = "halves", "mostly"
TALLIED = frozenset({HALVES, MOSTLY})
# The declared ones but for one element of each array: what is kept for contents that were only
# looked at here and there is taken for theirs. Such looks have a step; none of some thousand looks
# or of more, at numbers or at vectors of two or four, meets the element where that can be helped.
# Nor does one of a power of two of looks that are the same share of the array apart.
NEARLY, FEWEST_LOOKS, MOST_STEP, MOST_TRIED = "nearly", 1 << 10, 64, 4096
SHARES = tuple(1 << bits for bits in range(4, 13))
# Captured values in another order.
SHUFFLED = "shuffled"

# More than a counter of 16 bits holds; what puts so many into one place, and for how many.
HOT, CROWDED = (1 << 16) + 4096, frozenset({EQUAL, ALIKE, "one-hot", "large"})
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


def _nearly(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """All the same but for one, as large as the largest of `edges`."""
    out = data.copy()
    at = _aside(len(out), rng)
    if at:
        out[at] = 50
    return out


def _aside(count: int, rng: np.random.Generator) -> int:
    """Choose a place in the middle half where few look who do not look everywhere; 0 for none."""
    low, high = max(1, count // 4), min(count - 1, count - count // 4)
    if low >= high:
        return 0
    tried, most = rng.integers(low, high, MOST_TRIED), min(MOST_STEP, 2 + count // FEWEST_LOOKS)
    least = np.full(len(tried), most + 1)
    for step in range(most, 1, -1):
        for group in (tried, tried >> 1, tried >> 2):
            least[(group % step == 0) & (group > 0)] = step
    for looks in (looks for looks in SHARES if 2 * looks <= count):
        number = -(-tried * looks // count)
        least[number * count // looks == tried] = 1
    return int(tried[least.argmax()])


def _swapped(data: Values, rng: np.random.Generator) -> Values:
    """Swap two such places."""
    at, other = (_aside(len(data), rng) for _ in range(2))
    out = data.copy()
    out[[at, other]] = out[[other, at]]
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


def _alike(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """One power of two, whose sums and sums of squares are exact as long as a float's part is.

    Of four bits, as `equal` ones have, two millions are too many: then an order of summation errs
    where another one does not. What is counted in few bits, or in shared memory, runs over where
    most meet in one place.
    """
    if not len(data):
        return data
    one = np.float64(data[rng.integers(len(data))])
    return np.full_like(data, np.copysign(np.ldexp(0.5, np.frexp(one)[1]), one) if one else 0)


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


def _all_nan(data: Values, _scalar: Scalar, _rng: np.random.Generator) -> Values:
    """Nothing but NaN: no order of comparisons starts from another element than the next one's.

    A stretch of them begins within some row, whose largest is then decided by what comes first.
    """
    return np.full_like(data, np.nan)


def _infinities(data: Values, _scalar: Scalar, rng: np.random.Generator) -> Values:
    """A few infinities of one sign, and nothing else that is odd.

    With both a sum would be NaN, which is promised to nobody; a NaN beside them would decide
    comparisons by their order, and of a denormal's reciprocal some ways make an infinity.
    """
    out = data.copy()
    if len(out):
        sign = float(rng.choice((1, -1)))
        out[rng.integers(0, len(out), max(1, len(out) // 2000))] = sign * np.inf
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
    NEARLY: _nearly,
    HALF_STEPS: _half_steps,
    EQUAL: _equal,
    "sorted": _sorted,
    "large": _large,
    FAR: _far,
    VAST: _vast,
    "integers": _integers,
    "special": _special,
    "nan": _nan,
    "mixed": _mixed,
    ALIKE: _alike,
    ALL_NAN: _all_nan,
    INFINITIES: _infinities,
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
    if family in {EQUAL, ALIKE}:
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
    if family == NEARLY:
        out, at = data.copy(), _aside(len(data), rng)
        others = data[data != data[at]] if at else data[:0]
        if len(others):
            out[at] = others[rng.integers(len(others))]
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
        if word == "uniform" and family in {"integers", FAR, VAST, HALF_STEPS, INFINITIES}:
            return from_float(np.abs(_FLOATS[family](wide, scalar, rng)), scalar)
        return from_float(_FLOATS[family](wide, scalar, rng), scalar)
    if word == "sorted" and family in {"integers", EQUAL, ALIKE, "mixed"}:
        return _ascending(family, data, scalar, rng)
    if word == "randint" or (scalar.kind != "f" and word in FREE):
        return _whole(family, data, rng)
    if word == "permutation" and family == NEARLY:
        return _swapped(data, rng)
    if word == "permutation" and family in {"sorted", EQUAL, ALIKE}:
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


def nearly(work: Work, case: Mapping[str, float]) -> int:
    """Return how long the longest array is of which one element may be another; 0 for none."""
    return max(
        (
            argument.elements(case)
            for argument in work.arguments
            if argument.type.pointer
            and argument.role != "output"
            and (rotatable(argument) or shuffled(argument))
        ),
        default=0,
    )


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


def tallied(work: Work) -> bool:
    """Tell whether there are whole numbers drawn at random: how often which is there may count."""
    return not captured_work(work) and any(True for _ in drawn(work))


def drawn(work: Work) -> Iterator[Argument]:
    """Yield arrays of whole numbers that are drawn at random, each by itself."""
    for argument in work.arguments:
        whole = argument.type.pointer and all(f.scalar.kind in "iu" for f in argument.type.fields)
        free = argument.init.partition(":")[0] in {*FREE, "randint"}
        if whole and free and argument.role != "output":
            yield argument


def _tallied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of whole numbers whose counts are decided by little, row by row."""
    out = dict(arrays)
    for argument in drawn(work):
        rng = stream(seed, family, argument.name)
        lengths = whole_numbers.row_lengths(argument.shape or "1", case)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            # Keys of a wide range are no indices, and meet in a table all the same.
            wide = field.scalar.size >= LEAST_WIDE
            parts.append(
                whole_numbers.tallied(
                    data,
                    [length * field.lanes for length in lengths],
                    rng,
                    mostly=family == MOSTLY,
                    most=HOT if wide else None,
                )
            )
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def apply(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float] | None = None
) -> Arrays:
    """Return inputs of the same shapes with the structure of a family; of a case, if it matters.

    Contents whose values carry meaning (constants, sorted keys, data from files) stay as they are.
    """
    if family in {DECLARED, PLAIN}:
        return arrays
    if family in TALLIED:
        return _tallied(family, work, arrays, seed, case or {})
    if family in {ENDS, CLUSTERED}:
        return (_at_ends if family == ENDS else _clustered)(work, arrays, seed)
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

    Of what may be indices no more than `HOT` are the same; what is of no small range is none. A
    few elements take turns themselves: two points are then in opposite corners.
    """
    out = dict(arrays)
    for turn, (argument, low, high) in enumerate(_ranges(work)):
        value = high if (turn + seed) % 2 else low
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            index = field.scalar.size >= LEAST_WIDE and high - low < MOST_INDEXED
            data[: HOT if index else len(data)] = value
            if len(data) <= FEW_ELEMENTS:
                data[::2], data[1::2] = low, high
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _clustered(work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays whose whole numbers with a range are such as few are by chance."""
    out = dict(arrays)
    wide = [r[1:] for r in _ranges(work) if r[2] - r[1] >= whole_numbers.LEAST_RANGE]
    worst = whole_numbers.pairs(max(r[0] for r in wide), min(r[1] for r in wide)) if wide else []
    turn = 0
    for argument, low, high in _ranges(work):
        rng = stream(seed, CLUSTERED, argument.name)
        step = min(CLUSTER, max(1, (high - low) // MOST_CLUSTERS))
        first = -(-low // step)
        met = rng.integers(first, high // step + 1, MOST_CLUSTERS, endpoint=False) * step
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            what = rng.integers(0, 32, len(data))
            some = what < 8
            data[some] = met[rng.integers(0, len(met), int(some.sum()))].astype(data.dtype)
            for value, drawn in ((low, 30), (high, 31)):
                data[np.flatnonzero(what == drawn)[:HOT]] = value
            if high - low >= whole_numbers.LEAST_RANGE:
                _pair(data, worst, turn)
                turn += 1
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _pair(data: Values, worst: Sequence[tuple[int, int]], turn: int) -> None:
    """Put pairs side by side, and in the next array the other way round at the same places."""
    for number, pair in enumerate(worst):
        at = np.arange(APART // 2 + number * APART, len(data) - 1, APART * len(worst))[: HOT // 2]
        data[at], data[at + 1] = pair[turn % 2], pair[1 - turn % 2]


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
    before = [values(data, kind, field) for field in kind.fields]
    parts = [
        _field(family, argument.init, own, field.scalar, rng)
        for own, field in zip(before, kind.fields, strict=True)
    ]
    if family == NEARLY:
        # Of a struct one field, the first that can be another.
        other = [not np.array_equal(a, b) for a, b in zip(before, parts, strict=True)]
        first = other.index(True) if any(other) else 0
        parts = [*before[:first], parts[first], *before[first + 1 :]]
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
