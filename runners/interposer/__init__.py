"""The interposer: a library that stands between a program and the CUDA runtime it is linked to.

It is C++ of ours, shipped as source and built once with the host's compiler; it declares the part
of the runtime's interface it needs, so that no CUDA header is wanted.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runners.fault import Fault

SOURCES = Path(__file__).parent
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden")
COMPILERS = ("g++", "c++", "clang++")
BUILD_SECONDS = 120.0


def library(cache: Path) -> Path:
    """Return the built interposer, building it into `cache` when it is not there yet.

    The name holds a digest of sources and flags, so that another version never loads this one.
    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    parts = sorted(SOURCES.glob("*.cpp"))
    text = b"\0".join(p.read_bytes() for p in [*parts, *sorted(SOURCES.glob("*.h"))])
    digest = hashlib.sha256(text + repr(FLAGS).encode()).hexdigest()[:16]
    built = cache / f"optiml-interposer-{digest}.so"
    if built.is_file():
        return built
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        message = "whole programs are measured through a library that needs a C++ compiler"
        raise Fault("ConfigError", message, "install g++ (nvcc needs it too)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        objects = [Path(folder) / f"{part.stem}.o" for part in parts]
        with ThreadPoolExecutor(len(parts)) as pool:
            list(
                pool.map(
                    lambda pair: _run([compiler, *FLAGS, "-c", str(pair[0]), "-o", str(pair[1])]),
                    zip(parts, objects, strict=True),
                )
            )
        linked = Path(folder) / built.name
        _run([compiler, "-shared", *map(str, objects), "-o", str(linked), "-ldl", "-lpthread"])
        linked.replace(built)
    return built


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS
    )
    if done.returncode != 0:
        message = f"the interposer does not build: {done.stderr.strip()[-800:]}"
        raise Fault("ConfigError", message, f"see that {command[0]} compiles C++17 and links")
