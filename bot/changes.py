"""Which kernels a change touches, wherever its files are: a working tree or GitHub's API."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from bot.headers import included, inlined
from bot.interfaces import Change
from bot.replica import Replica
from bot.suggestion import Hunk
from optimizer.model import Kernel, Kind, Workload
from optimizer.source import Source
from runners import joined, lone_program

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

    def files(self) -> Sequence[str]:
        """Return the paths of all files as the change has them."""
        ...

    def files_before(self) -> Sequence[str]:
        """Return the paths of all files as they were; none where that side is not read."""
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
    a file with `main()` on a disk, None when it is no program; `place` says where workloads have
    their root that run in a folder of the repository. `snippet` offers entries for a file.
    """

    project: Callable[[str], str | None]
    kernels: Callable[[str], Sequence[tuple[Kernel, Workload]]]
    program: Callable[[Path], tuple[Kernel, Workload] | None]
    place: Callable[[str], str]
    snippet: Callable[[str], str]


def changes(sides: Sides, declared: Declarations) -> list[Change]:
    """Return the kernels whose file or header differs from where the change left its base.

    A program is one text with kernels of its headers and the sources beside it, as `optiml run`
    has it; a change of any of these is one of the program.
    """
    with ExitStack() as stack:
        head = stack.enter_context(Replica(sides.files, sides.head))
        before = stack.enter_context(Replica(sides.files_before, sides.before))
        return _Looking(sides, declared, head, before).found()


@dataclass(frozen=True, slots=True)
class _Touched:
    """A source and why it is looked at. `part` is what changed of it, if it is not the whole."""

    path: str
    reason: str
    part: str = ""


class _Looking:
    """One look at a change."""

    def __init__(
        self, sides: Sides, declared: Declarations, head: Replica, before: Replica
    ) -> None:
        self._sides, self._declared = sides, declared
        self._head, self._before = head, before
        self._projects: dict[str, Sequence[tuple[Kernel, Workload]]] = {}

    def found(self) -> list[Change]:
        touched = [_Touched(path, reason) for path, reason in _touched(self._sides)]
        described = {one.path: self._described(one.path) for one in touched}
        users = {path: self._users(path) for path, kernels in described.items() if not kernels}
        for part, programs in users.items():
            for path in programs:
                if path not in described:
                    described[path] = self._described(path)
                    touched.append(_Touched(path, f"is built with {part}", part))
        found: list[Change] = []
        for one in touched:
            if described[one.path]:
                found += [self._change(*kernel, one.reason) for kernel in described[one.path]]
            elif not users.get(one.path):
                found += self._undescribed(one)
        return found

    def _users(self, path: str) -> tuple[str, ...]:
        text = self._sides.head(path)
        return () if text is None or Source(text).has_main else self._head.users(path)

    def _described(self, path: str) -> list[tuple[Kernel, Workload, str]]:
        """Return what the base's project file says of a source, with the project's folder."""
        folder = self._declared.project(path)
        if folder is None:
            return []
        if folder not in self._projects:
            self._projects[folder] = self._declared.kernels(folder)
        return [(*one, folder) for one in self._projects[folder] if one[0].path == path]

    def _undescribed(self, one: _Touched) -> list[Change]:
        """Return a program that no project file describes, or a source that none can be run of."""
        sides, path = self._sides, one.path
        text = sides.head(path) or ""
        file = self._head.program(path) if Source(text).has_main else None
        program = self._declared.program(file) if file is not None and file.is_file() else None
        if program is not None and program[1].kind is Kind.PROGRAM:
            folder = PurePosixPath(path).parent.as_posix()
            workload = replace(program[1], root=self._declared.place(folder))
            change = self._change(replace(program[0], path=path), workload, folder, one.reason)
            if Source(change.kernel.source).kernels:
                return [change]
        if one.part:
            return []
        kernel = Kernel(PurePosixPath(path).stem, text, path)
        snippet = self._declared.snippet(path)
        return [Change(kernel, None, None, None, sides.hunks(path), one.reason, snippet)]

    def _change(self, kernel: Kernel, workload: Workload, folder: str, reason: str) -> Change:
        """Return a change of a kernel whose workload has its root in a folder."""
        sides = self._sides
        alone, old = kernel, sides.before(kernel.path)
        kernel, work = _whole(self._head, (alone, workload), folder)
        parts = joined.split(kernel.source, kernel.path)
        shown = {path: () if path.startswith("../") else sides.hunks(path) for path in parts}
        lines = shown.pop(kernel.path)
        if any(path.startswith("../") or parts[path] != sides.head(path) for path in shown):
            return Change(kernel, None, hunks=lines, reason=reason)  # marks that are not ours
        linked = (posixpath.normpath(posixpath.join(folder, one)) for one in work.build.sources)
        if old is None or any(sides.head(path) != sides.before(path) for path in linked):
            # What is linked as it is cannot be had from both sides at once.
            return Change(kernel, work, None, None, lines, reason, beside=shown)
        then, _ = _whole(self._before, (replace(alone, source=old), workload), folder)
        before, after = replace(kernel, source=then.source), kernel
        places = (posixpath.normpath(posixpath.join(folder, one)) for one in work.build.include)
        folders = (*include_folders(kernel.path), *places)
        if self._headers_differ((before, after), folders):
            written = inlined(kernel.path, before.source, sides.before, folders)
            before = replace(before, source=written)
            written = inlined(kernel.path, after.source, sides.head, folders)
            after = replace(after, source=written)
        return Change(kernel, work, before, after, lines, reason, beside=shown)

    def _headers_differ(self, texts: tuple[Kernel, Kernel], folders: Sequence[str]) -> bool:
        """Tell whether a header that the text before or after includes is another there."""
        sides = self._sides
        if not any(is_header(path) for path in sides.changed()):
            return False
        then, now = texts
        used = included(now.path, now.source, sides.head, folders)
        used |= included(then.path, then.source, sides.before, folders)
        return any(sides.head(path) != sides.before(path) for path in used)


def _whole(replica: Replica, one: tuple[Kernel, Workload], folder: str) -> tuple[Kernel, Workload]:
    """Return a program as one text with its parts, as `optiml run` has it; others as they are."""
    kernel, workload = one
    if workload.kind is not Kind.PROGRAM:
        return one
    file = replica.program(kernel.path)
    here = replace(workload, root=str(replica.root / folder))
    whole, built = lone_program.with_headers(kernel, here, file)
    if whole.path != kernel.path:  # another of its files, as seen from the root
        whole = replace(whole, path=posixpath.normpath(posixpath.join(folder, whole.path)))
    return whole, replace(built, root=workload.root)


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
