"""What neighbouring threads read around themselves, staged once by the block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Monomial, Polynomial, number
from optimizer.rules import halo
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import span
from optimizer.variables import Variable

_NAME = "tile-halo"
_SHARED = 48 << 10
_FEWEST = 3  # elements a thread reads: fewer are not worth a barrier
_WIDEST = 8  # bytes of a template's type
_LEAST_PITCH = 16  # a literal that numbers rows
_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "signed char": 1, "unsigned char": 1, "uint8_t": 1, "short": 2,
    "unsigned short": 2, "long long": 8, "float2": 8, "float4": 16, "uchar4": 4, "int2": 8,
}  # fmt: skip
_WIDE = ("size_t", "long", "int64_t", "uint64_t", "ptrdiff_t")
_PLAIN = re.compile(r"[\w.]+|\(.*\)")
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Read:
    """A read `along` and `across` from its thread's place, in a layer of the array."""

    access: Access
    along: halo.Shift
    across: halo.Shift
    layer: Polynomial


@dataclass(frozen=True, slots=True)
class _Tile:
    """Reads of one array that overlap between threads, and the elements that exist for them.

    `x`, `y` are the axes of threads (no `y`: a line of threads), `pitch` the elements of a row,
    `extents` the texts of the block's.
    """

    array: Variable
    reads: tuple[_Read, ...]
    x: halo.Axis
    y: halo.Axis | None
    pitch: Polynomial
    columns: halo.Span
    rows: halo.Span
    extents: tuple[str, str] = ("", "")

    def low(self, *, across: bool) -> int:
        """Return how far the tile begins before the block's first place."""
        return min((r.across if across else r.along).low for r in self.reads)

    def halo(self, *, across: bool) -> int:
        """Return by how much the tile is longer than the block."""
        ends = [r.across if across else r.along for r in self.reads]
        return max(s.high for s in ends) - min(s.low for s in ends)


def tile_halo(kernel: Kernel, findings: Sequence[Finding]) -> Iterator[Edit]:
    """Load what a block reads of an array once, with its halo, and read it from shared memory.

    For arrays that are only read, at the thread's own place and around it, by seen distances. The
    tile is filled where a kernel begins, so that every thread is at the barrier; it holds what
    the kernel's own tests let it read. Values do not change.
    """
    del findings
    source = Source(kernel.source)
    for fn in source.kernels:
        if fn.broken or fn.shared or fn.barriers or fn.warp_calls or fn.has_asm or fn.has_goto:
            continue
        if fn.conditional or fn.unknown_calls:
            continue
        block = block_extents(kernel, source, fn)
        if block is None or block[2] != 1:
            continue
        tiles = _fitting(source, fn, list(_tiles(source, fn, block)), block)
        if not tiles:
            continue
        names = ", ".join(f"`{t.array.name}`" for t in tiles)
        read = sum(len(t.reads) for t in tiles)
        yield Edit(
            f"stage {names} of `{fn.name}` with its halo in shared memory",
            source.replace(_edits(source, fn, tiles)),
            f"rule:{_NAME}",
            f"Line {tiles[0].reads[0].access.line}: neighbouring threads read the same elements of"
            f" {names} in {read} places; a block loads each of them once.",
            _NAME,
            1.2,
        )


# -- legality ------------------------------------------------------------------------------------


def _tiles(source: Source, fn: Function, block: Block) -> Iterator[_Tile]:
    for array in halo.only_read(source, fn):
        if _bytes(fn, array) is None:
            continue
        reads = [a for a in fn.accesses if a.root == array.name]
        tile = _tile(source, fn, array, reads, block)
        if tile is not None:
            yield tile


def _bytes(fn: Function, array: Variable) -> int | None:
    if any(t.is_type and t.name == array.element for t in fn.templates):
        return _WIDEST
    return _BYTES.get(array.element)


def _tile(
    source: Source, fn: Function, array: Variable, reads: Sequence[Access], block: Block
) -> _Tile | None:
    """Return the layer of an array with the most reads around the thread's place."""
    first = next((a.index for a in reads if a.index is not None and _own(a.index)), None)
    if first is None:
        return None
    pitch = first.coefficient("threadIdx.y")
    if pitch is None or len(pitch.terms) > 1 or (pitch.constant or _LEAST_PITCH) < _LEAST_PITCH:
        return None
    flat = not pitch.terms
    if flat and block[1] != 1:
        return None
    x = halo.axis_of(first, "x", number(1))
    y = None if flat else halo.axis_of(first, "y", pitch)
    if x is None or (y is None and not flat):
        return None
    if any(
        source.value(str(axis.block)) != extent and str(axis.block) != f"blockDim.{axis.name}"
        for axis, extent in zip((x, y), block, strict=False)
        if axis is not None
    ):
        return None
    extents = (_extent(x, block[0]), _extent(y, block[1]))
    layers: dict[str, list[_Read]] = {}
    for access in reads:
        read = _placed(source, fn, access, x, y, pitch)
        if read is not None:
            layers.setdefault(str(read.layer), []).append(read)
    best = max(layers.values(), key=_count, default=[])
    if _count(best) < _FEWEST:
        return None
    tile = _bounded(source, fn, _Tile(array, tuple(best), x, y, pitch, *_NOWHERE, extents))
    return tile if tile is not None and _known(source, fn, tile) else None


