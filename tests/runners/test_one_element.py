"""One element of one array is another: what is kept for a part of the contents is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import capacities, cuda_types, one_element, spec, verify
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.cuda_types import values
from runners.inputs import stream
from runners.launchable import Bound
from runners.one_element import (
    HIGH,
    LOW,
    MOST,
    MOST_ZERO,
    NEW,
    OTHER,
    SHORT,
    SWAP,
    ZERO,
    Change,
    change,
    changes,
    zeroed,
)
from runners.rows import ROW_ELEMENTS, SINGLE, asked_in_rows, base_of, rows
from runners.session import LocalSession, Session
from runners.spec import JobSpec, Json, Work
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_inputs import _pointer, _work
from tests.runners.test_judge import _job
from tests.runners.test_streams import Device

# What a change is.


def _both(work: Work, one: Change, seed: int = 1) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the elements of x as declared and with a change, as bytes."""
    case, size = work.cases[0].values, work.arguments[0].type.size
    contents = Contents(work)
    before, after = (
        contents.of(Combination(case, family, seed))["x"].reshape(-1, size)
        for family in ("declared", one.family)
    )
    return before, after


def _of(work: Work) -> list[Change]:
    return changes(work, work.cases[0].values)


KINDS = ("float*", "half*", "bfloat16*", "double*", "float4*", "int*", "unsigned char*", "int2*")
STRUCT = "struct{float a; int b; unsigned char c;}*"


@pytest.mark.parametrize("kind", [*KINDS, STRUCT])
@pytest.mark.parametrize("init", ["normal", "uniform", "randint:0:2", "randint:5:90"])
@pytest.mark.parametrize("count", [1, 2, 3, 10, 5003])
def test_one_element_is_another_and_no_more(kind: str, init: str, count: int) -> None:
    """Of a struct or a vector one number of it."""
    work = _work(_pointer(kind, init), n=count)
    asked = _of(work)
    assert len({one.family for one in asked}) == len(asked)
    fields = work.arguments[0].type.fields
    for one in asked:
        before, after = _both(work, one)
        apart = int((before != after).any(axis=1).sum())
        if one.way in {NEW, SWAP}:
            assert apart <= (count if one.way == NEW else 2)
            continue
        assert apart == 1
        numbers = [
            int(
                (
                    values(before, work.arguments[0].type, f)
                    != values(after, work.arguments[0].type, f)
                ).sum()
            )
            for f in fields
        ]
        assert sum(numbers) == 1
    lanes = sum(field.lanes for field in fields)
    places = {one.at for one in asked if one.way in {LOW, HIGH, OTHER}}
    if count * lanes <= SHORT:
        assert places == set(range(count * lanes))
    elif len(fields) == 1:
        assert {0, count * lanes - 1} < places
        assert len(places) == 3


@given(st.integers(-(2**31), 2**31 - 2), st.integers(1, 2**20), st.integers(0, 99))
def test_whole_numbers_stay_in_their_range(low: int, width: int, seed: int) -> None:
    """And their lowest bit alone is another wherever that stays in it."""
    high = min(low + width, 2**31)
    work = _work(_pointer("int*", f"randint:{low}:{high}"), n=5)
    for one in _of(work):
        before, after = (data.view("i4").reshape(-1).tolist() for data in _both(work, one, seed))
        assert all(low <= number < high for number in after)
        if one.way in {NEW, SWAP}:
            continue
        ((mine, theirs),) = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        if one.way == LOW:
            assert theirs in {mine ^ 1, mine - 1, mine + 1}
            assert theirs == mine ^ 1 or not low <= mine ^ 1 < high
        if one.way == OTHER:
            assert abs(theirs - mine) >= min(width, high - low) // 4


def test_the_highest_bit_of_a_full_range_is_that_of_its_type() -> None:
    """And where the range has fewer bits, the highest of these."""
    for kind, init, view, want in (
        ("unsigned*", "randint:0:4294967296", "u4", {1 << 31}),
        ("unsigned char*", "randint:0:256", "u1", {1 << 7}),
        ("int*", "randint:0:1024", "u4", {1 << 9}),
        ("int*", "randint:-2147483648:2147483648", "u4", {1 << 31}),
        ("int*", "normal", "u4", {1 << bit for bit in range(7)}),
        ("unsigned long long*", "randint:0:1099511627776", "u8", {1 << 39}),
    ):
        work = _work(_pointer(kind, init), n=7)
        for one in (one for one in _of(work) if one.way == HIGH):
            before, after = (data.view(view).reshape(-1) for data in _both(work, one))
            assert {int(bits) for bits in before ^ after} - {0} <= want


