"""A program that reads page-locked memory ahead of its copy is refused; one that waits is not."""

from __future__ import annotations

import math
import shutil
import time
from types import SimpleNamespace
from typing import Any

import pytest

from runners import program, program_late, sanitizer
from runners.program_late import LAYER
from runners.program_run import Probe, Runner
from tests.runners.program_fakes import Fakes, interposed, made

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

PINNED = "int main() { cudaMallocHost(&got, 8); cudaMemcpyAsync(got, count, 8, kind, stream); }"


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Fakes:
    return made(tmp_path_factory.mktemp("late"))


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "command", lambda: None)


def _judged(fakes: Fakes, candidate: str, baseline: str = "pinned") -> dict[str, Any]:
    request = fakes.request(baseline, candidate, effort="confirm")
    request["job"] |= {"kernel": {"source": PINNED}, "baseline": {"source": "int main() {}"}}
    request["job"]["workload"]["accept"] = {"edit_host": True}
    request["limits"] = {"seconds": 120.0}
    return program.evaluate(request, fakes.context())


def _looked(verdict: dict[str, Any]) -> list[bool]:
    return [check["passed"] for check in verdict["checks"] if check["layer"] == LAYER]


def test_who_waits_for_what_is_ahead_of_the_copy_is_refused(fakes: Fakes) -> None:
    """Runs whose copies are kept wait for each, and do not show it."""
    verdict = _judged(fakes, "pinned-hasty")
    assert verdict["status"] == "wrong result"
    assert verdict["log"].startswith("with its asynchronous copies held back by 20 ms: default: ")
    assert 'prints "count -1"' in verdict["log"]
    assert _looked(verdict) == [False]


def test_who_waits_for_the_copy_is_accepted(fakes: Fakes) -> None:
    verdict = _judged(fakes, "pinned-fast")
    assert verdict["status"] == "correct", verdict["log"]
    assert _looked(verdict) == [True]


def test_what_its_original_does_not_stand_either_is_not_asked(fakes: Fakes) -> None:
    verdict = _judged(fakes, "pinned-hasty-fast", "pinned-hasty")
    assert verdict["status"] == "correct", verdict["log"]
    assert _looked(verdict) == []


@pytest.mark.parametrize(
    ("host", "source"),
    [
        (False, PINNED),
        (True, "int main() { cudaMemcpyAsync(got, count, 8, kind, stream); }"),
        (True, "int main() { cudaMallocHost(&got, 8); }"),
    ],
)
def test_only_who_has_such_copies_in_host_code_of_its_own_is_asked(host: bool, source: str) -> None:
    trial: Any = SimpleNamespace(host=host, sources=(source, ""))  # which runs nothing
    original: Any = SimpleNamespace(seconds=1.0, idle=0.0, cut=None)
    assert program_late.ask(trial, [original], []) == []


def test_where_there_is_no_time_a_note_says_so() -> None:
    soon = time.monotonic() + 5.0
    trial: Any = SimpleNamespace(host=True, sources=(PINNED, ""), until=soon, deadline=math.inf)
    original: Any = SimpleNamespace(seconds=1.0, idle=0.0, cut=None)
    assert program_late.ask(trial, [original], []) == [f"{LAYER}: there is no time left"]


@pytest.mark.parametrize(
    ("behaviour", "late", "printed", "held"),
    [
        ("pinned-hasty", 0, "count 3", False),
        ("pinned-hasty", 5, "count -1", True),
        ("pinned", 5, "count 3", True),
        ("ok", 5, "count 3", False),
    ],
)
def test_copies_of_page_locked_memory_alone_are_held_back(
    fakes: Fakes, behaviour: str, late: int, printed: str, held: bool
) -> None:
    runner = Runner(
        interposed(), fakes.folder, fakes.folder / "project", library_path=(str(fakes.folder),)
    )
    run = runner.run(fakes.named(behaviour), [], Probe(late=late), 30.0)
    assert run.report is not None
    assert printed in run.stdout.splitlines()
    assert (program_late.HELD in run.report.notes) == held
