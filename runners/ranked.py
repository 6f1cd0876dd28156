"""Which arrays of floats an original puts in order and makes numbers of: ranks, medians, cut means.

Who pads what is sorted with the largest float has it in front of the infinities, and where several
of these are among the elements, and the outermost are cut off, it comes to light. So an original is
told by its text that compares two elements of an array with each other.

What it adds up or multiplies may be NaN of infinities in another order of steps, and that is let
pass. But a NaN that is compared, or chosen from by `fmaxf`, makes a number of its own. So nothing
but elements and whole numbers is compared anywhere in the text, and nothing chosen by such calls.
It is a guess about strangers' text: it never raises, and finds nothing rather than much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from runners import flow, trees
from runners.flow import CONVERSIONS, LOADS, Program, base
from runners.text import LONGEST, plain_name
from runners.trees import Node

MOST_DEPTH = 40
# What chooses a number of a number and a NaN, or makes a whole number or a bound of a NaN.
_CHOOSES = re.compile(
    r"_{0,2}h?f?(?:min|max)(?:imum|_nan|f|2)*|__saturatef|__h?sat\w*|\w*(?:lrint|lround)f?"
    r"|__(?:float|double)2\w+|is_?(?:nan|inf|finite)\w*|__(?:float|double)_as_\w+",
    re.ASCII | re.IGNORECASE,
)
_SAME = frozenset({"==", "!="})


def ranked(source: str, symbol: str, positions: Iterable[int]) -> tuple[int, ...]:
    r"""Return which of a function's arrays have elements that are compared with each other.

    >>> text = "void f(const float* x, float* y, int n) { float s = 0; int r = 0;" \
    ...     " for (int i = 0; i < n; ++i) { if (x[i] < x[0]) ++r; } s += x[0] * r; y[0] = s; }"
    >>> ranked(text, "f", [0]), ranked(text.replace("y[0] = s", "y[0] = s > 0 ? s : 0"), "f", [0])
    ((0,), ())
    """
    return _ranked(source, plain_name(symbol), tuple(positions)) if len(source) <= LONGEST else ()


@lru_cache(maxsize=64)
def _ranked(source: str, symbol: str, positions: tuple[int, ...]) -> tuple[int, ...]:
    program = flow.program(source)
    entries = program.by_name.get(symbol, ())
    if len(entries) != 1 or program.too_long or len(program.functions) != 1:
        return ()
    return _Orders(program, entries[0]).found(positions)


class _UnknownError(Exception):
    """Something is compared that is neither an element nor a whole number."""


class _Orders:
    """What one function compares."""

    def __init__(self, program: Program, place: int) -> None:
        self.program, self.place = program, place
        self.function = program.functions[place]
        self.given = {program.group((place, name)): name for name in self.function.names}

    def found(self, positions: tuple[int, ...]) -> tuple[int, ...]:
        """Return the positions of arrays that are put in order; none where that is not known."""
        met: set[str] = set()
        try:
            for one in self.function.body:
                if one.node is None:
                    return ()
                for node in flow.nodes(one.node):
                    met |= self._compared(node)
            self._keeps_whole()
        except (RecursionError, _UnknownError):
            return ()
        names = self.function.names
        return tuple(at for at in positions if at < len(names) and names[at] in met)

    def _keeps_whole(self) -> None:
        """Raise where a whole number is made of a float: of a NaN it would be one, too."""
        for variable in self.program.variables.values():
            values = variable.assigned if variable.whole and not variable.pointer else []
            if not all(self._whole(value) for _, value in values):
                raise _UnknownError

    def _compared(self, node: Node) -> set[str]:
        chooses = node.kind == "call" and _CHOOSES.fullmatch(node.word)
        casts = node.kind == "cast" and any(map(trees.WHOLE.fullmatch, node.word.split()))
        # Of whole numbers one may be chosen.
        if (chooses or casts) and not all(self._whole(part) for part in node.parts):
            raise _UnknownError
        if node.kind != "order" and not (node.kind == "binary" and node.word in _SAME):
            return set()
        if all(self._whole(part) for part in node.parts):
            return set()
        left, right = (self._arrays(part, 0) for part in node.parts)
        return left & right

    def _whole(self, node: Node) -> bool:
        """Tell whether an expression is made of whole numbers alone."""
        if node.kind == "number":
            return "." not in node.word or node.word.startswith("0x")
        if node.kind == "cast" and any(map(trees.WHOLE.fullmatch, node.word.split())):
            return all(self._whole(part) for part in node.parts)
        if node.kind in {"name", "index", "member"}:
            name = base(node)
            builtin = name in {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
            return builtin or self.program.variable((self.place, name)).whole
        if node.kind == "order" or node.word in {"!", "&&", "||", *_SAME}:
            return True  # Comparisons are looked at by themselves.
        if node.kind == "call" and not node.parts:
            return False
        return bool(node.parts) and all(self._whole(part) for part in node.parts)

    def _arrays(self, node: Node, depth: int) -> set[str]:
        """Return the arrays whose elements an expression may be; none of a constant.

        Raises where it is anything else, as a sum is.
        """
        if depth > MOST_DEPTH:
            raise _UnknownError
        if node.kind == "number" or (node.kind == "name" and node.word.isupper()):
            return set()
        if node.kind in {"name", "index"}:
            return self._of(base(node), depth, element=node.kind == "index")
        several = {"select": node.parts[1:], "cast": node.parts, "unary": node.parts}
        parts = several.get(node.kind, ())
        if node.kind == "call" and node.word in LOADS | CONVERSIONS:
            parts = node.parts
        if not parts:
            raise _UnknownError
        found: set[str] = set()
        for part in parts:
            found |= self._arrays(part, depth + 1)
        return found

    def _of(self, name: str, depth: int, *, element: bool) -> set[str]:
        key = (self.place, name)
        variable = self.program.variable(key)
        own = self.given.get(self.program.group(key))
        if own is not None and variable.pointer:
            return {own}
        if (
            variable.spoilt
            or variable.whole
            or not variable.assigned
            or variable.pointer != element
        ):
            raise _UnknownError
        found: set[str] = set()
        for _, value in variable.assigned:
            if not (value.kind == "name" and value.word == name):
                found |= self._arrays(value, depth + 1)
        return found
