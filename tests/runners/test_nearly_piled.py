"""What is lost of many shows in what is made of them and of a few others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from runners import capacities, families, near_piles, nearly_piled, one_run, piled_up, sizes, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.climbing import Limits, climbed
from runners.compare import Answer
from runners.contents import Combination, Contents
from runners.cuda_types import parse
from runners.gpu import HungError, OutOfMemoryError
from runners.judge import Judge
from runners.session import Session
from runners.spec import Json, Work
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

# The mean, rounded down, of how many there are of each of eight numbers; a count of which may be lost.
MEAN = """
extern "C" __global__ void scale(const int* x, const unsigned char* set, int* mean, float* share,
                                 int n) {
    long long many = 0, sum = 0;
    COUNT counts[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < n; ++i)
        if (set[i]) counts[x[i] & 7]++;
    for (int k = 0; k < 8; ++k) {
        many += counts[k];
        sum += (long long)counts[k] * k;
    }
    mean[0] = many ? (int)(sum / many) : 0;
    share[0] = many ? (float)counts[0] / many : 0;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "x", "type": "const int*", "shape": "n", "init": "randint:0:800"},
        {"name": "set", "type": "const unsigned char*", "shape": "n", "init": "randint:0:2"},
        {"name": "mean", "type": "int*", "shape": "1", "role": "output"},
        {"name": "share", "type": "float*", "shape": "1", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
    ],
    "launch": {"grid": ["1"], "block": ["1"], "shared": "0", "tunable": False},
    "cases": [{"values": {"n": 9000}}, {"values": {"n": 700}, "time": False}],
    "tolerance": {"rtol": 1e-5, "atol": 1e-6},
}


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> Json:
    role = "input" if kind.startswith("const") else "output"
    return {"name": name, "type": kind, "shape": shape, "init": init, "role": role}


def _lines(work: Work) -> list[list[Combination]]:
    return [*nearly_piled.lines(work, 1)]


def _of(*arguments: Json, **case: Any) -> list[list[Combination]]:
    return _lines(_work(*arguments, **case))


def _parsed(mine: str = "int", base: str = "int") -> spec.JobSpec:
    texts = (MEAN.replace("COUNT", mine) + "// mine", MEAN.replace("COUNT", base))
    return spec.parse(_job(*texts, workload=WORK, effort="confirm"))


def test_three_of_four_are_one_number_and_flags_are_nearly_all_alike() -> None:
    work = _parsed().work
    high, low = _lines(work)
    assert [one.case["n"] for one in high] == [2250.0, 9000.0, 36000.0, 144000.0]
    for line, flag in ((high, 1), (low, 0)):
        made = Contents(work).of(line[-1])
        x = made["x"].view(np.int32)
        assert np.unique(x).tolist() == [*range(x.max() + 1)]
        assert 0.74 < (x == x.max()).mean() < 0.76
        # Three of them multiplied, and all added up, are exact in a float.
        assert x.max() ** 3 * len(x) <= near_piles.EXACT
        assert 0.92 < (made["set"] == flag).mean() < 0.95
        # What is drawn in one array has nothing to do with another.
        assert 0.92 < (made["set"][x == x.max()] == flag).mean() < 0.95


def test_keys_are_two_that_there_are_at_any_size() -> None:
    work = _work(_array("key", "randint:0:300"), _array("out", "zeros", "k", "int*"), n=9000, k=300)
    [line] = _lines(work)
    made = Contents(work).of(line[-1])["key"].view(np.int32)
    assert np.unique(made).tolist() == [0, 1]
    assert 0.74 < (made == 1).mean() < 0.76


def test_results_may_be_floats_where_nothing_that_is_read_is_one() -> None:
    keys, results = _array("key", "randint:0:300"), _array("out", "zeros", "bins", "float*")
    assert _of(keys, results, n=9000, bins=300)
    assert not _of(keys, _array("w", "normal", kind="const float*"), results, n=9000, bins=300)
    whole = _array("out", "zeros", "bins", "int*")
    assert _of(keys, _array("w", "normal", kind="const float*"), whole, n=9000, bins=300)
    # Few of them, and as many results.
    assert not _of(keys, results, n=4000, bins=300)
    assert not _of(keys, _array("out", "zeros", "n", "float*"), n=9000, bins=300)


def test_the_highest_is_as_high_as_promised() -> None:
    """A count of 16 bits in each of 132 blocks holds 8.6 million of one opinion, of 16 million."""
    work = once_read.parsed("opinion/base").work
    [line] = _lines(work)
    top = line[-1]
    assert top.case["n"] == sizes.TIMES_LONGER * sizes.largest(work, "n") == 16_000_000
    data = Contents(work).of(top)["start"].view(np.int32)
    most = (data == data.max()).sum()
    assert most // 132 > 1 << 16
    # What is left of the most, and of the others with it, has another mean.
    left = most - 132 * (1 << 16)
    others = data[data != data.max()].sum()
    mean, lost = (
        int(data.max() * some + others) // (some + len(data) - most) for some in (most, left)
    )
    assert lost < mean


