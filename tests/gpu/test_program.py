"""Real programs on a real GPU: every variant gets the verdict it deserves."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from runners import interposer, program
from runners.fault import Fault
from runners.program_run import libraries
from tests.gpu.ahead import Ahead, Parameters
from tests.gpu.program_cases import CASES, Case, build, ratios, request

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not Path("/dev/nvidiactl").exists() or shutil.which("nvcc") is None,
        reason="needs an NVIDIA GPU and nvcc",
    ),
]
Built = Callable[[str, int], Path]
VARIANTS = [
    pytest.param(case, variant, status, id=f"{case.name}-{variant}")
    for case in CASES
    for variant, status in case.statuses.items()
]

_BUILDING: dict[tuple[str, int], Future[Path]] = {}
_INTERPOSER: list[Future[Path]] = []


def compile_ahead(ahead: Ahead, chosen: Sequence[Parameters]) -> None:
    """Begin to compile the originals and variants of the chosen tests."""
    _INTERPOSER.append(ahead.submit(interposer.library, ahead.folder / "interposer"))
    wanted = {("reduce", 0): None}
    for one in chosen:
        if "case" in one:
            name = one["case"].name
            wanted |= {(name, 0): None, (name, one["variant"]): None}
    for name, variant in wanted:
        # A folder each: a program runs in a copy of its original's.
        folder = ahead.folder / f"{name}-{variant}"
        folder.mkdir()
        _BUILDING[name, variant] = ahead.submit(build, folder, name, variant, f"sm_{ahead.sm}")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("programs")
    return {"scratch": folder, "profiles": {}, "libraries": libraries()}


@pytest.fixture(scope="module")
def built() -> Built:
    """Wait for what is being compiled, each test for its own only."""
    return lambda name, variant: _BUILDING[name, variant].result()


def asked(
    baseline: Path, candidate: Path, runs: tuple[tuple[str, ...], ...], effort: str = "screen"
) -> dict[str, Any]:
    """Return a request that names the interposer that was built ahead."""
    watched = {"interposer": str(_INTERPOSER[-1].result())}
    return request(baseline, candidate, runs, effort) | watched


@pytest.mark.beside
@pytest.mark.parametrize(("case", "variant", "status"), VARIANTS)
def test_each_variant_gets_its_verdict(
    case: Case,
    variant: int,
    status: str | None,
    context: dict[str, Any],
    built: Built,
) -> None:
    baseline, candidate = built(case.name, 0), built(case.name, variant)
    one = asked(baseline, candidate, case.runs)
    if status is None:
        with pytest.raises(Fault) as caught:
            program.evaluate(one, context)
        assert caught.value.kind == "BaselineError"
        return
    assert program.evaluate(one, context)["status"] == status


def test_a_program_against_itself_is_neither_faster_nor_slower(
    context: dict[str, Any], built: Built
) -> None:
    one = built("reduce", 0)
    verdict = program.evaluate(asked(one, one, ((),), "race"), context)
    assert ratios(verdict)[0][0] == pytest.approx(1, abs=0.01)
