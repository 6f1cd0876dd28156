"""Find rules and detectors that installed packages offer, and keep a broken one from doing harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from typing import Generic, TypeVar, cast

from optimizer.errors import ConfigError
from optimizer.interfaces import Detector, RewriteRule

Value = TypeVar("Value")

# A plugin that raised this often is not asked again.
FAILURES_TOLERATED = 3
# No rule has more to say about one kernel; an endless generator must not hang a search.
MOST_VALUES = 200


@dataclass(slots=True)
class Guarded(Generic[Value]):
    """A rule or detector whose exceptions become notes.

    What it yielded before it raised is kept. After `FAILURES_TOLERATED` exceptions it is skipped.
    """

    name: str
    call: Callable[..., Iterable[Value]]
    notes: list[str] = field(default_factory=list)
    failures: int = 0

    def __call__(self, *arguments: object) -> Iterator[Value]:
        """Yield what the plugin yields, at most `MOST_VALUES`."""
        if self.failures >= FAILURES_TOLERATED:
            return
        try:
            yield from self.unguarded(*arguments)
        except Exception as error:  # noqa: BLE001 - a stranger's plugin may raise anything
            self.failures += 1
            if self.failures == 1:
                self.notes.append(f"{self.name} failed: {type(error).__name__}: {error}")
            if self.failures == FAILURES_TOLERATED:
                self.notes.append(
                    f"{self.name} failed {self.failures} times and is not asked again"
                )

    def unguarded(self, *arguments: object) -> Iterator[Value]:
        """Yield the same, and raise what the plugin raises without counting it."""
        return islice(self.call(*arguments), MOST_VALUES)


def rules(notes: list[str] | None = None) -> dict[str, RewriteRule]:
    """Return all rules under the entry-point group `optiml.rules`, by name.

    A plugin that cannot be loaded is left out and named in `notes`. Two packages offering one name
    raise `ConfigError`.
    """
    return cast("dict[str, RewriteRule]", _load("optiml.rules", notes))


def detectors(notes: list[str] | None = None) -> dict[str, Detector]:
    """Return all detectors under the entry-point group `optiml.detectors`, by name; as `rules`."""
    return cast("dict[str, Detector]", _load("optiml.detectors", notes))


def _load(group: str, notes: list[str] | None) -> dict[str, object]:
    found: dict[str, object] = {}
    points: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        other = points.setdefault(point.name, point)
        if other is not point and other.value != point.value:
            raise ConfigError(
                f"two packages offer {group} {point.name!r}: {other.value} and {point.value}",
                "uninstall one of them",
            )
        loaded, why = _load_one(point)
        if loaded is None:
            if notes is not None:
                notes.append(f"{group} {point.name!r} ({point.value}) was skipped: {why}")
            continue
        found[point.name] = loaded
    return found


def _load_one(point: EntryPoint) -> tuple[object | None, str]:
    try:
        loaded: object = point.load()
    except Exception as error:  # noqa: BLE001 - importing a stranger's module may raise anything
        return None, f"{type(error).__name__}: {error}"
    if not callable(loaded):
        return None, f"{type(loaded).__name__} is not callable"
    return loaded, ""
