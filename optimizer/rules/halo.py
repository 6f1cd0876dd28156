"""What each thread reads around its own place, and which elements are sure to exist there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.accesses import Access
from optimizer.aliasing import apart
from optimizer.functions import Function
from optimizer.loops import Loop
from optimizer.polynomials import Monomial, Polynomial, atom, number
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, field, operator, stripped
from optimizer.variables import ELEMENT_WRITES, Variable

_JUMPS = ("return_statement", "continue_statement", "break_statement")
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of threads: place `blockIdx.A * block + threadIdx.A` along it."""

    name: str
    block: Polynomial
    place: Polynomial


@dataclass(frozen=True, slots=True)
class Shift:
    """How far from its thread's place an element lies along one axis.

    `base` (a number and parameters that are free) plus each loop variable times its factor;
    between `low` and `high`. Variables of loops that start at the thread's place (`started`, with
    what they start at) stand for what they have been moved on.
    """

    base: Polynomial
    factors: tuple[tuple[str, int], ...]
    low: Polynomial
    high: Polynomial
    started: tuple[tuple[str, Polynomial], ...] = ()

    @property
    def polynomial(self) -> Polynomial:
        """Return the shift as a sum."""
        return Polynomial({(name,): factor for name, factor in self.factors}) + self.base


@dataclass(frozen=True, slots=True)
class Span:
    """Places along an axis, both ends included; no end is what the grid covers."""

    low: Polynomial
    high: Polynomial


# Parameters that are at least one where the sums they are in are compared.
Free = frozenset[str]
NOTHING: Free = frozenset()


def least_zero(value: Polynomial, free: Free) -> bool:
    """Return whether a sum is seen to be zero or more when free parameters are at least one."""
    moving = {m: f for m, f in value.terms.items() if m}
    known = all(f > 0 and all(n in free for n in m) for m, f in moving.items())
    return known and sum(value.terms.values()) >= 0


_HALF = re.compile(r"\((?:(\w+) / 2|\(-1 \+ (\w+)\) / 2|(\w+) >> 1)\)")


def half_of(name: str) -> str:
    """Return the number that an atom is half of: `K` for `(K / 2)`; empty for others."""
    found = _HALF.fullmatch(name)
    return next(filter(None, found.groups()), "") if found is not None else ""


def odd(value: Polynomial, free: Free) -> Polynomial:
    """Return a sum with `K` as `2 * (K / 2) + 1` where the half is free: `K` is taken to be odd."""
    if not any(name.startswith("(") for name in free):
        return value
    total = number(0)
    for monomial, factor in value.terms.items():
        part = number(factor)
        for name in monomial:
            whole = half_of(name) or name
            half = atom(f"({whole} / 2)", frozenset({whole}))
            if f"({whole} / 2)" not in free:
                part *= Polynomial({(name,): 1}, value.opaque)
            elif whole == name:
                part *= half.scaled(2) + number(1)
            else:
                part *= half
        total += part
    return total


