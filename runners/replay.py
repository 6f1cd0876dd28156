"""Verdicts written down on a GPU and read again where there is none. It never invents a number."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Self

from pydantic import TypeAdapter, ValidationError

from optimizer.errors import ConfigError, RunnerError
from optimizer.interfaces import Underway
from optimizer.model import Status, Verdict, Workload
from optimizer.tried import LONGEST_LOG
from runners.awaited import Awaited
from runners.interfaces import Dispatcher, Expectant, Job
from runners.wire import ForgedResponse, verdict_from_dict, verdict_to_dict

FORMAT = 1
MAX_BYTES = 256 << 20
FLUSH_SECONDS = 1.0
_WORKLOAD: TypeAdapter[Workload] = TypeAdapter(Workload)


@dataclass(frozen=True, slots=True)
class RecordingHeader:
    """Where and when a recording was made. `facts` and `peaks` are the device's.

    `window` is that of the search, which has to be the same to meet the same candidates.
    """

    gpu: str = ""
    driver: str = ""
    toolkit: str = ""
    date: str = ""
    optiml: str = ""
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    peaks: Mapping[str, float] = field(default_factory=dict[str, float])
    window: int = 0
    optiml_recording: int = FORMAT

    @property
    def words(self) -> str:
        """Say where a figure comes from: `recorded on NVIDIA H200, 2026-01-31`."""
        return f"recorded on {self.gpu or 'an unnamed GPU'}, {self.date or 'date unknown'}"


_HEADER: TypeAdapter[RecordingHeader] = TypeAdapter(RecordingHeader)


def key_of(job: Job) -> str:
    """Identify a question: candidate, baseline, workload and effort. The seed does not matter."""
    workload = _WORKLOAD.dump_python(replace(job.workload, root="."), mode="json")
    if not workload["build"]["sources"]:
        del workload["build"]["sources"]  # as recordings have it that are older than this key
    if workload["program"] and workload["program"]["exit"] is None:
        workload["program"]["exit"] = 0  # likewise
    text = json.dumps(workload, sort_keys=True)
    parts = (job.kernel.digest, job.baseline.digest, job.effort.value, text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


class RecordingDispatcher:
    """Passes jobs on and writes down what came back; a context manager.

    Lines are appended as verdicts arrive, so that an interrupted run leaves a valid recording.
    Raise `RunnerError` when it cannot be written.
    """

    def __init__(self, inner: Dispatcher, path: Path, header: RecordingHeader) -> None:
        self._inner = inner
        self._path = path
        self._lock = threading.Lock()
        self._wait = FLUSH_SECONDS if path.suffix == ".gz" else -1.0
        self._flushed = -FLUSH_SECONDS
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = (
                gzip.open(path, "wt", encoding="utf-8")  # noqa: SIM115  closed by close()
                if path.suffix == ".gz"
                else path.open("w", encoding="utf-8")
            )
        except OSError as error:
            raise RunnerError(f"cannot write the recording {path}: {error.strerror}") from error
        self._write(_HEADER.dump_python(header, mode="json"))

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return what the dispatcher behind returns, each written down when it is looked at.

        It is given on as it is written, so that a replay sees the same to the last digit: a figure
        rounded otherwise makes another question to a model, which then has no recorded answer.
        """
        verdicts = self._inner.dispatch(jobs)
        if len(jobs) == 1 and not isinstance(verdicts, Underway):
            return [self._noted(jobs[0], verdicts[0])]
        inner = Awaited.each([(verdicts, place) for place in range(len(jobs))])
        return Awaited(
            len(jobs),
            lambda place: self._noted(jobs[place], inner[place]),
            inner.ready,
            inner.prefer,
            inner.cancel,
        )

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Have the dispatcher behind begin what it can; nothing of it is written down."""
        return isinstance(self._inner, Expectant) and self._inner.expect(jobs)

    def _noted(self, job: Job, verdict: Verdict) -> Verdict:
        slim = _slim(verdict_to_dict(verdict))
        line = {"key": key_of(job), "verdict": slim}
        if verdict.status is not Status.CORRECT:
            line["digest"] = job.kernel.digest
        self._write(line)
        try:
            return verdict_from_dict(slim)
        except ForgedResponse:  # no replay will read it; that is no reason to lose a search
            return verdict

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, separators=(",", ":"), sort_keys=True)
        try:
            with self._lock:
                self._file.write(text + "\n")
                # A flush ends a block of a compressed file, which then grows threefold: once a
                # second at most, and that is what an interrupted run may lose of it.
                if time.monotonic() - self._flushed > self._wait:
                    self._file.flush()
                    self._flushed = time.monotonic()
        except OSError as error:
            remedy = "free some disk space or record elsewhere"
            raise RunnerError(f"the recording {self._path}: {error.strerror}", remedy) from error


class ReplayDispatcher:
    """Answers from a recording. What it has not got is `NOT_RECORDED`, never a guess.

    Raise `ConfigError` when the file is no recording.
    """

    def __init__(self, path: Path) -> None:
        self.header, self._lines = _read(path)
        self.missing = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return the recorded verdict of each job."""
        return [self._verdict(job) for job in jobs]

    def _verdict(self, job: Job) -> Verdict:
        found = self._lines.get(key_of(job))
        if found is None:
            self.missing += 1
            return Verdict(Status.NOT_RECORDED, log="the recording holds no such candidate")
        try:
            return verdict_from_dict(found)
        except ForgedResponse as error:
            raise ConfigError(f"a line of the recording is broken: {error.message}") from error


