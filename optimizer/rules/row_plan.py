"""How lanes can share the loops over a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function, ThreadId
from optimizer.loops import Loop
from optimizer.rules.reduction import Update, together, updates
from optimizer.rules.row_memory import memory_is_safe
from optimizer.rules.strided_loops import outer_scalars, splits
from optimizer.source import Source
from optimizer.syntax import contains, field, operator, walk
from optimizer.variables import Variable

_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")


@dataclass(frozen=True, slots=True)
class RowPlan:
    """Which loops the lanes share, and which scalars are combined behind which loop.

    `stepped` is the loop in which a thread takes row after row, a whole grid apart.
    """

    row: ThreadId
    lanes: tuple[Loop, ...]
    sums: tuple[tuple[Loop, tuple[Update, ...]], ...]
    guarded: tuple[Node, ...]
    stepped: Loop | None = None


def plan_rows(
    source: Source,
    fn: Function,
    *,
    walked: str = "rows",
    stepped: bool = False,
    places: bool = False,
) -> RowPlan | None:
    """Return how threads can share the loops of a row; None when that is not legal.

    `walked` tells which loops: over `rows` whose elements lie side by side, over what all threads
    read `alike` (all pairs of bodies), or down `columns` that lie side by side, which with
    `changed columns` loops behind the sums may also overwrite. Threads that take
    row after row count only with `stepped`. Blocks must be one-dimensional. With `places` loops may
    look for an extreme and where it stands.
    """
    row = _row(source, fn)
    around = _stepped(source, fn) if row is None and stepped else None
    if around is not None and around.variable is not None:
        row = ThreadId(around.variable, "x", "blockDim.x")
    if row is None:
        return None
    lanes = tuple(_lane_loops(fn, walked))
    if not lanes or not _calls_are_plain(source, fn):
        return None
    sums: dict[int, tuple[Loop, list[Update]]] = {}
    for loop in lanes:
        for variable in outer_scalars(fn, loop):
            found = updates(source, fn, variable, loop.node, places=places)
            place = found and joint(source, fn, lanes, loop, variable)
            if not found or not place:
                return None
            known = sums.setdefault(place.node.id, (place, []))[1]
            known += [u for u in found[:1] if u.variable not in {k.variable for k in known}]
    guarded = _guarded(fn, lanes)
    if any(not together(us) for _, us in sums.values()):
        return None
    if guarded is None or not memory_is_safe(fn, lanes, guarded, [lp for lp, _ in sums.values()]):
        return None
    if around is not None and any(not contains(around.body, lp.node) for lp in lanes):
        return None
    joined = tuple((lp, tuple(us)) for lp, us in sums.values())
    return RowPlan(row, lanes, joined, guarded, around)


def _row(source: Source, fn: Function) -> ThreadId | None:
    """Return the row number when it is all that the kernel knows of its thread."""
    ids = [t for t in fn.thread_ids if t.axis == "x"] or fn.flat_ids
    if len(ids) != 1 or ids[0].variable.init is None or not ids[0].variable.settled:
        return None
    init = ids[0].variable.init
    if any(not contains(init, node) for node in _own(source, fn)):
        return None
    return ids[0] if source.in_block(ids[0].variable.declaration) else None


def _own(source: Source, fn: Function) -> Iterator[Node]:
    """Yield where a kernel asks for a thread's number along x, or for extents along x."""
    for node in walk(fn.body, "identifier"):
        outer = node.parent
        along = source.of(outer).rpartition(".")[2] if outer is not None else ""
        if source.of(node) in _BUILTINS and along not in ("y", "z"):
            yield node


def _stepped(source: Source, fn: Function) -> Loop | None:
    """Return the loop in which each thread takes rows a grid apart, if all else is in there."""
    found = [lp for lp in fn.loops if lp.depth == 0 and not lp.leaves_early and lp.counted]
    if len(found) != 1 or found[0].relation not in ("<", "<="):
        return None
    loop = found[0]
    start, step = fn.affine(loop.start), fn.affine(loop.step_node)
    if start is None or step is None or loop.start is None or loop.step_node is None:
        return None
    if loop.variable is None or not contains(loop.node, loop.variable.name_node):
        return None
    first = {("threadIdx.x",): 1, ("blockDim.x", "blockIdx.x"): 1}
    if dict(start.terms) != first or dict(step.terms) != {("blockDim.x", "gridDim.x"): 1}:
        return None
    if not source.in_block(loop.node):
        return None
    places = [loop.start, loop.step_node]
    for node in list(places):  # locals that are used for nothing else
        for name in walk(node, "identifier"):
            variable = fn.variables.of(name)
            if variable is None or variable.init is None or variable.space == "parameter":
                continue
            if not all(any(contains(p, u.node) for p in places[:2]) for u in variable.uses):
                return None
            places.append(variable.init)
    if any(not any(contains(p, node) for p in places) for node in _own(source, fn)):
        return None
    return loop