def test_what_counts_beside_two_flags_is_more_than_16_bits_hold() -> None:
    work = once_read.parsed("logrank/base").work
    line = _lines(work)[0]
    made = Contents(work).of(line[-1])
    n = int(line[-1].case["n"])
    group = made["group"].reshape(-1, n)
    for gene in range(len(group)):
        both = (made["time"].view(np.int32) == 1) & (made["event"] == 1) & (group[gene] == 1)
        assert both.sum() > 1 << 16


def _answers(made: Callable[[int], float], kind: str) -> Answers:
    class Known:
        ask = None

        def of(self, one: Combination) -> dict[str, Answer]:
            type_ = parse(kind)
            want = np.array([made(int(one.case["n"]))]).astype(type_.fields[0].scalar.dtype)
            return {"out": Answer("out", type_, want.view(np.uint8), (None,))}

    return cast("Answers", Known())


@pytest.mark.parametrize(
    ("made", "kind", "many"),
    [
        (lambda n: 3 * n // 4, "int*", 4),
        (lambda n: n * n, "long long*", 4),
        (lambda n: n * (n - 1) / 2, "float*", 4),
        (lambda n: 1000 - n, "int*", 4),
        (lambda _: 4, "int*", 4),
        (lambda _: 0.19, "float*", 4),
        (lambda _: np.nan, "float*", 4),
        # What ran over in the original's own words.
        (lambda n: 3 * n % (1 << 18), "int*", 3),
        (lambda n: float(n * n % (1 << 31)), "float*", 3),
        (lambda n: n if n < 100000 else np.nan, "float*", 3),
        # No higher one is any.
        (lambda n: n if n < 20000 else -n, "int*", 0),
    ],
)
def test_what_two_low_ones_do_not_tell_is_not_asked(
    made: Callable[[int], float], kind: str, many: int
) -> None:
    out = _array("out", "zeros", "1", kind)
    work = _work(_array("x", "randint:0:800"), out, n=9000)
    [line] = _lines(work)
    assert len(line) == 4
    assert len(nearly_piled.told(work, _answers(made, kind), line)) == many


def test_a_slow_original_is_asked_no_higher_ones() -> None:
    line = _lines(_parsed().work)[0]
    watch = capacities.Watch()
    watch.took(line[2], 0.1)
    assert "would take" in watch.objection(line[3])


class _Slow:
    """A session whose runs take longer by the square of a length, and which may hang."""

    def __init__(self, seconds: float, hangs: Exception | None = None) -> None:
        self.ran: list[float] = []
        self._seconds, self._hangs = seconds, hangs

    def run(self, combination: Combination, **_: Any) -> None:
        """Take as long."""
        n = combination.case["n"]
        self.ran.append(n)
        if self._hangs is not None:
            raise self._hangs
        time.sleep(self._seconds * (n / 9000) ** 2)


def _climb(session: _Slow, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], bool]:
    monkeypatch.setattr(one_run, "settled", lambda made: [made()])
    monkeypatch.setattr(one_run, "judged", lambda *_: None)
    job = _parsed()
    every = [[[one] for one in line] for line in _lines(job.work)[:1]]
    limits = Limits(nearly_piled.LAYER, nearly_piled.EXPECTED, nearly_piled.SECONDS)
    terms = (cast("Session", session), cast("Answers", None), job, every, Report())
    return climbed(*terms, limits)


def test_who_takes_long_is_asked_no_further_and_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = _Slow(0.08)
    assert _climb(slow, monkeypatch) == ([], False)
    assert max(slow.ran) == 9000.0
    assert _climb(_Slow(0.0, OutOfMemoryError("full")), monkeypatch) == ([], False)
    notes, lost = _climb(_Slow(0.0, HungError("still running")), monkeypatch)
    assert lost
    assert "not tried to the end" in notes[0]


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "base", "wrong"),
    [
        ("unsigned short", "int", True),
        ("long long", "int", False),
        # The original's own counts do not fit: nothing is promised there.
        ("int", "unsigned short", False),
    ],
)
def test_who_loses_counts_of_which_a_mean_is_made_is_refused(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, mine: str, base: str, wrong: bool
) -> None:
    for module, name in (
        (nearly_piled, "EXPECTED"),
        (nearly_piled, "SECONDS"),
        (capacities, "MOST_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 1e9)  # others may use this machine
    texts = [MEAN.replace("COUNT", one) for one in (mine, base)]
    job = _job(texts[0] + "// another\n", texts[1], workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(texts[0]), "baseline": artifact(texts[1])}
    parsed, report = spec.parse(job), Report()
    declared = [
        Combination(case.values, families.DECLARED, parsed.seed) for case in parsed.work.cases
    ]
    known = judge._oracle.answers(parsed, request, declared, 300.0)
    session = judge._session(parsed, request)
    described = {*known.described}
    terms = (known, parsed, time.monotonic() + 300.0, report)
    assert not [*piled_up.lines(parsed.work, 1)]
    if wrong:
        with pytest.raises(Wrong, match=rf"(mean|share)\[0\].*{nearly_piled.LAYER}"):
            nearly_piled.check(lambda: session, *terms)
    else:
        assert nearly_piled.check(lambda: session, *terms) == ([], False)
    # What it asks is no one else's.
    assert {*known.described} == described
