"""Nothing is timed on a GPU that somebody else computes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from optimizer.errors import RunnerError
from runners.neighbours import Neighbour, descends, neighbours, require_alone


def smi(tmp_path: Path, *lines: str) -> str:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines))
    tool.chmod(0o755)
    return str(tool)


def test_another_process_on_the_gpu_is_named_and_refused(tmp_path: Path) -> None:
    other = os.getppid()
    found = neighbours("0", smi(tmp_path, f"{other}, python, a.py, 512"))
    assert found == (Neighbour(other, "python, a.py".replace(", ", ","), 512),)
    with pytest.raises(RunnerError, match=f"pid {other}") as caught:
        require_alone(0, "0", lambda _: found)
    assert "--device" in caught.value.remedy


def test_our_own_processes_are_no_neighbours(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        lines = (f"{os.getpid()}, us, 1", f"{child.pid}, worker, 1")
        assert neighbours("0", smi(tmp_path, *lines)) == ()
        assert descends(child.pid, os.getpid())
        assert not descends(os.getpid(), child.pid)
    finally:
        child.communicate(b"\n")


@pytest.mark.parametrize(
    "line", ["", "No running processes found", "999999999, gone, 4", "x, y, z"]
)
def test_what_is_no_process_here_is_no_neighbour(tmp_path: Path, line: str) -> None:
    found = neighbours("0", smi(tmp_path, line))
    assert found == ()
    require_alone(0, "0", lambda _: found)


def test_a_machine_without_the_tool_does_not_tell() -> None:
    assert neighbours("0", "/no/such/nvidia-smi") == ()