def _slim(verdict: dict[str, Any]) -> dict[str, Any]:
    """Shorten what replays do not need: digits beyond a nanosecond, long logs, quiet counters."""
    verdict = dict(verdict)
    # A model is told why an edit failed; of one that did not, nobody reads more than a few lines.
    most = 600 if verdict.get("status") == Status.CORRECT.value else LONGEST_LOG
    verdict["log"] = str(verdict.get("log", ""))[:most]
    measurement = verdict.get("measurement")
    if measurement:
        for case in measurement["cases"]:
            for side in ("candidate_us", "baseline_us"):
                case[side] = [round(t, 3) or t for t in case[side]]
    verdict["checks"] = [
        {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in check.items()}
        for check in verdict.get("checks", [])
    ]
    return verdict


def _read(path: Path) -> tuple[RecordingHeader, dict[str, Any]]:
    remedy = "give a file written by `optiml run --record`"
    lines: dict[str, Any] = {}
    try:
        data = _content(path)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{path} unpacks to more than {MAX_BYTES >> 20} MiB", remedy)
        whole, _, torn = data.rpartition(b"\n")
        first, *rest = (data if _is_json(torn) else whole).decode().splitlines() or [""]
        header = _HEADER.validate_json(first, strict=True)
        json.loads(first)["optiml_recording"]  # all else has defaults: an empty object is no header
        if header.optiml_recording != FORMAT:
            raise ConfigError(f"{path} is a recording of another format", remedy)
        for line in rest:
            item = json.loads(line)
            lines[str(item["key"])] = item["verdict"]
    except FileNotFoundError as error:
        raise ConfigError(f"there is no recording {path}", remedy) from error
    except IsADirectoryError as error:
        raise ConfigError(f"{path} is a folder, not a recording", remedy) from error
    except (OSError, zlib.error, ValueError, KeyError, TypeError, ValidationError) as error:
        raise ConfigError(f"{path} is not a recording, or a damaged one", remedy) from error
    return header, lines


def _content(path: Path) -> bytes:
    """Return what a file holds, as far as it goes: of a run that was killed it has no end."""
    found = bytearray()
    packed = path.suffix == ".gz"
    with gzip.open(path) if packed else path.open("rb") as file, contextlib.suppress(EOFError):
        while len(found) <= MAX_BYTES and (part := file.read1(1 << 16)):
            found += part
    return bytes(found)


def _is_json(line: bytes) -> bool:
    """Tell whether a last line was written to its end."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
