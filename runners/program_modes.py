"""Ways of a program that its text names for a word of its command line, and that nobody declared.

A mode that is declared as 0 and 1 may have a third way, and `fast` may stand beside `exact`. What
the original takes is what its users may give it. Tried are the numbers that the text compares with
a small one, those next to them and between, and the words that it compares with a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from runners import named, program_arguments
from runners.program_arguments import Arguments, Line
from runners.program_variables import read_at, variables
from runners.text import LONGEST, Text

# Declared numbers below this may be modes; others are tried up to so many, in so many runs.
SMALL, MOST, MOST_RUNS = 8, 16, 2
# Numbers between those that are named are tried too, where the last one is no larger.
DENSE = 8
# Tokens between a word of the text and what it is compared with.
NEAR = 12
_COMPARES = frozenset({"strcmp", "strcasecmp", "strncmp", "strncasecmp", "stricmp"})
_LITERAL = re.compile(r'"([A-Za-z0-9][\w.+-]{0,30})"', re.ASCII)


@dataclass(frozen=True, slots=True)
class Declared:
    """An original's text, its declared runs from the one with the least work on, and its folder.

    `sized` are the words that are sizes, which are made larger elsewhere.
    """

    source: str
    runs: Sequence[Arguments]
    order: Sequence[int]
    root: Path
    sized: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Way:
    """A line with another way, and what is said where: a word's place, and the word."""

    line: Line
    said: tuple[int, str]


def ways(asked: Declared, rank: int) -> tuple[Way, ...]:
    """Return lines with other ways: of each kind of runs in that with the least work but so many.

    >>> text = "int main(int c, char** v) { int k = atoi(v[2]); if (k < 0 || k > 2) return 1; }"
    >>> declared = Declared(text, [("500", "0"), ("20", "1"), ("30", "0")], [1, 2, 0], Path("none"))
    >>> [one.line.arguments for rank in range(2) for one in ways(declared, rank)]
    [('20', '2'), ('20', '3'), ('30', '2'), ('30', '3')]
    """
    found: dict[Arguments, Way] = {}
    for alike in program_arguments.kinds(asked.runs, asked.root):
        ordered = [run for run in asked.order if run in alike]
        for run in ordered[rank : rank + 1]:
            for one in (*_numbers(asked, run, alike), *_words(asked, run)):
                found.setdefault(one.line.arguments, one)
    declared = {tuple(one) for one in asked.runs}
    return tuple(one for words, one in found.items() if words not in declared)


def told(source: str, words: Arguments, at: int) -> tuple[int, ...]:
    """Return the numbers that a text may mean by a small word of its command line."""
    names = variables(source, words, at)
    found = {one for one in named.compared(source, names) if 0 <= one <= MOST} if names else set()
    if found and max(found) <= DENSE:
        found |= set(range(max(found)))
    return tuple(sorted(found))


def end(source: str, words: Arguments, at: int, least: int, most: int) -> int | None:
    """Return the largest number between two at which a text tells the next one apart, if any.

    >>> text = "int main(int c, char** v) { int n = atoi(v[1]); if (n < 2 || n > 4096) return 2; }"
    >>> end(text, ("1500",), 0, 1500, 24000), end(text, ("1500",), 0, 5000, 80000)
    (4096, None)
    """
    names = variables(source, words, at)
    found = named.compared(source, names) if names else frozenset[int]()
    ends = [one for one in found if least < one < most and one + 1 in found]
    return max(ends, default=None)


def _numbers(asked: Declared, run: int, alike: Sequence[int]) -> Iterator[Way]:
    for word in range(len(asked.runs[run])):
        place = program_arguments.place(asked.runs, run, word, alike, asked.root)
        if place is None or place.seed or place.largest >= SMALL:
            continue
        given = {program_arguments.value(asked.runs[one], word, asked.root) for one in alike}
        for number in told(asked.source, asked.runs[run], word):
            larger = number > place.largest and word in asked.sized
            if number not in given and not larger:
                made = program_arguments.line(asked.runs, [(place, number)])
                if made is not None:
                    yield Way(made, (word, str(number)))


def _words(asked: Declared, run: int) -> Iterator[Way]:
    words = asked.runs[run]
    for at, word in enumerate(words):
        head, equals, value = word.rpartition("=")
        others = compared(asked.source, words, at)
        if value not in others or (asked.root / value).exists():
            continue
        for other in others:
            if other != value:
                changed = [*words[:at], f"{head}{equals}{other}", *words[at + 1 :]]
                yield Way(Line(run, tuple(changed), ()), (at, other))


@lru_cache(maxsize=64)
def compared(source: str, words: Arguments, at: int) -> tuple[str, ...]:
    """Return the words that a text compares a word of its command line with.

    >>> text = 'int main(int c, char** v) { if (!strcmp(v[1], "fast")) f(); string how = v[1];'
    >>> compared(text + ' if (how == "exact") g(); if (other == "no") h(); }', ("fast",), 0)
    ('fast', 'exact')
    """
    if len(source) > LONGEST or "=" in words[at][:1]:
        return ()
    text, names = Text(source), variables(source, words, at)
    where = set(read_at(text, at + 1))
    where |= {place for place in range(text.count) if text.tokens[place] in names}
    found: dict[str, None] = {}
    for place in sorted(where):
        for literal in _beside(text, place):
            found.setdefault(literal)
    return tuple(found)


def _beside(text: Text, at: int) -> Iterator[str]:
    """Yield the literals that what begins at a token is compared with."""
    for call in range(max(0, at - NEAR), at):
        if text.tokens[call] in _COMPARES and at < text.close(call + 1) <= call + 2 * NEAR:
            for word in text.tokens[call + 1 : text.close(call + 1)]:
                yield from _literal(word)
    behind = next((p for p in range(at, at + NEAR) if text.tokens[p] in {"==", "!="}), 0)
    between = text.tokens[at:behind] if behind else [";"]
    if not {";", "{", "&&", "||", ","} & {*between}:
        yield from _literal(text.tokens[behind + 1])
    for place in (at - 1, at - 3, at - 5):  # "fast" == std::string(argv[1])
        if place > 0 and text.tokens[place] in {"==", "!="}:
            yield from _literal(text.tokens[place - 1])


def _literal(word: str) -> Iterator[str]:
    one = _LITERAL.fullmatch(word)
    if one is not None:
        yield one[1]
