"""The classes of stage 1: what a kernel's time is bound by."""

from __future__ import annotations

from enum import StrEnum


class Bound(StrEnum):
    """What keeps a kernel from being faster."""

    MEMORY = "memory"  # DRAM, L2 or L1 (shared memory included) is busy
    COMPUTE = "compute"  # an arithmetic pipe or the instruction issue is busy
    LATENCY = "latency"  # nothing is busy: warps wait, or there are too few of them
    LAUNCH = "launch"  # over before the GPU is filled: starting it costs more
