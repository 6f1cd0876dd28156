"""What a change of block shape takes along: numbers that repeat it, constants that size by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.launches import Extent, only_value
from optimizer.launches import Launch as LaunchSite
from optimizer.model import Launch
from optimizer.source import Source
from optimizer.syntax import Span, contains, span
from optimizer.tokens import code_tokens, integer

MOST_THREADS = 1024
STATIC_SHARED_BYTES = 48 * 1024  # CUDA C++ Programming Guide, compute capabilities
_LINES = (256, 128, 512, 64, 1024, 32)
_SHAPES = ((32, 8), (16, 16), (64, 4), (32, 4), (32, 16), (32, 32), (128, 2), (16, 8))
_CUBES = ((32, 4, 2), (32, 8, 1), (16, 8, 2), (8, 8, 4), (64, 4, 1))
Places = dict[Span, int]


@dataclass(frozen=True, slots=True)
class Knob:
    """Literals to change (place to new number), in words, and how promising that is (0 best)."""

    title: str
    rationale: str
    places: tuple[tuple[Span, int], ...]
    rank: float
    kernels: frozenset[str]
    launch: Launch | None = None


def alternatives(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return other shapes with half to twice the threads, likeliest first.

    Squares go to other squares. Those further off are reached in steps: a candidate that got
    faster is tuned again.
    """
    total = prod(sizes)
    shapes: Sequence[tuple[int, ...]] = [(n,) for n in (sizes[0] * 2, sizes[0] // 2)]
    if len(sizes) > 1:
        shapes = _SHAPES if len(sizes) == 2 else _CUBES
        if len(sizes) == 2 and sizes[0] == sizes[1]:
            shapes = (*shapes, (8, 8))
    elif sizes[0] not in _LINES:
        return [(n,) for n in _LINES]
    near = [
        s
        for s in shapes
        if total <= 2 * prod(s) <= 4 * total or len(set(s)) == len(set(sizes)) == 1 < len(s)
    ]
    return [s for s in near if s != sizes and _LINES[-1] <= prod(s) <= MOST_THREADS]


def origin(host: Function | None, extent: Extent) -> Span | None:
    """Return where a grid extent is computed: in the launch, or in the local it names."""
    if host is None or not extent.text.isidentifier():
        return extent.span
    found = [v for v in host.variables.all if v.name == extent.text]
    given = only_value(found[0], extent.span[0]) if len(found) == 1 else None
    return span(given) if given is not None else None


def repeated(text: str, where: Span, old: int, new: int) -> Places:
    """Return the numbers in a span that stand for a block's extent: `+ 255) / 256`."""
    found: Places = {}
    listed = code_tokens(text[where[0] : where[1]])
    divides = any(
        t.text == str(old) and i and listed[i - 1].text in ("/", "*", "-", "+", "(", ",")
        for i, t in enumerate(listed)
    )
    for i, t in enumerate(listed):
        value = integer(t.text) if t.kind == "number" else None
        before = listed[i - 1].text if i else ""
        at = (where[0] + t.start, where[0] + t.end)
        if value == old:
            found[at] = new
        elif value == old - 1 and divides and old > 2 and before == "+":
            found[at] = new - 1
    return found


def numbers_threads(f: Function) -> bool:
    """Return whether each thread works on the element of its own number, without a stride."""
    return bool(f.shifted_ids) and not any(
        lp.counted and lp.step is None and lp.step_node is not None for lp in f.loops
    )


def pinned(
    source: Source,
    f: Function,
    launch: LaunchSite,
    changes: list[tuple[int, int, int]],
    known: Places,
) -> Places | None:
    """Return literals in a kernel that repeat the block's extent; None when it is tied to it."""
    found: Places = {}
    for axis, old, new in changes:
        name = "xyz"[axis]
        free = any(
            source.plain(n) == f"blockDim.{name}" for n in f.variables.nodes("field_expression")
        )
        literals = [
            n
            for n in f.variables.nodes("number_literal")
            if integer(source.of(n)) == old and old > 2
        ]
        if free and strided(source, f, name, literals):
            literals = []
        if any(sizes_shared(n) for n in literals) or (literals and not free):
            if not all(sizes_shared(n) or by_block(source, n) for n in literals):
                return None
            if any(found.setdefault(span(n), new) != new for n in literals):
                return None
        if not _named_alike(source, f, launch, old, known, free):
            return None
    if f.launch_bounds and not _bounds_fit(source, f, changes, known):
        return None
    return found


def strided(source: Source, f: Function, axis: str, literals: Sequence[Node]) -> bool:
    """Return whether numbers that look like a block's extent are that of what the block walks.

    `for (b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;` is right for any block.
    """
    bounds = [
        lp.bound
        for lp in f.loops
        if lp.counted and lp.step_node is not None and lp.bound is not None
        and source.plain(lp.step_node) == f"blockDim.{axis}"
    ]  # fmt: skip
    arrays = [v for v in f.shared if any(contains(v.declaration, n) for n in literals)]
    return (
        len(arrays) == 1
        and any(contains(b, n) for b in bounds for n in literals)
        and all(
            contains(arrays[0].declaration, n) or any(contains(b, n) for b in bounds)
            for n in literals
        )
    )


def sizes_shared(node: Node) -> bool:
    """Return whether a literal is the extent of an array, or a term of it: `[16 + 2]`."""
    at = node.parent
    while at is not None and at.type == "binary_expression":
        at = at.parent
    return at is not None and at.type == "array_declarator"


def by_block(source: Source, node: Node) -> bool:
    """Return whether a literal multiplies blockIdx, bounds a loop or steps it."""
    at = node.parent
    if at is None:
        return False
    if at.type == "binary_expression":
        loop = at.parent is not None and at.parent.type == "for_statement"
        return loop or any(source.plain(n).startswith("blockIdx") for n in at.named_children)
    return (
        at.type == "assignment_expression"
        and at.parent is not None
        and (at.parent.type == "for_statement")
    )


def _named_alike(
    source: Source, f: Function, launch: LaunchSite, old: int, known: Places, free: bool
) -> bool:
    """Return whether constants the kernel uses for its block are the ones that change.

    A kernel that numbers threads with another constant of the same value, or sizes shared arrays
    with one, is tied to it.
    """
    used = {u.name for u in f.variables.free} & {c.name for c in source.constants}
    for name in used:
        constant = source.constant_of(name)
        if constant is None or constant.value != old:
            continue
        if constant.value_span in known or any(contains(constant.value_span, k) for k in known):
            continue
        if not free or any(name in e for v in f.shared for e in v.extents):
            return False
    for t in f.templates:
        tied = any(name.block == t.name for name in f.shifted_ids)
        if not t.is_type and tied and not launch.template:
            return False
    return True


def _bounds_fit(
    source: Source, f: Function, changes: list[tuple[int, int, int]], known: Places
) -> bool:
    """Return whether `__launch_bounds__` allows the new block, or changes along with it."""
    text = (f.launch_bounds or ("",))[0]
    value = source.value(text)
    constant = source.constant_of(text.rpartition("::")[2])
    if constant is not None and constant.value_span in known:
        return True
    total = 1
    for _, _, new in changes:
        total *= new
    return value is None or total <= value
