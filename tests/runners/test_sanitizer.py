"""What compute-sanitizer says is read, and held against a candidate only where it is its own."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from runners import sanitized, sanitizer, spec
from runners.contents import Combination, Contents
from runners.sanitizer import TOOLS, Sanitizer, read
from tests.runners.test_judge import SCALE, _job

MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at saxpy(int, float, const float *, float *)+0x90
=========     by thread (232,0,0) in block (3,0,0)
=========     Access to 0x7f0000000fa0 is out of bounds
=========
========= ERROR SUMMARY: 24 errors
"""
RACECHECK = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at rowsum+0x120
=========     and Read access at rowsum+0x180 [96 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


@pytest.mark.parametrize(
    ("tool", "text", "errors", "words"),
    [
        ("memcheck", MEMCHECK, 24, "Invalid __global__ read of size 4 bytes"),
        ("racecheck", RACECHECK, 1, "Race reported between Write access at rowsum+0x120"),
        ("synccheck", "========= ERROR SUMMARY: 0 errors\n", 0, ""),
        (
            "racecheck",
            "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)\n",
            0,
            "",
        ),
        ("initcheck", "Permission denied\n", None, "Permission denied"),
        ("memcheck", "", None, ""),
    ],
)
def test_reports_are_read(tool: str, text: str, errors: int | None, words: str) -> None:
    """Errors count, warnings do not, and no summary is no finding."""
    found = read(tool, text)
    assert (found.errors, found.words) == (errors, words)


COPY = """========= COMPUTE-SANITIZER
========= Host API memory access error at host access to 0x7f2a60000c00 of size 4012 bytes
=========     Uninitialized access at 0x7f2a60000c00 on access by cudaMemcpy source
"""
READS = "========= Uninitialized __global__ memory read of size 4 bytes\n"


def test_what_the_host_copies_is_not_read() -> None:
    """Initcheck tells of copies; beside one a kernel's read of unwritten memory counts as ever."""
    many = "========= ERROR SUMMARY: 1 error\n"
    assert read("initcheck", COPY + many, ran=(2, 2)).errors == 0
    assert read("initcheck", COPY + READS + many).errors == 1
    assert read("initcheck", READS + COPY).words.startswith("Uninitialized __global__")
    assert read("initcheck", many).errors == 1
    assert read("memcheck", COPY + many).errors == 1


FAKE = """#!/usr/bin/env python3
import json, sys
tool = sys.argv[2]
request = json.load(open(sys.argv[-1]))
said = json.load(open({said!r}))[request["candidate"]["path"]].get(tool, 0)
if said is None:
    sys.exit("not here")
for number, _ in enumerate(request["combinations"]):
    print(f"\\n{{request['mark']}}{{number}}")
print(f"========= Invalid read by {{request['job']['kernel']['source'][-4:]}}" if said else "")
print(f"========= ERROR SUMMARY: {{said}} errors")
"""


def _found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: Any, theirs: Any, text: str = ""
) -> dict[str, tuple[int | None, bool]]:
    said = tmp_path / "said.json"
    said.write_text(json.dumps({"mine": mine, "theirs": theirs}))
    program = tmp_path / "compute-sanitizer"
    program.write_text(FAKE.format(said=str(said)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sanitizer, "command", lambda: str(program))
    data = _job(SCALE)
    data["kernel"] = {**data["kernel"], "source": text + data["kernel"]["source"]}
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    job = spec.parse(data)
    combinations = [Combination({"n": 7.0}, "declared", 5)]
    found = Sanitizer(tmp_path, 0).against(request, job, combinations, 20.0)
    return {one.tool: (one.errors, blamed) for one, blamed in found}


def test_errors_that_the_original_has_too_are_not_held_against_a_candidate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An optimizer does not mend the program it was given."""
    found = _found(
        tmp_path, monkeypatch, {"memcheck": 3, "racecheck": 2}, {"memcheck": 1, "racecheck": 0}
    )
    assert found == {
        "memcheck": (3, False),
        "racecheck": (2, True),
        "initcheck": (0, False),
        "synccheck": (0, False),
    }


def test_a_race_is_not_seen_where_warps_hand_over_by_arriving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Racecheck does not follow named barriers at which some threads do not wait; memcheck does."""
    text = '__device__ void tell() { asm volatile("bar.arrive 1, 256;" ::: "memory"); }\n'
    mine = {"memcheck": 1, "racecheck": 2}
    found = _found(tmp_path, monkeypatch, mine, {"memcheck": 0, "racecheck": 0}, text)
    assert found["racecheck"] == (2, False)
    assert found["memcheck"] == (1, True)


def test_a_tool_that_does_not_run_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No finding is no fault; with nothing known of the original, only a plain fault counts."""
    found = _found(
        tmp_path,
        monkeypatch,
        {"memcheck": 3, "racecheck": 2, "initcheck": None},
        dict.fromkeys(TOOLS),
    )
    assert found["memcheck"] == (3, True)
    assert found["racecheck"] == (2, False)
    assert found["initcheck"] == (None, False)


def test_without_compute_sanitizer_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes with the CUDA toolkit, which may be a slim one."""
    monkeypatch.setattr(sanitizer, "command", lambda: None)
    data = _job(SCALE)
    request = {"job": data, "candidate": {"path": "mine"}, "baseline": {"path": "theirs"}}
    combinations = [Combination({"n": 7.0}, "declared", 5)]
    assert Sanitizer(tmp_path, 0).against(request, spec.parse(data), combinations, 5.0) == []


class Memory:
    """Device memory of a driver that gives each allocation another place, and tells what is held."""

    held: ClassVar[set[int]] = set()
    last: ClassVar[int] = 0

    def __init__(self, size: int) -> None:
        Memory.last += size + 256
        self.at = Memory.last
        Memory.held.add(self.at)

    def __int__(self) -> int:
        return self.at

    def free(self) -> None:
        """Give it back."""
        Memory.held.discard(self.at)

    __del__ = free


class Called:
    """Notes the calls of a candidate, and whether their buffers are there."""

    hosted = True

    def __init__(self) -> None:
        self.calls: list[tuple[float, int]] = []
        self.held: list[int] = []  # how many allocations there are at each call

    def bind(self, case: Mapping[str, float], addresses: Mapping[str, int]) -> Callable[[], None]:
        def call() -> None:
            assert set(addresses.values()) <= Memory.held
            self.calls.append((case["n"], addresses["x"]))
            self.held.append(len(Memory.held))

        return call


class Uploads:
    """Takes uploads where there is memory."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def upload(self, address: int, data: object) -> None:
        assert address in Memory.held
        assert data is not None
        self.seen.append(address)

    def synchronize(self, seconds: float) -> None:
        assert seconds > 0


def _calls(lengths: Sequence[int]) -> tuple[Called, Uploads]:
    driver: Any = SimpleNamespace(mem_alloc=Memory)
    gpu, called = Uploads(), Called()
    job = spec.parse(_job(SCALE))
    asked = [Combination({"n": float(n)}, "declared", 1) for n in lengths]
    made: Any = called
    calls = sanitized._Calls(driver, gpu, job, made, Contents(job.work))
    calls.grown(asked)
    for one in asked:
        calls.call(one, calls.buffers(one))
    return called, gpu


def test_host_code_is_called_again_on_what_a_larger_call_came_behind() -> None:
    """On the buffers of the first time, so that what it kept for them is used; then each alone."""
    called, gpu = _calls([300, 77, 4097])
    (first, x), (second, y), (third, again), *rest = called.calls
    assert (first, second, third) == (77, 4097, 77)
    assert x == again != y
    # A larger room has no place where the smaller one was given back.
    assert called.held[1] == called.held[2] >= called.held[0] + 40
    assert gpu.seen[:3] == [x, y, x]
    assert [n for n, _ in rest] == [300, 77, 4097]
    assert not Memory.held


def test_one_size_alone_is_called_as_often_as_it_is_asked() -> None:
    """Counters are read of one call."""
    assert [n for n, _ in _calls([300])[0].calls] == [300]
    assert [n for n, _ in _calls([300, 300])[0].calls] == [300, 300]
