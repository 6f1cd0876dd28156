"""A candidate that holds more after each call is refused; one that keeps a buffer is not."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runners import allocations, leaks, spec
from runners.allocations import KINDS, Holdings
from runners.bench import Bench
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.entry_process import MOST_HELD, MOST_PAIRS, EntryProcess, RemoteSession
from runners.entry_server import _Server
from runners.gpu import LaunchError
from runners.judge import Judge
from runners.sandbox import Sandbox
from runners.session import LocalSession
from runners.spec import Json
from tests.runners.host_gpu import COMPILER, HostOracle, artifact
from tests.runners.test_allocations import _compiled, _library
from tests.runners.test_rows import LINE, Line, _described
from tests.runners.test_streams import Device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

# Handles are counted up; what is freed at an odd size is not freed, and says so.
RUNTIME = """
#include <cstddef>
#include <cstdint>
#include <cstdlib>
struct Extent { size_t width, height, depth; };
struct Pitched { void *pointer; size_t pitch, width, height; };
static uintptr_t last = 1 << 20;
static int made(void **p) { return *p = (void *)++last, 0; }
#define MAKES(name, ...) extern "C" int name(void **p __VA_OPT__(,) __VA_ARGS__) { return made(p); }
MAKES(cudaMalloc, size_t)
MAKES(cudaMallocManaged, size_t, unsigned)
MAKES(cudaMallocAsync, size_t, void *)
MAKES(cudaMallocFromPoolAsync, size_t, void *, void *)
MAKES(cudaMallocArray, const int *, size_t, size_t, unsigned)
MAKES(cudaMalloc3DArray, const int *, Extent, unsigned)
MAKES(cudaMallocHost, size_t)
MAKES(cudaHostAlloc, size_t, unsigned)
MAKES(cudaStreamCreate)
MAKES(cudaStreamCreateWithFlags, unsigned)
MAKES(cudaStreamCreateWithPriority, unsigned, int)
MAKES(cudaEventCreate)
MAKES(cudaEventCreateWithFlags, unsigned)
MAKES(cudaGraphInstantiate, void *, unsigned long long)
MAKES(cudaGraphInstantiateWithFlags, void *, unsigned long long)
extern "C" int cudaStreamEndCapture(void *, void **p) { return made(p); }
extern "C" int cudaMalloc3D(Pitched *p, Extent e) { return p->pitch = 512, made(&p->pointer); }
extern "C" int failing = 0;
#define FREES(name, ...) extern "C" int name(__VA_ARGS__) { return failing; }
FREES(cudaFree, void *)
FREES(cudaFreeAsync, void *, void *)
FREES(cudaFreeArray, void *)
FREES(cudaFreeHost, void *)
FREES(cudaStreamDestroy, void *)
FREES(cudaEventDestroy, void *)
FREES(cudaGraphDestroy, void *)
FREES(cudaGraphExecDestroy, void *)
extern "C" void again() { --last; }
"""
CALLER = """
#include <cstddef>
struct Extent { size_t width, height, depth; };
struct Pitched { void *pointer; size_t pitch, width, height; };
extern "C" {
extern int failing;
void again();
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocAsync(void **, size_t, void *);
int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaMallocArray(void **, const int *, size_t, size_t, unsigned);
int cudaMalloc3DArray(void **, const int *, Extent, unsigned);
int cudaMallocHost(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaStreamCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamCreateWithPriority(void **, unsigned, int);
int cudaEventCreate(void **);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cudaStreamEndCapture(void *, void **);
int cudaMalloc3D(Pitched *, Extent);
int cudaFree(void *);
int cudaFreeAsync(void *, void *);
int cudaFreeArray(void *);
int cudaFreeHost(void *);
int cudaStreamDestroy(void *);
int cudaEventDestroy(void *);
int cudaGraphDestroy(void *);
int cudaGraphExecDestroy(void *);
void *a[32];
Pitched pitched;
void takes() {
    const int floats[5] = {32, 32, 0, 0, 2};
    cudaMalloc(a, 100);
    cudaMallocManaged(a + 1, 200, 1);
    cudaMallocAsync(a + 2, 400, nullptr);
    cudaMallocFromPoolAsync(a + 3, 800, nullptr, nullptr);
    cudaMallocArray(a + 4, floats, 10, 0, 0);
    cudaMalloc3DArray(a + 5, floats, {10, 2, 3}, 0);
    cudaMalloc3D(&pitched, {100, 2, 4});
    cudaMallocHost(a + 6, 30);
    cudaHostAlloc(a + 7, 70, 0);
    cudaStreamCreate(a + 8);
    cudaStreamCreateWithFlags(a + 9, 1);
    cudaStreamCreateWithPriority(a + 10, 1, 0);
    cudaEventCreate(a + 11);
    cudaEventCreateWithFlags(a + 12, 2);
    cudaStreamEndCapture(a[8], a + 13);
    cudaGraphInstantiate(a + 14, a[13], 0);
    cudaGraphInstantiateWithFlags(a + 15, a[13], 0);
}
void gives() {
    cudaFree(a[0]), cudaFree(a[1]), cudaFreeAsync(a[2], nullptr), cudaFreeAsync(a[3], nullptr);
    cudaFreeArray(a[4]), cudaFreeArray(a[5]), cudaFree(pitched.pointer);
    cudaFreeHost(a[6]), cudaFreeHost(a[7]);
    for (int n = 8; n < 11; ++n) cudaStreamDestroy(a[n]);
    for (int n = 11; n < 13; ++n) cudaEventDestroy(a[n]);
    cudaGraphDestroy(a[13]), cudaGraphExecDestroy(a[14]), cudaGraphExecDestroy(a[15]);
    cudaFree(nullptr);
}
void fails() { failing = 1, gives(), failing = 0; }
void unseen() { cudaMalloc(a, 64), again(), cudaMalloc(a, 32), again(), cudaMalloc(a, 16); }
}
"""
SCRIPT = """
import ctypes, json, sys
from dataclasses import astuple
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from runners.allocations import Allocations
counter = Allocations(Path(sys.argv[2]))
ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL)
one = ctypes.CDLL(sys.argv[4])
said = []
for who, name in ((1, "takes"), (2, "fails"), (2, "gives"), (2, "gives"), (3, "unseen")):
    counter.begins(who)
    one[name]()
    said.append([astuple(counter.holds(owner)) for owner in (1, 2, 3)])
