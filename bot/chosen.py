"""A forge of which only some of the changed kernels are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from bot.bundle import MAX_RESULTS
from bot.interfaces import Change, Forge, Pull, Report
from bot.orders import asks_for
from optimizer.errors import ConfigError


class Chosen:
    """A `Forge` that is about the kernels, files or folders named; none named means all."""

    def __init__(self, forge: Forge, kernels: Sequence[str]) -> None:
        self._forge, self._kernels = forge, tuple(kernels)
        self._found: tuple[Change, ...] | None = None

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        """Return what is asked for. Raise `ConfigError` when none of it changed."""
        if self._found is None:
            changes = self._forge.changed_kernels(pull)
            found = tuple(one for one in changes if asks_for(self._kernels, one))
            if changes and not found:
                known = ", ".join(f"{one.kernel.name} ({one.kernel.path})" for one in changes[:8])
                raise ConfigError(
                    f"this change does not touch {', '.join(self._kernels)}", f"it touches {known}"
                )
            if len(found) > MAX_RESULTS:
                raise ConfigError(
                    f"{len(found)} kernels are touched; {MAX_RESULTS} fit one review",
                    "name some of them",
                )
            self._found = found
        return self._found

    def publish(self, pull: Pull, report: Report) -> None:
        """Publish through the forge behind."""
        self._forge.publish(pull, report)
