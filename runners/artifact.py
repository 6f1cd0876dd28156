"""What a compilation is asked for and what comes out of it. Stdlib only: the worker imports it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from runners import diagnostics

ArtifactKind = Literal["cubin", "shared", "program", "ptx"]


@dataclass(frozen=True, slots=True)
class Options:
    """A project's compiler flags and include folders; `fast_math` tells that it allows that.

    `library` is a folder of headers outside the project that the user, never a project, named.
    `sources` are files of the project that are linked to a program as they are.
    """

    flags: tuple[str, ...] = ("-O3", "-std=c++17")
    include: tuple[str, ...] = ()
    fast_math: bool = False
    library: Path | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Artifact:
    """What came out of the compiler; `as_json` is its form on the wire.

    `symbols` maps names as written in source to mangled ones. `cubin` is the device code by
    itself. `machine_code` identifies device code, host text and launch.
    """

    path: str
    kind: ArtifactKind
    symbols: dict[str, str]
    resources: dict[str, dict[str, int | None]]
    machine_code: str
    cubin: str
    device_code: str
    instructions: dict[str, int] = field(default_factory=dict)
    log: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the artifact as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a source did not compile, in lines of the source, and whether time ran out."""

    log: str
    errors: tuple[diagnostics.Diagnostic, ...] = ()
    timed_out: bool = False
    seconds: float = 0.0