print(json.dumps(said))
"""


def test_what_is_held_is_counted_by_kind_until_it_is_given_back(tmp_path: Path) -> None:
    """Whoever gives it back; not where that fails; once where it was given back unseen."""
    library = _library()
    flags = ("-Wl,-soname,libcudart.so.13", "-std=c++20")
    runtime = _compiled(tmp_path, "libcudart", RUNTIME, *flags)
    caller = _compiled(tmp_path, "caller", CALLER, f"-Wl,-rpath,{tmp_path}", str(runtime))
    root = str(Path(allocations.__file__).parents[2])
    files = [str(path) for path in (library, runtime, caller)]
    command = [sys.executable, "-c", SCRIPT, root, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bytes_ = 100 + 200 + 400 + 800 + 8 * 10 + 8 * 10 * 2 * 3 + 512 * 2 * 4
    all_of_it, none = [bytes_, 100, 3, 2, 3], [0] * 5
    assert json.loads(done.stdout) == [
        [all_of_it, none, none],
        [all_of_it, none, none],
        [none, none, none],
        [none, none, none],
        [none, none, [16, 0, 0, 0, 0]],
    ]


# What is held after the call of a number.
Held = Callable[[int], Holdings]


class Pair:
    """Candidate and original that hold so much after so many calls."""

    def __init__(self, mine: Held | None, theirs: Held = lambda _: Holdings()) -> None:
        self.held = (mine, theirs)
        self.counts = [itertools.count(1), itertools.count(1)]
        self.asked = list[tuple[str, int, bool]]()

    def holdings(
        self,
        combination: Combination,
        calls: int,
        _seconds: float,
        _patience: float,
        *,
        original: bool = False,
    ) -> list[Holdings] | None:
        self.asked.append((combination.key, calls, original))
        held = self.held[original]
        return held and [held(next(self.counts[original])) for _ in range(calls)]


def _checked(pair: Pair, *, checks: str = "confirm", seconds: float = 1e-4) -> Report:
    described = _described()
    described["workload"]["cases"] = [{"values": {"n": n}} for n in (3000, 7, 500)]
    parsed = spec.parse(described)
    job = replace(parsed, effort=checks, kernel=replace(parsed.kernel, path="other"))
    answers = SimpleNamespace(of=lambda _: {}, seconds=lambda _: seconds, patience=lambda _: 2.0)
    report = Report()
    leaks.check(cast("Any", pair), cast("Any", answers), job, report)
    return report


RIGHT: dict[str, Held] = {
    "nothing": lambda _: Holdings(),
    "kept from the first call on": lambda _: Holdings(4000, 100, 2, 3, 1),
    "kept from the fourth": lambda n: Holdings(4000 * (n > 3)),
    "given back a call later": lambda n: Holdings(4000 * min(n, 2)),
    "a ring of eight": lambda n: Holdings(events=min(n, 8)),
    "a ring of thirty": lambda n: Holdings(4000 * min(n, 30)),
    "given back after five": lambda n: Holdings(4000 * (n % 5)),
    "given back after seventeen": lambda n: Holdings(4000 * (n % 17)),
    "less and less": lambda n: Holdings(max(0, 10**6 - 500 * n)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_kept_for_the_next_call_is_no_leak(name: str) -> None:
    """Of all sizes that were declared, the smallest and the largest first."""
    pair = Pair(RIGHT[name])
    report = _checked(pair)
    assert [check["passed"] for check in report.as_json()] == [True]
    sizes = [key.split("|")[0] for key, calls, _ in pair.asked if calls == leaks.CALLS]
    assert sizes == ["n=7", "n=3000", "n=500"]


WRONG: dict[str, tuple[Held, str]] = {
    "memory": (
        lambda n: Holdings(500_004 * n),
        "0.5 MB more of device memory after each call (n=7",
    ),
    "few bytes": (lambda n: Holdings(4000 + 64 * n), "64 bytes more of device memory"),
    "every third call": (lambda n: Holdings(900_000 * (n // 3)), "0.304 MB more of device memory"),
    "with others given back": (lambda n: Holdings(512 * n + 9000 * (n % 4)), "of device memory"),
    "pinned memory": (lambda n: Holdings(pinned=4096 * n), "4096 bytes more of pinned host memory"),
    "streams": (lambda n: Holdings(streams=n), "keeps 1 stream more after each call"),
    "events": (lambda n: Holdings(events=2 * n), "keeps 2 events more after each call"),
    "graphs": (lambda n: Holdings(graphs=n), "keeps 1 graph more after each call"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("checks", ["screen", "confirm"])
def test_what_grows_with_each_call_is_refused(name: str, checks: str) -> None:
    """In words that say what, and how much of it."""
    held, words = WRONG[name]
    pair = Pair(held)
    with pytest.raises(Wrong) as caught:
        _checked(pair, checks=checks)
    assert words in str(caught.value)
    assert caught.value.status == "wrong result"
    more = ("n=7", leaks.MORE_CALLS)
    asked = [(key.split("|")[0], calls, theirs) for key, calls, theirs in pair.asked]
    assert asked == [("n=7", leaks.CALLS, False), (*more, False), (*more, True)]


def test_what_grows_for_large_sizes_alone_is_refused() -> None:
    """A way of its own for those takes the memory."""

    class Sized(Pair):
        def holdings(self, combination: Combination, *terms: Any, **more: Any) -> Any:
            found = super().holdings(combination, *terms, **more) or []
            return found if combination.case["n"] == 3000 else [Holdings()] * len(found)

    with pytest.raises(Wrong, match=r"n=3000, declared"):
        _checked(Sized(lambda n: Holdings(64 * n)))


def test_a_candidate_may_keep_as_much_as_its_original_does() -> None:
    """Rounded up a little; more of it, or of something else, is its own."""

    def each(size: int) -> Held:
        return lambda n: Holdings(size * n)

    for size in (500, 1000, 1024):
        assert _checked(Pair(each(size), each(1000))).as_json()[0]["passed"]
    with pytest.raises(Wrong, match="1000 bytes more"):
        _checked(Pair(each(2000), each(1000)))
    with pytest.raises(Wrong, match="1 event more"):
        _checked(Pair(lambda n: Holdings(1000 * n, events=n), each(1000)))


def test_nothing_is_said_where_nothing_is_seen() -> None:
    """No compiler for the library; calls so slow that there are few; a long one at screening."""
    assert not _checked(Pair(None)).as_json()
    slow = Pair(None)
    assert not _checked(slow, checks="screen", seconds=0.5).as_json()
    assert not slow.asked

    class Slow(Pair):
        def holdings(self, *terms: Any, **more: Any) -> Any:
            return (super().holdings(*terms, **more) or [])[: leaks.FEWEST - 1]

    assert not _checked(Slow(Holdings)).as_json()


def test_what_leaks_gigabytes_is_not_called_until_the_device_is_full() -> None:
    """Its fault is to be named, not what comes of it."""
    pair = Pair(lambda n: Holdings(n << 27))
    with pytest.raises(Wrong, match="134 MB more"):
        _checked(pair)
    assert pair.asked[1][1] == 32


class Leaking(Line):
    """Takes some memory at every call, or in the first one."""

    def __init__(self, gpu: Device, job: spec.JobSpec, *, each: int = 0, once: int = 0) -> None:
        super().__init__(gpu, job)
        self.each, self.once = each, once

    def holds(self) -> Holdings:  # type: ignore[override]
        return Holdings(self.once * (self.calls > 0) + self.each * self.calls)


def _session(**takes: int) -> tuple[LocalSession, spec.JobSpec]:
    gpu, job = Device(), spec.parse(_described())
    bench = Bench(cast("Any", gpu), job.work)
    pair = Leaking(gpu, job, **takes), Leaking(gpu, job)
    return LocalSession(bench, cast("Any", pair), job), job


SMALL = Combination({"n": 7.0}, "declared", 1)


def test_a_bench_calls_it_on_fresh_buffers_and_reads_what_it_holds() -> None:
    """Until the time is over, or it was called so often."""
    session, job = _session(each=10)
    assert session.holdings(SMALL, 5, 9.0, 9.0) == [Holdings(10 * n) for n in range(1, 6)]
    assert session.holdings(SMALL, 3, 9.0, 9.0, original=True) == [Holdings()] * 3
    assert session.holdings(SMALL, 5, 0.0, 9.0) == []
    line = cast("Any", Line(Device(), job))
    silent = LocalSession(Bench(cast("Any", line.gpu), job.work), (line, line), job)
    assert silent.holdings(SMALL, 5, 9.0, 9.0) is None
    assert line.calls == 0


class Wire:
    """A child's end in this process, with what it may say instead."""

    def __init__(self, session: LocalSession, says: Any = ...) -> None:
        self.server = object.__new__(_Server)
        self.server._session = session
        self.says, self.retired = says, False

    def close(self) -> None:
        """There is no process to be ended."""

    def ask(self, request: Json, _seconds: float) -> Json:
        said = json.loads(json.dumps(self.server.answer(json.loads(json.dumps(request)))))
        return dict(said) if self.says is ... else {"held": self.says}

    def retire(self) -> None:
        self.retired = True


