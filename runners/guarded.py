"""What is asked before a place of a function is come to: the conditions of `if` and `while`.

`if (rows > 65535) { many(); return; }` is asked of all that stands behind it. It is a guess about
strangers' text: it never raises, and tells where what it has read is not all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runners.text import Definition, Text

MOST_DEEP, MOST_GUARDS = 40, 24
_LEAVES = frozenset({"return", "throw", "break", "continue", "goto", "exit", "abort"})
_OTHERWISE = frozenset({"?", "&&", "||"})


@dataclass
class Guards:
    """Conditions, as the first token and the one behind the last, and what each of them has to be.

    `whole` tells that nothing else is asked there.
    """

    asked: list[tuple[int, int, bool]] = field(default_factory=list)
    whole: bool = True


def guards(text: Text, one: Definition, place: int) -> Guards:
    """Return what is asked before a token of a function.

    >>> text = Text("void f(int n) { if (n < 5) return; if (n > 9) g(); else h(); }")
    >>> (one,) = text.definitions()
    >>> found = guards(text, one, text.tokens.index("h"))
    >>> [(text.tokens[begin:end], wanted) for begin, end, wanted in found.asked], found.whole
    ([(['n', '<', '5'], False), (['n', '>', '9'], False)], True)
    """
    found = Guards()
    _Walk(text, place, found).block(one.begin + 1, min(one.end, text.count), MOST_DEEP)
    return found


class _Walk:
    """A way through a function's statements to one token."""

    def __init__(self, text: Text, place: int, found: Guards) -> None:
        self._text, self._tokens, self._place, self._found = text, text.tokens, place, found

    def _ask(self, condition: tuple[int, int], *, wanted: bool) -> None:
        if len(self._found.asked) < MOST_GUARDS:
            self._found.asked.append((*condition, wanted))
        else:
            self._found.whole = False

    def block(self, at: int, end: int, deep: int) -> None:
        """Go through statements up to the one that has the token, and into it."""
        while at < end:
            behind = min(self._behind(at, deep), end)
            if at <= self._place < behind:
                self._into(at, behind, deep)
                return
            condition = self._condition(at)
            if condition is not None and self._tokens[at] == "if":
                first, other = self._ways(at, deep)
                if self._leaves(*first):
                    self._ask(condition, wanted=False)
                elif other is not None and self._leaves(*other):
                    self._ask(condition, wanted=True)
            at = max(behind, at + 1)

    def _into(self, at: int, end: int, deep: int) -> None:
        """Go into the statement that has the token."""
        word = self._tokens[at]
        if deep <= 0 or word in {"switch", "catch"}:
            self._found.whole = False
            return
        if word == "{":
            self.block(at + 1, min(self._text.close(at), end), deep - 1)
            return
        condition = self._condition(at)
        if condition is None or self._place < condition[1]:
            if word in {"do", "try", "else"}:
                self.block(at + 1, end, deep - 1)
            elif self._unsure(at):
                self._found.whole = False
            return
        if word != "if":
            if word == "while":
                self._ask(condition, wanted=True)
            self.block(condition[1] + 1, end, deep - 1)
            return
        first, other = self._ways(at, deep)
        wanted = first[0] <= self._place < first[1]
        self._ask(condition, wanted=wanted)
        begin, behind = first if wanted or other is None else other
        self.block(begin, behind, deep - 1)

    def _unsure(self, at: int) -> bool:
        """Tell whether a statement that has begun may not come to the token in it."""
        between = range(at, self._place)
        inner = any(self._tokens[p] == "{" and self._text.close(p) > self._place for p in between)
        return inner or not _OTHERWISE.isdisjoint(self._tokens[at : self._place])

    def _condition(self, at: int) -> tuple[int, int] | None:
        """Return the tokens in the brackets of an `if` or a loop; None of what has none."""
        if self._tokens[at] not in {"if", "while", "for"}:
            return None
        opened = at + 1 + (self._tokens[at + 1] == "constexpr")
        close = self._text.close(opened)
        return (opened + 1, close) if self._tokens[opened] == "(" else None

    def _ways(self, at: int, deep: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Return where the two ways of an `if` begin and end."""
        condition = self._condition(at)
        begin = condition[1] + 1 if condition else at + 1
        behind = self._behind(begin, deep - 1)
        if self._tokens[min(behind, self._text.count)] != "else":
            return (begin, behind), None
        return (begin, behind), (behind + 1, self._behind(behind + 1, deep - 1))

    def _behind(self, at: int, deep: int) -> int:
        """Return where the statement that begins at a token has ended."""
        count = self._text.count
        while at < count and deep > 0:
            word = self._tokens[at]
            if word == "{":
                return self._text.close(at) + 1
            condition = self._condition(at)
            if condition is not None and word == "if":
                (_, behind), other = self._ways(at, deep)
                return behind if other is None else other[1]
            if condition is not None:
                at = condition[1] + 1
            elif word in {"switch", "catch"} and self._tokens[at + 1] == "(":
                at = self._text.close(at + 1) + 1
            elif word in {"do", "try"}:
                at, deep = self._behind(at + 1, deep - 1), deep - 1
                if word == "try":
                    return at
            elif word in {"case", "default"}:
                at = next((p for p in self._to_end(at) if self._tokens[p] == ":"), count) + 1
            else:
                return next((p for p in self._to_end(at) if self._tokens[p] in ";}"), count) + 1
        return min(at + 1, count)

    def _to_end(self, at: int) -> Iterator[int]:
        """Yield the tokens of a simple statement outside of its brackets."""
        while at < self._text.count:
            at = self._text.closed.get(at, at)
            yield at
            at += 1

    def _leaves(self, begin: int, end: int) -> bool:
        """Tell whether a statement never comes to what stands behind it."""
        if self._tokens[begin] != "{":
            return self._tokens[begin] in _LEAVES
        close = min(self._text.close(begin), end)
        at, last = begin + 1, begin + 1
        while at < close:
            at, last = max(at + 1, self._behind(at, MOST_DEEP)), at
        return self._tokens[last] in _LEAVES
