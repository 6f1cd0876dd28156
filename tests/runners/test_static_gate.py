"""What compiled code can do is read from it, and what can do more is run more often and later."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from runners import (
    checks,
    cubin,
    device_code,
    lanes,
    marks,
    nearest,
    one_run,
    seeded,
    static_gate,
    verify,
    warp_delays,
)
from runners.judge import Judge
from runners.static_gate import device, host, knows_time
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact
from tests.runners.test_judge import SCALE, _verdict

KERNEL = """
{above}
__global__ void k(float* p, const float* q, int n) {{
    __shared__ float s[32];
    int i = threadIdx.x;
    s[i & 31] = q[i];
    __syncthreads();
    if (i < n) {{ {body} p[i] = s[31 - (i & 31)] * 2.f; }}
}}
"""
NOW = """
#include <chrono>
long f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
"""
CALLS = 'extern "C" int {name}(int, int); int f() {{ return {name}(6, 1 << 24); }}'
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def ptx(folder: Path, body: str, above: str = "") -> str:
    source, out = folder / "k.cu", folder / "k.ptx"
    source.write_text(KERNEL.format(body=body, above=above))
    line = ["nvcc", "-ptx", "-w", "-arch=sm_90", str(source), "-o", str(out)]
    subprocess.run(line, check=True, timeout=120)
    return out.read_text()


@needs_nvcc
@pytest.mark.parametrize(
    ("body", "above", "found"),
    [
        ("", "", set()),
        ("", "__constant__ float c[4];", set()),
        ("if (clock64() & 1) return;", "", {"reads a clock"}),
        ("__nanosleep(100);", "", {"sleeps"}),
        ('printf("%d", i);', "#include <cstdio>", {"prints"}),
        ("assert(i >= 0 && q[i] < 9.f);", "#include <cassert>", {"asserts"}),
        ("p[i] = *(int*)malloc(n);", "", {"allocates from the device's heap"}),
        ("atomicAdd(&calls, 1);", "__device__ int calls;", {"keeps variables between launches"}),
        ("if (q[i] > 9.f) __trap();", "", {"ends a launch early"}),
        (
            "cuda::annotated_ptr<const float, cuda::access_property::persisting> a{q}; p[0] = a[i];",
            "#include <cuda/annotated_ptr>",
            {"steers the cache"},
        ),
        ("__stcs(p + n, __ldg(q + n));", "", set()),
        (
            "atomicAdd(&optiml_shaking_seed, 1);",
            "__device__ unsigned optiml_shaking_seed;",
            {static_gate.NAMES, static_gate.KEEPS},
        ),
        ("", "__global__ void optiml_work(float* p) { *p = 1.f; }", {static_gate.NAMES}),
        ("", "namespace a { __global__ void optiml_go(int* p) { *p = 1; } }", {static_gate.NAMES}),
        ("p[0] += optiml[i];", "__constant__ float optiml[4];", set()),
    ],
)
def test_abilities_are_read_from_ptx(
    tmp_path: Path, body: str, above: str, found: set[str]
) -> None:
    assert device(ptx(tmp_path, body, above)) == found


@pytest.mark.parametrize("register", ["%gridid", "%current_graph_exec", "%pm3", "%pm3_64"])
def test_registers_that_tell_launches_apart_are_refused(register: str) -> None:
    """They count launches where nothing can be set ahead."""
    assert device(f"mov.u64 %rd2, {register};") == {static_gate.LAUNCHES}
    assert static_gate.LAUNCHES in static_gate.REFUSED
    assert not device("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %laneid;")


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "theirs", "status"),
    [(65, 0, "rejected"), (65, 65, "correct"), (1, 0, "correct")],
)
def test_more_variables_than_can_be_watched_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: int, theirs: int, status: str
) -> None:
    candidate = artifact(AGED)["path"]
    monkeypatch.setattr(
        device_code,
        "_kept_bytes",
        lambda made: (mine if made["path"] == candidate else theirs) << 20,
    )
    monkeypatch.setattr(cubin, "variables", lambda _: ())
    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    judge._oracle = HostOracle(tmp_path, 0, lambda source, _job: artifact(source))
    verdict = _verdict(judge, AGED, SCALE)
    judge.close()
    assert verdict["status"] == status, verdict["log"]


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int f(int x) { return x + 1; }", set()),
        ("#include <ctime>\nlong f() { return time(nullptr); }", {static_gate.HOST_CLOCK}),
        (NOW, {static_gate.HOST_CLOCK}),
        ("#include <unistd.h>\nvoid f() { sleep(1); alarm(9); }", {static_gate.HOST_CLOCK}),
        (
            (
                "#include <future>\nvoid f() { std::promise<int> p;"
                " p.get_future().wait_for(std::chrono::seconds(1)); }"
            ),
            {static_gate.HOST_CLOCK},
        ),
        ('#include <dlfcn.h>\nvoid *f() { return dlsym(nullptr, "x"); }', {static_gate.UNSEEN}),
        ("#include <unistd.h>\nlong f() { return syscall(1); }", {static_gate.UNSEEN}),
        ("int timeout(int); int runtime(int x) { return timeout(x); }", set()),
        (
            "#include <thread>\nvoid f() { std::thread([] {}).detach(); }",
            {"host code starts threads"},
        ),
        (CALLS.format(name="cudaDeviceSetLimit"), {static_gate.LIMITS}),
        (CALLS.format(name="cuDevicePrimaryCtxSetFlags_v2"), {static_gate.LIMITS}),
        (CALLS.format(name="cudaFuncSetAttribute"), set()),
        ('#include <cstdio>\nvoid f() { fclose(fopen("a", "w")); }', {static_gate.FILES}),
        ('#include <fstream>\nvoid f() { std::ofstream("a") << 1; }', {static_gate.FILES}),
        ('#include <cstdlib>\nvoid f() { (void)!system("x"); }', {static_gate.FILES}),
        ("#include <unistd.h>\nint f() { return fork(); }", {static_gate.FILES}),
        ('#include <fcntl.h>\nint f() { return open("a", O_RDONLY); }', {static_gate.FILES}),
        ('#include <cstdio>\nvoid f() { printf("%d", 1); fflush(stdout); }', set()),
        ("#include <sstream>\nvoid f() { std::stringstream() << 1; }", set()),
        (
            'extern "C" int cudaEventElapsedTime(float *ms, int, int) { return *ms = 1e-3f, 0; }',
            {static_gate.REPLACES},
        ),
        ('extern "C" long time(long *) { return 7; }', {static_gate.REPLACES}),
        ('extern "C" int optiml_nearest_told(int *) { return 0; }', {static_gate.HOST_NAMES}),
        ("namespace a { int optiml_gate; }", {static_gate.HOST_NAMES}),
        ("static int optiml_gate; int f() { return ++optiml_gate; }", set()),
        ("static void free(int) {}\nvoid custom() { free(1); }\nint timely;", set()),
    ],
)
def test_abilities_of_host_code_are_read_from_its_symbols(
    tmp_path: Path, text: str, found: set[str]
) -> None:
    source, out = tmp_path / "f.cc", tmp_path / "f.so"
    source.write_text(text)
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(out)], check=True)
    assert host(out.read_bytes()) == found


def test_what_stays_set_on_the_device_or_stands_in_its_place_is_refused() -> None:
    """A share of the cache that a function keeps is missing to all that its caller runs."""
    assert {static_gate.LIMITS, static_gate.REPLACES, static_gate.FILES} <= static_gate.REFUSED


def test_names_of_the_verifiers_own_are_refused_of_all() -> None:
    """A build with delays does not compile beside such a variable, and would not be run."""
    assert {static_gate.NAMES, static_gate.HOST_NAMES} <= static_gate.REFUSED
    assert static_gate.HOST_NAMES in static_gate.REFUSED_OF_PROGRAMS < static_gate.REFUSED
    ours = {seeded.SEED, marks.NAME, nearest.NAME, nearest.TELLS, lanes.ZERO, warp_delays.LATE}
    assert all(static_gate.OURS in name for name in ours)


def test_pauses_are_for_what_knows_of_time() -> None:
    assert knows_time(frozenset({"reads a clock"}))
    assert knows_time(frozenset({static_gate.HOST_CLOCK}))
    assert knows_time(frozenset({static_gate.UNSEEN}))
    assert not knows_time(frozenset({"prints", "keeps variables between launches"}))


AGED = SCALE + "// it knows how late it is"


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("mine", "status"),
    [("nanosleep.u32 %r1;", "wrong result"), ("", "correct")],
)
def test_what_waits_for_its_hour_meets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: str, status: str
) -> None:
    """Only what knows of time, where its original does not, is made to wait."""
    monkeypatch.setattr(cubin, "variables", lambda _: ())
    monkeypatch.setattr(verify, "PAUSES", (0.2, 60.0))
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(time, "sleep", sleep)

    def code(source: str, _job: object) -> str:
        return mine if source == AGED else ""

    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, device_code=code)
    judge._oracle = HostOracle(tmp_path, 0, lambda source, _job: artifact(source))
    later = [False]
    run = one_run.judge

    def aged(*arguments: object) -> None:
        if slept and slept[-1] == 60.0 and not later[0]:
            later[0] = True
            raise checks.Wrong("wrong result", "as if its hour had come")
        run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(one_run, "judge", aged)
    verdict = _verdict(judge, AGED, SCALE, effort="confirm")
    judge.close()
    assert verdict["status"] == status, verdict["log"]
    assert (60.0 in slept) == bool(mine)
    gates = [check["what"] for check in verdict["checks"] if check["layer"] == "static gate"]
    assert gates == (["sleeps, run more"] if mine else [])


@pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("theirs", "status"), [("", "rejected"), ("mov.u32 %r1, %clock;", "correct")]
)
def test_a_clock_that_the_original_does_not_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str, status: str
) -> None:
    monkeypatch.setattr(cubin, "variables", lambda _: ())

    def code(source: str, _job: object) -> str:
        return "mov.u64 %rd2, %clock64;" if source == AGED else theirs

    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, device_code=code)
    judge._oracle = HostOracle(tmp_path, 0, lambda source, _job: artifact(source))
    verdict = _verdict(judge, AGED, SCALE, effort="confirm")
    judge.close()
    assert verdict["status"] == status, verdict["log"]
    assert ("reads a clock" in verdict["log"]) == (status == "rejected")


def test_pauses_end_before_the_time_for_them_does() -> None:
    assert sum(verify.PAUSES) < verify.GATE_SECONDS
