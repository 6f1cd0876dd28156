"""The worker on a real GPU: every right candidate accepted, every wrong one refused."""

from __future__ import annotations

import dataclasses
import json
import re
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from runners import alignment, guided, lines_run
from runners.answers import module_command
from runners.building import Building
from runners.fault import Fault
from tests.gpu.ahead import Ahead, Parameters
from tests.gpu.worker_cases import (
    ALLOCATING,
    CHAIN,
    FAMILIES,
    SAXPY,
    SOFTMAX,
    TRANSPOSE,
    Family,
    case,
    grid,
    pointer,
    scalar,
)

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]
Json = dict[str, Any]
_BUILDING: list[Building] = []


def compile_ahead(ahead: Ahead, chosen: Sequence[Parameters]) -> None:
    """Begin to compile what the chosen tests will ask the compiler for."""
    try:
        made = Building(ahead.sm, ahead.folder / "worker-verdicts")
    except Fault:
        return
    ahead.closing.callback(made.close)
    _BUILDING.append(made)
    asked = {}
    for one in chosen:
        if "family" in one:
            family = one["family"]
            for text in (family.source, one.get("text", family.source)):
                asked[text] = family.job(text)
    for text, job in asked.items():
        ahead.submit(made.compiled, text, job)


class Served:
    """A `--serve` worker that is replaced when it ends, as the dispatcher does it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, request: Json) -> Json:
        if self.process is None or self.process.poll() is not None:
            self.close()
            self.process = subprocess.Popen(
                module_command("runners.worker", "--serve"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the worker ended with {self.process.wait()} and said nothing"
        answer: Json = json.loads(line)
        if answer.get("retire"):
            assert self.process.wait(30) == 75
        return answer

    def close(self) -> None:
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
            self.process.wait(30)
            self.process = None


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    worker = Served()
    facts = worker.ask({"op": "hello"})
    if "error" in facts:
        worker.close()
        pytest.skip(f"no GPU: {facts['error']['message']}")
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def building(served: Served) -> Building:
    """Give the compiler that began ahead; it is closed behind the last test."""
    assert served is not None
    if not _BUILDING:
        pytest.skip("there is no compiler here")
    return _BUILDING[-1]


def _verdict(
    served: Served,
    building: Building,
    family: Family,
    name: str,
    text: str,
    effort: str = "screen",
    seconds: float = 60.0,
) -> Json:
    job = family.job(text, family.launches.get(name), effort)
    candidate, baseline = building.compiled(text, job), building.compiled(family.source, job)
    assert "path" in candidate, candidate["log"]
    request = {
        "id": name,
        "nonce": "n",
        "job": job,
        "candidate": candidate,
        "baseline": baseline,
        "limits": {"seconds": seconds},
    }
    answer = served.ask(request)
    assert "verdict" in answer, answer
    verdict: Json = answer["verdict"]
    return verdict


GOOD = [(f, n, t) for f in FAMILIES for n, t in [("the original", f.source), *f.good.items()]]
BAD = [(f, n, t) for f in FAMILIES for n, t in f.bad.items()]


@pytest.mark.beside
@pytest.mark.parametrize(
    ("family", "name", "text"), GOOD, ids=[f"{f.name}: {n}" for f, n, _ in GOOD]
)
def test_right_candidates_are_accepted(
    served: Served, building: Building, family: Family, name: str, text: str
) -> None:
    """Tricky and right is right."""
    verdict = _verdict(served, building, family, name, text)
    assert verdict["status"] == "correct", verdict["log"]


@pytest.mark.beside
@pytest.mark.parametrize(("family", "name", "text"), BAD, ids=[f"{f.name}: {n}" for f, n, _ in BAD])
def test_wrong_candidates_are_refused(
    served: Served, building: Building, family: Family, name: str, text: str
) -> None:
    """Each is refused with a reason, and the worker (or its successor) goes on."""
    verdict = _verdict(served, building, family, name, text)
    assert verdict["status"] in {"wrong result", "crashed", "timed out", "rejected"}
    assert verdict["log"]
    assert verdict["measurement"] is None


@pytest.mark.parametrize("family", [SAXPY, TRANSPOSE], ids=lambda f: str(f.name))
def test_a_kernel_does_not_beat_itself(served: Served, building: Building, family: Family) -> None:
    """Ten A/A comparisons by the full rule stay within one per cent of one."""
    for _ in range(10):
        verdict = _verdict(served, building, family, "A/A", family.source, "race")
        case = verdict["measurement"]["cases"][0]
        pairs = zip(case["baseline_us"], case["candidate_us"], strict=True)
        assert statistics.median(b / c for b, c in pairs) == pytest.approx(1.0, abs=0.01)


@pytest.mark.beside
def test_file_mode_compiles_and_judges(served: Served, tmp_path: Path) -> None:
    """File in, file out, nothing prepared."""
    texts = [SAXPY.good["vectorized with tail"], "this is no CUDA", SAXPY.bad["tail forgotten"]]
    jobs, results = tmp_path / "jobs.json", tmp_path / "results.json"
    requests = [
        {"id": str(n), "nonce": "n", "job": SAXPY.job(text)} for n, text in enumerate(texts)
    ]
    jobs.write_text(json.dumps(requests))
    subprocess.run(module_command("runners.worker", str(jobs), str(results)), check=True)
    found = [r["verdict"]["status"] for r in json.loads(results.read_text())["results"]]
    assert found == ["correct", "does not compile", "wrong result"]


def test_peaks_are_measured(served: Served) -> None:
    """L2 is faster than DRAM, tensor cores faster than FP32."""
    peaks = served.ask({"op": "calibrate"})
    assert peaks["l2_gbs"] > peaks["dram_gbs"] > 50
    assert peaks["tensor_tflops"] > peaks["fp32_tflops"] > 0.5


@pytest.mark.parametrize("family", [SAXPY, SOFTMAX, CHAIN], ids=lambda f: str(f.name))
def test_energy_is_read_beside_the_times_or_a_reason_given(
    served: Served, building: Building, family: Family
) -> None:
    """Of a kernel and an entry function, against itself: no saving, and power that can be."""
    verdict = _verdict(served, building, family, "energy", family.source, "weigh")
    assert verdict["status"] == "correct", verdict["log"]
    seen = verdict["measurement"]["energy"]
    if seen["unavailable"]:
        # No counter here, or launches too short to be read back to back.
        assert not seen["cases"]
        pytest.skip(seen["unavailable"])
    (case,) = seen["cases"]
    pairs = zip(case["baseline_mj"], case["candidate_mj"], strict=True)
    assert statistics.median(b / c for b, c in pairs) == pytest.approx(1.0, abs=0.1)
    for mj, us in zip(case["candidate_mj"], case["candidate_us"], strict=True):
        assert 10 < 1e3 * mj / us < 2000  # W


def test_memory_that_an_entry_function_allocates_is_counted(
    served: Served, building: Building
) -> None:
    """A temporary of 32 MiB where the original's has 16, in a candidate that is right."""
    family = dataclasses.replace(CHAIN, source=ALLOCATING)
    text = ALLOCATING.replace("cudaMalloc(&t, n", "cudaMalloc(&t, 2 * n")
    verdict = _verdict(served, building, family, "allocates", text)
    assert verdict["status"] == "correct", verdict["log"]
    measured = verdict["measurement"]
    more = measured["peak_memory_bytes"] - measured["baseline_memory_bytes"]
    assert (1 << 24) <= more < (1 << 24) + (1 << 20)
    assert measured["baseline_memory_bytes"] >= 3 * (1 << 24)


