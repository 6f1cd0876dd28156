"""Indices that overflow on cases larger than any that is declared, and who is asked about them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import beyond, enlarged, overflow, spec
from runners.bench import Bench
from runners.checks import Report
from runners.compare import Answer
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, HungError, LaunchError, OutOfMemoryError
from runners.judge import Judge
from runners.launchable import KernelLaunchable
from runners.spec import JobSpec, Json, Launch
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact

host = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

ROWS = """
extern "C" __global__ void rows(const float* x, float* y, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    size_t at = (size_t)r * width;
    for (int i = 0; i < width; ++i) y[at + i] = 3.f * x[at + i] + 1.f;
}
"""
# Numbers of 21 bits, as an unsigned has 32: no case of the other layers is so large. What overflows
# begins anew in front, since behind a negative index there is no memory that a host has for certain.
NARROW = ROWS.replace("size_t at = (size_t)r * width;", "int at = (r * width) & 0x1fffff;")
WIDE_PTX, NARROW_PTX = "mul.wide.s32 %rd3, %r1, %r2;", "mul.lo.s32 %r3, %r1, %r2;"


def _job(text: str = NARROW, base: str = ROWS, **workload: Any) -> Json:
    kernel = {"name": "rows", "path": "", "launch": None}
    shape = "rows*width"
    return {
        "kernel": {**kernel, "source": text},
        "baseline": {**kernel, "source": base},
        "workload": {
            "name": "rows",
            "kind": "kernel",
            "symbol": "rows",
            "launch": {"grid": ["(rows+63)/64"], "block": ["64"]},
            "arguments": [
                {"name": "x", "type": "const float*", "shape": shape},
                {"name": "y", "type": "float*", "shape": shape, "role": "output"},
                {"name": "rows", "type": "int", "value": "rows"},
                {"name": "width", "type": "int", "value": "width"},
            ],
            "cases": [{"values": {"rows": 96, "width": 30}}],
            **workload,
        },
        "effort": "confirm",
        "seed": 5,
    }


def _spec(**workload: Any) -> JobSpec:
    return spec.parse(_job(**workload))


@pytest.mark.parametrize(
    ("mine", "theirs", "asked"),
    [
        (NARROW_PTX, WIDE_PTX, True),
        (WIDE_PTX, WIDE_PTX, False),
        (WIDE_PTX + "\n" + WIDE_PTX, WIDE_PTX, False),
        (WIDE_PTX + "\n" + NARROW_PTX, WIDE_PTX, True),
        (NARROW_PTX, NARROW_PTX, False),
        ("", "@%p1 mad.lo.s64 %rd1, %rd2, %rd3, %rd4;", True),
        ("", "mul.lo.s64 %rd1, %rd2, 6000;", True),
        ("", "shl.b64 %rd1, %rd2, 14;", True),
        ("", "mul.wide.s32 %rd1, %r2, 4;\nshl.b64 %rd1, %rd2, 2;", False),
        # Three floats of a point: as many bytes, and a place in an `int`.
        (
            "mul.lo.s32 %r2, %r1, 3;\nmul.wide.s32 %rd1, %r2, 4;",
            "mul.wide.s32 %rd1, %r1, 12;",
            True,
        ),
        (
            "mul.wide.s32 %rd1, %r1, 12;\nmul.lo.s32 %r2, %r1, 3;",
            "mul.wide.s32 %rd1, %r1, 12;",
            False,
        ),
        ("mul.wide.s32 %rd1, %r1, 4;", "mul.wide.s32 %rd1, %r1, 12;", False),
    ],
)
def test_fewer_products_of_64_bits_are_looked_into(mine: str, theirs: str, asked: bool) -> None:
    """What is multiplied by an element's size is an address, in whatever code."""
    assert enlarged.narrowed(mine, theirs) is asked


