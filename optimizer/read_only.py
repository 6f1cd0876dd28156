"""Kernels that read, through the read-only path, what they write themselves.

What `__ldg` (`ld.global.nc`) reads has to stay as it is for as long as the kernel runs (CUDA C++
Programming Guide, "Read-Only Data Cache Load Function"): a multiprocessor may have an older line of
it, and the compiler may load it earlier. Results are mostly right all the same, so that no run
shows it. Told are two ways, both with a barrier between the write and the read: pointers that take
turns within a loop (`from = to`), and an array that is written before the barrier and read behind
it. In-place code that reads its element and then writes it is left alone, and so is whatever is
not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node

from optimizer.functions import Call, Function
from optimizer.intrinsics import ATOMICS, CACHED_STORES
from optimizer.pointing import Pointers
from optimizer.source import Source
from optimizer.syntax import ancestors, contains, field, operator, walk

LONGEST = 1 << 18
MOST_PLACES, MOST_LOOPS, MOST_CALLS = 64, 32, 3
_LOADS = re.compile(r"ld(?:\.\w+)*\.global(?:\.\w+)*\.nc\b", re.ASCII)
_STORES = re.compile(r"\b(?:st|red|atom|cp)\.", re.ASCII)
_ORDERS = re.compile(r"sync(?!warp)|barrier|fence|arrive|wait", re.ASCII | re.IGNORECASE)
_BEYOND_BLOCK = re.compile(r"__threadfence(?:_system)?|this_grid\(\)\.sync", re.ASCII)
_GRIDS = re.compile(r"\bgrid_group\b|\bthis_grid\b", re.ASCII)
_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A pointer that is read or written through, and where."""

    pointer: Node
    at: Node


@dataclass(frozen=True, slots=True)
class _Effects:
    """The parameters through which a function reads by the read-only path, and writes."""

    read: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()


@lru_cache(maxsize=16)
def reads_its_own(text: str) -> bool:
    """Tell whether a function of a text reads by the read-only path what it writes itself.

    >>> reads_its_own(
    ...     "__global__ void f(float* p, float* y) { p[blockIdx.x] = 1.f; __threadfence();"
    ...     " y[blockIdx.x] = __ldg(p); }"
    ... )
    True
    """
    if len(text) > LONGEST or not ("__ldg" in text or ".nc" in text):
        return False
    found = _Found(Source(text))
    return any(found.told(one) for one in found.functions)


