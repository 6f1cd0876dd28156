"""A thread's number taken apart into coordinates by chains of `/` and `%`."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.polynomials import Polynomial, atom, number
from optimizer.syntax import contains, field, operator, stripped
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
    """Return the digits of a number, lowest first; None when they leave any of it out.

    Quotients that are only taken apart further are no digits.
    """
    return _digits(fn, own, named=False) or _digits(fn, own, named=True)


def _digits(fn: Function, own: Variable, *, named: bool) -> list[Digit] | None:
    found: list[Digit] = []
    for variable in fn.variables.all:
        if variable is own or variable.space == "parameter" or variable.init is None:
            continue
        parts = _part(fn, variable.init, own, named=named)
        value = fn.affine(variable.init)
        if parts is None or value is None or len(value.terms) != 1 or len(value.atoms) != 1:
            continue
        found.append(Digit(variable, *parts, next(iter(value.atoms))))
    found = [d for d in found if d.extent is not None or not _passed_on(d, found)]
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


def _passed_on(digit: Digit, found: list[Digit]) -> bool:
    """Return whether all that becomes of a quotient are other digits."""
    others = [d.variable.init for d in found if d is not digit]
    uses = [u.node for u in digit.variable.uses if u.role == "read"]
    return bool(uses) and all(
        any(init is not None and contains(init, use) for init in others) for use in uses
    )


def _part(
    fn: Function, node: Node | None, own: Variable, *, named: bool
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
        return _part(fn, variable.init, own, named=named)
    if node.type != "binary_expression" or operator(node) not in ("/", "%"):
        return None
    left = _part(fn, field(node, "left"), own, named=named)
    right = _factor(fn, field(node, "right"), named=named)
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


def _factor(fn: Function, node: Node | None, *, named: bool) -> Polynomial | None:
    """Return a divisor; with `named`, locals in it stand for themselves."""
    node = stripped(node)
    if not named or node is None:
        return fn.affine(node)
    if node.type == "identifier":
        variable = fn.variables.of(node)
        if variable is not None and variable.settled and variable.is_scalar:
            return atom(variable.name)
    if node.type == "binary_expression" and operator(node) == "*":
        left, right = (_factor(fn, field(node, side), named=True) for side in ("left", "right"))
        return left * right if left is not None and right is not None else None
    return fn.affine(node)


def quotient(one: Polynomial, other: Polynomial) -> Polynomial | None:
    """Return one product divided by another; None when it does not divide evenly."""
    if len(one.terms) != 1 or len(other.terms) != 1:
        return None
    (top, a), (bottom, b) = next(iter(one.terms.items())), next(iter(other.terms.items()))
    rest = list(top)
    for factor in bottom:
        if factor not in rest:
            return None
        rest.remove(factor)
    return Polynomial({tuple(rest): a // b}, one.opaque) if a % b == 0 else None
