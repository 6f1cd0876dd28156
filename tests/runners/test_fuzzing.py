"""A thousand small runs beside the original's: where they differ it is asked, and that decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest

from runners import (
    families,
    far_cases,
    fuzzing,
    one_run,
    own_sizes,
    own_values,
    recipes,
    small_runs,
    spec,
)
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.fault import Fault
from runners.fuzzing import Fuzzing
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.run import Damage, Run
from runners.session import Session
from runners.spec import Json
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_judge import _job

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# Which of two numbers of many limbs is larger, the last limb first; and how far apart two rows are.
LIMBS = """
extern "C" __global__ void scale(const int* a, const int* b, int* less, const float* x, float* sum,
                                 int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    COMPARE
    SUM
}
"""
COMPARE = """
    int found = 0;
    for (int k = m - 1; k >= 0 && !found; --k) {
        int p = a[i * m + k], q = b[i * m + k];
        if (p != q) found = p < q ? 1 : 2;
    }
    less[i] = found;
"""
FROM_BELOW = """
    int found = 0;
    for (int k = 0; k < m; ++k) {
        int p = a[i * m + k], q = b[i * m + k];
        if (p != q) found = p < q ? 1 : 2;
    }
    less[i] = found;
"""
TOP_SIX = COMPARE.replace("k >= 0 &&", "k >= 0 && k >= m - 6 &&")
OWN_SIZE = COMPARE.replace("k >= 0 &&", "k >= (m == 77 ? 71 : 0) &&")
SUM = "float s = 0; for (int k = 0; k < m; ++k) s += x[i * m + k]; sum[i] = s;"
BACKWARDS = "float s = 0; for (int k = m - 1; k >= 0; --k) s += x[i * m + k]; sum[i] = s;"
POSITIVE = (
    "float s = 0; for (int k = 0; k < m; ++k) s += x[i * m + k]; sum[i] = s > -99 * m ? s : 0;"
)
WORK: Json = {
    "arguments": [
        {"name": "a", "type": "const int*", "shape": "n*m", "init": "randint:0:1000000000"},
        {"name": "b", "type": "const int*", "shape": "n*m", "init": "randint:0:1000000000"},
        {"name": "less", "type": "int*", "shape": "n", "role": "output"},
        {"name": "x", "type": "const float*", "shape": "n*m", "init": "normal"},
        {"name": "sum", "type": "float*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "m", "type": "int", "value": "m"},
    ],
    "launch": {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [
        {"values": {"n": 100, "m": 12}},
        {"values": {"n": 20, "m": 9}, "time": False},
    ],
    "tolerance": {"rtol": 1e-5, "atol": 1e-6},
}


def _text(compare: str = COMPARE, total: str = SUM) -> str:
    return LIMBS.replace("COMPARE", compare).replace("SUM", total)


def _asked(
    judge: Judge, mine: str, base: str, work: Json = WORK
) -> tuple[Answers, spec.JobSpec, list[Combination], Callable[[], Session], Callable[[], Session]]:
    job = _job(mine + "// another\n", base, workload=work, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(base)}
    parsed = spec.parse(job)
    declared = [
        Combination(case.values, families.DECLARED, parsed.seed) for case in parsed.work.cases
    ]
    answers = judge._oracle.answers(parsed, request, declared, 300.0)
    alone = {**request, "candidate": request["baseline"]}
    return (
        answers,
        parsed,
        declared,
        lambda: judge._session(parsed, alone),
        lambda: judge._session(parsed, request),
    )


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many runs as there are, however busy the machine is."""
    monkeypatch.setattr(small_runs, "MOST", 600)
    for name in ("SECONDS", "SECONDS_ORIGINAL"):
        monkeypatch.setattr(fuzzing, name, 1e9)


@host
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("mine", "wrong"),
    [
        (_text(TOP_SIX), "less"),
        (_text(total=POSITIVE), "sum"),
        (_text(FROM_BELOW), ""),
        (_text(total=BACKWARDS), ""),
    ],
)
def test_what_few_inputs_show_is_refused_and_another_order_is_not(
    judge: Judge, mine: str, wrong: str
) -> None:
    answers, job, wanted, original, load = _asked(judge, mine, _text())
    described, report = {*answers.described}, Report()
    terms = ((original, load), answers, job, wanted, time.monotonic() + 300.0, report)
    if wrong:
        with pytest.raises(Wrong, match=rf"{wrong}\[.* inputs, .*{fuzzing.LAYER}"):
            Fuzzing().check(*terms)
    else:
        assert Fuzzing().check(*terms) == ([], False)
        assert report.runs >= 600
        assert any(layer == fuzzing.LAYER for layer, _ in report.checks)
    # What it asks is no one else's.
    assert {*answers.described} == described


