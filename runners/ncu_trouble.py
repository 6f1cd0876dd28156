"""Why Nsight Compute brought no counters, in one sentence with what mends it."""

from __future__ import annotations

import re

DENIED = (
    "the driver denies this user the GPU's counters (ERR_NVGPUCTRPERM): an administrator can allow "
    "them with 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in "
    "/etc/modprobe.d/nvidia-profiling.conf and a reboot, a container needs --cap-add=SYS_ADMIN"
)
BUSY = "another profiler holds the GPU's counters: stop it (dcgmi profile --pause)"
MISSING = "Nsight Compute (ncu) is not installed: install the nsight-compute package of CUDA"
UNSEEN = "no kernel was launched under ncu"
# What ncu prints, what it means and what to do; first match wins.
_TROUBLES = (
    (r"ERR_NVGPUCTRPERM|permission to access NVIDIA GPU Performance Counters", DENIED),
    (
        r"not supported on (?:the|this) (?:current )?(?:device|GPU)|Profiling is not supported",
        "this ncu does not support the GPU: install a newer Nsight Compute",
    ),
    (
        r"LibraryNotLoaded|[Ii]ncompatible driver|UnsupportedDriver|driver.{0,9}(too old|mismatch)",
        "ncu and the NVIDIA driver do not fit: install an Nsight Compute no newer than the driver",
    ),
    (
        r"[Pp]rofiler (?:is )?already|another profiler|DCGM|ResourceUnavailable",
        BUSY,
    ),
    (
        r"does not exist or is not an executable|^env: .*[Nn]o such file|: cannot be started",
        "ncu or the program could not be started",
    ),
    (r"No kernels were profiled", UNSEEN),
)


def trouble(printed: str, status: int) -> str:
    """Return in one sentence why ncu brought no counters, with what mends it where we know.

    >>> trouble("==ERROR== The application returned an error code (3).", 3)
    'the program failed under ncu: The application returned an error code (3).'
    """
    for pattern, meaning in _TROUBLES:
        if re.search(pattern, printed, re.MULTILINE):
            return meaning
    errors = re.findall(r"^==ERROR== *(.+)$", printed, re.MULTILINE)
    if errors:
        return f"the program failed under ncu: {errors[0].strip()[:200]}"
    return f"ncu brought no counters (exit status {status})"
