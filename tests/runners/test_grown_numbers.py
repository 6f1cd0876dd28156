"""What overflows far beyond the promised sizes: an index, a number, or a number within them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from runners import beyond, enlarged, grown_numbers, overflow, spec
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.cuda_types import parse
from runners.entry_process import RemoteSession
from runners.session import LocalSession
from runners.spec import Json
from tests.runners.host_gpu import COMPILER, HostGpu
from tests.runners.test_beyond import Pair
from tests.runners.test_many_calls import Wire

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
LIMIT = 2**15
# What an element has times the number of all: as what sums lead to it grows with the case.
TIMES = """
extern "C" __global__ void product(const int* x, long long* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = (long long)x[i] * n;
}
"""
PRODUCT = "(long long)x[i] * n"


def _short(bits: int) -> str:
    """Return the kernel with a product of fewer bits."""
    return TIMES.replace(PRODUCT, f"(x[i] * n) << {32 - bits} >> {32 - bits}")


def _job(text: str, init: str = "randint:0:1000", shape: str = "n", **more: Any) -> Json:
    kernel = {"name": "product", "path": "", "launch": None}
    return {
        "kernel": {**kernel, "source": text},
        "baseline": {**kernel, "source": TIMES},
        "workload": {
            "name": "product",
            "kind": "kernel",
            "symbol": "product",
            "launch": {"grid": ["(n+63)/64"], "block": ["64"]},
            "arguments": [
                {"name": "x", "type": "const int*", "shape": shape, "init": init},
                {"name": "y", "type": "long long*", "shape": "n", "role": "output"},
                {"name": "n", "type": "int", "value": "n"},
            ],
            "cases": [{"values": {"n": 96}}],
            "accept": {"rtol": 0.0, "atol": 0.0},
            **more,
        },
        "effort": "confirm",
        "seed": 5,
    }


# With 24 bits: 999 times the 33,096 of the case do not fit, twice as many do, and so do 999 times
# the 1,536 that are promised. With 20 bits these do not; random numbers of up to 999 may.
NUMBER, SLIM = _short(24), _short(20)
INDEX = TIMES.replace("y[i] = (long long)x[i]", "y[i] = (long long)x[(short)i < 0 ? i / 2 : i]")


@host
@pytest.mark.parametrize(
    ("text", "init", "limited", "words"),
    [
        (TIMES, "randint:0:1000", False, ""),
        (NUMBER, "randint:0:1000", True, ""),
        (_short(26), "randint:-5000:5001", True, ""),
        (INDEX, "randint:0:1000", False, "an index overflows: y["),
        (SLIM, "randint:0:1000", False, "a number overflows where all of x are at an end"),
        (_short(22), "randint:-1500:11", False, "a number overflows where all of x are at an end"),
        # No whole numbers of a range, or none that could be smaller: as if it were an index.
        (NUMBER, "randint:0:3", False, ""),
        (_short(16), "randint:0:3", False, "an index overflows: y["),
        # As many as there are elements: these may be places.
        (_short(21), "randint:0:96", False, "an index overflows: y["),
    ],
)
def test_a_number_that_overflows_beyond_what_is_promised_is_a_limit(
    text: str, init: str, limited: bool, words: str
) -> None:
    """An index is wrong whatever the contents are, and a number has to fit where it is promised."""
    pair = Pair(text, TIMES, _job(text, init))
    before = set(pair.gpu.memory)
    found = pair.found(LIMIT)
    assert not found.unknown
    assert words in found.wrong
    assert bool(found.wrong) == bool(words)
    assert bool(found.limit) == limited
    if limited:
        assert found.limit.startswith("right for 16 times the declared sizes; far beyond a number")
        assert "those of x are not small: n=33" in found.limit
        assert "index" not in found.limit
    assert set(pair.gpu.memory) == before


@host
def test_what_is_declared_that_large_is_promised() -> None:
    """So a number that overflows there is as wrong as an index."""
    job = _job(NUMBER, cases=[{"values": {"n": 4000}}])
    found = Pair(NUMBER, TIMES, job).found(LIMIT)
    assert "an index overflows: y[" in found.wrong
    assert not found.limit


@host
def test_a_candidate_with_such_a_limit_is_right_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check is one that passed; a candidate without room for what is promised is wrong."""
    monkeypatch.setattr(enlarged, "LIMIT", LIMIT)

    def checked(text: str) -> tuple[list[str], Report]:
        pair, report = Pair(text, TIMES, _job(text)), Report()
        measured = {"cases": [{"baseline_us": [1.0]}], "notes": []}
        session = LocalSession(Bench(pair.gpu, pair.job.work), cast("Any", pair.pair), pair.job)
        known: Any = type("Known", (), {"of": lambda *_: _answers(pair)})()
        found = overflow.compared(session, pair.job, HostGpu(), known, measured, report)
        if found.wrong:
            raise Wrong("wrong result", found.wrong)
        return cast("list[str]", measured["notes"]), report

    (note,), report = checked(NUMBER)
    assert note.startswith("limit: right for 16 times the declared sizes")
    assert [check["passed"] for check in report.as_json()] == [True]
    assert checked(TIMES)[0] == []
    with pytest.raises(Wrong, match="a number overflows"):
        checked(SLIM)


