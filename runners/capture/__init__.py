"""Workloads from real launches: a library injected into a program takes kernels' arguments down.

It is C++ of ours, shipped as source and built once with the host's compiler; it declares the part
of the driver's and CUPTI's interfaces it needs, so that no CUDA header is wanted.
"""

from __future__ import annotations

from pathlib import Path

from runners import native

SOURCES = Path(__file__).parent
# The program may bring another C++ library than the one we were built with.
_LINK = ("-static-libstdc++", "-static-libgcc", "-Wl,--version-script={folder}/exports.map")


def library(cache: Path) -> Path:
    """Return the built library, building it into `cache` when it is not there yet.

    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    return native.built(SOURCES, "optiml-capture", cache, "launches are captured", _LINK)
