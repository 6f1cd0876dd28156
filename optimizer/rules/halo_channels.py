"""Places with several elements each, as in `p[3 * i + c]`: their number, and which one is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from optimizer.accesses import Access
from optimizer.polynomials import Monomial, Polynomial
from optimizer.rules import halo
from optimizer.rules.halo_tile import View
from optimizer.syntax import span

_MOST_CHANNELS = 4
Parts = dict[tuple[int, int], tuple[str, range]]


def channels_of(view: View, reads: Sequence[Access]) -> int:
    """Return how many elements lie between those of neighbouring threads: 3 for `3 * i + c`."""
    for access in reads:
        index = None if access.index is None else _folded_in(view, access, access.index)
        stride = None if index is None else index.stride("threadIdx.x")
        if stride is not None and 1 <= stride <= _MOST_CHANNELS:
            return stride
    return 1


def by_place(view: View, reads: Sequence[Access], channels: int) -> tuple[Sequence[Access], Parts]:
    """Return reads by the number of their place, and which of its elements they read."""
    if channels == 1:
        return reads, {}
    found: list[Access] = []
    parts: Parts = {}
    for access in reads:
        pair = (
            None if access.index is None else place_and_part(view, access, access.index, channels)
        )
        if pair is None:
            continue
        place, part = pair
        ends = _part_ends(view, access, part)
        if ends is None or ends.start < 0 or ends.stop > channels:
            continue
        found.append(replace(access, index=place))
        parts[span(access.node)] = (halo.text_of(part), ends)
    return found, parts


def place_and_part(
    view: View, access: Access, index: Polynomial, channels: int
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


def _part_ends(view: View, access: Access, part: Polynomial) -> range | None:
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


def _folded_in(view: View, access: Access, index: Polynomial) -> Polynomial:
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
