"""Split a loop that each thread walks alone over more threads or blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.geometry import Change, block_extents, is_flat, regrid, times
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial, atom, number
from optimizer.rules.row_plan import plan_rows
from optimizer.rules.row_text import by_lanes
from optimizer.rules.split_strides import over_rows, strided_loops
from optimizer.rules.strided_loops import counts_only
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, operator, span, walk
from optimizer.variables import Variable

_NAME = "split-loop"
_WARP = 32
# Blocks along an unused axis: they share the loop in steps of their number, so any number is right.
_PARTS = (16, 64, 4)
_MORE_PARTS = (64, 16, 4)
_STRIDED_PARTS = (16, 4)
# Threads that keep a large GPU busy (132 multiprocessors of 2,048).
_ENOUGH = 1 << 18
# Columns that share a warp: 8 floats or 4 doubles are one sector of 32 bytes.
_COLUMNS = (8, 4)
_PLACES = {"y": "rows", "z": "layers"}


@dataclass(frozen=True, slots=True)
class _Carried:
    """A variable that grows by the same `step` at the one place in a loop that changes it."""

    variable: Variable
    update: Node
    step: Node


def split_loop(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Share a thread's loop when there are too few threads to fill the GPU.

    A loop over independent outputs goes to the blocks along an unused axis of the grid, one that
    the threads of a block stride, too. A loop
    that only adds up what all threads read alike goes to the lanes of a warp, one that adds up a
    column to four or eight lanes, joined by shuffles (float sums are reordered).
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        yield from _over_lanes(kernel, source, fn)
        yield from _down_columns(kernel, source, fn)
        yield from _over_blocks(kernel, source, fn)
        yield from _over_strides(kernel, source, fn)


# -- sums over lanes -----------------------------------------------------------------------------


def _over_lanes(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    block = block_extents(kernel, source, fn)
    if block is None or block[0] % _WARP or not is_flat(kernel, source, fn):
        return
    plan = plan_rows(source, fn, walked="alike", stepped=True, places=True)
    geometry = regrid(kernel, source, fn, {"x": times(_WARP)}) if plan else None
    if plan is None or geometry is None:
        return
    lines = ", ".join(str(loop.line) for loop in plan.lanes)
    yield Edit(
        f"share the loop of `{fn.name}` among the lanes of a warp",
        source.replace(sorted([*by_lanes(source, fn, plan), *geometry.edits])),
        f"rule:{_NAME}",
        f"One thread does all of line {lines}; with 32 lanes on it there are 32 times as many"
        " threads to hide latency, and each has a 32nd of the chain of additions.",
        _NAME,
        2.0,
        geometry.launch,
    )


def _down_columns(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    """Yield edits that let 8 or 4 neighbouring columns share a warp: a sector or half of one."""
    block = block_extents(kernel, source, fn)
    if block is None or block[0] % _WARP or not is_flat(kernel, source, fn):
        return
    plan = plan_rows(source, fn, walked="columns", places=True)
    plan = plan or plan_rows(source, fn, walked="changed columns", places=True)
    if plan is None or not plan.sums:
        return
    lines = ", ".join(str(loop.line) for loop in plan.lanes)
    for columns in _COLUMNS:
        parts = _WARP // columns
        geometry = regrid(kernel, source, fn, {"x": times(parts)})
        if geometry is None:
            return
        yield Edit(
            f"share each column of `{fn.name}` among {parts} lanes of a warp",
            source.replace(sorted([*by_lanes(source, fn, plan, columns=columns), *geometry.edits])),
            f"rule:{_NAME}",
            f"A thread adds up a whole column in line {lines}; {parts} threads a column are {parts}"
            f" times as many to hide latency, and {columns} columns side by side still fill"
            " sectors.",
            _NAME,
            1.8,
            geometry.launch,
        )


# -- outputs over blocks -------------------------------------------------------------------------


def _over_blocks(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    if fn.conditional:
        return
    axis = next((a for a in "yz" if _unused(kernel, source, fn, a)), None)
    if axis is None:
        return
    for loop in fn.loops:
        carried = _independent(source, fn, loop) if not loop.depth else None
        if carried is None:
            continue
        heavy = any(contains(loop.body, inner.node) for inner in fn.loops)
        for parts in _PARTS if not heavy else _MORE_PARTS:
            if loop.trips is not None and loop.trips < parts:
                continue
            geometry = regrid(kernel, source, fn, {axis: _exactly(parts)})
            if geometry is None:
                return
            edits = [*_strided(source, loop, carried, axis), *geometry.edits]
            yield Edit(
                f"split the loop of `{fn.name}` over {parts} {_PLACES[axis]} of blocks",
                source.replace(sorted(edits)),
                f"rule:{_NAME}",
                f"The iterations of line {loop.line} are independent outputs done one after the"
                f" other; {parts} times as many blocks do them side by side.",
                _NAME,
                2.5 if heavy else 1.5,
                geometry.launch,
            )
        return


def _over_strides(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    block = block_extents(kernel, source, fn)
    loops = strided_loops(source, fn)
    threads = prod(block) if block is not None else _WARP
    if not loops or threads < _WARP or _many(source, fn, threads):
        return
    axis = "y"
    if not _unused(kernel, source, fn, axis):
        return
    heavy = any(inner.depth for inner in fn.loops)
    for parts in _STRIDED_PARTS if heavy else _STRIDED_PARTS[:1]:
        geometry = regrid(kernel, source, fn, {axis: _exactly(parts)})
        if geometry is None:
            return
        edits = [edit for loop in loops for edit in over_rows(source, loop, axis)]
        lines = ", ".join(str(loop.line) for loop in loops)
        yield Edit(
            f"split what a block of `{fn.name}` strides over {parts} rows of blocks",
            source.replace(sorted([*edits, *geometry.edits])),
            f"rule:{_NAME}",
            f"One block does all of line {lines} for its number; the iterations do not depend on"
            f" one another, and {parts} times as many blocks fill a GPU when numbers are few.",
            _NAME,
            2.5 if heavy else 1.3,
            geometry.launch,
        )


def _many(source: Source, fn: Function, threads: int) -> bool:
    """Return whether a launch has blocks enough to fill a GPU."""
    sizes = [lc.grid[0].value for lc in source.launches_of(fn.name) if lc.grid]
    return any(size is not None and size * threads >= _ENOUGH for size in sizes)


def _exactly(extent: int) -> Change:
    def change(_: str) -> str:
        return str(extent)

    return change


def _unused(kernel: Kernel, source: Source, fn: Function, axis: str) -> bool:
    """Return whether a kernel has one block along an axis and never asks for it."""
    at = "xyz".index(axis)
    found = source.launches_of(fn.name)
    launch = kernel.launch
    if found:
        one = all(lc.grid is not None and all(e.value == 1 for e in lc.grid[at:]) for lc in found)
    else:
        one = launch is not None and all(text.strip() == "1" for text in launch.grid[at:])
    if axis == "z":  # only for kernels that have use for y
        rows = all(
            lc.grid is not None and len(lc.grid) > 1 and lc.grid[1].value != 1 for lc in found
        )
        one = one and bool(found) and rows and not _knows_no(source, fn, "y")
    return one and _knows_no(source, fn, axis)


def _knows_no(source: Source, fn: Function, axis: str) -> bool:
    """Return whether the kernel, with all it calls, never looks at its blocks along an axis.

    Functions that get pointers are not followed: they could write what iterations share.
    """
    if any("blockIdx" in body or "gridDim" in body for body in source.macro_bodies(fn)):
        return False
    bodies = [fn.body]
    for call in fn.calls:
        callee = source.function(call.name)
        if callee is not None:
            if any(p.is_pointer or p.reference for p in callee.parameters):
                return False
            bodies.append(callee.body)
        elif call in fn.unknown_calls:
            return False
    others = [a for a in "xyz" if a != axis]
    allowed = [f"{b}.{a}" for b in ("blockIdx", "gridDim") for a in others]
    for body in bodies:
        named = [n for n in walk(body, "identifier") if source.of(n) in ("blockIdx", "gridDim")]
        seen = [n for n in walk(body, "field_expression") if source.plain(n) in allowed]
        if len(named) != len(seen):
            return False
    return True


def _independent(source: Source, fn: Function, loop: Loop) -> tuple[_Carried, ...] | None:
    """Return what a loop carries along, if it is all the kernel does, each iteration on its own.

    Each iteration writes elements of its own; what is carried only grows by the same amount.
    """
    if (
        loop.kind != "for" or not loop.counted or loop.step != 1 or loop.relation not in ("<", "<=")
        or loop.leaves_early or loop.variable is None or loop.start is None
        or not counts_only(loop.variable)
    ):  # fmt: skip
        return None
    carried: list[_Carried] = []
    for variable in fn.variables.all:
        if counts_only(variable) or contains(loop.node, variable.name_node):
            continue
        if not any(contains(loop.node, u.node) for u in variable.changes):
            continue
        found = _carries(fn, loop, variable)
        if found is None:
            return None
        carried.append(found)
    if any(not lp.depth and lp.node != loop.node and lp.trips is None for lp in fn.loops):
        return None  # each part would do that one, too
    inside = [a for a in fn.accesses if contains(loop.node, a.node)]
    written = [a for a in inside if a.writes]
    if not written or any(a.writes and a not in written for a in fn.accesses):
        return None
    steps = {c.variable.name: c for c in carried}
    owned = all(own_element(source, fn, loop, one, inside, steps) for one in written)
    return tuple(carried) if owned else None


def _carries(fn: Function, loop: Loop, variable: Variable) -> _Carried | None:
    """Return how much a variable grows in each iteration: `c += plane;` in the loop's body."""
    own = [u.node for u in variable.changes if contains(loop.node, u.node)]
    if len(own) != 1 or variable.address_taken or variable.reference or variable.is_array:
        return None
    if any(u.node.start_byte >= loop.node.end_byte for u in variable.uses):
        return None
    update = own[0].parent
    statement = fn.statement(own[0])
    if update is None or update.type != "assignment_expression" or statement is None:
        return None
    if operator(update) not in ("+=", "-=") or update.parent != statement:
        return None
    if statement.parent != loop.body or any(True for _ in walk(loop.body, "continue_statement")):
        return None
    step = field(update, "right")
    if step is None or field(update, "left") != own[0] or not fn.is_invariant(step, loop):
        return None
    if fn.type_of(step) not in ("int", "unsigned int", "unsigned", "size_t", "long"):
        return None
    return _Carried(variable, update, step)


