"""Where a candidate's way of counting or of launching comes to an end, by size alone.

A grid has 65,535 blocks in y and z and two thousand million in x, so that what stands in a column
fails where what stands in a row does not (`runners.outgrown`). A float holds every whole number up
to 2²⁴ only: an index that was one skips some. Where that is within so many times the declared as a
candidate has to be right (decision 8), it is run there.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from runners import sizes
from runners.sizes import TIMES_LONGER
from runners.spec import Work
from runners.text import LONGEST, ValuedText

# Elements of all buffers of such a case: three of them that are somewhat more than are counted.
MOST_ELEMENTS = 13 << 22
# From here on a float no longer holds every whole number.
EXACT_FLOATS = 1 << 24
_COUNTS_IN_FLOATS = re.compile(r"\bcvt\.r[nzmp]i?(?:\.ftz)?\.f32\.([us](?:32|64))\b")
# What host code gives a grid its other directions by.
_DIM, _MEMBERS = "dim3", frozenset("yz")

Case = Mapping[str, float]


def grids(source: str) -> frozenset[str]:
    """Return, as words, how grids or blocks of several directions are made in a text."""
    if len(source) > LONGEST:
        return frozenset()
    text = ValuedText(source)
    found: set[str] = set()
    for at, word in enumerate(text.tokens[: text.count]):
        rest = text.tokens[at : min(text.count, at + 64)]
        if word == _DIM:
            found |= _several(rest)
        elif word in _MEMBERS and at > 1 and text.tokens[at - 1] == "." and rest[1:2] == ["="]:
            found.add(" ".join(itertools.takewhile(lambda one: one != ";", rest)))
    return frozenset(found)


def _several(tokens: Sequence[str]) -> set[str]:
    """Return what stands in brackets behind `dim3` where there is a comma of their own.

    >>> _several("dim3 block ( 64 ) , grid ( 1 , ( n + 63 ) / 64 ) ;".split())
    {'( 1 , ( n + 63 ) / 64 )'}
    >>> _several("dim3 ( max ( n , 64 ) ) , 64 >>> ( x , y ) ;".split())
    set()
    """
    found: set[str] = set()
    at = 0
    while at + 1 < len(tokens):
        begins = at + (1 if tokens[at + 1] in "({" else 2)
        if tokens[begins : begins + 1] not in (["("], ["{"]):
            break
        depth, several, end = 0, False, begins
        for end in range(begins, len(tokens)):
            depth += (tokens[end] in "({") - (tokens[end] in ")}")
            several = several or (tokens[end] == "," and depth == 1)
            if depth == 0:
                break
        if several:
            found.add(" ".join(tokens[begins : end + 1]))
        # Another one that is declared beside it.
        at = end + 1
        if tokens[at : at + 1] != [","]:
            break
    return found


def beyond_floats(work: Work, codes: tuple[str, str]) -> Iterator[dict[str, float]]:
    """Yield a case whose largest buffer has more elements than a float counts one by one.

    Where the candidate's PTX, the first of `codes`, makes floats of whole numbers of some type and
    its original's does not.
    """
    mine, theirs = ({*_COUNTS_IN_FLOATS.findall(code)} for code in codes)
    if not mine <= theirs:
        yield from beyond_count(work)


def beyond_count(work: Work, count: int = EXACT_FLOATS) -> Iterator[dict[str, float]]:
    """Yield a case whose largest buffer has more elements than so many.

    By one variable where that suffices, else by two, or all that the buffer grows by: each within
    what is to be done, the others as small as they are declared.
    """
    top = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    names = [name for name in sizes.sizing(work) if grows(work, top, name)]
    small = min(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    rest = {**top, **{name: value for name, value in small.items() if name not in names}}
    few = itertools.chain(*(itertools.combinations(names, many) for many in (1, 2)))
    for together in (*few, tuple(names)):
        for case in ({**top, **_longer(top, together, by)} for by in _growing()):
            if sizes.largest_buffer(work, case) > count:
                break
        else:
            continue
        case = {**rest, **{name: case[name] for name in together}}
        if sizes.largest_buffer(work, case) > count and sizes.elements(work, case) <= MOST_ELEMENTS:
            yield case
            return


def _longer(top: Case, names: tuple[str, ...], by: float) -> dict[str, float]:
    """Return odd sizes, each so many times the declared, or as many as are to be done."""
    return {
        name: float(min(int(top[name] * by) | 1, TIMES_LONGER * int(top[name]))) for name in names
    }


def _growing() -> Iterator[float]:
    """Yield factors up to what a candidate has to be right for, each a hundredth more."""
    steps = math.ceil(math.log(TIMES_LONGER) / math.log(1.01))
    yield from (min(1.01**step, float(TIMES_LONGER)) for step in range(1, steps + 1))


def grows(work: Work, top: Case, name: str) -> bool:
    """Tell whether the largest buffer of a case grows by a variable."""
    longer = {**top, name: 2 * top[name] + 1}
    return sizes.largest_buffer(work, longer) > sizes.largest_buffer(work, top)
