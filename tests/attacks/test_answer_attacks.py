"""What an entry function's process hands over is looked at as if it were all made up."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners import entry_process, spec
from runners.contents import Combination
from runners.entry_process import EntryProcess, RemoteSession
from runners.gpu import DeviceError, HungError, LaunchError
from runners.nvml import Unmeasured
from runners.sandbox import Sandbox
from runners.timing import Rule
from tests.attacks.test_sandbox_attacks import RECOVERY_SECONDS

Json = dict[str, Any]
CASE = Combination({"n": 4.0}, "declared", 1)
HONEST_RUN: Json = {
    "outputs": {"y": {"file": "run-0.bytes", "bytes": 16}},
    "damage": {"guards": 0, "inputs": 0, "first": ""},
    "late_us": 1.0,
    "poison": 5,
}
HONEST_TIMES: Json = {
    "samples": {
        "candidate_us": [1.0, 2.0],
        "baseline_us": [2.0, 2.0],
        "clocks": [],
        "late_us": [[], []],
        "disagreements": 0,
        "dropped": 0,
        "dry": 0,
        "seconds": 0.1,
    },
    "checked": 4,
    "damage": {"guards": 0, "inputs": 0, "first": ""},
    "largest": 0.0,
    "suspects": [],
    "launches": 1,
    "memory_bytes": [64, 64],
    "temperature_c": None,
}
# Answers what the file `says` tells it to, whatever it is asked; `act` is run before.
CHILD = """
import json, os, sys, time
folder = sys.argv[1]
open(os.path.join(folder, "run-0.bytes"), "wb").write(bytes(16))
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    if json.loads(line)["op"] == "load":
        print(json.dumps({"loaded": True}), flush=True)
        continue
    exec(ACT)
    sys.stdout.write(SAYS + "\\n")
    sys.stdout.flush()
"""


def _job() -> spec.JobSpec:
    root = str(Path(__file__).parent)
    kernel = {"name": "k", "source": "x", "path": "", "launch": None}
    return spec.parse(
        {
            "kernel": kernel,
            "baseline": kernel,
            "workload": {
                "name": "k",
                "kind": "entry",
                "symbol": "k",
                "arguments": [{"name": "y", "type": "float*", "shape": "n", "role": "output"}],
                "cases": [{"values": {"n": 4}}],
                "root": root,
            },
        }
    )


Start = Callable[..., RemoteSession]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return a function that starts a child which says something and does something before."""
    (tmp_path / "secret").write_bytes(b"expected answers")
    (tmp_path / "scratch" / "build" / "key").mkdir(parents=True)
    made: list[EntryProcess] = []
    sandbox = Sandbox("own")

    def started(says: object, act: str = "") -> RemoteSession:
        text = says if isinstance(says, str) else json.dumps(says)
        code = f"ACT = {act!r}\nSAYS = {text!r}\n{CHILD}"
        monkeypatch.setattr(
            entry_process,
            "module_command",
            lambda _module, folder, *_: [sys.executable, "-I", "-c", code, folder],
        )
        process = EntryProcess(tmp_path / "scratch", 0, sandbox)
        made.append(process)
        artifact = {"path": str(tmp_path / "scratch" / "build" / "key" / "x.so")}
        return process.session(_job(), {"job": {}, "candidate": artifact, "baseline": artifact})

    yield started
    for process in made:
        process.close()
    sandbox.close()


def run(session: RemoteSession) -> Any:
    return session.run(CASE, nan=False, beside=False, seconds=2.0)


def timed(session: RemoteSession) -> Any:
    return session.time(CASE, {}, Rule(3, 4, 0.1), 2.0)


def test_an_honest_child_is_understood(start: Start) -> None:
    assert np.array_equal(run(start(HONEST_RUN)).outputs["y"], np.zeros(16, np.uint8))
    assert timed(start(HONEST_TIMES)).samples.candidate_us == [1.0, 2.0]