def own_element(
    source: Source,
    fn: Function,
    loop: Loop,
    one: Access,
    inside: Sequence[Access],
    carried: Mapping[str, _Carried] | None = None,
) -> bool:
    """Return whether an element written in an iteration of a loop is touched in no other one."""
    variable = one.variable
    if variable is None or one.kind not in ("write", "update"):
        return False
    if one.space == "local":
        return contains(loop.node, variable.name_node)
    if one.space != "global" or one.index is None or not _moves(fn, loop, one, carried or {}):
        return False
    for other in inside:
        if other is one or other.space in ("local", "constant"):
            continue
        if other.root == one.root:
            if other.index is None or other.cast != one.cast:
                return False
            if not other.index.same(one.index) and not _mirrored(fn, loop, one, other):
                return False
        elif other.variable is None or not apart(source, fn, variable, other.variable):
            return False
    return True


def _mirrored(fn: Function, loop: Loop, one: Access, other: Access) -> bool:
    """Return whether two elements are `[p * n + q]` and `[q * n + p]` for q from p or p + 1 to n.

    No two iterations then meet, as only q makes a difference between them.
    """
    bound, start = fn.affine(loop.bound), fn.affine(loop.start)
    if bound is None or start is None or loop.relation != "<":
        return False
    index = atom(loop.name)
    for row in (start, start - number(1)):
        first = row * bound + start + index
        second = (start + index) * bound + row
        for a, b in ((one, other), (other, one)):
            if a.index is not None and b.index is not None and a.index.same(first):
                return b.index.same(second) and _not_negative(fn, row)
    return False


