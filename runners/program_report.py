"""The interposer's report of one run, parsed as a file that strangers' code could have written.

A report is JSON with the shapes below, plus a data file of raw bytes. Whatever does not fit (size,
types, ranges, offsets outside the data) makes the whole report a `ValueError`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from runners import safe_files

T = TypeVar("T")
Bytes = npt.NDArray[np.uint8]

MAX_REPORT_BYTES = 32 << 20
MAX_DATA_BYTES = 1 << 30
MAX_ENTRIES = 20_000
MAX_TEXT = 4096
VERSION = 1
LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Replay:
    """One launch that was repeated from the same state: µs where it stood, µs of each repeat."""

    ordinal: int
    in_situ_us: float
    samples_us: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """One launch geometry and how much of the kernel's time it took."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    count: int
    total_us: float


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """All launches of one `__global__` instance; `name` is plain, `symbol` mangled."""

    symbol: str
    name: str
    count: int
    timed: int
    total_us: float
    first_us: float
    shapes: tuple[Shape, ...]
    replays: tuple[Replay, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What a copy to the host or a buffer at its end held; `at` is None when nothing was kept."""

    kind: str
    allocation: int
    offset: int
    size: int
    digest: str
    at: int | None
    length: int
    sampled: bool


@dataclass(frozen=True, slots=True)
class Allocation:
    """One allocation and the element types of the kernel parameters that pointed into it."""

    size: int
    kind: str
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class Failure:
    """A CUDA call that failed: which, with what, after launching which kernel."""

    api: str
    code: int
    name: str
    kernel: str


@dataclass(frozen=True, slots=True)
class Report:
    """One run of a program as the interposer saw it."""

    ended: str
    broken: bool
    wall_us: float
    launches: int
    copies: int
    unrecorded: int
    peak_bytes: int
    input_digest: str
    replay_off: str
    notes: tuple[str, ...]
    guards: tuple[str, ...]
    failures: tuple[Failure, ...]
    kernels: tuple[KernelTimes, ...]
    other_us: Mapping[str, float]
    allocations: tuple[Allocation, ...]
    records: tuple[Record, ...]
    refused: int = 0

    def types(self, record: Record) -> frozenset[str]:
        """Return the element types a record's buffer was used with; empty when unknown."""
        if 0 <= record.allocation < len(self.allocations):
            return self.allocations[record.allocation].types
        return frozenset()


def read(path: Path) -> Report:
    """Parse a report file. Raises `ValueError` when it is not one."""
    try:
        text = safe_files.content(path, MAX_REPORT_BYTES)
    except OSError as error:
        message = f"the report cannot be read: {error.strerror}"
        raise ValueError(message) from error
    return parse(text)


def parse(text: bytes) -> Report:
    """Turn a report's bytes into values. Raises `ValueError` on anything that does not fit."""
    try:
        top = json.loads(text)
    except (UnicodeDecodeError, RecursionError) as error:
        message = "the report is not JSON"
        raise ValueError(message) from error
    top = _mapping(top)
    if top.get("version") != VERSION:
        message = "the report is of another version"
        raise ValueError(message)
    return Report(
        ended=_text(top.get("ended")),
        broken=_truth(top.get("broken")),
        wall_us=_number(top.get("wall_us")),
        launches=_count(top.get("launches")),
        copies=_count(top.get("copies")),
        unrecorded=_count(top.get("unrecorded")),
        peak_bytes=_count(top.get("peak_bytes")),
        input_digest=_text(top.get("input_hash")),
        replay_off=_text(top.get("replay_off")),
        notes=_several(top.get("notes"), _text),
        guards=_several(top.get("guards"), _text),
        failures=_several(top.get("failures"), _failure),
        kernels=_several(top.get("kernels"), _kernel),
        other_us={
            _text(name): _number(_mapping(total).get("us"))
            for name, total in _mapping(top.get("other")).items()
        },
        allocations=_several(top.get("allocations"), _allocation),
        records=_several(top.get("records"), _record),
        refused=_count(top.get("refused", 0)),
    )


def data(path: Path) -> Bytes:
    """Read the data file beside a report; empty when there is none or it is too large."""
    try:
        with safe_files.opened(path, MAX_DATA_BYTES) as file:
            return np.fromfile(file, np.uint8, os.fstat(file.fileno()).st_size)
    except OSError:
        return np.zeros(0, np.uint8)


def held(record: Record, stored: Bytes) -> Bytes | None:
    """Return the bytes a record kept, None when it kept none or they are not in the file."""
    if record.at is None or record.at + record.length > stored.size:
        return None
    return stored[record.at : record.at + record.length]


def _several(value: object, each: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        message = "a list is missing or too long"
        raise ValueError(message)
    return tuple(each(item) for item in value)


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > MAX_ENTRIES:
        message = "an object is missing or too large"
        raise ValueError(message)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        message = "a text is missing"
        raise ValueError(message)  # noqa: TRY004 - one error for all that does not fit
    return value[:MAX_TEXT]


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        message = "a truth value is missing"
        raise ValueError(message)  # noqa: TRY004 - as above
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        message = "a number is missing"
        raise ValueError(message)  # noqa: TRY004 - as above
    try:
        number = float(value)
    except OverflowError as error:
        message = "a number is out of range"
        raise ValueError(message) from error
    if not math.isfinite(number) or number < 0:
        message = "a number is out of range"
        raise ValueError(message)
    return number


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        message = "a count is missing or out of range"
        raise ValueError(message)
    return value


def _optional(value: object) -> int | None:
    return None if value == -1 else _count(value)


def _kernel(value: object) -> KernelTimes:
    item = _mapping(value)
    return KernelTimes(
        symbol=_text(item.get("symbol")),
        name=_text(item.get("name")),
        count=_count(item.get("count")),
        timed=_count(item.get("timed")),
        total_us=_number(item.get("total_us")),
        first_us=_number(item.get("first_us")),
        shapes=_several(item.get("geometry"), _shape),
        replays=_several(item.get("replays"), _replay),
    )


def _shape(value: object) -> Shape:
    item = _mapping(value)
    return Shape(
        _several(item.get("grid"), _count),
        _several(item.get("block"), _count),
        _count(item.get("shared")),
        _count(item.get("count")),
        _number(item.get("total_us")),
    )


def _replay(value: object) -> Replay:
    item = _mapping(value)
    return Replay(
        _count(item.get("ordinal")),
        _number(item.get("in_situ_us")),
        _several(item.get("samples_us"), _number),
    )


def _failure(value: object) -> Failure:
    item = _mapping(value)
    return Failure(
        _text(item.get("api")),
        _count(item.get("code")),
        _text(item.get("name")),
        _text(item.get("kernel")),
    )


def _allocation(value: object) -> Allocation:
    item = _mapping(value)
    types = frozenset(_several(item.get("types"), _text))
    return Allocation(_count(item.get("bytes")), _text(item.get("kind")), types)


def _record(value: object) -> Record:
    item = _mapping(value)
    allocation = _optional(item.get("allocation"))
    return Record(
        kind=_text(item.get("kind")),
        allocation=-1 if allocation is None else allocation,
        offset=_count(item.get("offset")),
        size=_count(item.get("bytes")),
        digest=_text(item.get("hash")),
        at=_optional(item.get("at")),
        length=_count(item.get("length")),
        sampled=_truth(item.get("sampled")),
    )
