"""A forge that is a local git checkout: what the bot would say of this branch, printed.

Sources are those of the working tree. How they are built and run comes from the base branch, as
for a pull request: where the change touches `.optiml.yml`, references or data, the base's
versions are put beside the changed sources in a directory of their own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

import git

from bot.changes import (
    LARGEST,
    PROJECT_FILE,
    Declarations,
    changes,
    is_kernel_source,
    is_source,
    project_over,
)
from bot.interfaces import Change, Pull, Report
from bot.suggestion import Hunk, hunks
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Workload
from runners.removal import TemporaryFolder


@dataclass(frozen=True, slots=True)
class Reading:
    """How a project's files become workloads.

    `project` reads an `.optiml.yml` and returns kernels, their paths relative to its folder.
    `program` takes a file with `main()` and its root; None when it is no program. `snippet` offers
    an `.optiml.yml` for a file that has none.
    """

    project: Callable[[Path], Sequence[tuple[Kernel, Workload]]]
    program: Callable[[Path, Path], tuple[Kernel, Workload] | None]
    snippet: Callable[[Path, Path], str]


class Checkout:
    """A working tree compared with a base branch. A context manager: it may own directories."""

    def __init__(
        self, folder: Path, base: str, reading: Reading, say: Callable[[Report], None]
    ) -> None:
        """Open the repository around a folder. Raise `ConfigError` when there is none."""
        try:
            self._repo = git.Repo(folder, search_parent_directories=True)
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            raise ConfigError(
                f"{folder} is in no git repository", "run this inside a checkout"
            ) from error
        if self._repo.working_tree_dir is None:
            raise ConfigError(f"{folder} is a bare repository", "run this inside a checkout")
        self.root = Path(self._repo.working_tree_dir)
        self._base_tip = self._commit(base)
        self._fork = self._merge_base(base)
        self._reading, self._say = reading, say
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        self._repo.close()

    @property
    def pull(self) -> Pull:
        """Return the change under review; its head says whether there are uncommitted edits."""
        head = self._repo.head.commit.hexsha
        dirty = "-dirty" if self._repo.is_dirty(untracked_files=False) else ""
        return Pull(self._fork.hexsha, f"{head}{dirty}", str(self.root))

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        """Return kernels whose file or header differs from where the branch left its base."""
        del pull  # there is one change: this working tree
        changed = self._changed()
        declared = Declarations(
            self._project_of,
            lambda folder: self._read_project(folder, changed),
            lambda file: self._reading.program(file, file.parent),
            lambda folder: str(self.root / folder),
            lambda path: self._reading.snippet(self.root / path, self.root),
        )
        return changes(_Sides(self, changed), declared)

    def publish(self, pull: Pull, report: Report) -> None:
        """Hand the report to whoever prints it."""
        del pull
        self._say(report)

    # -- git ---------------------------------------------------------------------------------------

    def _commit(self, name: str) -> git.Commit:
        for candidate in (name, f"origin/{name}"):
            try:
                return self._repo.commit(candidate)
            except (git.BadName, git.GitCommandError, ValueError):
                continue
        near = ", ".join(sorted(head.name for head in self._repo.heads)[:8]) or "none"
        raise ConfigError(f"there is no base {name!r} here", f"name one with --base; here: {near}")

    def _merge_base(self, base: str) -> git.Commit:
        try:
            head = self._repo.head.commit
        except ValueError as error:
            raise ConfigError("this repository has no commit yet", "commit something") from error
        found = self._repo.merge_base(self._base_tip, head)
        if not found or not isinstance(found[0], git.Commit):
            raise ConfigError(
                f"{base} and this branch share no commit",
                "fetch more history: git fetch --unshallow",
            )
        return found[0]

    def _changed(self) -> dict[str, str]:
        """Return changed paths with A, M, D as the working tree has them, untracked ones too."""
        text = self._repo.git.diff(
            self._fork.hexsha, "--name-status", "-z", "--no-renames", "--no-ext-diff"
        )
        fields = text.split("\0")
        found = dict(zip(fields[1::2], fields[0::2], strict=False))
        return found | dict.fromkeys(self._repo.untracked_files, "A")

    def patch(self, path: str) -> str:
        """Return a file's diff against where the branch left its base."""
        if path in self._repo.untracked_files:
            lines = self.read(path) or ""
            return f"@@ -0,0 +1,{len(lines.splitlines())} @@"
        # A path is a name: `:(exclude)a.cu` and `*.cu` are files, too.
        git_of_names = self._repo.git(literal_pathspecs=True)
        return str(
            git_of_names.diff(
                self._fork.hexsha,
                "--unified=3",
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--no-renames",
                "--",
                path,
            )
        )

    def files(self) -> list[str]:
        """Return all paths that git does not ignore."""
        listed = self._repo.git.ls_files("-z", "-c", "-o", "--exclude-standard").split("\0")
        return sorted({path for path in listed if path})

    def files_before(self) -> list[str]:
        """Return all paths of where the branch left its base."""
        listed = self._repo.git.ls_tree("-r", "-z", "--name-only", self._fork.hexsha).split("\0")
        return [path for path in listed if path]

    def read(self, path: str) -> str | None:
        """Return a file's text in the working tree, None where it has none to show."""
        file = self.root / path
        try:
            place = file.resolve().relative_to(self.root.resolve())
            if ".git" in place.parts or not file.is_file():
                return None
            if file.stat().st_size > LARGEST:
                return None
            with file.open(encoding="utf-8", newline="") as stream:
                return stream.read()
        except (OSError, ValueError):
            return None  # no text; or a link that leads out of what is the pull request's

    def read_base(self, path: str, commit: git.Commit | None = None) -> str | None:
        """Return a file's text in the base, None where it has none."""
        data = self._base_bytes(path, commit or self._fork)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            return None

    @staticmethod
    def _base_bytes(path: str, commit: git.Commit) -> bytes | None:
        try:
            blob = commit.tree / path
        except KeyError:
            return None
        if not isinstance(blob, git.Blob) or blob.mode == git.Blob.link_mode:
            return None
        return bytes(blob.data_stream.read())

    # -- which kernels -----------------------------------------------------------------------------

    def _project_of(self, path: str) -> str | None:
        return project_over(path, lambda name: self._base_bytes(name, self._base_tip) is not None)

    def _read_project(
        self, folder: str, changed: Mapping[str, str]
    ) -> list[tuple[Kernel, Workload]]:
        root = self._trusted(folder, changed)
        found = []
        for kernel, workload in self._reading.project(root / PROJECT_FILE):
            path = PurePosixPath(folder, PurePosixPath(kernel.path)).as_posix()
            found.append((replace(kernel, path=path), workload))
        return found

    def _trusted(self, folder: str, changed: Mapping[str, str]) -> Path:
        """Return a folder with the change's sources and the base's everything else."""
        inside = [path for path in self.files() if folder == "." or path.startswith(f"{folder}/")]
        foreign = {
            path
            for path in {*inside, *changed}
            if (folder == "." or path.startswith(f"{folder}/"))
            and not is_source(path)
            and self._differs_from_base(path)
        }
        if not foreign:
            return self.root / folder
        made = Path(self._stack.enter_context(TemporaryFolder(prefix="optiml-base-")))
        try:
            self._lay_out(made, [path for path in inside if path not in foreign], foreign)
        except OSError as error:
            raise ConfigError(
                f"the base branch's files do not fit beside those of this change: {error.strerror}",
                "a file of the base is a folder here, or a folder a file",
            ) from error
        return made / folder

    def _lay_out(self, made: Path, ours: Sequence[str], foreign: Collection[str]) -> None:
        for path in ours:
            file = self.root / path
            if file.is_file() and not file.is_symlink():
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, made / path)
        for path in foreign:
            data = self._base_bytes(path, self._base_tip)
            if data is not None:
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_bytes(data)

    def _differs_from_base(self, path: str) -> bool:
        file = self.root / path
        base = self._base_bytes(path, self._base_tip)
        if base is None or not file.is_file() or file.is_symlink():
            return base is not None or (file.is_file() and not file.is_symlink())
        # A stranger's file may be of any size: it is not read to learn that.
        return file.stat().st_size != len(base) or file.read_bytes() != base


class _Sides:
    """The two sides of a working tree, as `bot.changes` asks for them."""

    def __init__(self, checkout: Checkout, changed: Mapping[str, str]) -> None:
        self._checkout, self._changed = checkout, changed

    def changed(self) -> Collection[str]:
        return self._changed

    def files(self) -> Sequence[str]:
        root = self._checkout.root
        return [path for path in self._checkout.files() if not (root / path).is_symlink()]

    def files_before(self) -> Sequence[str]:
        return self._checkout.files_before()

    def candidates(self) -> Sequence[str]:
        return list(filter(is_kernel_source, self._checkout.files()))

    def head(self, path: str) -> str | None:
        return self._checkout.read(path)

    def before(self, path: str) -> str | None:
        return self._checkout.read_base(path)

    def hunks(self, path: str) -> tuple[Hunk, ...]:
        return hunks(self._checkout.patch(path))