MULTIPLE = "shl.b32 %r2, %r1, 2;\n"
WIDENED = "cvt.u64.u32 %rd1, %r2;\nadd.s64 %rd4, %rd9, %rd1;\nld.global.f32 %f1, [%rd4+8];\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "asked"),
    [
        (MULTIPLE + WIDENED, "", True),
        (MULTIPLE + WIDENED, MULTIPLE + WIDENED, False),
        ("mul.lo.s32 %r2, %r1, 12;\n" + WIDENED.replace("u64.u32", "s64.s32"), "", True),
        ("mad.lo.s32 %r2, %r1, 8, %r4;\n" + WIDENED, "", True),
        (MULTIPLE + "add.s32 %r3, %r7, %r2;\n" + WIDENED.replace("%r2", "%r3"), "", True),
        # A place that is multiplied when it is wide; a number that nothing is found by; a product
        # of two variables, which is a place; bits of an exponent; the other way round.
        (
            MULTIPLE + "cvt.u64.u32 %rd1, %r2;\nshl.b64 %rd2, %rd1, 2;\nld.f32 %f1, [%rd2];",
            "",
            False,
        ),
        (MULTIPLE + "cvt.u64.u32 %rd1, %r2;\nst.shared.f32 [%r2], %f1;", "", False),
        (MULTIPLE + "mul.wide.s32 %rd1, %r2, 4;", "", False),
        ("mul.lo.s32 %r2, %r1, %r9;\n" + WIDENED, "", False),
        ("shl.b32 %r2, %r1, 23;\n" + WIDENED, "", False),
        (WIDENED + MULTIPLE, "", False),
    ],
)
def test_distances_of_32_bits_are_looked_into(mine: str, theirs: str, asked: bool) -> None:
    """A place that is right in every `int` is no longer so when it is counted in bytes."""
    assert enlarged.in_bytes(mine, theirs) is asked


@pytest.mark.parametrize(
    "text",
    [
        "\n \t" * 100_000,
        "shl.b32 %r," + " " * 100_000,
        "\n".join(["ld." * 9] * 9_000),
        "\t@%p1 " * 40_000,
    ],
)
def test_code_of_strangers_is_read_in_a_time_that_grows_with_it(text: str) -> None:
    """Assembly within a kernel comes as it is, its empty lines too."""
    began = time.process_time()
    assert not enlarged.in_bytes(text, text)
    assert not enlarged.narrowed(text, text)
    assert time.process_time() - began < 2.0


def test_a_case_may_have_more_bytes_than_a_word_counts() -> None:
    """Of no more elements than an `int` does."""
    terms = {
        "arguments": [
            {"name": "x", "type": "const float*", "shape": "rows"},
            {"name": "y", "type": "float*", "shape": "rows", "role": "output"},
            {"name": "rows", "type": "int", "value": "rows"},
        ]
    }
    work = _spec(**terms).work
    assert work.launch is not None
    assert enlarged.case(work, [work.launch]) is None
    found = enlarged.case(work, [work.launch], 2**32, measure=enlarged.nbytes)
    assert found is not None
    assert 2**30 * 1.01 < found["rows"] < 2**30 * 1.011
    assert enlarged.longest(work, found) == 4 * found["rows"]


def test_a_case_is_a_little_larger_than_the_limit() -> None:
    """The rows grow, by whole numbers that fit, to an odd multiple of what they are one of."""
    work = _spec().work
    assert work.launch is not None
    found = enlarged.case(work, [work.launch])
    assert found is not None
    assert found["width"] == 30
    assert found["rows"] % 64 == 32
    assert 2**31 * 1.01 < found["rows"] * 30 < 2**31 * 1.02
    assert enlarged.grown(work, found) == {"y"}
    assert enlarged.growth(work, found, work.cases[0].values) == found["rows"] / 96
    # The buffers hold 17.4 GB.
    assert enlarged.case(work, [work.launch], most_bytes=17e9) is None
    assert enlarged.case(work, [work.launch], most_bytes=18e9) == found


def test_what_a_launch_cannot_have_is_no_case() -> None:
    """A grid's height ends at 65535: the other variable has to grow, if it may."""
    work = _spec().work
    tall = Launch(("1", "rows"), ("32",))
    found = enlarged.case(work, [tall])
    assert found is not None
    assert (found["rows"], found["width"] % 4) == (96, 2)
    assert enlarged.case(work, [Launch(("1", "rows", "width"), ("32",))]) is None


def test_one_count_in_an_int_goes_nowhere() -> None:
    """Not even where the count is a product: an argument has to hold it."""
    arguments = [
        {"name": "x", "type": "float*", "shape": "n*m", "role": "inout"},
        {"name": "n", "type": "int", "value": "n*m"},
    ]
    cases = [{"values": {"n": 1000, "m": 10}}]
    terms: Json = {"arguments": arguments, "cases": cases, "launch": {"grid": [1], "block": [32]}}
    work = _spec(**terms).work
    assert enlarged.case(work, [Launch(("1",), ("32",))]) is None
    arguments[1]["type"] = "long long"
    assert enlarged.case(_spec(**terms).work, [Launch(("1",), ("32",))]) is not None


