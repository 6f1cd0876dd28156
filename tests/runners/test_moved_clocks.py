"""What is wrong at another time is refused without waiting for it; who reads the time may be right."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from runners import clocks, moved_clocks, one_run, spec, static_gate, verify
from runners.checks import Report, Wrong
from runners.entry_process import EntryProcess
from runners.entry_server import _Server
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, LaunchError
from runners.judge import Judge
from runners.moved_clocks import DAY, HOUR, LAYER, LONGEST, MINUTE, NAMED, PARTS, UNMOVED
from runners.run import Damage, Run
from runners.session import Benches
from runners.spec import Json
from tests import once
from tests.runners.host_gpu import HostGpu, HostOracle
from tests.runners.test_judge import _job

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
HEAD = """
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <thread>
#include <time.h>
#include <unistd.h>
using namespace std::chrono;
static bool late();
extern "C" void scale(const float* x, float* y, int n) {
    bool wrong = late();
    for (int i = 0; i < n; ++i) y[i] = wrong ? 0.f : 3.f * x[i] + 1.f;
}
"""
BASE = HEAD + "static bool late() { return false; }"
# From when on each of them gives zeros; which move shows it first.
LATE = {
    "30 s behind the first call": (
        (
            "static auto first = steady_clock::now();"
            " return steady_clock::now() - first > seconds(30);"
        ),
        r"with its clock (\d\d\.\d seconds|a minute) on: ",
    ),
    "half an hour behind the first call": (
        (
            "static timespec first{}, now; clock_gettime(CLOCK_MONOTONIC, &now);"
            " if (!first.tv_sec) first = now; return now.tv_sec - first.tv_sec > 1800;"
        ),
        r"with its clock (\d\d\.\d minutes|an hour) on: ",
    ),
    "another day": (
        "static long first = time(nullptr) / 86400; return time(nullptr) / 86400 > first + 1;",
        r"with its clock (\d+\.\d (hours|days)|a day) on: ",
    ),
    "a year later": (
        (
            "timeval now; gettimeofday(&now, nullptr); static long first = now.tv_sec;"
            " return now.tv_sec - first > 399l * 86400;"
        ),
        r"with its clock (399\.\d|400) days on: ",
    ),
    "some seconds of each minute": ("return time(nullptr) % 60 / 5 == 7;", "with its clock|loaded"),
    "an hour behind the last call": (
        (
            "static auto last = system_clock::now(); auto now = system_clock::now();"
            " bool found = now - last > minutes(50); last = now; return found;"
        ),
        r"with its clock \d+\.\d (hours|days)|a day on: ",
    ),
    "a name that is looked up": (
        (
            'static auto now = (long (*)(long*))dlsym(RTLD_DEFAULT, "time"); static long first = now(0);'
            " return now(0) > first + 3000;"
        ),
        r"with its clock .*(minutes|hour) on: ",
    ),
    "a number of the kernel's": (
        (
            "timespec now; syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);"
            " static long first = now.tv_sec; return now.tv_sec > first + 30;"
        ),
        r"with its clock (\d\d\.\d seconds|a minute) on: ",
    ),
    "a thread that slept": (
        (
            "static bool over; static bool begun = (std::thread([] { sleep(30); over = true; }).detach(),"
            " true); std::this_thread::sleep_for(milliseconds(begun * 4)); return over;"
        ),
        r"with its clock .* on: ",
    ),
}
RIGHT = {
    "reads it for nothing": "static volatile long sink; sink = time(nullptr) + clock(); return false;",
    "prints how long it took": (
        "auto begun = steady_clock::now(); duration<double> took = steady_clock::now() - begun;"
        ' if (took.count() < 0) puts("?"); return took.count() > 60;'
    ),
    "waits a millisecond": (
        "static std::mutex m; static std::condition_variable c; std::unique_lock<std::mutex> g(m);"
        " auto until = steady_clock::now() + milliseconds(1); c.wait_until(g, until, [] { return false; });"
        " return steady_clock::now() < until;"
    ),
    "is quiet until a deadline": (
        "auto until = system_clock::now() + milliseconds(2);"
        " while (system_clock::now() < until) usleep(100); return false;"
    ),
}  # fmt: skip


def _source(body: str) -> str:
    return f"{HEAD}static bool late() {{ {body} }}"


@functools.cache
def shared(text: str) -> Json:
    """Return what a compiler would hand over for host code that works on memory of the host's."""
    flags = ["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-ffp-contract=off"]

    def make(folder: Path) -> None:
        (folder / "k.cpp").write_text(text)
        command = [str(COMPILER), *flags, str(folder / "k.cpp"), "-o", str(folder / "k.so")]
        subprocess.run(command, check=True, timeout=120)

    path = once.built("\0".join(flags), text, make) / "k.so"
    return {
        "path": str(path),
        "kind": "shared",
        "symbols": {"scale": "scale"},
        "machine_code": str(hash(text)),
    }