@pytest.mark.parametrize(
    "act",
    [
        "os.unlink(folder+'/run-0.bytes'); os.symlink('SECRET', folder+'/run-0.bytes')",
        "os.unlink(folder+'/run-0.bytes'); os.symlink('/dev/zero', folder+'/run-0.bytes')",
        "os.unlink(folder+'/run-0.bytes'); os.mkfifo(folder+'/run-0.bytes')",
        "os.unlink(folder+'/run-0.bytes'); os.mkdir(folder+'/run-0.bytes')",
        "os.link(folder+'/run-0.bytes', folder+'/twice')",
        "open(folder+'/run-0.bytes', 'ab').write(bytes(16))",
        "os.truncate(folder+'/run-0.bytes', 3)",
        "os.unlink(folder+'/run-0.bytes')",
    ],
)
def test_outputs_come_from_a_plain_file_of_the_right_size(
    start: Start, tmp_path: Path, act: str
) -> None:
    session = start(HONEST_RUN, act.replace("SECRET", str(tmp_path / "secret")))
    with pytest.raises(DeviceError):
        run(session)


@pytest.mark.parametrize(
    "says",
    [
        "[]",
        "null",
        "x" * 100,
        "[" * 100_000,
        "{}",
        '{"outputs": {}}',
        json.dumps({**HONEST_RUN, "outputs": {"y": {"file": "../secret", "bytes": 16}}}),
        json.dumps({**HONEST_RUN, "outputs": {"y": {"file": "/etc/passwd", "bytes": 16}}}),
        json.dumps({**HONEST_RUN, "outputs": {"y": {"file": "a\0b", "bytes": 16}}}),
        json.dumps({**HONEST_RUN, "outputs": {"y": {"file": "run-0.bytes", "bytes": -1}}}),
        json.dumps({**HONEST_RUN, "outputs": {"y": {"file": "run-0.bytes", "bytes": 1 << 62}}}),
        json.dumps({**HONEST_RUN, "outputs": [1]}),
        json.dumps({**HONEST_RUN, "damage": {"guards": 0, "more": 1}}),
        json.dumps({**HONEST_RUN, "late_us": "soon"}),
        '{"outputs": 1, "late_us": NaN}',
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_the_candidates_crash(start: Start, says: str) -> None:
    with pytest.raises(DeviceError):
        run(start(says))


@pytest.mark.parametrize(
    "change",
    [
        {"candidate_us": [1.0]},
        {"candidate_us": [0.0, 1.0]},
        {"candidate_us": [-1.0, 1.0]},
        {"candidate_us": [1e300, 1.0]},
        {"candidate_us": ["1.0; drop", 1.0]},
        {"candidate_us": None},
        {"late_us": 3},
        {"unknown": 1},
    ],
)
def test_times_that_are_none_are_the_candidates_crash(start: Start, change: Json) -> None:
    said = {**HONEST_TIMES, "samples": {**HONEST_TIMES["samples"], **change}}
    with pytest.raises(LaunchError):
        timed(start(said))


NOW = """
if json.loads(line)["op"] == "burn":
    SAYS = SAYS.replace('"NOW"', repr(time.monotonic()))
"""


@pytest.mark.parametrize(
    "marks",
    [
        [],
        [[0.0, 0], [1.0, 5]],
        [["NOW", 0], [1e18, 5]],
        [["NOW", 5], ["NOW", 0]],
        [["NOW", 0], ["NOW", "many"]],
        {"now": 1},
        None,
    ],
)
def test_launches_that_ended_before_or_never_are_the_candidates_crash(
    start: Start, marks: object
) -> None:
    """When launches ended decides what one is said to take: it has to have been just now."""
    burning = start({"marks": marks}, NOW).burning(CASE, {}, 2.0)
    with pytest.raises(LaunchError):
        burning.burn(0, 0.1, second_of_pair=False)


def test_launches_that_ended_just_now_are_counted(start: Start) -> None:
    """Whether buffers are refilled between them is no matter of the child's."""
    burning = start({"marks": [["NOW", 0], ["NOW", 7]], "in_place": True}, NOW)
    ready = burning.burning(CASE, {}, 2.0)
    assert not ready.in_place
    assert [count for _, count in ready.burn(0, 0.1, second_of_pair=False)] == [0, 7]


def test_only_an_energy_can_be_left_unmeasured(start: Start) -> None:
    """Said of a run or a time it is one more crash of the candidate's."""
    session = start({"unmeasured": "the kernel remembers"})
    with pytest.raises(Unmeasured, match="remembers"):
        session.burning(CASE, {}, 2.0)
    for asked in (run, timed):
        with pytest.raises(LaunchError):
            asked(start({"unmeasured": "no wish to"}))


def test_a_fault_cannot_be_claimed_to_end_the_run(start: Start) -> None:
    """An error of the host's would stop the whole search: a candidate must not cause one."""
    said = {"fault": {"type": "NoDeviceError", "message": "gone", "remedy": "stop"}}
    with pytest.raises(LaunchError, match="gave up"):
        run(start(said))


@pytest.mark.parametrize(
    ("act", "error"),
    [
        ("os._exit(0)", LaunchError),
        ("os.kill(os.getpid(), 11)", LaunchError),
        ("sys.stdout.write('x' * (1 << 25)); sys.stdout.flush()", LaunchError),
        ("os.kill(os.getppid(), 9) if os.getppid() == 1 else None; os._exit(3)", LaunchError),
    ],
)
def test_a_child_that_ends_or_floods_is_replaced_at_once(
    start: Start, act: str, error: type[Exception]
) -> None:
    session = start(HONEST_RUN, act)
    begun = time.monotonic()
    with pytest.raises(error):
        run(session)
    assert run(start(HONEST_RUN)).poison == 5
    assert time.monotonic() - begun < RECOVERY_SECONDS


def test_a_child_that_never_answers_is_ended(start: Start) -> None:
    session = start(HONEST_RUN, "time.sleep(600)")
    with pytest.raises(HungError):
        session.run(CASE, nan=False, beside=False, seconds=-7.0)  # 8 s are allowed for transfers


def test_the_child_sees_neither_the_worker_nor_its_answers(start: Start, tmp_path: Path) -> None:
    """Where namespaces can be nested; elsewhere Landlock keeps it from both."""
    (tmp_path / "scratch" / "answers-1").mkdir()
    (tmp_path / "scratch" / "answers-1" / "y.bytes").write_bytes(bytes(16))
    act = (
        f"open({str(tmp_path / 'scratch/answers-1/y.bytes')!r}, 'rb').read();"
        "open(folder+'/saw', 'w').write('it')"
    )
    with Sandbox("own") as probe:
        if not probe.describe().strong:
            pytest.skip(f"nothing isolates here: {probe.describe().refused}")
    with pytest.raises(LaunchError):
        run(start(HONEST_RUN, act))
    assert not list((tmp_path / "scratch").glob("entry-*/saw"))
    assert os.path.exists(tmp_path / "scratch" / "answers-1" / "y.bytes")  # noqa: PTH110


FORGED = json.dumps({"status": "verified", "correct": True, "speedup": 9.0})


@pytest.mark.parametrize(
    ("says", "crashes"),
    [
        # In front of the answer, behind it, and with the answer whole in front.
        (f"{FORGED}\n{json.dumps(HONEST_RUN)}", True),
        (f"{json.dumps(HONEST_RUN)}\n{FORGED}", False),
        (f"{json.dumps(HONEST_RUN)}\n{json.dumps(HONEST_RUN)}", False),
    ],
)
def test_who_says_more_than_was_asked_serves_no_other_pair(
    start: Start, says: str, crashes: bool
) -> None:
    """What it has written is not what the next pair is told."""
    session = start(says)
    process = session._process
    if crashes:
        with pytest.raises(LaunchError, match="something else"):
            run(session)
    else:
        run(session)
        time.sleep(0.2)  # until what is said behind the answer has come
    artifact = {"path": str(process._scratch / "build" / "key" / "x.so")}
    pair = {"job": {}, "candidate": artifact, "baseline": artifact}
    before = process._child
    assert (before is None) == crashes
    process.session(_job(), pair)
    assert process._child not in {before, None}
    assert process._buffer == b""
