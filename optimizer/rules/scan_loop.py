"""Share a loop that keeps a running sum among the threads of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import Geometry, block_extents, by_workload, is_flat, regrid, times
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.running_sums import RunningSum, running_sum
from optimizer.rules.serial import Likeness, first_thread
from optimizer.rules.tiles_text import WARP, tiles
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, walk

_NAME = "scan-loop"
_ONLY = (1024, 256)  # threads of a block that had one


def scan_loop(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Let a block sum up a tile of elements at a time where one thread summed up one by one.

    For loops that store a running sum, with each element's own or without, in kernels of one
    thread a block, under a test for thread 0, or with a row for each thread, which then gets a
    block. Tiles are summed up by shuffles. Float sums are reordered.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.has_asm or fn.has_goto or fn.conditional or not fn.loops:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[1:] != (1, 1) or any(v.volatile for v in fn.variables.all):
            continue
        if block[0] == 1:
            yield from _only_thread(kernel, source, fn)
        elif not block[0] % WARP:
            yield from _first_thread(source, fn, block[0])
            yield from _rows(kernel, source, fn, block[0])


def _edit(fn: Function, sums: Sequence[RunningSum], text: str, how: str, gain: float) -> Edit:
    lines = ", ".join(str(s.loop.line) for s in sums)
    return Edit(
        f"sum up tiles in `{fn.name}` by the threads of a block{how}",
        text,
        f"rule:{_NAME}",
        f"One thread keeps the running sum of line {lines}, an element at a time; a block sums up"
        " as many elements as it has threads by shuffles, and carries on with the next.",
        _NAME,
        gain,
    )


# -- who walks the loop --------------------------------------------------------------------------


def _only_thread(kernel: Kernel, source: Source, fn: Function) -> Iterator[Edit]:
    """Yield the kernel with more threads a block, where a block had one."""
    if fn.shared or fn.barriers or fn.warp_calls or fn.unknown_calls or fn.unknown_names:
        return
    names = {source.of(n) for n in walk(fn.body, "identifier")}
    if names & {"threadIdx", "blockDim"} or not _calls_know_no_threads(source, fn):
        return
    sums = _sums(source, fn, fn.body)
    guarded = _guarded(source, fn, fn.body, sums) if sums else None
    if sums is None or guarded is None:
        return
    for threads in _ONLY:
        geometry = _widened(kernel, source, fn, threads)
        if geometry is None:
            return
        edits = [*_together(source, fn, sums, guarded, threads), *geometry.edits]
        text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
        yield replace(_edit(fn, sums, text, f" of {threads}", 20.0), launch=geometry.launch)


def _first_thread(source: Source, fn: Function, threads: int) -> Iterator[Edit]:
    """Yield the kernel with all threads let in where only thread 0 was."""
    for first in first_thread(source, fn, Likeness(source, fn)):
        body = field(first.node, "consequence")
        if first.exits or body is None or body.type != "compound_statement":
            continue
        if not Likeness(source, fn, first.node)(body):
            continue
        sums = _sums(source, fn, body)
        guarded = _guarded(source, fn, body, sums) if sums else None
        if sums is None or guarded is None or _changed_outside(fn, body):
            continue
        edits = [*_together(source, fn, sums, guarded, threads)]
        kept = f"if ({first.kept}) " if first.kept else ""
        edits.append((first.node.start_byte, body.start_byte, kept))
        text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
        yield _edit(fn, sums, text, "", 6.0)


def _rows(kernel: Kernel, source: Source, fn: Function, threads: int) -> Iterator[Edit]:
    """Yield the kernel with a block for each row that a thread had."""
    ids = [t for t in fn.thread_ids if t.axis == "x"]
    if len(ids) != 1 or fn.shared or fn.barriers or fn.warp_calls or fn.unknown_calls:
        return
    row = ids[0].variable
    init = row.init
    if init is None or not row.settled or fn.unknown_names or not is_flat(kernel, source, fn):
        return
    builtins = [n for n in walk(fn.body, "identifier")
                if source.of(n) in ("threadIdx", "blockIdx", "blockDim", "gridDim")]  # fmt: skip
    if not all(contains(init, n) for n in builtins) or not _calls_know_no_threads(source, fn):
        return
    sums = _sums(source, fn, fn.body)
    guarded = _guarded(source, fn, fn.body, sums) if sums else None
    geometry = regrid(kernel, source, fn, {"x": times(threads)}) if sums else None
    if sums is None or guarded is None or geometry is None:
        return
    for scan in sums:
        stores = [a for a in fn.accesses_in(scan.loop.node) if a.writes]
        strides = [a.loop_stride(scan.loop) for a in stores]
        if not all(s is not None and s.constant == 1 for s in strides):
            return  # down a column: neighbouring threads already touch neighbouring elements
    edits = [*_together(source, fn, sums, guarded, threads), *geometry.edits]
    edits.append((*span(init), "blockIdx.x"))
    text = source.replace(sorted(edits, key=lambda e: (e[0], e[1])))
    yield replace(_edit(fn, sums, text, ", one a row", 4.0), launch=geometry.launch)


def _widened(kernel: Kernel, source: Source, fn: Function, threads: int) -> Geometry | None:
    found = source.launches_of(fn.name)
    edits = tuple({lc.block_span: (*lc.block_span, str(threads)) for lc in found}.values())
    if edits and not by_workload(kernel, fn):
        return Geometry(edits)
    launch = kernel.launch
    if launch is None or not launch.tunable:
        return None
    return Geometry(edits, replace(launch, block=(str(threads),)))


def _calls_know_no_threads(source: Source, fn: Function) -> bool:
    if any("threadIdx" in body for body in source.macro_bodies(fn)):
        return False
    return not any(
        source.of(n) in ("threadIdx", "blockDim")
        for call in fn.calls
        if (callee := source.function(call.name)) is not None
        for n in walk(callee.body, "identifier")
    )


def _changed_outside(fn: Function, body: Node) -> bool:
    """Return whether a block changes variables that are declared outside it."""
    return any(
        u.writes and u.variable is not None and not contains(body, u.variable.name_node)
        and u.role in ("write", "update", "address")
        for u in fn.variables.within(body)
    )  # fmt: skip


# -- legality ------------------------------------------------------------------------------------


def _sums(source: Source, fn: Function, body: Node) -> tuple[RunningSum, ...] | None:
    """Return the loops in a block when all of them keep running sums."""
    loops = [lp for lp in fn.loops if contains(body, lp.node)]
    found = [running_sum(source, fn, lp) for lp in loops]
    sums = tuple(s for s in found if s is not None)
    return sums if sums and len(sums) == len(loops) else None


def _guarded(
    source: Source, fn: Function, body: Node, sums: Sequence[RunningSum]
) -> tuple[Node, ...] | None:
    """Return the statements outside the loops that only one thread may do; None if not plain."""
    found: dict[int, Node] = {}
    inside = [
        a for a in fn.accesses_in(body) if not any(contains(s.loop.node, a.node) for s in sums)
    ]
    for access in inside:
        if access.kind == "atomic" or access.space == "local":
            return None
        if not access.writes:
            continue
        statement = fn.statement(access.node)
        if statement is None or statement.type != "expression_statement":
            return None
        if not source.in_block(statement) or any(
            u.role in ("write", "update") for u in fn.variables.within(statement)
        ):
            return None
        found[statement.id] = statement
    # What one thread stores all others may read afterwards: in the loops, behind a barrier.
    written = {a.root for a in inside if a.writes}
    if any(a.reads and a.root in written and not _alone(found, a.node) for a in inside):
        return None
    if any(True for _ in walk(body, "return_statement")) and any(
        r.start_byte > sums[0].loop.node.start_byte for r in walk(body, "return_statement")
    ):
        return None
    return tuple(found.values())


def _alone(guarded: dict[int, Node], node: Node) -> bool:
    return any(contains(s, node) for s in guarded.values())


# -- the edit ------------------------------------------------------------------------------------


def _together(
    source: Source, fn: Function, sums: Sequence[RunningSum], guarded: Sequence[Node], threads: int
) -> Iterator[Replacement]:
    """Yield the edits by which all threads of a block do what one did."""
    taken = [v.name for v in fn.variables.all]
    touched = [a for a in fn.accesses if a.space != "local"]
    for scan in sums:
        low, high = span(scan.loop.node)
        text = tiles(source, scan, threads, taken)
        margin = source.indent(scan.loop.node)
        if any(a.writes and a.node.start_byte < low for a in touched):
            text = f"__syncthreads();\n{margin}{text}"
        if threads == WARP and any(a.node.start_byte >= high for a in touched):
            text = f"{text}\n{margin}__syncthreads();"
        yield (low, high, text)
    for statement in guarded:
        yield (statement.start_byte, statement.start_byte, "if (threadIdx.x == 0) ")