def _extent(axis: halo.Axis | None, extent: int) -> str:
    """Return the block's extent by the name that the kernel has for it, if it has one."""
    name = "" if axis is None else str(axis.block)
    return name if name.isidentifier() else str(extent)


_NOWHERE = (halo.Span(0, number(0)), halo.Span(0, number(0)))


def _own(index: Polynomial) -> bool:
    return index.stride("threadIdx.x") == 1


def _count(reads: Sequence[_Read]) -> int:
    """Return how many elements a thread reads."""
    places = {
        (s.constant, s.factors, t.constant, t.factors): (s.high - s.low + 1) * (t.high - t.low + 1)
        for s, t in ((r.along, r.across) for r in reads)
    }
    return sum(places.values())


def _placed(
    source: Source,
    fn: Function,
    access: Access,
    x: halo.Axis,
    y: halo.Axis | None,
    pitch: Polynomial,
) -> _Read | None:
    """Return a read as distances from its thread's place and what is left: the layer."""
    node, parent = access.node, access.node.parent
    if access.kind != "read" or access.cast or access.index is None or parent is None:
        return None
    if node.type != "subscript_expression" or parent.type == "pointer_expression":
        return None
    rest = access.index - x.place - (y.place * pitch if y is not None else number(0))
    if any(name.startswith("threadIdx") for name in rest.symbols):
        return None
    along, across, layer = _sorted(fn, access, rest, None if y is None else pitch)
    columns = halo.shift_of(source, fn, access, iter(along))
    rows = halo.shift_of(source, fn, access, iter(across))
    if columns is None or rows is None:
        return None
    moving = {loop.name for loop in access.loops}
    if layer.symbols & moving:
        return None
    return _Read(access, columns, rows, layer)


Terms = list[tuple[Monomial, int]]


