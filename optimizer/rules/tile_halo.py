"""What neighbouring threads read around themselves, staged once by the block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.geometry import block_extents
from optimizer.model import Edit, Finding, Kernel
from optimizer.polynomials import Monomial, Polynomial, number
from optimizer.rules import clamped, halo
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, field, span, walk
from optimizer.variables import Variable

_NAME = "tile-halo"
_SHARED = 48 << 10
_FEWEST = 3  # elements a thread reads: fewer are not worth a barrier
_WIDEST = 8  # bytes of a template's type
_MOST_RADIUS = 8  # that a parameter may have, of a plane
_MOST_REACH = 32  # of a line
_LEAST_PITCH = 16  # a literal that numbers rows
_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned int": 4, "unsigned": 4, "half": 2, "__half": 2,
    "char": 1, "signed char": 1, "unsigned char": 1, "uint8_t": 1, "short": 2,
    "unsigned short": 2, "long long": 8, "float2": 8, "float4": 16, "uchar4": 4, "int2": 8,
    "uchar3": 3, "uchar2": 2, "float3": 12, "double2": 16, "short2": 4, "ushort4": 8, "int4": 16,
}  # fmt: skip
_WIDE = ("size_t", "long", "int64_t", "uint64_t", "ptrdiff_t")
_PLAIN = re.compile(r"[\w.]+|\(.*\)")
_MOST_CHANNELS = 4
Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Border:
    """What a place is kept in: from below zero (`low`), and from above `most`.

    With `wraps` it goes on at the other end. `inside` tells that this holds for threads only
    that are not behind the last place themselves.
    """

    low: bool = False
    most: Polynomial | None = None
    wraps: bool = False
    inside: bool = False


_OPEN = _Border()


@dataclass(frozen=True, slots=True)
class _View:
    """A kernel without the borders of its indexes, and with names for what is kept in borders."""

    source: Source
    fn: Function
    named: Source
    named_fn: Function
    clamps: tuple[clamped.Clamp, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """A read `along` and `across` from its thread's place, in a layer of the array.

    `borders` are those of columns and rows; `limits` are sums, zero at least, by which loops that
    start and end at a border keep their places inside; `channel` is which of a place's elements
    it is, where a place has several.
    """

    access: Access
    along: halo.Shift
    across: halo.Shift
    layer: Polynomial
    borders: tuple[_Border, _Border] = (_OPEN, _OPEN)
    limits: tuple[Polynomial, ...] = ()
    channel: str = ""

    @property
    def node(self) -> Node:
        """Return the element that is read: `p[i]` of `p[i].x`."""
        inner = field(self.access.node, "argument")
        whole = self.access.node.type == "subscript_expression"
        return self.access.node if whole or inner is None else inner


@dataclass(frozen=True, slots=True)
class _Tile:
    """Reads of one array that overlap between threads, and the elements that exist for them.

    `x`, `y` are the axes of threads (no `y`: a line of threads), `pitch` the elements of a row,
    `extents` the texts of the block's. `free` are the parameters that say how far reads reach;
    `lows` how far the tile begins before the block's first place, `more` by how much it is longer
    than the block, `borders` where its places are kept in: along columns, then along rows. A
    place has several elements, `channels`, where those of neighbouring threads do (`3 * i + c`).
    """

    array: Variable
    reads: tuple[_Read, ...]
    x: halo.Axis
    y: halo.Axis | None
    pitch: Polynomial
    free: halo.Free
    lows: tuple[Polynomial, Polynomial]
    more: tuple[Polynomial, Polynomial]
    columns: halo.Span
    rows: halo.Span
    extents: tuple[str, str] = ("", "")
    channels: int = 1
    borders: tuple[_Border, _Border] = (_OPEN, _OPEN)

    @property
    def reach(self) -> int:
        """Return the largest value of a free parameter that the tile has room for."""
        return _MOST_REACH if self.y is None else _MOST_RADIUS

    def halo(self, *, across: bool) -> int:
        """Return by how much the tile is longer than the block at most."""
        terms = self.more[across].terms.items()
        return sum(f * self.reach if m else f for m, f in terms)


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
            source.replace(_edits(source, fn, tiles)),
            f"rule:{_NAME}",
            f"Line {tiles[0].reads[0].access.line}: neighbouring threads read the same elements of"
            f" {names} in {read} places; a block loads each of them once.",
            _NAME,
            1.2,
        )


# -- legality ------------------------------------------------------------------------------------


def _tiles(source: Source, fn: Function, block: Block) -> Iterator[_Tile]:
    view = _view(source, fn)
    for array in halo.only_read(source, fn):
        if _bytes(fn, array) is None:
            continue
        reads = [a for a in view.fn.accesses if a.root == array.name]
        tile = _tile(view, array, reads, block)
        if tile is not None and _known(source, fn, tile):
            yield tile


def _view(source: Source, fn: Function) -> _View:
    """Return a kernel as it is, or with its borders taken out where it has some."""
    found = clamped.shadow(source)
    clamps = _own_clamps(fn, found)
    if found is not None and clamps:
        pair = [
            next((k for k in text.kernels if k.span == fn.span), None)
            for text in (found.plain, found.named)
        ]
        if pair[0] is not None and pair[1] is not None and not any(k and k.broken for k in pair):
            return _View(found.plain, pair[0], found.named, pair[1], clamps)
    return _View(source, fn, source, fn)


def _own_clamps(fn: Function, found: clamped.Shadow | None) -> tuple[clamped.Clamp, ...]:
    """Return the borders in a kernel."""
    low, high = fn.span
    return () if found is None else tuple(c for c in found.clamps if low <= c.span[0] < high)


def _bytes(fn: Function, array: Variable) -> int | None:
    if any(t.is_type and t.name == array.element for t in fn.templates):
        return _WIDEST
    return _BYTES.get(array.element)


def _tile(view: _View, array: Variable, reads: Sequence[Access], block: Block) -> _Tile | None:
    """Return the layer of an array with the most reads around the thread's place."""
    channels = _channels(view, reads)
    reads, parts = _by_place(view, reads, channels)
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
    layers: dict[str, list[_Read]] = {}
    for access in reads:
        read = _placed(view, access, (x, y), pitch, free, channels)
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
    lows = tuple(_extreme([_shift(r, w).low for r in best], free, -1) for w in (False, True))
    highs = tuple(_extreme([_shift(r, w).high for r in best], free, 1) for w in (False, True))
    if lows[0] is None or lows[1] is None or highs[0] is None or highs[1] is None:
        return None
    more = (highs[0] - lows[0], highs[1] - lows[1])
    used = free & frozenset(n for each in (*lows, *more) if each is not None for n in each.atoms)
    tile = _Tile(
        array,
        tuple(best),
        x,
        y,
        pitch,
        used,
        (lows[0], lows[1]),
        more,
        *_NOWHERE,
        extents,
        channels,
    )
    return _bounded(view, tile)


