"""The interposer: a library that stands between a program and the CUDA runtime it is linked to.

It is C++ of ours, shipped as source and built once with the host's compiler; it declares the part
of the runtime's interface it needs, so that no CUDA header is wanted.
"""

from __future__ import annotations

from pathlib import Path

from runners import native

SOURCES = Path(__file__).parent


def library(cache: Path) -> Path:
    """Return the built interposer, building it into `cache` when it is not there yet.

    Raises `Fault` (ConfigError) when there is no C++ compiler or it refuses.
    """
    return native.built(SOURCES, "optiml-interposer", cache, "whole programs are measured")