def _not_negative(fn: Function, value: Polynomial) -> bool:
    """Return whether a row is a thread's number."""
    del fn
    builtins = ("threadIdx.", "blockIdx.", "blockDim.")
    return all(
        f > 0 and m and all(a.startswith(builtins) for a in m) for m, f in value.terms.items()
    )


def _moves(fn: Function, loop: Loop, access: Access, carried: Mapping[str, _Carried]) -> bool:
    """Return whether different iterations surely write different elements."""
    if access.index is None:
        return False
    for inner in access.loops:
        if inner.node != loop.node and contains(loop.node, inner.node):
            still = access.loop_stride(inner)
            if still is None or still.constant != 0:
                return False
    marked = [a for a in access.index.atoms if a.partition("'")[0] in carried]
    if marked:
        step = access.index.coefficient(marked[0])
        if len(marked) != 1 or step is None or access.index.depends_on(loop.name):
            return False
        along = fn.affine(carried[marked[0].partition("'")[0]].step)
        step = step * along if along is not None else None
    else:
        step = access.loop_stride(loop)
    if step is None:
        return False
    if step.constant is not None:
        return step.constant != 0
    # `j * n` with a parameter `n`: no extent of an array that is written to is zero.
    names = {p.name for p in fn.parameters if not p.is_pointer}
    known = all(s in names or fn.file.constant(s) is not None for s in step.symbols)
    return known and len(step.terms) == 1


def _strided(
    source: Source, loop: Loop, carried: Sequence[_Carried], axis: str
) -> Iterator[Replacement]:
    if loop.start is None or loop.update is None:
        return
    start = source.plain(loop.start)
    block, grid = f"blockIdx.{axis}", f"gridDim.{axis}"
    yield (
        *span(loop.start),
        block if start == "0" else f"{source.of(loop.start)} + (int){block}",
    )
    yield (*span(loop.update), f"{loop.name} += {grid}")
    lines = []
    for each in carried:
        step = source.of(each.step)
        step = step if step.isidentifier() or step.isdigit() else f"({step})"
        lines.append(f"{each.variable.name} {operator(each.update)} (int){block} * {step};")
        yield (*span(each.step), f"(int){grid} * {step}")
    if lines:
        yield source.insert_before(loop.node, "\n".join(lines))
