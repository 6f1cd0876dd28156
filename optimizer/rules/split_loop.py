"""Split a loop that each thread walks alone over more threads or blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.geometry import Change, block_extents, is_flat, regrid, times
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.warp_per_row import by_lanes, counts_only, plan_rows
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk

_NAME = "split-loop"
_WARP = 32
# Blocks along y: they share the loop in steps of their number, so any number is right.
_PARTS = (16, 64, 4)
# Columns that share a warp: 8 floats or 4 doubles are one sector of 32 bytes.
_COLUMNS = (8, 4)


def split_loop(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Share a thread's loop when there are too few threads to fill the GPU.

    A loop over independent outputs goes to the blocks along an unused axis of the grid. A loop
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


# -- sums over lanes -----------------------------------------------------------------------------


def _over_lanes(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    block = block_extents(kernel, source, fn)
    if block is None or block[0] % _WARP or not is_flat(kernel, source, fn):
        return
    plan = plan_rows(source, fn, walked="alike")
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
    plan = plan_rows(source, fn, walked="columns")
    if plan is None:
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
    if fn.conditional or not _knows_no_y(source, fn) or not _one_row_of_blocks(kernel, source, fn):
        return
    for loop in fn.loops:
        if loop.depth or not _independent(source, fn, loop):
            continue
        for parts in _PARTS:
            if loop.trips is not None and loop.trips < parts:
                continue
            geometry = regrid(kernel, source, fn, {"y": _exactly(parts)})
            if geometry is None:
                return
            edits = [*_strided(source, loop), *geometry.edits]
            yield Edit(
                f"split the loop of `{fn.name}` over {parts} rows of blocks",
                source.replace(sorted(edits)),
                f"rule:{_NAME}",
                f"The iterations of line {loop.line} are independent outputs done one after the"
                f" other; {parts} times as many blocks do them side by side.",
                _NAME,
                1.5,
                geometry.launch,
            )
        return


def _exactly(extent: int) -> Change:
    def change(_: str) -> str:
        return str(extent)

    return change


def _knows_no_y(source: Source, fn: Function) -> bool:
    """Return whether the kernel, with all it calls, never looks at blockIdx.y or gridDim.y.

    Functions that get pointers are not followed: they could write what iterations share.
    """
    if any("blockIdx" in m.body or "gridDim" in m.body for m in source.macros if m.active):
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
    allowed = ("blockIdx.x", "gridDim.x")
    for body in bodies:
        named = [n for n in walk(body, "identifier") if source.of(n) in ("blockIdx", "gridDim")]
        seen = [n for n in walk(body, "field_expression") if source.plain(n) in allowed]
        if len(named) != len(seen):
            return False
    return True


def _one_row_of_blocks(kernel: Kernel, source: Source, fn: Function) -> bool:
    found = source.launches_of(fn.name)
    if not found:
        launch = kernel.launch
        return launch is not None and all(text.strip() == "1" for text in launch.grid[1:])
    return all(lc.grid is not None and all(e.value == 1 for e in lc.grid[1:]) for lc in found)


def _independent(source: Source, fn: Function, loop: Loop) -> bool:
    """Return whether a loop is all the kernel does, each iteration to elements of its own."""
    if (
        loop.kind != "for" or not loop.counted or loop.step != 1 or loop.relation not in ("<", "<=")
        or loop.leaves_early or loop.variable is None or loop.start is None
        or not counts_only(loop.variable)
    ):  # fmt: skip
        return False
    if any(
        contains(loop.node, u.node) and not contains(loop.node, v.name_node)
        for v in fn.variables.all
        for u in v.changes
        if not counts_only(v)
    ):
        return False
    if any(not lp.depth and lp.node != loop.node and lp.trips is None for lp in fn.loops):
        return False  # each part would do that one, too
    inside = [a for a in fn.accesses if contains(loop.node, a.node)]
    written = [a for a in inside if a.writes]
    if not written or any(a.writes and a not in written for a in fn.accesses):
        return False
    return all(own_element(source, fn, loop, one, inside) for one in written)


def own_element(
    source: Source, fn: Function, loop: Loop, one: Access, inside: Sequence[Access]
) -> bool:
    """Return whether an element written in an iteration of a loop is touched in no other one."""
    variable = one.variable
    if variable is None or one.kind not in ("write", "update"):
        return False
    if one.space == "local":
        return contains(loop.node, variable.name_node)
    if one.space != "global" or one.index is None or not _moves(fn, loop, one):
        return False
    for other in inside:
        if other is one or other.space in ("local", "constant"):
            continue
        if other.root == one.root:
            if other.index is None or not other.index.same(one.index) or other.cast != one.cast:
                return False
        elif other.variable is None or not apart(source, fn, variable, other.variable):
            return False
    return True


def _moves(fn: Function, loop: Loop, access: Access) -> bool:
    """Return whether different iterations surely write different elements."""
    if access.index is None or any(lp.node != loop.node for lp in access.loops):
        return False
    step = access.loop_stride(loop)
    if step is None:
        return False
    if step.constant is not None:
        return step.constant != 0
    # `j * n` with a parameter `n`: no extent of an array that is written to is zero.
    names = {p.name for p in fn.parameters if not p.is_pointer}
    known = all(s in names or fn.file.constant(s) is not None for s in step.symbols)
    return known and len(step.terms) == 1


def _strided(source: Source, loop: Loop) -> Iterator[Replacement]:
    if loop.start is None or loop.update is None:
        return
    start = source.plain(loop.start)
    yield (
        *span(loop.start),
        "blockIdx.y" if start == "0" else f"{source.of(loop.start)} + (int)blockIdx.y",
    )
    yield (*span(loop.update), f"{loop.name} += gridDim.y")
