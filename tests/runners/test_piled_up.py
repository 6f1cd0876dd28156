"""Sums and counts in few bits are right until all of a block meets in one place."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest

from runners import capacities, climbing, families, one_run, piled_up, piles, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.climbing import Limits, climbed
from runners.compare import Answer
from runners.contents import Combination, Contents
from runners.cuda_types import parse
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.piled_up import End, Pile
from runners.session import Session
from runners.spec import Json, Work
from runners.whole_families import HOT
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, artifact
from tests.runners.test_inputs import _work
from tests.runners.test_judge import _job

TALLY = """
extern "C" __global__ void scale(const int* key, const int* amount, int* many, long long* sum,
                                 int* most, int n, int keys) {
    const int ROOM = 64;
    SUM sums[ROOM]; int counts[ROOM];
    for (int k = 0; k < ROOM; ++k) { sums[k] = 0; counts[k] = 0; }
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int k = key[i];
        if (k < 0 || k >= keys) continue;
        atomicMax(&most[k], amount[i]);
        if (keys > ROOM) {
            atomicAdd(&many[k], 1);
            atomicAdd(&sum[k], (long long)amount[i]);
        } else {
            sums[k] += amount[i];
            COUNT;
        }
        FLUSH
    }
    for (int k = 0; k < ROOM && k < keys; ++k) {
        atomicAdd(&many[k], counts[k]);
        atomicAdd(&sum[k], (long long)sums[k]);
    }
}
"""
FEW = "counts[k] = counts[k] == 1535 ? 0 : counts[k] + 1"
FLUSHED = """
if (keys <= ROOM && (counts[k] == 1000)) {
    atomicAdd(&many[k], counts[k]); atomicAdd(&sum[k], (long long)sums[k]); counts[k] = sums[k] = 0;
}
"""
WORK: Json = {
    "arguments": [
        {"name": "key", "type": "const int*", "shape": "n", "init": "randint:-1:11"},
        {"name": "amount", "type": "const int*", "shape": "n", "init": "randint:-1500000:1500001"},
        {"name": "many", "type": "int*", "shape": "keys", "role": "inout", "init": "randint:0:9"},
        {
            "name": "sum",
            "type": "long long*",
            "shape": "keys",
            "role": "inout",
            "init": "randint:-9:9",
        },
        {
            "name": "most",
            "type": "int*",
            "shape": "keys",
            "role": "inout",
            "init": "randint:-4000000:-3000000",
        },
        {"name": "n", "type": "int", "value": "n"},
        {"name": "keys", "type": "int", "value": "keys"},
    ],
    "launch": {"grid": ["1"], "block": ["64"], "shared": "0", "tunable": False},
    "cases": [
        {"values": {"n": 8000, "keys": 10}},
        {"values": {"n": 700, "keys": 5}, "time": False},
    ],
    "tolerance": {"rtol": 0, "atol": 0},
}


def _text(total: str = "long long", count: str = "counts[k]++", flush: str = "") -> str:
    return TALLY.replace("SUM", total).replace("COUNT", count).replace("FLUSH", flush)


def _parsed(text: str = "", **changed: Any) -> spec.JobSpec:
    job = _job(text or _text(), _text() + "// the original", workload=WORK, effort="confirm")
    parsed = spec.parse(job)
    return dataclasses.replace(parsed, work=dataclasses.replace(parsed.work, **changed))


def _lines(work: Work, seed: int = 1) -> list[list[Pile]]:
    return [*piled_up.lines(work, seed)]


def test_piles_are_along_what_adds_no_results_the_lowest_first() -> None:
    [line] = _lines(_parsed().work)
    assert [one.plain.case["n"] for one in line] == [2000.0, 8000.0, 32000.0, 128000.0]
    assert {one.plain.case["keys"] for one in line} == {10.0}
    assert [len(one.ends) for one in line] == [0, 0, 2, 2]
    assert [(end.near, end.beside, end.end) for end in line[-1].ends] == [
        (0, 1, 1500000),
        (0, -1, -1500000),
    ]
    assert len(line[-1].combinations) == 5


def test_keys_are_small_and_amounts_at_their_ends_all_of_them() -> None:
    work = _parsed().work
    top = _lines(work)[0][-1]
    for one, number in zip(top.combinations, (0, 1, 1500000, -1, -1500000), strict=True):
        made = Contents(work).of(one)
        assert np.unique(made["key"].view(np.int32)).tolist() == [1]
        assert np.unique(made["amount"].view(np.int32)).tolist() == [number]
        # What is added to is as it was declared.
        plain = Contents(work).of(dataclasses.replace(one, family=families.DECLARED))
        assert all(np.array_equal(made[name], plain[name]) for name in ("many", "sum", "most"))


def test_each_amount_is_at_its_ends_beside_others_that_are_one() -> None:
    more = {"name": "by", "type": "const int*", "shape": "n", "init": "randint:3:1000000"}
    arguments = [*cast("list[Json]", WORK["arguments"]), more]
    work = spec.parse(_job(_text(), workload={**WORK, "arguments": arguments})).work
    ends = _lines(work)[0][-1].ends
    seen = []
    for end in ends:
        made = Contents(work).of(end.combinations[-1])
        seen.append(tuple(int(made[name].view(np.int32)[0]) for name in ("amount", "by")))
    assert sorted(seen) == [(-1500000, 3), (1, 999999), (1500000, 3)]


def _array(name: str, init: str, shape: str = "n", kind: str = "const int*") -> Json:
    role = "input" if kind.startswith("const") else "output"
    return {"name": name, "type": kind, "shape": shape, "init": init, "role": role}


def _of(*arguments: Json, **case: Any) -> list[list[Pile]]:
    return _lines(_work(*arguments, **case))


def test_where_no_more_meet_than_elsewhere_nothing_is_asked() -> None:
    keys, amounts = _array("key", "randint:0:300"), _array("x", "randint:-1000:1000")
    results = _array("out", "zeros", "bins", "long long*")
    assert _of(keys, amounts, results, n=9000, bins=300)
    assert _of(keys, results, n=9000, bins=300)
    assert _of(amounts, results, n=9000, bins=300)
    # Few of them, results that are floats, narrow or as many, and what other families have alike.
    assert not _of(keys, amounts, results, n=4000, bins=300)
    assert not _of(keys, amounts, _array("out", "zeros", "bins", "float*"), n=9000, bins=300)
    assert not _of(keys, amounts, _array("out", "zeros", "bins", "short*"), n=9000, bins=300)
    assert not _of(keys, amounts, _array("out", "zeros", "n", "int*"), n=9000, bins=300)
    assert not _of(_array("x", "randint:0:200", kind="const char*"), results, n=9000, bins=300)
    assert not _of(_array("x", "randint:0:2147483647"), results, n=9000, bins=300)
    assert not _of(_array("x", "randint:0:2000", "bins*n"), results, n=900, bins=300)
    assert not _of(_array("x", "normal", kind="const float*"), results, n=9000, bins=300)
    assert not _of(_array("x", "capture:x"), results, n=9000, bins=300)


def test_piles_fit_and_other_sizes_are_small_where_they_would_not() -> None:
    keys, results = _array("key", "randint:0:300"), _array("out", "zeros", "bins", "int*")
    more = _array("table", "zeros", "rows*bins", "const int*")
    [line] = _of(keys, more, results, n=4_000_000, bins=300, rows=50_000)
    top = dict(line[-1].plain.case)
    assert top["n"] > 16_000_000
    assert top["rows"] == top["bins"] == 9.0
    lengths = [one.plain.case["n"] for one in line]
    assert all(less * climbing.STEP <= more for less, more in pairwise(lengths))


def test_results_that_are_more_as_well_are_no_reason_to_pile_nothing_up() -> None:
    """Each element's own result beside how many are alike: the counts alone are gathered."""
    keys, each = _array("key", "randint:0:300"), _array("code", "zeros", "n", "int*")
    counts = _array("many", "zeros", "bins", "int*")
    [line] = _of(keys, each, counts, n=9000, bins=300)
    assert line[-1].plain.case["n"] == 16 * 9000.0
    # Sizes by which there are no more results at all come first.
    more = _array("left", "randint:0:300", "m")
    lines = _of(keys, more, each, counts, n=90000, m=9000, bins=300)
    assert [line[-1].plain.case["m"] for line in lines] == [16 * 9000.0, 9000.0]