def _channels(view: _View, reads: Sequence[Access]) -> int:
    """Return how many elements lie between those of neighbouring threads: 3 for `3 * i + c`."""
    for access in reads:
        index = None if access.index is None else _folded_in(view, access, access.index)
        stride = None if index is None else index.stride("threadIdx.x")
        if stride is not None and 1 <= stride <= _MOST_CHANNELS:
            return stride
    return 1


Parts = dict[tuple[int, int], tuple[str, range]]


def _by_place(
    view: _View, reads: Sequence[Access], channels: int
) -> tuple[Sequence[Access], Parts]:
    """Return reads by the number of their place, and which of its elements they read."""
    if channels == 1:
        return reads, {}
    found: list[Access] = []
    parts: Parts = {}
    for access in reads:
        pair = None if access.index is None else _apart(view, access, access.index, channels)
        if pair is None:
            continue
        place, part = pair
        ends = _part_ends(view, access, part)
        if ends is None or ends.start < 0 or ends.stop > channels:
            continue
        found.append(replace(access, index=place))
        parts[span(access.node)] = (halo.text_of(part), ends)
    return found, parts


def _apart(
    view: _View, access: Access, index: Polynomial, channels: int
) -> tuple[Polynomial, Polynomial] | None:
    """Return an index as the number of its place, and of the element among the place's."""
    place: dict[Monomial, int] = {}
    part: dict[Monomial, int] = {}
    moving = {loop.name for loop in access.loops}
    for monomial, factor in _folded_in(view, access, index).terms.items():
        if not monomial:
            place[monomial], part[monomial] = divmod(factor, channels)
        elif not factor % channels:
            place[monomial] = factor // channels
        elif factor == 1 and len(monomial) == 1 and monomial[0] in moving:
            part[monomial] = 1
        else:
            return None
    sums = [Polynomial({m: f for m, f in t.items() if f}, index.opaque) for t in (place, part)]
    return sums[0], sums[1]


