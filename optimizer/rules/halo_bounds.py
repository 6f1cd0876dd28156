"""Which elements of a tile are sure to exist, and one border for all that it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from optimizer.polynomials import Polynomial
from optimizer.rules import halo
from optimizer.rules.halo_tile import NOWHERE, OPEN, Border, Tile, View
from optimizer.syntax import span


def bounded(view: View, tile: Tile) -> Tile | None:
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
        rows = (NOWHERE[1], True)
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
    borders: list[Border] = []
    for across, whole in enumerate((wide, tall)):
        places = [rows if across else columns for columns, rows, _ in seen]
        kept = [read.borders[across] for read in tile.reads]
        shifts = [read.shift(across=bool(across)) for read in tile.reads]
        for own, place, shift in zip(kept, places, shifts, strict=True):
            if own.inside and own.most is not None:
                last = place.high - shift.high
                if not halo.least_zero(own.most - last, free):
                    return None
        border = _common(list(zip(kept, places, strict=True)), free)
        if border is None or not (border.low or halo.least_zero(whole.low, free)):
            return None
        borders.append(border)
    if any(b != OPEN for b in borders) and (view.source.known("min") or view.source.known("max")):
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


def _common(spans: Sequence[tuple[Border, halo.Span]], free: halo.Free) -> Border | None:
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
    return Border(low, most, wraps)
