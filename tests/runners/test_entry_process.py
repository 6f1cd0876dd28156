"""The process of entry functions: who is to blame where it does not start."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners import entry_process, spec
from runners.answers import module_command
from runners.entry_process import EntryProcess
from runners.fault import Fault
from runners.gpu import DeviceError, LaunchError
from runners.sandbox import Sandbox

# Says and does something as it starts, another time something else, and then answers once.
CHILD = """
import json, os, sys
folder = sys.argv[1]
turn = os.path.join(os.path.dirname(folder), "turn")
number = len(os.listdir(turn))
open(os.path.join(turn, str(number)), "w").close()
exec(ACTS[min(number, len(ACTS) - 1)])
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    print(json.dumps({"loaded": True}), flush=True)
    sys.exit(3)
"""
# Tells, for what is to be renewed, the length of the name of the candidate that is loaded.
SERVES = """
loads = open(os.path.join(os.path.dirname(folder), "loads"), "a")
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "load":
        name = os.path.basename(asked["candidate"]["path"])
        print(name, file=loads, flush=True)
    elif asked["op"] == "end":
        sys.exit(3)
    print(json.dumps({"loaded": True, "clocks": 0, "renewed": len(name)}), flush=True)
"""
ENDS = "sys.exit('No module named this')"

Asked = Callable[..., Any]


def _job(root: Path) -> spec.JobSpec:
    kernel = {"name": "k", "source": "x", "path": "", "launch": None}
    output = {"name": "y", "type": "float*", "shape": "n", "role": "output"}
    work = {"name": "k", "kind": "entry", "symbol": "k", "arguments": [output], "root": str(root)}
    work["cases"] = [{"values": {"n": 4}}]
    return spec.parse({"kernel": kernel, "baseline": kernel, "workload": work})


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """Return a function that loads a pair into a child that acts so, each time it is started."""
    scratch = tmp_path / "scratch"
    (scratch / "build" / "key").mkdir(parents=True)
    (scratch / "turn").mkdir()
    monkeypatch.setattr(entry_process, "PAUSES", (0.0,))
    monkeypatch.setattr(entry_process, "START_SECONDS", 10.0)
    made: list[EntryProcess] = []
    # As the worker that holds it is isolated already, and the child writes beside its own folder.
    sandbox = Sandbox("own", backend="processes")

    def loaded(*acts: str) -> Any:
        code = f"ACTS = {acts!r}\n{CHILD}"
        command = [sys.executable, "-I", "-c", code]
        monkeypatch.setattr(
            entry_process, "module_command", lambda _module, folder, *_: [*command, folder]
        )
        process = EntryProcess(scratch, 0, sandbox)
        made.append(process)
        artifact = {"path": str(scratch / "build" / "key" / "x.so")}
        pair = {"job": {}, "candidate": artifact, "baseline": artifact}
        return process.session(_job(tmp_path), pair), process

    yield loaded
    for process in made:
        process.close()
    sandbox.close()


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (ENDS, "No module named this"),
        ("print(json.dumps({'fault': {'message': 'no GPU here'}})); sys.exit(0)", "no GPU here"),
        ("print('ready', flush=True)", entry_process._NONSENSE),
        ("print('[]', flush=True)", entry_process._NONSENSE),
        ("sys.stderr.close(); os._exit(0)", "it ended"),
    ],
)
def test_a_child_that_does_not_start_is_no_candidates_crash(
    load: Asked, tmp_path: Path, act: str, why: str
) -> None:
    """Nothing of a candidate is in it: a verdict would blame whoever happens to be next."""
    with pytest.raises(Fault, match="does not start") as caught:
        load(act)
    assert why in str(caught.value)
    assert len(list((tmp_path / "scratch" / "turn").iterdir())) == 2


def test_another_one_is_tried(load: Asked, tmp_path: Path) -> None:
    """What the one before held of the device may not be free yet."""
    _, process = load(ENDS, "pass")
    assert process._child is not None
    assert len(list((tmp_path / "scratch" / "turn").iterdir())) == 2


def test_who_is_loaded_and_ends_it_has_crashed(load: Asked) -> None:
    _, process = load("pass")
    with pytest.raises(LaunchError, match="ended with exit status 3"):
        process.ask({"op": "load"}, 5.0)


@pytest.mark.parametrize("most", [25, 1])
def test_a_pair_whose_place_another_took_is_loaded_again(
    load: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """It is one process for all: else the one loaded last would be verified in its place."""
    first, process = load(SERVES)
    monkeypatch.setattr(entry_process, "MOST_PAIRS", most)
    folder = tmp_path / "scratch" / "build" / "key"
    artifact = {"path": str(folder / "original.so")}
    pair = {"job": {}, "candidate": artifact, "baseline": artifact}
    other = process.session(_job(tmp_path), pair)
    assert [one.renewed() for one in (other, first, first, other)] == [11, 4, 4, 11]
    loads = (tmp_path / "scratch" / "loads").read_text().split()
    assert loads == ["x.so", "original.so", "x.so", "original.so"]
    # What is lost with its process is not started anew by whoever asks next.
    with pytest.raises(LaunchError, match="ended with exit status 3"):
        process.ask({"op": "end"}, 5.0)
    for one in (first, other):
        with pytest.raises(DeviceError, match="is gone"):
            one.renewed()


def test_who_never_gets_ready_is_not_waited_for_long(
    load: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_process, "START_SECONDS", 0.5)
    with pytest.raises(Fault, match="it was not ready in 0 s"):
        load("import time; time.sleep(60)")


def test_it_starts_as_the_worker_starts_it(tmp_path: Path) -> None:
    """By itself it imports its modules in another order than any test does."""
    command = module_command("runners.entry_server", str(tmp_path), "0")
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    (said,) = map(json.loads, done.stdout.splitlines())
    assert said == {"ready": True} or "fault" in said
