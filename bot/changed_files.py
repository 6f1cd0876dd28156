"""What an edit of a kernel changes, file by file: some texts are those of several files."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import PurePosixPath

from bot import difference
from optimizer.model import Kernel
from runners import joined

Texts = Mapping[str, tuple[str, str]]


def changed_files(before: Kernel, after: Kernel) -> Texts:
    """Return the texts before and after, by the path of each file that differs."""
    found = apart(before, after)
    return found if found is not None else {_path(before): (before.source, after.source)}


def apart(before: Kernel, after: Kernel) -> Texts | None:
    """Return the same; None when an edit blurs where one of several files begins."""
    path = _path(before)
    old, new = joined.split(before.source, path), joined.split(after.source, path)
    if old.keys() != new.keys():
        return None
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}


def patch(before: Kernel, after: Kernel, root: str = ".") -> str:
    """Return a patch that `git apply` takes; empty when nothing differs.

    Where a file lies beside the project's folder `root`, as `../include/k.cuh` does, paths are as
    seen from the folder around both.
    """
    texts = changed_files(before, after)
    above = max((PurePosixPath(path).parts.count("..") for path in texts), default=0)
    way = PurePosixPath(*PurePosixPath(root).parts[-above:] if above else ())
    seen = {posixpath.normpath((way / path).as_posix()): one for path, one in texts.items()}
    return "".join(difference.unified(old, new, path) for path, (old, new) in seen.items())


def counts(before: Kernel, after: Kernel) -> tuple[int, int]:
    """Return how many lines were added and removed in all files."""
    found = [difference.counts(old, new) for old, new in changed_files(before, after).values()]
    return sum(added for added, _ in found), sum(removed for _, removed in found)


def _path(kernel: Kernel) -> str:
    return kernel.path or f"{kernel.name}.cu"
