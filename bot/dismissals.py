"""Wins that people do not want: known again by kernel and edit, whatever else is pushed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from bot.difference import changed_blocks, lines_of
from bot.interfaces import Reviewed


def fingerprint(reviewed: Reviewed) -> str:
    """Identify a win by its kernel and by the lines it takes out and puts in; empty without one.

    Where those lines stand does not matter, nor how they are spaced, so that the same edit after
    another push is the same win: 16 hexadecimal digits.
    """
    found = reviewed.trajectory
    if found is None or found.winner is None:
        return ""
    before, after = found.baseline.kernel, found.best.kernel
    old, new = lines_of(before.source), lines_of(after.source)
    parts = [reviewed.change.kernel.path, reviewed.change.kernel.name]
    if before.launch != after.launch:
        parts.append(str(after.launch))
    for block in changed_blocks(old, new):
        parts += [f"-{_spaced(line)}" for line in old[block.old_start : block.old_end]]
        parts += [f"+{_spaced(line)}" for line in new[block.new_start : block.new_end]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def without(results: Sequence[Reviewed], dismissed: Collection[str]) -> tuple[Reviewed, ...]:
    """Return results in which dismissed wins are none; slowdowns stay to be told."""
    return tuple(
        replace(one, trajectory=replace(one.trajectory, winner=None, confirmation=None))
        if one.trajectory is not None and fingerprint(one) in dismissed
        else one
        for one in results
    )


def _spaced(line: str) -> str:
    return " ".join(line.split())
