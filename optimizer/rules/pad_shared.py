"""Pad the rows of a shared array so that a column lies in different banks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from optimizer.functions import Function
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span, walk
from optimizer.variables import Variable

_NAME = "pad-shared"
_BANKS = 32
_WORDS = {"float": 1, "int": 1, "unsigned int": 1, "unsigned": 1, "double": 2, "long long": 2}
_SHARED = 48 << 10


def pad_shared(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Lengthen the rows of `s[N][M]` by one element where a warp walks down a column.

    Legal when the array is only ever indexed with all its subscripts, and it still fits.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.conditional:
            continue
        for variable in fn.shared:
            line = _conflict(source, fn, variable)
            edit = _padded(source, variable) if line else None
            if edit is None:
                continue
            yield Edit(
                f"pad the rows of `{variable.name}`",
                source.replace([edit]),
                f"rule:{_NAME}",
                f"In line {line} the threads of a warp touch one column of `{variable.name}`,"
                " which lies in few banks; rows one element longer spread it over all.",
                _NAME,
                1.2,
            )


def _conflict(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return the line of an access in which four threads or more meet in a bank."""
    if len(variable.extents) != 2 or variable.element not in _WORDS or variable.depth:
        return None
    rows, columns = (source.value(text) for text in variable.extents)
    if rows is None or columns is None or fn.unknown_names:
        return None
    size = _WORDS[variable.element]
    others = sum(_bytes(source, v) for v in fn.shared if v is not variable)
    if others + rows * (columns + 1) * size * 4 > _SHARED:
        return None
    own = [a for a in fn.accesses if a.variable is variable]
    uses = [u for u in variable.uses if u.role != "declare"]
    if len(own) != len(uses) or any(len(a.indices) != 2 or a.cast for a in own):
        return None
    found = None
    for access in own:
        down = fn.affine(access.indices[0])
        across = fn.affine(access.indices[1])
        if access.kind == "unknown" or down is None or across is None:
            return None
        step, beside = down.stride("threadIdx.x"), across.stride("threadIdx.x")
        if not step or beside is None:
            continue
        if gcd((step * columns + beside) * size, _BANKS) // size >= 4:
            found = found or access.line
    return found


def _bytes(source: Source, variable: Variable) -> int:
    total = _WORDS.get(variable.element, 4) * 4
    for text in variable.extents:
        total *= source.value(text) or 1
    return total


def _padded(source: Source, variable: Variable) -> Replacement | None:
    """Return the edit of the last extent in an array's declaration."""
    arrays = list(walk(variable.declarator, "array_declarator"))
    outer = arrays[0] if arrays else variable.declarator
    size = outer.child_by_field_name("size")
    if size is None or source.plain(size) != "".join(variable.extents[-1].split()):
        return None
    text = source.of(size)
    return (*span(size), f"{text} + 1")