def _lane_loops(fn: Function, walked: str) -> Iterator[Loop]:
    """Yield the innermost loops that walk an array as `plan_rows` describes."""
    taken: list[Loop] = []
    for loop in reversed(fn.loops):  # inner loops come behind outer ones
        if any(contains(loop.node, inner.node) for inner in taken):
            continue
        own = [a for a in fn.accesses if a.is_global and contains(loop.body, a.node)]
        fits = _WALKED[walked]
        if fits(fn, loop, own) and splits(loop):
            taken.append(loop)
    yield from sorted(taken, key=lambda loop: loop.node.start_byte)


def _side_by_side(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop walks neighbours in memory, while threads are rows apart."""
    del fn
    return any(
        (stride := a.loop_stride(loop)) is not None
        and stride.constant in (1, 2, 3, 4)
        and a.thread_stride() not in (0, 1)
        for a in own
    )


def _below(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop sums down a column, while threads read columns side by side."""
    strides = [(a.thread_stride(), a.loop_stride(loop)) for a in own]
    if any(a.writes for a in own) or any(walks is None for _, walks in strides):
        return False
    moved = [(side, walks.constant) for side, walks in strides if walks and walks.constant != 0]
    return (
        any(side == 1 for side, _ in moved)
        and all(side == 0 or (side == 1 and walks != 1) for side, walks in moved)
        and any(True for _ in outer_scalars(fn, loop))
    )


def _below_or_stored(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop sums down a column, or sets each element of one on its own.

    Whether the columns of channels lie side by side, `i / plane * n + c * plane + i % plane`, is
    not seen; that a loop walks whole planes tells.
    """
    stored = any(a.writes for a in own)
    if not own or (stored and any(True for _ in outer_scalars(fn, loop))):
        return False
    moved = 0
    for access in own:
        walks, side = access.loop_stride(loop), access.thread_stride()
        if walks is None or (access.writes and walks.constant == 0):
            return False
        if walks.constant == 0:
            continue
        beside = side == 1 or (side is None and walks.constant is None and _in_planes(access))
        if walks.constant == 1 or not (beside or (side == 0 and not access.writes)):
            return False
        moved += side != 0
    return moved > 0


def _in_planes(access: Access) -> bool:
    """Return whether threads are numbered through planes, `i % plane`, not a pitch apart."""
    return access.index is not None and access.index.coefficient("threadIdx.x") is None


def _alike(fn: Function, loop: Loop, own: Sequence[Access]) -> bool:
    """Return whether a loop reads the same elements in all threads, neighbours one by one."""
    moved = 0
    for access in own:
        stride = access.loop_stride(loop)
        if access.writes or stride is None or stride.constant is None:
            return False
        if stride.constant not in range(9) or (stride.constant and access.thread_stride() != 0):
            return False
        moved += stride.constant > 0
    return moved > 0 and any(True for _ in outer_scalars(fn, loop))


_WALKED = {
    "rows": _side_by_side, "alike": _alike, "columns": _below,
    "changed columns": _below_or_stored,
}  # fmt: skip


def joint(
    source: Source, fn: Function, lanes: Sequence[Loop], loop: Loop, variable: Variable
) -> Loop | None:
    """Return the outermost loop in which a scalar is only ever updated, by lanes."""
    around = [*fn.loops_around(loop.node), loop]
    for outer in around:
        if contains(outer.node, variable.name_node) or not source.in_block(outer.node):
            continue
        found = updates(source, fn, variable, outer.node, places=True)
        if found and all(any(contains(lp.node, u.node) for lp in lanes) for u in found):
            return outer
    return None


def _guarded(fn: Function, lanes: Sequence[Loop]) -> tuple[Node, ...] | None:
    """Return the statements with effects that one lane must do alone; None if not understood."""
    found: dict[int, Node] = {}
    for access in fn.accesses:
        if not access.writes or any(contains(lp.node, access.node) for lp in lanes):
            continue
        if access.space == "local":
            continue
        statement = access.statement
        if statement is None or statement.type != "expression_statement":
            return None
        if statement.parent is None or field(statement.parent, "alternative") is not None:
            return None  # a test put in front would take the `else`
        inner = statement.named_children[0] if statement.named_children else None
        if inner is None or inner.type not in (
            "assignment_expression", "update_expression", "call_expression",
        ):  # fmt: skip
            return None
        if inner.type == "call_expression" and operator(inner):
            return None
        found[statement.id] = statement
    return tuple(found.values())


def _calls_are_plain(source: Source, fn: Function) -> bool:
    """Return whether all calls only compute from values."""
    for call in fn.unknown_calls:
        callee = source.function(call.name)
        if callee is None or any(p.is_pointer or p.reference for p in callee.parameters):
            return False
        if callee.barriers or callee.atomics or callee.unknown_calls:
            return False
    return not fn.unknown_names & {"return"}
