"""What no check came to is told, and what comes to it later is put to the original."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from runners import lines_run, one_run, spec
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.lines_run import LAYER, check, own_lines, told
from runners.spec import JobSpec, Json
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _job, _verdict

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# Right but for one value that no contents have; and one that some have, right as well.
SPECIAL = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] == VALUE) {
        y[i] = 3.f * VALUE + 1.f;
        return;
    }
    y[i] = 3.f * x[i] + 1.f;
}
"""
# What `runners.marks` would make of it: lines 5, 6 and 9, as g++ compiles it.
MARKED = (
    SPECIAL.replace('extern "C" __global__', 'unsigned char optiml_ran[4];\nextern "C" __global__')
    .replace("    if (x", "    optiml_ran[0] = 1;\n    if (x")
    .replace("        y[i] = 3", "        optiml_ran[1] = 1; y[i] = 3")
    .replace("    y[i] = 3.f * x", "    optiml_ran[2] = 1; y[i] = 3.f * x")
)
LINES = [[5], [6, 7], [9], []]


def _marks(value: str) -> Any:
    def mark(_text: str, _job: Json) -> Json:
        text = MARKED.replace("VALUE", value)
        text = text.replace("unsigned char optiml_ran[4];", "")
        text = text.replace(
            'extern "C" __global__',
            'extern "C" { unsigned char optiml_ran[4]; }\nextern "C" __global__',
        )
        return {**artifact(text), "lines": LINES}

    return mark


@pytest.fixture
def marking(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Judge]:
    made = Judge(HostGpu(), 0, tmp_path, lambda _t, _j: None, mark=_marks(request.param))
    made._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    yield made
    made.close()


