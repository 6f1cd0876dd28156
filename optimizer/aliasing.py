"""Whether two pointers of a kernel can share memory, judged by how the file launches it."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.accesses import subscript
from optimizer.functions import Function
from optimizer.source import Source
from optimizer.syntax import field, operator, stripped
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
    one, other = (_buffer(source, stripped(arguments[at])) for at in (i, j))
    if one is None or other is None:
        return False
    if one[0] != other[0]:
        return True
    return bool(one[1] and other[1]) and _never_equal(one[1], other[1])


def _buffer(source: Source, node: Node | None) -> tuple[str, str] | None:
    """Return the variable that an argument names, and which of several buffers it holds.

    `a`, `s.a`, `a + n` and `(float *)a` are of `a`; `buffers[0]` is number `0` of `buffers`.
    """
    if node is None:
        return None
    if node.type in ("identifier", "field_expression"):
        return source.plain(node), ""
    if node.type == "subscript_expression":
        base, index = stripped(field(node, "argument")), subscript(node)
        if base is None or base.type not in ("identifier", "field_expression") or index is None:
            return None
        return source.plain(base), source.plain(index)
    if node.type == "cast_expression":
        return _buffer(source, stripped(field(node, "value")))
    if node.type == "binary_expression" and operator(node) == "+":
        found = _buffer(source, stripped(field(node, "left")))
        return None if found is None or found[1] else found
    return None


def _never_equal(one: str, other: str) -> bool:
    """Return whether two indices differ: two numbers, or `cur` and `1 - cur`.

    >>> _never_equal("0", "1"), _never_equal("k", "1 - k"), _never_equal("i", "j")
    (True, True, False)
    """
    if one.isdigit() and other.isdigit():
        return int(one) != int(other)
    for a, b in ((one, other), (other, one)):
        if a.isidentifier() and b.replace(" ", "") in (f"1-{a}", f"!{a}", f"{a}^1", f"1^{a}"):
            return True
    return False
