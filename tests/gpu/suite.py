"""The whole GPU suite: `python -m tests.gpu.suite [--most SECONDS]`.

With several GPUs, what is not timed runs side by side, each part on GPUs of its own; with one, part
by part, for processes that take turns on a GPU take much longer than one after the other. What is
timed, takes all of a GPU's memory or hangs it comes behind that, alone. A test that may run beside
others is marked `beside`; every other test of tests/gpu is alone, new files too. Lines come as they are
printed, in front of each the part it belongs to; at the end stands a table and whatever failed.

Exit status: 0 when all that ran passed and something ran, 1 when anything failed, did not end in
time or ran nothing, 2 for bad arguments, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
BESIDE, ALONE = "gpu and beside", "gpu and not beside"
# Where one test hangs, pytest-timeout ends it; where that is not installed, its part ends.
TEST_SECONDS, MOST_SECONDS = 300, 2400
NOTHING_CHOSEN = 5  # pytest's exit status
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """Tests that one process runs: files or folders, an expression of marks, GPUs it sees."""

    name: str
    paths: tuple[str, ...]
    marks: str
    gpus: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(slots=True)
class Result:
    """What became of a part."""

    part: Part
    status: int = -1
    seconds: float = 0.0
    passed: int = 0
    skipped: int = 0
    failed: int = 0
    words: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Tell whether nothing failed; a part that holds no test is no failure."""
        return self.status in {0, NOTHING_CHOSEN} and not self.failed