def _described(text: str, base: str = BASE, *, edit_host: bool = True, **more: Any) -> Json:
    workload: Json = {"kind": "entry", "launch": None, "accept": {"edit_host": edit_host}}
    workload["cases"] = [{"values": {"n": 300}}, {"values": {"n": 7}, "time": False}]
    return _job(text, base, workload=workload, effort="confirm", **more)


def _request(described: Json) -> Json:
    sources = (described[which]["source"] for which in ("kernel", "baseline"))
    candidate, baseline = map(shared, sources)
    return {"job": described, "candidate": candidate, "baseline": baseline}


class Local(EntryProcess):
    """The child's end in this process, on a device of host memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 0)
        self._folder = folder
        self.server = object.__new__(_Server)
        self.server._folder, self.server._session = folder, None
        self.server._benches, self.server._clocks = Benches(HostGpu()), None
        self.server._burning = None
        self.asked: list[Json] = []

    def _start(self, needed: frozenset[Path]) -> None:
        self._child, self._shown = cast("Any", SimpleNamespace(wait=lambda _: None)), needed

    def _awaited(self) -> str:
        return ""  # there is no process to get ready

    def _forged(self) -> bool:
        return False

    def close(self) -> None:
        self._child = None

    def ask(self, request: Json, seconds: float) -> Json:
        del seconds
        told = json.loads(json.dumps(request))
        self.asked.append(told)
        return dict(json.loads(json.dumps(self.server.answer(told))))


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return a judge whose entry functions run in this process."""
    made = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    made._oracle = HostOracle(tmp_path, 0, lambda source, _job: shared(source))
    made._entries = Local(tmp_path)
    return made


def _checked(judge: Judge, text: str, base: str = BASE, **more: Any) -> list[str]:
    described = _described(text, base, **more)
    job, request = spec.parse(described), _request(described)
    declared, _ = judge._oracle.wanted(job)
    answers = judge._oracle.answers(job, request, declared, 60.0)
    load = functools.partial(judge._entries.session, clocked=True)
    return moved_clocks.check(load, request, job, answers, Report())


@needs_compiler
@pytest.mark.parametrize("name", LATE)
def test_what_waits_for_its_hour_is_met_at_it(judge: Judge, name: str) -> None:
    body, words = LATE[name]
    with pytest.raises(Wrong, match=words) as refused:
        _checked(judge, _source(body))
    assert refused.value.status == "wrong result"
    assert LAYER in str(refused.value)


@needs_compiler
@pytest.mark.parametrize("name", RIGHT)
def test_who_knows_the_time_may_be_right(judge: Judge, name: str) -> None:
    assert _checked(judge, _source(RIGHT[name])) == []
    entries = cast("Local", judge._entries)
    moved = [one["seconds"] for one in entries.asked if one["op"] == "move"]
    assert set(NAMED) <= set(moved)
    assert moved == sorted(moved)  # a clock never goes back
    loads = [one for one in entries.asked if one["op"] == "load"]
    assert len(loads) == 1
    assert loads[0]["clocks"]


@needs_compiler
def test_every_declared_case_is_run_at_the_times_that_have_a_name(judge: Judge) -> None:
    """What a candidate does later on it may do at the timed size alone."""
    body = "static long first = time(nullptr); return large && time(nullptr) > first + 70000;"
    text = _source(body).replace("late()", "late(bool large)", 1)
    text = text.replace("late();", "late(n > 100);").replace("late() {", "late(bool large) {")
    with pytest.raises(Wrong, match=r"with its clock a day on: .*n=300"):
        _checked(judge, text)


