"""A large call that has the number of another one long before it finds what that one left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from runners import many_calls, same_number, spec
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.entry_process import RemoteSession
from runners.gpu import HungError, LaunchError
from runners.judge import Judge
from runners.launchable import Bound
from runners.narrow_counts import turns
from runners.same_number import DISTANCES, LARGEST, LAYER, distances, keeps, plan
from runners.second_look import Lent
from runners.session import LocalSession, Session
from runners.spec import Json
from tests.redteam import once_read
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_rows import LINE, Line, Wire, _described
from tests.runners.test_streams import Device

TILE = 64
KEPT = "\nstatic unsigned long long* words;"

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

STAYS = {
    "a static": "void f() { static int n; }",
    "a static pointer to constants": "void f() { static const int* of = nullptr; }",
    "of a function's call": "void f() { static bool made = make(); }",
    "of a namespace": "namespace { namespace b { float *room; } }",
    "of the file": 'extern "C" { int n = 3; }',
    "of the device": "__device__ unsigned tickets = 0;\n__global__ void k() {}",
    "an array": "int last[4];",
    "behind functions": "void g() { int a; }\nvoid f(int n) { g(); }\nint n;",
    "of a structure": "struct S { int n; } s;",
    "of its structure": "struct S { int n; };\nS s;",
    "for a thread": "void f() { thread_local int n; }",
    "a member of all": "struct S { inline static int n = 0; };",
}
PASSES = {
    "nothing": "",
    "locals": "void f(int n) { int m = n; { int k; } }",
    "constants": "constexpr int N = 3; const float PI = 3.f; static const int M = 4;",
    "functions": "static void f(int n) { int m; }\nstatic __global__ void k(int* x);",
    "types": "struct S { int n; }; enum E { A, B }; using T = int; typedef float F;",
    "a template": "template <int N> struct S { int n[N]; };",
    "what a block shares": "extern __shared__ float room[];",
    "macros": "#define ROOM int n;\n",
}


@pytest.mark.parametrize("name", STAYS)
def test_what_stays_is_seen_in_a_text(name: str) -> None:
    assert keeps(STAYS[name])


@pytest.mark.parametrize("name", PASSES)
def test_what_does_not_stay_is_not(name: str) -> None:
    assert not keeps(PASSES[name])


def test_texts_that_make_no_sense_are_read_to_their_end() -> None:
    """What is left open or cut off, and what is too long."""
    for text in ("static", "{ static int", "int n = {", "static ;", "} int a; (", "= ;"):
        assert keeps(text) in {True, False}
    assert keeps(" " * (1 << 19))


@pytest.mark.parametrize(
    "period", [*range(2, 11), 12, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1024, 4096]
)
def test_few_distances_show_most_counts(period: int) -> None:
    """What comes round does so after any multiple of its period, too."""
    assert any(distance % period == 0 for distance in DISTANCES)


def test_a_count_that_the_text_has_is_called_so_often_too() -> None:
    """Unless one of the others is a multiple of it."""
    assert distances("") == [*DISTANCES]
    assert distances("static unsigned n; void f() { n = n % 65535 + 1; }") == [*DISTANCES, 65535]
    assert distances("static unsigned char n; void f() { ++n; }") == [*DISTANCES]
    assert distances(COMPARED["the other way round"][0]) == [*DISTANCES, 60_000, 60_001]


COMPARED = {
    "set back": ("static unsigned n; void f() { if (++n > 65535) n = 1; }", 65535),
    "chosen": ("static unsigned n; void f() { n = n == 65535 ? 1 : n + 1; }", 65535),
    "behind": ("static int n; void f() { if (n++ >= 999) { n = 0; } }", 999),
    "the other way round": (
        "#define M 60000u\nstatic unsigned n; void f() { if (M == ++n) n = 0; }",
        60_000,
    ),
    "a power in brackets": (
        "namespace { int n; } void f() { if ((++n) == (1 << 12)) n = 0; }",
        4096,
    ),
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_count_that_is_compared_may_begin_anew(name: str) -> None:
    """Behind the number of steps that it is compared with, or one more."""
    text, bound = COMPARED[name]
    assert turns(text) == (bound, bound + 1)


def test_what_is_not_counted_or_takes_too_many_steps_is_not_called() -> None:
    """Sizes are compared, too; few steps need no text, and more than 17 bits no time allows."""
    for text in (
        "static int room; void f(int n) { if (n > room) room = n; if (room < 1000) g(); }",
        "static int n; void f(int m) { ++n; if (m == 999) g(n < m); }",
        "static int n; void f() { if (++n == 7) n = 0; }",
        "static int n; void f() { if (++n == 1000000) n = 0; }",
        "static int n; ++n ==",
        " " * (1 << 19),
    ):
        assert turns(text) == ()
    for one in once_read.candidates().values():
        if one.base.kind == "entry" and one.expect == "accept":
            assert distances(one.source) == [*DISTANCES], one.label


class Tagged(Line):
    """y = gain x + shift, of tiles that are marked with the number of their call.

    A tile that finds its own number there takes what was left for its own. `period` is when a
    number comes round; a call `clears` all words then, or is not counted where it has one tile
    (`alone`); what `ends` does so at the first number that comes again.
    """

    def __init__(self, gpu: Device, job: spec.JobSpec, period: int, way: str = "") -> None:
        super().__init__(gpu, job)
        self.period, self.way, self.number = period, way, 0
        self.words: dict[int, tuple[int, bytes]] = {}

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Bound:
        call, size = super().bind(case, addresses), int(case["n"]) * 4

        def run() -> None:
            call()
            tiles = -(-size // (4 * TILE))
            if tiles == 1 and self.way == "alone":
                return
            self.number = self.number % self.period + 1
            if self.number == 1 and self.way == "clears":
                self.words.clear()
            y = self.gpu.download(addresses["y"], size)
            for tile in range(tiles):
                part = y[tile * 4 * TILE : (tile + 1) * 4 * TILE]
                number, before = self.words.get(tile, (0, b""))
                if number == self.number:
                    if self.way in {"dies", "hangs"}:
                        raise (LaunchError if self.way == "dies" else HungError)("it is over")
                    part[: len(before)] = np.frombuffer(before, np.uint8)[: len(part)]
                self.words[tile] = self.number, part.tobytes()
            self.gpu.upload(addresses["y"], y)

        return run


class Loaded:
    """Loads pairs on a device of its own, as a judge does; what it was asked to load."""

    def __init__(self, mine: tuple[int, str], theirs: tuple[int, str]) -> None:
        self.ways = mine, theirs
        self.loaded: list[str] = []

    def __call__(self, job: spec.JobSpec, request: Json) -> Session:
        original = job.kernel == job.baseline
        self.loaded.append("original" if original else "candidate")
        assert original == (request["candidate"] == request["baseline"])
        gpu = Device()
        line = cast("Any", Tagged(gpu, job, *self.ways[original]))
        return cast("Session", LocalSession(Bench(cast("Any", gpu), job.work), (line, line), job))


WIDE = (1 << 40, "")
# As many as these tests have time for on a busy machine.
FEW = (255, 256)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_number, "DISTANCES", FEW)
    monkeypatch.setattr(same_number, "SECONDS", 60.0)
    monkeypatch.setattr(same_number, "ALL_SECONDS", 600.0)


def _checked(
    tmp_path: Path,
    period: int,
    way: str = "",
    *,
    theirs: tuple[int, str] = WIDE,
    text: str = KEPT,
) -> tuple[Report, list[str], list[str]]:
    """Return the report, the notes and what was loaded for numbers that come round so."""
    described = {**_described(), "effort": "confirm"}
    described["workload"]["cases"] = [{"values": {"n": 8000}}, {"values": {"n": 200}}]
    plain = spec.parse(described)
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    request = {"job": described, "candidate": {"path": "mine"}, "baseline": built}
    wanted = [c for part in oracle.wanted(plain) for c in part]
    wanted = [
        c for c in wanted if c.case["n"] in {8000, 200, 1} and c.family in {"declared", "mixed"}
    ]
    answers = oracle.answers(plain, {**request, "candidate": built}, wanted, 60.0)
    job = replace(
        plain,
        work=replace(plain.work, kind="entry"),
        kernel=replace(plain.kernel, source=LINE + text),
        baseline=replace(plain.baseline, source=LINE),
    )
    load, report, measured = Loaded((period, way), theirs), Report(), {"notes": list[str]()}
    session = load(job, request)
    same_number.check(session, load, request, job, (answers, wanted), measured, report)
    return report, measured["notes"], load.loaded


@needs_compiler
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("period", [2, 15, 255, 256])
def test_a_number_that_comes_round_is_refused(period: int, tmp_path: Path) -> None:
    """What the large call before left there is of other contents."""
    with pytest.raises(Wrong, match=r"calls behind one as large: .*same number") as caught:
        _checked(tmp_path, period)
    assert caught.value.status == "wrong result"


@needs_compiler
@pytest.mark.usefixtures("few")
def test_small_calls_of_one_block_may_have_a_way_of_their_own(tmp_path: Path) -> None:
    """Those of a few are made, too, and first."""
    with pytest.raises(Wrong, match=r"^255 calls behind"):
        _checked(tmp_path, 255, "alone")


@needs_compiler
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("way", "status"), [("dies", "crashed"), ("hangs", "timed out")])
def test_what_ends_there_is_refused(way: str, status: str, tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=r"it is over") as caught:
        _checked(tmp_path, 256, way)
    assert caught.value.status == status


@needs_compiler
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("period", "way"), [WIDE, (255, "clears"), (2, "clears")])
def test_numbers_that_do_not_come_round_or_do_no_harm_are_right(
    period: int, way: str, tmp_path: Path
) -> None:
    """The original is not asked; one large call at first, and one behind each distance."""
    report, notes, loaded = _checked(tmp_path, period, way)
    assert (notes, loaded) == ([], ["candidate"])
    assert report.runs == 1 + 2 * len(FEW)
    assert all(one["passed"] for one in report.as_json())
    assert any(layer == LAYER for layer, _ in report.checks)


@needs_compiler
@pytest.mark.usefixtures("few")
def test_what_the_original_does_not_survive_either_is_a_note(tmp_path: Path) -> None:
    """The candidate is loaded again: more is asked of it."""
    report, notes, loaded = _checked(tmp_path, 255, theirs=(255, ""))
    assert len(notes) == 1
    assert "the original fails, too" in notes[0]
    assert loaded == ["candidate", "original", "candidate"]
    assert not any(layer == LAYER for layer, _ in report.checks)


@needs_compiler
def test_what_keeps_nothing_is_not_called(tmp_path: Path) -> None:
    report, notes, _ = _checked(tmp_path, 255, text="\nvoid f() { int n; }")
    assert (report.runs, notes) == (0, [])


@needs_compiler
def test_what_there_is_no_time_for_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where fewer calls were made than there should be, nothing is compared behind them."""
    monkeypatch.setattr(same_number, "SECONDS", 0.0)
    assert _checked(tmp_path, 255)[0].runs == 1
    monkeypatch.setattr(same_number, "ALL_SECONDS", 0.0)
    assert _checked(tmp_path, 255)[0].runs == 1


