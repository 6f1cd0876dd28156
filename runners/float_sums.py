"""Whether an original adds floats, as far as its own text tells.

A sum of numbers near the largest may be infinite in the middle and a number in the end, or the
other way round, by the order it is taken in; a scan in parts is right code and has another order.
A product with one factor has none. So such numbers are asked only of originals in whose text each
sum and difference is of whole numbers or of a pointer. It is a guess about strangers' text: it
never raises, and takes what it cannot read for a sum of floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from runners import flow
from runners.flow import FUSED, Key, Program
from runners.text import LONGEST, plain_name
from runners.trees import FLOAT, WHOLE, Node

MOST_FUNCTIONS = 64
_SIGNS, _MORE = frozenset({"+", "-"}), frozenset({"+=", "-="})
_PLACES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
_COUNT = re.compile(r"0[xX][\da-fA-F']+[uUlL]*|[\d']+[uUlLzZ]*|sizeof|true|false|'.*", re.ASCII)
_CHOOSES = frozenset({"min", "max", "abs"})
# Calls that add: intrinsics, atomics, and what tensor cores do.
_ADDS = re.compile(
    r"__[fdh]?(?:add|sub|fma)\w*|fma[fl]?|fdim[fl]?|r?(?:norm|hypot)\w*|atomic(?:Add|Sub)\w*|mma_\w+"
    r"|reduce\w*|(?:in|ex)clusive_\w+|accumulate|sum",
    re.ASCII | re.IGNORECASE,
)


def adds(source: str, symbol: str) -> bool:
    """Tell whether a function, or what it names, may add floats or take one from another.

    >>> adds("void f(float* x, int n) { for (int i = 0; i + 1 < n; ++i) x[i + 1] *= 2.f; }", "f")
    False
    >>> adds("void f(float* x, int n) { for (int i = 1; i < n; ++i) x[i] += x[i - 1]; }", "f")
    True
    """
    plain = plain_name(symbol)
    return not plain or len(source) > LONGEST or _adds(source, plain)


@lru_cache(maxsize=64)
def _adds(source: str, symbol: str) -> bool:
    program = flow.program(source)
    if program.too_long or symbol not in program.by_name:
        return True
    macros = _macros(program)
    return any(
        _sums(program, place) or any(one.names & macros for one in program.functions[place].body)
        for place in _reached(program, symbol)
    )


def _macros(program: Program) -> frozenset[str]:
    """Return the macros in which a sum may stand; a number with a sign is none."""
    tokens = program.text.tokens
    return frozenset(
        name
        for name, begin, end in program.text.macros
        if end - begin > 2 and {*tokens[begin:end]} & (_SIGNS | _MORE)
    )


def _reached(program: Program, symbol: str) -> Iterator[int]:
    """Yield the functions of a name, and those that they name."""
    waiting, known = [symbol], {symbol}
    for name in waiting:
        for place in program.by_name[name]:
            yield place
            for one in program.functions[place].body:
                named = sorted(one.names & program.by_name.keys() - known)
                waiting += named
                known.update(named)


def _sums(program: Program, place: int) -> bool:
    """Tell whether a function's own body may add floats."""
    for one in program.functions[place].body:
        if one.node is None:
            return True  # What is not read may be anything.
        for node in flow.nodes(one.node):
            if node.kind == "binary" and node.word in _SIGNS:
                pair = node.parts
            elif node.kind == "assign" and node.word in _MORE:
                pair = node.parts[:1]
            elif node.kind == "call" and node.word not in program.by_name and _adding(node.word):
                return True
            else:
                continue
            if not any(_points(program, place, part) for part in pair) and not all(
                _whole(program, place, part) for part in pair
            ):
                return True
    return False


def _adding(word: str) -> bool:
    return word in FUSED or _ADDS.fullmatch(word) is not None


def _points(program: Program, place: int, node: Node) -> bool:
    """Tell whether an operand is a pointer, which is moved on by a whole number."""
    if node.kind == "cast":
        return "*" in node.word
    if node.kind == "binary" and node.word in _SIGNS:
        return any(_points(program, place, part) for part in node.parts)
    variable = program.variables.get((place, node.word)) if node.kind == "name" else None
    return variable is not None and variable.pointer


def _whole(program: Program, place: int, node: Node) -> bool:
    """Tell whether an expression is a whole number for sure."""
    if node.kind == "number":
        return _COUNT.fullmatch(node.word) is not None
    if node.kind == "name":
        return node.word in _PLACES or _named(program, (place, node.word))
    if node.kind == "order" or (node.kind, node.word) == ("unary", "!"):
        return True
    if node.kind == "cast":
        words = node.word.split()
        return any(map(WHOLE.fullmatch, words)) and not any(map(FLOAT.fullmatch, words))
    if node.kind in {"index", "member", "unary"}:
        return _whole(program, place, node.parts[0])
    if node.kind == "binary":
        logical = node.word in {"&&", "||", "==", "!="}
        return logical or all(_whole(program, place, part) for part in node.parts)
    if node.kind in {"select", "assign"} or (node.kind == "call" and node.word in _CHOOSES):
        parts = node.parts[1:] if node.kind == "select" else node.parts
        return bool(parts) and all(_whole(program, place, part) for part in parts)
    return False


def _named(program: Program, key: Key) -> bool:
    variable = program.variables.get(key)
    return variable is not None and variable.whole and not variable.spoilt
