"""The whole worker on a device of host memory: right candidates pass, wrong ones do not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import bench, cubin, energy, spec, thresholds, verify
from runners.answers import MOST_KEPT, Answers
from runners.bench import Bench
from runners.burning import BurnStage
from runners.contents import Combination
from runners.families import PLAIN
from runners.fault import Fault
from runners.judge import Judge
from runners.spec import Json, Launch
from runners.stage import DeviceStage
from runners.wire import verdict_from_dict
from tests.runners.fake_meter import FakeMeter
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

SCALE = """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + 1.f;
}
"""


def _job(text: str, base: str = SCALE, **more: Any) -> Json:
    launch = {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False}
    workload = {
        "name": "scale",
        "kind": "kernel",
        "symbol": "scale",
        "launch": launch,
        "arguments": [
            {"name": "x", "type": "const float*", "shape": "n"},
            {"name": "y", "type": "float*", "shape": "n", "role": "output"},
            {"name": "n", "type": "int", "value": "n"},
        ],
        "cases": [{"values": {"n": 3000}}, {"values": {"n": 7}, "time": False}],
        **more.pop("workload", {}),
    }
    kernel = {"name": "scale", "path": "", "launch": None}
    return {
        "kernel": {**kernel, "source": text},
        "baseline": {**kernel, "source": base},
        "workload": workload,
        "effort": "screen",
        "seed": 5,
        **more,
    }


def _verdict(judge: Judge, text: str, base: str = SCALE, **more: Any) -> Json:
    job = _job(text, base, **more)
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(base)}
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    assert not lost
    json.dumps(verdict, allow_nan=False)
    return verdict


def test_the_original_is_right_and_measured_against_itself(judge: Judge) -> None:
    """A baseline job gives paired times and says what was checked."""
    verdict = _verdict(judge, SCALE)
    assert verdict["status"] == "correct"
    case = verdict["measurement"]["cases"][0]
    assert len(case["candidate_us"]) == len(case["baseline_us"]) >= 3
    layers = {check["layer"] for check in verdict["checks"]}
    assert {"fresh world", "cases", "families", "sizes", "timed launches", "oracle"} <= layers
    assert all(check["passed"] for check in verdict["checks"])


WRONG = {
    "tail": SCALE.replace("i < n", "i < n / 4 * 4"),
    "one too far": SCALE.replace("i < n", "i <= n"),
    "one too early": SCALE.replace("y[i] =", "if (i == 0) y[-1] = 0; y[i] ="),
    "input": SCALE.replace("y[i] =", "((float*)x)[i / 9] += 1; y[i] ="),
    "nan": SCALE.replace("3.f * x[i] + 1.f", "0.f / 0.f"),
    "half": SCALE.replace("3.f * x[i] + 1.f", "(float)(_Float16)(3.f * x[i] + 1.f)"),
    "stale": SCALE.replace(
        "if (i < n)",
        "static float* last; if (last == y) return; if (i == n - 1) last = y; if (i < n)",
    ),
    "calls": SCALE.replace(
        "if (i < n)", "static int calls; calls += i == 0; if (calls > 40) return; if (i < n)"
    ),
    "call counter on input": SCALE.replace(
        "if (i < n)",
        "static int calls; calls += i == 0; if (i == 8 && calls > 40) { y[i] = 4.f; return; } if (i < n)",
    ),
    "positive only": SCALE.replace("3.f * x[i]", "3.f * (x[i] < 20.f ? x[i] : 20.f)"),
    "cached answer": SCALE.replace(
        "if (i < n)",
        "static float key[64], kept[64][3000]; int slot = n == 3000 ? ((int)((size_t)y >> 8)) & 63 : -1;"
        " if (slot >= 0 && key[slot] == 1.f) { if (i < n) y[i] = kept[slot][i]; return; }"
        " if (i < n && slot >= 0) { kept[slot][i] = 3.f * x[i] + 1.f; if (i == n - 1) key[slot] = 1.f; } if (i < n)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_is_refused(judge: Judge, name: str) -> None:
    """Each of these passes a naive check of one run on one input."""
    verdict = _verdict(judge, WRONG[name])
    assert verdict["status"] == "wrong result", verdict["log"]
    assert verdict["measurement"] is None
    assert verdict["log"]


RIGHT = {
    "other rounding": SCALE.replace("3.f * x[i] + 1.f", "fmaf(3.f, x[i], 1.f)"),
    "four at a time": """
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    for (int k = i; k < n && k < i + 4; ++k) y[k] = 3.f * x[k] + 1.f;
}
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_candidate_is_accepted(judge: Judge, name: str) -> None:
    """Another rounding and another shape of the work are no faults."""
    verdict = _verdict(judge, RIGHT[name])
    assert verdict["status"] == "correct", verdict["log"]