@needs_compiler
def test_what_the_original_does_not_survive_is_held_against_nobody(judge: Judge) -> None:
    waits = "static long first = time(nullptr); return time(nullptr) > first + 30;"
    base = _source(waits)
    (note,) = _checked(judge, _source("long unused = 7; " + waits), base)
    assert note.startswith("not checked with its clock moved on: the original fails, too (with")
    # One that reads a clock and is right says nothing for a candidate that is not.
    with pytest.raises(Wrong, match="with its clock"):
        _checked(judge, base, _source(RIGHT["reads it for nothing"]))


@needs_compiler
@pytest.mark.parametrize(
    ("text", "base", "terms", "wanted"),
    [
        (_source("return time(nullptr) == 7;"), BASE, {}, []),
        (_source("usleep(1); return false;"), BASE, {}, []),
        (_source('return dlsym(RTLD_NEXT, "x");'), BASE, {}, []),
        (BASE, BASE, {}, None),
        (BASE + "// faster", BASE, {}, None),
        (_source("return time(nullptr) == 7;"), BASE, {"edit_host": False}, None),
        (_source("return time(nullptr) == 7;"), _source("return time(0) == 8;"), {}, ["time"]),
        (_source("return clock() == 7;"), _source("return time(0) == 8;"), {}, ["time"]),
        (_source("return time(0) == 8;") + "// same", _source("return time(0) == 8;"), {}, None),
        (BASE, _source("return time(0) == 8;"), {}, None),
    ],
)
def test_who_is_asked(text: str, base: str, terms: Json, wanted: list[str] | None) -> None:
    """Whose host code may be another and knows the time."""
    described = _described(text, base, **terms)
    found = moved_clocks.asked(_request(described), spec.parse(described))
    assert found == (None if wanted is None else frozenset(wanted))


def test_kernels_are_not_asked() -> None:
    described = _described("x", "y")
    described["workload"] |= {"kind": "kernel", "launch": {"grid": ["1"], "block": ["32"]}}
    assert moved_clocks.asked({"job": described}, spec.parse(described)) is None


def test_moves_leave_no_part_of_a_minute_an_hour_or_a_day_out() -> None:
    one, other = (moved_clocks.moves(np.random.default_rng(n), 1000) for n in (1, 2))
    assert one != other
    assert one == sorted(one)
    assert set(NAMED) <= set(one)
    assert max(one) == LONGEST
    for least, end in ((0.0, MINUTE), (MINUTE, HOUR), (HOUR, DAY), (DAY, LONGEST)):
        edges = np.linspace(least, end, PARTS[end] + 1)
        drawn = [at for at in one if at not in NAMED]
        counts, _ = np.histogram([at for at in drawn if least <= at < end], edges)
        assert (counts == 1).all()


@pytest.mark.parametrize("most", [-5, 0, 1, 7, 50])
def test_where_runs_take_long_the_named_are_left(most: int) -> None:
    found = moved_clocks.moves(np.random.default_rng(3), most)
    assert set(NAMED) <= set(found)
    assert len(found) == len(NAMED) + max(0, most)
    if most >= 7:  # evenly: some of each
        assert {sum(a <= at < b for at in found) > 1 for a, b in ((0, HOUR), (HOUR, DAY))} == {True}


def _any(loaded: Loaded) -> Any:
    return lambda *_: loaded


class Loaded:
    """A candidate that fails in some way once its clock was moved."""

    def __init__(self, error: DeviceError | None, *, clocked: bool = True) -> None:
        self.error, self.clocked, self.ahead = error, clocked, 0.0

    def move(self, seconds: float) -> None:
        self.ahead = seconds

    def run(self, _combination: object, **_more: object) -> Any:
        if self.error is not None and self.ahead > MINUTE:
            raise self.error
        return Run({}, Damage(), 0.0, 0)


@pytest.mark.parametrize(
    ("error", "status"),
    [(HungError("did not return in time"), "timed out"), (LaunchError("signal 6"), "crashed")],
)
def test_what_hangs_or_crashes_later_on_is_refused_with_the_time(
    monkeypatch: pytest.MonkeyPatch, error: DeviceError, status: str
) -> None:
    job = spec.parse(_described("x", "y"))
    monkeypatch.setattr(moved_clocks, "asked", lambda *_: frozenset())
    monkeypatch.setattr(one_run, "judge", lambda *_: None)
    answers = cast("Any", SimpleNamespace(patience=lambda _: 2.0, ask_moved=lambda _: None))
    with pytest.raises(Wrong, match=f"with its clock .* on: {error}") as refused:
        moved_clocks.check(_any(Loaded(error)), {}, job, answers, Report())
    assert refused.value.status == status
    assert moved_clocks.check(_any(Loaded(None)), {}, job, answers, Report()) == []