@needs_compiler
def test_a_row_may_begin_with_what_is_compared(tmp_path: Path) -> None:
    """A call before it would have its number; through a child, too."""
    gpu, job = Device(), spec.parse(_described())
    line = Line(gpu, job)
    local = LocalSession(Bench(cast("Any", gpu), job.work), cast("Any", (line, line)), job)
    one = Combination({"n": 7.0}, "declared", 1)
    for session in (local, RemoteSession(cast("Any", Wire(local, tmp_path)), job)):
        before = line.calls
        assert len(session.row((one,), nan=True, apart=False, seconds=5.0, before=0)) == 1
        assert line.calls == before + 1


def test_a_finalist_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what its own counts run over at; what is refused here is refused."""
    gpu = cast("Any", SimpleNamespace(allocate=lambda _: 0, facts={}))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None)
    done: list[Any] = []

    def refuses(session: Any, *_: Any) -> None:
        done.append(session)
        raise Wrong("wrong result", "here")

    monkeypatch.setattr(many_calls, "check", lambda session, *_: done.append(session))
    monkeypatch.setattr(same_number, "check", refuses)
    job, session = once_read.parsed("picket/look_back_numbered"), cast("Session", object())
    with pytest.raises(Wrong, match="here"):
        judge._finalist(
            session, {}, job, (cast("Any", None), []), {}, Report(), Lent(lambda _: None)
        )
    assert done == [session] * 2


def test_the_largest_is_taken_that_is_no_burden_and_has_two_results() -> None:
    """Small ones are smaller in all sizes; of theirs one that is declared and has several blocks."""
    job = once_read.parsed("picket/look_back_numbered")
    wanted = [c for part in once_read.combinations(job.work, "confirm", job.seed) for c in part]

    def known(one: Combination, told: float = 0.0) -> Any:
        other = one.family == "mixed" and one.case["n"] > told
        return {"y": SimpleNamespace(want=np.full(8, other, np.uint8))}

    found = plan(job, wanted, known, lambda _: 0.01)
    assert found is not None
    large, other = found.large
    assert 2_000_000 <= large.case["n"] <= LARGEST / 3
    assert (large.case, large.family, other.family) == (other.case, "declared", "mixed")
    assert [one.case["n"] for one in found.small] == [1003, 1]
    slow = plan(job, wanted, known, lambda one: one.case["n"] / 1e6)
    assert slow is not None
    assert slow.large[0].case["n"] <= 100_000
    assert plan(job, wanted, lambda one: known(one, 1e9), lambda _: 0.0) is None
    assert plan(job, wanted, lambda _: None, lambda _: 0.0) is None


def test_nothing_is_called_in_between_that_is_larger_in_one_size() -> None:
    """Of a matrix a short and wide one is not small beside a long and narrow one."""
    job = once_read.parsed("lagoon/ticket_runs_on")
    cases: list[dict[str, float]] = [
        {"n": 100_000, "c": 24},
        {"n": 3001, "c": 5},
        {"n": 9, "c": 25},
        {"n": 2, "c": 24},
    ]
    wanted = [Combination(c, f, 1) for c in cases for f in ("declared", "mixed")]

    def known(one: Combination) -> Any:
        return {"z": SimpleNamespace(want=np.full(8, one.family == "mixed", np.uint8))}

    job = replace(job, work=replace(job.work, cases=job.work.cases[:1]))
    found = plan(job, wanted, known, lambda _: 0.0)
    assert found is not None
    assert [one.case for one in found.small] == [cases[3]]
