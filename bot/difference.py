"""What changed between two texts: blocks of lines, unified and side by side.

Lines end at a line feed and nowhere else, as in git; Python's `splitlines` would also break at
form feeds, and its line numbers would not be the forge's.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

_WORDS = re.compile(r"\w+|\s+|.")
_QUADRATIC = 3000  # lines; beyond this difflib may skip lines that occur often
_ALIGNED = 2500  # pairs of lines compared within one block
_ALIKE = 0.5  # share of words two lines must have in common to stand side by side
_LONG_LINE = 600  # characters; no intraline comparison beyond


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `old_start:old_end` replaced by `new_start:new_end`, counted from 0, end excluded."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `changed` when the other side does not have it."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a side-by-side view. `kind` is same, changed, removed, added or gap.

    A number is None where that side has no line. A gap says in `skipped` how many lines it hides.
    """

    kind: str
    left: int | None = None
    right: int | None = None
    before: tuple[Span, ...] = ()
    after: tuple[Span, ...] = ()
    skipped: int = 0


def lines_of(text: str) -> list[str]:
    r"""Split at line feeds; a final line feed ends the last line rather than starting another.

    >>> lines_of("a\nb\n"), lines_of("a\n\n"), lines_of("")
    (['a', 'b'], ['a', ''], [])
    """
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return the blocks of lines that differ, in order, never touching each other."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    autojunk = max(len(left), len(right)) > _QUADRATIC
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=autojunk)
    return [
        Block(head + a, head + b, head + c, head + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def unified(old: str, new: str, path: str, context: int = 3) -> str:
    """Return a patch that `git apply` takes, or an empty text when nothing differs."""
    left, right = lines_of(old), lines_of(new)
    if not old.endswith("\n") and left:
        left[-1] += "\0"  # a last line without line feed is another line than one with it
    if not new.endswith("\n") and right:
        right[-1] += "\0"
    parts: list[str] = []
    for group in _grouped(changed_blocks(left, right), context):
        parts.extend(_hunk(group, left, right, context))
    if not parts:
        return ""
    name = re.sub(r"\s", " ", path)
    text = "\n".join([f"--- a/{name}", f"+++ b/{name}", *parts])
    return text.replace("\0", "\n\\ No newline at end of file") + "\n"


def side_by_side(old: str, new: str, context: int = 3) -> list[Row]:
    """Return rows for a two-column view with the words that differ marked in changed lines."""
    left, right = lines_of(old), lines_of(new)
    rows: list[Row] = []
    at = 0
    for group in _grouped(changed_blocks(left, right), context):
        first = max(0, group[0].old_start - context)
        if first > at:
            rows.append(Row("gap", skipped=first - at))
        at = first
        for block in group:
            rows.extend(_same(left, at, block.old_start, block.new_start - block.old_start))
            rows.extend(_paired(left, right, block))
            at = block.old_end
        last = min(len(left), at + context)
        rows.extend(_same(left, at, last, group[-1].new_end - group[-1].old_end))
        at = last
    if rows and at < len(left):
        rows.append(Row("gap", skipped=len(left) - at))
    return rows


def counts(old: str, new: str) -> tuple[int, int]:
    r"""Return how many lines were added and removed.

    >>> counts("a\nb\n", "a\nc\nd\n")
    (2, 1)
    """
    blocks = changed_blocks(lines_of(old), lines_of(new))
    added = sum(block.new_end - block.new_start for block in blocks)
    return added, sum(block.old_end - block.old_start for block in blocks)


def _grouped(blocks: Sequence[Block], context: int) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        if group and block.old_start - group[-1].old_end > 2 * context:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(
    group: Sequence[Block], left: Sequence[str], right: Sequence[str], context: int
) -> Iterator[str]:
    first, last = group[0], group[-1]
    old_start = max(0, first.old_start - context)
    new_start = first.new_start - (first.old_start - old_start)
    old_end = min(len(left), last.old_end + context)
    new_end = last.new_end + (old_end - last.old_end)
    yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@"
    at = old_start
    for block in group:
        yield from (f" {line}" for line in left[at : block.old_start])
        yield from (f"-{line}" for line in left[block.old_start : block.old_end])
        yield from (f"+{line}" for line in right[block.new_start : block.new_end])
        at = block.old_end
    yield from (f" {line}" for line in left[at:old_end])


def _range(start: int, end: int) -> str:
    if end == start:
        return f"{start},0"
    return f"{start + 1}" if end - start == 1 else f"{start + 1},{end - start}"


def _same(left: Sequence[str], start: int, end: int, shift: int) -> Iterator[Row]:
    for at in range(start, end):
        text = (Span(left[at]),)
        yield Row("same", at + 1, at + shift + 1, text, text)


def _paired(left: Sequence[str], right: Sequence[str], block: Block) -> Iterator[Row]:
    """Set lines that resemble each other side by side, and the rest wherever there is room."""
    old = range(block.old_start, block.old_end)
    new = range(block.new_start, block.new_end)
    at, to = block.old_start, block.new_start
    for a, b in [*_alike(left, right, old, new), (block.old_end, block.new_end)]:
        for x, y in zip_longest(range(at, a), range(to, b)):
            yield Row(
                "changed"
                if x is not None and y is not None
                else "added"
                if x is None
                else "removed",
                None if x is None else x + 1,
                None if y is None else y + 1,
                () if x is None else (Span(left[x]),),
                () if y is None else (Span(right[y]),),
            )
        if a < block.old_end and b < block.new_end:
            before, after = _intraline(left[a], right[b])
            yield Row("changed", a + 1, b + 1, before, after)
        at, to = a + 1, b + 1


def _alike(
    left: Sequence[str], right: Sequence[str], old: range, new: range
) -> list[tuple[int, int]]:
    """Pair lines in order so that the words they share are most (an alignment by dynamic rows)."""
    if not old or not new:
        return []
    if len(old) * len(new) > _ALIGNED:
        return list(zip(old, new, strict=False))
    words = {("l", a): Counter(_WORDS.findall(left[a].strip())) for a in old}
    words |= {("r", b): Counter(_WORDS.findall(right[b].strip())) for b in new}
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    likeness: dict[tuple[int, int], float] = {}
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            one, other = words["l", old[i]], words["r", new[j]]
            size = one.total() + other.total()
            score = 2 * (one & other).total() / size if size else 0.0
            likeness[i, j] = score if score >= _ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i, j] + best[i + 1][j + 1])
    pairs = []
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i, j] and best[i][j] == likeness[i, j] + best[i + 1][j + 1]:
            pairs.append((old[i], new[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _intraline(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    whole = (Span(old, changed=True),), (Span(new, changed=True),)
    if max(len(old), len(new)) > _LONG_LINE:
        return whole
    left, right = _WORDS.findall(old), _WORDS.findall(new)
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < 0.35:  # two unrelated lines: marking stray words only confuses
        return whole
    before: list[Span] = []
    after: list[Span] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < b:
            before.append(Span("".join(left[a:b]), tag != "equal"))
        if c < d:
            after.append(Span("".join(right[c:d]), tag != "equal"))
    return tuple(before), tuple(after)