def test_outputs_have_to_grow() -> None:
    """A longer sum is no other index, and has another rounding error."""
    job = _job()["workload"]
    job["arguments"][1]["shape"] = "rows"
    work = _spec(**job).work
    assert enlarged.case(work, [Launch(("rows",), ("32",))]) is not None
    assert enlarged.case(work, [Launch(("1", "rows"), ("32",))]) is None


def test_outputs_that_are_exact_need_not_grow() -> None:
    """The largest of twice as many points, and where it is, is found by the same comparisons."""
    job = _job(tolerance={"rtol": 0, "atol": 0})["workload"]
    job["arguments"][1] |= {"shape": "1"}
    work = _spec(**job).work
    found = enlarged.case(work, [Launch(("264",), ("32",))])
    assert found is not None
    assert enlarged.grown(work, found) == {"y"}
    job["tolerance"] = {"rtol": 1e-5, "atol": 0}
    assert enlarged.case(_spec(**job).work, [Launch(("264",), ("32",))]) is None


LARGEST = """
extern "C" __global__ void rows(const float* x, float* y, int rows, int width) {
    if (blockIdx.x || threadIdx.x) return;
    float most = x[0];
    for (int r = 0; r < rows; ++r) {
        size_t at = (size_t)r * width;
        for (int i = 0; i < width; ++i) most = fmaxf(most, x[at + i] + (r == rows - 1 && i == 7 ? 1e6f : 0.f));
    }
    y[0] = most;
}
"""


@host
@pytest.mark.parametrize("short", [False, True])
def test_a_place_that_overflows_is_found_where_one_number_comes_of_all(*, short: bool) -> None:
    exact = _job(LARGEST, LARGEST, tolerance={"rtol": 0, "atol": 0})
    exact["workload"]["arguments"][1] |= {"shape": "1"}
    narrow = "short at = r * width; if (at < 0) break;"
    text = LARGEST.replace("size_t at = (size_t)r * width;", narrow) if short else LARGEST
    found = Pair(text, LARGEST, exact).found()
    assert not found.unknown
    assert bool(found.wrong) == short


@pytest.mark.parametrize(
    ("init", "fine"),
    [
        ("normal", True),
        ("randint:0:9", True),
        ("ones", True),
        ("sorted", False),
        ("arange", False),
        ("permutation", False),
        ("python:make.py:make", False),
    ],
)
def test_contents_are_repeated_where_they_may_be(init: str, fine: bool) -> None:
    """Where the order means something a repetition is another kind of input."""
    job = _job()["workload"]
    job["arguments"][0]["init"] = init
    assert enlarged.tiled(_spec(**job).work) is fine


# Numbers of `bits` bits, one behind the other, and where they begin.
COLUMN = """
extern "C" __global__ void column(const unsigned* words, unsigned* out, int n, int bits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long at = (unsigned long long)i * bits;
    unsigned v = words[at / 32] >> at % 32;
    if (at % 32 + bits > 32) v |= words[at / 32 + 1] << (32 - at % 32);
    out[i] = v & 0xffffffffu >> (32 - bits);
}
"""


def _column(bits: float = 11, **more: Any) -> Json:
    arguments = [
        {
            "name": "words",
            "type": "const unsigned*",
            "shape": "(n*bits+31)/32",
            "init": "randint:0:4294967296",
        },
        {"name": "out", "type": "unsigned*", "shape": "n", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "bits", "type": "int", "value": "bits"},
    ]
    launch = {"grid": ["(n+63)/64"], "block": ["64"]}
    job = _job(COLUMN, COLUMN)
    for one in ("kernel", "baseline"):
        job[one]["name"] = "column"
    values = {"n": 400, "bits": bits}
    terms = {"name": "column", "symbol": "column", "launch": launch, "arguments": arguments}
    job["workload"] |= terms | {"cases": [{"values": values}]} | more
    return job


