"""Give a row to a warp instead of a thread: lanes read neighbours, shuffles combine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import Geometry, block_extents, regrid, times, whole_warps
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.row_plan import RowPlan, plan_rows
from optimizer.rules.row_text import by_lanes
from optimizer.rules.strided_loops import WARP
from optimizer.source import Source
from optimizer.spans import Replacement

_NAME = "warp-per-row"
# Lanes that share a row. Fewer than a warp's where rows are short: of 48 elements a row, 32 lanes
# work half of the time, and a warp waits for one row instead of four.
_LANES = (WARP, 8, 16)


def warp_per_row(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Turn one thread per row into one warp per row where the row's elements lie side by side.

    Threads of a warp then read neighbouring addresses instead of ones a row apart. Legal when the
    loops over a row are reductions or independent maps, nothing else depends on the thread's
    number, and blocks are whole warps, to which those of a size that only the running program knows
    are rounded up. Float sums are reordered. Where a row's length is not seen,
    8 or 16 lanes a row are offered, too: four or two rows a warp.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        block = block_extents(kernel, source, fn)
        if block is not None and (block[0] % WARP or block[1:] != (1, 1)):
            continue
        rounded = whole_warps(source, fn) if block is None and kernel.launch is None else ()
        plan = plan_rows(source, fn, stepped=True, places=True) if rounded is not None else None
        if plan is None or rounded is None or (block is None and not rounded):
            continue
        if rounded and plan.row.block != "blockDim.x":
            continue
        for lanes in _LANES if _may_be_short(plan) else _LANES[:1]:
            edit = _edit(kernel, source, fn, plan, lanes, rounded)
            if edit is not None:
                yield edit


def _may_be_short(plan: RowPlan) -> bool:
    """Return whether rows may be too short for a warp: none of their loops is seen to be long."""
    return all(loop.trips is None or loop.trips < 4 * WARP for loop in plan.lanes)


def _edit(
    kernel: Kernel,
    source: Source,
    fn: Function,
    plan: RowPlan,
    lanes: int,
    rounded: Sequence[Replacement],
) -> Edit | None:
    """Return the edit that gives a row to so many lanes; None where the grid cannot change."""
    if plan.stepped is not None and _grid_is_number(source, fn):
        geometry: Geometry | None = Geometry()
    else:
        geometry = regrid(kernel, source, fn, {"x": times(lanes)})
    if geometry is None:
        return None
    edits = [*by_lanes(source, fn, plan, lanes=lanes), *geometry.edits, *rounded]
    lines = ", ".join(str(loop.line) for loop in plan.lanes)
    some = "a warp" if lanes == WARP else f"{lanes} lanes"
    return Edit(
        f"give each row of `{fn.name}` to {some}",
        source.replace(sorted(edits)),
        f"rule:{_NAME}",
        f"Neighbouring threads walk rows of their own in line {lines}, so a warp touches 32"
        f" separate segments at a time; {lanes} lanes on one row touch neighbouring elements.",
        _NAME,
        3.0,
        geometry.launch,
    )


def _grid_is_number(source: Source, fn: Function) -> bool:
    """Return whether all grids have a size of their own, whatever the rows."""
    found = source.launches_of(fn.name)
    return bool(found) and all(lc.grid and lc.grid[0].value is not None for lc in found)
