"""Clocks are moved on for the one object that was given them, and for nobody else."""

from __future__ import annotations

import ctypes
import functools
import itertools
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runners import clocks
from runners.clocks import Clocks
from tests import once

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
# What tells the time, each in a function that returns seconds.
TELLS = {
    "clock_gettime": "timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec;",
    "cpu time": "timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec;",
    "gettimeofday": "timeval t; gettimeofday(&t, nullptr); return t.tv_sec + 1e-6 * t.tv_usec;",
    "time": "return time(nullptr);",
    "time to": "time_t t; time(&t); return t;",
    "clock": "return clock() / double(CLOCKS_PER_SEC);",
    "times": "tms t; return times(&t) / double(sysconf(_SC_CLK_TCK));",
    "times of the process": "tms t; times(&t); return t.tms_utime / double(sysconf(_SC_CLK_TCK));",
    "getrusage": "rusage t; getrusage(RUSAGE_SELF, &t); return t.ru_utime.tv_sec + 1e-6 * t.ru_utime.tv_usec;",
    "timespec_get": "timespec t; timespec_get(&t, TIME_UTC); return t.tv_sec + 1e-9 * t.tv_nsec;",
    "steady": "return duration<double>(steady_clock::now().time_since_epoch()).count();",
    "system": "return duration<double>(system_clock::now().time_since_epoch()).count();",
    "high_resolution": "return duration<double>(high_resolution_clock::now().time_since_epoch()).count();",
    "a table": "return table[argument]();",
    "dlsym": 'timespec t; ((Get)dlsym(RTLD_DEFAULT, "clock_gettime"))(CLOCK_REALTIME, &t); return t.tv_sec + 1e-9 * t.tv_nsec;',
    "dlsym of a library": (
        'timespec t; ((Get)dlsym(dlopen("libc.so.6", RTLD_NOW), "clock_gettime"))(CLOCK_REALTIME, &t);'
        " return t.tv_sec + 1e-9 * t.tv_nsec;"
    ),
    "syscall": "timespec t; syscall(SYS_clock_gettime, CLOCK_REALTIME, &t); return t.tv_sec + 1e-9 * t.tv_nsec;",
}  # fmt: skip
# What waits for a fiftieth of a second by the clock that it reads.
WAITS = {
    "condition": "cv.wait_for(guard, milliseconds(20), [] { return false; });",
    "condition of the system's": "cv.wait_until(guard, system_clock::now() + milliseconds(20));",
    "mutex": "timed.try_lock_for(milliseconds(20));",
    "mutex of the system's": "timed.try_lock_until(system_clock::now() + milliseconds(20));",
    "future": "std::promise<int> p; p.get_future().wait_for(milliseconds(20));",
    "future of the system's": (
        "std::promise<int> p; p.get_future().wait_until(system_clock::now() + milliseconds(20));"
    ),
    "sleep until": "std::this_thread::sleep_until(steady_clock::now() + milliseconds(20));",
    "sleep for": "std::this_thread::sleep_for(milliseconds(20));",
    "usleep": "usleep(20000);",
    "clock_nanosleep": (
        "timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_nsec += 20000000;"
        " if (t.tv_nsec >= 1000000000) ++t.tv_sec, t.tv_nsec -= 1000000000;"
        " clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);"
    ),
    "semaphore": (
        "sem_t s; sem_init(&s, 0, 0); timespec t; clock_gettime(CLOCK_REALTIME, &t);"
        " t.tv_nsec += 20000000; if (t.tv_nsec >= 1000000000) ++t.tv_sec, t.tv_nsec -= 1000000000;"
        " sem_timedwait(&s, &t);"
    ),
    "timer": (
        "timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_nsec += 20000000;"
        " if (t.tv_nsec >= 1000000000) ++t.tv_sec, t.tv_nsec -= 1000000000;"
        " int f = timerfd_create(CLOCK_MONOTONIC, 0); itimerspec at{{}, t}; uint64_t n;"
        " timerfd_settime(f, TFD_TIMER_ABSTIME, &at, nullptr); (void)!read(f, &n, 8); close(f);"
    ),
}
# What sleeps for half an hour, unless the clock is moved on.
SLEEPS = {
    "sleep": "sleep(1800);",
    "usleep": "usleep(1800000000u);",
    "nanosleep": "timespec t{1800, 0}; nanosleep(&t, nullptr);",
    "clock_nanosleep": "timespec t{1800, 0}; clock_nanosleep(CLOCK_REALTIME, 0, &t, nullptr);",
    "sleep_for": "std::this_thread::sleep_for(minutes(30));",
    "syscall": "timespec t{1800, 0}; syscall(SYS_nanosleep, &t, nullptr);",
}
HEAD = """
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <dlfcn.h>
#include <future>
#include <mutex>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <thread>
#include <time.h>
#include <unistd.h>
using namespace std::chrono;
using Get = int (*)(clockid_t, timespec *);
static int argument = 0;
extern "C" int nobody_elses() { return 7; }
static double by_clock() { return clock() / double(CLOCKS_PER_SEC); }
double (*table[])() = {by_clock};
time_t (*volatile fixed)(time_t *) = &time;
static std::mutex lock;
static std::timed_mutex timed;
static std::condition_variable cv;
extern "C" double through_a_pointer() { return fixed(nullptr); }
extern "C" int finds_its_own() {
  auto one = (int (*)())dlsym(RTLD_DEFAULT, "nobody_elses");
  return one ? one() : 0;
}
"""
FLAGS = {"now": ["-Wl,-z,relro,-z,now"], "lazy": ["-Wl,-z,lazy"], "without a PLT": ["-fno-plt"]}
Give = Callable[..., ctypes.CDLL]


