"""From a program's launches to verdicts on its kernels, without a GPU."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import capture
from bot.capture import Order
from runners import spec
from runners.capture import record
from runners.capture.record import Wanted
from runners.interfaces import Job
from runners.judge import Judge
from runners.wire import job_to_dict
from tests.runners.capture import program
from tests.runners.capture.program import Program
from tests.runners.host_gpu import COMPILER, HostGpu, HostOracle, artifact

pytestmark = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program.build(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path: Path, parts: Program, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(program.KERNELS, tmp_path / "kernels.cu")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(parts.folder))
    monkeypatch.setattr(record, "cupti", lambda: parts.cupti)
    return tmp_path


WAYS = [("cupti", "linked"), ("cupti", "asked"), ("preload", "linked"), ("preload", "asked")]


@pytest.mark.parametrize(("through", "how"), WAYS)
def test_launches_are_captured_however_the_program_reaches_the_driver(
    project: Path, parts: Program, cache: Path, through: record.Through, how: str
) -> None:
    order = Order(parts.command(how), Wanted(()), project / "cap", through=through)
    done = capture.capture(order, project, cache)
    assert not done.troubles
    kernels = {one.workload.name: one for one in done.found}
    assert set(kernels) == {"saxpy", "count", "gather"}


@pytest.fixture
def made(project: Path, parts: Program, cache: Path) -> capture.Done:
    return capture.capture(
        Order(parts.command("linked"), Wanted(()), project / "cap"), project, cache
    )


@pytest.fixture
def judge(tmp_path: Path) -> Iterator[Judge]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = Judge(HostGpu(), 0, scratch, lambda _text, _job: None)
    found._oracle = HostOracle(scratch, 0, lambda text, _job: artifact(text))
    yield found
    found.close()


def verdict(
    judge: Judge, project: Path, name: str, edit: tuple[str, str] = ("", "")
) -> dict[str, object]:
    """Judge a captured kernel against an edited version of itself."""
    found = capture.workloads(project / "cap", name, None)
    one = found[0]
    text = one.kernel.source.replace(*edit) if edit[0] else one.kernel.source
    assert text != one.kernel.source or not edit[0]
    candidate = dataclasses.replace(one.kernel, source=text)
    job = job_to_dict(Job(candidate, one.kernel, one.workload, seed=3))
    request = {"job": job, "candidate": artifact(text), "baseline": artifact(one.kernel.source)}
    told, _, _ = judge.verdict(request, spec.parse(job), 60.0)
    return told


@pytest.mark.parametrize("name", ["saxpy", "count", "gather"])
def test_the_original_does_again_what_it_did_in_its_program(
    made: capture.Done, project: Path, judge: Judge, name: str
) -> None:
    told = verdict(judge, project, name)
    assert told["status"] == "correct", told["log"]
