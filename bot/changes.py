"""Which kernels a change touches, wherever its files are: a working tree or GitHub's API."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol

from bot.headers import included, inlined
from bot.interfaces import Change
from bot.suggestion import Hunk
from optimizer.model import Kernel, Kind, Workload

PROJECT_FILE = ".optiml.yml"
KERNEL_SUFFIXES = frozenset({".cu"})
HEADER_SUFFIXES = frozenset({".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc"})
SOURCE_SUFFIXES = KERNEL_SUFFIXES | HEADER_SUFFIXES | {".cpp", ".cc", ".c", ".cxx"}
LARGEST = 4 << 20  # bytes of one source file


class Sides(Protocol):
    """The files of a change as it has them (`head`) and as they were where it left its base.

    Paths are relative to the repository's root. A file that is missing, too large, no regular
    file or not UTF-8 reads as None.
    """

    def changed(self) -> Collection[str]:
        """Return the paths that the change adds, modifies or removes."""
        ...

    def candidates(self) -> Sequence[str]:
        """Return the paths of kernel sources to look at for included headers, changed or not."""
        ...

    def head(self, path: str) -> str | None:
        """Return a file's text as the change has it."""
        ...

    def before(self, path: str) -> str | None:
        """Return a file's text as it was where the change left its base."""
        ...

    def hunks(self, path: str) -> tuple[Hunk, ...]:
        """Return which lines of a file the change's diff shows."""
        ...


@dataclass(frozen=True, slots=True)
class Declarations:
    """What the base branch says about files.

    `project` returns the folder whose project file covers a path, None where there is none;
    `kernels` what that project declares, paths relative to the repository's root. `program` takes
    a file with `main()`, None when it is no program. `snippet` offers entries for a file.
    """

    project: Callable[[str], str | None]
    kernels: Callable[[str], Sequence[tuple[Kernel, Workload]]]
    program: Callable[[str], tuple[Kernel, Workload] | None]
    snippet: Callable[[str], str]


def changes(sides: Sides, declared: Declarations) -> list[Change]:
    """Return the kernels whose file or header differs from where the change left its base."""
    projects: dict[str, Sequence[tuple[Kernel, Workload]]] = {}
    found: list[Change] = []
    for path, reason in list(_touched(sides)):
        folder = declared.project(path)
        if folder is not None and folder not in projects:
            projects[folder] = declared.kernels(folder)
        here = [one for one in projects.get(folder or "", ()) if one[0].path == path]
        if here:
            found += [_change(sides, one, reason) for one in here]
        else:
            found.append(_undeclared(sides, declared, path, reason))
    return found


def project_over(path: str, exists: Callable[[str], bool]) -> str | None:
    """Return the nearest folder above a file that holds a project file, `.` for the root."""
    for parent in PurePosixPath(path).parents:
        place = parent.as_posix()
        if exists(PROJECT_FILE if place == "." else f"{place}/{PROJECT_FILE}"):
            return place
    return None


def is_kernel_source(path: str) -> bool:
    """Tell whether a file may hold kernels to be optimized."""
    return PurePosixPath(path).suffix in KERNEL_SUFFIXES


def is_header(path: str) -> bool:
    """Tell whether a file may be included by kernel sources."""
    return PurePosixPath(path).suffix in HEADER_SUFFIXES


def is_source(path: str) -> bool:
    """Tell whether a file takes part in building kernels."""
    return PurePosixPath(path).suffix in SOURCE_SUFFIXES


def _touched(sides: Sides) -> Iterator[tuple[str, str]]:
    changed = sides.changed()
    headers = {path for path in changed if is_header(path)}
    sources = sides.candidates() if headers else sorted(filter(is_kernel_source, changed))
    for path in sources:
        source = sides.head(path)
        if source is None:
            continue
        if path in changed:
            yield path, "changed"
        elif headers:
            hit = sorted(headers & included(path, source, sides.head, include_folders(path)))
            if hit:
                yield path, f"includes {', '.join(hit)}"


def include_folders(path: str) -> tuple[str, ...]:
    """Return where headers are looked for besides the file's own folder."""
    parents = [parent.as_posix() for parent in PurePosixPath(path).parents]
    return tuple(place for parent in parents for place in (parent, f"{parent}/include") if place)


def _change(sides: Sides, declared: tuple[Kernel, Workload], reason: str) -> Change:
    kernel, workload = declared
    shown = sides.hunks(kernel.path)
    old = sides.before(kernel.path)
    if old is None:
        return Change(kernel, workload, None, None, shown, reason)
    before, after = replace(kernel, source=old), kernel
    if reason != "changed" or _headers_differ(sides, kernel):
        folders = include_folders(kernel.path)
        before = replace(before, source=inlined(kernel.path, old, sides.before, folders))
        after = replace(kernel, source=inlined(kernel.path, kernel.source, sides.head, folders))
    return Change(kernel, workload, before, after, shown, reason)


def _headers_differ(sides: Sides, kernel: Kernel) -> bool:
    if not any(is_header(path) for path in sides.changed()):
        return False
    folders = include_folders(kernel.path)
    used = included(kernel.path, kernel.source, sides.head, folders)
    return any(sides.head(path) != sides.before(path) for path in used)


def _undeclared(sides: Sides, declared: Declarations, path: str, reason: str) -> Change:
    program = declared.program(path)
    if program is not None and program[1].kind is Kind.PROGRAM:
        kernel = replace(program[0], path=path)
        return _change(sides, (kernel, program[1]), reason)
    kernel = Kernel(PurePosixPath(path).stem, sides.head(path) or "", path)
    shown = sides.hunks(path)
    return Change(kernel, None, None, None, shown, reason, declared.snippet(path))
