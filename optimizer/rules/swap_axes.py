"""Swap the two axes of a launch where neighbouring threads touch elements a row apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import transposed
from optimizer.model import Edit, Finding, Kernel
from optimizer.rules.outputs import alone
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span, walk

_NAME = "swap-axes"
_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_OTHER = {"x": "y", "y": "x"}
# An access in a loop counts for so many outside one.
_IN_LOOP = 8


def swap_axes(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Number threads along y where they were numbered along x, in kernel and launch.

    A mere renaming of the coordinates: each thread does what its mirror image did. Legal where
    nothing depends on which threads make up a warp. Worth it where more elements lie side by side
    along `threadIdx.y` than along `threadIdx.x`, whose threads make up warps.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.warp_calls or fn.has_asm or fn.conditional:
            continue
        if not any("threadIdx.y" in source.plain(n) for n in walk(fn.body, "field_expression")):
            continue
        gain = _gain(fn)
        renamed = _renamed(source, fn) if gain > 0 and alone(source, fn) else None
        geometry = transposed(kernel, source, fn) if renamed is not None else None
        if renamed is None or geometry is None:
            continue
        yield Edit(
            f"swap the axes of `{fn.name}`",
            source.replace(sorted([*renamed, *geometry.edits])),
            f"rule:{_NAME}",
            f"Threads of a warp differ in x, but the kernel of line {fn.line} puts neighbours in"
            " memory along y: with the axes swapped a warp touches whole lines.",
            _NAME,
            3.0,
            geometry.launch,
        )


def _gain(fn: Function) -> int:
    """Return how much more is touched side by side along y than along x."""
    return sum(
        (_apart(a) - _beside(a)) * (_IN_LOOP if a.loops else 1)
        for a in fn.accesses
        if a.space == "global"
    )


def _apart(access: Access) -> bool:
    """Return whether neighbours along x are rows apart, those along y side by side."""
    return access.thread_stride("y") in (1, -1) and access.thread_stride("x") not in (0, 1, -1)


def _beside(access: Access) -> bool:
    return access.thread_stride("x") in (1, -1) and access.thread_stride("y") not in (0, 1, -1)


def _renamed(source: Source, fn: Function) -> list[Replacement] | None:
    """Return the edits that rename all coordinates of a kernel; None if one is not understood."""
    edits: list[Replacement] = []
    for node in walk(fn.body, "identifier"):
        if source.of(node) not in _BUILTINS:
            continue
        outer = node.parent
        text = source.plain(outer) if outer is not None else ""
        axis = text.rpartition(".")[2]
        if outer is None or outer.type != "field_expression" or axis not in ("x", "y", "z"):
            return None
        if axis in _OTHER:
            edits.append((*span(outer), f"{source.of(node)}.{_OTHER[axis]}"))
    return edits
