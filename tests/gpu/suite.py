"""The GPU suite: `python -m tests.gpu.suite [--most SECONDS] [--seed N] [--all | --redteam]`.

In eight minutes, or those of `--most`: of what is alike, what the seed chooses (`tests.gpu.budget` says
what, and what each part is expected to take). `--all`: everything, `--redteam`: the whole red team and nothing
else, both without a limit but the one given.

With several GPUs, what is not timed runs side by side, each part on GPUs of its own. With one, the parts
that mostly start processes, compile and wait for what hangs come first, side by side. What is timed, takes
all of a GPU's memory or hangs it comes behind that, alone. The red team is last, with the time that is left:
it keeps several processes busy by itself, and many that open a GPU at once hold each other up in the driver.
What it is judging when the time is over is given up, and counts as left out. A test that may run beside others is marked `beside`; every other test of tests/gpu is
alone, new files too. Lines come as they are printed, in front of each the part it belongs to; at the end
stands a table and whatever failed, also after Ctrl-C or a SIGTERM: what was seen until then.

Exit status: 0 when all that was chosen ran and passed, 1 when anything failed, did not end or ran
nothing, 3 when nothing failed but the time did not suffice, 2 for bad arguments, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from xml.etree import ElementTree as ET

from tests.gpu.budget import EXPECTED, LEFT_OUT, MOST_SECONDS, ends, forecast

ROOT = Path(__file__).parents[2]
BESIDE, ALONE = "gpu and beside", "gpu and not beside"
PROGRAMS = (
    "tests/gpu/test_bad_input.py",
    "tests/gpu/test_capture.py",
    "tests/gpu/test_plainer.py",
    "tests/gpu/test_program.py",
)
# Where one test hangs, pytest-timeout ends it; where that is not installed, its part ends.
TEST_SECONDS, ALL_SECONDS = 300, 3600
# A part begins no test when its time is over, and is stopped when the last one takes this long. The
# end of the whole is kept: what the last part has less is what a last test takes.
LAST_TEST_SECONDS, KEPT_BACK = 45.0, 20.0
NOTHING_CHOSEN = 5  # pytest's exit status
Say = Callable[[str], None]
_TOLD = re.compile(r"\b(PASSED|FAILED|ERROR|SKIPPED)\b|^ *[0-9.]+ (ok|BAD) ")


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
    told: Counter[str] = field(default_factory=Counter)
    unseen: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> int:
        """Return how many tests were not begun, or not in full, for want of time."""
        return sum(count for why, count in self.reasons.items() if LEFT_OUT in why)

    def hear(self, line: str) -> None:
        """Count what a line tells: all there is of a part that ends without a report."""
        found = _TOLD.search(line)
        if found:
            self.told[found[1] or found[2]] += 1

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
                *(f"--ignore={path}" for path in PROGRAMS),
            ),
        ),
        Part("programs", PROGRAMS, BESIDE, second),
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
        self._begun = self._ended = time.monotonic()
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
                    self.result.hear(line)
                    self._say(f"[{self.result.part.name}] {line}")
        self._ended = time.monotonic()

    def stop(self) -> Result:
        """End it now, and return what it did until then."""
        self.kill()
        self.result.words.append("it was stopped")
        self._reader.join(5)
        self.result.seconds = time.monotonic() - self._begun
        read(self.result, self._results)
        return self.result

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
        # Others that run beside it may have been waited for first.
        over = time.monotonic() if self._reader.is_alive() else self._ended
        result.seconds = over - self._begun
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
    """Count a part's tests from pytest's report; without one by what it printed."""
    if not file.is_file():
        result.passed = result.told["PASSED"]
        result.failed = result.told["FAILED"] + result.told["ERROR"]
        result.skipped = result.told["SKIPPED"]
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
            result.unseen += [name] if LEFT_OUT in why else []
        else:
            result.passed += 1


class Stopped(Exception):  # noqa: N818 - not an error
    """Ctrl-C, with what became of the parts until then."""

    def __init__(self, results: list[Result]) -> None:
        super().__init__()
        self.results = results


def run(parts: Sequence[Part], folder: Path, until: float, say: Say) -> list[Result]:
    """Run parts side by side; on Ctrl-C end all of them and raise `Stopped`."""
    running: list[Running] = []
    try:
        for part in parts:
            results = folder / f"{part.name.replace(' ', '-')}.xml"
            running.append(Running(part, command(part, results), results, say))
        return [one.wait(until) for one in running]
    except KeyboardInterrupt:
        raise Stopped([one.stop() for one in running]) from None
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
        lines += [f"  left out: {name}" for name in one.unseen]
        if one.told["ok"] or one.told["BAD"]:
            lines.append(f"  {one.part.name}: {one.told['ok']} as wanted, {one.told['BAD']} not")
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
    expected = f"(expected {EXPECTED[one.part.name]} s)" if one.part.name in EXPECTED else ""
    return f"{one.part.name:10} {counts} {one.seconds:6.0f} s {expected} {how}".rstrip()


def _arguments(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser("scripts/gpu-test", description="The tests that need an NVIDIA GPU.")
    parser.add_argument("--most", type=float, metavar="SECONDS", help=f"default {MOST_SECONDS}")
    parser.add_argument("--seed", type=int, help="what of many is tried; by default the day's")
    whole = parser.add_mutually_exclusive_group()
    whole.add_argument("--all", action="store_true", help="everything, without a limit")
    whole.add_argument(
        "--redteam",
        action="store_true",
        help="all of the red team and nothing else, without a limit",
    )
    return parser.parse_args(arguments)


def _whole(asked: Namespace) -> bool:
    return bool(asked.all or asked.redteam)


def _names(group: Sequence[Part]) -> tuple[str, ...]:
    return tuple(part.name for part in group)


def turns(gpus: Sequence[str], asked: Namespace, seed: int) -> list[tuple[tuple[Part, ...], float]]:
    """Return what runs side by side, turn by turn, and by which second each turn ends."""
    beside, alone = plan(gpus)
    groups = [beside, alone] if len(gpus) > 1 else [beside[1:], alone, beside[:1]]
    if asked.redteam:
        groups = [(replace(beside[0], gpus=tuple(gpus)),)]
    most = asked.most or (ALL_SECONDS if _whole(asked) else MOST_SECONDS)
    until = ends([_names(group) for group in groups], max(most - KEPT_BACK, most / 2))
    if not _whole(asked):
        sample = ("--gpu-sample", str(seed))
        groups = [
            tuple(replace(part, options=(*part.options, *sample)) for part in group)
            for group in groups
        ]
    return list(zip(groups, until, strict=True))


def main(arguments: Sequence[str]) -> int:
    """Run all turns and say what came of them."""
    try:
        asked = _arguments(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    lock = threading.Lock()
    begun = time.monotonic()

    def say(text: str) -> None:
        with lock:
            sys.stdout.write(f"{time.monotonic() - begun:6.1f} {text}\n")
            sys.stdout.flush()

    gpus = visible(os.environ.get("CUDA_VISIBLE_DEVICES"))  # noqa: TID251 - as CUDA reads it
    seed = int(time.time() // 86400) if asked.seed is None else asked.seed
    planned = turns(gpus, asked, seed)
    if _whole(asked):
        say(f"{len(gpus)} GPU, {'the red team' if asked.redteam else 'everything'}")
    else:
        say(f"{len(gpus)} GPU, what seed {seed} chooses (--seed {seed} repeats it)")
        say(forecast([_names(group) for group, _ in planned], asked.most or MOST_SECONDS))
    results: list[Result] = []
    status = None
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-test-") as name:
            for group, end in planned:
                left = max(1.0, begun + end - time.monotonic())
                limited = tuple(
                    replace(one, options=(*one.options, f"--gpu-seconds={left:.0f}"))
                    for one in group
                )
                say(f"{', '.join(_names(group))}: until {end:.0f} s")
                results += run(limited, Path(name), begun + end + LAST_TEST_SECONDS, say)
    except Stopped as stopped:
        results += stopped.results
        status = 130
    except KeyboardInterrupt:
        status = 130
    sys.stdout.write(f"{table(results, time.monotonic() - begun)}\n")
    left_out = sum(one.left_out for one in results)
    if left_out:
        sys.stdout.write(f"{left_out} tests were left out for want of time: see --most\n")
    if status is not None:
        return status
    if not all(one.fine for one in results) or not any(one.passed for one in results):
        return 1
    return 3 if left_out else 0


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _as_interrupt)
    signal.signal(signal.SIGINT, _as_interrupt)  # a background job of a shell ignores it
    sys.exit(main(sys.argv[1:]))