@pytest.mark.parametrize(
    ("kind", "word", "sign"),
    [("float*", "u4", 31), ("half*", "u2", 15), ("bfloat16*", "u2", 15), ("double*", "u8", 63)],
)
def test_floats_differ_in_the_last_place_in_the_sign_or_by_a_lot(
    kind: str, word: str, sign: int
) -> None:
    """What is drawn between zero and one stays there."""
    work = _work(_pointer(kind), n=8)
    for one in _of(work):
        before, after = (data.view(word).reshape(-1) for data in _both(work, one))
        bits = {int(bits) for bits in before ^ after} - {0}
        if one.way in {LOW, HIGH}:
            assert bits == {1 if one.way == LOW else 1 << sign}
    if kind == "bfloat16*":
        return
    work = _work(_pointer(kind, "uniform"), n=8)
    for one in _of(work):
        _, after = (data.view(word.replace("u", "f")).reshape(-1) for data in _both(work, one))
        assert ((after >= 0) & (after <= 1)).all()


def test_a_permutation_stays_one() -> None:
    for count in (2, 3, 16, 5000):
        work = _work(_pointer("int*", "permutation"), n=count)
        asked = _of(work)
        assert len(asked) == 1 + min(count - 1, SHORT - 1 if count <= SHORT else 3)
        for one in asked:
            before, after = (data.view("i4").reshape(-1) for data in _both(work, one))
            assert np.array_equal(np.sort(after), np.arange(count))
            if one.way == SWAP:
                assert np.flatnonzero(before != after).tolist() == [one.at, one.at + 1]


@pytest.mark.parametrize("init", ["arange", "zeros", "ones", "sorted", "randint:7:8"])
def test_what_has_an_order_or_one_value_keeps_its_elements(init: str) -> None:
    """What is sorted is drawn once more, as a whole, and sorted then, too."""
    asked = _of(_work(_pointer("int*", init), n=9))
    ways = {one.way for one in asked}
    assert ways <= {NEW, SWAP}
    if init == "sorted":
        work = _work(_pointer("float*", init), n=9)
        (one,) = _of(work)
        before, after = (data.view("f4").reshape(-1) for data in _both(work, one))
        assert not np.array_equal(before, after)
        assert (np.diff(after) >= 0).all()
    elif not init.startswith("randint"):
        assert not asked


def test_there_are_no_denormals_and_no_nan_of_numbers_that_are_none() -> None:
    """Zero and infinity have no other last place; real values take others that are there."""
    work = _work(_pointer("float*"), n=4)
    argument = work.arguments[0]
    data = np.array([0.0, np.inf, np.nan, 1.5], np.float32)
    held = {"x": data.view(np.uint8)}

    def made(at: int, way: str) -> float:
        found = one_element.applied(Change("x", at, way), work, held, {"n": 4.0}, 1)["x"]
        return float(found.view("f4")[at])

    assert [made(at, LOW) for at in range(2)] == [0.0, np.inf]
    assert np.isnan(made(2, HIGH))
    assert made(3, LOW) == np.nextafter(np.float32(1.5), np.float32(2))
    real = dataclasses.replace(argument, init="capture:some")
    work = dataclasses.replace(work, arguments=(real,))
    assert {one.way for one in _of(work)} == {LOW, HIGH, OTHER, SWAP, NEW}
    assert made(3, OTHER) in {0.0, np.inf} or np.isnan(made(3, OTHER))
    assert made(3, HIGH) == 0.75  # none of them is below zero
    new = one_element.applied(Change("x", 0, NEW), work, held, {"n": 4.0}, 1)["x"]
    assert sorted(new.view("u4").tolist()) == sorted(data.view("u4").tolist())
    wide = dataclasses.replace(real, type=cuda_types.parse("const int*"))
    assert not _of(dataclasses.replace(work, arguments=(wide,)))  # they may be indices


