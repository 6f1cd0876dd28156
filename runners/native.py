"""Shared libraries of ours, shipped as C++ and built once with the host's compiler."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runners.fault import Fault

FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden")
COMPILERS = ("g++", "c++", "clang++")
BUILD_SECONDS = 120.0


def built(folder: Path, name: str, cache: Path, what: str, link: tuple[str, ...] = ()) -> Path:
    """Return the library made of a folder's sources, building it into `cache` if it is not there.

    It is called `NAME-DIGEST.so` by its sources and flags, so that another version never loads
    this one. `what` says what it is for; `link` are flags more, in which `{folder}` is the folder.
    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    parts = sorted(folder.glob("*.cpp"))
    texts = [*parts, *sorted(folder.glob("*.h")), *sorted(folder.glob("*.map"))]
    text = b"\0".join(part.read_bytes() for part in texts)
    digest = hashlib.sha256(text + repr((FLAGS, link)).encode()).hexdigest()[:16]
    target = cache / f"{name}-{digest}.so"
    if target.is_file():
        return target
    compiler = next((found for one in COMPILERS if (found := shutil.which(one))), None)
    if compiler is None:
        message = f"{what} through a library that needs a C++ compiler"
        raise Fault("ConfigError", message, "install g++ (nvcc needs it too)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        objects = [Path(scratch) / f"{part.stem}.o" for part in parts]
        with ThreadPoolExecutor(len(parts)) as pool:
            list(
                pool.map(
                    lambda pair: _run([compiler, *FLAGS, "-c", str(pair[0]), "-o", str(pair[1])]),
                    zip(parts, objects, strict=True),
                )
            )
        linked = Path(scratch) / target.name
        flags = [flag.format(folder=folder) for flag in link]
        made = [*map(str, objects), "-o", str(linked), *flags, "-ldl", "-lpthread"]
        _run([compiler, "-shared", *made])
        linked.replace(target)
    return target


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS
    )
    if done.returncode != 0:
        message = f"a library of ours does not build: {done.stderr.strip()[-800:]}"
        raise Fault("ConfigError", message, f"see that {command[0]} compiles C++17 and links")
