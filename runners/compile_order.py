"""One source to compile, and everything that decides what comes out."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from runners.artifact import ArtifactKind
from runners.clean_names import clean

PTX_SUFFIX = ".altered.ptx"  # of what we made from PTX; a project's sources are CUDA C++
# CuTe's names for WGMMA, TMA and what came after: code for sm_90a, not for sm_90 (PTX ISA, wgmma).
_SPECIFIC = re.compile(r"\bSM(90|1[0-9][0-9])_|\b(warpgroup|wgmma)\w*|/sm(90|1[0-9][0-9])_")


@dataclass(frozen=True, slots=True)
class Beside:
    """A source that is compiled as it is, headers of its own outside of the project, its digest.

    `text` is what it held when the digest was made.
    """

    file: Path
    beyond: tuple[Path, ...]
    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class Order:
    """One source to compile and everything that decides what comes out."""

    source: str
    name: str
    kind: ArtifactKind
    sm: int
    symbol: str
    options: tuple[str, ...]
    root: Path
    headers: str
    library: Path | None = None
    beyond: tuple[Path, ...] = ()
    beside: tuple[Beside, ...] = ()

    @property
    def arch(self) -> str:
        """Return `90`, or `90a` where instructions are used that only that very chip has."""
        special = self.library is not None and self.sm >= 90 and _SPECIFIC.search(self.source)
        return f"{self.sm}a" if special else str(self.sm)

    @property
    def key(self) -> str:
        """Return a digest of all of it."""
        parts = [self.source, self.name, self.kind, self.arch, self.symbol, self.options]
        text = json.dumps([*parts, self.headers, *(one.digest for one in self.beside)])
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:24]


def mode(order: Order) -> list[str]:
    """Return nvcc's switches for the kind of file and the GPU."""
    lines = ["-lineinfo", "-Xptxas", "-v"]
    if order.kind == "cubin":
        return ["-cubin", f"-arch=sm_{order.arch}", *lines]
    if order.kind == "ptx":
        return ["-ptx", f"-arch=sm_{order.arch}"]
    # Uncompressed and without PTX, so that the device code can be read out of the result.
    one = ["-gencode", f"arch=compute_{order.arch},code=sm_{order.arch}", "-no-compress"]
    shared = ["-shared", "-Xcompiler", "-fPIC"] if order.kind == "shared" else []
    return [*shared, "-cudart=shared", *one, *lines]


def is_linked(order: Order) -> bool:
    """Return whether host code is linked, not device code alone."""
    return order.kind in {"shared", "program"}


def file_name(path: str) -> str:
    """Return a name for nvcc's input that no shell or switch parser takes for anything else."""
    stem = clean(Path(path or "kernel.cu").name, "kernel")
    return stem if stem.endswith((".cu", PTX_SUFFIX)) else f"{stem}.cu"