def test_a_launch_of_its_own_is_used(judge: Judge) -> None:
    """Half the blocks, twice the work each."""
    text = RIGHT["four at a time"]
    job = _job(text)
    job["kernel"]["launch"] = {"grid": ["(n+255)/256"], "block": ["64"], "shared": "0"}
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(SCALE)}
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    assert verdict["status"] == "correct", verdict["log"]
    job["kernel"]["launch"]["block"] = ["4096"]
    verdict, _, lost = judge.verdict(request, spec.parse(job), 60.0)
    assert verdict["status"] == "crashed"
    assert "4096" in verdict["log"]
    assert not lost


def test_an_original_that_leaves_its_buffers_is_named(judge: Judge) -> None:
    """The baseline's own fault is an error for its author, not a verdict on a candidate."""
    with pytest.raises(Fault) as caught:
        _verdict(judge, SCALE, WRONG["one too far"])
    assert caught.value.kind == "BaselineError"
    assert "past the end of y" in caught.value.message


def test_an_original_that_adds_to_its_output_is_told_to_say_so(judge: Judge) -> None:
    """`out += x` with role output depends on poison."""
    with pytest.raises(Fault) as caught:
        _verdict(judge, SCALE, SCALE.replace("y[i] =", "y[i] +="))
    assert "depends on what was in it before" in caught.value.message
    assert "inout" in caught.value.remedy


def test_a_size_the_original_cannot_do_is_dropped(judge: Judge) -> None:
    """An original that needs multiples of eight is judged at those only."""
    base = SCALE.replace("i < n", "i < (n % 8 ? n + 8 : n)")
    cases = [{"values": {"n": 3000}}, {"values": {"n": 8}, "time": False}]
    verdict = _verdict(judge, SCALE, base, workload={"cases": cases})
    assert verdict["status"] == "correct"
    assert not [c for c in verdict["checks"] if c["layer"] == "sizes" and "3001" in c["what"]]
    assert any("n=3001" in note for note in verdict["measurement"]["notes"])


def test_a_reference_is_the_oracle(judge: Judge, tmp_path: Path) -> None:
    """A numpy function decides; an original that fails it is the baseline's error."""
    (tmp_path / "ref.py").write_text(
        "def f(arguments):\n    return {'y': arguments['x'] * 3 + 1}\n"
    )
    work = {"reference": "ref.py:f", "root": str(tmp_path)}
    verdict = _verdict(judge, SCALE, workload=work)
    assert verdict["status"] == "correct", verdict["log"]
    assert any(check["what"] == "against reference" for check in verdict["checks"])
    (tmp_path / "ref.py").write_text("def f(x, n):\n    return x * 3 + 2\n")
    with pytest.raises(Fault) as caught:
        _verdict(judge, SCALE, workload=work, seed=6)
    assert "fails its reference" in caught.value.message


def test_integers_in_any_order_where_the_original_has_none(judge: Judge) -> None:
    """Timed launches of an integer kernel are compared bit by bit."""
    base = SCALE.replace("float* y", "int* y").replace("3.f * x[i] + 1.f", "(int)(x[i] * 8)")
    arguments = _job("")["workload"]["arguments"]
    arguments[1]["type"] = "int*"
    verdict = _verdict(judge, base, base, workload={"arguments": arguments})
    assert verdict["status"] == "correct", verdict["log"]
    late = base.replace(
        "if (i < n)",
        "static int c; c += i == 0; if (c > 60 && i == 5) { y[i] = 1 << 20; return; } if (i < n)",
    )
    verdict = _verdict(judge, late, base, workload={"arguments": arguments})
    assert verdict["status"] == "wrong result"


@pytest.mark.parametrize(("late", "status"), [(1, "correct"), (10**9, "wrong result")])
def test_work_left_behind_is_there_each_time(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, late: int, status: str
) -> None:
    """One that is seen once is a pause of the host or of the driver."""
    seen = 0

    def synchronize(_gpu: HostGpu, _seconds: float = 60.0) -> float:
        nonlocal seen
        seen += 1
        return 12024.0 if seen <= late else 0.0

    monkeypatch.setattr(HostGpu, "synchronize", synchronize)
    verdict = _verdict(judge, SCALE)
    assert verdict["status"] == status, verdict["log"]
    assert ("the device works on" in verdict["log"]) == (status != "correct")