def _part_ends(view: _View, access: Access, part: Polynomial) -> range | None:
    """Return which elements of a place a read comes to."""
    low = high = part.offset
    for loop in access.loops:
        if (loop.name,) not in part.terms:
            continue
        run = halo.run_of(view.fn, loop, halo.NOTHING)
        if run is None or run[0].constant is None or run[1].constant is None or loop.step != 1:
            return None
        low, high = low + run[0].constant, high + run[1].constant
    return range(low, high + 1)


def _folded_in(view: _View, access: Access, index: Polynomial) -> Polynomial:
    """Return an index with the numbers that names of the file stand for."""
    total = Polynomial({}, index.opaque)
    for monomial, factor in index.terms.items():
        names: list[str] = []
        for name in monomial:
            known = view.source.constant(name)
            if known is None or view.fn.variable(name, access.node) is not None:
                names.append(name)
            else:
                factor *= known  # noqa: PLW2901
        total += Polynomial({tuple(names): factor} if factor else {}, index.opaque)
    return total


def _shift(read: _Read, across: bool) -> halo.Shift:
    return read.across if across else read.along


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


_NOWHERE = (halo.Span(number(0), number(0)), halo.Span(number(0), number(0)))


def _own(index: Polynomial) -> bool:
    return index.stride("threadIdx.x") == 1


def _count(reads: Sequence[_Read]) -> int:
    """Return how many elements a thread reads."""
    places = {
        (str(s.base), s.factors, str(t.base), t.factors): _length_of(s) * _length_of(t)
        for s, t in ((r.along, r.across) for r in reads)
    }
    return sum(places.values())


def _length_of(shift: halo.Shift) -> int:
    """Return how many places a read takes along an axis; for free parameters, when they are 1."""
    return sum((shift.high - shift.low).terms.values()) + 1


def _placed(
    view: _View,
    access: Access,
    axes: tuple[halo.Axis, halo.Axis | None],
    pitch: Polynomial,
    free: halo.Free,
    channels: int,
) -> _Read | None:
    """Return a read as distances from its thread's place and what is left: the layer."""
    (x, y), parent = axes, access.node.parent
    if access.kind != "read" or access.cast or access.index is None or parent is None:
        return None
    inner = field(access.node, "argument") if access.node.type == "field_expression" else None
    if (inner or access.node).type != "subscript_expression" or (
        parent.type in ("pointer_expression", "field_expression")
    ):
        return None
    index = halo.odd(access.index, free)
    rest = index - x.place - (y.place * pitch if y is not None else number(0))
    if any(name.startswith("threadIdx") for name in rest.symbols):
        return None
    fn = view.fn
    along, across, layer = _sorted(fn, access, rest, None if y is None else pitch, free)
    columns = halo.shift_of(view.source, fn, access, iter(along), free)
    rows = halo.shift_of(view.source, fn, access, iter(across), free)
    if columns is None or rows is None:
        return None
    moving = {loop.name for loop in access.loops}
    if layer.symbols & moving:
        return None
    if not view.clamps:
        return _Read(access, columns, rows, layer)
    same = next((a for a in view.named_fn.accesses if span(a.node) == span(access.node)), None)
    named = None if same is None else same.index
    if named is not None and same is not None and channels > 1:
        pair = _apart(view, same, named, channels)
        named = None if pair is None else pair[0]
    if same is None or named is None:
        return None
    borders = _borders(view, named, axes, pitch, (columns, rows), free)
    limits = _limits(view, access, same, free)
    if borders is None or limits is None:
        return None
    return _Read(access, columns, rows, layer, borders, limits)