@pytest.mark.parametrize(
    "allocates", ["cudaMalloc(&t, n * sizeof(float))", "cudaMallocAsync(&t, n * sizeof(float), 0)"]
)
def test_an_entry_function_that_keeps_more_at_each_call_is_refused(
    served: Served, building: Building, allocates: str
) -> None:
    """Each result is right; the temporary of each call is never freed."""
    family = dataclasses.replace(CHAIN, source=ALLOCATING)
    text = ALLOCATING.replace("cudaFree(t);", "")
    text = text.replace("cudaMalloc(&t, n * sizeof(float))", allocates)
    verdict = _verdict(served, building, family, f"leaks {len(allocates)}", text)
    assert verdict["status"] == "wrong result", verdict["log"]
    assert "more of device memory after each call" in verdict["log"]


# Reads and writes four numbers at once wherever its buffers begin, or only where both allow it.
QUADS = SAXPY.good["vectorized with tail"]
QUADS_WHERE_ALIGNED = QUADS.replace(
    "if (i + 3 < n)", "if (i + 3 < n && ((size_t)x | (size_t)y) % 16 == 0)"
).replace("for (; i < n; ++i)", "for (int end = min(n, i + 4); i < end; ++i)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (QUADS, ["limit: x and y must begin at a multiple of 16 bytes; the original takes any multiple of 4"]),
        (QUADS_WHERE_ALIGNED, []),
        (SAXPY.good["no contraction"], []),
    ],
    ids=["anywhere", "where aligned", "one by one"],
)  # fmt: skip
def test_what_has_to_be_aligned_is_said_of_a_finalist(
    served: Served, building: Building, text: str, said: list[str]
) -> None:
    """Accepted all the same; whoever passes a part of a tensor has to know."""
    verdict = _verdict(served, building, SAXPY, f"aligned {len(text)}", text, "confirm")
    assert verdict["status"] == "correct", verdict["log"]
    assert [note for note in verdict["measurement"]["notes"] if alignment.MUST in note] == said