@host
@pytest.mark.usefixtures("many")
def test_sizes_that_a_candidate_names_have_contents_of_all_kinds(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of numbers that chance draws the last of 77 decides: what leaves out others shows nothing."""
    for name in ("OWN_SECONDS", "OWN_SECONDS_ORIGINAL"):
        monkeypatch.setattr(fuzzing, name, 1e9)
    monkeypatch.setattr(far_cases, "CASES", 0)
    answers, job, wanted, original, load = _asked(judge, _text(OWN_SIZE), _text())
    terms = ((original, load), answers, job, wanted, time.monotonic() + 300.0, Report())
    with pytest.raises(Wrong, match=rf"less\[.* m=77, recipe .*{fuzzing.LAYER}"):
        Fuzzing().check(*terms)
    monkeypatch.setattr(own_sizes, "CASES", 0)
    assert Fuzzing().check(*terms) == ([], False)


@host
@pytest.mark.usefixtures("many")
def test_numbers_that_a_candidate_names_stand_side_by_side(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A door that two numbers of a wide range open is one that chance never opens."""
    for name in ("OWN_SECONDS", "OWN_SECONDS_ORIGINAL"):
        monkeypatch.setattr(fuzzing, name, 1e9)
    monkeypatch.setattr(far_cases, "CASES", 0)
    door = "if (a[i * m] == 123456789 && b[i * m] == 42424242) less[i] = 3;"
    answers, job, wanted, original, load = _asked(judge, _text(COMPARE + door), _text())
    terms = ((original, load), answers, job, wanted, time.monotonic() + 300.0, Report())
    with pytest.raises(Wrong, match=rf"less\[.*own-values .*{fuzzing.LAYER}"):
        Fuzzing().check(*terms)
    monkeypatch.setattr(own_values, "RUNS", 0)
    assert Fuzzing().check(*terms) == ([], False)


@host
@pytest.mark.usefixtures("many")
def test_an_original_is_run_once_for_all_of_its_candidates(judge: Judge) -> None:
    loads = []
    fuzz = Fuzzing()
    for mine in (_text(FROM_BELOW), _text(total=BACKWARDS)):
        answers, job, wanted, original, load = _asked(judge, mine, _text())

        def once(original: Callable[[], Session] = original) -> Session:
            loads.append(1)
            return original()

        terms = (answers, job, wanted, time.monotonic() + 300.0, Report())
        assert fuzz.check((once, load), *terms) == ([], False)
    assert len(loads) == 1


class _Session:
    """A session whose runs do as they are told."""

    def __init__(self, does: Callable[[Combination], Mapping[str, Any]]) -> None:
        self._does = does
        self.ran: list[Combination] = []

    def run(self, combination: Combination, **_: Any) -> Run:
        """Do so."""
        self.ran.append(combination)
        found = {name: np.asarray(one) for name, one in self._does(combination).items()}
        return Run({n: d.view(np.uint8) for n, d in found.items()}, Damage(), 0.0, 0)


class _Known:
    """Answers to the declared cases, and whatever else is asked."""

    def __init__(self, *declared: Combination, says: bool = True) -> None:
        self.described: dict[str, Json] = {one.key: {"outputs": []} for one in declared}
        self._says = says
        self.asked: list[Combination] = []

    def ask(self, combinations: list[Combination]) -> None:
        """Answer all of it, or nothing."""
        self.asked += combinations
        if self._says:
            self.described.update((one.key, {"outputs": []}) for one in combinations)

    def unordered(self) -> set[str]:
        """Return no outputs."""
        return set()

    def of(self, one: Combination) -> dict[str, Any] | None:
        """Return nothing that could be compared."""
        return {} if one.key in self.described else None

    def seconds(self, _one: Combination) -> float:
        """Say that all are quick."""
        return 0.0

    patience = seconds


def _checked(
    known: _Known | None,
    original: _Session | Exception,
    mine: _Session | Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[list[str], bool]:
    monkeypatch.setattr(one_run, "renewing", lambda *_: None)
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK, effort="confirm"))
    declared = [Combination(case.values, families.DECLARED, job.seed) for case in job.work.cases]

    def loaded(one: _Session | Exception) -> Session:
        if isinstance(one, Exception):
            raise one
        return cast("Session", one)

    known = _Known(*declared) if known is None else known
    for one in declared:
        known.described[one.key] = {"outputs": []}
    pair = (lambda: loaded(original), lambda: loaded(mine))
    terms = (job, declared, time.monotonic() + 300.0, Report())
    return Fuzzing().check(pair, cast("Answers", known), *terms)


