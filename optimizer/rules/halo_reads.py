"""How far from its thread's place a read lies, and which borders keep it there."""

from __future__ import annotations

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.polynomials import Monomial, Polynomial, number
from optimizer.rules import clamped, halo
from optimizer.rules.halo_channels import place_and_part
from optimizer.rules.halo_tile import OPEN, Border, Read, View
from optimizer.syntax import field, span, walk

Terms = list[tuple[Monomial, int]]


def placed(
    view: View,
    access: Access,
    axes: tuple[halo.Axis, halo.Axis | None],
    pitch: Polynomial,
    free: halo.Free,
    channels: int,
) -> Read | None:
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
        return Read(access, columns, rows, layer)
    same = next((a for a in view.named_fn.accesses if span(a.node) == span(access.node)), None)
    named = None if same is None else same.index
    if named is not None and same is not None and channels > 1:
        pair = place_and_part(view, same, named, channels)
        named = None if pair is None else pair[0]
    if same is None or named is None:
        return None
    borders = _borders(view, named, axes, pitch, (columns, rows), free)
    limits = _limits(view, access, same, free)
    if borders is None or limits is None:
        return None
    return Read(access, columns, rows, layer, borders, limits)


def _borders(
    view: View,
    index: Polynomial,
    axes: tuple[halo.Axis, halo.Axis | None],
    pitch: Polynomial,
    shifts: tuple[halo.Shift, halo.Shift],
    free: halo.Free,
) -> tuple[Border, Border] | None:
    """Return what keeps a read's places in borders; None where that is not seen to be all."""
    found = [OPEN, OPEN]
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
        if axis is None or not factor.same(wanted) or found[number_of] is not OPEN:
            return None
        if not inner.same(axis.place + shift.polynomial) and not _folded(
            view, inner - axis.place - shift.polynomial
        ):
            return None
        rest = index.without(clamp.name)
        if any(rest.depends_on(f"{n}.{axis.name}") for n in ("threadIdx", "blockIdx")):
            return None
        found[number_of] = Border(clamp.low, clamp.most, clamp.wraps, bool(clamp.step))
    return found[0], found[1]


def _limits(
    view: View, access: Access, same: Access, free: halo.Free
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


def _folded(view: View, apart: Polynomial) -> bool:
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