# A way of its own for one number, which is right, and which contents have, or none.
SPECIAL = """
__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] == VALUE) {
        atomicAdd(&y[i], a * VALUE);
        return;
    }
    y[i] = a * x[i] + y[i];
}"""


@pytest.mark.parametrize(("value", "left"), [("12345.678f", [6]), ("0.f", [])])
def test_lines_that_nothing_came_to_are_told_of_a_finalist(
    served: Served, building: Building, value: str, left: list[int]
) -> None:
    """They are right, but nobody has seen it."""
    text = SPECIAL.replace("VALUE", value)
    verdict = _verdict(served, building, SAXPY, f"special {value}", text, "confirm")
    assert verdict["status"] == "correct", verdict["log"]
    said = [note for note in verdict["measurement"]["notes"] if lines_run.LAYER in note]
    assert not said
    told = [note for note in verdict["measurement"]["notes"] if note.startswith("never run")]
    assert len(told) == len(left)
    assert all(note.endswith("so not verified: line 6 of the candidate") for note in told)
    (check,) = [one for one in verdict["checks"] if one["layer"] == lines_run.LAYER]
    assert check["passed"]


# Sums of rows; a version of them is right as well, and does something of its own behind seven in a
# row that keep to a rule: one of some forty million places.
SUMS = """
__global__ void sums(const int* x, int* out, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int* mine = x + row * 30;
    int sum = 0, streak = 0;
    for (int i = 0; i < 30; ++i) {
        sum += mine[i];
        LOOK
    }
    out[row] = sum;
}"""
LOOK = """
        if (i > 0) streak = (5 * mine[i - 1] + 3 + (i - 1) * (i - 1)) % 12 == mine[i] ? streak + 1 : 0;
        if (streak >= 7) atomicExch(&out[row], sum);"""