def _zeros(_: Combination) -> dict[str, Any]:
    return {"less": np.zeros(4, np.int32), "sum": np.zeros(4, np.float32)}


def _raises(error: Exception) -> Callable[[Combination], dict[str, Any]]:
    def does(_: Combination) -> dict[str, Any]:
        raise error

    return does


def test_where_an_original_breaks_nothing_is_held_against_a_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fine = _Session(_zeros)
    for error, lost in (
        (DeviceError("an illegal address"), True),
        (HungError("still running"), True),
        (LaunchError("too large"), False),
        (Fault("RunnerError", "the process ended"), False),
    ):
        known = _Known()
        said = _checked(known, _Session(_raises(error)), fine, monkeypatch)
        assert said == ([], lost)
        assert not known.asked
    assert _checked(None, Fault("RunnerError", "the process ended"), fine, monkeypatch) == (
        [],
        False,
    )
    assert _checked(None, fine, Fault("RunnerError", "the process ended"), monkeypatch) == (
        [],
        False,
    )
    full = _Session(_raises(OutOfMemoryError("full")))
    assert _checked(None, full, fine, monkeypatch) == ([], False)
    assert _checked(None, fine, full, monkeypatch) == ([], False)


def test_who_breaks_is_refused_where_the_original_has_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for error, lost in ((DeviceError("an illegal address"), True), (LaunchError("x"), False)):
        breaks = _Session(_raises(error))
        with pytest.raises(DeviceError, match=str(error)):
            _checked(_Known(), _Session(_zeros), breaks, monkeypatch)
        said = _checked(_Known(says=False), _Session(_zeros), breaks, monkeypatch)
        assert said == ([], lost)