@pytest.mark.parametrize(
    ("kind", "init", "may"),
    [("float*", "normal", True), ("half*", "uniform", True), ("int*", "normal", True),
     ("float*", "randint:-1:2", True), ("unsigned char*", "randint:0:256", True),
     ("bool*", "normal", True), (STRUCT, "normal", True), ("float4*", "normal", True),
     ("int*", "randint:1:9", False), ("float*", "randint:5:9", False), ("int*", "randint:-9:0", False),
     ("int*", "randint:0:1", False), ("int*", "permutation", False), ("float*", "sorted", False),
     ("float*", "zeros", False), ("float*", "ones", False), ("int*", "arange", False),
     ("float*", "capture:some", False), ("float*", "file:x.npy", False)],
)  # fmt: skip
def test_an_array_is_all_zeros_where_it_may_be(kind: str, init: str, may: bool) -> None:
    """What is declared has zero among what it is drawn from, and no order or source of its own."""
    work = _work(_pointer(kind, "normal"), n=9)
    work = dataclasses.replace(work, arguments=(dataclasses.replace(work.arguments[0], init=init),))
    found = zeroed(work, {"n": 9.0})
    assert [one.family for one in found] == (["only x[] zero"] if may else [])
    assert change("only x[] zero") == Change("x", 0, ZERO)
    for one in found:
        before, after = _both(work, one)
        assert before.any()
        assert not after.any()
        assert before.shape == after.shape


def test_short_arrays_are_zero_first_and_no_others_change() -> None:
    """One at a time, of those that a call is given; an array of nothing is left out."""
    given = [
        {**_pointer("int*", "randint:0:9"), "name": name, "shape": shape}
        for name, shape in zip("abcdefgh", ["n", "3", "n", "2", "7", "0*n", "n", "1"], strict=True)
    ]
    output = {**_pointer(), "name": "y", "role": "output"}
    work = _work(*given, {**_pointer(), "name": "z", "role": "inout"}, output, n=50)
    asked = zeroed(work, {"n": 50.0})
    assert [one.name for one in asked] == list("hdbeac")
    assert len(asked) == MOST_ZERO
    contents = Contents(work)
    base = contents.of(Combination({"n": 50.0}, "declared", 1))
    for one in asked:
        made = contents.of(Combination({"n": 50.0}, one.family, 1))
        assert {name for name in made if made[name] is not base[name]} == {one.name}


def test_all_arrays_take_turns_and_there_is_an_end() -> None:
    """A short array has all of its changes beside longer ones; no output has any."""
    arguments = [
        {**_pointer("unsigned char*", "randint:0:256"), "name": name, "shape": shape}
        for name, shape in (("a", "n"), ("b", "16"), ("c", "2"))
    ]
    work = _work(*arguments, {**_pointer(), "name": "y", "role": "output"}, n=5000)
    asked = changes(work, {"n": 5000.0})
    assert len(asked) == MOST
    assert [one.way for one in asked[:3]] == [NEW] * 3
    counts = {name: sum(one.name == name for one in asked) for name in "abc"}
    assert counts == {"a": 1 + 9 + 1, "b": MOST - 11 - 8, "c": 1 + 6 + 1}
    once = [one.at for one in asked if one.name == "b" and one.way in {LOW, HIGH, OTHER}]
    assert set(once[:16]) == set(range(16))
    assert len({one.way for one in asked if one.name == "b"} & {LOW, HIGH, OTHER}) == 3


@given(st.text(max_size=30))
def test_a_family_is_a_change_only_where_it_is_named_so(text: str) -> None:
    found = change(text)
    assert found is None or text.startswith("only ")
    for one in (Change("x", 0, NEW), Change("a_1", 12, LOW)):
        assert change(one.family) == one
        assert not set("+@|") & set(one.family)
        assert change(f"{one.family}+jj") is None


# Which rows there are.

