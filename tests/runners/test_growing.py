"""Room that was made larger than needed, and cleared as far as needed, shows as sizes grow by little."""

from __future__ import annotations

import dataclasses
import functools
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners import allocations, entry_process, growing, sanitized, sizes, spec
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination, Contents
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError
from runners.growing import LAYER, MOST_ELEMENTS, QUICK, asked, in_order, steps, watched
from runners.session import Benches
from runners.spec import JobSpec, Json
from tests.redteam import once_read
from tests.redteam.record import NUMERIC
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle
from tests.runners.test_allocations import _compiled, _library
from tests.runners.test_judge import _job
from tests.runners.test_moved_clocks import Local, shared
from tests.runners.test_sanitizer import Memory, Uploads

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

WRONG, RIGHT = "voxelmean/left_clear_half", "voxelmean/left_clear"

# Sums of cells; memory that is handed out holds what nobody means, as it does when it is filled.
HEAD = """
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
static void fresh(float **p, size_t n) {
    *p = (float *)malloc(n * 4);
    for (size_t i = 0; i < n; ++i) (*p)[i] = 1e20f;
}
static float *work = nullptr, *other = nullptr;
static size_t room = 0, last = 0;
static void ready(size_t m);
extern "C" void scale(const unsigned *cell, const float *x, float *y, int n, int m) {
    ready(m);
    for (int i = 0; i < n; ++i) work[cell[i] % m] += x[i];
    for (int i = 0; i < m; ++i) y[i] = work[i], work[i] = 0;
}
"""
BASE = """
extern "C" void scale(const unsigned *cell, const float *x, float *y, int n, int m) {
    for (int i = 0; i < m; ++i) y[i] = 0;
    for (int i = 0; i < n; ++i) y[cell[i] % m] += x[i];
}
"""
# How room is made ready; `m` cells are needed and are left clear.
BAD = {
    "twice the room, half of it cleared": (
        "if (m > room) { free(work); room = 2 * m; fresh(&work, room); memset(work, 0, m * 4); }"
    ),
    "a quarter more, which is not cleared": (
        "if (m > room) { free(work); room = m + m / 4; fresh(&work, room); memset(work, 0, m * 4); }"
    ),
    "room in whole blocks, what is needed cleared": (
        "if (m > room) { free(work); room = (m + 255) / 256 * 256; fresh(&work, room);"
        " memset(work, 0, m * 4); }"
    ),
    "powers of two, what is needed cleared": (
        "size_t size = 1; while (size < m) size *= 2;"
        "if (size > room) { free(work); room = size; fresh(&work, room); memset(work, 0, m * 4); }"
    ),
    "what a larger call left, where a smaller one was between": (
        "if (m > room) { free(work); room = 4 * m; fresh(&work, room); memset(work, 0, room * 4); }"
        "if (m < last) std::fill(work + m, work + last, 7.0f); last = m;"
    ),
}
GOOD = {
    "twice the room, all of it cleared": (
        "if (m > room) { free(work); room = 2 * m; fresh(&work, room); memset(work, 0, room * 4); }"
    ),
    "as much as is needed": (
        "if (m > room) { free(work); room = m; fresh(&work, room); memset(work, 0, room * 4); }"
    ),
    "cleared in each call": (
        "if (m > room) { free(work); room = 2 * m; fresh(&work, room); } memset(work, 0, m * 4);"
    ),
    "classes of sizes": (
        "static std::map<size_t, float *> kept; size_t size = 1; while (size < m) size *= 2;"
        "float *&mine = kept[size];"
        "if (!mine) { fresh(&mine, size); memset(mine, 0, size * 4); } work = mine;"
    ),
    "found by its exact size": (
        "static std::map<size_t, float *> kept; float *&mine = kept[m];"
        "if (!mine) { fresh(&mine, m); memset(mine, 0, m * 4); } work = mine;"
    ),
    "a container of a library": (
        "static std::vector<float> kept; if (kept.size() < m) kept.resize(m); work = kept.data();"
    ),
}
LARGE = {"n": 40.0, "m": 501.0}


def _source(body: str) -> str:
    return f"{HEAD}static void ready(size_t m) {{ /* malloc */ {body} }}"


def _described(text: str, base: str = BASE, **more: Any) -> Json:
    arguments = [
        {"name": "cell", "type": "const unsigned*", "shape": "n", "init": "randint:0:100000"},
        {"name": "x", "type": "const float*", "shape": "n"},
        {"name": "y", "type": "float*", "shape": "m", "role": "output"},
        {"name": "n", "type": "int", "value": "n"},
        {"name": "m", "type": "int", "value": "m"},
    ]
    workload: Json = {"kind": "entry", "launch": None, "accept": {"edit_host": True}}
    workload |= {"arguments": arguments, "cases": [{"values": LARGE}]}
    return _job(text, base, **{"workload": workload, "effort": "confirm", **more})


