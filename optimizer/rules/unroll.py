"""Ask the compiler to unroll inner loops that it leaves rolled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.model import Edit, Finding, Kernel
from optimizer.source import Source
from optimizer.syntax import contains

_NAME = "unroll"
_FACTORS = (4, 8)
# The compiler unrolls loops of so many iterations by itself when it sees the number.
_SEEN_BY_COMPILER = 16
_LONGEST_BODY = 1500


def unroll(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Put `#pragma unroll` in front of innermost loops, by 4, by 8, or whole where it is short.

    More loads are then in flight and the loop's own arithmetic is shared. Always legal; barriers
    in a loop keep it as it is, because registers would grow without a gain, and a loop that only
    stores has nothing to wait for.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken:
            continue
        inner = [loop for loop in fn.loops if _worth(source, fn, loop)]
        if not inner:
            continue
        lines = ", ".join(str(loop.line) for loop in inner)
        whole = all(loop.trips is not None and loop.trips <= 64 for loop in inner)
        for factor in ("", *map(str, _FACTORS)) if whole else map(str, _FACTORS):
            pragma = f"#pragma unroll {factor}".rstrip()
            yield Edit(
                f"unroll the inner loop of `{fn.name}`" + (f" by {factor}" if factor else ""),
                source.replace(sorted(source.insert_before(lp.node, pragma) for lp in inner)),
                f"rule:{_NAME}",
                f"Iterations of the loop in line {lines} do not wait for each other's loads; the"
                " compiler keeps it rolled because it does not know its length.",
                _NAME,
                1.1,
            )


def _worth(source: Source, fn: Function, loop: Loop) -> bool:
    if loop.kind != "for" or loop.pragma is not None or not source.in_block(loop.node):
        return False
    if any(contains(loop.body, other.node) for other in fn.loops):
        return False
    if any(contains(loop.node, c.node) for c in (*fn.barriers, *fn.atomics)):
        return False
    short = loop.trips is not None and loop.trips <= _SEEN_BY_COMPILER
    loads = any(a.reads and contains(loop.body, a.node) for a in fn.accesses)
    return loads and not short and len(source.of(loop.body)) < _LONGEST_BODY
