"""Verdicts that come one after the other, as one sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from optimizer.interfaces import Revocable, Underway
from optimizer.model import Verdict


class Awaited(Sequence[Verdict]):
    """Verdicts of a batch, each waited for when it is looked at, and only then.

    So the first of a batch is seen while the others still run. `take` returns one verdict by its
    place and is called once for each; what it raises is raised by the look. `there` tells whether
    it would not wait; without, that is not known before the look. `prefer` has one run earlier, or
    later (`optimizer.interfaces.Underway`).
    """

    def __init__(
        self,
        count: int,
        take: Callable[[int], Verdict],
        there: Callable[[int], bool] = lambda _: False,
        prefer: Callable[[int, bool], None] = lambda _, __: None,
        cancel: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self._found: list[Verdict | None] = [None] * count
        self._take, self._there, self._prefer, self._cancel = take, there, prefer, cancel

    @classmethod
    def each(cls, parts: Sequence[tuple[Sequence[Verdict], int]]) -> Awaited:
        """Return verdicts that lie in other sequences, each at its place in one of them."""

        def there(place: int) -> bool:
            inner, at = parts[place]
            return inner.ready(at) if isinstance(inner, Underway) else True

        def prefer(place: int, urgent: bool) -> None:
            inner, at = parts[place]
            if isinstance(inner, Underway):
                inner.prefer(at, urgent)

        def cancel(place: int) -> bool:
            inner, at = parts[place]
            return isinstance(inner, Revocable) and inner.cancel(at)

        return cls(
            len(parts), lambda place: parts[place][0][parts[place][1]], there, prefer, cancel
        )

    def ready(self, index: int) -> bool:
        """Tell whether looking at a verdict would not wait."""
        return self._found[index] is not None or self._there(index)

    def prefer(self, index: int, urgent: bool) -> None:
        """Have one that has not begun run before those that are not urgent, or after the others."""
        if self._found[index] is None:
            self._prefer(index, urgent)

    def __len__(self) -> int:
        return len(self._found)

    def cancel(self, index: int) -> bool:
        """Have one that has not begun never run; tell whether that was so. A look then raises."""
        return self._found[index] is None and self._cancel(index)

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