def _borders(
    view: _View,
    index: Polynomial,
    axes: tuple[halo.Axis, halo.Axis | None],
    pitch: Polynomial,
    shifts: tuple[halo.Shift, halo.Shift],
    free: halo.Free,
) -> tuple[_Border, _Border] | None:
    """Return what keeps a read's places in borders; None where that is not seen to be all."""
    found = [_OPEN, _OPEN]
    for clamp in view.clamps:
        if not index.depends_on(clamp.name):
            continue
        inner = view.fn.affine(_at(view.fn.body, clamp))
        factor = index.coefficient(clamp.name)
        if inner is None or factor is None:
            return None
        inner = halo.odd(inner, free)
        number_of = 0 if inner.depends_on("threadIdx.x") else 1
        axis, shift = axes[number_of], shifts[number_of]
        wanted = pitch if number_of else number(1)
        if axis is None or not factor.same(wanted) or found[number_of] is not _OPEN:
            return None
        if not inner.same(axis.place + shift.polynomial) and not _folded(
            view, inner - axis.place - shift.polynomial
        ):
            return None
        rest = index.without(clamp.name)
        if any(rest.depends_on(f"{n}.{axis.name}") for n in ("threadIdx", "blockIdx")):
            return None
        found[number_of] = _Border(clamp.low, clamp.most, clamp.wraps, bool(clamp.step))
    return found[0], found[1]


def _limits(
    view: _View, access: Access, same: Access, free: halo.Free
) -> tuple[Polynomial, ...] | None:
    """Return what loops that start and end at borders say of places; None where that is open."""
    found: list[Polynomial] = []
    if len(access.loops) != len(same.loops):
        return None
    for loop, named in zip(access.loops, same.loops, strict=True):
        start = view.fn.affine(loop.start, fold=True)
        for node, ends in ((named.start, False), (named.bound, True)):
            value = view.named_fn.affine(node)
            kept = [c for c in view.clamps if value is not None and value.depends_on(c.name)]
            if not kept:
                continue
            (clamp, *more), most = kept, kept[0].most
            if more or value is None or value.atoms != {clamp.name} or len(value.terms) != 1:
                return None
            if start is None or loop.step != 1 or value.stride(clamp.name) != 1:
                return None
            if loop.relation not in ("<", "<=") or clamp.wraps or clamp.step:
                return None
            if ends in (clamp.low, most is None):
                return None
            place = halo.odd(start, free) + Polynomial({(loop.name,): 1})
            if most is None:
                found.append(place)
            else:
                found.append(most - place - number(1 if loop.relation == "<" else 0))
    return tuple(found)


def _folded(view: _View, apart: Polynomial) -> bool:
    """Return whether a sum is zero when the file's numbers are put in."""
    total = 0
    for monomial, factor in apart.terms.items():
        value = factor
        for name in monomial:
            known = view.source.constant(name)
            if known is None:
                return False
            value *= known
        total += value
    return total == 0


def _at(body: Node, clamp: clamped.Clamp) -> Node | None:
    """Return the expression that stands at a clamp's place in the text without borders."""
    low, high = clamp.span
    found = [n for n in walk(body) if n.start_byte == low and n.end_byte <= high]
    return found[0] if found and found[0].is_named else None


Terms = list[tuple[Monomial, int]]