def test_small_answers_hold_no_descriptor_each(judge: Judge, tmp_path: Path) -> None:
    """An original with many outputs has a thousand of them, and a process as many descriptors."""
    assert _verdict(judge, SCALE, effort="confirm")["status"] == "correct"
    folder = Path("/proc/self/fd")
    held = [str(one.readlink()) for one in folder.iterdir() if one.is_symlink()]
    assert sum(path.startswith(str(tmp_path)) for path in held) < 20
    assert len(judge._oracle._kept) == 1


def _spoil(judge: Judge) -> int:
    """Write over all inputs that wait on the device, as a kernel may that writes anywhere."""
    (bench,) = judge._benches._kept.values()
    for scene in bench.scenes._scenes.values():
        bench.gpu.upload(scene.master, np.full(scene.layout.master_bytes, 0x3F, np.uint8))
    return len(bench.scenes._scenes)


def test_what_an_earlier_candidate_did_to_the_inputs_is_not_held_against_the_next(
    judge: Judge,
) -> None:
    """Inputs stay on the device: one that writes far outside its buffers may have met them."""
    assert _verdict(judge, SCALE)["status"] == "correct"
    assert _spoil(judge) > 10
    other = SCALE.replace("3.f * x[i] + 1.f", "fmaf(3.f, x[i], 1.f)")
    verdict = _verdict(judge, other)
    assert verdict["status"] == "correct", verdict["log"]
    assert all(check["passed"] for check in verdict["checks"])


