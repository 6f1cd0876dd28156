"""Verdicts that come one after the other, as one sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from optimizer.model import Verdict


class Awaited(Sequence[Verdict]):
    """Verdicts of a batch, each waited for when it is looked at, and only then.

    So the first of a batch is seen while the others still run. `take` returns one verdict by its
    place and is called once for each; what it raises is raised by the look.
    """

    def __init__(self, count: int, take: Callable[[int], Verdict]) -> None:
        self._found: list[Verdict | None] = [None] * count
        self._take = take

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | Sequence[Verdict]:
        """Return a verdict, waiting for it where it is not there yet."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        found = self._found[place]
        if found is None:
            found = self._found[place] = self._take(place)
        return found
