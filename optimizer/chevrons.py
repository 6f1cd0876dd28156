"""Launches whose brackets an editor took apart: `k << <grid, block >> > (x)`.

Some formatters put blanks into `<<<` and `>>>`; nvcc reads them all the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.tokens import Token

_APART = re.compile(r"<\s+<|>\s+>")
_FURTHEST = 400  # tokens between the brackets
_WHOLE = 3


@dataclass(frozen=True, slots=True)
class Bracket:
    """A `<<<` or `>>>` made of several tokens: its mark, and how many tokens it takes."""

    mark: str
    count: int


def apart(text: str) -> bool:
    """Return whether a text may hold such brackets at all."""
    return bool(_APART.search(text))


def brackets(code: Sequence[Token]) -> dict[int, Bracket]:
    """Return the brackets of launches that stand apart, by the index of their first token.

    A launch begins behind a name and ends, in one form or the other, in front of a parenthesis.

    >>> from optimizer.tokens import code_tokens
    >>> brackets(code_tokens("k << <1, n >> > (x);"))
    {1: Bracket(mark='<<<', count=2), 6: Bracket(mark='>>>', count=2)}
    >>> brackets(code_tokens("std::vector<std::vector<A<int>> > (x); b << c;"))
    {}
    """
    found: dict[int, Bracket] = {}
    at = 0
    size = len(code)
    while at < size:
        text = code[at].text
        if text[0] != "<":
            at += 1
            continue
        count = _run(code, at, "<")
        named = at > 0 and (code[at - 1].kind == "word" or code[at - 1].text in (">", ")"))
        if not count or not named or code[at - 1].text == "operator":
            at += 1
            continue
        end = _closing(code, at + count)
        if end is None:
            at += count
            continue
        if count > 1:
            found[at] = Bracket("<<<", count)
        if end[1] > 1:
            found[end[0]] = Bracket(">>>", end[1])
        at = end[0] + end[1]
    return found


def joined(code: Sequence[Token], apart: Mapping[int, Bracket]) -> list[Token]:
    """Return the tokens with every bracket of a launch as one."""
    found: list[Token] = []
    at = 0
    while at < len(code):
        bracket = apart.get(at)
        if bracket is None:
            found.append(code[at])
            at += 1
            continue
        last = code[at + bracket.count - 1]
        found.append(Token("mark", code[at].start, last.end, bracket.mark))
        at += bracket.count
    return found


def _run(code: Sequence[Token], at: int, sign: str) -> int:
    """Return how many tokens make up three signs in a row; 0 when they do not."""
    length = 0
    for count in range(1, _WHOLE + 1):
        if at + count > len(code) or code[at + count - 1].text.strip(sign):
            return 0
        length += len(code[at + count - 1].text)
        if length >= _WHOLE:
            return count if length == _WHOLE else 0
    return 0


def _closing(code: Sequence[Token], at: int) -> tuple[int, int] | None:
    """Return where a launch's geometry ends, and with how many tokens."""
    depth = 0
    for i in range(at, min(at + _FURTHEST, len(code))):
        text = code[i].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth < 0 or (text == ";" and not depth):
            return None
        if text[0] == ">" and not depth:
            count = _run(code, i, ">")
            if count and i + count < len(code) and code[i + count].text == "(":
                return i, count
    return None
