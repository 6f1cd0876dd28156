"""Try another block early where the threads of a block wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from optimizer.functions import Function
from optimizer.knobs import MOST_THREADS, alternatives
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.tuning import reshaped

_NAME = "block-size"
_WARP = 32
# A finding asks for another block where that is among its first remedies; that of many stalls
# names it last, and blocks are the tuner's business there.
_FIRST = 2


def block_size(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Launch a kernel with blocks of another size, where that decides more than occupancy.

    Threads that meet at barriers wait for the slowest warp of their block: in a block half as
    large each does twice the work between two barriers, and another block fills the gap. Blocks
    that add what they counted to memory want the opposite: fewer of them add less often. Other
    kernels are left to `tune`, unless a finding asks for another block.
    """
    source = Source(kernel.source)
    asked = {f.subject for f in findings if _NAME in f.remedies[:_FIRST]}
    for fn in source.kernels:
        if fn.broken:
            continue
        together = meets(source, fn)
        if not together and fn.name not in asked:
            continue
        larger = any(access.kind == "atomic" and access.is_global for access in fn.accesses)

        def shapes(sizes: tuple[int, ...], *, grow: bool = larger) -> list[tuple[int, ...]]:
            return _shapes(sizes, grow=grow)

        for names, edit in reshaped(kernel, source, shapes if together else alternatives):
            if fn.name in names:
                why, promise = edit.rationale, 1.05
                if together:
                    promise = 1.3
                    why = (
                        f"Threads of a block meet at barriers in `{fn.name}` (line {fn.line}), so"
                        " its size decides how long they wait and how much each does in between."
                    )
                yield replace(
                    edit, author=f"rule:{_NAME}", kind=_NAME, rationale=why, predicted=promise
                )


def meets(source: Source, fn: Function) -> bool:
    """Return whether threads of a block wait for each other, in device functions included."""
    seen = {fn.name}
    pending = [fn]
    while pending:
        at = pending.pop()
        if at.barriers:
            return True
        for call in at.unknown_calls:
            callee = source.function(call.name)
            if callee is not None and callee.name not in seen:
                seen.add(callee.name)
                pending.append(callee)
    return False


def _shapes(sizes: tuple[int, ...], *, grow: bool) -> list[tuple[int, ...]]:
    """Return shapes to try, likeliest first; a line of threads is halved and quartered at once."""
    if len(sizes) > 1:
        return alternatives(sizes)[:3]
    (n,) = sizes
    near = [2 * n, 4 * n, n // 2] if grow else [n // 2, n // 4, 2 * n]
    return [(m,) for m in near if m % _WARP == 0 and _WARP <= m <= MOST_THREADS]
