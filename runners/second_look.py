"""What compute-sanitizer's tools left unsaid is asked again, each by itself, with more time.

Side by side, and beside other judges, a tool may not end that ends at once where it is alone: what
it has not seen is not right for that. Memcheck decides: where it does not end on a candidate and
ends on its original, in a small part of the time, the candidate is not offered. The others do not:
what uses shared memory may be a hundred times slower under racecheck than an original without any.
What stays unsaid is a note.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from runners import sanitizer
from runners.sanitizer import ENDED, LATE, TOOLS, UNABLE, Finding

DECIDES = "memcheck"
# So many times as long as at first; and all that a confirmation may be lent for it.
AGAIN, MOST_LENT = 3.0, 600.0
# What takes so many times as long as on the original, its start included, is not offered.
TIMES = 6.0
# With less left nothing is begun; so often a tool may end at once without having seen anything.
LEAST_SECONDS, MOST_VAIN = 0.5, 2
_NOT_LOOKED = "not looked at by compute-sanitizer: "

Item = TypeVar("Item")
# Watches the original or not, with a tool, on some of the items, for so many seconds.
Watch = Callable[[bool, str, Sequence[Item], float], Finding]


class Lent:
    """Time beyond a job's own. `more` moves its deadline by so many seconds, back if negative."""

    def __init__(self, more: Callable[[float], None], most: float = MOST_LENT) -> None:
        self._more, self._most = more, most
        self.spent = 0.0

    @contextlib.contextmanager
    def of(self, seconds: float) -> Iterator[float]:
        """Lend so many seconds, or what is left of all; what is not used is given back."""
        granted = max(0.0, min(seconds, self._most - self.spent))
        begun = time.monotonic()
        self._more(granted)
        try:
            yield granted
        finally:
            used = time.monotonic() - begun
            self.spent += used
            self._more(min(0.0, used - granted))


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it: a finding, what is to be noted, or why the candidate is not offered."""

    finding: Finding
    note: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class _Seen(Generic[Item]):
    """How far a tool came: what it had no time for, and what it said nothing of otherwise."""

    finding: Finding
    late: tuple[Item, ...]
    aside: tuple[Item, ...]
    granted: float
    seconds: float


class SecondLook(Generic[Item]):
    """Asks tools again that said nothing of some or all items in so many `seconds`."""

    def __init__(
        self, watch: Watch[Item], items: Sequence[Item], seconds: float, lent: Lent
    ) -> None:
        self._watch, self._items = watch, items
        self._seconds, self._lent = seconds, lent
        self._shared = seconds  # what all tools that do not decide may take together

    def ask(self, first: Finding) -> Asked:
        """Return what a tool says when it is asked again, after what it said first."""
        if first.why == UNABLE:
            return self._unable(first)
        left = self._items[first.ran :]
        if first.tool == DECIDES:
            return self._insisted(first, left)
        mine = self._see(first.tool, left, min(self._seconds, self._shared))
        self._shared -= mine.seconds
        return self._said(mine, self._seconds + mine.granted)

    def _insisted(self, first: Finding, left: Sequence[Item]) -> Asked:
        """Have the tool that decides come to an end, or see that it does on the original alone."""
        most = AGAIN * self._seconds
        mine = self._see(first.tool, left, most)
        if mine.granted < LEAST_SECONDS:
            return Asked(first, f"did not end in {self._seconds:.0f} s")
        if not mine.late:
            return self._said(mine, mine.granted)
        theirs = self._see(first.tool, mine.late, most, original=True)
        said = f"did not end in {mine.granted:.0f} s on it"
        if theirs.finding.errors != 0 or theirs.late or theirs.aside:
            return Asked(mine.finding, f"{said}, nor on its original{self._far(mine)}")
        # Once more: the machine may have been busy until then.
        patience = max(self._seconds, TIMES * theirs.seconds)
        again = self._see(first.tool, mine.late, patience)
        if not again.late:
            return self._said(again, again.granted)
        said = f"did not end in {max(mine.granted, again.granted):.0f} s on it"
        took = f"{said}, and took {max(1.0, theirs.seconds):.0f} s on its original"
        if again.granted < 0.99 * patience:
            return Asked(again.finding, f"{took}{self._far(again)}")
        return Asked(again.finding, refused=took)

    def _see(
        self, tool: str, items: Sequence[Item], seconds: float, *, original: bool = False
    ) -> _Seen[Item]:
        """Have a tool watch items until all are seen, or the time is over.

        One at which it ended without a word is set aside, and it goes on behind that.
        """
        left, aside, vain = list(items), list[Item](), 0
        finding = Finding(tool, None, "", 0.0, LATE)
        with self._lent.of(seconds) as granted:
            begun = time.monotonic()
            while left:
                room = begun + granted - time.monotonic()
                if room < LEAST_SECONDS:
                    finding = Finding(tool, None, "", 0.0, LATE)
                    break
                finding = self._watch(original, tool, left, room)
                if finding.errors is not None or finding.why in {LATE, UNABLE}:
                    left = left[finding.ran :] if finding.why == LATE else left
                    break
                vain = 0 if finding.ran else vain + 1
                left = left[finding.ran :]
                keep = 1 if vain < MOST_VAIN else len(left)
                aside += left[:keep]
                left = left[keep:]
            took = time.monotonic() - begun
        late = tuple(left) if finding.why == LATE else ()
        return _Seen(finding, late, tuple(aside), granted, took)

    def _said(self, seen: _Seen[Item], seconds: float) -> Asked:
        """Say how far a tool came that does not decide by that."""
        if seen.finding.errors:
            return Asked(seen.finding)
        if seen.finding.why == UNABLE:
            return self._unable(seen.finding)
        if seen.late:
            return Asked(seen.finding, f"did not end in {seconds:.0f} s{self._far(seen)}")
        if seen.aside:
            many, words = f"{len(seen.aside)} of {len(self._items)}", seen.finding.words
            finding = Finding(seen.finding.tool, None, words, seen.seconds, ENDED)
            said = f": {words[:120]}" if words else ""
            return Asked(finding, f"{ENDED}: nothing is known of {many} runs{said}")
        return Asked(Finding(seen.finding.tool, 0, "", seen.seconds))

    def _far(self, seen: _Seen[Item]) -> str:
        """Say how many of the runs it had seen, where there are several."""
        done, every = len(self._items) - len(seen.late) - len(seen.aside), len(self._items)
        return f"; it has seen {done} of {every} runs" if every > 1 else ""

    @staticmethod
    def _unable(finding: Finding) -> Asked:
        said = f": {finding.words[:160]}" if finding.words else ""
        return Asked(finding, f"{UNABLE}{said}")


def told(every: Sequence[Asked]) -> list[str]:
    """Return the notes on what was left unsaid; tools of which the same is said share one."""
    joined: dict[str, list[str]] = {}
    for one in every:
        if one.note:
            joined.setdefault(one.note, []).append(one.finding.tool)
    return [
        f"{_NOT_LOOKED}it {words}"
        if len(tools) == len(TOOLS)
        else f"compute-sanitizer {', '.join(tools)} {words}"
        for words, tools in joined.items()
    ]


def undecided(found: Finding, theirs: Finding) -> Asked:
    """Say what a tool found that its original may have, too: of that it said nothing."""
    many = f"{found.errors} error" + ("" if found.errors == 1 else "s")
    return Asked(found, f"found {many}, and {theirs.why} on its original: {found.words[:120]}")


def unasked(items: Sequence[object]) -> list[str]:
    """Return the note on why no tool was asked at all; none where there is no such reason."""
    if not items:
        return [f"{_NOT_LOOKED}no run is small enough for it"]
    if sanitizer.command() is None:
        return [f"{_NOT_LOOKED}it is not installed"]
    return []


def spread(items: Sequence[Item], kind: Callable[[Item], object]) -> list[Item]:
    """Return items so that those of each kind take turns: where time ends, each was looked at.

    >>> spread(["a1", "a2", "a3", "b1", "c1"], lambda word: word[0])
    ['a1', 'b1', 'c1', 'a2', 'a3']
    """
    turns: dict[object, int] = {}
    keyed = []
    for at, item in enumerate(items):
        turn = turns[kind(item)] = turns.get(kind(item), -1) + 1
        keyed.append((turn, at, item))
    return [item for _, _, item in sorted(keyed, key=lambda one: one[:2])]
