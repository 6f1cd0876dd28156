"""Find nvcc and what it can compile for, wherever it was installed from. Stdlib only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from runners.clean_names import require_tool
from runners.fault import Fault

# First CUDA release that knows an architecture, and the last one: CUDA release notes, "Deprecated
# and dropped features", and `nvcc --list-gpu-arch` of 13.0.
_FIRST = {
    50: (6, 5), 52: (6, 5), 53: (6, 5), 60: (8, 0), 61: (8, 0), 62: (8, 0), 70: (9, 0), 72: (9, 2),
    75: (10, 0), 80: (11, 0), 86: (11, 1), 87: (11, 4), 88: (13, 0), 89: (11, 8), 90: (11, 8),
    100: (12, 8), 101: (12, 8), 103: (12, 9), 110: (13, 0), 120: (12, 8), 121: (12, 9),
}  # fmt: skip
_LAST = dict.fromkeys((50, 52, 53, 60, 61, 62, 70, 72, 101), (12, 9))
_MISSING = (
    "install the CUDA toolkit, or `pip install 'optiml-bot[nvcc]'`, or name nvcc with "
    "OPTIML_NVCC or CUDA_HOME"
)


@dataclass(frozen=True, slots=True)
class Toolchain:
    """An nvcc with the flags its installation needs, and the disassembler if there is one.

    `folders` are what a sandbox must show for it to run; `libraries` holds libcudart.so.
    """

    nvcc: Path
    version: tuple[int, int]
    flags: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    libraries: Path | None = None
    nvdisasm: Path | None = None

    @property
    def name(self) -> str:
        """Return `nvcc 13.0`."""
        return f"nvcc {self.version[0]}.{self.version[1]}"

    def require(self, sm: int) -> None:
        """Raise `Fault` saying what to install if this nvcc cannot compile for a GPU."""
        first, last = _FIRST.get(sm), _LAST.get(sm, (1000, 0))
        if first is not None and first <= self.version <= last:
            return
        if first is None and _lists(str(self.nvcc), sm):
            return
        if first is not None and self.version < first:
            remedy = f"install CUDA ≥ {first[0]}.{first[1]}"
        elif first is not None:
            remedy = f"install CUDA ≤ {last[0]}.{last[1]}"
        else:
            remedy = "install a newer CUDA toolkit"
        raise Fault("NoDeviceError", f"{self.name} does not know sm_{sm}", remedy)


def find_toolchain(
    nvcc: str | None = None, cuda_home: str | None = None, search: Sequence[Path] | None = None
) -> Toolchain:
    """Return the first toolkit found: the one named, PATH, /usr/local/cuda, or Python wheels.

    `search` lists the site-packages folders to look for wheels in, by default this process's.
    Raise `Fault` when there is none or the one named does not run.
    """
    folders = [Path(entry) for entry in sys.path] if search is None else search
    if nvcc is not None:
        found = shutil.which(nvcc)
        if found is None:
            raise Fault("NoDeviceError", f"there is no nvcc at {nvcc}", _MISSING)
        return _toolchain(Path(found))
    places = [Path(cuda_home) / "bin/nvcc"] if cuda_home else []
    on_path = shutil.which("nvcc")
    places += [Path(on_path)] if on_path else []
    places += [Path("/usr/local/cuda/bin/nvcc"), *sorted(Path("/opt").glob("cuda*/bin/nvcc"))]
    for folder in folders:
        places += sorted(folder.glob("nvidia/cu[0-9]*/bin/nvcc"), reverse=True)
        places.append(folder / "nvidia/cuda_nvcc/bin/nvcc")
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return _toolchain(place)
    raise Fault("NoDeviceError", "there is no CUDA compiler (nvcc) on this machine", _MISSING)


def _toolchain(nvcc: Path) -> Toolchain:
    require_tool(nvcc)
    version = _version(nvcc)
    real = _real(nvcc)
    require_tool(real)
    top = real.parent.parent
    flags: list[str] = []
    folders = [top]
    if top.name == "cuda_nvcc" and top.parent.name == "nvidia":  # CUDA 11 and 12 as wheels
        for part in ("cuda_runtime", "cuda_cccl", "curand", "cublas", "cusparse", "cufft"):
            folder = top.parent / part
            if (folder / "include").is_dir():
                flags += ["-I", str(folder / "include")]
                folders.append(folder)
    libraries = _libraries(folders)
    if libraries is not None:
        flags += ["-L", str(libraries), "-Xlinker", "-rpath", "-Xlinker", str(libraries)]
    disassembler = next(
        (p for p in (top / "bin/nvdisasm", *_beside(top)) if p.is_file()), None
    ) or _which("nvdisasm")
    if disassembler is not None:
        folders.append(disassembler.resolve().parent)
    return Toolchain(
        real if real.is_file() else nvcc,
        version,
        tuple(flags),
        tuple(folders),
        libraries,
        disassembler,
    )


def _version(nvcc: Path) -> tuple[int, int]:
    try:
        printed = subprocess.run(
            [str(nvcc), "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Fault("NoDeviceError", f"{nvcc} does not run: {error}", _MISSING) from error
    found = re.search(r"release (\d+)\.(\d+)", printed)
    if found is None:
        raise Fault("NoDeviceError", f"{nvcc} does not say its version", _MISSING)
    return int(found[1]), int(found[2])


def _real(nvcc: Path) -> Path:
    """Return the nvcc behind links and behind a wrapper script, by what it says of itself."""
    try:
        said = subprocess.run(
            [str(nvcc), "--dryrun", "-E", "-x", "cu", os.devnull],
            capture_output=True, text=True, timeout=30, check=False,
        ).stderr  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        said = ""
    found = re.search(r"^#\$ _HERE_=(.+)$", said, re.MULTILINE)
    return (Path(found[1]) / "nvcc").resolve() if found else nvcc.resolve()


def _libraries(folders: Sequence[Path]) -> Path | None:
    for folder in folders:
        for name in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
            if list((folder / name).glob("libcudart.so*")):
                return folder / name
    return None


def _beside(top: Path) -> list[Path]:
    return [
        top.parent / "cuda_nvdisasm/bin/nvdisasm",
        *sorted(Path("/usr/local").glob("cuda*/bin/nvdisasm")),
    ]


def _which(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


@lru_cache(maxsize=64)
def _lists(nvcc: str, sm: int) -> bool:
    """Ask nvcc itself about an architecture that is newer than this file."""
    try:
        printed = subprocess.run(
            [nvcc, "--list-gpu-arch"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return f"compute_{sm}" in printed.split()
