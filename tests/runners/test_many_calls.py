"""A count of few bits that is kept from call to call is called until it has run over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners import many_calls, spec
from runners.bench import MOST_AT_ONCE, Bench
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.contents import Combination
from runners.entry_process import RemoteSession
from runners.entry_server import _Server
from runners.gpu import HungError, LaunchError
from runners.launchable import Bound
from runners.many_calls import LAYER
from runners.narrow_counts import MOST_PERIOD, periods
from runners.rows import ROW_CALLS
from runners.session import LocalSession, Session
from runners.spec import Json
from tests.redteam import table
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_rows import LINE, Line, _described
from tests.runners.test_streams import Device

CASES = Path(table.__file__).with_name("cases")

COUNTED = {
    "a static": ("void f() { static unsigned short n = 0xffff; --n; }", 1 << 16),
    "the second of some": ("void f() { static unsigned char* p, a, b = 3; b += 1; }", 256),
    "of a namespace": (
        "namespace { std::uint16_t n; }\nvoid f() { n = n == 0 ? 9 : n - 1; }",
        1 << 16,
    ),
    "of the device": ("__device__ unsigned char n;\n__global__ void k() { ++n; }", 256),
    "of an alias": ("using round_t = uint16_t; static round_t n; void f() { n++; }", 1 << 16),
    "an atomic": ("static std::atomic<uint16_t> n{0}; void f() { n.fetch_add(1); }", 1 << 16),
    "a member": ("struct S { int* p; unsigned short n; }; S s; void f() { ++s.n; }", 1 << 16),
    "of what is allocated": (
        "struct S { short n; }; void f() { static auto* s = new S; s->n++; }",
        1 << 16,
    ),
    "a member of no name": ("void f() { static struct { uint8_t n; } s; ++s.n; }", 256),
    "a field": ("static struct { unsigned at : 20, n : 12; } s; void f() { s.n += 1; }", 1 << 12),
    "a mask": ("static unsigned n; void f() { g(++n & 0xffff); }", 1 << 16),
    "a mask by a name": ("#define M 4095\nvoid f() { static long n; n = (n + 1) & M; }", 1 << 12),
    "a mask that is worked out": (
        "static int n; void f() { g((n++) & ((1u << 10) - 1)); }",
        1 << 10,
    ),
    "a rest": ("static unsigned long n; void f() { n = (n + 1) % 65535; }", 65535),
    "a rest of itself": ("static unsigned n; void f() { ++n; n %= 1000; }", 1000),
    "a shift": ("static unsigned n; void f() { g(++n << 20 | 5); }", 1 << 12),
    "a shift of a long": (
        "static int n; void f() { ++n; g((unsigned long long)n << 48); }",
        1 << 16,
    ),
    "a cast": ("static int n; void f() { ++n; g((unsigned short)n); }", 1 << 16),
    "a cast in words": ("static int n; void f() { g(static_cast<uint8_t>(++n)); }", 256),
    "a call of the type": ("static int n; void f() { g(uint16_t(n++)); }", 1 << 16),
    "a local": ("static int n; void f() { unsigned short r = ++n; g(r); }", 1 << 16),
    "a parameter": (
        """__global__ void k(int* x, unsigned short r) {}
        void f() { static int n; ++n; k<<<1, 32>>>(0, n); }""",
        1 << 16,
    ),
    "a shift in a kernel": (
        """template <int B> __global__ void k(int* x, unsigned r) { x[0] = r << 18; }
        void f() { static int n; int round = ++n; k<3><<<1, 32>>>(0, round); }""",
        1 << 14,
    ),
}
NONE = {
    "nothing": "void f(int n) { for (short i = 0; i < n; ++i) g(i & 255); }",
    "a word": "static unsigned n; void f() { ++n; g((unsigned long long)n << 32); }",
    "a flag": "static unsigned char done; void f() { if (!done) g(); done = 1; }",
    "a buffer": "static unsigned char* p; void f() { p += 5; }",
    "a constant": "static const unsigned short n = 5; void f() { g(n & 255); }",
    "a size": "static int room; void f(int n) { if (n > room) room = n; g(room % 256); }",
    "a member of what does not stay": "struct S { short n; }; void f() { S s; ++s.n; }",
    "a ring": "static int at; void f() { at = (at + 1) % 4; }",
    "a long shift": "static unsigned long n; void f() { ++n; g(n << 20); }",
    "a function": "static unsigned short next(int n) { return ++n; }",
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_narrow_count_is_found_in_a_text(name: str) -> None:
    """With the number of steps after which it is what it was."""
    text, period = COUNTED[name]
    assert periods(text) == (period,)


@pytest.mark.parametrize("name", NONE)
def test_what_does_not_run_over_is_not_found(name: str) -> None:
    """Wide counts, what is not counted, and what calls in a row show."""
    assert periods(NONE[name]) == ()


def test_of_all_that_is_to_be_accepted_nothing_is_called_so_often() -> None:
    """Rounds in 16 and in 12 bits are found; rounds in a word, and originals, are not."""
    found = {
        one.label: periods(one.source)
        for one in table.load()
        if one.base.kind == "entry" and periods(one.source)
    }
    known = {one.label: one.expect for one in table.load()}
    assert found["novel/rounds_of_16_bits"] == (1 << 16,)
    assert found["novel/rounds_and_places_in_a_word"] == (1 << 12,)
    # But for one whose stamps have 8 bits, and which clears all claims when they are used up.
    assert [name for name in found if known[name] == "accept"] == ["upsert/stamps_a"]


SCRAPS = [*"(){}[];,=<>&%:*.+", "static", "short", "char", "struct", "n", "++", "<<", "<<<", ">>>"]
SCRAPS += [
    "16",
    "using",
    "typedef",
    "atomic",
    "namespace",
    "const",
    "(unsigned short)",
    "\n#define n",
]


@given(st.lists(st.sampled_from(SCRAPS), max_size=60))
def test_no_text_raises(words: list[str]) -> None:
    """Whatever is left open or cut off; nothing beyond what calls can reach comes of it."""
    assert all(one <= MOST_PERIOD for one in periods(" ".join(words)))


def test_a_long_text_takes_little_time() -> None:
    """Names by thousands, and one thousands of times."""
    text = "".join(
        f"static short n{i}; void f{i}() {{ n{i} = n{i - 1} + 1; }}\n" for i in range(3000)
    )
    assert periods(text) == ()
    assert periods("static short n; void f() { " + "n++; " * 20_000 + "}") == (1 << 16,)
    assert periods("static short n = 1; ++n;" + " " * (1 << 18)) == ()


class Counting(Line):
    """y = gain x + shift, right as long as rounds of 8 bits are in their order, or new.

    Elements have a place by their value. `falls`: what an earlier round left there is larger than
    all of this one. `same`: what it left there is of another round. `cleared` forgets all when
    rounds have run over; `wide` has more of them; `dies` when they have; `hangs` then.
    """

    def __init__(self, gpu: Device, job: spec.JobSpec, way: str, bits: int = 8) -> None:
        super().__init__(gpu, job)
        self.round, self.way, self.most = 0, way, 1 << bits
        self.left: dict[int, int] = {}

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        call, size = super().bind(case, addresses), int(case["n"]) * 4

        def run() -> None:
            call()
            before, self.round = self.round, (self.round - 1) % self.most
            if self.round > before and self.calls > 1:
                if self.way == "cleared":
                    self.left.clear()
                if self.way in {"dies", "hangs"}:
                    raise (LaunchError if self.way == "dies" else HungError)("it is over")
            x = self.gpu.download(addresses["x"], size).view("f4")
            with np.errstate(invalid="ignore"):
                places = {int(one) for one in np.nan_to_num(x[:64], posinf=9, neginf=9) * 4 % 1000}
            found = [self.left.get(one, self.most) for one in places]
            if self.way in {"same", "cleared"}:
                stale = self.round in found
                self.left |= dict.fromkeys(places, self.round)
            else:
                stale = min(found) < self.round
                self.left |= {one: min(self.left.get(one, self.most), self.round) for one in places}
            if stale:
                self.gpu.upload(addresses["y"], np.zeros(size, np.uint8))

        return run


class Asked:
    """Loads pairs on a device of its own, as a judge does; what it was asked to load."""

    def __init__(self, job: spec.JobSpec, mine: str, theirs: str = "wide") -> None:
        self.job, self.ways = job, (mine, theirs)
        self.loaded: list[str] = []

    def __call__(self, job: spec.JobSpec, request: Json) -> Session:
        original = job.kernel == job.baseline
        self.loaded.append("original" if original else "candidate")
        assert original == (request["candidate"] == request["baseline"])
        way, gpu = self.ways[original], Device()
        line = cast("Any", Counting(gpu, job, way, 40 if way == "wide" else 8))
        bench = Bench(cast("Any", gpu), job.work)
        return cast("Session", LocalSession(bench, (line, line), job))


COUNT = "\nstatic unsigned char round; void f() { --round; }"


def _checked(
    tmp_path: Path, mine: str, theirs: str = "wide", *, text: str = COUNT, other: str = ""
) -> tuple[Report, list[str], list[str]]:
    """Return the report, the notes and what was loaded for a way of counting."""
    described = {**_described(), "effort": "confirm"}
    described["workload"]["cases"] = [{"values": {"n": 500}}]
    plain = spec.parse(described)
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    request = {"job": described, "candidate": {"path": "mine"}, "baseline": built}
    wanted = [c for part in oracle.wanted(plain) for c in part]
    wanted = [c for c in wanted if dict(c.case) == {"n": 500}]
    answers = oracle.answers(plain, {**request, "candidate": built}, wanted, 60.0)
    job = replace(
        plain,
        work=replace(plain.work, kind="entry"),
        kernel=replace(plain.kernel, source=LINE + text),
        baseline=replace(plain.baseline, source=LINE + other),
    )
    load, report, measured = Asked(job, mine, theirs), Report(), {"notes": list[str]()}
    session = load(job, request)
    many_calls.check(session, load, request, job, (answers, wanted), measured, report)
    return report, measured["notes"], load.loaded


def test_contents_are_called_whose_answers_tell_something() -> None:
    """Numbers up to 500,000 of which 300 are known: nearly all answers are zeros at the smallest."""
    one = next(one for one in table.load() if one.label == "novel/rounds_of_16_bits")
    job = spec.parse(one.job("confirm"))
    fresh = next(a.type for a in job.work.arguments if a.name == "fresh")

    def known(at: Combination) -> dict[str, Answer]:
        want = np.zeros(int(at.case["n"]), np.int32)
        want[: int(want.size * min(1.0, at.case["m"] / 500_000))] = 1
        return {"fresh": Answer("fresh", fresh, want.view(np.uint8), (None,))}

    def asked(values: list[Json]) -> list[Combination]:
        return [Combination(v, f, 1) for v in values for f in ("declared", "mixed")]

    smallest, knows = {"n": 1000.0, "m": 300.0}, {"n": 1000.0, "m": 100_000.0}
    large = {"n": 1e6, "m": 5e5}
    plan = many_calls._plan(job, asked([large, smallest, knows]), known)
    assert plan is not None
    assert plan.base.case == knows
    plan = many_calls._plan(job, asked([large, smallest]), known)
    assert plan is not None
    assert plan.base.case == smallest
    assert many_calls._plan(job, asked([large]), known) is None
    assert many_calls._plan(job, asked([smallest]), lambda _: None) is None


needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@needs_compiler
@pytest.mark.parametrize("way", ["falls", "same"])
def test_a_count_that_runs_over_is_refused(way: str, tmp_path: Path) -> None:
    """Rounds in an order, and rounds that are compared for being the same; the original is asked."""
    with pytest.raises(Wrong, match=r"^after \d{3,4} calls: .*many calls") as caught:
        _checked(tmp_path, way)
    assert caught.value.status == "wrong result"


@needs_compiler
@pytest.mark.parametrize(("way", "status"), [("dies", "crashed"), ("hangs", "timed out")])
def test_what_ends_when_a_count_has_run_over_is_refused(
    way: str, status: str, tmp_path: Path
) -> None:
    with pytest.raises(Wrong, match=r"calls in a row: it is over") as caught:
        _checked(tmp_path, way)
    assert caught.value.status == status


@needs_compiler
@pytest.mark.parametrize("way", ["wide", "cleared"])
def test_a_count_that_does_no_harm_is_not_refused(way: str, tmp_path: Path) -> None:
    """Of more bits than its text seems to have, and one whose rounds begin anew."""
    report, notes, loaded = _checked(tmp_path, way)
    assert (notes, loaded) == ([], ["candidate"])
    assert 3 * 2 < report.runs <= 3 * ROW_CALLS
    assert all(one["passed"] for one in report.as_json())
    assert any(layer == LAYER for layer, _ in report.checks)


@needs_compiler
def test_what_the_original_does_not_survive_either_is_a_note(tmp_path: Path) -> None:
    """The candidate is loaded again: more is asked of it."""
    report, notes, loaded = _checked(tmp_path, "falls", "falls")
    assert len(notes) == 1
    assert "the original fails, too" in notes[0]
    assert loaded == ["candidate", "original", "candidate"]
    assert not any(layer == LAYER for layer, _ in report.checks)


@needs_compiler
def test_without_a_count_of_its_own_nothing_is_called(tmp_path: Path) -> None:
    """None in its text, or one in its original's."""
    for terms in ({"text": "\n// other"}, {"other": f"{COUNT} // too"}):
        report, notes, _ = _checked(tmp_path, "falls", **terms)
        assert (report.runs, notes) == (0, [])


