"""A kernel that fills its tiles where it begins and reads from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.polynomials import Polynomial, number
from optimizer.rules import clamped, halo
from optimizer.rules.halo_tile import OPEN, Tile, own_clamps
from optimizer.rules.remarks import remark
from optimizer.source import Source
from optimizer.spans import Replacement
from optimizer.syntax import contains, span

_WIDE = ("size_t", "long", "int64_t", "uint64_t", "ptrdiff_t")
_PLAIN = re.compile(r"[\w.]+|\(.*\)")


def edits(source: Source, fn: Function, tiles: Sequence[Tile]) -> Iterator[Replacement]:
    """Yield what fills the tiles where the kernel begins, and reads of them instead of arrays."""
    taken = [v.name for v in fn.variables.all]
    first = next(n for n in fn.body.named_children if n.type != "comment")
    margin = source.indent(first)
    step = "\t" if "\t" in margin else margin or "    "
    wide = any(word in source.of(fn.node) for word in _WIDE)
    free = sorted({name for tile in tiles for name in tile.free})
    most, staged = "", ""
    declared = [*remark("Threads read elements around theirs: the block loads each of them once.")]
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
        declared += remark("A radius that the tile has no room for is read from memory.")
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
    for clamp in own_clamps(fn, clamped.shadow(source)):
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
    tile: Tile,
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


def _kept(fn: Function, tile: Tile, place: str, *, across: bool) -> str:
    """Return a place kept in the borders: `min(max(gx, 0), w - 1)`."""
    border = tile.borders[across]
    if border.wraps and border.most is not None:
        size = _whole(fn, tile, border.most + number(1), across=across)
        size = size if _PLAIN.fullmatch(size) else f"({size})"
        return f"({place} + {size}) % {size}" if border.low else f"{place} % {size}"
    text = f"max({place}, 0)" if border.low else place
    return f"min({text}, {_whole(fn, tile, border.most, across=across)})" if border.most else text


def _whole(fn: Function, tile: Tile, value: Polynomial, *, across: bool) -> str:
    """Return a sum as a signed number where a place below zero is compared with it."""
    text = halo.text_of(value)
    named = [n for n in value.symbols if fn.file.constant(n) is None]
    variables = [fn.variable(name, fn.body) for name in named]
    border = tile.borders[across]
    if border == OPEN or all(v is not None and v.element == "int" for v in variables):
        return text
    return f"(int)({text})"


def _length(tile: Tile, axis: halo.Axis, most: str, *, across: bool) -> str:
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