@pytest.mark.parametrize(
    ("shape", "places", "several"),
    [
        ("n", 0, 0),
        ("4*n", 0, 0),
        ("(n+31)/32", 1031, 0),
        ("(n*5+7)/8", 5007, 5007),
        ("n*((n+63)/64)", 1063000, 1063000),
        ("n//4*8", 8000, 8000),
        ("n/in", 0, 0),
    ],
)
def test_what_an_element_holds_several_of_is_counted(shape: str, places: int, several: int) -> None:
    """Bits of words and pairs are computed before they are divided; rounding up adds a few."""
    job = _job()["workload"]
    job["arguments"][1]["shape"] = shape
    job["arguments"][0]["shape"] = "n"
    job["cases"] = [{"values": {"n": 1000, "in": 1, "rows": 1, "width": 1}}]
    work = _spec(**job).work
    case = work.cases[0].values
    assert enlarged.places(work.arguments[1], case) == places
    assert enlarged.parted(work, case) == several
    far = {**case, "n": 2.0**62}
    assert places == 0 or enlarged.places(work.arguments[1], far) >= 2**62


def test_a_case_may_be_large_in_bits_alone() -> None:
    """No buffer of it has so many elements, as numbers are counted in an int."""
    work = spec.parse(_column()).work
    assert work.launch is not None
    assert enlarged.case(work, [work.launch]) is None
    found = enlarged.case(work, [work.launch], 2**32, measure=enlarged.places)
    assert found is not None
    assert found["bits"] == 11
    assert 2**32 * 1.01 < found["n"] * 11 < 2**32 * 1.011
    short = enlarged.case(work, [work.launch], 2**32, 2.1e9, enlarged.places)
    assert short is None
    short = enlarged.case(work, [work.launch], 2**31, 2.1e9, enlarged.places)
    assert short is not None
    assert 2**31 * 1.01 < short["n"] * 11 < 2**31 * 1.011
    # Of what declared cases reach there is nothing to ask.
    job = _column(cases=[{"values": {"n": 4e8, "bits": 11}}])
    work = spec.parse(job).work
    assert enlarged.case(work, [Launch(("1",), ("1",))], 2**32, measure=enlarged.places) is None


class Pair:
    """Original and candidate on a device of host memory, with a limit of 2^15."""

    def __init__(self, text: str, base: str = ROWS, job: Json | None = None) -> None:
        self.gpu = HostGpu()
        self.job = spec.parse(job or _job(text, base))
        self.bench = Bench(self.gpu, self.job.work)
        launch = self.job.work.launch
        self.pair = tuple(
            KernelLaunchable(self.gpu, artifact(one), self.job.work, launch) for one in (text, base)
        )

    def found(self, limit: int = 2**15, case: Any = None) -> beyond.Found:
        """Compare them, with an answer whose budgets are empty."""
        work = self.job.work
        assert work.launch is not None
        changed = case or enlarged.case(work, [work.launch], limit)
        assert changed is not None
        out = work.arguments[1]
        answers = {out.name: Answer(out.name, out.type, np.zeros(0, np.uint8), (None,))}
        contents = self.bench.contents.of

        def made(case: Any) -> Any:
            return contents(Combination(case, DECLARED, 5))

        mine, theirs = self.pair
        return beyond.compared(self.gpu, work, (mine, theirs), changed, made, answers, limit)


SHORT = ROWS.replace("size_t at = (size_t)r * width;", "short at = r * width;")
TIMES = {
    "the same": (ROWS, ""),
    "other rounding": (ROWS.replace("3.f * x[at + i] + 1.f", "fmaf(3.001f, x[at + i], 1.f)"), ""),
    "short": (SHORT, "an index overflows: y["),
    "rows left out": (ROWS.replace("r >= rows", "r >= rows || r > 1091"), "an index overflows: y["),
}


@host
@pytest.mark.parametrize("name", TIMES)
def test_an_index_that_overflows_is_found(name: str) -> None:
    """What is right there in any type, and however rounded, is right."""
    text, words = TIMES[name]
    pair = Pair(text)
    before = set(pair.gpu.memory)
    found = pair.found()
    assert not found.unknown
    assert not found.lost
    assert words in found.wrong
    assert bool(found.wrong) == bool(words)
    assert set(pair.gpu.memory) == before