def visible(listed: str | None, command: Sequence[str] = ("nvidia-smi", "-L")) -> tuple[str, ...]:
    """Return the GPUs to use, as CUDA_VISIBLE_DEVICES (`listed`) or the driver names them."""
    if listed is not None:
        return tuple(word.strip() for word in listed.split(",") if word.strip())
    try:
        printed = subprocess.run(
            list(command), capture_output=True, text=True, check=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(str(n) for n, _ in enumerate(x for x in printed.splitlines() if "GPU" in x))


def plan(gpus: Sequence[str]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return what runs side by side, and what runs alone behind it.

    With several GPUs each part has its own, and the red team, which takes longest, what is left.
    """
    all_of_them = tuple(gpus) or ("0",)
    last, second = all_of_them[-1:], all_of_them[-2:-1] or all_of_them[-1:]
    rest = all_of_them[:-2] or all_of_them[:1]
    beside = (
        # Its outcomes are printed as they come: nothing else tells how far it is.
        Part("red team", ("tests/gpu/test_redteam.py",), BESIDE, rest, ("-s",)),
        Part("attacks", ("tests/gpu/test_attacks.py",), BESIDE, last),
        Part(
            "verdicts",
            ("tests/gpu",),
            BESIDE,
            second,
            (
                "--ignore=tests/gpu/test_redteam.py",
                "--ignore=tests/gpu/test_attacks.py",
                "--ignore=tests/gpu/test_bad_input.py",
            ),
        ),
        Part("bad input", ("tests/gpu/test_bad_input.py",), BESIDE, second),
    )
    return beside, (Part("alone", ("tests/gpu",), ALONE, all_of_them[:1]),)


def command(part: Part, results: Path, python: str = sys.executable) -> list[str]:
    """Return the pytest command of a part."""
    line = [python, "-m", "pytest", "-v", "--tb=short", "-m", part.marks]
    line += ["-c", "scripts/gpu-test.ini", "--rootdir", ".", "-p", "no:cacheprovider"]
    if _has_timeouts(python):
        line += ["-o", f"timeout={TEST_SECONDS}"]
    return [*line, f"--junitxml={results}", *part.options, *part.paths]


def _has_timeouts(python: str) -> bool:
    asked = [python, "-c", "import pytest_timeout"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


class Running:
    """A part's process, whose lines are passed on as they come."""

    def __init__(self, part: Part, line: Sequence[str], results: Path, say: Say) -> None:
        self.result = Result(part)
        self._results, self._say = results, say
        self._begun = time.monotonic()
        surroundings = {**os.environ, "PYTHONUNBUFFERED": "1"}  # noqa: TID251 - for a child
        if part.gpus:
            surroundings["CUDA_VISIBLE_DEVICES"] = ",".join(part.gpus)
        self._process = subprocess.Popen(
            list(line),
            cwd=ROOT,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as printed:
            for text in printed:
                line = text.rstrip()
                if line:
                    self._say(f"[{self.result.part.name}] {line}")

    def wait(self, until: float) -> Result:
        """Wait for its end, end it when it is late, and return what became of it."""
        result = self.result
        try:
            result.status = self._process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            result.status = 124
            result.words.append("it did not end in time and was stopped")
        self._reader.join(5)
        result.seconds = time.monotonic() - self._begun
        read(result, self._results)
        return result

    def kill(self) -> None:
        """End the process and whatever it started in its session."""
        for number in (signal.SIGINT, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                continue
            except (ProcessLookupError, PermissionError):
                return


def read(result: Result, file: Path) -> None:
    """Count a part's tests from pytest's report; without one nothing is counted."""
    if not file.is_file():
        if result.status == 0:
            result.status = 1
            result.words.append("pytest wrote no report")
        return
    for case in ET.parse(file).getroot().iter("testcase"):  # noqa: S314 - our own pytest wrote it
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        result.slowest.append((float(case.get("time") or 0.0), name))
        bad = [one for one in case if one.tag in {"failure", "error"}]
        skip = case.find("skipped")
        if bad:
            result.failed += 1
            result.words.append(f"{name}: {' '.join((bad[0].get('message') or '').split())[:500]}")
        elif skip is not None:
            result.skipped += 1
            why = " ".join((skip.get("message") or "").split())[:200]
            result.reasons[why] = result.reasons.get(why, 0) + 1
        else:
            result.passed += 1


def run(parts: Sequence[Part], folder: Path, until: float, say: Say) -> list[Result]:
    """Run parts side by side; end all of them on Ctrl-C."""
    running: list[Running] = []
    try:
        for part in parts:
            results = folder / f"{part.name.replace(' ', '-')}.xml"
            running.append(Running(part, command(part, results), results, say))
        return [one.wait(until) for one in running]
    except BaseException:
        for one in running:
            one.kill()
        raise


def table(results: Sequence[Result], seconds: float) -> str:
    """Return the summary: a line a part, what was slow, why tests were skipped, what failed."""
    lines = ["", *map(_row, results)]
    slow = sorted((pair for one in results for pair in one.slowest), reverse=True)[:8]
    lines += [f"  slow: {seconds:5.1f} s {name}" for seconds, name in slow]
    for one in results:
        lines += [f"  skipped {n}: {why}" for why, n in one.reasons.items()]
    for one in results:
        lines += [f"  FAILED {one.part.name}: {words}" for words in one.words]
    counted = [
        sum(getattr(one, what) for one in results) for what in ("passed", "failed", "skipped")
    ]
    lines.append(
        f"{counted[0]} passed, {counted[1]} failed, {counted[2]} skipped in {seconds:.0f} s"
    )
    return "\n".join(lines)


def _row(one: Result) -> str:
    how = "" if one.fine else f"FAILED (exit {one.status})"
    counts = f"{one.passed:4} passed {one.failed:3} failed {one.skipped:3} skipped"
    return f"{one.part.name:10} {counts} {one.seconds:6.0f} s  {how}".rstrip()


def main(arguments: Sequence[str]) -> int:
    """Run both phases and say what came of them."""
    most = float(MOST_SECONDS)
    if arguments:
        if len(arguments) != 2 or arguments[0] != "--most" or not arguments[1].isdigit():
            sys.stderr.write(f"{__doc__}\n")
            return 2
        most = float(arguments[1])
    lock = threading.Lock()
    begun = time.monotonic()

    def say(text: str) -> None:
        with lock:
            sys.stdout.write(f"{time.monotonic() - begun:6.1f} {text}\n")
            sys.stdout.flush()

    gpus = visible(os.environ.get("CUDA_VISIBLE_DEVICES"))  # noqa: TID251 - as CUDA reads it
    beside, alone = plan(gpus)
    results: list[Result] = []
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-test-") as name:
            turns = [beside] if len(gpus) > 1 else [(part,) for part in beside]
            for turn in turns:
                say(f"{len(gpus)} GPU: {', '.join(part.name for part in turn)}")
                results += run(turn, Path(name), begun + most, say)
            say("alone: what is timed")
            results += run(alone, Path(name), begun + most, say)
    except KeyboardInterrupt:
        return 130
    sys.stdout.write(f"{table(results, time.monotonic() - begun)}\n")
    return 0 if all(one.fine for one in results) and any(one.passed for one in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
