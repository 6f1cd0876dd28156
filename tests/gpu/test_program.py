"""Real programs on a real GPU: every variant gets the verdict it deserves."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runners import program
from runners.fault import Fault
from runners.program_run import libraries
from tests.gpu.program_cases import CASES, Case, build, ratios, request

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not Path("/dev/nvidiactl").exists() or shutil.which("nvcc") is None,
        reason="needs an NVIDIA GPU and nvcc",
    ),
]
COMPILERS = max(4, (os.cpu_count() or 4) - 4)
VARIANTS = [
    pytest.param(case, variant, status, id=f"{case.name}-{variant}")
    for case in CASES
    for variant, status in case.statuses.items()
]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("programs")
    return {"scratch": folder, "profiles": {}, "libraries": libraries()}


@pytest.fixture(scope="module")
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int], Path]:
    """Compile what the chosen tests ask for, side by side."""
    folder = tmp_path_factory.mktemp("built")
    wanted = {("reduce", 0): None}
    for item in request.session.items:
        chosen = getattr(getattr(item, "callspec", None), "params", {})
        if isinstance(chosen.get("case"), Case):  # other modules have cases of their own
            name = chosen["case"].name
            wanted |= {(name, 0): None, (name, chosen["variant"]): None}
    with ThreadPoolExecutor(COMPILERS) as pool:
        made = pool.map(lambda one: build(folder, *one), wanted)
        return dict(zip(wanted, made, strict=True))


@pytest.mark.beside
@pytest.mark.parametrize(("case", "variant", "status"), VARIANTS)
def test_each_variant_gets_its_verdict(
    case: Case,
    variant: int,
    status: str | None,
    context: dict[str, Any],
    built: dict[tuple[str, int], Path],
) -> None:
    baseline, candidate = built[case.name, 0], built[case.name, variant]
    asked = request(baseline, candidate, case.runs)
    if status is None:
        with pytest.raises(Fault) as caught:
            program.evaluate(asked, context)
        assert caught.value.kind == "BaselineError"
        return
    assert program.evaluate(asked, context)["status"] == status


def test_a_program_against_itself_is_neither_faster_nor_slower(
    context: dict[str, Any], built: dict[tuple[str, int], Path]
) -> None:
    one = built["reduce", 0]
    verdict = program.evaluate(request(one, one, ((),), "race"), context)
    assert ratios(verdict)[0][0] == pytest.approx(1, abs=0.01)
