"""Compile what the dispatcher did not: jobs read from a file, and the oracle's own variants."""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runners.fault import Fault
from runners.spec import Json

_KEPT: dict[str, Json] = {}
_SUFFIX = {"kernel": ("cubin", ".cubin"), "entry": ("shared", ".so"), "program": ("program", "")}


def compiled(text: str, job: Json, sm: int, scratch: Path) -> Json:
    """Return the artifact of a source under a job's build settings, built once.

    Without `path` in it, it did not compile, and `log` says why.
    """
    key = hashlib.sha256(f"{text}\0{job['workload'].get('build')}\0{sm}".encode()).hexdigest()[:24]
    if key not in _KEPT:
        _KEPT[key] = _compile(text, job, sm, scratch / key)
    return _KEPT[key]


def _compile(text: str, job: Json, sm: int, folder: Path) -> Json:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    work = job["workload"]
    build = work.get("build") or {}
    root = Path(str(work.get("root") or ".")).resolve()
    kind, suffix = _SUFFIX[str(work["kind"])]
    folder.mkdir(parents=True, exist_ok=True)
    path = str(job["kernel"].get("path") or "")
    source, target = folder / (Path(path).name or "kernel.cu"), folder / f"built{suffix}"
    source.write_text(text)
    command = [nvcc, f"-arch=sm_{sm}", *build.get("flags", ()), "-o", str(target), str(source)]
    command += [f"-I{(root / path).parent}", *(f"-I{root / i}" for i in build.get("include", ()))]
    if kind == "cubin":
        command.append("-cubin")
    elif kind == "shared":
        command += ["-shared", "-Xcompiler", "-fPIC", "-cudart=shared"]
    else:
        command.append("-cudart=shared")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except OSError as error:
        raise Fault(
            "NoDeviceError", "nvcc is not installed here", "install the CUDA toolkit"
        ) from error
    except subprocess.TimeoutExpired:
        return {"log": "the compiler did not finish in 300 s"}
    log = f"{done.stdout}{done.stderr}".strip()
    if done.returncode != 0:
        return {"log": log}
    image = target.read_bytes()
    symbols = {_plain(name): name for name in functions(image, dynamic=kind == "shared")}
    code = hashlib.sha256(image).hexdigest()
    return {
        "path": str(target),
        "kind": kind,
        "symbols": symbols,
        "resources": {},
        "instructions": {},
        "machine_code": code,
        "log": log,
    }


def functions(image: bytes, *, dynamic: bool) -> Iterator[str]:
    """Yield the global functions in a 64-bit ELF file's symbol table (System V ABI, chapter 4)."""
    if image[:5] != b"\x7fELF\x02":
        return
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, offset + n * size) for n in range(count)]
    for section in sections:
        if section[1] != (11 if dynamic else 2):
            continue
        strings = sections[section[6]]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index = struct.unpack_from("<IBBH", image, at)
            if info & 15 == 2 and info >> 4 in {1, 2} and index:
                start = strings[4] + name
                yield image[start : image.index(b"\0", start)].decode(errors="replace")


def _plain(symbol: str) -> str:
    """Return the last name in a mangled symbol.

    >>> _plain("_ZN4math5saxpyEiPf"), _plain("saxpy")
    ('saxpy', 'saxpy')
    """
    at = re.match(r"_ZN?K?", symbol)
    if at is None:
        return symbol
    rest, name = symbol[at.end() :], symbol
    while number := re.match(r"(\d+)", rest):
        length = int(number[1])
        name = rest[number.end() : number.end() + length]
        rest = rest[number.end() + length :]
    return name