IN_PLACE = ROWS.replace("y[at + i] = 3.f * x[at + i] + 1.f", "y[at + i] *= 1.02f + 0.f * x[at + i]")
STEPS = {
    "the same": (IN_PLACE, False),
    "other rounding": (IN_PLACE.replace("1.02f", "1.021f"), False),
    "rows left as they are": (IN_PLACE.replace("r >= rows", "r >= rows || r > 1091"), True),
    "short": (IN_PLACE.replace("size_t at = (size_t)r * width;", "short at = r * width;"), True),
}


@host
@pytest.mark.parametrize("name", STEPS)
def test_what_is_left_as_it_was_is_no_rounding(name: str) -> None:
    """A step in place that changes a number by one part in fifty."""
    text, wrong = STEPS[name]
    shape = {"shape": "rows*width", "init": "uniform"}
    job = _job(text, IN_PLACE)
    job["workload"]["arguments"][0] |= shape
    job["workload"]["arguments"][1] |= {**shape, "role": "inout"}
    found = Pair(text, IN_PLACE, job).found()
    assert not found.unknown
    assert bool(found.wrong) is wrong


# Where a number begins, of which there are more than 2^16.
PLACES = {
    "unsigned at = i * bits;": "",
    "unsigned at = (unsigned short)(i * bits);": "an index overflows: out[",
    "int at = (short)(i * bits);": "an index overflows: out[",
    "int at = i * bits; if (at > 65536 && at < 65800) at -= 65536;": "an index overflows: out[59",
}