def test_what_is_held_comes_back_from_the_child() -> None:
    """Of either; who takes much has a child that serves nobody else."""
    session, job = _session(each=MOST_HELD // 2)
    wire = Wire(session)
    remote = RemoteSession(cast("Any", wire), job)
    rows = remote.holdings(SMALL, 2, 9.0, 9.0)
    assert rows == [Holdings(MOST_HELD // 2), Holdings(MOST_HELD)]
    assert not wire.retired
    assert len(remote.holdings(SMALL, 1, 9.0, 9.0) or []) == 1
    assert wire.retired
    assert remote.holdings(SMALL, 1, 9.0, 9.0, original=True) == [Holdings()]
    assert RemoteSession(cast("Any", Wire(session, None)), job).holdings(SMALL, 1, 9.0, 9.0) is None
    for nonsense in ([[1, 2]], [[0, 0, 0, 0, -1]], 7, [["x"] * 5], [7]):
        with pytest.raises(LaunchError):
            RemoteSession(cast("Any", Wire(session, nonsense)), job).holdings(SMALL, 1, 9.0, 9.0)
    assert len(KINDS) == len(astuple(Holdings()))


def test_a_child_that_is_retired_serves_no_other_pair(tmp_path: Path) -> None:
    process = EntryProcess(tmp_path, 0, Sandbox("own"))
    process.retire()
    assert process._pairs >= MOST_PAIRS


@pytest.mark.parametrize(("takes", "refused"), [({"each": 4096}, True), ({"once": 1 << 20}, False)])
def test_the_judge_refuses_an_entry_function_that_leaks(
    takes: Mapping[str, int], refused: bool, tmp_path: Path
) -> None:
    """Its results are all right; of a buffer that stays, nothing is said."""
    described = _described()
    oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    built = artifact(LINE)
    request = {"job": described, "candidate": built, "baseline": built}
    session, job = _session(**takes)
    wanted = [SMALL, Combination({"n": 3000.0}, "declared", job.seed)]
    wanted[0] = replace(SMALL, seed=job.seed)
    answers = oracle.answers(job, request, wanted, 60.0)
    hosted = replace(
        job, work=replace(job.work, kind="entry"), kernel=replace(job.kernel, path="x")
    )
    judge = Judge(cast("Any", Device()), 0, tmp_path, lambda _text, _job: None)
    report = Report()
    try:
        if refused:
            with pytest.raises(Wrong, match="keeps 4096 bytes more of device memory"):
                judge._verify(session, request, hosted, (answers, wanted), report, 30.0)
        else:
            judge._verify(session, request, hosted, (answers, wanted), report, 30.0)
    finally:
        judge.close()
    assert report.checks["fresh world", "memory given back"]["passed"] is not refused
