"""Give 32 columns to a block, whose warps share the rows of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from optimizer.functions import Function, Guard
from optimizer.geometry import Geometry, block_extents, is_flat, regrid, times, warps_of
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.opening import CLOSE, OPEN, names_apart, without_marks
from optimizer.rules.reduction import Update, combine, identity
from optimizer.rules.row_plan import RowPlan, plan_rows
from optimizer.rules.row_text import starts_neutral
from optimizer.rules.strided_loops import start_of
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span, walk

_NAME = "column-blocks"
_WARP = 32
_THREADS = (1024, 256)


def column_blocks(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let the warps of a block share the rows of 32 columns, where a thread had a whole column.

    Lanes still read columns side by side. Sums are joined in shared memory, in an order of their
    own; threads beyond the last column read column 0 and store nothing. Legal where threads know
    nothing but the number of their column and the loops down it only add up.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or fn.launch_bounds is not None or not fn.loops:
            continue
        block = block_extents(kernel, source, fn)
        if (block is not None and block[0] % _WARP) or not is_flat(kernel, source, fn):
            continue
        plan = plan_rows(source, fn, walked="columns")
        if plan is None or not plan.sums:
            continue
        found = _guard(source, fn, plan)
        warps = _warps(source, fn, plan) if block is None else str(block[0] // _WARP)
        if found is None or warps is None or (block is None and found[0] is None):
            continue
        lines = ", ".join(str(loop.line) for loop in plan.lanes)
        for threads in _THREADS:
            geometry = _reshaped(kernel, source, fn, threads, warps)
            if geometry is None:
                break
            edits = [*_rewrite(source, fn, plan, found[0], threads), *geometry.edits]
            text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
            yield Edit(
                f"give 32 columns of `{fn.name}` to a block of {threads} threads",
                without_marks(text),
                f"rule:{_NAME}",
                f"A thread adds up a whole column in line {lines}; {threads // _WARP} warps that"
                " share the rows are as many times more to hide latency.",
                _NAME,
                3.0,
                geometry.launch,
            )


def _guard(source: Source, fn: Function, plan: RowPlan) -> tuple[Guard | None] | None:
    """Return the one test of the column's number, if any, with all barriers right behind it."""
    name = plan.row.variable.name
    if not plan.row.variable.settled:
        return None
    found = [g for g in fn.guards if any(n == name for n, _, _ in g.bounds or ())]
    returns = list(walk(fn.body, "return_statement"))
    top: Node = fn.body
    if len(found) > 1 or len(returns) != sum(g.exits for g in found):
        return None
    if found:
        guard = found[0]
        if guard.bounds is None or len(guard.bounds) != 1 or guard.bounds[0][1] != "<":
            return None
        bound = guard.bounds[0][2]
        for use in fn.variables.within(bound):
            if use.variable is not None and (
                use.variable.space != "parameter" or not use.variable.settled
            ):
                return None
        if not fn.uniform(bound):
            return None
        if not guard.exits:
            top = guard.body
            if guard.body.type != "compound_statement":
                return None
            if any(a for a in fn.accesses if not contains(top, a.node) and a.space != "local"):
                return None
        elif not contains(guard.node, returns[0]):
            return None
    if any(loop.node.parent != top for loop, _ in plan.sums):
        return None
    if any(not source.in_block(s) for s in plan.guarded):
        return None
    return (found[0] if found else None,)


def _warps(source: Source, fn: Function, plan: RowPlan) -> str | None:
    """Return the warps of a block whose size only the running program knows, rounded up."""
    found = source.launches_of(fn.name)
    sizes = {(lc.block_variable, lc.block[0].text) for lc in found if lc.block}
    if len(found) != 1 or len(sizes) != 1 or plan.row.block != "blockDim.x":
        return None
    if not source.only_launched(fn.name):
        return None
    variable, text = sizes.pop()
    size = f"{variable}.x" if variable else text
    return f"({warps_of(size)})"


