"""Other blocks for launches whose block is written where it may not change.

`k<<<blocks(n), kThreads>>>(...)`: other host code reads `kThreads`, so the number stays; but the
launch itself may say `<<<blocks(n) * 2, kThreads / 2>>>`, which starts the same threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.boundary import violations
from optimizer.functions import Function
from optimizer.geometry import Change, block_extents, by_workload, regrid, times
from optimizer.knobs import MOST_THREADS, alternatives, pinned
from optimizer.model import Kernel
from optimizer.rules.outputs import alone, fewer
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, walk

_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Shape:
    """A kernel, its block and another, and the text that launches that."""

    kernel: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    text: str


def launch_shapes(
    kernel: Kernel, source: Source, within: Callable[[str], bool] = lambda _: False
) -> Iterator[Shape]:
    """Yield other blocks of the same threads for kernels that only number and test them.

    Legal where a kernel knows its block by its threads' numbers alone, each of which is tested
    against an extent: how threads are dealt to blocks then makes no difference. Kernels of which
    `within` says that their block may change where it is written are left out; it is asked last.
    """
    for fn in source.kernels:
        if not source.launches_of(fn.name) or by_workload(kernel, fn):
            continue
        block = block_extents(kernel, source, fn)
        if block is None or not _only_numbers(source, fn) or within(fn.name):
            continue
        sizes: tuple[int, ...] = block
        while len(sizes) > 1 and sizes[-1] == 1:
            sizes = sizes[:-1]
        for shape in alternatives(sizes):
            text = _launched(kernel, source, fn, sizes, shape)
            if text is not None and not violations(kernel.source, text):
                yield Shape(fn.name, sizes, shape, text)


def _launched(
    kernel: Kernel, source: Source, fn: Function, old: tuple[int, ...], new: tuple[int, ...]
) -> str | None:
    changes: dict[str, Change] = {}
    total = 1
    for axis, was, now in zip(_AXES, old, new, strict=False):
        total *= now
        if was == now:
            continue
        if axis not in {t.axis for t in fn.shifted_ids}:
            return None
        if now % was and was % now:
            return None
        changes[axis] = fewer(now // was) if now > was else times(was // now)
    if total > MOST_THREADS or not changes:
        return None
    listed = [(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    edits: list[Replacement] = []
    for launch in source.launches_of(fn.name):
        if launch.shared_span is not None and source.value(
            source.text[launch.shared_span[0] : launch.shared_span[1]]
        ):
            return None
        if pinned(source, fn, launch, listed, {}) != {}:
            return None
        shape = str(new[0]) if len(new) == 1 else f"dim3({', '.join(map(str, new))})"
        edits.append((*launch.block_span, shape))
    geometry = regrid(kernel, source, fn, changes)
    if geometry is None:
        return None
    try:
        return source.replace(sorted({*edits, *geometry.edits}))
    except ValueError:
        return None


def _only_numbers(source: Source, fn: Function) -> bool:
    """Return whether threads are told apart by tested numbers across the grid alone."""
    if fn.broken or fn.conditional or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm:
        return False
    if fn.has_goto or fn.unknown_names or not fn.shifted_ids or not alone(source, fn):
        return False
    ids = fn.shifted_ids
    places: list[Node] = [t.variable.init for t in ids if t.variable.init is not None]
    walked = [lp for lp in fn.loops if any(lp.variable is t.variable for t in ids)]
    for loop in walked:
        if loop.step_node is None or not loop.counted or loop.relation not in ("<", "<="):
            return False
        stride = fn.affine(loop.step_node)
        axis = next(t.axis for t in ids if t.variable is loop.variable)
        if stride is None or dict(stride.terms) != {(f"blockDim.{axis}", f"gridDim.{axis}"): 1}:
            return False
        places.append(loop.step_node)
    places += _strides(fn, places)
    for node in walk(fn.body, "identifier"):
        if source.of(node) in _BUILTINS and not any(contains(p, node) for p in places):
            return False
    if any(t.block != f"blockDim.{t.axis}" for t in ids):
        return False
    strided = {lp.variable for lp in walked}
    return all(t.variable in strided or _tested(fn, t.variable.name) for t in ids)


def _strides(fn: Function, places: Sequence[Node]) -> list[Node]:
    """Return what locals that only stand in some places are set to: the threads of the grid."""
    found: list[Node] = []
    for variable in fn.variables.all:
        value = fn.affine(variable.init) if variable.init is not None else None
        if value is None or variable.init is None or not variable.settled:
            continue
        if any(dict(value.terms) == {(f"blockDim.{a}", f"gridDim.{a}"): 1} for a in _AXES):
            uses = [u.node for u in variable.uses if u.role != "declare"]
            if all(any(contains(p, u) for p in places) for u in uses):
                found.append(variable.init)
    return found


def _tested(fn: Function, name: str) -> bool:
    """Return whether all that is done stands behind or under a test of a number from above."""
    done = [a.node for a in fn.accesses if a.space != "local"]
    done += [c.node for c in (*fn.unknown_calls, *fn.atomics)]
    return any(
        all(
            node.start_byte >= guard.node.end_byte if guard.exits else contains(guard.body, node)
            for node in done
        )
        for guard in fn.guards
        if any(n == name and sign in ("<", "<=") for n, sign, _ in guard.bounds or ())
    )
