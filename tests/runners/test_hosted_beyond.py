"""Entry functions where an index overflows: run in the child, which is told no answers."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any, cast

import numpy as np
import pytest

from runners import beyond, enlarged, overflow
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.entry_process import RemoteSession
from runners.gpu import DeviceError, LaunchError
from runners.launchable import EntryLaunchable
from runners.session import LocalSession
from runners.spec import JobSpec, Json
from tests.runners.host_gpu import COMPILER
from tests.runners.test_beyond import NARROW, NARROW_PTX, ROWS, WIDE_PTX, Pair
from tests.runners.test_many_calls import Wire

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
LIMIT = 2**15


def _wire(pair: Pair, says: Json | None = None) -> Wire:
    bench = Bench(pair.gpu, pair.job.work)
    return Wire(LocalSession(bench, cast("Any", pair.pair), pair.job), says)


def _pair(text: str, failed: str | None = "") -> Pair:
    pair = Pair(text)
    for one in pair.pair:
        cast("Any", one).hosted = True
        cast("Any", one).failed = lambda: failed
    return pair


def _asked(wire: Wire, job: JobSpec) -> beyond.Found:
    changed = enlarged.case(job.work, [], LIMIT)
    assert changed is not None
    out = job.work.arguments[1]
    answer = Answer(out.name, out.type, np.full(8, 77, np.uint8), (None,))
    return RemoteSession(cast("Any", wire), job).beyond(changed, {out.name: answer}, LIMIT)


SHORT = ROWS.replace("size_t at = (size_t)r * width;", "short at = r * width;")
LATE = ROWS.replace("r >= rows", "r >= rows || rows > 1000")


@pytest.mark.parametrize(
    ("text", "failed", "wrong", "unknown"),
    [
        (ROWS, "", "", ""),
        (ROWS, "error 9", "", ""),
        (SHORT, "", "overflows", ""),
        (LATE, "", "overflows", ""),
        (LATE, "error 9", "", "the candidate writes nothing to y: error 9"),
        (LATE, None, "", "the candidate writes nothing to y: a launch may have failed"),
    ],
)
def test_a_pair_is_compared_where_an_index_overflows(
    text: str, failed: str | None, wrong: str, unknown: str
) -> None:
    """Where a launch failed nothing is written, and that is a limit; else it is wrong."""
    pair = _pair(text, failed)
    wire = _wire(pair)
    found = _asked(wire, pair.job)
    assert wrong in found.wrong
    assert bool(found.wrong) is bool(wrong)
    assert found.unknown == unknown
    assert not wire.closed
    assert wire.seconds > beyond.SECONDS
    # No answer goes to where a candidate's host code is.
    assert "77" not in wire.told
    assert set(json.loads(wire.told)) == {"op", "combination", "changed", "limit", "outputs"}


def test_a_kernel_that_writes_nothing_there_is_wrong() -> None:
    """Of a kernel it is known whether it was launched."""
    assert "overflows" in Pair(LATE).found(LIMIT).wrong


def test_the_runtime_s_last_error_is_asked_for() -> None:
    """And where a shared object has a runtime of its own, nothing is known."""
    codes = [9, 0]
    one = object.__new__(EntryLaunchable)
    cast("Any", one)._library = {"cudaGetLastError": lambda: codes.pop(0)}
    assert [one.failed(), one.failed()] == ["error 9", ""]

    class Own:
        def __getitem__(self, name: str) -> None:
            raise AttributeError(name)

    cast("Any", one)._library = Own()
    assert one.failed() is None


FINE: Json = {"wrong": "", "unknown": "", "lost": False}


@pytest.mark.parametrize(
    "says", [{}, {**FINE, "wrong": 7}, {**FINE, "unknown": None}, {"wrong": "", "unknown": ""}]
)
def test_nonsense_from_the_child_is_the_candidate_s_crash(says: Json) -> None:
    pair = _pair(ROWS)
    with pytest.raises(LaunchError):
        _asked(_wire(pair, says), pair.job)


def test_an_original_that_takes_its_device_down_ends_the_child() -> None:
    pair = _pair(ROWS)
    wire = _wire(pair, {**FINE, "unknown": "the original fails" * 999, "lost": True})
    found = _asked(wire, pair.job)
    assert wire.closed == 1
    assert len(found.unknown) < 1000
    assert not found.lost  # the worker's own device is as it was


class _Session:
    """What an entry function's session says of such a case."""

    def __init__(self, says: beyond.Found | DeviceError) -> None:
        self.says = says

    def beyond(self, changed: Any, *_rest: Any) -> beyond.Found:
        assert max(changed.values()) > 1000
        if isinstance(self.says, DeviceError):
            raise self.says
        return self.says


class _Room:
    def free_bytes(self) -> int:
        return 1 << 40


class _Answers:
    def of(self, _combination: Any) -> None:
        return None


def _checked(says: beyond.Found | DeviceError, **terms: Any) -> tuple[list[str], int]:
    """Check an entry function whose candidate narrows an index; return notes and loads."""
    job = Pair(NARROW).job
    job = dataclasses.replace(job, work=dataclasses.replace(job.work, kind="entry", launch=None))
    measured: Json = {"notes": [], "cases": [{"baseline_us": [1e-4]}]}
    loaded = []

    def load() -> Any:
        loaded.append(1)
        return _Session(says)

    lost = overflow.check(
        load,
        job,
        lambda text: terms.get("ptx", NARROW_PTX) if text == NARROW else WIDE_PTX,
        cast("Any", _Room()),
        cast("Any", _Answers()),
        measured,
        Report(),
        terms.get("deadline", time.monotonic() + 100),
    )
    assert not lost
    return measured["notes"], len(loaded)


def test_host_code_whose_kernels_narrow_an_index_is_asked() -> None:
    """And no other: loading a pair into the child takes time."""
    assert _checked(beyond.Found()) == ([], 1)
    assert _checked(beyond.Found(), ptx=WIDE_PTX) == ([], 0)
    with pytest.raises(Wrong, match="overflows"):
        _checked(beyond.Found(wrong="an index overflows"))
    notes, _ = _checked(beyond.Found(unknown="the candidate writes nothing to y"))
    assert notes == ["indices above 2^31 not checked: the candidate writes nothing to y"]
    with pytest.raises(DeviceError):
        _checked(LaunchError("an illegal address"))


def test_what_there_is_no_time_for_is_said() -> None:
    notes, loaded = _checked(beyond.Found(), deadline=time.monotonic() + 1)
    assert notes == ["indices above 2^31 not checked: there is no time left"]
    assert not loaded
