"""Trajectories survive being written, torn, resumed and tampered with."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.errors import ConfigError, OptimlError
from optimizer.model import (
    Argument,
    Case,
    CaseTimes,
    Check,
    Edit,
    Environment,
    Finding,
    Kernel,
    Kind,
    Launch,
    Measurement,
    Resources,
    Role,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.trajectory import (
    Footer,
    Header,
    TrajectoryLog,
    read_trajectory,
    write_trajectory,
)

LAUNCH = Launch(("(n+255)/256",), ("256",), tunable=True)
WORKLOAD = Workload(
    "saxpy",
    Kind.KERNEL,
    "saxpy",
    (Argument("x", "float*", "n", role=Role.INOUT), Argument("n", "int", value="n")),
    (Case({"n": 4096}, 2.0), Case({"n": 1}, time=False)),
    launch=LAUNCH,
)
TIMES = Measurement(
    (CaseTimes("n=4096", (1.5, 1.25), (3.0, 3.125)),), "NVIDIA H200", {"saxpy": 1.0}
)
VERDICT = Verdict(
    Status.CORRECT,
    TIMES,
    {"saxpy/dram__bytes.sum": 1e9},
    {"saxpy": Resources(12, 0, 0, 0, 1.0)},
    {"saxpy/LDG.E": 2},
    machine_code="ab",
    checks=(Check("oracle", "n=4096", passed=True, error=1e-7, bound=1e-5),),
)


def steps() -> tuple[Step, ...]:
    kernel = Kernel("saxpy", "__global__ void saxpy() {}\n", "saxpy.cu", LAUNCH)
    found = [Step(0, None, None, kernel, VERDICT)]
    for n in range(1, 4):
        edit = Edit(f"edit {n}", kernel.source + f"// µ {n}\n", "rule:x", kind="x")
        finding = Finding("coalescing", "bad", 3, remedies=("vectorize",))
        found.append(Step(n, n - 1, edit, edit.apply(kernel), VERDICT, 0.5, (finding,)))
    return tuple(found)


def whole() -> Trajectory:
    return Trajectory(
        WORKLOAD, Environment(gpu="NVIDIA H200", seed=7), steps(), 3, VERDICT, TIMES, "budget"
    )


def test_reading_returns_what_was_written(tmp_path: Path) -> None:
    write_trajectory(whole(), tmp_path / "t.jsonl")
    assert read_trajectory(tmp_path / "t.jsonl") == whole()


def test_an_edits_source_is_stored_once(tmp_path: Path) -> None:
    write_trajectory(whole(), tmp_path / "t.jsonl")
    line = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[2])
    assert "source" not in line["edit"]
    assert "µ 1" in line["kernel"]["source"]


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_torn_last_line_is_dropped_and_the_run_resumes_behind_it(
    tmp_path: Path, cut: int
) -> None:
    path = tmp_path / "t.jsonl"
    log = TrajectoryLog(path, Header(WORKLOAD, Environment()))
    for step in steps():
        log.append(step)
    log.close()
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_trajectory(path).steps == steps()[:3]
    again, known = TrajectoryLog.resume(path)
    assert (known.steps, known.stopped, known.winner) == (steps()[:3], "", None)
    again.append(steps()[3])
    again.finish(Footer("budget", 3))
    assert read_trajectory(path).steps == steps()
    assert read_trajectory(path).winner == 3


def test_resuming_a_finished_run_drops_its_footer(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_trajectory(whole(), path)
    log, known = TrajectoryLog.resume(path)
    log.close()
    assert known == whole()
    assert read_trajectory(path).winner is None
    assert read_trajectory(path).steps == steps()


def test_a_reward_that_is_no_number_is_refused_when_written(tmp_path: Path) -> None:
    log = TrajectoryLog(tmp_path / "t", Header(WORKLOAD, Environment()))
    with log, pytest.raises(ValueError, match="step 0"):
        log.append(Step(0, None, None, steps()[0].kernel, VERDICT, float("nan")))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_is_said_with_what_to_do() -> None:
    with pytest.raises(OptimlError, match="no space left"):
        TrajectoryLog(Path("/dev/full"), Header(WORKLOAD, Environment()))


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (1, {"number": 5}, ":2: step 5 stands where 0"),
        (3, {"parent": 2}, ":4: step 2 cannot have parent 2"),
        (3, {"parent": None}, ":4: step 2 cannot have parent None"),
        (2, {"reward": "much"}, ":3: reward"),
        (0, {"optiml_trajectory": 9}, "format 9"),
        (5, {"winner": 77}, "winner 77"),
    ],
)
def test_a_tampered_line_is_named(
    tmp_path: Path, line: int, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "t.jsonl"
    write_trajectory(whole(), path)
    lines = path.read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | change, separators=(",", ":"))
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ConfigError, match=message):
        read_trajectory(path)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(ConfigError, match="there is no file"):
            read_trajectory(path)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_hostile_bytes_give_a_config_error_or_a_trajectory(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "t.jsonl"
    write_trajectory(whole(), path)
    good = path.read_bytes()
    at = data.draw(st.integers(0, len(good)))
    junk = data.draw(
        st.binary(max_size=30) | st.sampled_from([b"[" * 5000, b"\n", b"null", b"1e999", b"NaN"])
    )
    path.write_bytes(good[:at] + junk + good[at + data.draw(st.integers(0, 50)) :])
    with contextlib.suppress(ConfigError):
        read_trajectory(path)
