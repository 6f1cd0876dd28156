"""What a tile with a halo holds: the reads it serves, and the borders that places are kept in."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.functions import Function
from optimizer.polynomials import Polynomial, number
from optimizer.rules import clamped, halo
from optimizer.source import Source
from optimizer.syntax import field
from optimizer.variables import Variable

_MOST_RADIUS = 8  # that a parameter may have, of a plane
_MOST_REACH = 32  # of a line


@dataclass(frozen=True, slots=True)
class Border:
    """What a place is kept in: from below zero (`low`), and from above `most`.

    With `wraps` it goes on at the other end. `inside` tells that this holds for threads only
    that are not behind the last place themselves.
    """

    low: bool = False
    most: Polynomial | None = None
    wraps: bool = False
    inside: bool = False


OPEN = Border()
NOWHERE = (halo.Span(number(0), number(0)), halo.Span(number(0), number(0)))


@dataclass(frozen=True, slots=True)
class View:
    """A kernel without the borders of its indexes, and with names for what is kept in borders."""

    source: Source
    fn: Function
    named: Source
    named_fn: Function
    clamps: tuple[clamped.Clamp, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """A read `along` and `across` from its thread's place, in a layer of the array.

    `borders` are those of columns and rows; `limits` are sums, zero at least, by which loops that
    start and end at a border keep their places inside; `channel` is which of a place's elements
    it is, where a place has several.
    """

    access: Access
    along: halo.Shift
    across: halo.Shift
    layer: Polynomial
    borders: tuple[Border, Border] = (OPEN, OPEN)
    limits: tuple[Polynomial, ...] = ()
    channel: str = ""

    @property
    def node(self) -> Node:
        """Return the element that is read: `p[i]` of `p[i].x`."""
        inner = field(self.access.node, "argument")
        whole = self.access.node.type == "subscript_expression"
        return self.access.node if whole or inner is None else inner

    def shift(self, *, across: bool) -> halo.Shift:
        """Return how far the element is along rows, or across them."""
        return self.across if across else self.along


@dataclass(frozen=True, slots=True)
class Tile:
    """Reads of one array that overlap between threads, and the elements that exist for them.

    `x`, `y` are the axes of threads (no `y`: a line of threads), `pitch` the elements of a row,
    `extents` the texts of the block's. `free` are the parameters that say how far reads reach;
    `lows` how far the tile begins before the block's first place, `more` by how much it is longer
    than the block, `borders` where its places are kept in: along columns, then along rows. A
    place has several elements, `channels`, where those of neighbouring threads do (`3 * i + c`).
    """

    array: Variable
    reads: tuple[Read, ...]
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
    borders: tuple[Border, Border] = (OPEN, OPEN)

    @property
    def reach(self) -> int:
        """Return the largest value of a free parameter that the tile has room for."""
        return _MOST_REACH if self.y is None else _MOST_RADIUS

    def halo(self, *, across: bool) -> int:
        """Return by how much the tile is longer than the block at most."""
        terms = self.more[across].terms.items()
        return sum(f * self.reach if m else f for m, f in terms)


def view_of(source: Source, fn: Function) -> View:
    """Return a kernel as it is, or with its borders taken out where it has some."""
    found = clamped.shadow(source)
    clamps = own_clamps(fn, found)
    if found is not None and clamps:
        pair = [
            next((k for k in text.kernels if k.span == fn.span), None)
            for text in (found.plain, found.named)
        ]
        if pair[0] is not None and pair[1] is not None and not any(k and k.broken for k in pair):
            return View(found.plain, pair[0], found.named, pair[1], clamps)
    return View(source, fn, source, fn)


def own_clamps(fn: Function, found: clamped.Shadow | None) -> tuple[clamped.Clamp, ...]:
    """Return the borders in a kernel."""
    low, high = fn.span
    return () if found is None else tuple(c for c in found.clamps if low <= c.span[0] < high)
