"""C++ programs over a small runtime of ours, whose declarations and code are compiled once.

The library's headers and the runtime's threads take longer to compile than what is tested.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import once


def run(
    command: Sequence[str],
    header: str,
    runtime: str,
    program: str,
    folder: Path,
    env: Mapping[str, str] | None = None,
) -> str:
    """Return what a program prints, compiled by `command` behind `header` and linked to `runtime`."""

    def make(place: Path) -> None:
        (place / "runtime.hpp").write_text(header)
        _compile(command, "-x", "c++-header", place / "runtime.hpp")
        (place / "runtime.cpp").write_text(runtime)
        include = place / "runtime.hpp"
        _compile(
            command, "-include", include, "-c", "-o", place / "runtime.o", place / "runtime.cpp"
        )

    ready = once.built("\0".join(command), f"{header}\0{runtime}", make)
    file, made = folder / "program.cpp", folder / "program"
    file.write_text(program)
    _compile(command, "-include", ready / "runtime.hpp", "-o", made, file, ready / "runtime.o")
    done = subprocess.run(
        [str(made)],
        capture_output=True, text=True, check=False, timeout=120,
        env=env,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout


def _compile(command: Sequence[str], *words: str | Path) -> None:
    done = subprocess.run(
        [*command, *map(str, words)], capture_output=True, text=True, check=False, timeout=120
    )
    assert not done.returncode, done.stderr