class Path:
    """The tests under which a node is reached, as sums that are at least zero there.

    `loose` tells that there are others, not understood, which leave out some threads.
    """

    def __init__(self, source: Source, fn: Function, node: Node) -> None:
        self._source, self._fn = source, fn
        self.least: list[Polynomial] = []
        self.never: list[Polynomial] = []
        self.loose = False
        inner = node
        for outer in ancestors(node):
            if inner == fn.body:
                break
            self._under(outer, inner)
            inner = outer

    def _under(self, outer: Node, inner: Node) -> None:
        kind = outer.type
        if kind in ("if_statement", "conditional_expression"):
            condition = field(outer, "condition")
            if condition is not None and not contains(condition, inner):
                chosen = field(outer, "consequence")
                self._test(condition, negated=chosen is None or not contains(chosen, inner))
        elif kind == "binary_expression" and operator(outer) in ("&&", "||"):
            left = field(outer, "left")
            if left is not None and not contains(left, inner):
                self._test(left, negated=operator(outer) == "||")
        elif kind in ("while_statement", "do_statement", "switch_statement", "for_range_loop"):
            self.loose = True
        elif kind == "compound_statement":
            for sibling in outer.named_children:
                if sibling.start_byte >= inner.start_byte:
                    break
                self._behind(sibling)

    def _behind(self, sibling: Node) -> None:
        """Take a statement in front: `if (x >= n) return;` is a test of what follows."""
        chosen = field(sibling, "consequence")
        if sibling.type == "if_statement" and chosen is not None:
            last = chosen
            while last.type == "compound_statement" and last.named_children:
                last = last.named_children[-1]
            condition = field(sibling, "condition")
            if last.type in _JUMPS and condition is not None:
                self._test(condition, negated=True)
                if field(sibling, "alternative") is None:
                    return
        if self._fn.leaves(sibling):
            self.loose = True

    def _test(self, node: Node | None, *, negated: bool) -> None:
        node = stripped(node)
        if node is None:
            self.loose = True
            return
        sign = operator(node)
        if node.type == "unary_expression" and sign == "!":
            self._test(field(node, "argument"), negated=not negated)
        elif node.type == "binary_expression" and sign == ("||" if negated else "&&"):
            self._test(field(node, "left"), negated=negated)
            self._test(field(node, "right"), negated=negated)
        elif node.type == "binary_expression" and sign in _NEGATED:
            self._compare(node, _NEGATED[sign] if negated else sign)
        elif node.type == "identifier" and self._init(node) is not None:
            self._test(self._init(node), negated=negated)
        else:
            self.loose = True

    def _init(self, node: Node) -> Node | None:
        variable = self._fn.variables.of(node)
        settled = variable is not None and variable.settled and variable.is_scalar
        return variable.init if variable is not None and settled else None

    def _compare(self, node: Node, sign: str) -> None:
        left = self._fn.affine(field(node, "left"))
        right = self._fn.affine(field(node, "right"))
        if left is None or right is None:
            self.loose = True
            return
        above = left - right
        if sign == "!=":
            self.never.append(above)
            return
        if sign in (">", ">=", "=="):
            self.least.append(above if sign != ">" else above - number(1))
        if sign in ("<", "<=", "=="):
            below = above.scaled(-1)
            self.least.append(below if sign != "<" else below - number(1))


def only_read(source: Source, fn: Function) -> Iterator[Variable]:
    """Yield the arrays passed to a kernel that nothing in it writes, also by another name."""
    written = {u.variable for v in fn.variables.all for u in v.uses if u.role in ELEMENT_WRITES}
    for array in fn.variables.all:
        if array.space != "parameter" or not array.settled or array.depth != 1:
            continue
        if array in written or array.volatile:
            continue
        if all(v is None or apart(source, fn, array, v) for v in written):
            yield array


def text_of(value: Polynomial, *, wide: bool = False) -> str:
    """Return a sum as C writes it: what is added first, then what is taken away.

    With `wide` products are of 64 bits: `(size_t)nx * ny`.
    """
    terms = sorted(value.terms.items(), key=lambda t: (t[1] < 0, not t[0], t[0]))
    text = ""
    for monomial, factor in terms:
        names = " * ".join(monomial)
        names = f"(size_t){names}" if wide and len(monomial) > 1 else names
        size = names or str(abs(factor))
        if names and abs(factor) != 1:
            size = f"{abs(factor)} * {names}"
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {size}" if text else (f"-{size}" if factor < 0 else size)
    return text or "0"


def axis_of(index: Polynomial, name: str, pitch: Polynomial) -> Axis | None:
    """Return the axis along which an index grows by `pitch` a thread."""
    whole = index.coefficient(f"blockIdx.{name}")
    if whole is None:
        return None
    block = divided(whole, pitch)
    if block is None or len(block.terms) != 1:
        return None
    place = Polynomial({(f"threadIdx.{name}",): 1}) + block * Polynomial({(f"blockIdx.{name}",): 1})
    return Axis(name, block, place)


