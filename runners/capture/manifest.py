"""`capture.json`: what a capture holds, as strict models. A capture may come from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from optimizer.errors import ConfigError
from runners import captured
from runners.captured import CHUNK, MOST_BYTES, CaptureError

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Chunks = Annotated[list[Digest], Field(max_length=MOST_BYTES // CHUNK)]
Text = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Count = Annotated[int, Field(ge=0, le=2**62)]
Dimension = Annotated[int, Field(ge=1, le=2**31 - 1)]
Dimensions = Annotated[list[Dimension], Field(min_length=3, max_length=3)]
RelativePath = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f/\\][^\x00-\x1f\x7f\\]{0,1023}$")]
MOST_ARGUMENTS = 64


class Section(BaseModel):
    """A mapping with known keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class Value(Section):
    """An argument by value: its bytes in hexadecimal."""

    kind: Literal["value"] = Field("value", alias="is")
    place: Annotated[int, Field(ge=0, le=32 << 10)]
    hex: Annotated[str, Field(pattern=r"^([0-9a-f]{2}){1,4096}$")]

    @property
    def data(self) -> bytes:
        """Return the bytes."""
        return bytes.fromhex(self.hex)


class Pointer(Section):
    """An argument that points into an allocation: `size` bytes from the pointer on are kept.

    `allocation` numbers the launch's allocations, `offset` is the pointer's place in it and
    `whole` its size; `changed` are the first and the last byte (one further) that the launch
    changed. `after` is None where the values are not those of the program.
    """

    kind: Literal["pointer"] = Field("pointer", alias="is")
    place: Annotated[int, Field(ge=0, le=32 << 10)]
    memory: Literal["device", "managed", "pinned", "pool"]
    allocation: Annotated[int, Field(ge=0, le=4096)]
    offset: Count
    whole: Annotated[int, Field(ge=1, le=2**62)]
    size: Annotated[int, Field(ge=1, le=MOST_BYTES)]
    before: Chunks
    after: Chunks | None
    changed: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Pointer:
        chunks = -(-self.size // CHUNK)
        if len(self.before) != chunks or (self.after is not None and len(self.after) != chunks):
            raise ValueError(f"{self.size} bytes are {chunks} chunks")
        if self.offset + self.size > self.whole:
            raise ValueError("it reaches beyond its allocation")
        if self.changed and not 0 <= self.changed[0] < self.changed[1] <= self.size:
            raise ValueError("what changed lies outside of it")
        return self


Argument = Annotated[Value | Pointer, Field(discriminator="kind")]


class Launch(Section):
    """One launch: number `ordinal` of its kernel, `count` launches alike but for contents.

    `repeated` tells that an earlier launch of the capture has the same geometry and scalars.
    """

    ordinal: Count
    count: Annotated[int, Field(ge=1, le=2**62)]
    repeated: bool
    grid: Dimensions
    block: Dimensions
    shared: Annotated[int, Field(ge=0, le=1 << 20)]
    arguments: Annotated[list[Argument], Field(min_length=1, max_length=MOST_ARGUMENTS)]

    @model_validator(mode="after")
    def _block_fits(self) -> Launch:
        if self.block[0] * self.block[1] * self.block[2] > 1024:
            raise ValueError("a block has more than 1024 threads")
        return self


class CapturedKernel(Section):
    """A kernel's launches. `name` is the demangled symbol; `source` is relative to the project."""

    symbol: Text
    name: Text
    source: RelativePath | None = None
    seen: Count
    launches: Annotated[list[Launch], Field(min_length=1, max_length=64)]


class LeftOut(Section):
    """Something that is not in the capture, and why."""

    kernel: Text
    why: Text
    count: Count = 1


class Seen(Section):
    """A kernel that was launched and not chosen."""

    name: Text
    launches: Count


class Capture(Section):
    """The whole file."""

    version: Literal[1]
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    command: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=512)]
    through: Literal["cupti", "preload"]
    randomized: bool
    kernels: Annotated[list[CapturedKernel], Field(max_length=256)]
    left_out: Annotated[list[LeftOut], Field(max_length=4096)] = []
    others: Annotated[list[Seen], Field(max_length=65536)] = []
    notes: Annotated[list[Text], Field(max_length=256)] = []

    def to_json(self) -> str:
        """Return the file's text."""
        return self.model_dump_json(by_alias=True, indent=1) + "\n"


def read(folder: Path) -> Capture:
    """Read and check a capture's file. Raise `ConfigError` that says what is wrong where."""
    path = folder / captured.FILE
    if not path.is_file() or path.is_symlink():
        raise ConfigError(
            f"{folder} holds no {captured.FILE}", "`optiml capture -- ./app` makes a capture"
        )
    try:
        data = captured.load(folder)
        return Capture.model_validate(data)
    except CaptureError as error:
        raise ConfigError(str(error), error.remedy) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ConfigError(
            f"{path}: {where}: {first['msg']}", "capture the launches again"
        ) from error
