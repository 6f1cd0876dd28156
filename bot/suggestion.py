"""Measured source as GitHub suggestion blocks on the lines a pull request shows.

A review comment is legal when its first and last line lie in one hunk of the diff (right side);
one illegal comment makes GitHub refuse the whole review. So either every change of a file can be
suggested, and applying all suggestions gives exactly the measured source, or none is offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot import markdown
from bot.difference import Block, changed_blocks, lines_of

_HEADER = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f\x85{markdown.UNSEEN}]")
_NEAR = 8  # unchanged lines between two changes that one suggestion may span
_MOST = 20  # suggestions for one file; more than that nobody clicks together
_LONGEST = 60_000  # characters of one, with room for words around it in a comment


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of the new file that a diff shows, counted from 1, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Lines `start` to `line` of a file (from 1, both included) and what to put there."""

    path: str
    start: int
    line: int
    lines: tuple[str, ...]

    @property
    def body(self) -> str:
        """Return the block as it goes into a review comment; no lines means delete."""
        text = "".join(f"{line}\n" for line in self.lines)
        return markdown.fenced(text, "suggestion")


def hunks(patch: str) -> tuple[Hunk, ...]:
    r"""Read which new lines a unified diff of one file shows.

    >>> hunks("@@ -1,2 +1,3 @@\n a\n+b\n c")
    (Hunk(first=1, last=3),)
    """
    found = []
    for line in patch.split("\n"):
        match = _HEADER.match(line)
        if match:
            first, count = int(match[1]), int(match[2] if match[2] is not None else 1)
            if count:
                found.append(Hunk(first, first + count - 1))
    return tuple(found)


def suggest(
    path: str, head: str, measured: str, shown: Sequence[Hunk]
) -> tuple[Suggestion, ...] | None:
    """Return suggestions that turn `head` into `measured`, or None when some line forbids it."""
    if head == measured:
        return ()
    if not _expressible(head) or not _expressible(measured):
        return None
    old, new = lines_of(head), lines_of(measured)
    found: list[Suggestion] = []
    for block in _joined(changed_blocks(old, new), shown):
        anchored = _anchored(block, len(old), shown)
        if anchored is None:
            return None
        replaced = tuple(new[anchored.new_start : anchored.new_end])
        found.append(Suggestion(path, anchored.old_start + 1, anchored.old_end, replaced))
    if len(found) > _MOST or any(markdown.length(one.body) > _LONGEST for one in found):
        return None
    return tuple(found)


def apply(head: str, suggestions: Sequence[Suggestion]) -> str:
    """Do what GitHub does when all suggestions are committed in one batch."""
    lines = lines_of(head)
    for one in sorted(suggestions, key=lambda item: item.start, reverse=True):
        lines[one.start - 1 : one.line] = one.lines
    return "".join(f"{line}\n" for line in lines)


def _expressible(text: str) -> bool:
    # A suggestion holds whole lines that end in a line feed, and passes through a web form.
    return text.endswith("\n") and _UNSAFE.search(text) is None


def _hunk_of(first: int, last: int, shown: Sequence[Hunk]) -> Hunk | None:
    return next((hunk for hunk in shown if hunk.first <= first and last <= hunk.last), None)


def _joined(blocks: Sequence[Block], shown: Sequence[Hunk]) -> list[Block]:
    """Join changes that lie close together in one hunk, so that one click takes them."""
    found: list[Block] = []
    for block in blocks:
        before = found[-1] if found else None
        if (
            before is not None
            and block.old_start - before.old_end <= _NEAR
            and _hunk_of(before.old_start + 1, block.old_end, shown)
        ):
            found[-1] = Block(before.old_start, block.old_end, before.new_start, block.new_end)
        else:
            found.append(block)
    return found


def _anchored(block: Block, count: int, shown: Sequence[Hunk]) -> Block | None:
    """Give an insertion a line to stand on, and return None where no hunk shows the lines."""
    candidates = [block]
    if block.old_start == block.old_end:
        candidates = []
        if block.old_start > 0:
            candidates.append(
                Block(block.old_start - 1, block.old_end, block.new_start - 1, block.new_end)
            )
        if block.old_end < count:
            candidates.append(
                Block(block.old_start, block.old_end + 1, block.new_start, block.new_end + 1)
            )
    for one in candidates:
        if _hunk_of(one.old_start + 1, one.old_end, shown):
            return one
    return None