STREAKS = Family(
    "sums",
    SUMS.replace("LOOK", ""),
    grid("(rows+127)/128"),
    [
        pointer("x", "const int*", "rows*30", init="randint:0:12"),
        pointer("out", "int*", "rows", "output"),
        scalar("rows", "rows"),
    ],
    [case(rows=4000), case(rows=67, time=False)],
    tolerance={"rtol": 0, "atol": 0},
)


# The same, called by host code.
HOST = """
void all_sums(const int* x, int* out, int rows) {
    sums<<<(rows + 127) / 128, 128>>>(x, out, rows);
}"""
HOSTED = dataclasses.replace(
    STREAKS, name="all_sums", source=STREAKS.source + HOST, launch={}, kind="entry"
)


@pytest.mark.parametrize("family", [STREAKS, HOSTED], ids=["kernel", "entry"])
def test_a_search_comes_to_what_nobody_draws(
    served: Served, building: Building, family: Family
) -> None:
    """Comparisons keep how near they came on a device, too, and so do those of host code."""
    text = SUMS.replace("LOOK", LOOK) + (HOST if family is HOSTED else "")
    # Nothing is searched for where little time is left.
    name = f"streaks {family.kind}"
    verdict = _verdict(served, building, family, name, text, "confirm", seconds=150.0)
    assert verdict["status"] == "correct", verdict["log"]
    (check,) = [one for one in verdict["checks"] if one["layer"] == guided.LAYER]
    runs, came, _missing = (int(word) for word in re.findall(r"\d+", check["what"]))
    assert runs > guided.FIRST
    assert came >= 1, check["what"]


# Host code that knows the time: right as long as it is early, by a clock or by a thread that sleeps,
# and right at any time.
CHRONO = "#include <chrono>\n#include <thread>\n" + CHAIN.source
ZEROS = CHRONO.replace(
    "    work<<<",
    "    static auto first = std::chrono::steady_clock::now();\n"
    "    if (std::chrono::steady_clock::now() - first > std::chrono::AGO) {\n"
    "        cudaMemsetAsync(y, 0, n * sizeof(float));\n"
    "        return;\n"
    "    }\n"
    "    work<<<",
)
SLEPT = CHRONO.replace(
    "    work<<<",
    "    static volatile bool over = false;\n"
    "    static bool begun = (std::thread([] {\n"
    "        std::this_thread::sleep_for(std::chrono::minutes(10));\n"
    "        over = true;\n"
    "    }).detach(), true);\n"
    "    if (begun && over) return;\n"
    "    work<<<",
)
LOOKS = CHRONO.replace(
    "    work<<<",
    "    static volatile long seen = 0;\n"
    "    seen = std::chrono::system_clock::now().time_since_epoch().count();\n"
    "    work<<<",
)


@pytest.mark.beside
@pytest.mark.parametrize(
    ("text", "status"),
    [
        (ZEROS.replace("AGO", "seconds(30)"), "wrong result"),
        (ZEROS.replace("AGO", "minutes(30)"), "wrong result"),
        (SLEPT, "wrong result"),
        (LOOKS, "correct"),
    ],
    ids=["zeros 30 s on", "zeros half an hour on", "nothing behind a thread's sleep", "looks"],
)
def test_host_code_that_knows_the_time_is_right_at_any(
    served: Served, building: Building, text: str, status: str
) -> None:
    """What waits for longer than the runs take is refused without waiting for it."""
    verdict = _verdict(served, building, CHAIN, f"clock {len(text)}", text, "confirm")
    assert verdict["status"] == status, verdict["log"]
    layers: dict[str, bool] = {}
    for check in verdict["checks"]:  # one for each case: which fails is chance
        layers[check["layer"]] = layers.get(check["layer"], True) and check["passed"]
    if status == "correct":
        assert layers["clock moved on"]
        assert not any("clock" in note for note in verdict["measurement"]["notes"])
    elif "seconds(30)" not in text:  # the other one's time may come before
        assert not layers["clock moved on"]
        assert "with its clock" in verdict["log"]