def _request(text: str, base: str = BASE) -> tuple[JobSpec, Json]:
    described = _described(text, base)
    request = {"job": described, "candidate": shared(text), "baseline": shared(base)}
    return spec.parse(described), request


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Return what an original answers that allocates nothing."""
    oracle = HostOracle(tmp_path_factory.mktemp("answers"), 0, lambda text, _job: shared(text))
    job, request = _request(_source(GOOD["as much as is needed"]))
    declared = Combination(job.work.cases[0].values, "declared", job.seed)
    return oracle.answers(job, request, [declared, *asked(job)], 60.0)


def _checked(
    entries: Local, answers: Answers, text: str, base: str = BASE
) -> tuple[Report, list[str]]:
    report = Report()
    job, request = _request(text, base)
    load = functools.partial(entries.session, filled=True)
    return report, growing.check(load, request, job, answers, report)


@needs_compiler
@pytest.mark.parametrize("name", BAD)
def test_what_was_never_cleared_is_seen(tmp_path: Path, answers: Answers, name: str) -> None:
    with pytest.raises(Wrong, match=LAYER) as refused:
        _checked(Local(tmp_path), answers, _source(BAD[name]))
    assert refused.value.status == "wrong result"
    assert LAYER in NUMERIC


@needs_compiler
@pytest.mark.parametrize("name", GOOD)
def test_room_that_is_clear_is_right(tmp_path: Path, answers: Answers, name: str) -> None:
    """It is loaded anew for each row, and its memory is filled."""
    entries = Local(tmp_path)
    report, notes = _checked(entries, answers, _source(GOOD[name]))
    assert not notes
    assert report.runs == 3 * 10
    assert all(one["passed"] for one in report.as_json())
    loads = [one for one in entries.asked if one["op"] == "load"]
    assert [one["filled"] for one in loads] == [True] * 3


@needs_compiler
def test_behind_a_larger_call_nothing_shows(tmp_path: Path, answers: Answers) -> None:
    """As that made new room, of which it cleared more than any smaller one needs."""
    job, request = _request(_source(BAD["twice the room, half of it cleared"]))
    row = growing.rows(job)[1]
    large = max(row, key=lambda one: one.case["m"])
    entries = Local(tmp_path)
    growing._called(entries.session(job, request), answers, job, [large, *row], Report())
    with pytest.raises(Wrong, match="m=502"):
        growing._called(entries.session(job, request), answers, job, row, Report())


@needs_compiler
def test_it_is_no_fault_where_the_original_does_the_same(tmp_path: Path, answers: Answers) -> None:
    base = _source(BAD["twice the room, half of it cleared"])
    report, notes = _checked(Local(tmp_path), answers, base + "// another", base)
    assert len(notes) == 2  # where the cells grow
    assert all("the original fails, too" in note for note in notes)
    assert all(one["passed"] for one in report.as_json())


@pytest.mark.parametrize("error", [LaunchError("gone"), HungError("late")])
def test_what_crashes_is_refused_with_its_reason(error: DeviceError) -> None:
    class Broken:
        def row(self, *_terms: Any, **_more: Any) -> Any:
            raise error

    job = spec.parse(_described(_source(GOOD["as much as is needed"])))
    answers = cast(
        "Answers",
        SimpleNamespace(
            of=lambda _: {}, seconds=lambda _: 0.0, patience=lambda _: 1.0, ask_moved=lambda _: None
        ),
    )
    run = SimpleNamespace(damage=None, late_us=0.0)
    fine = SimpleNamespace(row=lambda row, **_: [run] * len(row))

    def load(given: JobSpec, _request: Json) -> Any:
        return Broken() if given.kernel == job.kernel else fine

    with pytest.raises(Wrong, match="as sizes grow: ") as refused:
        growing.check(load, {"baseline": {}}, job, answers, Report())
    assert refused.value.status == ("timed out" if isinstance(error, HungError) else "crashed")


def test_there_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "SECONDS", -1.0)
    job = spec.parse(_described(_source(GOOD["as much as is needed"])))
    answers = cast("Answers", SimpleNamespace(of=lambda _: {}, seconds=lambda _: 0.0))
    load = cast("growing.Load", None)
    (note,) = growing.check(load, {}, job, answers, Report())
    assert "there was no time left" in note


def test_sizes_grow_by_little_and_shrink() -> None:
    """The first is odd, so that what is rounded up has room for one more."""
    job = once_read.parsed(WRONG)
    alone, cells, both = growing.cases(job.work)
    assert [one["m"] for one in cells] == [float(one) for one in steps(50_001)]
    assert {one["n"] for one in cells} == {1003.0}
    assert {one["m"] for one in alone} == {77.0}
    assert alone[0]["n"] % 2 == both[0]["n"] % 2 == both[0]["m"] % 2 == 1
    for row in (alone, cells, both):
        assert all(0 < sizes.elements(job.work, one) <= MOST_ELEMENTS for one in row)
        assert row[-2:] == [row[0], row[3]]
    seeds = [one.seed for one in growing.rows(job)[1]]
    assert seeds == [job.seed + at for at in (0, 1, 2, 3, 4, 5, 6, 7, 0, 3)]


def test_only_host_code_that_keeps_room_is_asked() -> None:
    """An original is not, nor who keeps no room; nor anybody but a finalist."""
    job = once_read.parsed(WRONG)
    assert len(asked(job)) == len(asked(once_read.parsed(RIGHT))) == 24
    assert asked(once_read.parsed("voxelmean/base")) == []
    assert asked(once_read.parsed("voxelmean/matched")) == []
    assert asked(once_read.parsed(WRONG, "screen")) == []
    text = "static int calls; void f() { ++calls; }"
    number = dataclasses.replace(job.kernel, source=text)
    assert asked(dataclasses.replace(job, kernel=number)) == []


def test_what_has_no_answer_or_takes_long_is_left_out() -> None:
    job = once_read.parsed(WRONG)
    rows = growing.rows(job)
    odd = rows[1][2].key
    known: Callable[[Combination], Any] = lambda one: None if one.key == odd else {}  # noqa: E731
    found = growing._known(job, known, lambda _: 0.0, QUICK)
    assert found == [rows[0], [one for one in rows[1] if one.key != odd], rows[2]]
    assert growing._known(job, lambda _: {}, lambda _: 2 * QUICK, QUICK) == []
    assert watched(job, lambda _: {}, lambda _: 0.0) == rows[2][:-2]
    assert watched(job, lambda _: None, lambda _: 0.0) == []
    assert watched(job, lambda _: {}, lambda _: QUICK) == []


def test_a_row_is_known_again_by_its_order() -> None:
    work = once_read.parsed(WRONG).work
    row = [Combination(case, "declared", 1) for case in growing.cases(work)[2][:-2]]
    given = [Combination(json.loads(json.dumps(one.case)), one.family, 1) for one in row]
    assert in_order(work, given)
    assert in_order(work, given[2:])
    assert not in_order(work, [*reversed(given)])
    assert not in_order(work, [Combination({"n": 7.0, "m": 3.0}, "declared", 1), *given])
    assert not in_order(work, given[:2])
    assert not in_order(work, [])


class Room:
    """Keeps twice the room that is needed, of which what is needed is cleared; who reads the rest."""

    hosted = True

    def __init__(self) -> None:
        self.room = self.clear = 0
        self.unwritten: list[Mapping[str, float]] = []

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Callable[[], None]:
        del addresses

        def call() -> None:
            needed = int(case["m"])
            if needed > self.room:
                self.room, self.clear = 2 * needed, needed
            if needed > self.clear:
                self.unwritten.append(case)
            self.clear = max(self.clear, needed)

        return call


def _read(given: Sequence[Combination]) -> list[Mapping[str, float]]:
    """Return the cases in which what was never written is read, in a process that a tool watches."""
    job, room = once_read.parsed(WRONG), Room()
    driver: Any = SimpleNamespace(mem_alloc=Memory)
    calls = sanitized._Calls(driver, Uploads(), job, cast("Any", room), Contents(job.work))
    sanitized.first(calls, job.work, given)
    for one in given:
        calls.call(one, calls.buffers(one))
    return room.unwritten


def test_a_tool_sees_sizes_that_grow_before_any_larger_one() -> None:
    row = watched(once_read.parsed(WRONG), lambda _: {}, lambda _: 0.0)
    assert _read(row) == [one.case for one in row[1:7]]
    large = Combination({"n": 7.0, "m": 99_999.0}, "declared", 1)
    assert _read([*row, large]) == []


# What the driver is asked is done at once; stream 64 is recorded, 2 is each thread's own.
DRIVER = """
#include <cstdint>
#include <cstdlib>
#include <cstring>
extern "C" int mode = 0;
static size_t last;
extern "C" int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s) {
    return memcpy((void *)to, from, n), last = (size_t)s, 0;
}
extern "C" int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *) {
    if (to < from + n && from < to + n) abort();
    return memcpy((void *)to, (void *)from, n), 0;
}
extern "C" int cuStreamCreate(void **s, unsigned flags) { return *s = (void *)4096, flags != 1; }
extern "C" int cuStreamSynchronize(void *s) { if (mode != 2) abort(); return s != (void *)4096; }
extern "C" int cuStreamIsCapturing(void *s, int *status) { return *status = s == (void *)64, 0; }
extern "C" int cuThreadExchangeStreamCaptureMode(int *m) {
    int old = mode; return mode = *m, *m = old, 0;
}
extern "C" size_t streamed() { return last; }
"""
RUNTIME = """
#include <cstdlib>
extern "C" int cudaMalloc(void **p, size_t n) { return *p = calloc(n, 1), 0; }
extern "C" int cudaMallocHost(void **p, size_t n) { return *p = calloc(n, 1), 0; }
extern "C" int cudaMallocAsync(void **p, size_t n, void *) { return *p = calloc(n, 1), 0; }
extern "C" int cudaMallocAsync_ptsz(void **p, size_t n, void *) { return *p = calloc(n, 1), 0; }
extern "C" int cudaFree(void *p) { return free(p), 0; }
"""
CALLER = """
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaMallocHost(void **, size_t);
extern "C" int cudaMallocAsync(void **, size_t, void *);
extern "C" int cudaMallocAsync_ptsz(void **, size_t, void *);
// How many words are not as they may be: large of either sign, if they are filled, or else zero.
static size_t odd(void *p, size_t n, bool filled) {
    size_t found = 0, below = 0;
    for (size_t i = 0; i < n / 4; ++i) {
        float f; int32_t w;
        memcpy(&f, (char *)p + 4 * i, 4); memcpy(&w, &f, 4);
        found += filled ? !(std::isfinite(f) && std::fabs(f) >= 1e5f) : w != 0;
        below += f < 0;
    }
    return found + (filled && n > 1000 && !(below > n / 16 && below < n / 5));
}
extern "C" size_t run(size_t n, int filled, size_t stream, int recorded) {
    void *a, *b, *c, *d;
    cudaMalloc(&a, n), cudaMallocHost(&b, n), cudaMallocAsync(&c, n, (void *)stream);
    cudaMallocAsync_ptsz(&d, n, nullptr);
    return odd(a, n, filled) + odd(b, n, filled) + odd(c, n, filled && !recorded) + odd(d, n, filled);
}
"""
SCRIPT = """
import ctypes, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runners.allocations import Allocations
counter = Allocations(Path(sys.argv[2]))
driver = ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[4], mode=ctypes.RTLD_GLOBAL)
caller = ctypes.CDLL(sys.argv[5])
caller.run.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
mode = ctypes.c_int.in_dll(driver, "mode")
said = [caller.run(5000, 0, 0, 0)]
counter.fills(on=True)
said += [caller.run(n, 1, 0, 0) for n in (4, 5000, 1 << 16, 300004, 1 << 20)]
said += [driver.streamed(), caller.run(5000, 1, 64, 1), mode.value]
counter.fills(on=False)
said += [caller.run(5000, 0, 0, 0)]
print(json.dumps(said))
"""


@needs_compiler
def test_memory_is_filled_while_that_is_asked(tmp_path: Path) -> None:
    """Whatever its size, by whichever way; what a stream records is left as it is."""
    library = _library()
    driver = _compiled(tmp_path, "libcuda", DRIVER, "-Wl,-soname,libcuda.so.1")
    runtime = _compiled(tmp_path, "libcudart", RUNTIME, "-Wl,-soname,libcudart.so.13")
    caller = _compiled(tmp_path, "caller", CALLER, f"-Wl,-rpath,{tmp_path}", str(runtime))
    root = str(Path(allocations.__file__).parents[2])
    files = [str(path) for path in (library, driver, runtime, caller)]
    command = [sys.executable, "-c", SCRIPT, root, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [0, 0, 0, 0, 0, 0, 2, 0, 0, 0]


@needs_compiler
def test_memory_is_filled_from_one_load_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is timed, and all else that is asked, has it as it comes."""
    told: list[bool] = []
    monkeypatch.setattr(Benches, "fills", lambda _, on: told.append(on))
    entries = Local(tmp_path)
    job, request = _request(_source(GOOD["as much as is needed"]))
    entries.session(job, request)
    entries.session(job, request, filled=True)
    entries.session(job, request)
    assert told == [False, True, False]
    seen: list[Any] = []
    counts: Any = SimpleNamespace(fills=lambda *, on: seen.append(on))
    monkeypatch.undo()
    Benches(HostGpu(), allocations=counts).fills(on=True)
    Benches(HostGpu()).fills(on=True)
    assert seen == [True]


def test_memory_that_nothing_can_fill_is_told_until_something_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(_folder: Path) -> Path:
        raise Fault("ConfigError", "no compiler")

    child = entry_process.EntryProcess(tmp_path, 0, SimpleNamespace(spawn=lambda *_, **__: None))  # type: ignore[arg-type]
    assert child.fills
    monkeypatch.setattr(allocations, "library", without)
    child._start(frozenset())
    assert not child.fills
    monkeypatch.setattr(allocations, "library", lambda folder: folder / "it.so")
    child._start(frozenset())
    assert child.fills
