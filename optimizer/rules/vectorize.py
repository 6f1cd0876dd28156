"""Load and store several neighbouring elements a thread at once: float4 instead of float."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optimizer.functions import Function
from optimizer.geometry import Change, Geometry, regrid
from optimizer.model import Edit, Finding, Kernel, Launch
from optimizer.rules import wide_text
from optimizer.rules.odometer import Odometer, odometer
from optimizer.rules.wide_arrays import SIZES, Array, arrays_of
from optimizer.rules.wide_work import Work, guarded, strided
from optimizer.source import Source

_NAME = "vectorize"


def vectorize(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Give a thread 2 to 16 neighbouring elements, moved by one wide load or store an array.

    For elementwise kernels, with one element a thread or a grid-stride loop. Whether the addresses
    are aligned is tested when the kernel runs; where not, and at the end, elements move singly.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or fn.unknown_names:
            continue
        work = guarded(source, fn) or strided(fn)
        arrays = arrays_of(source, fn, work) if work is not None else ()
        if work is None or not arrays:
            continue
        if work.loop is None and odometer(fn, work.variable, work.statements) is not None:
            continue  # coordinates are better counted on: `carry-digits`
        for width, text, launch in _widened(kernel, source, fn, work, arrays):
            lines = ", ".join(dict.fromkeys(str(a.accesses[0].line) for a in arrays))
            yield Edit(
                f"move {width} elements a thread at once in `{fn.name}`",
                text,
                f"rule:{_NAME}",
                f"Neighbouring threads touch neighbouring elements in line {lines}; one wide"
                f" access of {width} costs one instruction and keeps more bytes in flight.",
                _NAME,
                1.15,
                launch,
            )


def neighbours(
    kernel: Kernel, source: Source, fn: Function
) -> Iterator[tuple[int, str, Launch | None]]:
    """Yield how many neighbours a thread works on, and the text and launch where it does.

    For kernels that take the number of their element apart into coordinates, which are divided
    for the first of the neighbours only.
    """
    if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
        return
    if fn.conditional or fn.unknown_names:
        return
    work = guarded(source, fn)
    counter = odometer(fn, work.variable, work.statements) if work is not None else None
    arrays = arrays_of(source, fn, work) if work is not None and counter is not None else ()
    if work is not None and arrays:
        yield from _widened(kernel, source, fn, work, arrays, counter)


def _widened(
    kernel: Kernel,
    source: Source,
    fn: Function,
    work: Work,
    arrays: Sequence[Array],
    counter: Odometer | None = None,
) -> Iterator[tuple[int, str, Launch | None]]:
    geometry: Geometry | None = Geometry()
    for width in _widths(arrays):
        if work.loop is None:
            geometry = regrid(kernel, source, fn, {"x": _fewer(width)})
        if geometry is None:
            break
        edits = [
            *wide_text.edits(source, fn, work, arrays, width, counter),
            *geometry.edits,
        ]
        yield width, source.replace(sorted(edits, key=lambda e: (e[0], e[1]))), geometry.launch


def _widths(arrays: Sequence[Array]) -> tuple[int, ...]:
    """Return how many elements to move at once: 16 bytes of the largest type, then half."""
    most = max(SIZES[a.kind] for a in arrays)
    return tuple(w for w in (16 // most, 8 // most, 4 // most) if w >= 2)[:2]


def _fewer(factor: int) -> Change:
    def change(text: str) -> str:
        return f"({text} + {factor - 1}) / {factor}"

    return change
