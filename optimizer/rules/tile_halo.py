"""What neighbouring threads read around themselves, staged once by the block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Polynomial, number
from optimizer.rules import halo
from optimizer.rules.halo_bounds import bounded
from optimizer.rules.halo_channels import by_place, channels_of
from optimizer.rules.halo_reads import placed
from optimizer.rules.halo_text import edits
from optimizer.rules.halo_tile import NOWHERE, Read, Tile, View, view_of
from optimizer.source import Source
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
    "uchar3": 3, "uchar2": 2, "float3": 12, "double2": 16, "short2": 4, "ushort4": 8, "int4": 16,
}  # fmt: skip
Block = tuple[int, int, int]


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
        tiles = _fitting(list(_tiles(source, fn, block)), block)
        if not tiles:
            continue
        names = ", ".join(f"`{t.array.name}`" for t in tiles)
        read = sum(len(t.reads) for t in tiles)
        yield Edit(
            f"stage {names} of `{fn.name}` with its halo in shared memory",
            source.replace(edits(source, fn, tiles)),
            f"rule:{_NAME}",
            f"Line {tiles[0].reads[0].access.line}: neighbouring threads read the same elements of"
            f" {names} in {read} places; a block loads each of them once.",
            _NAME,
            1.2,
        )


def _tiles(source: Source, fn: Function, block: Block) -> Iterator[Tile]:
    view = view_of(source, fn)
    for array in halo.only_read(source, fn):
        if _bytes(fn, array) is None:
            continue
        reads = [a for a in view.fn.accesses if a.root == array.name]
        tile = _tile(view, array, reads, block)
        if tile is not None and _known(source, fn, tile):
            yield tile


def _bytes(fn: Function, array: Variable) -> int | None:
    if any(t.is_type and t.name == array.element for t in fn.templates):
        return _WIDEST
    return _BYTES.get(array.element)


def _tile(view: View, array: Variable, reads: Sequence[Access], block: Block) -> Tile | None:
    """Return the layer of an array with the most reads around the thread's place."""
    channels = channels_of(view, reads)
    reads, parts = by_place(view, reads, channels)
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
        view.source.value(str(axis.block)) != extent and str(axis.block) != f"blockDim.{axis.name}"
        for axis, extent in zip((x, y), block, strict=False)
        if axis is not None
    ):
        return None
    extents = (_extent(x, block[0]), _extent(y, block[1]))
    free = _free(view.fn, reads)
    free = frozenset(n for n in free if not {n, halo.half_of(n)} & pitch.symbols)
    layers: dict[str, list[Read]] = {}
    for access in reads:
        read = placed(view, access, (x, y), pitch, free, channels)
        if read is not None and channels > 1:
            read = replace(read, channel=parts[span(access.node)][0])
        if read is not None:
            layers.setdefault(str(read.layer), []).append(read)
    best = max(layers.values(), key=_count, default=[])
    if _count(best) < _FEWEST:
        return None
    seen = {c for read in best for c in parts.get(span(read.access.node), ("", range(1)))[1]}
    if len(seen) < channels:
        return None
    lows = tuple(_extreme([r.shift(across=w).low for r in best], free, -1) for w in (False, True))
    highs = tuple(_extreme([r.shift(across=w).high for r in best], free, 1) for w in (False, True))
    if lows[0] is None or lows[1] is None or highs[0] is None or highs[1] is None:
        return None
    more = (highs[0] - lows[0], highs[1] - lows[1])
    used = free & frozenset(n for each in (*lows, *more) if each is not None for n in each.atoms)
    tile = Tile(
        array,
        tuple(best),
        x,
        y,
        pitch,
        used,
        (lows[0], lows[1]),
        more,
        *NOWHERE,
        extents,
        channels,
    )
    return bounded(view, tile)


def _extreme(values: Sequence[Polynomial], free: halo.Free, sign: int) -> Polynomial | None:
    """Return the largest of sums (the smallest for -1); None when they cannot be compared."""
    best = values[0]
    for value in values[1:]:
        apart = (value - best).scaled(sign)
        if halo.least_zero(apart, free):
            best = value
        elif not halo.least_zero(apart.scaled(-1), free):
            return None
    return best


def _free(fn: Function, reads: Sequence[Access]) -> halo.Free:
    """Return the parameters by which loops around reads run: the radius of a filter."""
    names: set[str] = set()
    for access in reads:
        names |= {n for n in (access.index.atoms if access.index else ()) if halo.half_of(n)}
        for loop in access.loops:
            for end in (fn.affine(loop.start), fn.affine(loop.bound)):
                names |= end.atoms if end is not None else set()
    halves = {halo.half_of(name) for name in names} - {""}
    found = [(name, fn.variable(name, fn.body)) for name in names | halves]
    plain = {
        name
        for name, v in found
        if v is not None and v.space == "parameter" and v.settled and v.is_scalar
        if v.element in ("int", "unsigned", "unsigned int")
    }
    return frozenset(f"({name} / 2)" if name in halves else name for name in plain)


def _extent(axis: halo.Axis | None, extent: int) -> str:
    """Return the block's extent by the name that the kernel has for it, if it has one."""
    name = "" if axis is None else str(axis.block)
    return name if name.isidentifier() else str(extent)


def _own(index: Polynomial) -> bool:
    return index.stride("threadIdx.x") == 1


def _count(reads: Sequence[Read]) -> int:
    """Return how many elements a thread reads."""
    places = {
        (str(s.base), s.factors, str(t.base), t.factors): _length_of(s) * _length_of(t)
        for s, t in ((r.along, r.across) for r in reads)
    }
    return sum(places.values())


def _length_of(shift: halo.Shift) -> int:
    """Return how many places a read takes along an axis; for free parameters, when they are 1."""
    return sum((shift.high - shift.low).terms.values()) + 1


def _known(source: Source, fn: Function, tile: Tile) -> bool:
    """Return whether all that the tile's load mentions has its value where the kernel begins."""
    sums = [tile.columns.high, tile.rows.high, tile.pitch, tile.reads[0].layer, tile.x.block]
    sums += [tile.y.block] if tile.y is not None else []
    sums += [b.most for b in tile.borders if b.most is not None]
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


def _fitting(tiles: list[Tile], block: Block) -> list[Tile]:
    """Return as many of the tiles as shared memory holds, those read most first."""
    left, kept = _SHARED, list[Tile]()
    for tile in sorted(tiles, key=lambda t: -_count(t.reads)):
        width, height = block[0] + tile.halo(across=False), block[1] + tile.halo(across=True)
        wide = _BYTES.get(tile.array.element, _WIDEST)
        width *= tile.channels
        size = width * (height if tile.y is not None else 1) * wide
        if size <= left and width * height <= 4 * block[0] * block[1] + _SHARED // 8:
            left -= size
            kept.append(tile)
    return kept