def _answers(pair: Pair) -> dict[str, Answer]:
    out = pair.job.work.arguments[1]
    return {out.name: Answer(out.name, out.type, np.zeros(0, np.uint8), (None,))}


@host
@pytest.mark.parametrize("says", [None, {"limit": 7}])
def test_a_host_function_s_limit_comes_from_the_child(says: Json | None) -> None:
    """Words of it that are none are the candidate's crash, as others are."""
    pair = Pair(NUMBER, TIMES, _job(NUMBER))
    session = LocalSession(Bench(pair.gpu, pair.job.work), cast("Any", pair.pair), pair.job)
    fine = {"wrong": "", "unknown": "", "lost": False}
    wire = Wire(session, says and {**fine, **says})
    changed = enlarged.case(pair.job.work, [], LIMIT)
    assert changed is not None
    remote = RemoteSession(cast("Any", wire), pair.job)
    if says:
        with pytest.raises(Exception, match="answered with something else"):
            remote.beyond(changed, _answers(pair), LIMIT)
    else:
        found = remote.beyond(changed, _answers(pair), LIMIT)
        assert found.limit.startswith("right for 16 times")
        assert not found.wrong


def _work(shape: str = "n", init: str = "randint:0:1000", **values: float) -> spec.Work:
    case = {"n": 96.0, **values}
    job = _job(TIMES, init, shape, cases=[{"values": case}])
    return spec.parse(job).work


@pytest.mark.parametrize(
    ("init", "small", "ends"),
    [
        ("randint:0:1000", [0, 1, 2], [999]),
        ("randint:5:1000", [5, 6, 7], [999]),
        ("randint:-7:1000", [0, 1, -1], [999, -7]),
        ("randint:-1000:-4", [-5, -6, -7], [-1000, -5]),
        ("randint:0:4", [0, 1, 2], [3]),
    ],
)
def test_small_numbers_are_near_zero_and_several(
    init: str, small: list[int], ends: list[int]
) -> None:
    """What an index met elsewhere would not be seen where all are alike."""
    work = _work(init=init)
    (one,) = grown_numbers.grown(work, {"n": 96.0}, {"n": 33097.0})
    assert one.small() == small
    assert one.small(0.5)[: len(small)] == small
    assert len(one.small(0.5)) <= grown_numbers.MOST_VALUES
    assert set(one.small(0.5)) <= set(range(one.low, one.last + 1))
    assert one.ends == ends


@pytest.mark.parametrize(
    ("work", "changed"),
    [
        (_work(init="randint:0:1000"), {"n": 1536.0}),  # promised
        (_work("64"), {"n": 33097.0}),  # it has not grown
        (_work(init="randint:0:3"), {"n": 33097.0}),  # nothing is smaller
        (_work(init="randint:0:4294967296"), {"n": 33097.0}),  # words that are full
        (_work(init="randint:0:96"), {"n": 33097.0}),  # places
        (_work(init="integers"), {"n": 33097.0}),  # no range
    ],
)
def test_other_arrays_stay_as_they_were(work: spec.Work, changed: dict[str, float]) -> None:
    assert grown_numbers.grown(work, {"n": 96.0}, changed) == []


def test_as_many_elements_as_are_promised_are_asked_of_the_one_variable() -> None:
    """Where several sizes make an array, all of them may be sixteen times as large."""
    flat, wide = _work(), _work("n*w", w=3.0)
    (one,) = grown_numbers.grown(flat, {"n": 96.0}, {"n": 33097.0})
    assert grown_numbers.promised(flat, {"n": 96.0}, {"n": 33097.0}, [one]) == {"n": 1536.0}
    base, far = {"n": 96.0, "w": 3.0}, {"n": 33097.0, "w": 3.0}
    (one,) = grown_numbers.grown(wide, base, far)
    assert grown_numbers.promised(wide, base, far, [one]) == {"n": 96.0 * 256, "w": 3.0}
    assert grown_numbers.promised(wide, base, {**far, "n": 20000.0}, [one]) is None


def test_numbers_of_vectors_are_made_one_by_one() -> None:
    work = _work()
    (one,) = grown_numbers.grown(work, {"n": 96.0}, {"n": 33097.0})
    arrays = {"x": np.full(96 * 4, 9, np.uint8), "other": np.ones(3, np.uint8)}
    made = grown_numbers.made(arrays, [one], lambda each: each.small())
    assert set(np.unique(made["x"].view(np.int32))) == {0, 1, 2}
    assert made["other"] is arrays["other"]
    assert parse("const int*").pointer
    assert beyond.Found().limit == ""