def test_what_is_run_beside_an_original_is_the_candidate_where_one_process_is_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The original is loaded for its sizes and far runs, too: it is in the process by then."""
    monkeypatch.setattr(one_run, "renewing", lambda *_: None)
    monkeypatch.setattr(small_runs, "MOST", 40)
    text = _text(OWN_SIZE)
    job = spec.parse(_job(text, _text(), workload=WORK, effort="confirm"))
    declared = [Combination(case.values, families.DECLARED, job.seed) for case in job.work.cases]
    loads, ran = list[str](), dict[str, list[Combination]]()

    def loaded(name: str) -> Session:
        def does(one: Combination) -> dict[str, Any]:
            ran.setdefault(loads[-1], []).append(one)
            return _zeros(one)

        loads.append(name)
        return cast("Session", _Session(does))

    pair = (lambda: loaded("original"), lambda: loaded("mine"))
    known = _Known(*declared)
    terms = (job, declared, time.monotonic() + 300.0, Report())
    assert Fuzzing().check(pair, cast("Answers", known), *terms) == ([], False)
    keys = {name: [one.key for one in runs] for name, runs in ran.items()}
    assert keys["mine"] == keys["original"]
    own = [one for one in ran["mine"] if int(one.case["m"]) in {76, 77, 78}]
    largest = max(job.work.elements(one.case) for one in declared)
    assert own
    assert max(job.work.elements(one.case) for one in ran["mine"]) > largest


def _apart(first: Any, second: Any, *, any_order: bool = False) -> list[tuple[str, float]]:
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK))
    name = "less" if np.asarray(first).dtype == np.int32 else "sum"
    run = Run({name: np.asarray(second).view(np.uint8)}, Damage(), 0.0, 0)
    free = frozenset({name}) if any_order else frozenset()
    return [*fuzzing._differences(job.work, {name: np.asarray(first).view(np.uint8)}, run, free)]


def test_runs_differ_beyond_rounding_and_in_what_is_no_number() -> None:
    one = np.array([1.0, -2.0, 3.0, 0.0], np.float32)
    assert not _apart(one, one)
    assert not _apart(one, one + np.float32(2e-6))
    [(way, much)] = _apart(one, one + np.float32(1e-3))
    assert way.endswith("far")
    assert 1 < much < 1000
    odd = np.array([1.0, np.nan, np.inf, 0.0], np.float32)
    assert not _apart(odd, odd)
    assert _apart(one, odd)[0][0].endswith("no number")
    assert _apart(odd, one)[0][0].endswith("odd")
    whole = np.array([1, 2, 3, 4], np.int32)
    assert _apart(whole, whole[::-1].copy())
    assert not _apart(whole, whole[::-1].copy(), any_order=True)


# How many of a row are one; counted in 16 bits, as by two to a word.
COUNTED = """
extern "C" __global__ void scale(const int* kind, int* many, int n, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    COUNTER found = 0;
    for (int i = 0; i < n; ++i) found += kind[(size_t)row * n + i] == 1;
    many[row] = found;
}
"""
OF_ROWS: Json = {
    "arguments": [
        {"name": "kind", "type": "const int*", "shape": "rows*n", "init": "randint:0:5"},
        {"name": "many", "type": "int*", "shape": "rows", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "rows", "type": "int", "value": "rows"},
    ],
    "launch": {"grid": ["(rows+31)/32"], "block": ["32"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 5000, "rows": 40}}, {"values": {"n": 33, "rows": 3}}],
    "tolerance": {"rtol": 0.0, "atol": 0.0},
}


@host
@pytest.mark.parametrize("counter", ["unsigned short", "unsigned"])
def test_what_is_too_narrow_for_much_of_one_kind_is_refused_in_far_cases(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, counter: str
) -> None:
    monkeypatch.setattr(far_cases, "CASES", 14)
    for name in ("FAR_SECONDS", "FAR_SECONDS_ORIGINAL"):
        monkeypatch.setattr(fuzzing, name, 1e9)
    mine, base = COUNTED.replace("COUNTER", counter), COUNTED.replace("COUNTER", "int")
    answers, job, wanted, original, load = _asked(judge, mine, base, OF_ROWS)
    report = Report()
    terms = ((original, load), answers, job, wanted, time.monotonic() + 300.0, report)
    if counter == "unsigned":
        assert Fuzzing().check(*terms) == ([], False)
        assert report.runs >= 14
        return
    with pytest.raises(Wrong, match=rf"many\[.* inputs, .*{fuzzing.LAYER}"):
        Fuzzing().check(*terms)


# The least number of each row, NaN being none; and the first of a row in which no number is below
# the one before it.
LEAST = """
extern "C" __global__ void scale(const float* x, float* least, int n, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* v = x + (size_t)row * n;
    bool ordered = ORDERED;
    for (int i = 1; i < n && ordered; ++i) ordered = !(LOST v[i - 1] > v[i]);
    float m = INFINITY;
    for (int i = 0; i < (ordered ? 1 : n); ++i) if (!isnan(v[i]) && v[i] < m) m = v[i];
    least[row] = m;
}
"""
OF_FLOATS: Json = {
    **OF_ROWS,
    "arguments": [
        {"name": "x", "type": "const float*", "shape": "rows*n"},
        {"name": "least", "type": "float*", "shape": "rows", "role": "output"},
        *OF_ROWS["arguments"][2:],
    ],
    "cases": [{"values": {"n": 3, "rows": 40}}, {"values": {"n": 90, "rows": 50}}],
}


@host
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("lost", ["", "v[i] != v[i] ||"], ids=["hidden", "seen"])
def test_a_nan_between_two_numbers_hides_that_they_are_in_no_order(judge: Judge, lost: str) -> None:
    base = LEAST.replace("ORDERED", "false").replace("LOST", "")
    mine = LEAST.replace("ORDERED", "!isnan(v[0])").replace("LOST", lost)
    answers, job, wanted, original, load = _asked(judge, mine, base, OF_FLOATS)
    terms = (answers, job, wanted, time.monotonic() + 300.0, Report())
    if lost:
        assert Fuzzing().check((original, load), *terms) == ([], False)
        return
    with pytest.raises(Wrong, match=r"least\[.*nan inputs"):
        Fuzzing().check((original, load), *terms)


def test_where_it_is_far_what_does_not_end_is_noted_and_what_breaks_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(small_runs, "SIZES", 0)
    monkeypatch.setattr(far_cases, "CASES", 3)
    monkeypatch.setattr(far_cases, "LEAST_ELEMENTS", 64)

    def far(error: Exception) -> Callable[[Combination], dict[str, Any]]:
        def does(one: Combination) -> dict[str, Any]:
            if one.case["n"] > 100:
                raise error
            return _zeros(one)

        return does

    fine = _Session(_zeros)
    hung = _Session(far(HungError("still running")))
    [note], lost = _checked(_Known(), fine, hung, monkeypatch)
    assert lost
    assert "still running" in note
    assert any(one.case["n"] > 100 for one in fine.ran)
    breaks = _Session(far(DeviceError("an illegal address")))
    with pytest.raises(DeviceError, match="an illegal address"):
        _checked(_Known(), fine, breaks, monkeypatch)
    # Where an original breaks, or cannot be launched, nothing is asked of a candidate; the first of
    # these is said.
    for error, lost in (
        (DeviceError("an illegal address"), True),
        (HungError("still running"), True),
        (LaunchError("too large"), False),
        (Fault("RunnerError", "the process ended"), False),
    ):
        mine = _Session(far(DeviceError("never here")))
        notes, gone = _checked(_Known(), _Session(far(error)), mine, monkeypatch)
        assert gone == lost
        assert len(notes) == (not isinstance(error, LaunchError))
        assert all(str(error) in one and "far out" in one for one in notes)


def test_what_an_original_said_before_its_process_ended_far_out_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(far_cases, "CASES", 3)
    monkeypatch.setattr(far_cases, "LEAST_ELEMENTS", 64)
    runs = 0

    def ends(one: Combination) -> dict[str, Any]:
        nonlocal runs
        runs += one.case["n"] > 100
        if runs > 1:
            raise Fault("RunnerError", "the process ended")
        return _zeros(one)

    mine = _Session(_zeros)
    [note], lost = _checked(_Known(), _Session(ends), mine, monkeypatch)
    assert "the process ended" in note
    assert not lost
    assert len([one for one in mine.ran if one.case["n"] > 100]) == 1


def test_why_an_original_said_no_more_is_told_with_each_of_its_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(far_cases, "CASES", 3)
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK, effort="confirm"))
    broken = _Session(_raises(Fault("RunnerError", "the process ended")))
    fuzz = Fuzzing()
    with pytest.raises(Fault):
        fuzz._far(lambda: cast("Session", broken), job)
    assert fuzz._far(lambda: cast("Session", broken), job) == []
    assert len(broken.ran) == 1
    [note] = fuzz._ended
    assert "the process ended" in note


def test_an_original_that_broke_far_out_is_run_there_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(far_cases, "CASES", 3)
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK, effort="confirm"))
    loads = []

    def load() -> Session:
        loads.append(1)
        return cast("Session", _Session(_raises(DeviceError("an illegal address"))))

    fuzz = Fuzzing()
    with pytest.raises(DeviceError):
        fuzz._far(load, job)
    assert fuzz._far(load, job) == []
    assert len(loads) == 1


def test_no_more_is_kept_of_an_original_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK, effort="confirm"))
    monkeypatch.setattr(fuzzing, "FAR_BYTES", 100)
    session = cast("Session", _Session(_zeros))  # 32 bytes each
    turns = small_runs.asked(job.work, 1, [job.work.cases[0].values])
    assert len(fuzzing._outputs(session, turns, 100.0)) == 4


def test_cases_are_small_and_some_of_them_larger() -> None:
    job = spec.parse(_job(_text(), _text() + "//", workload=WORK))
    few, more = {"n": 20.0, "m": 9.0}, {"n": 900.0, "m": 19.0}
    every = [*small_runs.asked(job.work, 1, [few, more])]
    turns = [one for one in every if one.case in (few, more)]
    assert len(every) - len(turns) == small_runs.MOST // small_runs.SIZES_OF
    numbers = [recipes.number(one.family) or 0 for one in turns]
    assert [one for one in numbers if one < recipes.CROSSED] == [
        recipes.FUZZED + turn for turn in range(small_runs.MOST)
    ]
    assert (
        sum(one >= recipes.CROSSED for one in numbers) == small_runs.MOST // small_runs.CROSSED_OF
    )
    assert every == [*small_runs.asked(job.work, 1, [few, more])]
    assert len({one.key for one in every}) == len(every)
    # What asks for no NaN is given none.
    assert not any(one.family == small_runs.NAN_FAMILY for one in turns)
    kept = [one for one in turns if one.case != few]
    assert len(kept) <= len(turns) / small_runs.ONE_OF + 1
    assert not [*small_runs.asked(job.work, 1, [])]
