"""The smallest numbers that a program's own text takes, asked first as they end soonest.

`if (w < 1 || every < 1) return 2;` says that one is taken: what its users may give it has to be
right. One cell, or a row of them, comes to rest where a plane of declared size never does, ends
at its first step, and has no middle. All numbers are as small as that together, and then each by
itself with the others still small; a period, of which the text asks whether it divides a step,
is at its least in each of these.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runners import named
from runners.program_arguments import Arguments, Place
from runners.program_asking import Asking
from runners.program_glimpse import Look
from runners.program_jointly import Changes
from runners.program_variables import variables
from runners.text import LONGEST, Text

# Who takes a number from further on means something else. Others are just more than a warp has.
LARGEST, OTHERS = 8, 33
# Lines, runs of the original, and seconds behind which none is begun.
LINES, TRIED, SECONDS = 5, 6, 15.0
_SEED = re.compile(r"seed|rand|rng", re.IGNORECASE)
_ASKS = frozenset({"==", "!=", "&&", "||", "?"})
_NO_NUMBER = re.compile(r"\b(?:nan|inf)\b", re.IGNORECASE)


def least(source: str, words: Arguments, at: int) -> int | None:
    """Return the smallest number, from 1 on, that a text takes for a word of its command line.

    None where it does not say, and of seeds by their names.

    >>> text = "int main(int c, char** v) { int n = atoi(v[1]), k = atoi(v[2]); if (n < 1) f(); }"
    >>> least(text, ("500", "7"), 0), least(text, ("500", "7"), 1)
    (1, None)
    """
    names = variables(source, words, at)
    if not names or any(map(_SEED.search, names)):
        return None
    found = named.compared(source, names)
    ends = [one for one in found if -1 <= one < LARGEST and one + 1 in found]
    return max(min(ends) + 1, 1) if ends else None


@lru_cache(maxsize=64)
def period(source: str, words: Arguments, at: int) -> bool:
    """Tell whether a text asks of a word of its command line whether it divides something.

    >>> text = "int main(int c, char** v) { int k = atoi(v[1]); if (s % k == 0) show(); }"
    >>> period(text, ("50",), 0), period(text.replace("%", "/"), ("50",), 0)
    (True, False)
    """
    names = variables(source, words, at)
    if not names or len(source) > LONGEST or any(map(_SEED.search, names)):
        return False
    tokens = Text(source).tokens
    return any(
        word == "%" and name in names and behind in _ASKS
        for word, name, behind in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def promised(source: str, words: Arguments, place: Place) -> bool:
    """Tell whether a number that is no size has to be right all the same, by its original's text.

    As one that is taken from some small number on, or says how often something is done.
    """
    if not place.size:
        return False
    return least(source, words, place.word) is not None or period(source, words, place.word)


def lines(source: str, words: Arguments, places: Sequence[Place]) -> tuple[Changes, ...]:
    """Return the numbers of a run that are tried: all at their least, and each in turn.

    >>> text = "int main(int c, char** v) { int w = atoi(v[1]), h = atoi(v[2]); f(w < 1, h < 2); }"
    >>> places = Place(0, 0, 300, 300), Place(0, 1, 20, 20)
    >>> [[number for _, number in one] for one in lines(text, ("300", "20"), places)]
    [[1, 2], [1, 20], [33, 2]]
    """
    known = ends(source, words, places)
    turns = turning(source, words, known)
    found = [tuple(known.items())] if known else []
    found += [in_turn(known, turns, one) for one in turns]
    return tuple(dict.fromkeys(found))


def ends(source: str, words: Arguments, places: Sequence[Place]) -> dict[Place, int]:
    """Return the numbers of a run that may be smaller than declared, and how small."""
    found = {one: least(source, words, one.word) for one in places if one.size}
    return {one: end for one, end in found.items() if end is not None and end < one.value}


def turning(source: str, words: Arguments, known: Mapping[Place, int]) -> tuple[Place, ...]:
    """Return the numbers that are not at their least each time, as periods are."""
    return tuple(one for one in known if not period(source, words, one.word))


def in_turn(known: Mapping[Place, int], turns: Sequence[Place], turn: Place | None) -> Changes:
    """Return one number at its least beside the others at some more; with None all of these."""
    return tuple(
        (one, end if one == turn or one not in turns else max(end, min(OTHERS, one.value)))
        for one, end in known.items()
    )


@dataclass(slots=True)
class Smallest(Asking):
    """Asks the smallest numbers of the largest run of each kind."""

    def _smallest(self) -> None:
        """Compare with the smallest numbers; the original says by its text that it takes them."""
        until = time.monotonic() + SECONDS
        with self._more(LINES, TRIED):
            for run in dict.fromkeys(place.run for place in self.places):
                mine = [place for place in self.places if place.run == run]
                self._each(run, lines(self.variants.source, self._words(run), mine), until)

    def _each(self, run: int, found: Iterable[Changes], until: float) -> None:
        """Compare with numbers that an original takes, up to those with which it does not end."""
        for changes in found:
            begun = time.monotonic()
            line = self._line(changes) if begun < until else None
            if line and line.arguments in self.right:
                continue
            seen = line and self._seen(line)
            if line and seen and _numbers(seen, self.originals[run].stdouts[0]):
                self._compare(line, seen, size=True)
            elif time.monotonic() - begun > 0.9 * self._most(run):
                break  # it was no refusal: the original does not end there

    def _words(self, run: int) -> Arguments:
        return self.originals[run].arguments


def _numbers(seen: Look, declared: str) -> bool:
    """Tell whether an original comes to numbers there: who divides by none has another sign of it.

    With a single value a variance may be nothing by nothing, which is told apart by its sign alone
    and is no result.
    """
    if _NO_NUMBER.search(declared):
        return True
    return not _NO_NUMBER.search(seen.first.stdout)
