"""Programs to judge where there is no GPU: one binary, and a CUDA runtime made of host functions."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners import interposer
from tests import once

FAKE = Path(__file__).parents[1] / "data" / "programs" / "fake"
_COMMON = ("g++", "-std=c++17", "-O1", "-fPIC")


def fake_runtime(folder: Path) -> Path:
    """Build the fake runtime into a folder."""
    runtime = folder / "libcudart.so.13"
    made = [*_COMMON, "-shared", "-Wl,-soname,libcudart.so.13", str(FAKE / "cudart.cpp")]
    subprocess.run([*made, "-o", str(runtime)], check=True)
    return runtime


def build(folder: Path) -> Path:
    """Build the fake runtime and the program into a folder; returns the program."""
    runtime = fake_runtime(folder)
    program = folder / "saxpy"
    subprocess.run(
        [*_COMMON, str(FAKE / "saxpy.cpp"), str(runtime), "-o", str(program)], check=True
    )
    return program


def interposed() -> Path:
    """Return the interposer, alone in the folder that it was built into."""

    def make(folder: Path) -> None:
        interposer.library(folder / "cache")

    place = once.built("interposer", "", make)
    (built,) = (place / "cache").iterdir()
    return built


def made(folder: Path) -> Fakes:
    """Build the program and what is injected into it, in a folder below one that tests share.

    Every run links what lies beside the project, and around that folder. In the one that all tests
    share there are thousands of entries by and by.
    """
    own = folder / "own"
    (own / "project").mkdir(parents=True)
    build(own)
    kept = own / "scratch" / "interposer"
    kept.mkdir(parents=True)
    shutil.copy(interposed(), kept)
    return Fakes(own, {})


@dataclass(frozen=True)
class Fakes:
    """The built program under as many names as there are behaviours."""

    folder: Path
    profiles: dict[str, Any]

    def named(self, behaviour: str) -> Path:
        """Return the program under the name that makes it behave so."""
        path = self.folder / f"saxpy-{behaviour}"
        if not path.exists():
            shutil.copy(self.folder / "saxpy", path)
            with path.open("ab") as file:
                file.write(behaviour.encode())  # another program has another digest
        return path

    def request(
        self, baseline: str, candidate: str, effort: str = "screen", **program: Any
    ) -> dict[str, Any]:
        """Return a worker's request that judges one behaviour against another."""
        kept = {"kind": "program", "symbols": {}, "resources": {}, "instructions": {}}
        kept |= {"machine_code": "ab", "log": ""}
        return {
            "id": "1",
            "nonce": "n",
            "job": {
                "effort": effort,
                "seed": 0,
                "device": "cuda:0",
                "workload": {
                    "root": str(self.folder / "project"),
                    "tolerance": {"rtol": 1e-5, "atol": 1e-6},
                    "program": {"runs": [[]], "exit": 0, "stdout": None} | program,
                },
            },
            "candidate": {"path": str(self.named(candidate)), **kept},
            "baseline": {"path": str(self.named(baseline)), **kept},
            "limits": {"seconds": 20.0},
        }

    def context(self) -> dict[str, Any]:
        """Return what the worker hands along."""
        return {
            "scratch": self.folder / "scratch",
            "libraries": [str(self.folder)],
            "profiles": self.profiles,
            "gpu": "fake",
        }
