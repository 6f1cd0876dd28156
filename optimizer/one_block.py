"""Numbers of threads in kernels launched as one block, written as those of any grid."""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.functions import Function
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span, walk

_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def one_block(source: Source, fn: Function) -> Iterator[tuple[Replacement, ...]]:
    """Yield `int i = threadIdx.x;` as the number in the grid where the grid is one block.

    Rules for a thread a row or element then apply, and may launch more blocks. The launch belongs
    to the replacement: where an edit changes it, the number stays that of the grid.
    """
    if fn.shared or fn.barriers or fn.warp_calls:
        return
    launches = source.launches_of(fn.name)
    if not launches or not source.only_launched(fn.name):
        return
    if any(lc.grid is None or any(e.value != 1 for e in lc.grid) for lc in launches):
        return
    own = [v for v in fn.variables.all if v.init is not None and v.is_scalar
           and source.plain(v.init) == "threadIdx.x"]  # fmt: skip
    named = [n for n in walk(fn.body, "identifier") if source.of(n) in _BUILTINS]
    if len(own) != 1 or own[0].init is None or len(named) != 1 or not own[0].settled:
        return
    spans = dict.fromkeys(lc.grid_span for lc in launches)
    yield (
        (*span(own[0].init), "blockIdx.x * blockDim.x + threadIdx.x"),
        *((low, high, source.text[low:high]) for low, high in spans),
    )
