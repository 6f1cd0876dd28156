"""Contents of captured launches, as the worker reads them.

`init: {capture: DIR:KERNEL:ARGUMENT}` names a folder below the project's root and, by number, a
kernel and one of its arguments in the folder's `capture.json`; the case variable `launch` says
which of its launches. A capture may come from anywhere: every number, name and size is checked
before it is used, contents are read no further than they are said to be long, and have to have
the digest that is their name.

The worker stands alone, so this needs the standard library and numpy; `runners.capture.manifest`
holds the whole file to its schema.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.fault import Fault

FILE = "capture.json"
WORD = "capture"
LAUNCH = "launch"  # the case variable
CHUNK = 4 << 20
MOST_FILE_BYTES = 32 << 20
MOST_BYTES = 16 << 30
# Of the memory available an argument may take this share, or so much in any case.
_SHARE, _ALWAYS = 0.5, 64 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_INIT = re.compile(r"capture:(?P<folder>[^\0:]{1,400}):(?P<kernel>\d{1,4}):(?P<argument>\d{1,4})")

Bytes = npt.NDArray[np.uint8]


class CaptureError(Fault):
    """A capture cannot be used: what is wrong with it, in which file."""

    def __init__(self, message: str, remedy: str = "capture the launches again") -> None:
        super().__init__("ConfigError", message, remedy)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an argument's contents are: a folder below the root, a kernel, an argument."""

    folder: str
    kernel: int
    argument: int

    @property
    def init(self) -> str:
        """Return the text that names it in a workload."""
        return f"{WORD}:{self.folder}:{self.kernel}:{self.argument}"


def place(init: str) -> Place | None:
    """Return what an `init` names; None when it is of another kind. Raises `CaptureError`."""
    if init.partition(":")[0] != WORD:
        return None
    found = _INIT.fullmatch(init)
    if found is None:
        raise CaptureError(
            f"{init!r} names no capture", "write {capture: FOLDER:KERNEL:ARGUMENT}, with numbers"
        )
    return Place(found["folder"], int(found["kernel"]), int(found["argument"]))


def contents(root: Path, init: str, case: Mapping[str, float], count: int, size: int) -> Bytes:
    """Return what an argument held before a launch: `count` values of `size` bytes.

    A case of another size than the launch had gets what there is, over and over.
    """
    found = _argument(root, init, case)
    data = _read(_folder(root, init), found, "before", count * size)
    if len(data) == count * size:
        return data
    whole = len(data) // size * size
    if not whole:
        raise CaptureError(f"{init}: {len(data)} bytes hold no value of {size}")
    # Whole values, so that none is put together from two.
    repeated = np.resize(data[:whole].view(f"V{size}"), count)
    return np.ascontiguousarray(repeated).view(np.uint8).reshape(-1)


def expected(root: Path, init: str, case: Mapping[str, float], nbytes: int) -> Bytes | None:
    """Return what an argument held after a launch; None when that is not known.

    It is not where values were replaced, and for another size than the launch had.
    """
    found = _argument(root, init, case)
    if found.get("after") is None or nbytes > _size(found):
        return None
    return _read(_folder(root, init), found, "after", nbytes)


def _folder(root: Path, init: str) -> Path:
    found = place(init)
    if found is None:
        raise CaptureError(f"{init!r} names no capture")
    top = root.resolve()
    folder = (top / found.folder).resolve()
    if not folder.is_relative_to(top):
        raise CaptureError(f"{found.folder} leads out of the project", "keep captures inside it")
    return folder