def _sorted(
    fn: Function, access: Access, rest: Polynomial, pitch: Polynomial | None
) -> tuple[Terms, Terms, Polynomial]:
    """Return the terms of a distance along a row, those across rows, and all others."""
    along: Terms = []
    across: Terms = []
    layer: dict[Monomial, int] = {}
    moving = {loop.name for loop in access.loops}
    (wide,) = pitch.terms.items() if pitch is not None and pitch.terms else (((), 0),)
    for monomial, factor in rest.terms.items():
        upper = halo.without(monomial, wide[0]) if wide[0] else None
        if upper is not None and all(n in moving or _named(fn, access, n) for n in upper):
            across.append((upper, factor))
        elif wide[1] and not wide[0]:  # rows of a number of elements: what is nearest
            rows = (factor + wide[1] // 2) // wide[1]
            across.append((monomial, rows))
            along.append((monomial, factor - rows * wide[1]))
        elif all(n in moving or _named(fn, access, n) for n in monomial):
            along.append((monomial, factor))
        else:
            layer[monomial] = factor
    return along, across, Polynomial(layer, rest.opaque)


def _named(fn: Function, access: Access, name: str) -> bool:
    """Return whether a name is a number of the file."""
    return fn.variable(name, access.node) is None and fn.file.constant(name) is not None


def _bounded(source: Source, fn: Function, tile: _Tile) -> _Tile | None:
    """Return the tile with the elements that its reads show to exist; None where that is open."""
    seen: list[tuple[halo.Span, halo.Span, bool]] = []
    for read in tile.reads:
        path = halo.Path(source, fn, read.access.node)
        columns = halo.reach(path, tile.x, "threadIdx.y", read.along)
        rows = (_NOWHERE[1], True)
        if tile.y is not None:
            rows = halo.reach(path, tile.y, "threadIdx.x", read.across)
        seen.append((columns[0], rows[0], columns[1] and rows[1]))
    sure = [(c, r) for c, r, exact in seen if exact]
    if not sure:
        return None
    wide, tall = halo.joined([c for c, _ in sure]), halo.joined([r for _, r in sure])
    if wide is None or tall is None or wide.low < 0 or tall.low < 0:
        return None
    if not all(halo.within(c, wide) and halo.within(r, tall) for c, r, _ in seen):
        return None
    return replace(tile, columns=wide, rows=tall)


def _known(source: Source, fn: Function, tile: _Tile) -> bool:
    """Return whether all that the tile's load mentions has its value where the kernel begins."""
    sums = [tile.columns.high, tile.rows.high, tile.pitch, tile.reads[0].layer, tile.x.block]
    sums += [tile.y.block] if tile.y is not None else []
    for name in {n for each in sums for n in each.symbols}:
        if name.partition(".")[0] in ("blockDim", "blockIdx", "gridDim"):
            continue
        parameter = fn.variable(name, fn.body)
        if parameter is not None:
            if parameter.space != "parameter" or not parameter.settled or parameter.depth:
                return False
        elif source.constant(name) is None and not any(t.name == name for t in fn.templates):
            return False
    return all("'" not in atom for each in sums for atom in each.atoms)


def _fitting(source: Source, fn: Function, tiles: list[_Tile], block: Block) -> list[_Tile]:
    """Return as many of the tiles as shared memory holds, those read most first."""
    del source
    left, kept = _SHARED, list[_Tile]()
    for tile in sorted(tiles, key=lambda t: -_count(t.reads)):
        width, height = block[0] + tile.halo(across=False), block[1] + tile.halo(across=True)
        size = width * (height if tile.y is not None else 1) * (_bytes(fn, tile.array) or _WIDEST)
        if size <= left and width * height <= 4 * block[0] * block[1] + _SHARED // 8:
            left -= size
            kept.append(tile)
    return kept


# -- the edit ------------------------------------------------------------------------------------


def _edits(source: Source, fn: Function, tiles: Sequence[_Tile]) -> Iterator[Replacement]:
    taken = [v.name for v in fn.variables.all]
    first = next(n for n in fn.body.named_children if n.type != "comment")
    margin = source.indent(first)
    step = "\t" if "\t" in margin else margin or "    "
    wide = any(word in source.of(fn.node) for word in _WIDE)
    lines: list[str] = []
    for tile in tiles:
        name = source.fresh_name(f"{tile.array.name}_tile", *taken)
        taken.append(name)
        lines += _load(source, tile, name, taken, step, wide=wide)
        for read in tile.reads:
            rows = f"[{_place(tile.y, read.across, tile.low(across=True))}]" if tile.y else ""
            columns = f"[{_place(tile.x, read.along, tile.low(across=False))}]"
            yield (*span(read.access.node), f"{name}{rows}{columns}")
    lines.append("__syncthreads();")
    text = "".join(f"\n{margin}{line}" for line in lines)
    yield (fn.body.start_byte + 1, fn.body.start_byte + 1, text)


def _load(
    source: Source, tile: _Tile, name: str, taken: list[str], step: str, *, wide: bool
) -> Iterator[str]:
    """Yield the declaration of a tile and the loops that fill it."""
    tx, ty, gx, gy = (source.fresh_name(n, *taken) for n in ("tx", "ty", "gx", "gy"))
    array = tile.array
    axes = [(tile.x, tx, gx, tile.columns, False)]
    if tile.y is not None:
        axes.insert(0, (tile.y, ty, gy, tile.rows, True))
    extents = "".join(f"[{_length(tile, axis, across=across)}]" for axis, *_, across in axes)
    yield f"__shared__ {array.written} {name}{extents};"
    margin = ""
    tests: list[str] = []
    for axis, t, g, places, across in axes:
        more = tile.halo(across=across)
        low = tile.low(across=across)
        end = f"(int)blockDim.{axis.name}" + (f" + {more}" if more else "")
        run = f"int {t} = threadIdx.{axis.name}; {t} < {end}; {t} += blockDim.{axis.name}"
        yield f"{margin}for ({run}) {{"
        margin += step
        start = f"blockIdx.{axis.name} * {halo.text_of(axis.block)} + {t}"
        yield f"{margin}const int {g} = {start}{_signed(low)};"
        tests += [f"{g} >= {places.low}", f"{g} < {halo.text_of(places.high + number(1))}"]
    index = gx
    if tile.y is not None:
        row = f"(size_t){gy}" if wide else gy
        index = f"{row} * {_factor(tile.pitch)} + {gx}"
    layer = tile.reads[0].layer
    index = f"{halo.text_of(layer)} + {index}" if layer.terms else index
    subscripts = f"[{ty}][{tx}]" if tile.y is not None else f"[{tx}]"
    yield f"{margin}if ({' && '.join(tests)}) {name}{subscripts} = {array.name}[{index}];"
    for _ in axes:
        margin = margin[: -len(step)]
        yield f"{margin}}}"


def _length(tile: _Tile, axis: halo.Axis, *, across: bool) -> str:
    more = tile.halo(across=across)
    extent = tile.extents["xy".index(axis.name)]
    return f"{extent} + {more}" if more else extent


def _place(axis: halo.Axis | None, shift: halo.Shift, low: int) -> str:
    """Return where in the tile an element lies: `threadIdx.x + k + 3`."""
    text = f"threadIdx.{axis.name if axis is not None else 'x'}"
    for name, factor in shift.factors:
        times = "" if abs(factor) == 1 else f"{abs(factor)} * "
        text += f" {'-' if factor < 0 else '+'} {times}{name}"
    return text + _signed(shift.constant - low)


def _signed(value: int) -> str:
    return f" {'-' if value < 0 else '+'} {abs(value)}" if value else ""


def _factor(value: Polynomial) -> str:
    text = halo.text_of(value)
    return text if _PLAIN.fullmatch(text) else f"({text})"
