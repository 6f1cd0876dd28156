"""Sizes that nobody declared: where hand-made kernels forget something.

Around the declared cases, beside the largest, between them, far beyond, and each drawn by itself;
and those that are for tools to look at, where nothing is compared.
"""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from runners import families
from runners.expressions import names
from runners.inputs import stream
from runners.spec import Argument, CaseSpec, Work
from runners.whole_numbers import factors

LARGEST = 1 << 24
# Elements of all buffers of a case that is light, and of one that is light enough.
LIGHT_ELEMENTS, LIGHTER_THAN = 1 << 13, 1 << 16
# Up to here a variable is tried at four times its largest value, beyond at twice it.
LONG, MOST_LONG, FEW = 4096, 6, 9.0
# A variable up to here is a stride, a radius or the like, of which arrays hold 64 at most.
SMALL, ROOM = 16, 64
# The least size that is awkward, a prime; and how far from a size others like it are looked for.
AWKWARD, MOST_STEPS = 107, 500
# What is long is more than is resident at once; beyond this it is a flat case, without rows.
LEAST_LONG, FLAT = 300, 20000
# What sizes are drawn in parts of, and how often one is as large as another.
PARTS, EQUAL = (1, 1, 16, 64, 128, 256, 512, 1024), 0.2
# Cases in which two variables are nearly the same, of each kind; in which one size is tiny.
MOST_NEAR, MOST_THIN = 6, 8
# A grid has no more blocks than this in y and z, and a block's registers hold 4096 of a row.
MOST_BLOCKS, MOST_HELD = 65535, 4096
# What holds no more of a row: a place of 8 bits, a block's threads, shared memory that is not
# asked for, all that there is of it, and a byte each of that. Each and a little more, in whole
# words: some ways are gone for those only. What is so many times as long as any declared size is
# a limit that a kernel may have: a row in shared memory is no fault.
CAPACITIES = (256 + 64, 1024 + 64, 49152 // 4 + 64, 232448 // 4 + 64, 232448 + 64)
TIMES_LONGER = 16


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
    found = next((size for size in near[:MOST_STEPS] if _awkward(size)), None)
    return _prime_below(value) if found is None else found


def undeclared(
    work: Work, limit: int, most_elements: int = 1 << 20, large: int = 0, between: int = 0
) -> tuple[CaseSpec, ...]:
    """Return undeclared cases around declared ones, unlike each other, cheap first.

    `limit` around the smallest, whose buffers hold `most_elements` values at most: one whole-number
    case variable moves at a time; radii at zero. And `large` beside the largest, where all of them
    move, too: what is right for a thousand elements and for the declared million may be wrong for
    one more. Last, each variable far beyond its largest, the others small: what keeps a row in a
    block's threads, registers or shared memory holds so much and no more. Where it is small itself,
    as a stride is, the others stay as large as they may: of small images a wide filter leaves
    nothing. `between`: so many of each variable between its smallest and largest, where a kernel
    may change its way, and all of them at two.
    """
    found = _Cases(work)
    base = min(
        (case for case in work.cases if elements(work, case.values) > 64),
        key=lambda case: elements(work, case.values),
        default=work.cases[0],
    )
    turns = [(name, _near(int(base.values[name]))) for name in _movable(work, base)]
    left = limit
    for _ in range(8):
        for name, near in turns:
            value = next(near)
            changed = {**base.values, name: float(value)}
            if left and value >= 1 and found.take(changed, most_elements):
                left -= 1
    for name in _radii(work, base):
        found.take({**base.values, name: 0.0}, most_elements)
    if between:
        found.take({**base.values, **dict.fromkeys(_movable(work, base), 2.0)}, most_elements)
    every = [case for case in work.cases if elements(work, case.values) > 0]
    fit = [case for case in every if elements(work, case.values) <= LARGEST]
    top = max(fit, key=lambda case: elements(work, case.values), default=base)
    if fit and large:
        left = large
        for changed in _beside(top.values, _movable(work, top)):
            if left and found.take(changed, 2 * LARGEST):
                left -= 1
    if every and large:
        _further(found, (base, top), every, most_elements, between)
    return tuple(found.taken)


class _Cases:
    """Gathers cases that nobody declared, each once."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.taken: list[CaseSpec] = []
        self._known = [dict(case.values) for case in work.cases]

    def take(self, changed: dict[str, float], most: int) -> bool:
        """Take a case of so many elements at most; tell whether it is taken.

        What is longer than a candidate has to be right for is as long as that.
        """
        changed = promised(self.work, changed)
        fit = min(changed.values(), default=0) >= 0 and 0 < elements(self.work, changed) <= most
        if fit and changed not in self._known:
            self._known.append(changed)
            self.taken.append(CaseSpec(changed, timed=False))
            return True
        return False


def _further(
    found: _Cases,
    base_and_top: tuple[CaseSpec, CaseSpec],
    every: list[CaseSpec],
    most_elements: int,
    between: int,
) -> None:
    """Take each variable between its declared values and far beyond them."""
    work, (base, top) = found.work, base_and_top
    for name in _movable(work, top)[:MOST_LONG]:
        # Of a case that is too large itself, each variable may still be as large.
        values = [int(case.values.get(name, 0)) for case in every]
        for middle in _between(min(values), max(values), between):
            found.take({**base.values, name: middle}, most_elements)
        value = max(values)
        tried = [base.values, _at_most(FEW, work, base), _at_most(2.0, work, base)]
        if value <= SMALL:
            # As large as they may be, or all but one: it may be a length that is looked
            # back over, and several blocks of it are wanted.
            others = [k for k in _movable(work, top) if top.values[k] > SMALL]
            tried = [top.values, *({**top.values, k: FEW} for k in others), *tried]
        least = value
        for long in far_beyond(value):
            if any(found.take({**other, name: long}, most_elements) for other in tried):
                least = int(long)
        if not families.captured_work(work):
            # Where that is too much, as of a table of all pairs, the longest that is not.
            shorter = [one for one in reversed(capacities(value)) if least < one < long]
            any(
                found.take({**other, name: float(one)}, most_elements)
                for one in shorter
                for other in tried
            )
        if value > LARGEST and _sizes_nothing(work, base, name):
            # The last is a prime, and nothing modulo itself: the one before is the largest then.
            for end in (2**31 - 1, 2**31 - 2):
                found.take({**base.values, name: float(end)}, most_elements)


def scattered(
    work: Work,
    seed: int,
    count: int,
    most_elements: int = 1 << 16,
    *,
    times: int = 1,
    parts: Sequence[int] = (1, 4, 32),
) -> list[CaseSpec]:
    """Return cases in which every variable is drawn by itself, from one to its largest or beyond.

    Some faults need two sizes at a time: columns that no vector divides in a matrix that one does,
    a band of one, a length of whole warps. A third are multiples of 32, a third of four, unless
    other `parts` are given. What is no size, as a flag, is one of those declared.
    """
    first = work.cases[0].values
    top = {name: times * int(largest(work, name)) for name in _movable(work, work.cases[0])}
    flags = {
        name: sorted({case.values[name] for case in work.cases if name in case.values})
        for name in first.keys() - top.keys()
    }
    if len(top) < 2:
        return []
    rng = stream(seed, "scattered")
    found: list[CaseSpec] = []
    for _ in range(20 * count):
        drawn = {name: _drawn(most, rng, parts) for name, most in top.items()}
        drawn |= {name: float(rng.choice(flags[name])) for name in sorted(flags)}
        case = CaseSpec({**first, **drawn}, timed=False)
        known = any(dict(case.values) == dict(other.values) for other in (*work.cases, *found))
        if not known and 0 < elements(work, case.values) <= most_elements:
            found.append(case)
        if len(found) == count:
            break
    return found


def drawn(work: Work, seed: int, count: int, most_elements: int = 1 << 17) -> list[CaseSpec]:
    """Return more cases whose sizes are drawn, in whole parts of what hand-made kernels work in.

    Parts of 16 to 1024 elements, odd numbers of them and even ones; a quarter as they come.
    Of two sizes or more, one in five times one is as large as another. What is no size stays.
    """
    first = min(work.cases, key=lambda case: elements(work, case.values))
    names = [name for name in _movable(work, first) if not _sizes_nothing(work, first, name)]
    wide = {name: most for name in names if (most := int(largest(work, name))) > SMALL}
    rng = stream(seed, "drawn")
    found: list[CaseSpec] = []
    known = [dict(case.values) for case in work.cases]
    for _ in range(20 * count if wide else 0):
        case = dict(first.values)
        for name, most in wide.items():
            case[name] = _drawn(most, rng, PARTS)
        if len(wide) > 1 and rng.random() < EQUAL:
            one, other = rng.choice(sorted(wide), 2, replace=False)
            case[one] = min(case[other], float(wide[one]))
        if case not in known and 0 < elements(work, case) <= most_elements:
            known.append(case)
            found.append(CaseSpec(case, timed=False))
        if len(found) == count:
            break
    return found


def thin(work: Work, most_elements: int = 1 << 20) -> list[dict[str, float]]:
    """Return cases with one size of two, or of three, and the others as large as they may be.

    Of short rows there are many that are unlike and have the same sum, or the same hash: where both
    sizes are small there are too few of them, and where both are large they are too long.
    """
    every = sorted((case.values for case in work.cases), key=lambda case: -elements(work, case))
    found: list[dict[str, float]] = []
    for name, short in itertools.product(sizing(work), (2.0, 3.0)):
        tried = ({**case, name: short} for case in every if case.get(name, 0.0) > short)
        fit = next((one for one in tried if 0 < elements(work, one) <= most_elements), None)
        # Of a single size no other is large.
        if fit is not None and len(found) < MOST_THIN and max(fit.values()) > SMALL:
            found.append(fit)
    return found


def near_pairs(work: Work, seed: int) -> list[CaseSpec]:
    """Return cases in which two variables are nearly the same: a range of one to three, a full one.

    Both are values that are passed and size nothing, as bounds are, or the second one is a size.
    Apart by chance they are far apart.
    """
    least = min(work.cases, key=lambda case: elements(work, case.values))
    names = [name for name in _movable(work, least) if least.values[name] > SMALL // 4]
    bounds = [name for name in names if _sizes_nothing(work, least, name)]
    rng = stream(seed, "near")
    found: list[CaseSpec] = []
    for first, second in itertools.permutations(bounds, 2):
        for apart in range(1, 4) if len(found) < MOST_NEAR else ():
            most = int(least.values[second]) - apart
            low = float(int(rng.integers(0, max(1, most // 2))) * 2 + 1)
            found.append(CaseSpec({**least.values, first: low, second: low + apart}, timed=False))
    for name, size in itertools.product(bounds, names):
        if size not in bounds and len(found) < 2 * MOST_NEAR:
            same = promised(work, {**least.values, name: least.values[size]})
            found.append(CaseSpec(same, timed=False))
    known = [dict(case.values) for case in work.cases]
    return [case for case in found if dict(case.values) not in known]


def _drawn(most: int, rng: np.random.Generator, parts: Sequence[int] = (1, 4, 32)) -> float:
    """Draw a size up to one, small ones as often as large ones, mostly of whole parts."""
    size = int(np.exp(rng.uniform(0.0, np.log(most + 1))))
    multiple = int(rng.choice(parts))
    return float(min(most, -(-size // multiple) * multiple)) if size > 1 else 1.0


def whole_words(
    work: Work, values: Mapping[str, float], most_elements: int, most: int = 4
) -> list[dict[str, float]]:
    """Return cases near to one in which sizes are multiples of 32: all of them, then each alone.

    Sizes up to `SMALL` (strides, radii) stay. `most` cases at most, of so many elements. Behind
    them, for up to two variables, one that is as large as it may be: blocks that take a row after
    the other come to their second. And radii of zero.
    """
    names = [k for k in _movable(work, CaseSpec(values)) if values[k] > SMALL]
    whole = {name: float(-(-int(values[name]) // 32) * 32) for name in names}
    tried = [{**values, **whole}, *({**values, name: whole[name]} for name in names)]
    found: list[dict[str, float]] = []
    for case in tried:
        fits = 0 < elements(work, case) <= most_elements
        if fits and case != dict(values) and case not in found:
            found.append(case)
    few = _at_most(FEW, work, CaseSpec(values))
    wide = [k for k in _movable(work, CaseSpec(values)) if largest(work, k) > SMALL]
    long = (_as_long(work, few, name, most_elements) for name in wide[:2])
    radii = [{**values, name: 0.0} for name in _radii(work, CaseSpec(values))]
    fit = [case for case in radii if elements(work, case) <= most_elements]
    return [*found[:most], *(case for case in long if case is not None), *fit[:2]]


def largest(work: Work, name: str) -> float:
    """Return the largest declared value of a variable."""
    return max(case.values.get(name, 0.0) for case in work.cases)


def promised(work: Work, values: Mapping[str, float]) -> dict[str, float]:
    """Return a case with no variable longer than a candidate has to be right for, nor even there.

    Numbers of its text that are further out are for others (`thresholds`, `distant`).
    """
    most = {name: TIMES_LONGER * largest(work, name) for name in values}
    return {k: most[k] - 1 if v > most[k] > 0 else v for k, v in values.items()}


def _as_long(
    work: Work, values: dict[str, float], name: str, most_elements: int
) -> dict[str, float] | None:
    """Return a case with one variable as large as so many elements allow; None where it is flat."""

    def exceeds(size: int) -> bool:
        return not 0 < elements(work, {**values, name: float(size)}) <= most_elements

    low = least_above(int(values[name]), most_elements, exceeds) - 1
    if not LEAST_LONG <= low <= FLAT:
        return None
    return promised(work, {**values, name: float(low)})


def least_above(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the least number above `low` for which something holds, as it does for `high`.

    What holds for a number holds for all above it. `high` itself is not asked about.

    >>> least_above(3, 1000, lambda n: n * n > 50)
    8
    """
    between = range(low + 1, max(low + 1, high))
    return low + 1 + bisect.bisect_left(between, x=True, key=holds)


def _between(least: int, most: int, count: int) -> Iterator[float]:
    """Yield so many sizes between two that are far apart, by equal factors.

    Each is the next that is odd and awkward.
    """
    least = 2 * SMALL if least == most else max(1, least)
    if most < 4 * least:
        return
    for number in range(1, count + 1):
        size = int(least * (most / least) ** (number / (count + 1))) | 1
        near = range(size, most, 2)[:MOST_STEPS]
        yield float(next((one for one in near if _awkward(one)), size))


def _radii(work: Work, case: CaseSpec) -> list[str]:
    """Return variables that widen a buffer on both sides and may be zero: a radius, a padding.

    All buffers have elements without them, too. A stride of zero would be divided by, or never come
    to an end; so might a window of nothing, which widens a buffer on one side (`n + w - 1`).
    """
    found = []
    for name in _movable(work, case):
        none = {**case.values, name: 0.0}
        if not _sizes_nothing(work, case, name) and elements(work, none) > 0:
            if not _on_both_sides(work, name):
                continue
            pointers = [a for a in work.arguments if a.type.pointer]
            found += [name] if all(a.elements(none) > 0 for a in pointers) else []
    return found


def _on_both_sides(work: Work, name: str) -> bool:
    """Tell whether a shape holds a variable twice: `2*k+1`, `h+p+p`."""
    one = re.escape(name)
    twice = re.compile(rf"\b2\s*\*\s*\(?\s*{one}\b|\b{one}\s*\*\s*2\b|\b{one}\s*\+\s*{one}\b")
    return any(twice.search(a.shape or "") for a in work.arguments if a.type.pointer)


def sizing(work: Work) -> list[str]:
    """Return the variables by which buffers grow, of the largest case that has any."""
    top = max(work.cases, key=lambda case: elements(work, case.values))
    return [name for name in _movable(work, top) if not _sizes_nothing(work, top, name)]


def even(work: Work, case: Mapping[str, float]) -> dict[str, float]:
    """Return a case with each size that is not small as the power of two that is nearest to it."""
    names = [name for name in sizing(work) if case.get(name, 0.0) > SMALL]
    return {**case, **{name: 2.0 ** round(math.log2(case[name])) for name in names}}


def changing(work: Work) -> list[str]:
    """Return the variables that may have other values, buffers grow by them or not."""
    return _movable(work, max(work.cases, key=lambda case: elements(work, case.values)))


def few_others(work: Work, name: str) -> Iterator[dict[str, float]]:
    """Yield cases in which all variables but one are small; last as they are in the smallest."""
    least = min(work.cases, key=lambda case: elements(work, case.values))
    yield _at_most(FEW, work, least)
    yield _at_most(2.0, work, least)
    if largest(work, name) <= SMALL:
        yield dict(least.values)


def light_with(work: Work, name: str, size: int) -> dict[str, float] | None:
    """Return the case of that size whose others are most like declared ones; None if all are large.

    What is light comes first: of many small runs each has other contents.
    """
    if size > TIMES_LONGER * largest(work, name):
        return None
    least = min(work.cases, key=lambda case: work.elements(case.values)).values
    tried = [{**others, name: float(size)} for others in (least, *few_others(work, name))]
    for most in (LIGHT_ELEMENTS, LIGHTER_THAN):
        for case in tried:
            if 0 < elements(work, case) <= most:
                return case
    return None


def with_rows(
    work: Work, shapes: Iterable[str], lengths: Iterable[int], few: float, most_elements: int
) -> list[dict[str, float]]:
    """Return cases with rows of each length, for each variable of one, and few of all else.

    Rows are the last factor of a shape, and no longer than a candidate has to be right for.
    """
    top = max((case.values for case in work.cases), key=work.elements)
    wanted = list(lengths)
    found: list[dict[str, float]] = []
    for shape in shapes:
        *_, last = factors(shape)
        for name in sorted(names(last) & {*changing(work)}):
            others = {one: min(few, top[one]) for one in sizing(work) if one != name}
            for length in wanted:
                case = {**top, **others, name: float(length)}
                fits = length <= TIMES_LONGER * largest(work, name)
                if fits and case not in found and 0 < work.elements(case) <= most_elements:
                    found.append(case)
    return found


def _sizes_nothing(work: Work, case: CaseSpec, name: str) -> bool:
    """Tell whether a variable is a value that is passed, by which no buffer grows."""
    other = {**case.values, name: case.values[name] + 1}
    return elements(work, other) == elements(work, case.values)


def _at_most(limit: float, work: Work, case: CaseSpec) -> dict[str, float]:
    movable = _movable(work, case)
    return {k: min(v, limit) if k in movable else v for k, v in case.values.items()}


def far_beyond(value: int) -> tuple[float, ...]:
    """Return lengths beyond what a kernel made for a value is likely to have room for.

    As far as one has to be right, and no even number there.

    >>> far_beyond(500), far_beyond(128), far_beyond(3)
    ((2001.0, 4165.0), (513.0, 2047.0), (13.0, 47.0))
    """
    long = (4 if value <= LONG else 2) * value + 1
    limit = ROOM if value <= SMALL else MOST_HELD if value <= MOST_HELD else MOST_BLOCKS
    # A few more than the limit: what is cut off is then no single element, and where a thread has
    # sixteen at a time, or a warp one each, there is one more turn.
    more = min(limit + (5 if limit == ROOM else 69), TIMES_LONGER * value - 1)
    return (float(long),) if long > limit else (float(long), float(more))


def capacities(value: float) -> list[int]:
    """Return the lengths beyond a value at which kernels run out of room."""
    return [one for one in CAPACITIES if value < one <= TIMES_LONGER * value]


def _movable(work: Work, case: CaseSpec) -> list[str]:
    return [
        name
        for name, value in case.values.items()
        if name in work.variables and float(value).is_integer() and value >= 2
    ]


def _beside(values: Mapping[str, float], names: list[str]) -> Iterator[dict[str, float]]:
    """Yield neighbours of a large case, all variables at a time and one at a time.

    The nearest odd sizes, odd multiples of 64, one less than multiples of 128, sizes a little and
    half as large again, awkward ones, primes.
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


def elements(work: Work, case: Mapping[str, float]) -> int:
    """Return the elements of all buffers of a case; -1 when a shape has no value there."""
    try:
        return work.elements(case)
    except ValueError:
        return -1


def largest_buffer(work: Work, case: Mapping[str, float]) -> int:
    """Return the elements of the largest buffer of a case."""
    return max((buffer(a, case) for a in work.arguments if a.type.pointer), default=0)


def buffer(argument: Argument, case: Mapping[str, float]) -> int:
    """Return the elements of one buffer of a case; 0 when its shape has no value there."""
    try:
        return argument.elements(case)
    except ValueError:
        return 0
