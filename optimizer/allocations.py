"""How many elements a kernel's array has, as the host of the file allocates it."""

from __future__ import annotations

import re

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.syntax import field, operator, stripped, walk
from optimizer.variables import Variable

_ALLOCATORS = frozenset({"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync"})
_SIZEOF = re.compile(r"sizeof\s*\(\s*([\w ]+?)\s*\)")
_BYTES = {
    "char": 1, "unsigned char": 1, "short": 2, "int": 4, "unsigned": 4, "unsigned int": 4,
    "float": 4, "double": 8, "long long": 8, "unsigned long long": 8, "int32_t": 4,
    "uint32_t": 4, "uint64_t": 8, "int64_t": 8, "long": 8, "unsigned long": 8, "size_t": 8,
}  # fmt: skip


def allocated(source: Source, fn: Function, variable: Variable) -> int | None:
    """Return the number of elements of an array parameter; None unless all launches tell the same.

    Each launch must pass a plain name that the file allocates with sizes it can evaluate, by
    `cudaMalloc` and its kin.
    """
    names = [p.name for p in fn.parameters]
    launches = source.launches_of(fn.name)
    size = _BYTES.get(variable.element)
    if variable.name not in names or not launches or not source.only_launched(fn.name):
        return None
    if size is None:
        return None
    at = names.index(variable.name)
    found: set[int | None] = set()
    for launch in launches:
        given = stripped(launch.arguments[at]) if at < len(launch.arguments) else None
        if given is None or given.type != "identifier":
            return None
        found |= _bytes(source, source.of(given))
    total = found.pop() if len(found) == 1 else None
    return None if total is None or total % size else total // size


def is_allocated(source: Source, fn: Function, variable: Variable) -> bool:
    """Return whether all launches pass the start of an allocation of the file for a parameter.

    Each must pass a plain name that the file allocates and that nothing moves along.
    """
    names = [p.name for p in fn.parameters]
    launches = source.launches_of(fn.name)
    if variable.name not in names or not launches or not source.only_launched(fn.name):
        return False
    at = names.index(variable.name)
    for launch in launches:
        given = stripped(launch.arguments[at]) if at < len(launch.arguments) else None
        if given is None or given.type != "identifier" or _moved(source, source.of(given)):
            return False
        caller = source.function(launch.function)
        if caller is not None and caller.parameter(source.of(given)) is not None:
            return False
        if not _asked_for(source, source.of(given)):
            return False
    return True


def _asked_for(source: Source, name: str) -> bool:
    return any(
        (listed := field(call, "arguments")) is not None
        and len(listed.named_children) > 1
        and _pointer(source, listed.named_children[0]) == name
        for call in walk(source.syntax.root, "call_expression")
        if source.plain(field(call, "function")).partition("<")[0] in _ALLOCATORS
    )


def _moved(source: Source, name: str) -> bool:
    """Return whether a pointer of this name is set to anything but another plain name."""
    for node in walk(source.syntax.root, "assignment_expression", "update_expression"):
        target = field(node, "left") or field(node, "argument")
        if source.plain(target) != name:
            continue
        value = stripped(field(node, "right"))
        if node.type == "update_expression" or operator(node) != "=" or value is None:
            return True
        if value.type not in ("identifier", "null", "number_literal"):
            return True
    for node in walk(source.syntax.root, "init_declarator"):
        value = stripped(field(node, "value"))
        named = source.plain(field(node, "declarator")).lstrip("* ") == name
        if named and value is not None and value.type not in ("null", "number_literal"):
            return True
    return False


def _bytes(source: Source, name: str) -> set[int | None]:
    """Return the sizes that a pointer of this name is allocated with, None among them if unseen."""
    found: set[int | None] = set()
    for call in walk(source.syntax.root, "call_expression"):
        if source.plain(field(call, "function")).partition("<")[0] not in _ALLOCATORS:
            continue
        listed = field(call, "arguments")
        given = listed.named_children if listed is not None else []
        if len(given) < 2 or _pointer(source, given[0]) != name:
            continue
        text = _SIZEOF.sub(lambda m: _size(source, m), source.plain(given[1]))
        found.add(source.value(text))
    return found or {None}


def _size(source: Source, match: re.Match[str]) -> str:
    return str(_BYTES.get(source.resolved(match[1]), match[0]))


def _pointer(source: Source, node: Node) -> str:
    """Return the name in `&p`, `(void**)&p`."""
    at = stripped(node)
    while at is not None and at.type == "cast_expression":
        at = stripped(field(at, "value"))
    if at is None or at.type != "pointer_expression" or operator(at) != "&":
        return ""
    return source.plain(field(at, "argument"))