def test_who_writes_into_the_inputs_of_other_runs_is_refused(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guard bands are of so many bytes; what lies beyond them is looked at in the end."""
    run, runs = Bench.run, 0

    def counted(self: Bench, *terms: Any, **more: Any) -> Any:
        nonlocal runs
        made = run(self, *terms, **more)
        runs += not self.promoted
        if runs == 40:
            scene = self.scenes.of(Combination({"n": 50.0}, "declared", 99), 4096)
            self.gpu.upload(scene.master, np.full(4, 0x3F, np.uint8))
        return made

    job = _job(SCALE.replace("3.f * x[i] + 1.f", "1.f + 3.f * x[i]"), effort="confirm")
    text = job["kernel"]["source"]
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(SCALE)}
    answers = judge._oracle.answers
    monkeypatch.setattr(
        judge._oracle,
        "answers",
        lambda *terms: (answers(*terms), monkeypatch.setattr(Bench, "run", counted))[0],
    )
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    assert runs >= 40
    assert verdict["status"] == "wrong result"
    assert "outside its buffers" in verdict["log"]


def test_no_answer_lies_open_while_a_candidate_runs(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the second of a pair starts, the first one's outputs are nowhere on the device."""
    answers: list[bytes] = []
    seen: list[bool] = []
    seal = DeviceStage._seal

    def sealed(self: DeviceStage, to: int, source: int) -> None:
        buffer = self.layout.written[0]
        answers.append(self._gpu.download(source + buffer.offset, buffer.size).tobytes())
        seal(self, to, source)

    region = DeviceStage._region

    def regional(self: DeviceStage, bound: list[Any]) -> Any:
        if answers:
            gpu = self._gpu
            assert isinstance(gpu, HostGpu)
            seen.append(any(answers[-1] in block.tobytes() for block in gpu.memory.values()))
        return region(self, bound)

    monkeypatch.setattr(DeviceStage, "_seal", sealed)
    monkeypatch.setattr(DeviceStage, "_region", regional)
    assert _verdict(judge, SCALE)["status"] == "correct"
    assert len(seen) > 10
    assert not any(seen)


def test_a_digest_follows_the_projects_rule() -> None:
    """The worker's copy of `Launch` has the text that the project's digest is made of."""
    from optimizer.model import Kernel
    from optimizer.model import Launch as Original

    fields = {"grid": ("(n+1)/2",), "block": ("2", "3"), "shared": "4*n", "tunable": True}
    ours = spec.Source("k", "text", "", Launch(**fields))  # type: ignore[arg-type]
    theirs = Kernel("k", "text", "", Original(**fields))  # type: ignore[arg-type]
    assert ours.digest == theirs.digest
    assert dataclasses.replace(ours, launch=None).digest == Kernel("k", "text").digest


def test_times_are_positive_even_for_nothing(judge: Judge) -> None:
    """A region no longer than an empty one still gives a time above zero."""
    verdict = _verdict(judge, SCALE, workload={"cases": [{"values": {"n": 1}}]})
    times = verdict["measurement"]["cases"][0]["candidate_us"]
    assert (np.array(times) > 0).all()


def test_a_time_below_the_floor_is_implausible(judge: Judge) -> None:
    """On a device whose memory moves a byte a microsecond, host speed cannot be true."""
    judge._gpu.facts.update(memory_clock_mhz=1e-3, memory_bus_bits=4, l2_bytes=1024)
    verdict = _verdict(judge, SCALE)
    assert verdict["status"] == "rejected"
    assert "12000 bytes" in verdict["log"]


def test_answers_of_old_seeds_are_deleted(judge: Judge, tmp_path: Path) -> None:
    """Every seed has answers of its own on disk; a long session keeps the last few."""
    for seed in range(MOST_KEPT + 3):
        assert _verdict(judge, SCALE, seed=seed)["status"] == "correct"
    assert len(list(tmp_path.glob("answers-*"))) == MOST_KEPT
    assert _verdict(judge, SCALE, seed=0)["status"] == "correct"


# -- what a module keeps between launches -----------------------------------------------------------

COUNTER = """
unsigned optiml_test_calls;
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) optiml_test_calls += 1;
    if (LATE) return;
    if (i < n) y[i] = 3.f * x[i] + 1.f;
}
"""


@pytest.mark.parametrize("late", ["optiml_test_calls > 60000", "optiml_test_calls % 97 == 96"])
def test_a_counter_of_launches_is_wound_on(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """What is to happen at the sixty thousandth launch happens now."""
    monkeypatch.setattr(cubin, "variables", lambda _: (("optiml_test_calls", 4),))
    verdict = _verdict(judge, COUNTER.replace("LATE", late))
    assert verdict["status"] == "wrong result", verdict["log"]
    assert "many launches" in verdict["log"]


def test_a_counter_that_changes_nothing_is_no_fault(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ticket that only ever grows is odd, and right; it is timed one launch at a time."""
    monkeypatch.setattr(cubin, "variables", lambda _: (("optiml_test_calls", 4),))
    verdict = _verdict(judge, COUNTER.replace("LATE", "false"))
    assert verdict["status"] == "correct", verdict["log"]


# -- delayed warps ----------------------------------------------------------------------------------

DELAYED = """
unsigned optiml_shaking_seed;
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.f * x[i] + (optiml_shaking_seed && i == 5 ? FOUND : 1.f);
}
"""


@pytest.mark.parametrize(
    ("found", "theirs", "status"),
    [("2.f", "1.f", "wrong result"), ("1.f", "1.f", "correct"), ("2.f", "3.f", "correct")],
)
def test_what_delays_change_is_refused(
    tmp_path: Path, found: str, theirs: str, status: str
) -> None:
    """A finalist has to be right under any schedule that its original survives."""
    candidate = SCALE + "// faster"
    built = {
        candidate: artifact(DELAYED.replace("FOUND", found)),
        SCALE: artifact(DELAYED.replace("FOUND", theirs)),
    }
    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, shake=lambda t, _j: built[t])
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    verdict = _verdict(judge, candidate, effort="confirm")
    judge.close()
    assert verdict["status"] == status, verdict["log"]
    layers = {check["layer"] for check in verdict["checks"]}
    assert ("delayed warps" in layers) == (theirs == "1.f")


def test_a_host_that_cannot_compile_in_double_precision_is_at_fault(tmp_path: Path) -> None:
    """It is compiled beside the process that wants it, and what goes wrong there is not lost."""

    def refuse(_text: str, _job: dict[str, Any]) -> None:
        raise Fault("RunnerError", "no room left")

    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None)
    judge._oracle = HostOracle(tmp_path, 0, refuse)
    with pytest.raises(Fault, match="no room left"):
        _verdict(judge, SCALE)
    judge.close()


def test_an_order_shown_by_many_threads_is_not_asked_of_few(tmp_path: Path) -> None:
    """Where runs of the original differ in order at one size, order counts at none."""
    work = spec.parse(_job(SCALE)).work
    output = {"name": "y", "stem": "s", "elements": 4, "untouched": False, "budgets": [None]}
    output |= {"lenient": False, "spreads": False}
    np.arange(4, dtype=np.float32).tofile(tmp_path / "s.want")
    few, many = (Combination({"n": float(n)}, "declared", 1) for n in (7, 3000))
    answers = Answers(work, tmp_path)
    answers.described[few.key] = {"outputs": [output | {"unordered": False}]}
    found = answers.of(few)
    assert found is not None
    assert not found["y"].unordered
    answers.described[many.key] = {"outputs": [output | {"unordered": True}]}
    found = answers.of(few)
    assert found is not None
    assert found["y"].unordered


def _weighed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meter: FakeMeter | None, text: str, job: Json
) -> Json:
    monkeypatch.setattr(energy, "WEIGH", energy.Rule(0.02, 0.15, 2, 2, 0.0, rests=False))
    monkeypatch.setattr(energy, "MOST_APART", 100.0)  # other tests take the processor away
    judge = Judge(HostGpu(), 0, tmp_path, lambda _text, _job: None, meter=meter)
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    try:
        request = {"job": job, "candidate": artifact(text), "baseline": artifact(SCALE)}
        verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    finally:
        judge.close()
    verdict_from_dict(json.loads(json.dumps(verdict, allow_nan=False)))
    return verdict


SLOWER_SCALE = SCALE.replace(
    "if (i < n) y", "volatile float s = 0; for (int k = 0; k < 60; k++) s = s + k; if (i < n) y"
)


def test_a_weighed_candidate_has_energy_beside_its_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paired energies of the heaviest case; at constant power they compare as the times do."""
    job = _job(SLOWER_SCALE, effort="weigh")
    verdict = _weighed(tmp_path, monkeypatch, FakeMeter(), SLOWER_SCALE, job)
    assert verdict["status"] == "correct"
    seen = verdict["measurement"]["energy"]
    assert seen["unavailable"] == "", seen
    (case,) = seen["cases"]
    assert len(case["candidate_mj"]) == len(case["baseline_mj"]) == 2
    for side in ("candidate", "baseline"):
        for mj, us in zip(case[f"{side}_mj"], case[f"{side}_us"], strict=True):
            assert mj == pytest.approx(0.1 * us, rel=0.5)  # 100 W


def test_energy_that_cannot_be_read_costs_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The times are there, and why the energy is not."""
    for meter, why in ((None, "NVML is not there"), (FakeMeter(why="MIG is on"), "MIG is on")):
        verdict = _weighed(tmp_path, monkeypatch, meter, SCALE, _job(SCALE, effort="weigh"))
        assert verdict["status"] == "correct"
        assert verdict["measurement"]["cases"]
        assert verdict["measurement"]["energy"] == {"cases": [], "unavailable": why}


def test_a_kernel_that_updates_in_place_is_refilled_before_every_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise x -> 3x + 1 would be infinite after a few launches, and cheaper to compute."""
    text = SCALE.replace("const float* x, float* y", "float* x, const float* y").replace(
        "y[i] = 3.f * x[i] + 1.f", "for (int k = 0; k < 9; k++) x[i] = 0.5f * x[i] + y[i]"
    )
    arguments = [
        {"name": "x", "type": "float*", "shape": "n", "role": "inout"},
        {"name": "y", "type": "const float*", "shape": "n"},
        {"name": "n", "type": "int", "value": "n"},
    ]
    job = _job(text, text, workload={"arguments": arguments}, effort="weigh")
    monkeypatch.setattr(energy, "LEAST_SHARE", -100.0)  # refilling is most of this one's work
    monkeypatch.setattr(energy, "MOST_APART", 1e9)  # and other tests take the processor away
    gpu = HostGpu()
    monkeypatch.setattr(energy, "WEIGH", energy.Rule(0.02, 0.15, 2, 2, 0.0, rests=False))
    judge = Judge(gpu, 0, tmp_path, lambda _text, _job: None, meter=FakeMeter())
    judge._oracle = HostOracle(tmp_path, 0, lambda text, _job: artifact(text))
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(text)}
    verdict, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    judge.close()
    assert verdict["status"] == "correct", verdict["log"]
    seen = verdict["measurement"]["energy"]
    assert not seen["unavailable"] or "usable" in seen["unavailable"], seen
    assert gpu.launches.count("restore") > 20


def test_a_launch_that_is_wrong_only_when_repeated_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an arm leaves behind is compared, too."""
    monkeypatch.setattr(
        BurnStage, "_once", lambda self, which: lambda: self._gpu.fill(self._base, 0, 64)
    )
    job = _job(SCALE, effort="weigh")
    verdict = _weighed(tmp_path, monkeypatch, FakeMeter(), SCALE, job)
    assert verdict["status"] == "wrong result"


WEIGHTED = SCALE.replace("int n)", "int n, float a, float b)").replace(
    "3.f * x[i] + 1.f", "a * x[i] + b"
)


def test_what_ignores_a_scalar_argument_is_refused(judge: Judge) -> None:
    """A parameter that was always the same number is still a parameter, zero included."""
    pointers: list[Json] = _job(SCALE)["workload"]["arguments"]
    given = [{"name": "a", "type": "float", "value": "2.5"}]
    given += [{"name": "b", "type": "float", "value": "0"}]
    work = {"arguments": [*pointers, *given], "cases": [{"values": {"n": 300}}]}
    for text in (WEIGHTED.replace("a *", "2.5f *"), WEIGHTED.replace("+ b", "")):
        verdict = _verdict(judge, text, WEIGHTED, workload=work)
        assert verdict["status"] == "wrong result"
        assert "other scalars" in verdict["log"]


def test_what_lives_on_the_last_launch_is_refused_though_it_asks_for_the_address(
    judge: Judge,
) -> None:
    """Other contents come to the same address, with what shared memory held left as it was."""
    text = SCALE.replace(
        "if (i < n)",
        "static const float* from; static int many; static float first;"
        " if (i == 0 && (from != x || many != n)) { from = x; many = n; first = x[0]; }"
        " if (i == 0) { y[0] = 3.f * first + 1.f; return; } if (i < n)",
    )
    verdict = _verdict(judge, text, workload={"cases": [{"values": {"n": 300}}]})
    assert verdict["status"] == "wrong result"
    assert "y[0]" in verdict["log"]


def test_what_is_kept_for_one_element_is_refused(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contents that are the same there and not elsewhere come to the same address before."""
    monkeypatch.setattr(bench, "ALIKE", 1.0)
    text = SCALE.replace(
        "if (i < n) y[i] = 3.f * x[i] + 1.f",
        "static const float* from; static int many, anew; static float key, kept[300];"
        " if (i == 0) { anew = from != x || many != n || key != x[n / 2]; from = x; many = n;"
        " key = x[n / 2]; } if (i < n && anew) kept[i] = 3.f * x[i] + 1.f; if (i < n) y[i] = kept[i]",
    )
    small = {"cases": [{"values": {"n": 300}}]}
    monkeypatch.setattr(verify, "remembered", lambda *_: None)
    verdict = _verdict(judge, text.replace("kept[300]", "kept[5000]"), workload=small)
    assert verdict["status"] == "wrong result"
    right = _verdict(judge, RIGHT["four at a time"], workload=small)
    assert right["status"] == "correct", right["log"]


def test_a_gate_of_the_candidates_own_is_tried_in_a_confirmation(judge: Judge) -> None:
    """At 2222 elements, which nobody declared and no list of usual sizes has."""
    gated = SCALE.replace("x[i] + 1.f", "x[i] + (n == 2222 ? 2.f : 1.f)")
    verdict = _verdict(judge, gated, effort="confirm")
    assert verdict["status"] == "wrong result"
    assert "n=2222" in verdict["log"]


def test_the_sanitizer_is_shown_a_candidates_own_sizes(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were worked out for its runs: that is done once."""
    seen: list[list[Combination]] = []
    worked_out: list[int] = []
    compared = thresholds.compared

    def against(_request: Json, _job: object, chosen: list[Combination], _most: float) -> list[Any]:
        seen.append(chosen)
        return []

    def counted(*arguments: Any) -> list[Combination]:
        worked_out.append(len(arguments))
        return compared(*arguments)

    monkeypatch.setattr(judge._sanitizer, "against", against)
    monkeypatch.setattr(thresholds, "compared", counted)
    text = SCALE + "\n__device__ int gate() { return 2222; }\n"
    assert _verdict(judge, text, effort="confirm")["status"] == "correct"
    assert len(worked_out) == len(seen) == 1
    assert [c.case["n"] for c in seen[0] if c.family == PLAIN] == [2222, 2223]
