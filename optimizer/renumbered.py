"""What a source says of its launches and shared memory once some of its numbers are others.

The tuner tries many numbers in one text, of which few are ever run. Reading each text anew costs
milliseconds; an integer put in the place of another leaves every name, scope and statement as it
is, so that only what is computed from the numbers has to be computed again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from tree_sitter import Node

from optimizer.functions import Function
from optimizer.launches import Launch, only_value
from optimizer.source import Source
from optimizer.syntax import Span, field, span
from optimizer.tokens import evaluate
from optimizer.variables import Variable, Variables

_DEEP = 8


class Renumbered:
    """A source in which integer literals are replaced; `places` maps spans to their new numbers.

    Ask `sure` first: where it is False a number may decide what is compiled, and only reading the
    new text tells.
    """

    def __init__(self, source: Source, places: Mapping[Span, int]) -> None:
        self._source = source
        self._places = sorted(places.items())
        self._starts = [at[0] for at, _ in self._places]

    @cached_property
    def sure(self) -> bool:
        """Tell whether the numbers decide nothing but values."""
        words = {d.word for d in self._source.syntax.masked.directives}
        if words - {"include", "define", "pragma"}:
            return False
        if not all(self._plain(at) for at, _ in self._places):
            return False
        return not any(c.kind == "enum" for c in self._source.constants)

    def _plain(self, at: Span) -> bool:
        """Return whether a span holds one integer literal, which another can stand for."""
        text = self._source.text
        around = text[at[0] - 1 : at[0]] + text[at[1] : at[1] + 1]
        return text[at[0] : at[1]].isdigit() and not any(c.isalnum() or c == "_" for c in around)

    def text(self, where: Span) -> str:
        """Return the new text of a span of the source, whose ends cut no number."""
        low, high = where
        parts: list[str] = []
        for (start, end), new in self._places[bisect_left(self._starts, low) :]:
            if start >= high:
                break
            parts += (self._source.text[low:start], str(new))
            low = end
        return "".join((*parts, self._source.text[low:high]))

    @cached_property
    def constants(self) -> dict[str, int | None]:
        """Return the values of the constants of the file that are defined once, by name."""
        values: dict[str, int | None] = {}
        read: dict[Span, int | None] = {}
        last: dict[str, Span] = {}
        for macro in self._source.macros:
            plain = macro.parameters is None and macro.body
            value = evaluate(self.text(macro.body_span), values.get) if plain else None
            values[macro.name] = read[macro.body_span] = value
            last[macro.name] = macro.body_span
        known: dict[str, int] = {}
        found: dict[str, int | None] = {}
        for constant in self._source.constants:
            value = read.get(constant.value_span) if constant.kind == "macro" else None
            if value is None:
                value = evaluate(self.text(constant.value_span), known.get)
            hidden = constant.kind == "macro" and last[constant.name] != constant.value_span
            if value is not None and not hidden:
                known[constant.name] = value
            found[constant.name] = value
        once = Counter(c.name for c in self._source.constants)
        return {name: value for name, value in found.items() if once[name] == 1}

    def threads(self) -> tuple[int | None, ...]:
        """Return the threads of a block of each launch of the source, None where not seen."""
        return tuple(self._threads(launch) for launch in self._source.launches)

    def _threads(self, launch: Launch) -> int | None:
        hosts = [f for f in self._source.functions if f.body == launch.function_node]
        if launch.block is None or not hosts:
            return None
        total = 1
        for extent in launch.block:
            value = extent.value if extent.span[0] == extent.span[1] else None
            if value is None:
                value = self._value(
                    launch.function, hosts[0].variables, extent.span, extent.span[0]
                )
            if value is None:
                return None
            total *= value
        return total

    def _value(
        self, function: str, variables: Variables, where: Span, at: int, depth: int = 0
    ) -> int | None:
        """Return the number an expression of the host stands for, as `Launches.value` does."""

        def look(name: str) -> int | None:
            variable = variables.visible(name, at)
            if variable is None:
                return self.constants.get(name)
            if variable.space == "parameter" and variable.settled and variable.is_scalar:
                return self._source.always_passed(function, name)
            given = only_value(variable, at)
            if given is None or depth > _DEEP:
                return None
            return self._value(function, variables, span(given), given.start_byte, depth + 1)

        return evaluate(self.text(where), look)

    def shared_bytes(self, function: Function, sizes: Mapping[str, int]) -> int:
        """Return the bytes of a function's static shared arrays, as far as they are seen."""
        total = 0
        for variable in function.shared:
            size = sizes.get(variable.element, 4)
            for where in _extents(variable):
                size *= evaluate(self.text(where), self.constants.get) or 1
            total += size if variable.extents != ("",) else 0
        return total


def _extents(variable: Variable) -> list[Span]:
    """Return where the extents of an array are written, outermost last."""
    found: list[Span] = []
    at: Node | None = variable.declarator
    while at is not None and at != variable.name_node:
        size = field(at, "size") if at.type == "array_declarator" else None
        if at.type == "array_declarator":
            found.append(span(size) if size is not None else (at.end_byte, at.end_byte))
        at = field(at, "declarator") or next(
            (c for c in at.named_children
             if c.start_byte <= variable.name_node.start_byte < c.end_byte), None)  # fmt: skip
    return found