def test_there_is_a_second_pile_beside_few_where_that_is_far_higher() -> None:
    text = _array("text", "randint:97:123", "n*width", "const uint8_t*")
    length, counts = _array("length", "randint:0:25"), _array("counts", "zeros", "90", "int*")
    lines = _of(text, length, counts, n=200_000, width=24)
    assert [line[-1].plain.case["width"] for line in lines] == [24.0, 2.0]
    assert lines[0][-1].plain.case["n"] < 1 << 20
    assert lines[1][-1].plain.case["n"] == 16 * 200_000.0


@pytest.mark.parametrize(
    ("bits", "made", "even"),
    [
        (32, lambda n, _: n - 1, True),
        (32, lambda _, at: at, True),
        (32, lambda n, at: n - at, True),
        (16, lambda n, _: n - 1, False),
        (16, lambda n, at: n - at, False),  # right at the last elements, and not at the first
        (16, lambda _, at: at, False),
        (32, lambda n, at: n * at % 1000_000, False),
    ],
)
def test_results_of_unlike_many_are_compared_at_both_ends(bits: int, made: Any, even: bool) -> None:
    """A count, a place, or how many are left, in words that hold it or not."""
    three = [Pile(Combination({"n": n}, families.PILED, 1), ()) for n in (300.0, 9000.0, 90000.0)]
    out = _array("out", "zeros", "n", "int*")

    class Known:
        ask = None

        def of(self, one: Combination) -> dict[str, Answer]:
            n = int(one.case["n"])
            at = np.arange(n, dtype=np.int64)
            return _answer("out", "int*", *((0 * at + made(n, at)) % (1 << bits)).tolist())

    assert piled_up.evenly(_work(out, n=9000), cast("Answers", Known()), three) == even


