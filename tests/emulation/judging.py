"""The whole judge on an emulated device: what is asked of answers, and nothing of speed.

Left out, since there is nothing to ask: compute-sanitizer, buffers that begin elsewhere (a process of
its own on a device), counters, energy. Stages that take times see equal ones.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runners import spec
from runners.building import Building
from runners.judge import Judge
from runners.spec import Json
from tests.emulation import library
from tests.emulation.gpu import EmulatedGpu, marked
from tests.runners.host_gpu import HostOracle

SM = 90
_WAITS = re.compile(r"__sync|__shfl|__ballot|atomic|volatile|__match|__reduce|__any|__all|__ldcg")


class NoSanitizer:
    """Finds nothing."""

    def against(self, *_: object) -> list[Any]:
        """Return no finding."""
        return []

    def examine(self, *_: object) -> list[Any]:
        """Return no finding."""
        return []


class NoAlignment:
    """Moves no buffer."""

    @contextlib.contextmanager
    def begun(self, *_: object) -> Iterator[list[Any]]:
        """Yield nothing that was told."""
        yield []


class EmulatedOracle(HostOracle):
    """Answers in this process, with a device of its own."""

    def _device(self, _number: int) -> EmulatedGpu:
        return EmulatedGpu(by_clock=True)  # what would take long is not asked


class Builds:
    """Compiles for the emulation, and for a device what is read and never run."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._building = Building(SM, scratch)
        self._made: dict[tuple[str, str, bool], Json] = {}

    def close(self) -> None:
        """End what runs the compiler."""
        self._building.close()

    def artifact(self, text: str, job: Json, *, shaken: bool = False) -> Json:
        """Return an artifact, without `path` where CUDA's compiler does not take the text.

        Raises `NotEmulatedError`.
        """
        symbol = str(job["workload"]["symbol"])
        key = (text, symbol, shaken)
        if key not in self._made:
            built = dict(self._building.compiled(text, job))
            if "path" in built:
                image = Path(built["path"]).read_bytes()
                registers = max(
                    (int(r.get("registers") or 0) for r in (built["resources"] or {}).values()),
                    default=0,
                )
                path = self._scratch / f"emulated-{len(self._made)}.cubin"
                terms = {"registers": registers, "shaken": shaken}
                path.write_bytes(marked(image, text, symbol, **terms))
                built["path"] = str(path)
            self._made[key] = built
        return self._made[key]

    def variant(self, text: str, job: Json) -> Json | None:
        """Return a variant of our own making; None where it cannot be had."""
        try:
            built = self.artifact(text, job)
        except library.NotEmulatedError:
            return None
        return built if "path" in built else None

    def shaken(self, text: str, job: Json) -> Json | None:
        """Return a kernel whose threads take turns in an order that a seed gives."""
        if not _WAITS.search(text):
            return None
        return self.artifact(text, job, shaken=True)

    def device_code(self, text: str, job: Json) -> str | None:
        """Return a source's PTX."""
        return self._building.device_code(text, job)


def judge(scratch: Path, builds: Builds) -> Judge:
    """Return a judge of an emulated device."""
    scratch.mkdir(parents=True, exist_ok=True)
    made = Judge(
        EmulatedGpu(),
        0,
        scratch,
        builds.variant,
        shake=builds.shaken,
        device_code=builds.device_code,
    )
    made._oracle = EmulatedOracle(scratch, 0, builds.variant)
    made._sanitizer = NoSanitizer()  # type: ignore[assignment]
    made._alignment = NoAlignment()  # type: ignore[assignment]
    return made


def verdict(judging: Judge, builds: Builds, job: Json, seconds: float) -> Json:
    """Return the verdict on a job.

    Raises `NotEmulatedError`, and `Fault` where the original fails.
    """
    baseline = builds.artifact(job["baseline"]["source"], job)
    candidate = builds.artifact(job["kernel"]["source"], job)
    if "path" not in candidate:
        return {"status": "does not compile", "log": str(candidate.get("log", ""))[-2000:]}
    request = {"job": job, "candidate": candidate, "baseline": baseline, "exhibit": True}
    found, _, _ = judging.verdict(request, spec.parse(job), seconds)
    return found