class _Found:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.functions = [
            one for one in source.functions if {"__global__", "__device__"} & one.qualifiers
        ]
        self._effects: dict[tuple[Function, int], _Effects] = {}
        self._pointers: dict[Function, Pointers] = {}

    def told(self, fn: Function) -> bool:
        """Tell whether one function does so."""
        loads, stores = list(self._loads(fn, MOST_CALLS)), list(self._stores(fn, MOST_CALLS))
        if not loads or not stores or max(len(loads), len(stores)) > 8 * MOST_PLACES:
            return False
        loads, stores = loads[:MOST_PLACES], stores[:MOST_PLACES]
        return self._by_turns(fn, loads, stores) or self._behind(fn, loads, stores)

    def _of(self, fn: Function) -> Pointers:
        return self._pointers.setdefault(fn, Pointers(fn))

    # -- what is read and written ----------------------------------------------------------------

    def _loads(self, fn: Function, depth: int) -> Iterator[_Place]:
        for call in fn.calls:
            macro = self.source.macros_in_force.get(call.name)
            if call.name == "__ldg" and call.arguments:
                yield _Place(call.arguments[0], call.node)
            elif macro is not None and macro.parameters and "__ldg" in macro.body:
                yield from (_Place(one, call.node) for one in call.arguments)
            elif depth:
                read = self._called(call, depth).read
                yield from (_Place(call.arguments[at], call.node) for at in read)
        for node, words, operands in _assembly(fn):
            if _LOADS.search(words) and not _STORES.search(words):
                yield from (_Place(one, node) for one in operands)

    def _stores(self, fn: Function, depth: int) -> Iterator[_Place]:
        for node in fn.variables.nodes("assignment_expression", "update_expression"):
            place = field(node, "left") or field(node, "argument")
            pointer = _written(place)
            if pointer is not None:
                yield _Place(pointer, node)
        for call in fn.calls:
            plain = call.name.rpartition("::")[2]
            if plain in ATOMICS | CACHED_STORES | {"store_matrix_sync"} and call.arguments:
                yield _Place(call.arguments[0], call.node)
            elif depth:
                written = self._called(call, depth).written
                yield from (_Place(call.arguments[at], call.node) for at in written)
        for node, words, operands in _assembly(fn):
            if re.search(r"\b(?:st|red|atom)\.", words):
                yield from (_Place(one, node) for one in operands)

    def _called(self, call: Call, depth: int) -> _Effects:
        """Return what a function of the text does with what it is given."""
        name = call.name.rpartition("::")[2]
        fit = [
            one
            for one in self.functions
            if one.name == name and len(one.parameters) == len(call.arguments)
        ]
        if len(fit) != 1 or fit[0].is_kernel:
            return _Effects()
        key = (fit[0], depth)
        if key not in self._effects:
            fn, pointers = fit[0], self._of(fit[0])
            read, written = (
                frozenset(
                    at
                    for at, parameter in enumerate(fn.parameters)
                    if (own := fn.variable(parameter.name)) is not None
                    and any(own in pointers.of(one.pointer) for one in places)
                )
                for places in (
                    list(self._loads(fn, depth - 1))[:MOST_PLACES],
                    list(self._stores(fn, depth - 1))[:MOST_PLACES],
                )
            )
            self._effects[key] = _Effects(read, written)
        return self._effects[key]

    # -- the two ways ----------------------------------------------------------------------------

    def _by_turns(self, fn: Function, loads: list[_Place], stores: list[_Place]) -> bool:
        """Tell whether pointers take turns in a loop, one of which is read and one written."""
        pointers = self._of(fn)
        for loop in fn.variables.nodes(*_LOOPS)[:MOST_LOOPS]:
            if not any(contains(loop, one.node) and self._orders(one) for one in fn.calls):
                continue
            written = [one for one in stores if contains(loop, one.at)]
            for read in (one for one in loads if written and contains(loop, one.at)):
                origins = pointers.of(read.pointer)
                if len(origins) < 2 or not pointers.changing(read.pointer, loop, read.at):
                    continue
                turns = pointers.turns(read.pointer)
                for one in written:
                    meet = origins & pointers.of(one.pointer)
                    # In place, as of several arrays: the same in each iteration.
                    alike = turns == pointers.turns(one.pointer)
                    if meet and not alike and not _exclusive(fn, one.at, read.at):
                        return True
        return False

    def _behind(self, fn: Function, loads: list[_Place], stores: list[_Place]) -> bool:
        """Tell whether an array is written, and read behind a barrier of more than a block."""
        fences = [one.node for one in fn.calls if self._beyond_block(fn, one)]
        pointers = self._of(fn)
        for read in loads if fences else ():
            own = pointers.alias(read.pointer)
            variable = None if own is None else own.variable
            if own is None or (variable is not None and not variable.settled):
                continue
            for one in stores:
                other = pointers.alias(one.pointer)
                if other is None or (other.variable, other.name) != (variable, own.name):
                    continue
                between = any(
                    one.at.end_byte <= fence.start_byte and fence.end_byte <= read.at.start_byte
                    for fence in fences
                )
                known = pointers.behind(own) and (variable is None or variable.space != "shared")
                if between and known and not _exclusive(fn, one.at, read.at):
                    return True
        return False

    def _orders(self, call: Call) -> bool:
        """Tell whether a call lets a thread see what others wrote."""
        if call.name == "__syncwarp":
            return False
        return bool(_ORDERS.search(call.name)) or _ORDERS.search(self._body(call)) is not None

    def _beyond_block(self, fn: Function, call: Call) -> bool:
        """Tell whether a call orders memory for other blocks."""
        if _BEYOND_BLOCK.fullmatch(call.name.removeprefix("cooperative_groups::")):
            return True
        if call.name.rpartition("::")[2].rpartition(".")[2] == "sync":
            text = fn.file.syntax.of(call.node)
            names = set(re.findall(r"\w+", text))
            grids = (one for one in fn.variables.all if one.name in names)
            return bool(_GRIDS.search(text)) or any(
                _GRIDS.search(fn.file.syntax.of(one.declaration)) for one in grids
            )
        return _BEYOND_BLOCK.search(self._body(call)) is not None

    def _body(self, call: Call) -> str:
        """Return the text of a device function of the file that is called; empty for any other."""
        name = call.name.rpartition("::")[2]
        found = next((f for f in self.functions if f.name == name and not f.is_kernel), None)
        return "" if found is None else self.source.of(found.body)


def _written(place: Node | None) -> Node | None:
    """Return the pointer behind which an assignment writes; None where it sets a variable."""
    while place is not None and place.type in ("field_expression", "parenthesized_expression"):
        inside = field(place, "argument")
        if inside is not None and operator(place) == "->":
            return inside
        place = inside or (place.named_children[0] if place.named_children else None)
    if place is None or place.type not in ("subscript_expression", "pointer_expression"):
        return None
    return field(place, "argument")


def _assembly(fn: Function) -> Iterator[tuple[Node, str, list[Node]]]:
    """Yield inline assembly: its words, and what it is given in registers of 64 bits."""
    for node in fn.variables.nodes("gnu_asm_expression"):
        words = "".join(map(fn.file.syntax.of, walk(node, "string_content")))
        operands = [
            one.named_children[-1]
            for one in walk(node, "gnu_asm_input_operand")
            if one.named_children and '"l"' in fn.file.syntax.of(one.named_children[0])
        ]
        yield node, words, operands


def _exclusive(fn: Function, one: Node, other: Node) -> bool:
    """Tell whether no launch may do both: what it is passed decides which, or one returns."""
    for node, rest in ((one, other), (other, one)):
        inner = node
        for outer in ancestors(node, fn.body):
            if contains(outer, rest):
                break
            if outer.type == "if_statement" and _of_launch(fn, field(outer, "condition")):
                return True
            inner = outer
        else:
            continue
        apart = outer.type == "if_statement" and not contains(inner, rest)
        if apart or inner.type == "case_statement":
            return True
    return any(
        walk_return.start_byte > one.end_byte
        for outer in ancestors(one, fn.body)
        if outer.type == "compound_statement" and not contains(outer, other)
        for walk_return in _returns(outer.named_children)
    )


def _returns(nodes: Sequence[Node]) -> Iterator[Node]:
    return (node for node in nodes if node.type == "return_statement")


def _of_launch(fn: Function, condition: Node | None) -> bool:
    """Tell whether a condition is the same for a whole launch: of what it is passed alone."""
    if condition is None:
        return False
    templates = {one.name for one in fn.templates}
    return all(
        use.name in templates
        or fn.file.constant(use.name) is not None
        or (
            use.variable is not None
            and use.variable.space == "parameter"
            and use.variable.is_scalar
            and use.variable.settled
        )
        for use in fn.variables.within(condition)
    )
