"""Which variables of a program's text the words of its command line are read into.

`n = atoi(argv[1])`, `sscanf(argv[2], "%d", &mode)`, and behind `"--steps"` what is set next. It is
a guess about strangers' text: it never raises, takes a bounded time, and finds nothing rather than
too much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from runners.text import LONGEST, NAME, Text

# Tokens between a variable and what it is read from, and between an option's name and its variable.
NEAR, MOST_BEHIND = 24, 60
_ENDS = frozenset({"", ";", "{", "}"})
_SCANS = frozenset({"sscanf", "from_chars"})


@lru_cache(maxsize=64)
def variables(source: str, words: tuple[str, ...], at: int) -> frozenset[str]:
    """Return the names that a word of a command line is read into; none where nothing is known.

    >>> text = "int main(int argc, char** argv) { int n = argc > 1 ? atoi(argv[1]) : 9, m = 2; }"
    >>> sorted(variables(text, ("100",), 0)), sorted(variables(text, ("100", "3"), 1))
    (['n'], [])
    >>> text = 'int main(int c, char** v) { if (!strcmp(v[i], "--m")) m = atoi(v[++i]); }'
    >>> sorted(variables(text, ("--m", "3"), 1)), sorted(variables(text, ("--m=3",), 0))
    (['m'], ['m'])
    """
    if len(source) > LONGEST or not 0 <= at < len(words):
        return frozenset()
    text = Text(source)
    option = _option(words, at)
    found = _behind(text, option) if option else _read(text, at + 1)
    return frozenset(found)


def arguments(text: Text) -> str:
    """Return what `main` calls its arguments; empty where there is none."""
    for one in text.definitions():
        if one.name == "main":
            names = text.parameters(one)
            return names[1] if len(names) > 1 else ""
    return ""


def read_at(text: Text, number: int) -> Iterator[int]:
    """Yield where an argument of such a number is named, `argv[number]`."""
    name = arguments(text)
    for at in range(text.count):
        if text.tokens[at] == name and text.tokens[at + 1 : at + 4] == ["[", str(number), "]"]:
            yield at


def _option(words: Sequence[str], at: int) -> str:
    """Return the option that a word stands behind, in the same word or in one of its own."""
    head, equals, _ = words[at].partition("=")
    if equals and head:
        return head
    before = words[at - 1] if at else ""
    return before if before.startswith("-") and not before[1:2].isdigit() else ""


def _read(text: Text, number: int) -> Iterator[str]:
    for at in read_at(text, number):
        if text.tokens[at - 1] == "(" and text.tokens[at - 2] in _SCANS:
            for place in range(at, min(text.close(at - 1), at + NEAR)):
                if text.tokens[place] == "&" and NAME.fullmatch(text.tokens[place + 1]):
                    yield text.tokens[place + 1]
            continue
        name = _assigned(text, at)
        if name:
            yield name


def _assigned(text: Text, at: int) -> str:
    """Return the name that is set to what a token is part of."""
    place = at - 1
    while place > max(0, at - NEAR):
        word = text.tokens[place]
        if word in _ENDS:
            return ""
        if word == "=":
            name = text.tokens[place - 1]
            return name if NAME.fullmatch(name) else ""
        place = text.opened.get(place, place) - 1
    return ""


def _behind(text: Text, option: str) -> Iterator[str]:
    """Yield what is set first behind an option's name."""
    for at, word in enumerate(text.tokens[: text.count]):
        if word not in {f'"{option}"', f'"{option}="', f'"{option.lstrip("-")}"'}:
            continue
        for place in range(at + 1, min(at + MOST_BEHIND, text.count)):
            following = text.tokens[place]
            if following.startswith('"-'):
                break
            if following == "=" and NAME.fullmatch(text.tokens[place - 1]):
                yield text.tokens[place - 1]
                break