def _text() -> str:
    parts = [HEAD]
    for n, body in enumerate(TELLS.values()):
        parts.append(f'extern "C" double tells_{n}() {{ {body} }}')
    for n, body in enumerate(WAITS.values()):
        parts.append(
            f'extern "C" void waits_{n}() {{ std::unique_lock<std::mutex> guard(lock);'
            f" std::thread([] {{ timed.lock(); }}).join(); {body} timed.unlock(); }}"
        )
    for n, body in enumerate(SLEEPS.values()):
        parts.append(f'extern "C" void sleeps_{n}() {{ {body} }}')
    parts.append(
        'static std::atomic<int> awake{0};\nextern "C" int woken() { return awake; }\n'
        'extern "C" void begin(void (*one)()) { std::thread([=] { one(); ++awake; }).detach(); }'
    )  # fmt: skip
    return "\n".join(parts)


@functools.cache
def built(kind: str) -> Path:
    """Return a shared object that knows the time in all these ways."""
    text = _text()
    flags = ["-std=c++17", "-O2", "-w", "-fPIC", "-shared", "-pthread", *FLAGS[kind]]

    def make(folder: Path) -> None:
        source = folder / "told.cpp"
        source.write_text(text)
        command = [str(COMPILER), *flags, str(source), "-o", str(folder / "told.so")]
        subprocess.run(command, check=True, timeout=120)

    return once.built("\0".join(flags), text, make) / "told.so"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Clocks:
    return Clocks(clocks.library(tmp_path_factory.mktemp("clocks")))


@pytest.fixture
def load(tmp_path: Path, given: Clocks) -> Give:
    """Load copies of such an object, each of its own; the clocks are as they are to begin with."""
    numbers = itertools.count()
    given.move(0.0)

    def make(kind: str = "now", *, taken: bool = True) -> ctypes.CDLL:
        path = tmp_path / f"{next(numbers)}.so"
        shutil.copyfile(built(kind), path)
        library = ctypes.CDLL(str(path))
        for n in range(len(TELLS)):
            getattr(library, f"tells_{n}").restype = ctypes.c_double
        library.through_a_pointer.restype = ctypes.c_double
        if taken:
            assert given.take(library) > len(TELLS) // 2
        return library

    return make


def _told(library: ctypes.CDLL) -> dict[str, float]:
    found = {name: getattr(library, f"tells_{n}")() for n, name in enumerate(TELLS)}
    return {**found, "a pointer": library.through_a_pointer()}


def _own() -> tuple[float, float, float]:
    return time.time(), time.monotonic(), time.process_time()


@pytest.mark.parametrize("kind", FLAGS)
@pytest.mark.parametrize("seconds", [60.0, 86400.0, 400 * 86400.0])
def test_every_clock_of_an_object_is_moved_and_no_other(
    load: Give, given: Clocks, kind: str, seconds: float
) -> None:
    mine, other = load(kind), load(kind, taken=False)
    before, others, own = _told(mine), _told(other), _own()
    assert before == pytest.approx(others, abs=20.0)
    given.move(seconds)
    after, later, now = _told(mine), _told(other), _own()
    for name, was in before.items():
        assert seconds - 1.5 < after[name] - was < seconds + 20.0, name
        assert later[name] - others[name] < 20.0, name
    assert all(b - a < 20.0 for a, b in zip(own, now, strict=True))
    given.move(0.0)
    assert all(abs(was - before[name]) < 20.0 for name, was in _told(mine).items())


@pytest.mark.parametrize("which", WAITS)
def test_what_waits_until_a_time_waits_no_longer_than_it_would(
    load: Give, given: Clocks, which: str
) -> None:
    """A time that was worked out with a moved clock is days away by the real one."""
    library, number = load(), [*WAITS].index(which)
    for seconds in (0.0, 3600.0, 400 * 86400.0):
        given.move(seconds)
        begun = time.monotonic()
        library[f"waits_{number}"]()
        assert 0.015 < time.monotonic() - begun < 5.0


@pytest.mark.parametrize("which", SLEEPS)
def test_what_sleeps_wakes_when_the_clock_has_been_moved_past(
    load: Give, given: Clocks, which: str
) -> None:
    library, number = load(), [*SLEEPS].index(which)
    library.begin(library[f"sleeps_{number}"])
    given.move(60.0)
    time.sleep(0.2)
    assert library.woken() == 0
    given.move(3600.0)
    deadline = time.monotonic() + 10.0
    while not library.woken() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert library.woken() == 1


def test_what_is_no_clock_is_found_by_name_from_where_it_is_asked(load: Give) -> None:
    """`RTLD_DEFAULT` means what the caller can see, of which we stand in the way."""
    assert load().finds_its_own() == 7


def test_an_object_that_asks_for_no_time_is_left_alone(tmp_path: Path, given: Clocks) -> None:
    source, out = tmp_path / "f.cpp", tmp_path / "f.so"
    source.write_text('#include <cstdlib>\nextern "C" int f(int x) { return abs(x) + rand(); }')
    subprocess.run([str(COMPILER), "-shared", "-fPIC", str(source), "-o", str(out)], check=True)
    assert given.take(ctypes.CDLL(str(out))) == 0
