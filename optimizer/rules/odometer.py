"""Coordinates of neighbouring outputs: those of the first by division, the others by counting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.rules.digits import Digit, digits
from optimizer.syntax import contains
from optimizer.variables import Variable

INTEGERS = frozenset({
    "int", "unsigned int", "unsigned", "long", "unsigned long", "long long",
    "unsigned long long", "size_t", "int64_t", "uint64_t", "int32_t", "uint32_t",
})  # fmt: skip
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Odometer:
    """The coordinates of an output, lowest first, and the declarations that give them today."""

    digits: tuple[Digit, ...]
    declarations: tuple[Node, ...]

    def declared(self, first: str) -> Iterator[str]:
        """Yield declarations of the coordinates of the output `first`."""
        rest = first
        for digit in self.digits:
            value = rest if digit.extent is None else f"{rest} % {extent_text(digit)}"
            yield f"{digit.variable.element} {digit.variable.name} = {value};"
            rest = f"{rest} / {extent_text(digit)}"

    def counted(self, step: str) -> Iterator[str]:
        """Yield the lines that turn coordinates into those of the next output."""
        margin = ""
        for digit in self.digits[:-1]:
            yield f"{margin}if (++{digit.variable.name} == {extent_text(digit)}) {{"
            margin += step
            yield f"{margin}{digit.variable.name} = 0;"
        yield f"{margin}++{self.digits[-1].variable.name};"
        while margin:
            margin = margin.removesuffix(step)
            yield f"{margin}}}"


def odometer(fn: Function, own: Variable, statements: Sequence[Node]) -> Odometer | None:
    """Return the coordinates that are taken from a number in `statements`; None when unclear.

    They have to make up the whole number, and stay what they are declared as.
    """
    parts = digits(fn, own)
    if parts is None or len(parts) < _FEWEST or own.element not in INTEGERS:
        return None
    numbers = [d.variable for d in parts]
    if not all(v.settled and v.element in INTEGERS and plain(v.declaration) for v in numbers):
        return None
    known = {n.id for n in statements}
    if not all(v.declaration.id in known for v in numbers):
        return None
    begin = min(n.start_byte for n in statements)
    for digit in parts:
        for name in digit.extent.atoms if digit.extent is not None else ():
            local = fn.variables.named(name)
            late = local is not None and local.space != "parameter"
            if local is not None and (not local.settled or not local.is_scalar):
                return None
            if late and local is not None and local.name_node.start_byte >= begin:
                return None
    places = [v.declaration for v in numbers]
    for variable in reversed(fn.variables.all):
        if variable.declaration.id not in known or variable.init is None:
            continue
        uses = [u.node for u in variable.uses if u.role != "declare"]
        if uses and plain(variable.declaration) and all(
            any(contains(p, u) for p in places) for u in uses
        ):  # fmt: skip
            places.append(variable.declaration)
    return Odometer(tuple(parts), tuple(places))


def plain(declaration: Node) -> bool:
    """Return whether one variable alone is declared."""
    return len(declaration.children_by_field_name("declarator")) == 1


def extent_text(digit: Digit) -> str:
    """Return a coordinate's extent, in brackets where it is an expression."""
    extent = str(digit.extent)
    return extent if extent.isidentifier() or extent.isdigit() else f"({extent})"