@needs_compiler
def test_what_there_was_no_time_for_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_calls, "SECONDS", -1.0)
    _, notes, _ = _checked(tmp_path, "falls")
    assert len(notes) == 1
    assert "were not made" in notes[0]


SMALL = Combination({"n": 7.0}, "declared", 1)


def _session() -> tuple[LocalSession, spec.JobSpec, Line]:
    gpu, job = Device(), spec.parse(_described())
    line = Line(gpu, job)
    bench = Bench(cast("Any", gpu), job.work)
    return LocalSession(bench, cast("Any", (line, line)), job), job, line


@needs_compiler
def test_a_bench_calls_it_so_often_or_until_the_time_is_over() -> None:
    session, _, line = _session()
    assert session.many(SMALL, 3 * MOST_AT_ONCE + 5, 60.0, 9.0) == 3 * MOST_AT_ONCE + 5
    assert line.calls == 3 * MOST_AT_ONCE + 5
    assert session.many(SMALL, 1000, 0.0, 9.0) == 0


class Wire:
    """A child's end in this process, with what it may say instead."""

    def __init__(self, session: LocalSession, says: Json | None = None) -> None:
        self.server = object.__new__(_Server)
        self.server._session = session
        self.says = says
        self.seconds, self.closed, self.told = 0.0, 0, ""

    def close(self) -> None:
        """Count it: there is no process to be ended."""
        self.closed += 1

    def ask(self, request: Json, seconds: float) -> Json:
        """Have it answered, through the text that would go to a child and come back."""
        self.seconds, self.told = seconds, json.dumps(request)
        if self.says is not None:
            return self.says
        return dict(json.loads(json.dumps(self.server.answer(json.loads(self.told)))))


@needs_compiler
def test_how_often_it_was_called_comes_back_from_the_child() -> None:
    """No more than it was asked for, and in a bounded time."""
    session, job, line = _session()
    wire = Wire(session)
    assert RemoteSession(cast("Any", wire), job).many(SMALL, 300, 4.0, 2.0) == 300
    assert line.calls == 300
    assert wire.seconds <= 4.0 + 2.0 + 8.0
    for nonsense in (-1, 4, "x", None, [1]):
        wire = Wire(session, {"made": nonsense})
        with pytest.raises(LaunchError):
            RemoteSession(cast("Any", wire), job).many(SMALL, 3, 4.0, 2.0)
