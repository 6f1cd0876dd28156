"""Cases in which loops of a candidate's own text go round three times, where none else does so.

`for (m0 = 0; m0 < months; m0 += 256)` has one turn for 120 months, and as long as there is one, no
barrier is missed between two. How far a turn goes is told by what a text adds to a place that it
compares, or divides by. Cases that are asked anyway have more turns than that; delays and
compute-sanitizer look at few of them. It is a guess about strangers' text: it never raises, and a
number that is no turn's costs a case.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from runners import gates, sizes, trees
from runners.contents import Combination
from runners.expressions import ExpressionError, count
from runners.families import captured_work
from runners.full_grids import FAMILIES
from runners.spec import MOVED, JobSpec
from runners.text import LONGEST, NAME, Text, integer
from runners.trees import Node

# How far a turn goes; of less than a warp there are many turns anywhere. Turns behind the first
# that are wanted: what is late in one is overtaken in the next, or in the one behind that.
LEAST_STEP, MOST_STEP, BEHIND = 32, 2048, 2
# Cases of a candidate; what other sizes are at least, since one row of two has little to get wrong.
MOST_CASES, LEAST_OTHER = 3, 8.0
# What the original may take (s) where tools look that are a thousand times slower.
WATCHED_SECONDS = 5e-3
# Threads of a block at most, and what is read of a text.
_MOST_THREADS, _MOST_READ, _TOO_LARGE = 1024, 2000, 1 << 40
_ORDERS = frozenset({"<", "<=", ">", ">=", "!="})
_ENDS = frozenset({";", ",", "?", ":", "{", "}", ""})
_MADE: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left // right if right else 0,
    "<<": lambda left, right: left << right if 0 <= right < 32 else 0,
    ">>": lambda left, right: left >> right if 0 <= right < 64 else 0,
}


def longer(
    job: JobSpec, fit: Sequence[Combination], others: Sequence[Combination]
) -> list[Combination]:
    """Return those of what fits in which a loop goes round along a size as in none of the others.

    One for each size, a few at most: the lightest, but for what has next to nothing beside it.
    """
    if captured_work(job.work):
        return []
    every, found = steps(job), list[Combination]()
    plain = [one for one in fit if one.family in FAMILIES and MOVED not in one.case]

    def rank(one: Combination, name: str) -> tuple[bool, int]:
        others = (size for size in sizing if size != name)
        thin = any(one.case[size] < min(LEAST_OTHER, least[size]) for size in others)
        return thin, job.work.elements(one.case)

    sizing = sizes.sizing(job.work)
    least = {name: min(case.values[name] for case in job.work.cases) for name in sizing}
    for name in sizing[: sizes.MOST_LONG]:
        for step in every:
            if any(_turns(one, name, step) > BEHIND for one in (*others, *found)):
                break
            fresh = [one for one in plain if _turns(one, name, step) > BEHIND]
            if fresh:
                found.append(min(fresh, key=lambda one: rank(one, name)))
                break
    return found[:MOST_CASES]


def _turns(one: Combination, name: str, step: int) -> float:
    return one.case.get(name, 0.0) / step


def shared(job: JobSpec) -> bool:
    """Tell whether a candidate's own text has shared memory, which racecheck looks at."""
    return "__shared__" in job.kernel.source


def steps(job: JobSpec) -> tuple[int, ...]:
    """Return how far turns of a candidate's loops go, the farthest first."""
    launch = job.kernel.launch or job.work.launch
    threads = []
    for entry in launch.block if launch is not None else ():
        try:
            threads.append(count(entry, job.work.cases[0].values))
        except ExpressionError:
            return _steps(job.kernel.source, ())
    return _steps(job.kernel.source, tuple(threads))


@lru_cache(maxsize=8)
def _steps(source: str, threads: tuple[int, ...]) -> tuple[int, ...]:
    """Return the steps of a text, whose blocks have so many threads in each way, if that is known.

    >>> text = "for (int m = 0; m < n; m += 2 * T) f(n / 64); const int T = 128;"
    >>> _steps(text, ()), _steps("while (at < n) { g(); at += blockDim.x; }", (96,))
    ((256, 64), (96,))
    """
    if len(source) > LONGEST:
        return ()
    names = {"warpSize": 32, **gates.named(source)}
    names |= {f"blockDim.{way}": size for way, size in zip("xyz", threads, strict=False)}
    text = Text(source, macros=True)
    moved = [_value(node, names) for node in _moved(text)]
    found = {value for value in (*moved, *_parts(text, names)) if value is not None}
    if None in moved:
        # A template's parameter, or the threads of a block: one of the text's own numbers.
        usual = {*gates.numbers(source).every, math.prod(threads)}
        found.add(max((n for n in usual if n % 32 == 0 and n <= _MOST_THREADS), default=0))
    return tuple(sorted((n for n in found if LEAST_STEP <= n <= MOST_STEP), reverse=True))


def _moved(text: Text) -> Iterator[Node | None]:
    """Yield what is added to places that are compared; None where that is not read."""
    words, read = text.tokens, 0
    loops = {words[at - 1] for at in range(1, text.count) if words[at] in _ORDERS}
    for at in range(1, text.count):
        name = words[at - 1]
        again = words[at] == "=" and words[at + 1 : at + 3] == [name, "+"]
        if name not in loops or not NAME.fullmatch(name) or not (again or words[at] == "+="):
            continue
        begin = end = at + (3 if again else 1)
        while end < text.count and words[end] not in _ENDS and end not in text.opened:
            end = text.closed.get(end, end) + 1
        yield trees.read(words[begin:end])
        read += 1
        if read == _MOST_READ:
            return


def _parts(text: Text, names: Mapping[str, int]) -> Iterator[int | None]:
    """Yield constants that something is divided by."""
    words = text.tokens
    for at in [at for at in range(text.count) if words[at] in {"/", ">>"}][:_MOST_READ]:
        end = text.closed.get(at + 1, at + 1) + 1
        node = trees.read(words[at + 1 : end])
        value = None if node is None else _value(node, names)
        if value is not None and words[at] == ">>":
            value = 1 << value if 0 < value < 32 else None
        yield value


def _value(node: Node | None, names: Mapping[str, int]) -> int | None:
    """Return what a constant expression is; None for what is none."""
    if node is None:
        return None
    if node.kind == "number":
        return integer(node.word)
    if node.kind == "name":
        return names.get(node.word)
    if node.kind == "member":
        return names.get(f"{node.parts[0].word}.{node.word}")
    if node.kind == "cast" and len(node.parts) == 1:
        return _value(node.parts[0], names)
    make = _MADE.get(node.word) if node.kind == "binary" else None
    if make is None:
        return None
    left, right = (_value(part, names) for part in node.parts)
    return None if left is None or right is None else min(make(left, right), _TOO_LARGE)