@host
@pytest.mark.parametrize(
    ("marking", "value", "notes"),
    [("12345.678f", "12345.678f", 1), ("0.f", "0.f", 0)],
    indirect=["marking"],
)
def test_a_verdict_tells_the_lines_that_nothing_came_to(
    marking: Judge, value: str, notes: int
) -> None:
    verdict = _verdict(marking, SPECIAL.replace("VALUE", value), effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    said = [note for note in verdict["measurement"]["notes"] if "never run" in note]
    assert len(said) == notes
    assert all(note.endswith("so not verified: lines 6-7 of the candidate") for note in said)
    (one,) = [check for check in verdict["checks"] if check["layer"] == LAYER]
    assert one["what"] == ("2 of 4 lines" if notes else "4 of 4 lines")
    assert one["passed"]


@host
def test_where_no_build_has_marks_that_is_told(judge: Judge) -> None:
    verdict = _verdict(judge, SPECIAL.replace("VALUE", "0.f"), effort="confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert lines_run.UNSEEN in verdict["measurement"]["notes"]


@host
def test_the_original_itself_and_a_screening_are_not_looked_at(judge: Judge) -> None:
    for text, effort in ((SCALE, "confirm"), (SPECIAL.replace("VALUE", "0.f"), "screen")):
        verdict = _verdict(judge, text, effort=effort)
        assert verdict["status"] == "correct"
        assert all(one["layer"] != LAYER for one in verdict["checks"])


class _Device:
    """Marks as combinations say: of family `n` block n has run; may break."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.runs = error, list[str]()

    def marking(self, _artifact: Json) -> _Device:
        return self

    def run(self, combination: Combination, **_more: object) -> None:
        self.runs.append(combination.family)
        if self.error is not None:
            raise self.error

    def ran(self) -> Sequence[int]:
        return [int(str(n) in self.runs) for n in range(4)]


class _Answers:
    ask = staticmethod(lambda _combinations: None)
    without = ""

    def __init__(self, known: Sequence[Combination]) -> None:
        self.described: dict[str, Any] = {one.key: {} for one in known}

    def of(self, combination: Combination) -> object:
        return None if combination.family == self.without else object()

    def patience(self, _combination: Combination) -> float:
        return 1.0


def _of(*families: str) -> list[Combination]:
    return [Combination({"n": 7.0}, one, 1) for one in families]


def _jobs(text: str = SPECIAL, base: str = SCALE) -> JobSpec:
    return spec.parse(_job(text.replace("VALUE", "1.f"), base, effort="confirm"))


def _looked(
    device: _Device,
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[list[Combination], list[Combination], list[Combination]],
    seconds: float = 60.0,
) -> tuple[list[str], bool, list[str], Report]:
    put: list[str] = []

    def renewing(*terms: Any) -> None:
        put.append(terms[3].family)

    monkeypatch.setattr(one_run, "renewing", renewing)
    answers, report = cast("Answers", _Answers(asked[0])), Report()
    wanted, fuzzed, more = asked
    terms = (answers, _jobs(), (wanted, fuzzed, iter(more)), time.monotonic() + seconds, report)
    notes, lost = check({"lines": LINES}, cast("Any", device), *terms)
    return notes, lost, put, report


def test_what_comes_to_a_new_line_is_put_to_the_original(monkeypatch: pytest.MonkeyPatch) -> None:
    device = _Device()
    asked = (_of("0"), _of("2", "2"), _of("x", "1", "y"))
    notes, lost, put, report = _looked(device, monkeypatch, asked)
    assert (notes, lost, put) == ([], False, ["1"])
    assert device.runs == ["0", "2", "2", "x", "1"]
    assert [what for _, what in report.checks] == ["4 of 4 lines"]


def test_where_the_original_says_nothing_nothing_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line that has run there alone is told like one that has not."""
    monkeypatch.setattr(_Answers, "without", "1")
    notes, _, put, report = _looked(_Device(), monkeypatch, (_of("0"), _of("2"), _of("1")))
    assert notes == ["never run in 3 runs, so not verified: lines 6-7 of the candidate"]
    assert put == []
    assert [what for _, what in report.checks] == ["2 of 4 lines"]


def test_what_has_run_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    device = _Device()
    asked = (_of("0", "1", "2", *"abcdefghijk"), _of("f"), _of("m"))
    notes, _, put, _ = _looked(device, monkeypatch, asked)
    assert (notes, put) == ([], [])
    assert len(device.runs) == lines_run.LOOK


def test_lines_that_nothing_comes_to_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, lost, put, _ = _looked(_Device(), monkeypatch, (_of("0"), _of("2"), _of("m", "n")))
    assert notes == ["never run in 4 runs, so not verified: lines 6-7 of the candidate"]
    assert (lost, put) == (False, [])


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (LaunchError("too much shared memory"), False),
        (HungError("still running"), True),
        (DeviceError("illegal address"), True),
        (Fault("ConfigError", "x"), False),
    ],
)
def test_what_marks_do_to_a_candidate_is_not_its_fault(
    monkeypatch: pytest.MonkeyPatch, error: Exception, lost: bool
) -> None:
    told_of = _looked(_Device(error), monkeypatch, (_of("0"), [], []))
    assert told_of[:3] == ([lines_run.UNSEEN], lost, [])
    assert not told_of[3].checks


def test_a_case_that_does_not_fit_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, *_ = _looked(_Device(OutOfMemoryError("8 GB")), monkeypatch, (_of("0"), [], []))
    assert len(notes) == 1
    assert notes[0].startswith("never run in 0 runs")


def test_without_time_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, *_ = _looked(_Device(), monkeypatch, (_of("0"), [], []), seconds=0.5)
    assert notes == [f"{LAYER}: not looked at: there is no time left"]
    monkeypatch.setattr(lines_run, "SECONDS", -1.0)
    device = _Device()
    notes, _, put, _ = _looked(device, monkeypatch, (_of("0", "1"), _of("2"), _of("m")))
    assert notes == [
        "never run in 0 runs (of 3 that were verified): lines 5-7 and 9 of the candidate"
    ]
    assert (device.runs, put) == ([], [])


def test_only_lines_of_its_own_are_told() -> None:
    assert own_lines("a\nb\n\n    c\n", "c\n\n a\n") == {2}
    assert own_lines("a\nb", "a\nb") == frozenset()


def test_many_places_are_told_shortly() -> None:
    assert told([], 5) == []
    (note,) = told(range(1, 40, 2), 5)
    assert note.endswith("lines 1, 3, 5, 7, 9, 11, 13, 15 and 12 more places of the candidate")
