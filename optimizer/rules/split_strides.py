"""Loops that the threads of a block stride, split over rows of blocks as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.rules.strided_loops import counts_only
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, operator, span, walk
from optimizer.variables import Variable

_OF_THREADS = ("threadIdx", "blockDim")
# First and step of a loop that the threads of a block stride, along x or along x and y.
_FLAT = ({("threadIdx.x",): 1}, {("blockDim.x",): 1})
_PLANE = (
    {("threadIdx.x",): 1, ("blockDim.x", "threadIdx.y"): 1},
    {("blockDim.x", "blockDim.y"): 1},
)


def strided_loops(source: Source, fn: Function) -> tuple[Loop, ...]:
    """Return the loops of a kernel that its blocks stride, if more blocks may share each of them.

    `for (i = threadIdx.x; i < n; i += blockDim.x)` is all that the kernel does, and its threads
    know of themselves by `i` only. Threads do their iterations in no order, so that a kernel
    which means anything has iterations that do not depend on one another; what one thread carries
    from one of its iterations to its next is looked for here: variables, arrays of its own and
    elements that stay the same.
    """
    loops = tuple(lp for lp in fn.loops if not lp.depth and _by_block(fn, lp))
    if not loops or fn.conditional or len({_head(source, lp) for lp in loops}) != 1:
        return ()
    called = [f for f in (source.function(c.name) for c in fn.calls) if f is not None]
    if any(word in source.of(f.body) for f in called for word in _OF_THREADS):
        return ()
    others = [lp for lp in fn.loops if not lp.depth and lp not in loops]
    if any(lp.trips is None for lp in others) or not _known_by_number(source, fn, loops):
        return ()
    if any(_carried(source, fn, lp, variable) for lp in loops for variable in fn.variables.all):
        return ()
    return loops if _writes_move(fn, loops) else ()


def _by_block(fn: Function, loop: Loop) -> bool:
    """Return whether the threads of a block stride a loop."""
    if loop.kind != "for" or not loop.counted or loop.leaves_early or loop.relation != "<":
        return False
    if loop.start is None or loop.step_node is None or loop.update is None:
        return False
    if loop.variable is None or not counts_only(loop.variable) or loop.update.type != _ASSIGNED:
        return False
    if operator(loop.update) != "+=":
        return False
    first, step = fn.affine(loop.start), fn.affine(loop.step_node)
    if first is None or step is None:
        return False
    return (dict(first.terms), dict(step.terms)) in (_FLAT, _PLANE)


_ASSIGNED = "assignment_expression"


def _head(source: Source, loop: Loop) -> tuple[str, str]:
    return source.plain(loop.start), source.plain(loop.step_node)


def _known_by_number(source: Source, fn: Function, loops: Sequence[Loop]) -> bool:
    """Return whether only the heads of the loops, and locals for them, look at threads."""
    heads = [n for lp in loops for n in (lp.start, lp.update) if n is not None]
    places = list(heads)
    for variable in fn.variables.all:
        uses = [u.node for u in variable.uses if not contains(variable.declaration, u.node)]
        if variable.init is None or not variable.settled or not uses:
            continue
        if all(any(contains(h, u) for h in heads) for u in uses):
            places.append(variable.init)
    return all(
        any(contains(place, node) for place in places)
        for node in walk(fn.body, "identifier")
        if source.of(node) in _OF_THREADS
    )


def _carried(source: Source, fn: Function, loop: Loop, variable: Variable) -> bool:
    """Return whether an iteration may find what an earlier one of the thread left in a local."""
    if variable is loop.variable or contains(loop.node, variable.name_node):
        return False
    if variable.is_array and variable.space == "local":
        return any(contains(loop.node, u.node) for u in variable.uses if u.writes) and (
            not _set_anew(source, fn, loop, variable)
        )
    if counts_only(variable) or not any(contains(loop.node, u.node) for u in variable.changes):
        return False
    return not _set_first(loop, variable)


def _set_first(loop: Loop, variable: Variable) -> bool:
    """Return whether each iteration sets a scalar before it uses it, and nothing else uses it."""
    uses = [u for u in variable.uses if not contains(variable.declaration, u.node)]
    first = min(uses, key=lambda u: u.node.start_byte)
    assigned = first.node.parent
    statement = assigned.parent if assigned is not None else None
    return (
        first.role == "write"
        and statement is not None
        and statement.parent == loop.body
        and variable.space == "local"
        and all(contains(loop.body, u.node) for u in uses)
    )


def _set_anew(source: Source, fn: Function, loop: Loop, variable: Variable) -> bool:
    """Return whether an iteration begins with a loop that sets a whole local array."""
    inside = [a for a in fn.accesses if a.variable is variable and contains(loop.node, a.node)]
    outside = [a for a in fn.accesses if a.variable is variable and a not in inside]
    first = min(inside, key=lambda a: a.node.start_byte, default=None)
    if first is None or outside or first.kind != "write" or not first.loops:
        return False
    over = first.loops[-1]
    extent = variable.extents[0] if len(variable.extents) == 1 else None
    if over.node.parent != loop.body or over.leaves_early or over.trips is None or extent is None:
        return False
    statement = first.statement
    always = statement is not None and statement.parent in (over.body, over.node)
    reads_itself = any(
        a is not first and statement is not None and contains(statement, a.node) for a in inside
    )
    whole = first.index is not None and str(first.index) == over.name
    starts = over.start is not None and source.plain(over.start) == "0"
    return always and whole and starts and not reads_itself and over.trips == source.value(extent)


def _writes_move(fn: Function, loops: Sequence[Loop]) -> bool:
    """Return whether all that is written lies elsewhere in each iteration, and there are writes.

    Sums by atomics whose results nobody uses may meet.
    """
    written = 0
    for access in fn.accesses:
        if access.space == "local" or not access.writes:
            continue
        loop = next((lp for lp in loops if contains(lp.body, access.node)), None)
        if loop is None or access.space == "shared":
            return False
        written += 1
        if access.kind == "atomic":
            call = access.node
            while call.parent is not None and call.parent.type != "expression_statement":
                if call.parent.type in (_ASSIGNED, "init_declarator", "return_statement"):
                    return False
                call = call.parent
            if call.type != "call_expression":
                return False
        elif access.kind == "unknown" or not _moves(fn, loop, access):
            return False
    return written > 0


def _moves(fn: Function, loop: Loop, access: Access) -> bool:
    """Return whether an element's place depends on the loop's variable."""
    known = {loop.name}
    inside = [v for v in fn.variables.all if contains(loop.node, v.name_node)]
    for _ in inside:  # as long as locals follow from one another
        known |= {v.name for v in inside if v.init is not None and _names(fn, v.init) & known}
    places = access.indices or (access.node,)
    return any(_names(fn, place) & known for place in places)


def _names(fn: Function, node: Node) -> set[str]:
    return {fn.file.syntax.of(n) for n in walk(node, "identifier")}


def over_rows(source: Source, loop: Loop, axis: str) -> Iterator[Replacement]:
    """Yield the edits of a strided loop's head that share it among blocks along an axis."""
    if loop.start is None or loop.step_node is None:
        return
    step = source.of(loop.step_node)
    factor = step if step.replace(".", "_").isidentifier() else f"({step})"
    yield (*span(loop.start), f"{source.of(loop.start)} + blockIdx.{axis} * {factor}")
    yield (*span(loop.step_node), f"{factor} * gridDim.{axis}")
