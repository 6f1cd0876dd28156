"""What a compiler that failed says: about the source, or about the machine it runs on."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from runners import build_advice, diagnostics, joined
from runners.artifact import Failure
from runners.compile_order import Order
from runners.fault import Fault
from runners.sandbox import Finished

# With more room than this on the disk it was the sandbox's own small /tmp that was full.
_ROOM_BYTES = 512 << 20
_TOO_MUCH = {
    "memory": "ran out of memory or was killed",
    "processes": "started too many processes",
    "disk": "wrote too much",
    "files": "wrote too many files",
    "output": "printed too much",
}
_OUT_OF_ROOM = r"bad_alloc|out of memory|File size limit|File too large|No space left on device"
_FULL = r"No space left on device"
# Messages that are about this machine and not about the source, and what to do.
_HOST_TROUBLES = (
    (_FULL, "RunnerError", "the disk is full", "free some disk space"),
    (
        r"(?:gcc|g\+\+|cc1plus)[^\n]*(?:[Nn]o such file or directory$|not found)|find compiler",
        "NoDeviceError",
        "nvcc finds no host compiler",
        "install g++",
    ),
    (
        r"cannot find -l(?:cudart|cudadevrt)",
        "NoDeviceError",
        "the CUDA runtime library is missing",
        "install the CUDA runtime (the wheel nvidia-cuda-runtime) beside nvcc",
    ),
    (
        r"unsupported GNU version",
        "NoDeviceError",
        "this nvcc does not support the machine's g++",
        "install an older g++ or a newer CUDA toolkit",
    ),
)


def failure_of(order: Order, done: Finished, printed: str, free_bytes: int) -> Failure:
    """Return why a source did not compile. Raise `Fault` where this machine is in the way.

    `printed` is what the compiler said, `free_bytes` the room on the disk.
    """
    for pattern, kind, message, remedy in _HOST_TROUBLES:
        if pattern == _FULL and free_bytes > _ROOM_BYTES:
            continue  # what is compiled filled it
        if re.search(pattern, printed, re.MULTILINE):
            raise Fault(kind, message, remedy)  # type: ignore[arg-type]
    if done.timed_out:
        log = f"the compiler did not finish in {done.seconds:.0f} s"
        return Failure(log, timed_out=True, seconds=done.seconds)
    if done.limit in _TOO_MUCH:
        return Failure(f"the compiler {_TOO_MUCH[done.limit]}", seconds=done.seconds)
    found = diagnostics.parse(printed)
    log = diagnostics.render(found, order.source, order.name, printed)
    several = joined.has_several(order.source)
    helps = build_advice.advice(printed, order.root, several=several)
    log += f"\nwhat helps: {helps}" if helps else ""
    if done.code < 0 or re.search(_OUT_OF_ROOM, printed):
        log = f"the compiler ran out of memory or was killed\n{log}"
    return Failure(log, found, seconds=done.seconds)


def unwritable(folder: Path, error: OSError) -> Fault:
    """Return the fault of a folder that cannot be written to."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Fault("RunnerError", f"no space left in {folder}", "free some disk space")
    return Fault("RunnerError", f"cannot write to {folder}: {error.strerror}")
