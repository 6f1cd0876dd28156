"""Archives, folders and JSON from somewhere not to be trusted, read within limits.

Nothing is ever unpacked to disk and no name from an archive becomes a path. What does not fit
raises `BundleError`; nothing else escapes, whatever the bytes are.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.orders import BundleError

_END = b"PK\x05\x06"  # APPNOTE.TXT 4.3.16: end of central directory record, 22 bytes
_END64 = b"PK\x06\x07"  # 4.3.15: its ZIP64 locator, 20 bytes before it
_HEADER_BYTES = 46 + 4096  # one entry of the central directory with a generous name and extras
_ENCRYPTED = 0x1
_DEEP = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read: bytes of the archive, of one member, of all, and how many members."""

    archive: int = 32 << 20
    member: int = 32 << 20
    total: int = 64 << 20
    members: int = 65


@dataclass(frozen=True, slots=True)
class TextLimits:
    """How long texts may be, in characters, by the key they stand under; and how many values."""

    usual: int = 4096
    by_key: Mapping[str, int] | None = None
    values: int = 3_000_000

    def of(self, key: str) -> int:
        """Return the most characters a text under a key may have."""
        return (self.by_key or {}).get(key, self.usual)


def members_of_zip(data: bytes, names: re.Pattern[str], limits: Limits) -> dict[str, bytes]:
    """Return an archive's members by name. Every name must match; no name may occur twice."""
    if len(data) > limits.archive:
        raise BundleError(f"the archive is over {limits.archive >> 20} MiB")
    _check_directory(data, limits)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_members(archive, names, limits)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        IndexError,
        OverflowError,
    ) as error:
        raise BundleError(f"the archive cannot be read: {type(error).__name__}") from error


def members_of_folder(folder: Path, names: re.Pattern[str], limits: Limits) -> dict[str, bytes]:
    """Return a folder's files by name, as those of an archive; links are refused, not followed."""
    found: dict[str, bytes] = {}
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) >= limits.members:
                    raise BundleError(f"there are more than {limits.members} files")
                _check_name(entry.name, names, found)
                found[entry.name] = _read_file(entry.path, limits)
                total += len(found[entry.name])
                if total > limits.total:
                    raise BundleError(f"the files are over {limits.total >> 20} MiB in all")
    except OSError as error:
        raise BundleError(f"the folder cannot be read: {error.strerror}") from error
    return found


def json_of(data: bytes, what: str, texts: TextLimits) -> Any:
    """Return parsed JSON in which every figure is finite and no text too long or unprintable.

    Refuse a key that occurs twice, NUL characters, lone surrogates, and nesting beyond 24 levels.
    """
    try:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        _check_value(found, texts)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{what}: {str(error)[:200]}") from error
    return found


def _check_directory(data: bytes, limits: Limits) -> None:
    """Look at the directory's own figures first: `zipfile` would read a million entries."""
    at = len(data) - 22
    if at < 0 or data[at : at + 4] != _END or data[at + 20 :] != b"\0\0":
        raise BundleError("this is no plain zip archive")
    if data[max(0, at - 20) : at].startswith(_END64):
        raise BundleError("the archive is a ZIP64 one, which none of ours is")
    count = int.from_bytes(data[at + 10 : at + 12], "little")
    size = int.from_bytes(data[at + 12 : at + 16], "little")
    if count > limits.members or size > limits.members * _HEADER_BYTES:
        raise BundleError(f"the archive has more than {limits.members} members")


def _read_members(
    archive: zipfile.ZipFile, names: re.Pattern[str], limits: Limits
) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    total = 0
    infos = archive.infolist()
    if len(infos) > limits.members:
        raise BundleError(f"the archive has more than {limits.members} members")
    for info in infos:
        _check_name(info.orig_filename, names, found)
        if info.filename != info.orig_filename or info.flag_bits & _ENCRYPTED:
            raise BundleError("a member is encrypted or has two names")
        if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise BundleError("a member is packed in a way none of ours is")
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
            raise BundleError("a member is no plain file")
        if info.file_size > limits.member:
            raise BundleError(f"a member is over {limits.member >> 20} MiB")
        with archive.open(info) as file:
            found[info.filename] = _read_stream(file, limits)
        total += len(found[info.filename])
        if total > limits.total:
            raise BundleError(f"the archive unpacks to over {limits.total >> 20} MiB")
    return found


def _read_stream(file: Any, limits: Limits) -> bytes:
    data: bytes = file.read(limits.member + 1)  # what the directory says of the size proves nothing
    if len(data) > limits.member:
        raise BundleError(f"a member is over {limits.member >> 20} MiB")
    return data


def _read_file(path: str, limits: Limits) -> bytes:
    # Opening a pipe would wait for a writer, so it is not done without O_NONBLOCK.
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise BundleError("there is something that is no plain file")
        return _read_stream(file, limits)


def _check_name(name: str, names: re.Pattern[str], found: Mapping[str, bytes]) -> None:
    if not names.fullmatch(name):
        raise BundleError("there is a file no bundle holds")
    if name in found:
        raise BundleError("a name occurs twice")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no figure")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a figure is too large")
    return value


def _check_value(found: Any, texts: TextLimits) -> None:
    left = texts.values
    waiting: list[tuple[Any, str, int]] = [(found, "", 0)]
    while waiting:
        value, key, depth = waiting.pop()
        left -= 1
        if left < 0 or depth > _DEEP:
            raise ValueError("too many values, or nested too deep")
        if isinstance(value, dict):
            for name, inner in value.items():
                _check_text(name, 1000)
                waiting.append((inner, name, depth + 1))
        elif isinstance(value, list):
            waiting.extend((inner, key, depth + 1) for inner in value)
        elif isinstance(value, str):
            _check_text(value, texts.of(key))
        elif isinstance(value, int) and abs(value) > 1 << 63:
            raise ValueError("a figure is too large")


def _check_text(text: str, limit: int) -> None:
    if len(text) > limit:
        raise ValueError(f"a text of {len(text)} characters where {limit} are allowed")
    if "\0" in text:
        raise ValueError("a text holds a NUL character")
    text.encode()  # UnicodeEncodeError, a ValueError, for half a surrogate pair
