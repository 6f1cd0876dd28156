"""How a kernel is launched wherever it is launched, and the same with another grid or block."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tree_sitter import Node

from optimizer import launches
from optimizer.functions import Function
from optimizer.model import Kernel, Launch
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field

# A name, a call-free group, or such divided by a name: binds at least as tightly as a product.
_PRODUCT = re.compile(r"(?:[\w.]+|\([^()]*\))(?:\s*/\s*[\w.]+)?")
_WARP = 32
_PLANE = 2  # extents of what has rows and columns
_MOST_ROWS = 65535  # blocks of a grid along y
Change = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Geometry:
    """New launches: replacements in the text, and the launch of a `kernel:` workload if changed.

    Where a workload launches a kernel that its file launches, too, both are changed alike.
    """

    edits: tuple[Replacement, ...] = ()
    launch: Launch | None = None


def block_extents(kernel: Kernel, source: Source, fn: Function) -> tuple[int, int, int] | None:
    """Return the block's x, y, z when every launch is seen to use the same; else None."""
    found: set[tuple[int, ...]] = set()
    for launch in source.launches_of(fn.name):
        if launch.block is None or any(e.value is None for e in launch.block):
            return None
        sizes = [e.value or 1 for e in launch.block]
        found.add(tuple(sizes + [1] * (3 - len(sizes))))
    if not found and kernel.launch is not None:
        numbers = [source.value(text) for text in kernel.launch.block]
        if any(n is None for n in numbers):
            return None
        found.add(tuple([n or 1 for n in numbers] + [1] * (3 - len(numbers))))
    if len(found) != 1 or not (source.only_launched(fn.name) or not source.launches_of(fn.name)):
        return None
    x, y, z = found.pop()
    return x, y, z


def by_workload(kernel: Kernel, fn: Function) -> bool:
    """Return whether a workload launches this function itself, whatever its file launches.

    Workloads of several instances of one template have numbers behind its name.
    """
    name = re.sub(r"-\d+$", "", kernel.name)
    return kernel.launch is not None and fn.name == name


def is_flat(kernel: Kernel, source: Source, fn: Function) -> bool:
    """Return whether every launch has a one-dimensional grid and block."""
    found = source.launches_of(fn.name)
    if not found:
        launch = kernel.launch
        return launch is not None and all(
            text.strip() == "1" for text in (*launch.grid[1:], *launch.block[1:])
        )
    return all(
        lc.grid is not None
        and lc.block is not None
        and all(e.value == 1 for e in (*lc.grid[1:], *lc.block[1:]))
        for lc in found
    )


def regrid(
    kernel: Kernel, source: Source, fn: Function, changes: Mapping[str, Change]
) -> Geometry | None:
    """Return every launch of a kernel with extents of its grid rewritten; None if not possible.

    `changes` maps an axis (`x`, `y`, `z`) to what becomes of the text of its extent; an axis that
    the launch does not name has the text `1`. A dim3 variable is changed where it is defined when
    no other kernel uses it, else at the launch.
    """
    found = source.launches_of(fn.name)
    if not found:
        return _of_workload(kernel, changes)
    if not source.only_launched(fn.name):
        return None
    edits: dict[tuple[int, int], str] = {}
    for launch in found:
        if launch.grid is None:
            return None
        shared = _used_elsewhere(source, launch, found)
        named = bool(launch.grid_variable)
        if named and not shared and _axes(launch) >= set(changes):
            for axis, change in changes.items():
                extent = launch.grid["xyz".index(axis)]
                edits[extent.span] = change(extent.text)
            continue
        texts = _texts(launch.grid, launch.grid_variable)
        for axis, change in changes.items():
            texts["xyz".index(axis)] = change(texts["xyz".index(axis)])
        edits[launch.grid_span] = _joined(texts)
    beside = _of_workload(kernel, changes) if by_workload(kernel, fn) else Geometry()
    if beside is None:
        return None
    return Geometry(tuple((*at, new) for at, new in edits.items()), beside.launch)


def _used_elsewhere(
    source: Source, launch: launches.Launch, own: Sequence[launches.Launch]
) -> bool:
    """Return whether more than these launches would see a change of a launch's dim3 variable."""
    caller = source.function(launch.function)
    if not launch.grid_variable or caller is None:
        return bool(launch.grid_variable)
    variable = caller.variables.named(launch.grid_variable, launch.node)
    if variable is None:
        return True
    places: list[Node | tuple[int, int]] = [variable.declaration, *(lc.grid_span for lc in own)]
    return any(
        not any(contains(place, use.node) for place in places) and not _sets_an_axis(use.place)
        for use in variable.uses
    )


def _sets_an_axis(place: Node) -> bool:
    """Return whether a place is the `grid.y` of `grid.y = 4;`."""
    outer = place.parent
    return (
        place.type == "field_expression"
        and outer is not None
        and outer.type == "assignment_expression"
        and field(outer, "left") == place
    )


def _axes(launch: launches.Launch) -> set[str]:
    """Return the axes whose extents stand at places of their own."""
    spans = [e.span for e in launch.grid or ()]
    return {axis for axis, at in zip("xyz", spans, strict=False) if spans.count(at) == 1}


def _texts(given: tuple[launches.Extent, ...], name: str) -> list[str]:
    if name:
        more = [extent.value != 1 for extent in given[1:]] + [False, False]
        return [
            f"{name}.x",
            *(f"{name}.{a}" if m else "1" for a, m in zip("yz", more, strict=False)),
        ]
    texts = [e.text for e in given]
    return texts + ["1"] * (3 - len(texts))


