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
LEAST_STEP, MOST_STEP, FARTHEST, BEHIND = 32, 2048, 1 << 20, 2
# Cases of a candidate; what other sizes are at least, since one row of two has little to get wrong.
MOST_CASES, LEAST_OTHER = 3, 8.0
# What the original may take (s) where tools look that are a thousand times slower.
WATCHED_SECONDS = 5e-3
# Threads of a block at most, and what is read of a text.
_MOST_THREADS, _MOST_BLOCKS, _MOST_GRIDS = 1024, 8192, 12
_MOST_READ, _MOST_BESIDE, _TURNS, _TOO_LARGE = 2000, 32, 2, 1 << 40
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
    job: JobSpec,
    fit: Sequence[Combination],
    others: Sequence[Combination],
    most: int = MOST_STEP,
) -> list[Combination]:
    """Return those of what fits in which a loop goes round along a size as in none of the others.

    One for each size, a few at most: the lightest, but for what has next to nothing beside it. For
    turns that go no farther than `most`.
    """
    if captured_work(job.work):
        return []
    every, found = [step for step in steps(job) if step <= most], list[Combination]()
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
            threads.clear()
            break
    return _steps(job.kernel.source, tuple(threads), job.work.kind == "entry")


@lru_cache(maxsize=8)
def _steps(source: str, threads: tuple[int, ...], hosted: bool = False) -> tuple[int, ...]:
    """Return the steps of a text, whose blocks have so many threads in each way, if that is known.

    Where it launches by itself, a grid that has an end has as many blocks as one of its numbers
    says; of others `runners.full_grids` knows more.

    >>> text = "for (int m = 0; m < n; m += 2 * T) f(n / 64); const int T = 128;"
    >>> _steps(text, ()), _steps("while (at < n) { g(); at += blockDim.x; }", (96,))
    ((256, 64), (96,))
    """
    if len(source) > LONGEST:
        return ()
    text, numbers = Text(source, macros=True), gates.numbers(source).every
    # A template's parameter, or the threads of a block: one of the text's own numbers.
    usual = {n for n in (*numbers, math.prod(threads)) if n % 32 == 0 and n <= _MOST_THREADS}
    names = {"warpSize": 32, **gates.named(source)}
    names |= {f"blockDim.{way}": size for way, size in zip("xyz", threads, strict=False)}
    found = {one for one in _parts(text, names) if one is not None}
    grids = sorted((n for n in numbers if hosted and n <= _MOST_BLOCKS), reverse=True)
    block = {f"blockDim.{way}": max(usual, default=0) for way in "xyz"}
    guesses = [{f"gridDim.{way}": blocks for way in "xyz"} for blocks in grids[:_MOST_GRIDS]]
    meant = dict(_meant(text))
    plain = _known(names, meant)
    others = [_known({**block, **names, **one}, meant) for one in guesses]
    for node in _moved(text):
        value = _value(node, plain)
        every = [value] if value is not None else [_value(node, one) for one in others]
        found.update(one or 0 for one in every)
        found.add(max(usual, default=0) if value is None else 0)
    return tuple(sorted((n for n in found if LEAST_STEP <= n <= FARTHEST), reverse=True))


def _meant(text: Text) -> Iterator[tuple[str, Node]]:
    """Yield names that are made of a grid's and a block's sizes, and what they stand for."""
    words = text.tokens
    places = [at for at in range(text.count) if words[at] in {"gridDim", "blockDim"}]
    for at in places[:_MOST_READ]:
        begin, end = at, at
        while begin > max(0, at - _MOST_BESIDE) and words[begin] not in {"=", *_ENDS}:
            begin -= 1
        while end < at + _MOST_BESIDE and words[end] not in _ENDS:
            end += 1
        node = trees.read(words[begin + 1 : end]) if words[begin] == "=" else None
        if node is not None:
            yield words[begin - 1], node


def _known(names: Mapping[str, int], meant: Mapping[str, Node]) -> dict[str, int]:
    """Return what names stand for, those among them that are made of others."""
    known = dict(names)
    for _ in range(_TURNS):
        values = {name: _value(node, known) for name, node in meant.items() if name not in known}
        known |= {name: value for name, value in values.items() if value is not None}
    return known


def _moved(text: Text) -> Iterator[Node | None]:
    """Yield what is added to places that are compared; None where that is not read."""
    words, read = text.tokens, 0
    loops = {words[at + by] for at in range(text.count) if words[at] in _ORDERS for by in (-1, 1)}
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
        value = _value(node, names)
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
