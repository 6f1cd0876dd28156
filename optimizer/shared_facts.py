"""What is known of a function, shared between texts of one shape (`optimizer.shapes`).

Such texts have one tree, so what was found in it holds for all of them as far as no number that
differs has a say: `Variables` depend on numbers in types and extents only, all else on every
number of the file but those of `__launch_bounds__` and `#pragma unroll`, which only rules read,
and, in device code, those in bodies of host functions. Each is kept by the numbers it depends on.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Generic, TypeVar, cast

from optimizer.definitions import Signature
from optimizer.passing import Passing
from optimizer.syntax import Span, Syntax
from optimizer.variables import Variables

Value = TypeVar("Value")


class _Recent(Generic[Value]):
    """What was made for trees, the last `most` of it; holds the trees, so no other has its keys."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._found: OrderedDict[tuple[object, ...], Value] = OrderedDict()

    def get(self, key: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """Return what was made for a key, or make it."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        with self._lock:
            found = self._found.setdefault(key, made)
            if len(self._found) > self._most:
                self._found.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._found.clear()


_MOST_FACTS = 1024
_MOST_VARIABLES = 768
_facts: _Recent[dict[str, object]] = _Recent(_MOST_FACTS)
_variables: _Recent[Variables] = _Recent(_MOST_VARIABLES)


def shared_facts(syntax: Syntax, found: Sequence[Signature]) -> list[dict[str, object]]:
    """Return for each function of a file where its facts are kept."""
    all_of, of_device = _told_by(syntax, found)
    text, shape, parsed = syntax.text, syntax.shape, syntax.parsed
    every = ",".join([text[a:b] for a, b in all_of])
    device = ",".join([text[a:b] for a, b in of_device])
    return [
        _facts.get((parsed, shape, s.span, device if _on_device(s) else every), dict) for s in found
    ]


def shared_variables(
    syntax: Syntax, signature: Signature, passing: Passing, aliases: Mapping[str, str]
) -> Variables:
    """Return the variables of a function."""
    text, shape, parsed = syntax.text, syntax.shape, syntax.parsed
    place = ("declaring numbers", shape, signature.span)
    made: list[Variables] = []

    def make() -> Variables:
        return made.pop() if made else Variables(syntax, signature, passing, aliases)

    if place not in parsed.shared:
        made.append(make())
        parsed.shared[place] = tuple(_declaring(syntax, signature, made[0]))
    declaring = cast("tuple[Span, ...]", parsed.shared[place])
    numbers = ",".join([text[a:b] for a, b in declaring])
    named = frozenset(aliases.items())
    return _variables.get((parsed, shape, signature.span, numbers, named), make)


def _declaring(syntax: Syntax, signature: Signature, found: Variables) -> Iterator[Span]:
    """Yield the numbers in a function's head, and in types and extents of its variables."""
    spans = [signature.header]
    for v in found.all:
        if v.space != "parameter":
            last = v.init.start_byte if v.init is not None else v.declarator.end_byte
            spans.append((v.declaration.start_byte, max(last, v.name_node.end_byte)))
    for a, b in syntax.shape.numbers:
        if any(low <= a and b <= high for low, high in spans):
            yield a, b


def _told_by(syntax: Syntax, found: Sequence[Signature]) -> tuple[Sequence[Span], Sequence[Span]]:
    """Return the numbers that facts of any function depend on, and those of device code."""
    key = ("telling numbers", syntax.shape)
    known = syntax.parsed.shared.get(key)
    if known is None:
        mask = syntax.masked
        read = [a.arguments for a in mask.attributes if a.name == "__launch_bounds__"]
        unread = [span for span in read if span is not None]
        unread += [(d.start, d.end) for d in mask.directives if d.word == "pragma"]
        bodies = [(s.body.start_byte, s.body.end_byte) for s in found if not _on_device(s)]
        hosts = [span for span in bodies if not _DEFINING.search(syntax.text, *span)]
        every = [n for n in syntax.shape.numbers if not _in(n, unread)]
        known = (every, [n for n in every if not _in(n, hosts)])
        syntax.parsed.shared[key] = known
    return cast("tuple[Sequence[Span], Sequence[Span]]", known)


def _in(number: Span, spans: Sequence[Span]) -> bool:
    return any(low <= number[0] and number[1] <= high for low, high in spans)


def _on_device(signature: Signature) -> bool:
    return not {"__global__", "__device__"}.isdisjoint(signature.qualifiers)


# What a host function's body may hold that device code knows of.
_DEFINING = re.compile(r"#|\b(?:typedef|using|struct|class|union|enum|template)\b")