def divided(whole: Polynomial, pitch: Polynomial) -> Polynomial | None:
    """Return a sum divided by a single product; None where it does not divide."""
    ((monomial, factor),) = pitch.terms.items()
    terms: dict[Monomial, int] = {}
    for each, times in whole.terms.items():
        rest = without(each, monomial)
        if rest is None or times % factor:
            return None
        terms[rest] = times // factor
    return Polynomial(terms, whole.opaque)


def without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """Return a product without the factors of another; None when it has not all of them."""
    rest = list(monomial)
    for name in part:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def shift_of(
    source: Source, fn: Function, access: Access, terms: Iterator[tuple[Monomial, int]], free: Free
) -> Shift | None:
    """Return a shift of numbers, free parameters and variables of loops with seen bounds."""
    base, factors = number(0), dict[str, int]()
    moving = {loop.name for loop in access.loops}
    for monomial, factor in terms:
        names: list[str] = []
        scale = factor
        for name in monomial:
            value = source.constant(name) if fn.variable(name, access.node) is None else None
            if value is None:
                names.append(name)
            else:
                scale *= value
        if len(names) == 1 and names[0] in moving:
            factors[names[0]] = factors.get(names[0], 0) + scale
        elif not names or (len(names) == 1 and names[0] in free):
            base += Polynomial({tuple(names): scale} if scale else {})
        else:
            return None
    low = high = base
    started: dict[str, Polynomial] = {}
    for name, factor in factors.items():
        loop = next(loop for loop in access.loops if loop.name == name)
        run = run_of(fn, loop, free)
        if run is None:
            return None
        start = fn.affine(loop.start, fold=True)
        if start is not None and _by_thread(start):
            started[name] = odd(start, free)
            if factor != 1:
                return None
        low += run[factor < 0].scaled(factor)
        high += run[factor > 0].scaled(factor)
    return Shift(base, tuple(factors.items()), low, high, tuple(started.items()))


def _by_thread(value: Polynomial) -> bool:
    return any(name.startswith("threadIdx.") for name in value.symbols)


def run_of(fn: Function, loop: Loop, free: Free) -> tuple[Polynomial, Polynomial] | None:
    """Return the first and last value of a loop's variable, or of what it has been moved on."""
    first = fn.affine(loop.start, fold=True)
    if first is None or loop.step is None:
        return None
    if first.constant is not None and loop.trips:
        ends = first, first + number((loop.trips - 1) * loop.step)
        return ends if loop.step > 0 else (ends[1], ends[0])
    last = fn.affine(loop.bound, fold=True)
    if last is None or not loop.counted or loop.step != 1 or loop.leaves_early:
        return None
    if loop.relation not in ("<", "<="):
        return None
    first, last = odd(first, free), odd(last, free)
    if _by_thread(first):
        first, last = number(0), last - first
    last = last if loop.relation == "<=" else last - number(1)
    if not (first.atoms | last.atoms) <= free:
        return None
    linear = all(len(m) <= 1 for m in (*first.terms, *last.terms))
    return (first, last) if linear and least_zero(last - first, free) else None


def reach(
    path: Path, axis: Axis, other: str, shift: Shift, free: Free = NOTHING
) -> tuple[Span, bool]:
    """Return the places along an axis that a read reaches at most, and whether it is just these.

    `other` is what tells threads apart along the other axis.
    """
    ends = _Ends(axis, shift, free)
    least, never = ([odd(t, free) for t in tests] for tests in (path.least, path.never))
    for test in (*least, *never):
        if test.depends_on(other) and test.depends_on(f"threadIdx.{axis.name}"):
            ends.exact = False
    for test in least:
        if test.depends_on(f"threadIdx.{axis.name}"):
            ends.take(test)
        elif not test.depends_on(other):
            ends.exact = False
    for test in never:
        if test.depends_on(f"threadIdx.{axis.name}"):
            ends.leave_out(test)
        elif not test.depends_on(other):
            ends.exact = False
    return ends.span(), ends.exact and not path.loose


