"""A confirmation that claims more than tenfold is looked at by the profiler outside the worker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optimizer.model import CaseTimes, Check, Effort, Measurement, Status, Verdict
from runners import dispatch
from runners.counted import CHECKED
from runners.counted_outside import counted_too, large
from runners.dispatch import LocalDispatcher
from runners.profiler import NcuProfiler
from tests.runners.test_dispatch import COMMAND, Words, job

# Counts what its target's request says: the original's cycles and the candidate's.
NCU = """#!{python}
import json, sys
from pathlib import Path
words = sys.argv[1:]
log = Path(words[words.index("--log-file") + 1])
file = next((w for w in words if w.endswith("request.json")), "")
text = Path(file).read_text() if file else " ".join(words)
Path({seen!r}).open("a").write(text + "\\n")
if "{mode}" == "denied":
    log.write_text("==ERROR== ERR_NVGPUCTRPERM - no permission")
    sys.exit(1)
source = json.loads(text)["requests"][0]["job"]["kernel"]["source"] if file else text
cycles = {before} if source == "base" or "/a/base" in source else {after}
log.write_text('"ID","Kernel Name","gpc__cycles_elapsed.max"\\n"","","cycle"\\n'
    '"0","optiml_sweep","900000000"\\n' f'"1","f","{{cycles}}"\\n')
"""
ARTIFACTS = {"candidate": {"path": "/a/fast"}, "baseline": {"path": "/a/base"}}


def ncu(folder: Path, mode: str = "fine", before: int = 90_000, after: int = 1_000) -> NcuProfiler:
    program = folder / "ncu"
    seen = str(folder / "seen")
    program.write_text(
        NCU.format(python=sys.executable, seen=seen, mode=mode, before=before, after=after)
    )
    program.chmod(0o755)
    return NcuProfiler(str(program))


def verdict(gain: float, *names: str, checks: tuple[Check, ...] = ()) -> Verdict:
    cases = tuple(CaseTimes(name, (1.0, 1.0), (gain, gain)) for name in names or ("n=8",))
    return Verdict(Status.CORRECT, Measurement(cases, "Fake"), checks=checks)


def request(kind: str = "kernel") -> dict[str, Any]:
    values = [{"values": {"n": 4}}, {"values": {"n": 8}}]
    work = {"kind": kind, "cases": values, "root": ".", "program": {"runs": [["1"], ["2", "3"]]}}
    sources = {"kernel": {"source": "fast"}, "baseline": {"source": "base"}}
    return {"id": "0", "nonce": "n", "job": {**sources, "workload": work}, **ARTIFACTS}


def test_only_large_gains_without_a_counter_yet_are_looked_at() -> None:
    assert large(verdict(9.0)) == []
    assert [gain for _, gain in large(verdict(40.0))] == [40.0]
    seen = Check("plausibility", f"n=8: {CHECKED}", passed=True)
    assert large(verdict(40.0, checks=(seen,))) == []
    assert large(Verdict(Status.WRONG_RESULT)) == []


def test_a_gain_that_the_cycles_show_stands_and_its_check_is_kept(tmp_path: Path) -> None:
    found = counted_too(verdict(100.0), request(), ncu(tmp_path), ["/bin/worker"])
    assert found.status is Status.CORRECT
    (check,) = found.checks
    assert check == Check("plausibility", f"n=8: {CHECKED}", True, 100.0, 270.0)  # noqa: FBT003
    asked = (tmp_path / "seen").read_text().splitlines()
    assert [line.count('"n": 8') for line in asked] == [1, 1]
    assert not any('"n": 4' in line for line in asked)


def test_a_gain_that_no_counter_shows_is_rejected(tmp_path: Path) -> None:
    found = counted_too(verdict(400.0), request(), ncu(tmp_path), ["/bin/worker"])
    assert found.status is Status.REJECTED
    assert found.measurement is None
    assert "no counter fell alike" in found.log
    assert not found.checks[-1].passed


def test_without_counters_the_measurement_says_so(tmp_path: Path) -> None:
    profiler = ncu(tmp_path, "denied")
    found = counted_too(verdict(100.0), request(), profiler, ["/bin/worker"])
    assert found.status is Status.CORRECT
    assert found.measurement is not None
    (note,) = found.measurement.notes
    assert "no counter could be read" in note
    assert "ERR_NVGPUCTRPERM" in note
    assert profiler.table(["/bin/true"], ["m"])[0] == ""


def test_a_program_is_counted_on_the_run_that_became_faster(tmp_path: Path) -> None:
    found = counted_too(verdict(50.0, "2 3"), request("program"), ncu(tmp_path), ["/bin/worker"])
    assert found.status is Status.CORRECT
    lines = (tmp_path / "seen").read_text().splitlines()
    for which, line in zip(("base", "fast"), lines, strict=True):
        assert line.endswith(f"/a/{which} 2 3")
    assert "--launch" not in lines[0]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalDispatcher]:
    monkeypatch.setattr(dispatch, "JOB_SECONDS", dict.fromkeys(Effort, 20.0))
    with LocalDispatcher(
        Words(),
        scratch=tmp_path,
        command=COMMAND,
        locked=False,
        readable=[Path(__file__).parent],
        profiler=ncu(tmp_path, before=2_000, after=1_000),
    ) as found:
        yield found


@pytest.mark.parametrize(
    ("effort", "status"), [(Effort.CONFIRM, Status.REJECTED), (Effort.SCREEN, Status.CORRECT)]
)
def test_the_dispatcher_asks_at_a_confirmation(
    gpu: LocalDispatcher, effort: Effort, status: Status
) -> None:
    """Two thousand cycles against one thousand is no gain of fifty."""
    assert gpu.dispatch([job("fiftyfold", effort)])[0].status is status
