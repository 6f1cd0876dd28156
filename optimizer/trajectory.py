"""A trajectory as JSON lines, both ways, and as a log that grows while the search runs.

The first line is a header (format, workload, environment), then comes one line per step, and last
a footer with what was decided. Every line is written whole and flushed, so a killed run leaves at
most one torn last line: reading drops it, and resuming cuts it off.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from optimizer.dialogue import NOTHING_USED, Usage
from optimizer.errors import ConfigError, RunnerError
from optimizer.model import Environment, Measurement, Step, Trajectory, Verdict, Workload

FORMAT = 1
MAX_FILE_BYTES = 512 << 20
MAX_LINE_BYTES = 16 << 20
MAX_STEPS = 100_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Header:
    """What is known before the first step."""

    workload: Workload
    environment: Environment
    optiml_trajectory: int = FORMAT


@dataclass(frozen=True, slots=True)
class Footer:
    """What was decided after the last step."""

    stopped: str
    winner: int | None = None
    confirmation: Verdict | None = None
    aa: Measurement | None = None
    notes: tuple[str, ...] = ()
    spent: Usage = NOTHING_USED


_HEADER: TypeAdapter[Header] = TypeAdapter(Header)
_STEP: TypeAdapter[Step] = TypeAdapter(Step)
_FOOTER: TypeAdapter[Footer] = TypeAdapter(Footer)


class TrajectoryLog:
    """A trajectory file being written: `append` each step, then `finish`. A context manager.

    Raise `RunnerError` when the disk is full; what was written before stays readable.
    """

    def __init__(self, path: Path, header: Header, *, keep: int = 0) -> None:
        """Begin a new file, replacing one that is there; `keep` leaves its first bytes."""
        self._path = path
        self._end = keep
        self._file = FileIO(path, "r+" if keep else "w")
        if keep:
            self._file.truncate(keep)
            self._file.seek(keep)
        else:
            try:
                self._write(_HEADER.dump_json(header))
            except BaseException:
                self._file.close()
                raise

    @classmethod
    def resume(cls, path: Path) -> tuple[Self, Trajectory]:
        """Reopen a file to append to it: cut off a torn line and the footer, keep the steps."""
        found, end = _scan(path.read_bytes() if _readable(path) else b"", path)
        return cls(path, Header(found.workload, found.environment), keep=end), found

    def append(self, step: Step) -> None:
        """Write one step."""
        if not math.isfinite(step.reward) or not math.isfinite(step.prior):
            raise ValueError(f"step {step.number} has a reward or prior that is no number")
        self._write(_step_line(step))

    def finish(self, footer: Footer) -> None:
        """Write what was decided and close the file."""
        self._write(_FOOTER.dump_json(footer))
        self.close()

    def close(self) -> None:
        """Close the file; without a footer it can be resumed."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write(self, line: bytes) -> None:
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # leave no torn line in front of a later one
                self._file.truncate(self._end)
                self._file.seek(self._end)
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise RunnerError(
                    f"no space left to write {self._path}",
                    "free some disk and run again with --resume; every step so far is kept",
                ) from error
            raise
        self._end += len(line) + 1


def write_trajectory(trajectory: Trajectory, path: Path) -> None:
    """Write a whole trajectory."""
    with TrajectoryLog(path, Header(trajectory.workload, trajectory.environment)) as log:
        for step in trajectory.steps:
            log.append(step)
        log.finish(
            Footer(
                trajectory.stopped,
                trajectory.winner,
                trajectory.confirmation,
                trajectory.aa,
                trajectory.notes,
                trajectory.spent,
            )
        )


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory; one whose run was cut short has `stopped` empty and no winner.

    Raise `ConfigError` naming the line for anything but a torn last line.
    """
    data = path.read_bytes() if _readable(path) else b""
    return _scan(data, path)[0]


def parse_trajectory(data: bytes, name: str) -> Trajectory:
    """Read a trajectory from memory as `read_trajectory` does; `name` is for its errors."""
    return _scan(data, Path(name))[0]


def _readable(path: Path) -> bool:
    if not path.is_file():
        raise ConfigError(f"there is no file {path}", "give the trajectory.jsonl of an earlier run")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is over {MAX_FILE_BYTES >> 20} MiB, no trajectory is")
    return True


def _scan(data: bytes, path: Path) -> tuple[Trajectory, int]:
    """Return the trajectory and the offset behind its last step."""
    end = data.find(b"\n") + 1
    if not end:
        raise ConfigError(f"{path} has no complete header", "it is not a trajectory.jsonl")
    header: Header = _line(_HEADER, data[: end - 1], path, 1)
    if header.optiml_trajectory != FORMAT:
        raise ConfigError(
            f"{path} has format {header.optiml_trajectory}; this version reads {FORMAT}",
            "read it with the version of OptiML that wrote it",
        )
    steps: list[Step] = []
    footer = Footer("")
    lines = data[end:].split(b"\n")
    torn = lines.pop()  # empty when the file ends as it should
    for number, line in enumerate(lines, start=2):
        if line.startswith(b'{"stopped"'):
            footer = _line(_FOOTER, line, path, number)
            if number != len(lines) + 1 or torn:
                raise ConfigError(f"{path}:{number}: something follows the footer")
            break
        steps.append(_step(line, path, number, len(steps)))
        end += len(line) + 1
    if footer.winner is not None and not 0 <= footer.winner < len(steps):
        raise ConfigError(f"{path}: the winner {footer.winner} is not among {len(steps)} steps")
    found = Trajectory(
        header.workload,
        header.environment,
        tuple(steps),
        footer.winner,
        footer.confirmation,
        footer.aa,
        footer.stopped,
        footer.notes,
        footer.spent,
    )
    return found, end


def _step(line: bytes, path: Path, number: int, index: int) -> Step:
    if index >= MAX_STEPS:
        raise ConfigError(f"{path}:{number}: more than {MAX_STEPS} steps")
    step: Step = _line(_STEP, line, path, number, restore=True)
    if step.number != index:
        raise ConfigError(f"{path}:{number}: step {step.number} stands where {index} belongs")
    if (step.parent is None) != (index == 0) or not -1 < (step.parent or 0) < max(index, 1):
        raise ConfigError(f"{path}:{number}: step {index} cannot have parent {step.parent}")
    return step


def _step_line(step: Step) -> bytes:
    """Return a step's line. The edit's source is that of the kernel, so it is stored once."""
    line: bytes = _STEP.dump_json(step)
    if step.edit is None or step.edit.source != step.kernel.source:
        return line
    data = json.loads(line)
    del data["edit"]["source"]
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


def _line(
    adapter: TypeAdapter[T], line: bytes, path: Path, number: int, *, restore: bool = False
) -> T:
    if len(line) > MAX_LINE_BYTES:
        raise ConfigError(f"{path}:{number}: a line of {len(line)} bytes")
    try:
        if restore:
            line = _restore(line)
        return adapter.validate_json(line, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, found["loc"])) or "the line"
        remedy = "give the trajectory.jsonl of an earlier run" if number == 1 else ""
        raise ConfigError(f"{path}:{number}: {where}: {found['msg']}", remedy) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}:{number}: not JSON: {error}") from error


def _restore(line: bytes) -> bytes:
    data = json.loads(line)
    if not isinstance(data, dict):
        return line
    edit, kernel = data.get("edit"), data.get("kernel")
    if isinstance(edit, dict) and isinstance(kernel, dict) and "source" not in edit:
        edit["source"] = kernel.get("source")
        return json.dumps(data).encode()
    return line
