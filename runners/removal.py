"""Removing what a stranger made: folders as deep as they like, without recursion or long paths.

`shutil.rmtree` calls itself for each level, so some thousand nested folders raise RecursionError in
it even where it is to ignore errors, and `tempfile.TemporaryDirectory` uses it. Stdlib only: the
worker imports it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from runners.keeper_files import remove_tree


def remove(path: Path) -> None:
    """Remove a file, or a folder and what is in it; links are not followed, errors are ignored."""
    remove_tree(os.fspath(path))


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """A temporary directory for what strangers write to; what cannot be removed is left."""

    def __init__(self, prefix: str | None = None, dir: str | Path | None = None) -> None:  # noqa: A002 - as the class above names it
        super().__init__(prefix=prefix, dir=dir, ignore_cleanup_errors=True)

    def cleanup(self) -> None:
        """Remove the folder, before what is inherited would recurse into it."""
        remove_tree(self.name)
        super().cleanup()