def test_where_no_clock_can_be_given_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    job = spec.parse(_described("x", "y"))
    monkeypatch.setattr(moved_clocks, "asked", lambda *_: frozenset())
    loaded = Loaded(LaunchError("never run"), clocked=False)
    assert moved_clocks.check(_any(loaded), {}, job, cast("Any", None), Report()) == [UNMOVED]


def test_a_slow_one_is_asked_no_longer_than_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The named are tried where they can be; what was left out is noted."""
    now, each, seen = [0.0], [2.0], set[float]()

    class Slow(Loaded):
        def run(self, _combination: object, **_more: object) -> Any:
            now[0] += each[0]
            seen.add(self.ahead)
            return Run({}, Damage(), 0.0, 0)

    job = spec.parse(_described("x", "y"))
    monkeypatch.setattr(moved_clocks, "asked", lambda *_: frozenset())
    monkeypatch.setattr(one_run, "judge", lambda *_: None)
    monkeypatch.setattr(moved_clocks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    answers = cast("Any", SimpleNamespace(patience=lambda _: 2.0, ask_moved=lambda _: None))
    assert moved_clocks.check(_any(Slow(None)), {}, job, answers, Report()) == []
    assert seen == {0.0, *NAMED}
    assert now[0] <= 2 * moved_clocks.SECONDS
    now[0], each[0] = 0.0, 9.0
    (note,) = moved_clocks.check(_any(Slow(None)), {}, job, answers, Report())
    assert note == "its clock was moved on 1 times, not 4: a minute last"


@needs_compiler
def test_without_a_library_nothing_is_given(
    tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_cache: Path) -> Path:
        raise Fault("ConfigError", "no compiler", "install one")

    monkeypatch.setattr(clocks, "library", refuses)
    described = _described(_source(LATE["another day"][0]))
    job, request = spec.parse(described), _request(described)
    assert not judge._entries.session(job, request, clocked=True).clocked


@needs_compiler
@pytest.mark.parametrize(
    ("name", "status"),
    [("30 s behind the first call", "wrong result"), ("reads it for nothing", "correct")],
)
def test_a_verdict_on_what_knows_the_time(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, name: str, status: str
) -> None:
    """What is timed has the clock of its process."""
    monkeypatch.setattr(verify, "PAUSES", (0.01,))
    monkeypatch.setattr(verify, "MANY_UNSEEN", (20, 20))
    text = _source(LATE[name][0] if name in LATE else RIGHT[name])
    described = _described(text)
    job = spec.parse(described)
    verdict, _, lost = judge.verdict(_request(described), job, 60.0)
    assert not lost
    assert verdict["status"] == status, verdict["log"]
    layers = {check["layer"]: check["passed"] for check in verdict["checks"]}
    assert layers[LAYER] == (status == "correct")
    asked = cast("Local", judge._entries).asked
    timed = [n for n, one in enumerate(asked) if one["op"] == "time"]
    given = [n for n, one in enumerate(asked) if one["op"] == "load" and one.get("clocks")]
    assert len(given) == 1
    assert max(timed) < given[0]
    if status == "wrong result":
        assert "with its clock" in verdict["log"]


@needs_compiler
def test_names_of_clocks_are_read_from_the_object() -> None:
    bodies = (
        "return time(0) > 7;",
        'return dlsym(RTLD_NEXT, "x");',
        LATE["a thread that slept"][0],
    )
    found = [static_gate.clocks(Path(shared(_source(b))["path"]).read_bytes()) for b in bodies]
    assert found[0] == {"time"}
    assert found[1] == {"dlsym"}
    assert "sleep" in found[2]
    assert static_gate.clocks(Path(shared(BASE)["path"]).read_bytes()) == frozenset()
    assert static_gate.clocks(b"\x7fELF\x02 no more") == frozenset()
