"""What both sides' device code is: its PTX, what it can do, and how much it keeps.

PTX is asked of a compiler where it is needed, and kept for the few texts that were asked last: an
original is one side of each of its candidates' jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runners import cubin, static_gate
from runners.checks import Report, Wrong
from runners.retained import MOST_BYTES
from runners.spec import JobSpec, Json, Source

MOST_PTX = 4

# A source's PTX for a job; None where it could not be had.
Compile = Callable[[str, Json], str | None]


class DeviceCode:
    """Reads the device code of jobs; keeps what was read last."""

    def __init__(self, compiled: Compile) -> None:
        self._compiled = compiled
        self._ptx: dict[tuple[str, str], str | None] = {}
        self._theirs: dict[tuple[str, bool], frozenset[str]] = {}

    def read(self, text: str, request: Json, key: str) -> str:
        """Return a source's PTX, empty where there is none; the latest few are kept.

        It was compiled before, so that a second attempt may do what a busy machine did not.
        """
        if (key, text) not in self._ptx:
            while len(self._ptx) >= MOST_PTX:
                self._ptx.pop(next(iter(self._ptx)))
            found = self._compiled(text, request["job"])
            if found is None:
                found = self._compiled(text, request["job"])
            self._ptx[key, text] = found
        return self._ptx[key, text] or ""

    def both(self, request: Json, job: JobSpec) -> tuple[str, str]:
        """Return the PTX of a candidate, and that of its original."""
        mine, theirs = (self.read(one.source, request, job.key) for one in sources(job))
        return mine, theirs

    def known(self, request: Json, job: JobSpec) -> bool:
        """Tell whether the PTX of both sides could be had."""
        self.both(request, job)
        return all(self._ptx[job.key, one.source] is not None for one in sources(job))

    def more(self, request: Json, job: JobSpec) -> frozenset[str]:
        """Return what a candidate can do and its original cannot, in words.

        Device code that is not known of one side is compared of neither (`runners.unchecked`).
        """
        read = self.known(request, job)
        mine = self._abilities(job.kernel.source, request, "candidate", job.key, read=read)
        key = (job.key, read)
        if key not in self._theirs:
            theirs = self._abilities(job.baseline.source, request, "baseline", job.key, read=read)
            self._theirs[key] = theirs
        return mine - self._theirs[key]

    def _abilities(
        self, text: str, request: Json, which: str, key: str, *, read: bool
    ) -> frozenset[str]:
        found = static_gate.device(self.read(text, request, key) if read else "")
        path = Path(str(request[which].get("path") or ""))
        if request[which].get("kind") == "shared" and path.is_file():
            found |= static_gate.host(path.read_bytes())
        return found


def sources(job: JobSpec) -> tuple[Source, Source]:
    """Return a candidate's source and its original's."""
    return job.kernel, job.baseline


def keeps_more(request: Json) -> bool:
    """Tell whether a candidate's device code has variables that its original has not."""
    return _kept_bytes(request["candidate"]) > _kept_bytes(request["baseline"])


def follows(request: Json, job: JobSpec) -> bool:
    """Tell whether what a candidate's code keeps may show in calls that follow one another."""
    hosted = job.work.kind == "entry"
    return job.kernel != job.baseline and (hosted or keeps_more(request))


def watchable(request: Json, report: Report) -> None:
    """Refuse variables too large to be read and set back, where the original has none; `Wrong`."""
    mine, theirs = (_kept_bytes(request[which]) for which in ("candidate", "baseline"))
    if mine > MOST_BYTES >= theirs:
        words = f"keeps {mine >> 20} MiB in variables between launches"
        report.add("static gate", words, passed=False, error=None, bound=None)
        raise Wrong(
            "rejected", f"{words}; at most {MOST_BYTES >> 20} MiB can be watched, use an argument"
        )


def _kept_bytes(artifact: Json) -> int:
    """Return the bytes of the variables that an artefact's device code has."""
    cubin_path = str(artifact.get("cubin") or "")
    if artifact.get("kind") == "cubin":
        cubin_path = str(artifact.get("path") or "")
    data = Path(cubin_path).read_bytes() if cubin_path and Path(cubin_path).is_file() else b""
    return sum(size for name, size in cubin.variables(data) if not name.startswith("$"))