def reblock(
    kernel: Kernel, source: Source, fn: Function, axis: str, factor: int
) -> Geometry | None:
    """Return every launch of a kernel with its block divided along an axis; None if not possible.

    The block's extents must be seen, be divisible, and leave at least a warp.
    """
    block = block_extents(kernel, source, fn)
    at = "xyz".index(axis)
    if block is None or block[at] % factor or prod(block) // factor < _WARP:
        return None
    edits: list[Replacement] = []
    for launch in source.launches_of(fn.name):
        if launch.block is None:
            return None
        texts = _texts(launch.block, launch.block_variable)
        texts[at] = _divided(texts[at], factor)
        edits.append((*launch.block_span, _joined(texts)))
    launched = kernel.launch
    if edits and not by_workload(kernel, fn):
        return Geometry(tuple(dict.fromkeys(edits)))
    if launched is None or not launched.tunable:
        return None
    texts = [*launched.block, *["1"] * (3 - len(launched.block))]
    texts[at] = _divided(texts[at], factor)
    while len(texts) > 1 and texts[-1] == "1":
        texts.pop()
    return Geometry(tuple(dict.fromkeys(edits)), replace(launched, block=tuple(texts)))


def whole_warps(source: Source, fn: Function) -> tuple[Replacement, ...] | None:
    """Return what makes the blocks of all launches whole warps along x; None if not understood.

    Blocks that are seen must be so already; those whose size only the running program knows are
    rounded up, which is right for kernels that know their threads by `blockDim` alone. No block
    grows beyond a multiple of a warp, hence not beyond 1,024 threads.
    """
    found = source.launches_of(fn.name)
    if not found or not source.only_launched(fn.name):
        return None
    edits: dict[tuple[int, int], str] = {}
    for launch in found:
        if not launch.block or any(extent.value != 1 for extent in launch.block[1:]):
            return None
        size = launch.block[0]
        if size.value is not None:
            if size.value % _WARP:
                return None
            continue
        text = _texts(launch.block, launch.block_variable)[0]
        edits[launch.block_span] = f"{warps_of(text)} * {_WARP}"
    return tuple((*at, new) for at, new in edits.items())


def warps_of(size: str) -> str:
    """Return the warps of a block of a size, rounded up.

    >>> warps_of("block.x"), warps_of("a + b")
    ('(block.x + 31) / 32', '((a + b) + 31) / 32')
    """
    plain = size.replace(".", "").replace("_", "").isalnum()
    return f"({size if plain else f'({size})'} + {_WARP - 1}) / {_WARP}"


def transposed(kernel: Kernel, source: Source, fn: Function) -> Geometry | None:
    """Return every launch of a kernel with x and y of its grid and block swapped.

    None if a launch is not understood, has blocks without a y, or a grid too long for y.
    """
    found = source.launches_of(fn.name)
    launched, turned = kernel.launch, None
    if by_workload(kernel, fn) or not found:
        if launched is None or not launched.tunable or len(launched.block) < _PLANE:
            return None
        one, two = (_turned([*texts]) for texts in (launched.grid, launched.block))
        turned = replace(launched, grid=tuple(one), block=tuple(two))
    if not found:
        return Geometry((), turned)
    if not source.only_launched(fn.name):
        return None
    edits: dict[tuple[int, int], str] = {}
    for launch in found:
        if launch.grid is None or launch.block is None or len(launch.block) < _PLANE:
            return None
        if launch.block[1].value == 1 or (launch.grid[0].value or 0) > _MOST_ROWS:
            return None
        grid, block = launch.grid, launch.block
        edits[launch.grid_span] = _joined(_turned(_texts(grid, launch.grid_variable)))
        square = block[0].value is not None and block[0].value == block[1].value
        if not square and block[0].text != block[1].text:
            edits[launch.block_span] = _joined(_turned(_texts(block, launch.block_variable)))
    return Geometry(tuple((*at, new) for at, new in edits.items()), turned)


def _turned(texts: list[str]) -> list[str]:
    x, y, *more = [*texts, *["1"] * (_PLANE - len(texts))]
    return [y, x, *more]


def _divided(text: str, factor: int) -> str:
    if text.isdigit():
        return str(int(text) // factor)
    plain = text.replace(".", "").replace("_", "").isalnum()
    return f"{text} / {factor}" if plain else f"({text}) / {factor}"


def _joined(texts: list[str]) -> str:
    while len(texts) > 1 and texts[-1] == "1":
        texts = texts[:-1]
    return texts[0] if len(texts) == 1 else f"dim3({', '.join(texts)})"


def _of_workload(kernel: Kernel, changes: Mapping[str, Change]) -> Geometry | None:
    launch = kernel.launch
    if launch is None or not launch.tunable:
        return None
    texts = [*launch.grid, *["1"] * (3 - len(launch.grid))]
    for axis, change in changes.items():
        texts["xyz".index(axis)] = change(texts["xyz".index(axis)])
    while len(texts) > 1 and texts[-1] == "1":
        texts.pop()
    return Geometry((), replace(launch, grid=tuple(texts)))


def times(factor: int | str) -> Change:
    """Return the change that multiplies an extent.

    >>> times(32)("n"), times(32)("(n + 255) / 256")
    ('n * 32', '(n + 255) / 256 * 32')
    >>> times(2)("(a) + b"), times(2)("ceil(n)")
    ('((a) + b) * 2', '(ceil(n)) * 2')
    """

    def change(text: str) -> str:
        whole = _PRODUCT.fullmatch(text.strip())
        return f"{text} * {factor}" if whole else f"({text}) * {factor}"

    return change