def _reshaped(
    kernel: Kernel, source: Source, fn: Function, threads: int, warps: str
) -> Geometry | None:
    geometry = regrid(kernel, source, fn, {"x": times(warps)})
    if geometry is None:
        return None
    if geometry.launch is not None:
        return Geometry((), replace(geometry.launch, block=(str(threads),)))
    blocks = {lc.block_span: str(threads) for lc in source.launches_of(fn.name)}
    return Geometry((*geometry.edits, *((*at, new) for at, new in blocks.items())))


def _rewrite(
    source: Source, fn: Function, plan: RowPlan, guard: Guard | None, threads: int
) -> Iterator[Replacement]:
    variable = plan.row.variable
    taken = [v.name for v in fn.variables.all]
    part = source.fresh_name("part", *taken)
    inside = source.fresh_name("inside", *taken)
    column = source.fresh_name("column", *taken)
    if variable.init is None:
        return
    number = f"blockIdx.x * {_WARP} + threadIdx.x % {_WARP}"
    yield source.insert_after(variable.declaration, f"int {part} = threadIdx.x / {_WARP};")
    alone = f"if ({part} == 0) "
    if guard is None or guard.bounds is None:
        yield (*span(variable.init), number)
    else:
        bound = source.of(guard.bounds[0][2])
        lines = f"int {column} = {number};\nbool {inside} = {column} < {bound};"
        yield source.insert_before(variable.declaration, lines)
        yield (*span(variable.init), f"{inside} ? {column} : 0")
        alone = f"if ({part} == 0 && {inside}) "
        if guard.exits:
            yield (*source.statement_span(guard.node), "")
        elif names_apart(fn, guard.body):
            yield (guard.node.start_byte, guard.body.start_byte + 1, OPEN)
            yield (guard.body.end_byte - 1, guard.body.end_byte, CLOSE)
        else:
            yield (guard.node.start_byte, guard.body.start_byte, "")
    for loop in plan.lanes:
        first = start_of(loop)
        if first is None or loop.update is None:
            return
        start = source.plain(first)
        yield (*span(first), part if start == "0" else f"{source.of(first)} + {part}")
        yield (*span(loop.update), f"{loop.name} += {threads // _WARP}")
    for loop, sums in plan.sums:
        yield from _joined(source, fn, loop, sums, part, threads // _WARP)
    for statement in plan.guarded:
        yield (statement.start_byte, statement.start_byte, alone)


def _joined(
    source: Source, fn: Function, loop: Loop, sums: Sequence[Update], part: str, parts: int
) -> Iterator[Replacement]:
    taken = [v.name for v in fn.variables.all]
    margin = source.indent(loop.node)
    step = "\t" if margin.endswith("\t") else "    "
    other = source.fresh_name("other", *taken)
    lane = f"threadIdx.x % {_WARP}"
    places: dict[str, str] = {}
    for update in sums:
        name = update.variable.name
        neutral = identity(update)
        if neutral is not None and not starts_neutral(source, loop, update, neutral):
            yield source.insert_before(loop.node, f"if ({part} > 0) {name} = {neutral};")
        places[name] = source.fresh_name(f"{name}_of_part", *taken)
        taken.append(places[name])
    lines = [
        *(
            f"__shared__ {u.variable.element} {places[u.variable.name]}[{parts}][{_WARP}];"
            for u in sums
        ),
        *(f"{place}[{part}][{lane}] = {name};" for name, place in places.items()),
        "__syncthreads();",
        *(f"{name} = {place}[0][{lane}];" for name, place in places.items()),
        f"for (int {other} = 1; {other} < {parts}; {other}++) {{",
        *(step + combine(u, f"{places[u.variable.name]}[{other}][{lane}]") for u in sums),
        "}",
    ]  # fmt: skip
    at = loop.node.end_byte
    yield (at, at, "".join(f"\n{margin}{line}" for line in lines))
