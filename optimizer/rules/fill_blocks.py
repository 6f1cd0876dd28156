"""Put the work of blocks of one thread into blocks of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.geometry import Change, Geometry, block_extents, regrid
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.outputs import alone, fewer
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import ancestors, contains, field, operator, span, stripped, walk

_NAME = "fill-blocks"
_LINES = (256, 128, 64, 32)
_SQUARES = ((16, 16), (32, 8), (8, 8), (32, 1), (16, 2))


def fill_blocks(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Launch blocks of 256 threads in place of blocks of one, which leave 31 of 32 lanes idle.

    `blockIdx.x` becomes `blockIdx.x * blockDim.x + threadIdx.x`. Legal where the kernel knows its
    thread by its block alone, threads do not talk to each other, and the number of the block is
    tested against an extent or all extents of the grid are seen and divided exactly.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or block_extents(kernel, source, fn) != (1, 1, 1):
            continue
        axes = _axes(source, fn)
        if not axes or not alone(source, fn):
            continue
        for block, changes in _shapes(kernel, source, fn, axes):
            geometry = _filled(kernel, source, fn, block, changes)
            if geometry is None:
                continue
            edits = [*_numbers(source, fn, axes), *geometry.edits]
            shape = "x".join(str(n) for n in block)
            yield Edit(
                f"launch `{fn.name}` with blocks of {shape} threads in place of one",
                source.replace(sorted(edits)),
                f"rule:{_NAME}",
                f"Blocks of one thread (line {fn.line}) leave 31 lanes of each warp idle, and a"
                " multiprocessor holds 32 blocks at most.",
                _NAME,
                8.0,
                geometry.launch,
            )


def _axes(source: Source, fn: Function) -> str:
    """Return the axes along which a kernel asks for its block; empty when it asks for threads."""
    axes = ""
    for node in walk(fn.body, "identifier"):
        if source.of(node) not in ("threadIdx", "blockDim", "blockIdx", "gridDim"):
            continue
        text = source.plain(node.parent)
        if text.partition(".")[0] not in ("blockIdx", "gridDim") or text[-2:-1] != ".":
            return ""
        axes += text[-1] if text.startswith("blockIdx") and text[-1] not in axes else ""
    return axes if set(axes) <= {"x", "y"} and "x" in axes else ""


def _shapes(
    kernel: Kernel, source: Source, fn: Function, axes: str
) -> Iterator[tuple[tuple[int, ...], dict[str, Change]]]:
    """Yield blocks with what becomes of the grid, best first."""
    grids = _grids(kernel, source, fn)
    if axes == "x" and all(g[1:] == (1, 1) for g in grids) and _tested(source, fn):
        for threads in _LINES[:3]:
            yield (threads,), {"x": fewer(threads)}
        return
    if any(n is None for g in grids for n in g) or not grids:
        return
    if axes == "x":
        fits = [n for n in _LINES if all(g[0] is not None and g[0] % n == 0 for g in grids)]
        for threads in fits[:2]:
            yield (threads,), {"x": _over(threads)}
        return
    for x, y in _SQUARES:
        if all(g[0] is not None and g[1] is not None and not g[0] % x and not g[1] % y
               for g in grids):  # fmt: skip
            yield (x, y), {"x": _over(x), "y": _over(y)}


def _grids(kernel: Kernel, source: Source, fn: Function) -> list[tuple[int | None, ...]]:
    found: list[tuple[int | None, ...]] = []
    for launch in source.launches_of(fn.name):
        sizes = [e.value for e in launch.grid or ()]
        found.append(tuple([*sizes, 1, 1][:3]) if sizes else (None, None, None))
    if not found and kernel.launch is not None:
        sizes = [source.value(text) for text in kernel.launch.grid]
        found.append(tuple([*sizes, 1, 1][:3]))
    return found


def _over(factor: int) -> Change:
    def change(text: str) -> str:
        plain = text.replace(".", "").replace("_", "").isalnum()
        return f"{text} / {factor}" if plain else f"({text}) / {factor}"

    return change


def _tested(source: Source, fn: Function) -> bool:
    """Return whether all memory is touched under one test of the block's number from above."""
    numbers = {"blockIdx.x"}
    for variable in fn.variables.all:
        if variable.init is not None and source.plain(variable.init) == "blockIdx.x":
            numbers.add(variable.name)
    calls = [c.node for c in (*fn.unknown_calls, *fn.atomics)]
    touched = [*(a.node for a in fn.accesses if a.space != "local"), *calls]
    exits = [
        g.node.end_byte
        for g in fn.guards
        if g.exits and any(n in numbers and s in ("<", "<=") for n, s, _ in g.bounds or ())
    ]
    return bool(touched) and all(
        any(end <= node.start_byte for end in exits)
        or any(_limits(source, outer, numbers, node) for outer in ancestors(node, fn.body))
        for node in touched
    )


def _limits(source: Source, outer: Node, numbers: set[str], node: Node) -> bool:
    """Return whether a node stands in the body of an `if` or loop over `number < extent`."""
    body = field(outer, "consequence") or field(outer, "body")
    if outer.type not in ("if_statement", "while_statement", "for_statement") or body is None:
        return False
    pending, test = [field(outer, "condition")], False
    while pending:
        part = stripped(pending.pop())
        if part is None or part.type != "binary_expression":
            continue
        left, right = field(part, "left"), field(part, "right")
        if operator(part) == "&&":
            pending += [left, right]
        test = test or (operator(part) in ("<", "<=") and source.plain(stripped(left)) in numbers)
        test = test or (operator(part) in (">", ">=") and source.plain(stripped(right)) in numbers)
    return test and contains(body, node)


def _filled(
    kernel: Kernel, source: Source, fn: Function, block: tuple[int, ...], changes: dict[str, Change]
) -> Geometry | None:
    geometry = regrid(kernel, source, fn, changes)
    if geometry is None:
        return None
    launch = geometry.launch and replace(geometry.launch, block=tuple(str(n) for n in block))
    text = str(block[0]) if len(block) == 1 else f"dim3({', '.join(str(n) for n in block)})"
    blocks = {lc.block_span: text for lc in source.launches_of(fn.name)}
    return Geometry((*geometry.edits, *((*at, new) for at, new in blocks.items())), launch)


def _numbers(source: Source, fn: Function, axes: str) -> Iterator[Replacement]:
    for node in walk(fn.body, "field_expression"):
        text = source.plain(node)
        axis = text[-1]
        if axis not in axes:
            continue
        new = {
            f"blockIdx.{axis}": f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}",
            f"gridDim.{axis}": f"gridDim.{axis} * blockDim.{axis}",
        }.get(text)
        if new is not None:
            whole = node.parent is not None and node.parent.type == "init_declarator"
            yield (*span(node), new if whole else f"({new})")
