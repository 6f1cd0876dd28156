"""Other blocks for kernels that a workload's own launch geometry starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from optimizer.functions import Function
from optimizer.knobs import (
    MOST_THREADS,
    Knob,
    Places,
    alternatives,
    by_block,
    numbers_threads,
    repeated,
    sizes_shared,
    strided,
)
from optimizer.model import Kernel, Launch
from optimizer.source import Source
from optimizer.syntax import span
from optimizer.tokens import integer


def loader_knobs(
    source: Source,
    kernel: Kernel,
    shapes: Callable[[tuple[int, ...]], Sequence[tuple[int, ...]]] = alternatives,
) -> Iterator[Knob]:
    """Yield other blocks for a kernel that the workload's own launch geometry starts."""
    launch = kernel.launch
    function = source.function(kernel.name)
    if launch is None or not launch.tunable or function is None or function.broken:
        return
    if source.launches_of(function.name):
        return  # its own launches are another geometry, written in the text
    sizes = [integer(b.strip()) for b in launch.block]
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    if any(s is None for s in sizes):
        return
    present = tuple(s or 0 for s in sizes)
    for rank, shape in enumerate(shapes(present)):
        found = _regeared(source, function, launch, present, shape)
        if found is None:
            continue
        places, new = found
        was, now = "x".join(map(str, present)), "x".join(map(str, shape))
        yield Knob(
            f"launch `{function.name}` with blocks of {now} instead of {was} threads",
            "Another block size changes occupancy, tail effects and cache use.",
            tuple(places.items()),
            rank + (0.5 if len(present) > 1 else 0.0),
            frozenset({function.name}),
            new,
        )


def _regeared(
    source: Source,
    f: Function,
    launch: Launch,
    present: tuple[int, ...],
    shape: tuple[int, ...],
) -> tuple[Places, Launch] | None:
    """Return the new launch and what changes in the source along with it."""
    places: Places = {}
    grid = list(launch.grid)
    shared = launch.shared
    total = 1
    for axis, (old, new) in enumerate(zip(present, shape, strict=True)):
        total *= new
        tied = _tied(source, f, axis, old, new)
        if tied is None:
            if old == new:
                continue
            return None
        for where, value in tied.items():
            if places.setdefault(where, value) != value:
                return None
        if axis < len(grid):
            grid[axis] = _rewritten(grid[axis], old, new)
        if len(present) == 1:
            shared = _rewritten(shared, old, new)
    block = (*map(str, shape), *launch.block[len(shape) :])
    changed = replace(launch, grid=tuple(grid), block=block, shared=shared)
    if changed.grid == launch.grid and numbers_threads(f):
        return None
    limit = source.value(f.launch_bounds[0]) if f.launch_bounds else None
    if limit is not None and total > limit:
        return None
    return (places, changed) if total <= MOST_THREADS else None


def _rewritten(expression: str, old: int, new: int) -> str:
    """Return an expression with the numbers that repeat a block's extent changed."""
    where = (0, len(expression))
    changes = sorted(repeated(expression, where, old, new).items(), reverse=True)
    for (start, end), value in changes:
        expression = f"{expression[:start]}{value}{expression[end:]}"
    return expression


def _tied(source: Source, f: Function, axis: int, old: int, new: int) -> Places | None:
    """Return constants and literals of a kernel that repeat a block extent; None if unclear."""
    places: Places = {}
    name = f"blockDim.{'xyz'[axis]}"
    free = any(source.plain(n) == name for n in f.variables.nodes("field_expression"))
    used = {u.name for u in f.variables.free}
    constants = [c for c in source.constants if c.name in used and c.value == old]
    sized = [c for c in constants if any(c.name in e for v in f.shared for e in v.extents)]
    if not free or sized:
        if len(constants) != 1:
            return None if constants or not free else places
        written = source.text[constants[0].value_span[0] : constants[0].value_span[1]]
        if integer(written.strip("() ")) is None:
            return None
        places[constants[0].value_span] = new
    literals = [n for n in f.variables.nodes("number_literal") if integer(source.of(n)) == old]
    if free and strided(source, f, "xyz"[axis], literals):
        literals = []
    if literals and not constants and (not free or any(sizes_shared(n) for n in literals)):
        if old <= 2 or not all(sizes_shared(n) or by_block(source, n) for n in literals):
            return None
        places.update({span(n): new for n in literals})
    return places