def load(folder: Path) -> Any:
    """Return a capture's file as JSON, unchecked. Raises `CaptureError`."""
    path = folder / FILE
    try:
        found = path.lstat()
        return _loaded(str(path), found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise CaptureError(f"{path}: {error.strerror}") from error


@functools.lru_cache(maxsize=4)
def _loaded(path: str, _stamp: int, _size: int) -> Any:
    data = _file(Path(path), MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise CaptureError(f"{path} has more than {MOST_FILE_BYTES >> 20} MiB")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{path} is not JSON: {error}") from error


def _file(path: Path, most: int) -> bytes:
    """Return an ordinary file's bytes, no more than `most`; nothing is followed or waited for.

    A pipe would be read for ever, and a link may lead to a device that never ends. Raises
    `OSError` and `CaptureError`.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise CaptureError(f"{path} is no ordinary file")
        return stream.read(most)


def _argument(root: Path, init: str, case: Mapping[str, float]) -> Mapping[str, Any]:
    """Return an argument of the launch that a case means."""
    named = place(init)
    value = case.get(LAUNCH, 0)
    if named is None or not float(value).is_integer() or value < 0:
        raise CaptureError(f"{init} has no launch number {value:g}")
    at = load(_folder(root, init))
    for key, number in (("kernels", named.kernel), ("launches", int(value))):
        at = _element(at, key, number, init)
    found = _element(at, "arguments", named.argument, init)
    if not isinstance(found, dict) or found.get("is") != "pointer":
        raise CaptureError(f"{init}: that argument is no pointer")
    return found


def _element(at: Any, key: str, number: int, init: str) -> Any:
    listed = at.get(key) if isinstance(at, dict) else None
    if not isinstance(listed, list) or number >= len(listed):
        raise CaptureError(f"{init}: the capture has no number {number} among its {key}")
    return listed[number]


def _size(argument: Mapping[str, Any]) -> int:
    size = argument.get("size")
    if type(size) is not int or not 0 < size <= MOST_BYTES:
        raise CaptureError(f"an argument has the size {str(size)[:40]}")
    return size


def _read(folder: Path, argument: Mapping[str, Any], which: str, most: int) -> Bytes:
    """Put contents together from their chunks, as many bytes as are wanted."""
    size, listed = _size(argument), argument.get(which)
    if not isinstance(listed, list) or len(listed) != -(-size // CHUNK):
        raise CaptureError(f"an argument of {size} bytes has a wrong list of chunks")
    _require_room(min(size, most))
    out = np.empty(min(size, most), np.uint8)
    for number in range(-(-len(out) // CHUNK)):
        start = number * CHUNK
        data = chunk(folder, listed[number], min(CHUNK, size - start))
        out[start : start + CHUNK] = data[: len(out) - start]
    return out


def _require_room(nbytes: int) -> None:
    """Raise `CaptureError` where contents would take what others need.

    Chunks may be equal, and packed: a few bytes of file may stand for as many as may be said.
    """
    free = _available()
    if free is not None and nbytes > max(_ALWAYS, free * _SHARE):
        raise CaptureError(
            f"an argument has {nbytes >> 20} MiB, and {free >> 20} MiB of memory are available",
            "capture with a lower --limit",
        )


def _available() -> int | None:
    """Return how many bytes of host memory can be had without swapping; None if unknown."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) << 10 if found else None


def chunk(folder: Path, digest: Any, size: int) -> Bytes:
    """Return a chunk's bytes. Raises `CaptureError` when they are not what the digest says."""
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise CaptureError(f"{str(digest)[:80]!r} is no digest")
    base = folder / "chunks" / digest[:2] / digest
    for path, packed in ((base.with_suffix(".z"), True), (base, False)):
        try:
            data = _file(path, 2 * CHUNK)
        except OSError:
            continue
        if packed:
            data = _unpacked(data, size)
        if len(data) != size or hashlib.sha256(data).hexdigest() != digest:
            raise CaptureError(f"{path.name} does not hold what its name says")
        return np.frombuffer(data, np.uint8)
    raise CaptureError(f"the chunk {digest} is missing")


def _unpacked(data: bytes, size: int) -> bytes:
    """Unpack no more than a chunk is said to hold, whatever is in the file."""
    machine = zlib.decompressobj()
    try:
        out = machine.decompress(data, size + 1)
    except zlib.error as error:
        raise CaptureError(f"a chunk cannot be unpacked: {error}") from error
    return out
