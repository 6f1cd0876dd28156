"""A thread's number taken apart into coordinates by chains of `/` and `%`."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.polynomials import Polynomial, number
from optimizer.syntax import field, operator, stripped
from optimizer.variables import Variable


@dataclass(frozen=True, slots=True)
class Digit:
    """A local that is `number / place % extent`; without an extent for the highest.

    `atom` is what the local is called in index polynomials.
    """

    variable: Variable
    place: Polynomial
    extent: Polynomial | None
    atom: str


def digits(fn: Function, own: Variable) -> list[Digit] | None:
    """Return the digits of a number, lowest first; None when they leave any of it out."""
    found: list[Digit] = []
    for variable in fn.variables.all:
        if variable is own or variable.space == "parameter" or variable.init is None:
            continue
        parts = _part(fn, variable.init, own)
        value = fn.affine(variable.init)
        if parts is None or value is None or len(value.terms) != 1 or len(value.atoms) != 1:
            continue
        found.append(Digit(variable, *parts, next(iter(value.atoms))))
    place = number(1)
    ordered: list[Digit] = []
    while True:
        following = [d for d in found if d.place.same(place)]
        if len(following) != 1:
            return None
        ordered.append(following[0])
        extent = following[0].extent
        if extent is None:
            break
        if len(extent.terms) != 1 or any(not a.isidentifier() for a in extent.atoms):
            return None
        place = place * extent
    return ordered if len(ordered) == len(found) else None


def _part(
    fn: Function, node: Node | None, own: Variable
) -> tuple[Polynomial, Polynomial | None] | None:
    """Read an expression as `number / place % extent`."""
    node = stripped(node)
    if node is None:
        return None
    if node.type == "identifier":
        variable = fn.variables.of(node)
        if variable is own:
            return number(1), None
        if variable is None or not variable.settled or variable.space == "parameter":
            return None
        return _part(fn, variable.init, own)
    if node.type != "binary_expression" or operator(node) not in ("/", "%"):
        return None
    left, right = _part(fn, field(node, "left"), own), fn.affine(field(node, "right"))
    if left is None or right is None or len(right.terms) != 1:
        return None
    place, extent = left
    if operator(node) == "%":
        return (place, right) if extent is None else None
    if extent is not None:
        extent = quotient(extent, right)
        if extent is None:
            return None
    return place * right, extent


def quotient(one: Polynomial, other: Polynomial) -> Polynomial | None:
    """Return one product divided by another; None when it does not divide evenly."""
    if len(one.terms) != 1 or len(other.terms) != 1:
        return None
    (top, a), (bottom, b) = next(iter(one.terms.items())), next(iter(other.terms.items()))
    rest = list(top)
    for atom in bottom:
        if atom not in rest:
            return None
        rest.remove(atom)
    return Polynomial({tuple(rest): a // b}, one.opaque) if a % b == 0 else None