def _answer(name: str, kind: str, *numbers: int) -> dict[str, Answer]:
    type_ = parse(kind)
    want = np.array(numbers, type_.fields[0].scalar.dtype).view(np.uint8)
    return {name: Answer(name, type_, want, (None,))}


class _Known:
    """Answers by family."""

    ask = None

    def __init__(self, found: Mapping[str, dict[str, Answer]]) -> None:
        self._found = found

    def of(self, one: Combination) -> dict[str, Answer] | None:
        """Return what belongs to a family."""
        return self._found.get(one.family)


@pytest.mark.parametrize(
    ("kind", "numbers", "fits"),
    [
        ("long long*", (5, 1005, 5 + 1000 * 3_000_000), True),
        ("long long*", (5, 1005, 5 + 1000 * 3_000_000 - (1 << 32)), False),
        ("int*", (-7, 993, -7 + 1000 * 3_000_000 - (1 << 32)), False),
        ("unsigned*", (0, 100, 100 * 3_000_000), True),
        # The number of them, a largest one, and a place.
        ("int*", (1000, 1000, 1000), True),
        ("int*", (9, 9, 3_000_000), True),
        ("int*", (0, 1, 3_000_000), True),
        ("int*", (8, 64, 3), True),
        # A product of two that are all alike.
        ("long long*", (0, 1000, 1000 * 3_000_000**2), False),
    ],
)
def test_an_end_is_asked_where_two_small_numbers_tell_its_sums(
    kind: str, numbers: tuple[int, ...], fits: bool
) -> None:
    kinds = (families.PILED, families.PILED_MORE, families.PILED_LAST)
    first, second, last = (Combination({"n": 9.0}, one, 1) for one in kinds)
    end = End(0, 1, 3_000_000, (first, second, last))
    found = {one: _answer("x", kind, value) for one, value in zip(kinds, numbers, strict=True)}
    assert piled_up.fits(cast("Answers", _Known(found)), end) == fits
    del found[families.PILED_MORE]
    assert not piled_up.fits(cast("Answers", _Known(found)), end)


class _Slow:
    """A session whose runs take longer by the square of a length, and which may hang."""

    def __init__(self, seconds: float, hangs: Exception | None = None) -> None:
        self.ran: list[float] = []
        self._seconds, self._hangs = seconds, hangs

    def run(self, combination: Combination, **_: Any) -> Any:
        """Take as long."""
        n = combination.case["n"]
        self.ran.append(n)
        if self._hangs is not None and n > 1000:
            raise self._hangs
        time.sleep(self._seconds * (n / 8000) ** 2)


def _climb(session: _Slow, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], bool]:
    job = _parsed("// slower\n" + _text())
    piles_ = _lines(job.work)
    monkeypatch.setattr(one_run, "settled", lambda made: [made()])
    monkeypatch.setattr(one_run, "judged", lambda *_: None)
    monkeypatch.setattr(piled_up, "evenly", lambda *_: True)
    known = cast("Answers", _Known({}))
    every = (piled_up.rungs(job.work, known, line) for line in piles_)
    limits = Limits(piled_up.LAYER, piled_up.EXPECTED, piled_up.SECONDS)
    return climbed(cast("Session", session), known, job, every, Report(), limits)