def _sorted(
    fn: Function, access: Access, rest: Polynomial, pitch: Polynomial | None, free: halo.Free
) -> tuple[Terms, Terms, Polynomial]:
    """Return the terms of a distance along a row, those across rows, and all others."""
    along: Terms = []
    across: Terms = []
    layer: dict[Monomial, int] = {}
    near = {loop.name for loop in access.loops} | free
    (wide,) = pitch.terms.items() if pitch is not None and pitch.terms else (((), 0),)
    for monomial, factor in rest.terms.items():
        upper = halo.without(monomial, wide[0]) if wide[0] else None
        if upper is not None and all(n in near or _named(fn, access, n) for n in upper):
            across.append((upper, factor))
        elif wide[1] and not wide[0]:  # rows of a number of elements: what is nearest
            rows = (factor + wide[1] // 2) // wide[1]
            across.append((monomial, rows))
            along.append((monomial, factor - rows * wide[1]))
        elif all(n in near or _named(fn, access, n) for n in monomial):
            along.append((monomial, factor))
        else:
            layer[monomial] = factor
    return along, across, Polynomial(layer, rest.opaque)


def _named(fn: Function, access: Access, name: str) -> bool:
    """Return whether a name is a number of the file."""
    return fn.variable(name, access.node) is None and fn.file.constant(name) is not None


def _bounded(view: _View, tile: _Tile) -> _Tile | None:
    """Return the tile with the elements that its reads show to exist; None where that is open."""
    seen: list[tuple[halo.Span, halo.Span, bool]] = []
    free = tile.free
    for read in tile.reads:
        node = _same(view.named_fn.body, read.node)
        if node is None:
            return None
        path = halo.Path(view.named, view.named_fn, node)
        path.least += read.limits
        columns = halo.reach(path, tile.x, "threadIdx.y", read.along, free)
        rows = (_NOWHERE[1], True)
        if tile.y is not None:
            rows = halo.reach(path, tile.y, "threadIdx.x", read.across, free)
        seen.append((columns[0], rows[0], columns[1] and rows[1]))
    sure = [(c, r) for c, r, exact in seen if exact]
    if not sure:
        return None
    wide, tall = halo.joined([c for c, _ in sure], free), halo.joined([r for _, r in sure], free)
    if wide is None or tall is None:
        return None
    if not all(halo.within(c, wide, free) and halo.within(r, tall, free) for c, r, _ in seen):
        return None
    borders: list[_Border] = []
    for across, whole in enumerate((wide, tall)):
        places = [rows if across else columns for columns, rows, _ in seen]
        kept = [read.borders[across] for read in tile.reads]
        shifts = [_shift(read, bool(across)) for read in tile.reads]
        for own, place, shift in zip(kept, places, shifts, strict=True):
            if own.inside and own.most is not None:
                last = place.high - shift.high
                if not halo.least_zero(own.most - last, free):
                    return None
        border = _common(list(zip(kept, places, strict=True)), free)
        if border is None or not (border.low or halo.least_zero(whole.low, free)):
            return None
        borders.append(border)
    if any(b != _OPEN for b in borders) and (view.source.known("min") or view.source.known("max")):
        return None  # the file has its own, who knows of what
    if any(_of_size(s.high, free) for s in (wide, tall)):
        return None
    return replace(tile, columns=wide, rows=tall, borders=(borders[0], borders[1]))


def _of_size(high: Polynomial, free: halo.Free) -> bool:
    """Return whether a free parameter is the number of elements, and no radius."""
    return bool(high.atoms) and high.atoms <= free


def _same(body: Node, node: Node) -> Node | None:
    """Return the node of another tree that stands at the same place."""
    found = body.descendant_for_byte_range(node.start_byte, node.end_byte)
    while found is not None and found.type != node.type:
        found = found.parent
    return found if found is not None and span(found) == span(node) else None


def _common(spans: Sequence[tuple[_Border, halo.Span]], free: halo.Free) -> _Border | None:
    """Return a border that changes no place of any read but as the read's own border does."""
    low = any(border.low for border, _ in spans)
    wraps = any(border.wraps for border, _ in spans)
    if wraps and not all(b.wraps or not (b.low or b.most is not None) for b, _ in spans):
        return None
    ends = [border.most for border, _ in spans if border.most is not None]
    most = ends[0] if ends else None
    for border, places in spans:
        if low and not border.low and not halo.least_zero(places.low, free):
            return None
        if most is None:
            continue
        if border.most is None:
            if not halo.least_zero(most - places.high, free):
                return None
        elif not border.most.same(most):
            return None
    return _Border(low, most, wraps)


def _known(source: Source, fn: Function, tile: _Tile) -> bool:
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


def _fitting(tiles: list[_Tile], block: Block) -> list[_Tile]:
    """Return as many of the tiles as shared memory holds, those read most first."""
    left, kept = _SHARED, list[_Tile]()
    for tile in sorted(tiles, key=lambda t: -_count(t.reads)):
        width, height = block[0] + tile.halo(across=False), block[1] + tile.halo(across=True)
        wide = _BYTES.get(tile.array.element, _WIDEST)
        width *= tile.channels
        size = width * (height if tile.y is not None else 1) * wide
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
    free = sorted({name for tile in tiles for name in tile.free})
    most, staged = "", ""
    declared: list[str] = []
    loads: list[str] = []
    if free:
        most, staged = source.fresh_name("kMostRadius", *taken), source.fresh_name("staged", *taken)
        declared.append(f"constexpr int {most} = {min(t.reach for t in tiles)};")
        taken += [most, staged]
    gone: list[tuple[int, int]] = []
    for tile in tiles:
        name = source.fresh_name(f"{tile.array.name}_tile", *taken)
        taken.append(name)
        declaration, *load = _load(source, fn, tile, name, taken, step, most, wide=wide)
        declared.append(declaration)
        loads += load
        for read in tile.reads:
            rows = f"[{_place(tile.y, read.across, tile.lows[1])}]" if tile.y else ""
            column = _place(tile.x, read.along, tile.lows[0])
            if tile.channels > 1:
                part = "" if read.channel == "0" else f" + {read.channel}"
                column = f"{tile.channels} * ({column}){part}"
            text = f"{name}{rows}[{column}]"
            at = span(read.node)
            gone.append(at)
            if staged:
                text = f"({staged} ? {text} : {source.text[slice(*at)]})"
            yield (*at, text)
    loads.append("__syncthreads();")
    if staged:
        tests = " && ".join(_small(name, most) for name in free)
        declared.append(f"const bool {staged} = {tests};")
        loads = [f"if ({staged}) {{", *(step + line for line in loads), "}"]
    else:
        yield from _unneeded(source, fn, gone)
    text = "".join(f"\n{margin}{line}" for line in (*declared, *loads))
    yield (fn.body.start_byte + 1, fn.body.start_byte + 1, text)


def _unneeded(
    source: Source, fn: Function, gone: Sequence[tuple[int, int]]
) -> Iterator[Replacement]:
    """Yield the removal of borders' statements that nothing reads any more."""
    for clamp in _own_clamps(fn, clamped.shadow(source)):
        owner = next(
            (
                v
                for v in fn.variables.all
                if v.init is not None and span(v.init)[0] <= clamp.span[0] < span(v.init)[1]
            ),
            None,
        )
        if owner is None or owner.declaration.type != "declaration":
            continue
        inside = (*gone, *clamp.clears)
        left = [
            u
            for u in owner.uses
            if not contains(owner.declaration, u.node)
            and not any(low <= u.node.start_byte < high for low, high in inside)
        ]
        alone = source.plain(owner.declaration).count(",") == source.plain(owner.init).count(",")
        if left or not alone:
            continue
        places = [owner.declaration, *(_statement(fn, at) for at in clamp.clears)]
        for place in places:
            if place is not None:
                yield (*source.statement_span(place), "")


def _statement(fn: Function, at: tuple[int, int]) -> Node | None:
    found = fn.body.descendant_for_byte_range(*at)
    while found is not None and span(found) != at:
        found = found.parent
    return found


def _load(
    source: Source,
    fn: Function,
    tile: _Tile,
    name: str,
    taken: list[str],
    step: str,
    most: str,
    *,
    wide: bool,
) -> Iterator[str]:
    """Yield the declaration of a tile and the lines that fill it."""
    tx, ty, gx, gy = (source.fresh_name(n, *taken) for n in ("tx", "ty", "gx", "gy"))
    array = tile.array
    axes = [(tile.x, tx, gx, tile.columns, False)]
    if tile.y is not None:
        axes.insert(0, (tile.y, ty, gy, tile.rows, True))
    extents = "".join(f"[{_length(tile, axis, most, across=across)}]" for axis, *_, across in axes)
    yield f"__shared__ {array.written} {name}{extents};"
    margin = ""
    tests: list[str] = []
    for axis, t, g, places, across in axes:
        more = tile.more[across]
        end = f"(int)blockDim.{axis.name}"
        end += _added(more)
        several = tile.channels > 1 and not across
        end = f"{tile.channels} * ({end})" if several else end
        run = f"int {t} = threadIdx.{axis.name}; {t} < {end}; {t} += blockDim.{axis.name}"
        yield f"{margin}for ({run}) {{"
        margin += step
        start = f"blockIdx.{axis.name} * {halo.text_of(axis.block)} + {t}"
        start += f" / {tile.channels}" if several else ""
        yield f"{margin}const int {g} = {start}{_added(tile.lows[across])};"
        if not tile.borders[across].low:
            tests.append(f"{g} >= {halo.text_of(places.low)}")
        tests.append(f"{g} < {_whole(fn, tile, places.high + number(1), across=across)}")
    column = _kept(fn, tile, gx, across=False)
    index = column
    if tile.y is not None:
        row = _kept(fn, tile, gy, across=True)
        row = f"({row})" if tile.borders[1].wraps else row
        row = f"(size_t){row}" if wide else row
        index = f"{row} * {_factor(tile.pitch)} + {column}"
    layer = tile.reads[0].layer
    index = f"{halo.text_of(layer)} + {index}" if layer.terms else index
    if tile.channels > 1:
        index = f"({index}) * {tile.channels} + {tx} % {tile.channels}"
    subscripts = f"[{ty}][{tx}]" if tile.y is not None else f"[{tx}]"
    yield f"{margin}if ({' && '.join(tests)}) {name}{subscripts} = {array.name}[{index}];"
    for _ in axes:
        margin = margin[: -len(step)]
        yield f"{margin}}}"


def _kept(fn: Function, tile: _Tile, place: str, *, across: bool) -> str:
    """Return a place kept in the borders: `min(max(gx, 0), w - 1)`."""
    border = tile.borders[across]
    if border.wraps and border.most is not None:
        size = _whole(fn, tile, border.most + number(1), across=across)
        size = size if _PLAIN.fullmatch(size) else f"({size})"
        return f"({place} + {size}) % {size}" if border.low else f"{place} % {size}"
    text = f"max({place}, 0)" if border.low else place
    return f"min({text}, {_whole(fn, tile, border.most, across=across)})" if border.most else text


def _whole(fn: Function, tile: _Tile, value: Polynomial, *, across: bool) -> str:
    """Return a sum as a signed number where a place below zero is compared with it."""
    text = halo.text_of(value)
    named = [n for n in value.symbols if fn.file.constant(n) is None]
    variables = [fn.variable(name, fn.body) for name in named]
    border = tile.borders[across]
    if border == _OPEN or all(v is not None and v.element == "int" for v in variables):
        return text
    return f"(int)({text})"


def _length(tile: _Tile, axis: halo.Axis, most: str, *, across: bool) -> str:
    """Return the extent of a tile, with room for the most that free parameters may be."""
    fixed, moving = tile.more[across].offset, 0
    moving = sum(f for m, f in tile.more[across].terms.items() if m)
    text = tile.extents["xy".index(axis.name)]
    if moving:
        text += f" + {most}" if moving == 1 else f" + {moving} * {most}"
    text += _signed(fixed)
    return f"{tile.channels} * ({text})" if tile.channels > 1 and not across else text


def _small(name: str, most: str) -> str:
    """Return the test that a parameter is one that the tile has room for."""
    whole = halo.half_of(name)
    odd = f"{whole} % 2 == 1 && " if whole else ""
    size = name[1:-1] if whole else name
    return f"{odd}{size} > 0 && {size} <= {most}"


def _place(axis: halo.Axis | None, shift: halo.Shift, low: Polynomial) -> str:
    """Return where in the tile an element lies: `threadIdx.x + k + 3`."""
    rest = shift.base - low
    started = dict(shift.started)
    text = "" if started else f"threadIdx.{axis.name if axis is not None else 'x'}"
    if started and axis is not None:
        # The loop's variable is a place itself: what counts is how far it is from the block's.
        block = axis.block * Polynomial({(f"blockIdx.{axis.name}",): 1})
        rest += axis.place - block
        for name, start in started.items():
            rest -= start
            text += f" + {name}" if text else name
    for name, factor in shift.factors:
        if name not in started:
            times = "" if abs(factor) == 1 else f"{abs(factor)} * "
            text += f" {'-' if factor < 0 else '+'} {times}{name}"
    return text + _added(rest)


def _added(value: Polynomial) -> str:
    """Return how a sum is written behind another: names first, then the number."""
    text = ""
    for monomial, factor in sorted(value.terms.items(), key=lambda t: (not t[0], t[0])):
        size = " * ".join(monomial)
        if abs(factor) != 1 or not monomial:
            size = f"{abs(factor)} * {size}" if monomial else str(abs(factor))
        text += f" {'-' if factor < 0 else '+'} {size}"
    return text


def _signed(value: int) -> str:
    return f" {'-' if value < 0 else '+'} {abs(value)}" if value else ""


def _factor(value: Polynomial) -> str:
    text = halo.text_of(value)
    return text if _PLAIN.fullmatch(text) else f"({text})"
