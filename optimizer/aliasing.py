"""Whether two pointers of a kernel can share memory, judged by how the file launches it."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.syntax import stripped
from optimizer.variables import Variable


def apart(source: Source, fn: Function, one: Variable, other: Variable) -> bool:
    """Return whether two arrays are seen not to overlap.

    By the language (`__restrict__`, different types, arrays), or because every launch in the file
    passes different variables for two parameters. Where the file holds no launch the caller's
    arguments are separate buffers as far as the workload tells.
    """
    if not fn.may_alias(one, other):
        return True
    first, second = origin(fn, one), origin(fn, other)
    if first is None or second is None or first is second:
        return False
    names = [p.name for p in fn.parameters]
    if first.name not in names or second.name not in names:
        return False
    i, j = names.index(first.name), names.index(second.name)
    launches = source.launches_of(fn.name)
    if not launches:
        return True
    return source.only_launched(fn.name) and all(
        _different(source, launch.arguments, i, j) for launch in launches
    )


def origin(fn: Function, variable: Variable) -> Variable | None:
    """Return the parameter or array that a pointer is set to once; None when it cannot be told."""
    current = variable
    for _ in range(8):
        if current.is_array or current.space in ("parameter", "shared"):
            return current
        if current.init is None or not current.settled:
            return None
        behind = [
            u.variable
            for u in fn.variables.within(current.init)
            if u.variable is not None and (u.variable.is_pointer or u.variable.is_array)
        ]
        if len(behind) != 1:
            return None
        current = behind[0]
    return None


def _different(source: Source, arguments: tuple[Node, ...], i: int, j: int) -> bool:
    if max(i, j) >= len(arguments):
        return False
    texts = []
    for at in (i, j):
        node = stripped(arguments[at])
        if node is None or node.type not in ("identifier", "field_expression"):
            return False
        texts.append(source.plain(node))
    return texts[0] != texts[1]
