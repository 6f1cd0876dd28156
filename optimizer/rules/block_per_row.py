"""Give a row to a block instead of a thread: for rows too long, or too few, for a warp each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import block_extents, is_flat, regrid, times
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.reduction import Update, identity, joins
from optimizer.rules.row_plan import RowPlan, plan_rows
from optimizer.rules.row_text import starts_neutral
from optimizer.rules.strided_loops import start_of
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span

_NAME = "block-per-row"
_WARP = 32


def block_per_row(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Turn one thread per row into one block per row where the row's elements lie side by side.

    Legal where `warp_per_row` is. All threads of a block then work on the same row, so whatever
    they test is the same for all, and barriers can stand behind the row's loops. Float sums are
    reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[0] % _WARP or block[0] == _WARP:
            continue
        if not is_flat(kernel, source, fn):
            continue
        plan = plan_rows(source, fn, places=True)
        geometry = regrid(kernel, source, fn, {"x": times(block[0])}) if plan else None
        if plan is None or geometry is None:
            continue
        edits = [*_rewrite(source, fn, plan), *geometry.edits]
        lines = ", ".join(str(loop.line) for loop in plan.lanes)
        yield Edit(
            f"give each row of `{fn.name}` to a block",
            source.replace(sorted(edits)),
            f"rule:{_NAME}",
            f"Neighbouring threads walk rows of their own in line {lines}; a block on one row"
            " reads neighbouring elements and fills the GPU even with few rows.",
            _NAME,
            2.5,
            geometry.launch,
        )


def _rewrite(source: Source, fn: Function, plan: RowPlan) -> Iterator[Replacement]:
    init = plan.row.variable.init
    if init is None:
        return
    yield (*span(init), "blockIdx.x")
    for loop in plan.lanes:
        yield from by_threads(source, loop)
    taken = [v.name for v in fn.variables.all]
    for loop, sums in plan.sums:
        yield from by_block(source, fn, loop, sums, taken)
    for statement in plan.guarded:
        yield (statement.start_byte, statement.start_byte, "if (threadIdx.x == 0) ")


def by_threads(source: Source, loop: Loop) -> Iterator[Replacement]:
    """Yield the edits by which the threads of a block stride a loop."""
    first_value = start_of(loop)
    if first_value is None or loop.update is None:
        return
    start = source.of(first_value)
    first = "threadIdx.x" if start == "0" else f"{start} + (int)threadIdx.x"
    yield (*span(first_value), first)
    yield (*span(loop.update), f"{loop.name} += blockDim.x")


def by_block(
    source: Source, fn: Function, loop: Loop, sums: Sequence[Update], taken: list[str]
) -> Iterator[Replacement]:
    """Yield the edits that start each sum once and join it over the block behind a loop."""
    for update in sums:
        neutral = identity(update)
        if neutral is not None and not starts_neutral(source, loop, update, neutral):
            line = f"if (threadIdx.x > 0) {update.variable.name} = {neutral};"
            yield source.insert_before(loop.node, line)
    lines = _joined(source, fn, loop, sums, taken)
    margin = source.indent(loop.node)
    at = loop.node.end_byte
    yield (at, at, "".join(f"\n{margin}{line}" for line in lines))


def _joined(
    source: Source, fn: Function, loop: Loop, sums: Sequence[Update], taken: list[str]
) -> Iterator[str]:
    """Yield the lines that join each sum over the block, so that all threads know it."""
    offset, warp = source.fresh_name("offset", *taken), source.fresh_name("w", *taken)
    step = "\t" if source.indent(loop.node).endswith("\t") else "    "
    parts: dict[str, str] = {}
    for update in sums:
        name = update.variable.name
        parts[name] = source.fresh_name(f"{name}_of_warp", *taken)
        taken.append(parts[name])
        yield f"__shared__ {update.variable.element} {parts[name]}[{_WARP}];"
    yield f"for (int {offset} = {_WARP // 2}; {offset} > 0; {offset} /= 2) {{"
    for line in joins(source, sums, lambda s: f"__shfl_xor_sync(0xffffffff, {s}, {offset})", taken):
        yield step + line
    yield "}"
    for name, part in parts.items():
        yield f"if (threadIdx.x % {_WARP} == 0) {part}[threadIdx.x / {_WARP}] = {name};"
    yield "__syncthreads();"
    for name, part in parts.items():
        yield f"{name} = {part}[0];"
    yield f"for (int {warp} = 1; {warp} < blockDim.x / {_WARP}; {warp}++) {{"
    for line in joins(source, sums, lambda s: f"{parts[s]}[{warp}]", taken):
        yield step + line
    yield "}"
    if fn.loops_around(loop.node):
        yield "__syncthreads();"
