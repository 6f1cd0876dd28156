"""Sizes that a launch or a candidate's own room does not suffice for, where no one side tells them.

A grid of `rows * cols / 64` blocks in y ends where both sides are longer, a grid as large as the
device where it is full, a table of 4096 parts of 2048 elements at eight million. Each is within so
many times the declared as a candidate has to be right (decision 8), and has more elements than
cases of other numbers may have, or more than one variable that is longer. Such cases are large, so
that a text has to give a reason, and one or two of them are asked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from runners import gates, outsized, sizes
from runners.expressions import ExpressionError
from runners.gpu import LaunchError
from runners.launch_limits import SHARED_BYTES, fails
from runners.launchable import geometry
from runners.named import numbers
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec, Launch, Work
from runners.text import LONGEST, NAME, ValuedText

# Elements of all buffers where a launch comes to an end, and where room does.
MOST_ELEMENTS, MOST_ROOM = 9 << 22, 5 << 22
# The least number that is a table's room or a grid's end; what each of it may be of, a block's
# threads and so many elements for each of them; numbers that are looked at.
LEAST_TABLE, LEAST_BLOCK, MOST_BLOCK, MOST_EACH, MOST_NUMBERS = 256, 32, 1024, 1 << 14, 16
# By so small a part sizes are made longer; what is this part of a size stands for it.
STEP, NEARLY = 1.03, 0.9
# What launches host code by other words than a `dim3` of several directions.
_COLUMN = re.compile(
    r"\bmake_(?:uint3|dim3)\b|\bgridDim\s*=|\bcudaLaunchKernel(?:ExC?)?\b|\buint3\b|\bdim3\s+\w+\s*="
    r"|\b(?:gridDim|blockIdx)\s*\.\s*[yz]\b"
)
# Blocks that are to be resident at once, or as many as a device has room for.
_RESIDENT = re.compile(
    r"\bcudaLaunchCooperativeKernel\b|\bthis_grid\b|\w*[mM]ultiProcessorCount\b"
    r"|\bcudaOccupancyMaxActiveBlocks\w*|\bwhile\s*\([^;{}]{0,200}\bgridDim\b"
)
# Names in an expression that is the same for all sizes.
_FIXED = frozenset({"sizeof", "float", "int", "unsigned", "double", "char", "size_t", "short"})
# A grid is ended where it is the same for sides a bit shorter and so many times as long.
_ENDED = (0.97, 4096.0)
# What declares an array that stays, and where its size begins, or it is none.
_STAYS = frozenset({"__device__", "__managed__", "__constant__", "static"})
_DECLARED, MOST_DECLARED = frozenset({"[", "(", "=", "{", ";", "__shared__"}), 64
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")
_FACTORS = (*(STEP**turn for turn in range(94)), TIMES_LONGER)
# Products of the lowest 24 bits alone.
_SHORT_PRODUCT = re.compile(r"\b__u?mul24\b")
# Where a number is the end of a grid, or of what is allocated.
_ROOMS = frozenset({"min", "cudaMalloc", "cudaMallocAsync", "cudaMallocManaged"})

Case = Mapping[str, float]


def cases(job: JobSpec, asked: Sequence[Case]) -> Iterator[dict[str, float]]:
    """Yield cases for what comes to its end in none of those that are asked, a few at most."""
    work, mine, theirs = job.work, job.kernel.source, job.baseline.source
    if not sizes.sizing(work) or max(len(mine), len(theirs)) > LONGEST:
        return
    if work.kind == "kernel":
        yield from _launches(job, asked)
    elif work.kind == "entry":
        yield from _hosted(job, asked)
        yield from _rooms(job, asked)
    if _own(_SHORT_PRODUCT, mine, theirs):
        # Where no buffer comes to as many it may still be signed numbers.
        both = (outsized.beyond_count(work, 1 << bits) for bits in (24, 23))
        yield from itertools.islice(itertools.chain(*both), 1)


def _launches(job: JobSpec, asked: Sequence[Case]) -> Iterator[dict[str, float]]:
    """Yield a case in which a launch fails and its original's does not, and one where a grid ends.

    It ends where more elements make no more blocks of it, and somewhat fewer no fewer.
    """
    mine, theirs = job.kernel.launch, job.work.launch
    if mine is None or theirs is None or mine == theirs:
        return
    sides = sizes.sizing(job.work)

    def failing(case: Case) -> bool:
        return bool(fails(mine, case, SHARED_BYTES)) and not fails(theirs, case, SHARED_BYTES)

    def ended(case: Case) -> bool:
        grid = _grid(mine, case)
        beside = (
            {**case, **{k: float(int(case[k] * by)) for k in sides if k in case}} for by in _ENDED
        )
        return grid is not None and all(grid == _grid(mine, other) for other in beside)

    tests = [(failing, MOST_ELEMENTS)]
    if any("min" in text for text in mine.grid) and mine.grid != theirs.grid:
        tests.append((ended, MOST_ROOM))
    for test, most in tests:
        if not any(map(test, asked)):
            yield from itertools.islice(filter(test, _longer(job.work, most)), 1)


def _grid(launch: Launch, case: Case) -> tuple[int, int, int] | None:
    try:
        return geometry(launch, case)[0]
    except (LaunchError, ExpressionError, ValueError):
        return None


def _longer(work: Work, most: int) -> Iterator[dict[str, float]]:
    """Yield cases with one variable longer, then with two, as long as they are to be."""
    names = sizes.sizing(work)[: sizes.MOST_LONG]
    small = dict(min(work.cases, key=lambda case: sizes.elements(work, case.values)).values)
    for name in names:
        for others in (*sizes.few_others(work, name), small):
            case = _grown(work, others, (name,), most)
            if case is not None:
                yield case
    for pair in itertools.combinations(names, 2):
        for others in (*itertools.islice(sizes.few_others(work, pair[0]), 1), small):
            case = _grown(work, others, pair, most)
            if case is not None:
                yield case


def _grown(work: Work, others: Case, names: Sequence[str], most: int) -> dict[str, float] | None:
    """Return a case with some variables as long as they are to be; None where that is too much.

    One less than so many times the declared: what has room for just that is no fault.
    """
    top = {name: int(sizes.largest(work, name)) for name in names}
    found = None
    for by in _FACTORS:
        long = {
            name: float(min(int(size * by), TIMES_LONGER * size - 1)) for name, size in top.items()
        }
        case = {**others, **long}
        if not 0 < sizes.elements(work, case) <= most:
            break
        found = case
    return found


def _full(work: Work, most: int) -> dict[str, float] | None:
    """Return a case in which all that the largest buffer grows by is as long as it is to be."""
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    small = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    names = [name for name in sizes.sizing(work) if outsized.grows(work, top, name)]
    return _grown(work, small, names, most)


def _alone(work: Work, name: str, most: int) -> dict[str, float] | None:
    """Return a case in which one variable is as long as it is to be, and the others are few."""
    every = (_grown(work, one, (name,), most) for one in sizes.few_others(work, name))
    return max((one for one in every if one), key=lambda one: one[name], default=None)


def _hosted(job: JobSpec, asked: Sequence[Case]) -> Iterator[dict[str, float]]:
    """Yield cases as large as they are to be where host code has a way to launch of its own.

    Its launches are not known, but what fails at some size fails at the largest one, too. Where a
    row is to be held in shared memory there is no more of that than `SHARED_BYTES`, so that what is
    longer is asked about anyway.
    """
    work, mine, theirs = job.work, job.kernel.source, job.baseline.source
    alone = [(name, _alone(work, name, MOST_ELEMENTS)) for name in sizes.sizing(work)]
    found: list[dict[str, float]] = []
    several = outsized.grids(mine) - outsized.grids(theirs)
    if several or _own(_COLUMN, mine, theirs) or _own(_RESIDENT, mine, theirs):
        full = _full(work, MOST_ELEMENTS)
        found += [] if full is None else [full]
        found += [one for name, one in alone if one and one[name] > sizes.MOST_BLOCKS]
    if _shared(mine) - _shared(theirs):
        found += [one for name, one in alone if one and one[name] <= SHARED_BYTES]
    known = [*asked]
    for case in found:
        if not any(_stands_for(work, other, case) for other in known):
            known.append(case)
            yield case


def _stands_for(work: Work, other: Case, case: Case) -> bool:
    """Tell whether all that buffers grow by is about as long in another case, or longer."""
    return all(NEARLY * case[name] <= other.get(name, 0.0) for name in sizes.sizing(work))


def _own(pattern: re.Pattern[str], mine: str, theirs: str) -> bool:
    return bool({*pattern.findall(mine)} - {*pattern.findall(theirs)})


def _shared(source: str) -> frozenset[str]:
    """Return what launches of host code ask for as shared memory, where that is no number.

    >>> sorted(_shared("f<<<n, 32, g(m, 4) * 4>>>(x); f<<<n, 32, 0, s>>>(y); f<<<n, 32>>>(z);"))
    ['g ( m , 4 ) * 4']
    """
    text = ValuedText(source)
    found: set[str] = set()
    for at, word in enumerate(text.tokens[: text.count]):
        if word != "<<<":
            continue
        parts: list[list[str]] = [[]]
        depth = 0
        for one in itertools.takewhile(lambda one: one != ">>>", text.tokens[at + 1 : at + 65]):
            depth += (one in _OPENS) - (one in _CLOSES)
            if one == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(one)
        asked = [one for one in parts[2] if NAME.fullmatch(one)] if len(parts) > 2 else []
        if any(one not in text.constants and one not in _FIXED for one in asked):
            found.add(" ".join(parts[2]))
    return frozenset(found)


def _rooms(job: JobSpec, asked: Sequence[Case]) -> Iterator[dict[str, float]]:
    """Yield the case beyond the largest end of a table or a grid that no case is beyond.

    So many parts, of as many elements as two more numbers give a block.
    """
    work, source = job.work, job.kernel.source
    found = sorted(_tables(source) - _tables(job.baseline.source))
    tables = [one for one in found if one >= LEAST_TABLE][-MOST_NUMBERS:]
    if not tables:
        return
    units = {1, *(one.type.size for one in work.arguments if one.type.pointer)}
    rooms = {one // unit for one in tables for unit in units} - {0}
    every = sorted(numbers(source))
    blocks = [one for one in every if LEAST_BLOCK <= one <= MOST_BLOCK][:MOST_NUMBERS]
    parts = {1, *(one * many for one in blocks for many in (1, *every) if one * many <= MOST_EACH)}
    parts |= {one for one in every if LEAST_BLOCK <= one <= MOST_EACH}
    ends = sorted({*rooms, *(one * many for one in tables for many in parts)}, reverse=True)
    told = False
    for name in sizes.sizing(work):
        longest = _alone(work, name, MOST_ROOM)
        known = max((one.get(name, 0.0) for one in asked), default=0.0)
        end = next((one for one in ends if longest and one < longest[name]), 0)
        if longest and end >= known:
            told = True
            yield {**longest, name: float(end + 1)}
    full = None if told else _full(work, MOST_ROOM)
    known = max((sizes.largest_buffer(work, one) for one in asked), default=0)
    if full and any(known <= one < sizes.largest_buffer(work, full) for one in ends):
        yield full


def _tables(source: str) -> frozenset[int]:
    """Return the sizes of arrays that stay, and numbers at which grids and what is allocated end.

    >>> sorted(_tables("__device__ float part[4 * 256]; f<<<min(n, 1056), 64>>>(); char s[99];"))
    [4, 256, 1024, 1056]
    """
    text = ValuedText(source)
    words: list[str] = []
    for at, word in enumerate(text.tokens[: text.count]):
        begin, end = at + 1, 0
        if word in _ROOMS and text.tokens[begin] == "(":
            end = text.close(begin)
        elif word in _STAYS:
            rest = range(begin, min(text.count, at + MOST_DECLARED))
            begin = next((place for place in rest if text.tokens[place] in _DECLARED), at)
            end = text.close(begin) if text.tokens[begin] == "[" else 0
        words += [*text.tokens[begin + 1 : min(end, begin + MOST_DECLARED)], ";"]
    named = {text.constants[word] for word in words if word in text.constants}
    return gates.numbers(" ".join(words)).every | named
