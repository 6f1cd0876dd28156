"""What a kernel knows of the place of its output: whether a thread can take several of them."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.functions import Function, ThreadId
from optimizer.geometry import Change
from optimizer.source import Source
from optimizer.syntax import contains, walk
from optimizer.variables import Variable

_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def alone(source: Source, fn: Function) -> bool:
    """Return whether nothing that is called or spelled by a macro knows of threads."""
    if any(word in body for body in source.macro_bodies(fn) for word in _BUILTINS):
        return False
    for call in fn.calls:
        callee = source.function(call.name)
        if callee is not None and any(
            source.of(n) in _BUILTINS for n in walk(callee.body, "identifier")
        ):
            return False
        if callee is None and call in fn.unknown_calls:
            return False
    return not any(v.volatile for v in fn.variables.all) and not any(
        call.name.startswith("atomicCAS") for call in fn.atomics
    )


def exact(
    source: Source, fn: Function, output: ThreadId, init: Node
) -> tuple[Node, Node | None] | None:
    """Return where the thread's number and the block's extent stand, if only in the number."""
    fields = [(n, source.plain(n)) for n in walk(fn.body, "field_expression")]
    threads = [n for n, text in fields if text == f"threadIdx.{output.axis}"]
    extents = [n for n, text in fields if text == f"blockDim.{output.axis}"]
    thread = place_in(fn, init, threads[0]) if len(threads) == 1 else None
    bare = [n for n in walk(fn.body, "identifier") if source.of(n) in ("threadIdx", "blockDim")]
    if thread is None or len(extents) > 1 or not all(contains(init, n) for n in extents):
        return None
    if any(n.parent is None or n.parent.type != "field_expression" for n in bare):
        return None
    return thread, extents[0] if extents else None


def place_in(fn: Function, init: Node, named: Node) -> Node | None:
    """Return where a built-in stands in the output's number: itself, or a local like `bx`."""
    if contains(init, named):
        return named
    found = [v for v in fn.variables.all if v.init == named and v.settled and v.element == "int"]
    uses = [u.node for v in found for u in v.uses if u.role != "declare"]
    return uses[0] if len(uses) == 1 and contains(init, uses[0]) else None


def fresh_each_time(fn: Function, declaration: Node) -> bool:
    """Return whether nothing declared before the outputs' loop is changed in it."""
    return not any(
        v.name_node.start_byte < declaration.start_byte
        and _has_value(v, declaration)
        and any(u.node.start_byte > declaration.start_byte for u in v.changes)
        for v in fn.variables.all
        if not v.is_array or v.space == "local"
    ) and not any(
        a.writes and a.space == "local" and a.variable is not None
        and a.variable.name_node.start_byte < declaration.start_byte
        for a in fn.accesses
    )  # fmt: skip


def _has_value(variable: Variable, at: Node) -> bool:
    """Return whether a variable is set before a place; others are written before they are read."""
    if variable.init is not None or variable.space != "local":
        return True
    return any(u.node.start_byte < at.start_byte for u in variable.changes)


def output_ids(fn: Function) -> tuple[ThreadId, ...]:
    """Return the numbers that tell threads apart, alone or with an offset."""
    return (*fn.shifted_ids, *fn.flat_ids)


def at_top(fn: Function, node: Node) -> bool:
    """Return whether a statement stands in the kernel's own block."""
    return node.parent is not None and node.parent.id == fn.body.id


def fewer(factor: int) -> Change:
    """Return the change that divides an extent, rounding up.

    >>> fewer(4)("n"), fewer(4)("(n + 255) / 256"), fewer(2)("a ? b : c")
    ('(n + 3) / 4', '((n + 255) / 256 + 3) / 4', '((a ? b : c) + 1) / 2')
    """

    def change(text: str) -> str:
        loose = any(sign in text for sign in ("?", "<", ">", "|", "&", ","))
        return f"({f'({text})' if loose else text} + {factor - 1}) / {factor}"

    return change