CIPHER = """
extern "C" __global__ void scale(
    unsigned char* data, const unsigned char* key, const unsigned* nonce, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned h = i;
        for (int k = 0; k < 10; k++) h = (h ^ key[k]) * 16777619u;
        h = ((h ^ nonce[0]) * 16777619u ^ nonce[1]) * 16777619u;
        h ^= h >> 16;
        data[i] ^= (unsigned char)(h >> 8) ^ (unsigned char)h;
    }
}
"""
ARGUMENTS = [
    {
        "name": "data",
        "type": "unsigned char*",
        "shape": "n",
        "role": "inout",
        "init": "randint:0:256",
    },
    {"name": "key", "type": "const unsigned char*", "shape": "10", "init": "randint:0:256"},
    {"name": "nonce", "type": "const unsigned*", "shape": "2", "init": "randint:0:4294967296"},
    {"name": "n", "type": "int", "value": "n"},
]
CASES = [{"values": {"n": 20011}}, {"values": {"n": 203}}]


def _described(effort: str = "confirm", **more: Any) -> Json:
    return _job(
        CIPHER, CIPHER, effort=effort, workload={"arguments": ARGUMENTS, "cases": CASES, **more}
    )


def test_each_change_stands_between_two_calls_on_what_is_declared() -> None:
    """On the same buffers, of the smallest case, only what has an answer, in a confirmation."""
    job = spec.parse(_described())
    base = base_of(job, ())
    assert base.case["n"] == 203
    asked = [one for one in asked_in_rows(job, ()) if change(one.family)]
    empty = zeroed(job.work, base.case)  # asked last, for `runners.first_calls`, and not in rows
    assert [change(one.family) for one in asked] == [*changes(job.work, base.case), *empty]
    assert [one.name for one in empty] == ["nonce", "key", "data"]
    assert all(one.case == base.case and one.seed == base.seed for one in asked)
    assert asked_in_rows(job, ())[-len(asked) :] == asked
    assert not [
        c for c in asked_in_rows(dataclasses.replace(job, effort="race"), ()) if change(c.family)
    ]
    large = _described(cases=[{"values": {"n": ROW_ELEMENTS}}])
    assert not [c for c in asked_in_rows(spec.parse(large), ()) if change(c.family)]

    known = {one.key: {"data": 1} for one in (base, *asked)}
    del known[asked[3].key]
    found = rows(job, [base], lambda one: known.get(one.key), stream(1, "rows"), 0)
    assert not any(row.apart for row in found)
    assert all(row.combinations[::2] == (base,) * (len(row.combinations) // 2 + 1) for row in found)
    between = [one for row in found for one in row.combinations[1::2]]
    assert between == [*asked[:3], *asked[4 : -len(empty)]]
    assert max(len(row.combinations) for row in found) == 2 * SINGLE + 1
    del known[base.key]
    assert not rows(job, [base], lambda one: known.get(one.key), stream(1, "rows"), 0)


# What is kept.

Key = Callable[[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]], object]


class Cipher:
    """Bytes xored with a stream that is kept under a mark made of the contents, `marked`."""

    hosted = True
    retained = None
    streams = None

    def __init__(self, gpu: Device, job: JobSpec, marked: Key | None) -> None:
        self.gpu, self.work, self.marked = gpu, job.work, marked
        self.known: object = None
        self.stream = np.zeros(0, np.uint8)
        self.kept = 0

    def begins(self) -> None:
        pass

    def device_bytes(self) -> int:
        return 0

    def holds(self) -> None:
        pass

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        count = int(case["n"])

        def work() -> None:
            data, key = (
                self.gpu.download(addresses[n], s) for n, s in (("data", count), ("key", 10))
            )
            nonce = self.gpu.download(addresses["nonce"], 8).view("u4")
            mark = (count, self.marked(data, key, nonce)) if self.marked else None
            if mark is None or mark != self.known:
                self.known, self.stream = mark, _stream(count, key, nonce)
            else:
                self.kept += 1
            self.gpu.upload(addresses["data"], data ^ self.stream)

        return lambda: self.gpu.on_null_stream(work)


def _stream(count: int, key: npt.NDArray[Any], nonce: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    h, prime = np.arange(count, dtype=np.uint32), np.uint32(16777619)
    for byte in key:
        h = (h ^ np.uint32(byte)) * prime
    h = ((h ^ nonce[0]) * prime ^ nonce[1]) * prime
    h ^= h >> np.uint32(16)
    return np.asarray((h >> np.uint32(8)).astype(np.uint8) ^ h.astype(np.uint8))


def _judged(marked: Key | None, tmp_path: Path, effort: str = "confirm") -> tuple[Report, Cipher]:
    described = _described(effort)
    job = spec.parse(described)
    gpu = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(CIPHER)
    wanted = [Combination(case.values, "declared", job.seed) for case in job.work.cases]
    request = {"job": described, "candidate": built, "baseline": built}
    answers = gpu.answers(job, request, [*wanted, *asked_in_rows(job, wanted)], 60.0)
    device, report = Device(), Report()
    mine = Cipher(device, job, marked)
    bench = Bench(cast("Any", device), job.work)
    session = LocalSession(bench, (cast("Any", mine), cast("Any", Cipher(device, job, None))), job)
    verify.in_a_row(cast("Session", session), answers, job, wanted, report, 60.0)
    return report, mine


@pytest.fixture(autouse=True)
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that others use may take longer than a device."""
    monkeypatch.setattr(capacities, "SINGLE_SECONDS", 60.0)


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

PARTS: dict[str, Key] = {
    "first word": lambda _d, key, nonce: (key.tobytes(), int(nonce[0]) | 1),
    "one word, whole": lambda _d, key, nonce: (key.tobytes(), int(nonce[0])),
    "no lowest bit": lambda _d, key, nonce: (key.tobytes(), int(nonce[0]) | 1, int(nonce[1])),
    "no highest bit": lambda _d, key, nonce: (key.tobytes(), (nonce & 0x7FFFFFFF).tobytes()),
    "key alone": lambda _d, key, _nonce: key.tobytes(),
    "nonce alone": lambda _d, _key, nonce: nonce.tobytes(),
    "half of the key": lambda _d, key, nonce: (key[:8].tobytes(), nonce.tobytes()),
    "seven bits of a byte": lambda _d, key, nonce: ((key & 0x7F).tobytes(), nonce.tobytes()),
    "sums": lambda _d, key, nonce: (int(key.sum()), nonce.tobytes()),
    "in any order": lambda _d, key, nonce: (key.tobytes(), int(nonce[0]) ^ int(nonce[1])),
    "address": lambda _d, _key, _nonce: 0,
}


@needs_compiler
@pytest.mark.parametrize("what", PARTS)
def test_what_is_kept_for_a_part_of_the_contents_is_refused(what: str, tmp_path: Path) -> None:
    """Whatever it is that is left out; what is nearly the same shows some of it, and comes first."""
    before = what in {"nonce alone", "address"}
    single = r"n=203, only \w+\[\d*\] \w+ inputs, .* calls in a row"
    with pytest.raises(Wrong, match="nearly inputs" if before else single):
        _judged(PARTS[what], tmp_path)


@needs_compiler
@pytest.mark.parametrize(
    "marked", [None, lambda _d, key, nonce: (key.tobytes(), nonce.tobytes())], ids=["none", "all"]
)
def test_what_is_kept_for_all_that_counts_is_right(marked: Key | None, tmp_path: Path) -> None:
    """Each of the calls in between is asked about, and the buffer in place is put back."""
    report, mine = _judged(marked, tmp_path)
    assert report.runs > 2 * MOST
    assert (mine.kept > 2) == (marked is not None)
    assert all(one["passed"] for one in report.as_json())


# What it may cost.


def _single(name: str, at: int = 0, way: str = LOW) -> Combination:
    return Combination({"n": 7.0}, Change(name, at, way).family, 1)


def test_an_original_is_asked_for_seconds_only() -> None:
    """From the first such contents on; all else is asked as before."""
    now = [100.0]
    watch = capacities.Watch(lambda: now[0])
    assert watch.objection(_single("x")) == ""
    now[0] += capacities.SINGLE_SECONDS
    assert watch.objection(_single("x", 1)) == ""
    now[0] += 0.1
    assert "no time left" in watch.objection(_single("x", 2))
    assert watch.objection(Combination({"n": 7.0}, "mixed", 1)) == ""


def test_an_original_that_fails_at_an_array_is_not_asked_about_it_again() -> None:
    """One that crashes would take a process each time."""
    watch = capacities.Watch()
    watch.failed(_single("x", 1))
    assert watch.objection(_single("x", 2, HIGH)) == capacities.SHORTER
    assert watch.objection(_single("y")) == ""
    assert not capacities.hopeless(Combination({"n": 7.0}, "mixed", 1), [_single("x")])
