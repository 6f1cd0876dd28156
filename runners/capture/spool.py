"""What the injected library wrote during a run, one folder a process, as checked values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from optimizer.errors import RunnerError

MOST_LINE_BYTES = 8 << 20
_Model = TypeVar("_Model", bound=BaseModel)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Blob = Annotated[str, Field(pattern=r"^[0-9a-f]{32}-\d{1,16}$|^$")]
Three = Annotated[list[int], Field(min_length=3, max_length=3)]


class Region(_Section):
    """An allocation: contents before and after the launch by the names of files.

    `cut` tells that it begins at the pointer, because the whole is too large.
    """

    memory: Literal["device", "managed", "pinned", "pool"]
    bytes: int
    cut: bool
    before: Blob
    after: Blob
    trouble: str


class Parameter(_Section):
    """A parameter's place and bytes; `pointers` are rows of byte, region and place in it."""

    offset: int
    bytes: Annotated[str, Field(pattern=r"^([0-9a-f]{2})+$")]
    pointers: list[Three]


class Taken(_Section):
    """A launch that was taken down."""

    symbol: str
    name: str
    ordinal: int
    signature: int
    grid: Three
    block: Three
    shared: int
    regions: list[Region]
    parameters: list[Parameter]


class Kernel(_Section):
    """A kernel's launches, in all and by signature."""

    symbol: str
    name: str
    chosen: bool
    launches: int
    signatures: list[Annotated[list[int], Field(min_length=2, max_length=2)]]


class Refused(_Section):
    """Launches that were not taken down, and why."""

    kernel: str
    why: str
    count: int


class Summary(_Section):
    """Everything one process launched."""

    kernels: list[Kernel]
    refused: list[Refused]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the program."""

    folder: Path
    launches: tuple[Taken, ...]
    summary: Summary

    def blob(self, name: str) -> Path:
        """Return the file that holds contents."""
        return self.folder / name

    def count(self, launch: Taken) -> int:
        """Return how many launches there were like one, but for contents."""
        for kernel in self.summary.kernels:
            if kernel.symbol == launch.symbol:
                counts = {number: count for number, count in kernel.signatures}  # noqa: C416
                return max(1, counts.get(launch.signature, 1))
        return 1


def processes(spool: Path) -> tuple[Process, ...]:
    """Return what every process wrote that used the GPU."""
    found = []
    for folder in sorted(p for p in spool.iterdir() if p.is_dir()):
        summary = folder / "summary.json"
        if not summary.is_file() and not (folder / "launches.jsonl").is_file():
            continue
        said = (
            _checked(Summary, summary.read_bytes(), summary)
            if summary.is_file()
            else Summary(kernels=[], refused=[], notes=[])
        )
        found.append(Process(folder, tuple(_lines(folder / "launches.jsonl")), said))
    return tuple(found)


def _lines(path: Path) -> Iterator[Taken]:
    if not path.is_file():
        return
    with path.open("rb") as stream:
        while line := stream.readline(MOST_LINE_BYTES):
            if not line.endswith(b"\n"):
                return  # the program ended in the middle of it
            yield _checked(Taken, line, path)


def _checked(model: type[_Model], data: bytes, path: Path) -> _Model:
    try:
        return model.model_validate(json.loads(data))
    except (ValueError, ValidationError) as error:
        raise RunnerError(f"{path} is not what a capture writes: {str(error)[:400]}") from error
