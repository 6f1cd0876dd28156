"""The files of a project that a candidate needs, as bytes: what travels to a GPU elsewhere.

Sent are what the source includes, what the workload names, and of a whole program the folder it is
run in. Headers of its repository that lie outside the project travel with it, each where it lies to
the others. Inputs are not sent: they are made from a seed where they are used.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import ConfigError, RunnerError
from optimizer.model import Kind, Workload
from runners.flags import repository
from runners.header_digest import beyond, included
from runners.interfaces import Job
from runners.removal import TemporaryFolder

MOST_BYTES = 32 << 20
MOST_FILES = 2000
# Zip files know no earlier moment; a fixed one gives equal files equal bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Parcel:
    """Files of a project, zipped; `digest` identifies them and is empty when there are none.

    `root` is where in them the project is.
    """

    digest: str
    data: bytes
    root: str = "."


def parcel(job: Job) -> Parcel:
    """Return what a job needs of its project besides the sources that it carries.

    Raise `ConfigError` when that is more than is sent.
    """
    work = job.workload
    top = Path(work.root).resolve()
    paths, outside = set(_named(work, top)), set[Path]()
    whole = work.kind is Kind.PROGRAM
    folders = [(top / folder).resolve() for folder in work.build.include]
    texts = {one.source: (top / one.path).parent for one in (job.kernel, job.baseline)}
    around = repository(top) or top
    for file in ((top / name).resolve() for name in work.build.sources):
        if file.is_file() and file.is_relative_to(around):
            texts[file.read_bytes().decode(errors="surrogateescape")] = file.parent
            (paths if file.is_relative_to(top) else outside).add(file)
    for text, own in texts.items():
        headers, opaque = included(text, [own, *folders])
        paths.update(map(Path, headers))
        outside.update(beyond(headers, top))
        whole = whole or opaque
    if whole:
        paths.update(_all(top))
    inside = {path for path in paths if path.is_relative_to(top) and path.is_file()}
    sent = sorted(
        {path for path in inside if _open(path, top, around)}
        | {path for path in outside if _open(path, top, repository(top) or top.parent)}
    )
    states = ((path, path.stat()) for path in sent)
    base = Path(os.path.commonpath([top, *(path.parent for path in sent)]))
    return _packed(base, top, tuple((path, one.st_size, one.st_mtime_ns) for path, one in states))


def unpack(parcel: Parcel, base: Path) -> Path:
    """Return a folder with a parcel's files, made anew unless it is there already.

    Raise `RunnerError` for a parcel that is not what its digest says, or a full disk.
    """
    folder = base / (parcel.digest or "empty")
    if folder.is_dir():
        return folder
    if parcel.digest and hashlib.sha256(parcel.data).hexdigest() != parcel.digest:
        raise RunnerError("a project's files arrived damaged")
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryFolder(dir=base) as made:
            fresh = Path(made) / "project"
            fresh.mkdir(mode=0o700)
            if parcel.digest:
                _extract(parcel.data, fresh)
            try:
                fresh.rename(folder)
            except OSError:  # another worker of this host was faster
                if not folder.is_dir():
                    raise
    except (OSError, zipfile.BadZipFile) as error:
        raise RunnerError(f"a project's files cannot be unpacked in {base}: {error}") from error
    return folder


def _extract(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
            raise RunnerError("a project's files are larger than what is sent")
        packed.extractall(folder)  # which keeps every name below the folder


def projects_folder() -> Path:
    """Return where this user's workers of this host unpack projects.

    One place for all: the same path gives the same machine code, whatever names its own file.
    """
    folder = Path(tempfile.gettempdir()) / f"optiml-projects-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or folder.is_symlink() or state.st_mode & 0o022:
        raise RunnerError(f"{folder} is not this user's alone", "remove it")
    return folder


def _open(path: Path, top: Path, around: Path) -> bool:
    """Tell whether a file may leave this host: its repository's own, and nothing hidden.

    A link of a stranger's checkout may point at a key of this host, or at `.git/config` with its
    token, and what is sent is shown to the stranger's program.
    """
    found = path.resolve()
    inside = next((folder for folder in (top, around) if found.is_relative_to(folder)), None)
    return inside is not None and not any(
        part.startswith(".") for part in found.relative_to(inside).parts
    )


def _named(workload: Workload, top: Path) -> Iterator[Path]:
    """Yield the files that a workload speaks of, and the modules beside those that are Python."""
    names = [workload.reference.partition(":")[0]] if workload.reference else []
    for argument in workload.arguments:
        kind, _, rest = argument.init.partition(":")
        if kind in {"file", "python"}:
            names.append(rest.partition(":")[0] if kind == "python" else rest)
    for name in names:
        file = (top / name).resolve()
        yield file
        if file.suffix == ".py":
            yield from (one.resolve() for one in file.parent.glob("*.py"))


@functools.lru_cache(maxsize=64)
def _packed(base: Path, top: Path, files: tuple[tuple[Path, int, int], ...]) -> Parcel:
    if not files:
        return Parcel("", b"")
    total = sum(size for _, size, _ in files)
    if total > MOST_BYTES or len(files) > MOST_FILES:
        largest = max(files, key=lambda file: file[1])[0]
        raise ConfigError(
            f"the project at {top} is too large to be sent to other hosts: {len(files)} files, "
            f"{total >> 20} MiB, the largest {largest.relative_to(base)}",
            f"keep the program in a folder of under {MOST_BYTES >> 20} MiB, and make inputs there",
        )
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, _, _ in files:
            entry = zipfile.ZipInfo(path.relative_to(base).as_posix(), _EPOCH)
            entry.external_attr = (0o700 if os.access(path, os.X_OK) else 0o600) << 16
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
        if base != top:  # a repository, too: elsewhere no header outside the project is read
            packed.writestr(zipfile.ZipInfo(".git", _EPOCH), b"")
    data = written.getvalue()
    return Parcel(hashlib.sha256(data).hexdigest(), data, top.relative_to(base).as_posix())


def _all(top: Path) -> Iterator[Path]:
    """Yield the files below a folder, hidden ones left out, to one more than is sent."""
    count = 0
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(folder, name)
                count += 1
                if count > MOST_FILES:
                    return
