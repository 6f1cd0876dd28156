"""Hostile candidates on a real GPU: each contained, each a verdict, the worker back at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from optimizer.errors import OptimlError
from optimizer.model import Effort, Kind, Status
from runners.fault import Fault
from tests.gpu.attack_cases import KERNEL, Attack, Stand, attacks, places, planted

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]
RECOVERY_SECONDS = 5.0
ATTACKS = tuple(attacks(**places()))


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    try:
        made = Stand()
    except (OptimlError, Fault) as error:
        pytest.skip(f"no GPU or compiler: {error}")
    with planted(), made:
        if not made.isolation.strong:
            pytest.skip(f"nothing isolates here: {made.isolation.refused}")
        yield made


@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{a.kind.value}: {a.name}" for a in ATTACKS])
def test_an_attack_is_its_candidates_verdict_and_nothing_else(stand: Stand, attack: Attack) -> None:
    outcome = stand.suffer(attack)
    assert outcome.contained, f"{outcome.status}: {outcome.log}"
    assert outcome.recovery < RECOVERY_SECONDS
    assert outcome.honest == Status.CORRECT.value


@pytest.mark.parametrize("kind", list(Kind))
def test_counters_are_read_inside_the_sandbox(stand: Stand, kind: Kind) -> None:
    if stand.profiler.path is None:
        pytest.skip("Nsight Compute is not installed")
    verdict = stand.judge(
        kind, ATTACKS[0].source if kind is None else _source(kind), Effort.PROFILE
    )
    if "ERR_NVGPUCTRPERM" in verdict.log:
        pytest.skip(verdict.log)
    assert verdict.counters, verdict.log


def _source(kind: Kind) -> str:
    """Return what the quiet attacks do under the profiler: it must not open a door for them."""
    quiet = [a for a in ATTACKS if a.kind is kind and a.name == "doors of the kernel"]
    return quiet[0].source if quiet else KERNEL
