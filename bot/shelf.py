"""A folder a kernel for what a review of several leaves behind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import run
from bot.interfaces import Change, Reviewed
from optimizer.errors import ConfigError
from optimizer.model import Kernel


@dataclass(frozen=True, slots=True)
class Shelf:
    """`out` holds the folders, None keeps nothing; `changes` are what is reviewed."""

    out: Path | None
    changes: Sequence[Change]

    def of(self, kernel: Kernel) -> Path | None:
        """Return the folder of a kernel that is reviewed, None for another or without `out`.

        Raise `ConfigError` when it cannot be made.
        """
        if self.out is None:
            return None
        for number, one in enumerate(self.changes):
            if one.kernel == kernel:
                name = re.sub(r"\W+", "-", kernel.name)[:60].strip("-")
                folder = self.out / f"{number:03}-{name}"
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise ConfigError(f"cannot make {folder}: {error.strerror}") from error
                return folder
        return None

    def put(self, results: Sequence[Reviewed]) -> Iterator[Path]:
        """Write trajectories, reports, sources and patches; yield the files.

        Raise `RunnerError` when they cannot be written.
        """
        for one in results:
            folder = self.of(one.change.kernel)
            if folder is not None and one.trajectory is not None:
                yield from run.write_files(one.trajectory, folder).values()
