"""Kernels of CUDA text, compiled by g++ for the emulation; each text is compiled once a machine."""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from runners.fault import Fault
from runners.toolchain import find_toolchain

HERE = Path(__file__).parent
COMPILER = shutil.which("g++")
FLAGS = [
    "-std=c++17",
    "-O2",
    "-fno-gnu-unique",
    "-ffp-contract=fast",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-w",
    "-fPIC",
    "-fsanitize=alignment",
    "-fsanitize-undefined-trap-on-error",
]
# What is not emulated, and the words for it.
_MISSING = (
    (r"\basm\b", "inline PTX"),
    (r"#\s*include\s*<mma\.h>|\bwmma\b", "tensor cores"),
    (r"__cluster_dims__|\bthis_cluster\b", "thread block clusters"),
    (r"#\s*include\s*<cub/", "CUB"),
    (r"#\s*include\s*<thrust/", "Thrust"),
    (r"#\s*include\s*<(?:cuda/|nv/)|\bcuda::", "libcu++"),
    (r"\btex[12]D|cudaTextureObject_t|\bsurf[12]D", "textures"),
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DYNAMIC = re.compile(
    r"extern\s+__shared__\s+((?:__align__|alignas)\s*\([^)]*\)\s*)?([^;\[\]]+?)\b(\w+)\s*\[\s*\]\s*;"
)


class NotEmulatedError(Exception):
    """A text asks for what the emulation has not got, or does not compile there."""


def missing(text: str) -> str | None:
    """Return what a text uses that is not emulated; None if nothing is seen."""
    plain = _COMMENT.sub(" ", text)
    return next((words for pattern, words in _MISSING if re.search(pattern, plain)), None)


@functools.cache
def cuda_headers() -> Path | None:
    """Return the folder of CUDA's own headers; None where there is none."""
    try:
        folders = find_toolchain().folders
    except Fault:
        return None
    every = [folder / "include" for folder in folders]
    every += [one for folder in folders for one in folder.glob("targets/*/include")]
    return next((one for one in every if (one / "cuda_fp16.h").is_file()), None)


@functools.cache
def _machine_flags() -> tuple[str, ...]:
    info = Path("/proc/cpuinfo")
    words = set(info.read_text().split()) if info.is_file() else set()
    able = {"avx2": "-mavx2", "fma": "-mfma", "bmi2": "-mbmi2", "f16c": "-mf16c"}
    dialect = ("-mtls-dialect=gnu2",) if os.uname().machine == "x86_64" else ()
    return (*(flag for word, flag in able.items() if word in words), *dialect)


@functools.cache
def cache() -> Path:
    """Return the folder in which compiled texts stay."""
    folder = Path(tempfile.gettempdir()) / f"optiml-emulation-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that `make` has filled; other processes wait until it has."""
    folder = cache() / name
    done = folder / ".done"
    if done.exists():
        return folder
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def _compiled(*words: str | Path) -> None:
    headers = cuda_headers()
    if COMPILER is None or headers is None:
        raise NotEmulatedError("g++ and CUDA's headers are needed")
    command = [COMPILER, *FLAGS, *_machine_flags(), "-isystem", str(headers), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise NotEmulatedError("g++: " + (errors or [done.stderr[-300:]])[0].strip()[-300:])


@functools.cache
def _texts() -> dict[str, str]:
    names = [p.name for p in HERE.iterdir() if p.suffix in {".h", ".cpp"}]
    shims = [f"shims/{p.relative_to(HERE / 'shims')}" for p in (HERE / "shims").rglob("*.h")]
    return {name: (HERE / name).read_text() for name in sorted(names + shims)}


@functools.cache
def _version() -> str:
    return _digest(*_texts().values(), *FLAGS, *_machine_flags())


@functools.cache
def _headers() -> Path:
    """Return the folder of the headers, the largest compiled ahead."""

    def make(folder: Path) -> None:
        for name, text in _texts().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        _compiled("-x", "c++-header", folder / "device.h")
        _compiled("-shared", "-Wl,-Bsymbolic", "-o", folder / "runtime.so", folder / "runtime.cpp")

    return once(f"headers-{_version()}", make)


@functools.cache
def runtime() -> ctypes.CDLL:
    """Load what runs blocks, for all kernels of this process."""
    found = ctypes.CDLL(str(_headers() / "runtime.so"), mode=ctypes.RTLD_GLOBAL)
    found.emu_words.restype = ctypes.c_char_p
    return found


def translated(text: str, symbol: str) -> str:
    """Return C++ for a CUDA text, with a function that launches one of its kernels.

    >>> "(float*)emu_dynamic" in translated("extern __shared__ float s[];", "k")
    True
    """

    def dynamic(match: re.Match[str]) -> str:
        kind, name = match[2].strip(), match[3]
        before = text[: match.start()]
        if before.count("{") == before.count("}"):
            return f"\n#define {name} (({kind}*)emu_dynamic)\n"
        return f"{kind}* const {name} = ({kind}*)emu_dynamic;"

    text = _COMMENT.sub(lambda m: "\n" * m[0].count("\n") or " ", text)
    body = _DYNAMIC.sub(dynamic, text)
    body = re.sub(r"\bstatic\s+__shared__|__shared__\s+static\b", "__shared__", body)
    body = re.sub(
        r"__shared__\s+alignas\s*(\([^)]*\))", r"__shared__ __attribute__((aligned\1))", body
    )
    # What a module keeps is looked up by its name.
    body = re.sub(r"\bstatic\s+(__device__|__constant__)(?=[^({;=]*[;=\[{])", r"\1", body)
    body = re.sub(r"\b(__device__|__constant__)\s+static(?=[^({;=]*[;=\[{])", r"\1", body)
    if "cuda_fp16.h" in body:
        body = f"typedef __half half; typedef __half2 half2;\n{body}"
    return (
        f"{body}\n"
        'extern "C" int emu_entry(const char* a, const unsigned* g, const unsigned* b, size_t s,'
        " unsigned seed, unsigned poison, double limit)"
        f" {{ return emu_launch(&{symbol}, a, g, b, s, seed, poison, limit); }}\n"
    )


def library(text: str, symbol: str) -> Path:
    """Compile one kernel of a CUDA text; return the path of the shared object.

    Raises `NotEmulatedError`.
    """
    lacking = missing(text)
    if lacking:
        raise NotEmulatedError(f"cannot be emulated: {lacking}")

    def make(folder: Path) -> None:
        source = folder / "k.cpp"
        source.write_text(translated(text, symbol))
        headers = _headers()
        shims = ("-I", headers / "shims")
        _compiled(
            *shims,
            "-shared",
            "-Wl,-Bsymbolic",
            "-include",
            headers / "device.h",
            "-o",
            folder / "k.so",
            source,
        )

    return once(f"k-{_digest(_version(), symbol, text)}", make) / "k.so"
