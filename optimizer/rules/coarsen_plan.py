"""Whether a thread can have several outputs that lie a block apart, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function, Guard, ThreadId
from optimizer.rules.outputs import alone, at_top, exact, fresh_each_time, place_in
from optimizer.rules.read_ahead import LOOPS, early_loads
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, walk

# A loop that is repeated for each output must be short: a long one hides latency by itself.
_SHORT = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """The number that runs over several outputs, where its block's number stands, its test.

    Without a test blocks are exact: they keep their outputs and get fewer threads, so that the
    thread's number and the block's extent change in place of the block's number. `rows` tells that
    outputs next to each other read some of the same elements.
    """

    output: ThreadId
    block: Node
    thread: Node | None
    extent: Node | None
    guard: Guard | None
    returns: tuple[Node, ...]
    loads: tuple[tuple[Access, str], ...]
    rows: bool = False


def planned(source: Source, fn: Function) -> Plan | None:
    """Return along which number a thread can take several outputs; None when that is not legal."""
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return None
    if fn.conditional or not alone(source, fn):
        return None
    if any(loop.trips is None or loop.trips > _SHORT for loop in fn.loops):
        return None
    for axis in "zyx":
        ids = [t for t in fn.shifted_ids if t.axis == axis]
        if len(ids) == 1:
            return _along(source, fn, ids[0])
    return _along(source, fn, fn.flat_ids[0]) if len(fn.flat_ids) == 1 else None


def _along(source: Source, fn: Function, output: ThreadId) -> Plan | None:
    variable = output.variable
    init, declaration = variable.init, variable.declaration
    if init is None or not variable.settled or not at_top(fn, declaration):
        return None
    named = [
        n
        for n in walk(fn.body, "field_expression")
        if source.plain(n) in (f"blockIdx.{output.axis}", f"gridDim.{output.axis}")
    ]
    block = place_in(fn, init, named[0]) if len(named) == 1 else None
    if output in fn.flat_ids:
        block = _flat(source, fn, init)
    if block is None:
        return None
    if sum(source.of(n) in ("blockIdx", "gridDim") for n in walk(fn.body, "identifier")) != sum(
        source.plain(n).startswith(("blockIdx.", "gridDim."))
        for n in walk(fn.body, "field_expression")
    ):
        return None
    guard = _guard(fn, output)
    returns = _returns(fn)
    thread = extent = None
    if guard is None:
        found = exact(source, fn, output, init)
        if found is None:
            return None
        thread, extent = found
    if returns is None or not fresh_each_time(fn, declaration):
        return None
    loads = tuple(early_loads(source, fn, guard, declaration))
    rows = (
        guard is not None
        and output.axis != "x"
        and not output.shift.terms
        and _rows(source, fn, output, init, [a for a, _ in loads])
    )
    return Plan(output, block, thread, extent, guard, returns, loads, rows)


def _rows(
    source: Source, fn: Function, output: ThreadId, init: Node, loads: Sequence[Access]
) -> bool:
    """Return whether neighbours read the same, and the kernel knows its thread by the number."""
    if exact(source, fn, output, init) is None:
        return False
    symbol = f"threadIdx.{output.axis}"
    for at, one in enumerate(loads):
        for other in loads[at + 1 :]:
            if one.root != other.root or one.index is None or other.index is None:
                continue
            row, apart_by = one.index.coefficient(symbol), one.index - other.index
            if row is None or not row.terms or not apart_by.terms:
                continue
            if any(apart_by.same(row.scaled(n)) for n in (1, -1, 2, -2)):
                return True
    return False


def _flat(source: Source, fn: Function, init: Node) -> Node | None:
    """Return where a block of a plane is numbered, if its number is asked for nowhere else."""
    number = {("blockIdx.x",): 1, ("blockIdx.y", "gridDim.x"): 1}
    for node in walk(init, "parenthesized_expression"):
        value = fn.affine(node)
        if value is None or dict(value.terms) != number:
            continue
        asked = [n for n in walk(fn.body, "identifier") if source.of(n) in ("blockIdx", "gridDim")]
        return node if all(contains(node, n) for n in asked) else None
    return None


def _guard(fn: Function, output: ThreadId) -> Guard | None:
    """Return the test that keeps blocks that are too many from doing anything."""
    name = output.variable.name
    for guard in fn.guards:
        if guard.node.start_byte < output.variable.declaration.end_byte:
            continue
        if guard.bounds is None or not any(
            n == name and sign in ("<", "<=") for n, sign, _ in guard.bounds
        ):
            continue
        touched = [a for a in fn.accesses if a.space != "local"]
        calls = [c.node for c in (*fn.unknown_calls, *fn.atomics)]
        for node in (*(a.node for a in touched), *calls):
            if guard.exits and node.start_byte < guard.node.end_byte:
                return None
            if not guard.exits and not contains(guard.node, node):
                return None
        return guard
    return None


def _returns(fn: Function) -> tuple[Node, ...] | None:
    found = tuple(walk(fn.body, "return_statement"))
    for node in found:
        if node.named_children or any(a.type in LOOPS for a in ancestors(node, fn.body)):
            return None
    return found
