"""A program, a driver and CUPTI of our own: what a capture is tried on where there is no GPU."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from runners import capture
from tests import once
from tests.runners.host_gpu import COMPILER, host_library

HERE = Path(__file__).parent
KERNELS = HERE / "kernels.cu"
# Of two modules: the second has a kernel of the same name with fewer parameters, and another first.
_SINGLE = "kernel _Z5saxpyifPKfPf host_saxpy 0:4 4:4 8:8 16:8"
_OTHER = """
kernel _Z5countPKiPii host_count 0:8 8:8 16:4
kernel _Z5saxpyifPKfPf host_count 0:8
"""
_MODULE = """
kernel _Z5saxpyifPKfPf host_saxpy 0:4 4:4 8:8 16:8
kernel _Z5countPKiPii host_count 0:8 8:8 16:4
kernel _Z6gatherPKfPKiPfi host_gather 0:8 8:8 16:8 24:4
"""


@dataclass(frozen=True, slots=True)
class Program:
    """Where the parts are."""

    folder: Path

    @property
    def cupti(self) -> Path:
        return self.folder / "libcupti.so.13"

    def command(self, how: str, n: int = 1000) -> tuple[str, ...]:
        return (str(self.folder / "app"), str(self.folder / "module"), how, str(n))


def build(folder: Path) -> Program:
    """Compile everything with the host's compiler."""
    common = [str(COMPILER), "-std=c++17", "-O1", "-fPIC"]
    for source, name in (("fake_cuda.cpp", "libcuda.so.1"), ("fake_cupti.cpp", "libcupti.so.13")):
        target = folder / name
        made = [*common, "-shared", f"-Wl,-soname,{name}", "-o", str(target), str(HERE / source)]
        subprocess.run([*made, "-ldl"], check=True)
    for name in ("app", "hostile"):
        app = [*common, "-o", str(folder / name), str(HERE / f"{name}.cpp")]
        subprocess.run([*app, str(folder / "libcuda.so.1"), "-ldl", "-lpthread"], check=True)
    modules(folder, host_library(KERNELS.read_text()))
    return Program(folder)


def modules(folder: Path, kernels: str) -> None:
    """Write the modules that programs load, of kernels compiled for the host."""
    for name, listed in (("module", _MODULE), ("single", _SINGLE), ("other", _OTHER)):
        (folder / name).write_text(f"so {kernels}\n{listed.strip()}\n")


def shared() -> Program:
    """Return the program that all tests of a run share."""
    sources = [*HERE.glob("*.cpp"), KERNELS]
    text = "".join(one.read_text() for one in sorted(sources))
    return Program(once.built("captured program", text, lambda folder: void(build(folder))))


def library_cache() -> Path:
    """Return a folder that holds the library which is injected, built once in a run."""
    return once.built("capture library", "", lambda folder: void(capture.library(folder)))


def void(_: object) -> None:
    """Return nothing, whatever was made."""