def test_who_takes_longer_by_the_square_is_asked_no_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, quick = _Slow(0.04), _Slow(1e-7)
    assert _climb(slow, monkeypatch) == ([], False)
    assert sorted({*slow.ran}) == [2000.0, 8000.0]
    assert _climb(quick, monkeypatch) == ([], False)
    assert max(quick.ran) == 128000.0


def test_who_comes_to_no_end_is_not_refused_and_who_breaks_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes, lost = _climb(_Slow(0.0, HungError("still running")), monkeypatch)
    assert lost
    assert "not tried to the end" in notes[0]
    assert _climb(_Slow(0.0, OutOfMemoryError("full")), monkeypatch) == ([], False)
    for error in (LaunchError("too large"), DeviceError("an illegal address")):
        with pytest.raises(DeviceError, match=str(error)):
            _climb(_Slow(0.0, error), monkeypatch)


def test_a_slow_original_is_not_asked_about_higher_piles() -> None:
    line = _lines(_parsed().work)[0]
    watch = capacities.Watch()
    watch.took(line[1].plain, 0.1)
    for end in line[-2].ends:
        assert "would take" in watch.objection(end.combinations[0])
    watch = capacities.Watch()
    watch.took(line[1].plain, 1e-4)
    assert not watch.objection(line[2].plain)
    watch.failed(line[1].plain)
    assert watch.objection(line[-1].plain) == capacities.SHORTER


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "base", "wrong"),
    [
        (_text("int"), _text(), "sum"),
        (_text(count=FEW), _text(), "many"),
        (_text("int", flush=FLUSHED), _text(), ""),
        (_text(count="++counts[k]"), _text(), ""),
        # The original's own sums or counts do not fit: nothing is promised there.
        (_text(), _text("int"), ""),
        (_text(), _text(count=FEW), "-"),
    ],
)
def test_who_adds_up_in_few_bits_is_refused_and_who_empties_them_is_not(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, mine: str, base: str, wrong: str
) -> None:
    for module, name in (
        (piled_up, "EXPECTED"),
        (piled_up, "SECONDS"),
        (capacities, "MOST_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 1e9)  # others may use this machine
    job = _job(mine + "// another\n", base, workload=WORK, effort="confirm")
    request = {"job": job, "candidate": artifact(mine), "baseline": artifact(base)}
    parsed, report = spec.parse(job), Report()
    declared = [
        Combination(case.values, families.DECLARED, parsed.seed) for case in parsed.work.cases
    ]
    known = judge._oracle.answers(parsed, request, declared, 300.0)
    session = judge._session(parsed, request)
    described = {*known.described}
    terms = (known, parsed, time.monotonic() + 300.0, report)
    if wrong.isalpha():
        with pytest.raises(Wrong, match=rf"{wrong}\[1\].* inputs, .*{piled_up.LAYER}"):
            piled_up.check(lambda: session, *terms)
    else:
        assert piled_up.check(lambda: session, *terms) == ([], False)
    held = {what for layer, what in report.checks if layer == piled_up.LAYER}
    assert any("n=128000" in what for what in held) == (wrong != "-")
    # What it asks is no one else's.
    assert {*known.described} == described


def test_a_million_equal_names_of_the_red_team_are_among_the_piles() -> None:
    """A count of 16 bits in each of 16 blocks (`soundex/pairs_in_shared`) runs over beyond them."""
    work = once_read.parsed("soundex/base").work
    top = max((line[-1].plain for line in _lines(work)), key=lambda one: one.case["names"])
    assert top.case["names"] > 16 * (1 << 16)
    made = Contents(work).of(top)
    assert np.unique(made["text"]).tolist() == [97]
    assert np.unique(made["length"].view(np.int32)).tolist() == [1]


def test_the_red_teams_sums_and_counts_run_over_there() -> None:
    """Grids of 528 blocks of 256 threads, by which a block's share is known."""
    work = once_read.parsed("rookery/base").work
    [line] = _lines(work)
    threads, blocks = 256, 528
    sums, counts = [], []
    for pile in line:
        n = pile.plain.case["n"]
        rounds = n // (threads * blocks)
        most = threads * rounds
        counts.append(most >= 1 << 12)
        sums += [most * abs(end.end) >= 1 << 31 for end in pile.ends]
    assert counts[-1]
    assert all(sums)
    assert len(sums) == 4
    assert line[-1].plain.case["n"] > HOT
    key = next(one for one in piles.read(work) if one[0].name == "colony")
    assert piles.is_key(work, key)
    assert [one[0].name for one in piles.amounts(work)] == ["change"]
