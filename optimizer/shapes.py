"""Texts that differ in numbers only: most candidates of a search are another's with new constants.

Texts of one *shape* differ in nothing but whole decimal numbers of their code, each as long as the
other's: `a[16]` and `a[32]`, `#pragma unroll 4` and `#pragma unroll 8`. Numbers in comments,
strings and other directives, 0 and what begins with it, and fractions belong to the shape. So all
tokens stand at the same places and a grammar reads them alike: what does not depend on the value
of a number is worked out once for all texts of a shape.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optimizer.directives import Directive
    from optimizer.masking import Masked

Span = tuple[int, int]

_DIGITS = str.maketrans("023456789", "111111111")
# A comment, a string, a character, a directive: passed over as `optimizer.tokens` cuts them. Then
# a number with nothing around that would make it a part of a longer token.
_PLACES = re.compile(
    r"""//(?:[^\\\r\n]|\\\r?\n|\\|\r(?!\n))*+|/\*(?:.*?\*/|.*\Z)
     |"(?:[^"\\\n]|\\.)*+"?
     |'(?:[^'\\\n]|\\.)*+'?
     |\#pragma\ unroll\ (?P<factor>[0-9]++)(?=\r?\n)
     |\#(?:[^\\\r\n/"']|\\\r?\n|\\|\r(?!\n)|/(?![/*])|/\*(?:.*?\*/|.*\Z)
       |"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)*+
     |(?<![\w.$])(?P<number>[0-9]++)(?![\w.$])""",
    re.VERBOSE | re.DOTALL,
)
# Raw strings end where their fence says, and a sign between digits begins no character.
_PECULIAR = re.compile(r"R\"|[0-9a-fA-F]'")


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The first text of a shape, its mask, and where the numbers stand that others may change.

    `grammar` is the mask with ones for the digits of its numbers: what the grammar is given.
    """

    first: str
    mask: Masked
    grammar: str
    numbers: tuple[Span, ...] = ()

    def changed(self, text: str) -> list[Span]:
        """Return the numbers in which a text of this shape differs from the first."""
        first = self.first
        return [(a, b) for a, b in self.numbers if text[a:b] != first[a:b]]

    def masked(self, text: str) -> Masked:
        """Return the mask of a text of this shape."""
        changed = self.changed(text)
        if not changed:
            return self.mask
        mask = self.mask.text
        pieces: list[str] = []
        at = 0
        for a, b in changed:
            if mask[a:b] == self.first[a:b]:  # else blank: of an attribute, a directive, dead code
                pieces += (mask[at:a], text[a:b])
                at = b
        pieces.append(mask[at:])
        return replace(
            self.mask,
            text="".join(pieces),
            original=text,
            directives=self._directives(text, changed),
        )

    def _directives(self, text: str, changed: list[Span]) -> tuple[Directive, ...]:
        """Return the directives, each `#pragma unroll` with the number that a text has there."""
        return tuple(
            replace(d, rest=f"unroll {text[d.start : d.end].rsplit(maxsplit=1)[-1]}")
            if d.word == "pragma" and any(d.start < a < d.end for a, _ in changed)
            else d
            for d in self.mask.directives
        )


def same_digits(masked: str) -> str:
    """Write whole decimal numbers of a mask as ones, each as long as it was: `a[16]` as `a[11]`.

    The grammar reads one as it reads the other, so masks that are equal then have equal trees.
    Numbers that begin with 0 stay: a method that is `= 0` is declared, one that is `= 1` is not.
    """
    return masked if 'R"' in masked else _NUMBER.sub(_ones, masked)


def _ones(found: re.Match[str]) -> str:
    return "1" * len(found[0])


class Shapes:
    """Finds the shapes of texts; remembers those last asked for, `most` characters of them."""

    def __init__(self, mask: Callable[[str], Masked], most: int) -> None:
        self._mask, self._most = mask, most
        self._lock = Lock()
        self._numbers: OrderedDict[str, tuple[Span, ...]] = OrderedDict()
        self._found: OrderedDict[str, Shape] = OrderedDict()
        self._length = 0

    def __call__(self, text: str) -> Shape:
        """Return the shape of a text, the same object for all of that shape."""
        if not _SHORTEST <= len(text) <= _LONGEST:
            mask = self._mask(text)
            return Shape(text, mask, same_digits(mask.text))
        spans = self._places(text)
        key = _normal(text, spans)
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        numbers = tuple((a, b) for a, b in spans if text[a] != "0")
        mask = self._mask(text)
        made = Shape(text, mask, same_digits(mask.text), numbers)
        with self._lock:
            found = self._found.setdefault(key, made)
            self._length += len(text) if found is made else 0
            while self._length > self._most:
                self._length -= len(self._found.popitem(last=False)[0])
        return found

    def _places(self, text: str) -> tuple[Span, ...]:
        """Return where whole decimal numbers stand: the same for texts that differ in digits."""
        key = text.translate(_DIGITS)
        with self._lock:
            if key in self._numbers:
                self._numbers.move_to_end(key)
                return self._numbers[key]
        found = _numbers(text)
        with self._lock:
            self._numbers[key] = found
            while len(self._numbers) > _MOST_PLACES:
                self._numbers.popitem(last=False)
        return found


def _normal(text: str, numbers: Sequence[Span]) -> str:
    """Return a text with ones for the digits of its numbers, but for those that begin with 0."""
    pieces: list[str] = []
    at = 0
    for a, b in numbers:
        if text[a] != "0":
            pieces += (text[at:a], _ONES[b - a] if b - a < len(_ONES) else "1" * (b - a))
            at = b
    pieces.append(text[at:])
    return "".join(pieces)


def _numbers(text: str) -> tuple[Span, ...]:
    """Return where whole decimal numbers of the code stand, and factors of `#pragma unroll`."""
    if _PECULIAR.search(text):
        return ()
    places = _PLACES.finditer(text)
    return tuple(found.span(found.lastgroup) for found in places if found.lastgroup)


# A whole decimal number; no part of a name, of a fraction, or of an escape in a string.
_NUMBER = re.compile(r"(?<![\w.'\\])[1-9][0-9]*+(?![\w.'])", re.ASCII)
_SHORTEST = 400  # shorter ones are macros written out, kept by who wrote them
_LONGEST = 200_000
_MOST_PLACES = 512
_ONES = tuple("1" * length for length in range(12))
