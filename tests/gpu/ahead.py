"""Compilers that work ahead of the tests: what a module of tests is given before the first of all."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What a chosen test is called with, by name of the parameter.
Parameters = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Threads to compile in, a folder for it, and what is to be closed behind the last test.

    `sm` is the GPU's compute capability, 90 for 9.0: told `native`, each compiler asks the driver.
    """

    submit: Callable[..., Future[Any]]
    folder: Path
    closing: ExitStack
    sm: int

    def nvcc(self, source: Path, flags: Sequence[str]) -> Future[Path]:
        """Begin to compile a program; its path is the result."""
        return self.submit(self._compiled, source, flags)

    def _compiled(self, source: Path, flags: Sequence[str]) -> Path:
        program = self.folder / source.stem
        line = ["nvcc", f"-arch=sm_{self.sm}", *flags, "-o", str(program), str(source)]
        subprocess.run(line, check=True)
        return program