class _Ends:
    """How far threads, and what they read, reach along an axis; closer with each test taken."""

    def __init__(self, axis: Axis, shift: Shift, free: Free) -> None:
        self._axis, self._shift, self._free = axis, shift, free
        self._moving = {name for name, _ in shift.factors}
        self._low, self._least = number(0), shift.low
        grid = Polynomial({(f"gridDim.{axis.name}",): 1})
        self._high = axis.block * grid - number(1)
        self._tested = False
        self._most: Polynomial | None = None
        self.exact = True

    def _rest(self, test: Polynomial) -> tuple[int, Polynomial] | None:
        """Return the sign of the thread's place in a test, and what is added to it."""
        sign = test.stride(f"threadIdx.{self._axis.name}")
        if sign not in (1, -1):
            return None
        rest = test - self._axis.place.scaled(sign)
        own = any(rest.depends_on(f"{n}.{self._axis.name}") for n in ("threadIdx", "blockIdx"))
        return None if own else (sign, rest)

    def take(self, test: Polynomial) -> None:
        """Take a sum that is at least zero."""
        found = self._rest(test)
        if found is None:
            self.exact = False
            return
        sign, rest = found
        if not rest.symbols & self._moving:
            self._take_place(sign, rest)
            return
        # A test of the element's own place: `y + k >= 0` for an element `y + k`.
        end = rest - self._shift.polynomial.scaled(sign)
        if end.symbols & self._moving:
            self.exact = False
        elif sign == -1:
            self._most = self._nearer(end, self._most)
        else:
            self._least = self._farther(end.scaled(-1), self._least)

    def _take_place(self, sign: int, rest: Polynomial) -> None:
        if sign == -1:
            self._high = self._nearer(rest, self._high if self._tested else None)
            self._tested = True
        else:
            self._low = self._farther(rest.scaled(-1), self._low)

    def _nearer(self, one: Polynomial, other: Polynomial | None) -> Polynomial:
        found = one if other is None else _ordered(one, other, self._free, larger=False)
        self.exact = self.exact and found is not None
        return found if found is not None else one

    def _farther(self, one: Polynomial, other: Polynomial) -> Polynomial:
        found = _ordered(one, other, self._free, larger=True)
        self.exact = self.exact and found is not None
        return found if found is not None else other

    def leave_out(self, test: Polynomial) -> None:
        """Take a sum that is never zero: it matters where that is the first or last place."""
        found = self._rest(test)
        if found is None:
            self.exact = False
            return
        at = found[1].scaled(-found[0])
        if (at - self._low).constant == 0:
            self._low += number(1)
        elif (self._high - at).constant == 0:
            self._high = self._high - number(1)
        else:
            self.exact = False

    def span(self) -> Span:
        """Return the places that are read."""
        highest = self._high + self._shift.high
        if self._most is not None and not self._tested:
            highest = self._most  # of what the grid covers and what is tested, the test
        elif self._most is not None:
            highest = self._nearer(self._most, highest)
        return Span(self._farther(self._low + self._shift.low, self._least), highest)


def joined(spans: Sequence[Span], free: Free = NOTHING) -> Span | None:
    """Return the places of all; None when their ends cannot be compared."""
    low: Polynomial | None = spans[0].low
    high: Polynomial | None = spans[0].high
    for each in spans[1:]:
        low = None if low is None else _ordered(low, each.low, free, larger=False)
        high = None if high is None else _ordered(high, each.high, free, larger=True)
    return None if low is None or high is None else Span(low, high)


def within(inner: Span, outer: Span, free: Free = NOTHING) -> bool:
    """Return whether places are seen to be among others."""
    return least_zero(inner.low - outer.low, free) and least_zero(outer.high - inner.high, free)


def _ordered(one: Polynomial, other: Polynomial, free: Free, *, larger: bool) -> Polynomial | None:
    apart = one - other
    if least_zero(apart, free):
        return one if larger else other
    return (other if larger else one) if least_zero(apart.scaled(-1), free) else None