@host
@pytest.mark.parametrize("place", PLACES)
def test_a_place_in_bits_that_overflows_is_found(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A window lies behind where it does, not at the ends of the output alone."""
    monkeypatch.setattr(beyond, "WINDOW", 64)
    left = "unsigned long long at = (unsigned long long)i * bits;"
    assert left in COLUMN
    pair = Pair(COLUMN.replace(left, place), COLUMN, _column())
    found = pair.found(2**15, {"n": 400000.0, "bits": 11.0})
    assert not found.unknown
    assert PLACES[place] in found.wrong
    assert bool(found.wrong) == bool(PLACES[place])


UNABLE = {
    "overflows itself": SHORT,
    "does nothing": ROWS.replace("r >= rows", "r >= rows || rows > 1000"),
    "stops early": ROWS.replace("r >= rows", "r >= rows || r > 1000"),
    "reads elsewhere": ROWS.replace("x[at + i] +", "x[(short)(at + i)] +"),
}


@host
@pytest.mark.parametrize("name", UNABLE)
def test_what_the_original_cannot_do_is_not_asked(name: str) -> None:
    """An original that does not do the same twice, or nothing at all, decides nothing."""
    found = Pair(ROWS, UNABLE[name]).found()
    assert not found.wrong
    assert found.unknown


@host
def test_who_breaks_the_device_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an original that fails nothing is held against the candidate, of a candidate it is."""

    class Breaks:
        hosted, retained, streams = False, None, None

        def __init__(self, error: Exception) -> None:
            self._error = error

        def begins(self) -> None:
            pass

        def device_bytes(self) -> int:
            return 0

        def failed(self) -> str:
            return ""

        def bind(self, case: Any, addresses: Any) -> Any:
            raise self._error

    pair = Pair(ROWS)
    mine, theirs = pair.pair
    pair.pair = (mine, Breaks(DeviceError("illegal address")))  # type: ignore[assignment]
    found = pair.found()
    assert found.lost
    assert "illegal address" in found.unknown
    pair.pair = (mine, Breaks(LaunchError("no")))  # type: ignore[assignment]
    assert not pair.found().lost
    pair.pair = (Breaks(DeviceError("illegal address")), theirs)  # type: ignore[assignment]
    with pytest.raises(DeviceError, match=r"rows=1120 width=30, .*: illegal address"):
        pair.found()
    pair.pair = (Breaks(LaunchError("no")), theirs)  # type: ignore[assignment]
    assert "not launched" in pair.found().unknown

    def full(size: int) -> int:
        raise OutOfMemoryError(str(size))

    monkeypatch.setattr(pair.gpu, "allocate", full)
    assert "memory" in pair.found().unknown


@host
def test_an_original_that_takes_too_long_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes 64 times as long on eight times as much is not run to its end."""
    pair, ran = Pair(ROWS), []

    def took(_gpu: Any, _one: Any, case: Any, *_rest: Any) -> float:
        ran.append(case["rows"])
        return float(case["rows"] / 96) ** 2 * 1e-3

    monkeypatch.setattr(beyond, "_took", took)
    monkeypatch.setattr(beyond, "SECONDS", 2.0)
    assert "more than 2 s" in pair.found(2**19).unknown
    assert ran == [96, 96 * 8]
    monkeypatch.setattr(beyond, "SECONDS", 0.02)
    assert "more than" in pair.found().unknown


@host
@pytest.mark.parametrize("way", ["slow", "slower", "never ends"])
def test_a_candidate_that_is_slow_so_far_out_is_told_from_one_that_never_ends(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """What goes through a table in more passes is slower and slower; an index that has run over
    is found at the end alone."""
    pair, ran = Pair(ROWS), []
    mine, _ = pair.pair

    def took(_gpu: Any, one: Any, case: Any, *_rest: Any) -> float:
        if one is not mine:
            return 1e-4
        ran.append(case["rows"])
        if way != "slow" and case["rows"] > 96 * (8 if way == "slower" else 64):
            raise HungError("still running after 5 s")
        # The first time it makes room for itself.
        return float(case["rows"] / 96) ** 2 * (0.02 if way == "slow" else 1e-5 + (len(ran) == 1))

    monkeypatch.setattr(beyond, "_took", took)
    monkeypatch.setattr(beyond._World, "differs", lambda *_, **__: "")
    monkeypatch.setattr(beyond._World, "wrote", lambda *_: True)
    if way != "never ends":
        found = pair.found(2**19)
        assert (found.wrong, found.lost) == ("", way == "slower")
        assert found.unknown == "the candidate would take more than 5 s"
        assert ran == [96, 96, 768, 768] + [6144] * (way == "slower")
    else:
        with pytest.raises(HungError, match="where the original runs: still running"):
            pair.found(2**19)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    def device_code(text: str, _job: Json) -> str:
        return NARROW_PTX if "int at" in text else WIDE_PTX

    monkeypatch.setattr(enlarged, "LIMIT", 2**21)
    made = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, device_code=device_code)
    made._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    yield made
    made.close()


@host
@pytest.mark.parametrize("text", [NARROW, ROWS.replace("size_t at = (size_t)r", "int at = r")])
def test_a_finalist_is_asked(judge: Judge, text: str) -> None:
    """It is wrong where its index overflows, and there alone."""
    job = _job(text)
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(ROWS)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    checks = [check for check in verdict["checks"] if check["layer"] == beyond.LAYER]
    assert not lost
    assert [check["passed"] for check in checks] == [text != NARROW], verdict["log"]
    assert verdict["status"] == ("correct" if text != NARROW else "wrong result")
    assert text != NARROW or "an index overflows" in verdict["log"]


@host
@pytest.mark.parametrize("short", [False, True])
def test_a_finalist_is_asked_about_places_in_bits(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, *, short: bool
) -> None:
    """Where no buffer can have so many elements, their bits may be as many."""
    monkeypatch.setattr(enlarged, "LIMIT", 2**23)
    # A grid's height ends at 4 million numbers. Places have 24 bits, as those of an unsigned 32.
    base = COLUMN.replace("blockIdx.x", "blockIdx.y")
    narrow = "int at = i * bits;" + " at = at << 8 >> 8 & 0xffffff;" * short
    text = base.replace("unsigned long long at = (unsigned long long)i * bits;", narrow)
    job = _column(17, launch={"grid": ["1", "(n+63)/64"], "block": ["64"]})
    job["kernel"]["source"], job["baseline"]["source"] = text, base
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(base)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    checks = [check for check in verdict["checks"] if check["layer"] == beyond.LAYER]
    assert not lost
    assert [check["passed"] for check in checks] == [not short], verdict["log"]
    assert [check["what"] for check in checks] == ["n=996784 bits=17"]
    assert verdict["status"] == ("wrong result" if short else "correct")


def _counted_wide() -> Json:
    job = _column()
    job["workload"]["arguments"][2]["type"] = "long long"
    return job


@host
@pytest.mark.parametrize(
    ("most", "us", "asked", "says"),
    [
        # The elements' case, which has as many bits.
        (1 << 40, 1.0, [2**21 * 32 / 11], ""),
        # It does not fit, or takes too long: that of 2^22 bits, then that of 2^21.
        (14 << 20, 1.0, [2**22 / 11], "the memory does not suffice"),
        (3 << 20, 1.0, [2**21 / 11], "the memory does not suffice"),
        (1 << 20, 1.0, [], "the memory does not suffice"),
        (1 << 40, 1e3, [2**22 / 11], "it would take 46 s"),
    ],
)
def test_places_in_bits_are_asked_where_elements_are_not(
    monkeypatch: pytest.MonkeyPatch, most: int, us: float, asked: list[float], says: str
) -> None:
    """One case shows both where there is the room for it."""
    monkeypatch.setattr(enlarged, "LIMIT", 2**21)
    ran = []

    class Asked:
        def beyond(self, changed: Any, *_rest: Any) -> beyond.Found:
            ran.append(changed["n"])
            return beyond.Found()

    class Room(HostGpu):
        def free_bytes(self) -> int:
            return most

    known: Any = type("Known", (), {"of": lambda *_: None})()
    measured = {"cases": [{"baseline_us": [us]}], "notes": []}
    session: Any = Asked()
    job, report = spec.parse(_counted_wide()), Report()
    found = overflow.compared(session, job, Room(), known, measured, report)
    assert not found.wrong
    assert found.unknown == says
    assert ran == [pytest.approx(1.01 * one, rel=2e-3) for one in asked]
    assert len(report.as_json()) == len(asked)


@host
@pytest.mark.parametrize(
    ("asked", "most", "rows"),
    [
        # 30 numbers of four bytes are a row: 4 MiB are exceeded, or 2 MiB where there is no room.
        ((False, True), 1 << 40, [2**22 / 120]),
        ((False, True), 14 << 20, [2**21 / 120]),
        # What has more elements than are counted has more bytes, too.
        ((True, True), 1 << 40, [2**21 / 30]),
        ((True, True), 14 << 20, [2**21 / 120]),
        ((True, False), 14 << 20, []),
    ],
)
def test_more_bytes_are_asked_about_where_elements_are_not(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[bool, bool], most: int, rows: list[float]
) -> None:
    """One case shows both where there is the room for it."""
    monkeypatch.setattr(enlarged, "LIMIT", 2**21)
    ran = []

    class Asked:
        def beyond(self, changed: Any, *_rest: Any) -> beyond.Found:
            ran.append(changed["rows"])
            return beyond.Found()

    class Room(HostGpu):
        def free_bytes(self) -> int:
            return most

    known: Any = type("Known", (), {"of": lambda *_: None})()
    measured = {"cases": [{"baseline_us": [1.0]}], "notes": []}
    session: Any = Asked()
    overflow.compared(session, _spec(), Room(), known, measured, Report(), asked)
    assert ran == [pytest.approx(1.01 * one, rel=5e-3) for one in rows]


class Full(HostGpu):
    """A device that is nearly full."""

    def free_bytes(self) -> int:
        return 1 << 20


@host
@pytest.mark.parametrize(
    ("gpu", "init", "us", "says"),
    [
        (Full, "normal", 1.0, "the memory does not suffice"),
        (HostGpu, "sorted", 1.0, "contents cannot be repeated"),
        (HostGpu, "normal", 1e5, "it would take 221 s"),
    ],
)
def test_what_cannot_be_run_is_said(
    monkeypatch: pytest.MonkeyPatch, gpu: Any, init: str, us: float, says: str
) -> None:
    """Nothing is held against a candidate then."""
    monkeypatch.setattr(enlarged, "LIMIT", 2**21)
    terms = _job()["workload"]
    terms["arguments"][0]["init"] = init
    job, report = _spec(**terms), Report()
    measured = {"cases": [{"baseline_us": [us]}], "notes": []}
    pair: Any = None
    assert overflow.compared(pair, job, gpu(), pair, measured, report).unknown == says
    assert not report.checks


@host
def test_arguments_that_lead_nowhere_are_a_proof() -> None:
    """It is a check that passed."""
    terms = _job()["workload"] | {"launch": {"grid": ["1", "rows", "width"], "block": ["64"]}}
    report = Report()
    none: Any = None
    found = overflow.compared(none, _spec(**terms), HostGpu(), none, {}, report)
    assert found == beyond.Found()
    assert [check["passed"] for check in report.as_json()] == [True]
