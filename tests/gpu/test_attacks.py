"""Hostile candidates on a real GPU: each contained, each a verdict, the worker back at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from optimizer.errors import OptimlError
from optimizer.model import Effort, Kind, Status
from runners import sanitizer
from runners.fault import Fault
from tests.gpu.attack_cases import KERNEL, Attack, Stand, attacks, places, planted
from tests.gpu.keeping import keep

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]
RECOVERY_SECONDS = 5.0
# Device code that keeps the whole GPU busy or takes its memory, and host code that does.
GREEDY = {"never ends", "prints without end", "the device heap", "a stack beyond all memory"}
HOARDER = "all device memory"
ATTACKS = tuple(attacks(**places()))


@pytest.fixture(scope="module")
def stand(request: pytest.FixtureRequest) -> Iterator[Stand]:
    """Give the stack, which compiles ahead what the chosen tests will ask of it."""
    try:
        made = Stand()
    except (OptimlError, Fault) as error:
        pytest.skip(f"no GPU or compiler: {error}")
    with planted(), made:
        if not made.isolation.strong:
            pytest.skip(f"nothing isolates here: {made.isolation.refused}")
        params = (
            getattr(getattr(item, "callspec", None), "params", {}) for item in request.session.items
        )
        made.ahead(one["attack"] for one in params if "attack" in one)
        yield made


def _marked(attack: Attack) -> object:
    """Mark those that leave the GPU to others."""
    harmless = attack.name not in GREEDY if attack.kind is Kind.KERNEL else attack.name != HOARDER
    marks = [pytest.mark.beside] if harmless else []
    return pytest.param(attack, id=f"{attack.kind.value}: {attack.name}", marks=marks)


@pytest.mark.parametrize("attack", [_marked(attack) for attack in ATTACKS])
def test_an_attack_is_its_candidates_verdict_and_nothing_else(stand: Stand, attack: Attack) -> None:
    outcome = stand.suffer(attack)
    name = f"attack-{attack.kind.value}-{attack.name}".replace(" ", "-").replace("'", "")
    keep(name, {**asdict(outcome), "isolation": stand.isolation.backend})
    assert outcome.contained, f"{outcome.status}: {outcome.log}"
    assert outcome.recovery < RECOVERY_SECONDS
    assert outcome.honest == Status.CORRECT.value


@pytest.mark.beside
@pytest.mark.parametrize("kind", [Kind.ENTRY, Kind.PROGRAM])
def test_without_leave_to_edit_host_code_no_attack_is_even_run(stand: Stand, kind: Kind) -> None:
    attack = next(a for a in ATTACKS if a.kind is kind and a.name == "network")
    verdict = stand.judge(kind, attack.source, edit_host=False)
    assert verdict.status is Status.REJECTED
    assert "host code calls connect" in verdict.log


@pytest.mark.parametrize("kind", list(Kind))
def test_counters_are_read_inside_the_sandbox(stand: Stand, kind: Kind) -> None:
    if stand.profiler.path is None:
        pytest.skip("Nsight Compute is not installed")
    verdict = stand.judge(kind, _source(kind), Effort.PROFILE)
    if "ERR_NVGPUCTRPERM" in verdict.log:
        pytest.skip(verdict.log)
    assert verdict.counters, verdict.log


@pytest.mark.beside
def test_compute_sanitizer_sees_a_program_inside_the_sandbox(stand: Stand) -> None:
    """It talks to what it watches through sockets; a filter without them had it hang unseen."""
    if sanitizer.command() is None:
        pytest.skip("compute-sanitizer is not installed")
    honest = next(a for a in ATTACKS if a.kind is Kind.PROGRAM).honest
    verdict = stand.judge(Kind.PROGRAM, honest, Effort.CONFIRM)
    looked = [one.what.split()[-1] for one in verdict.checks if one.layer == "sanitizer"]
    assert sorted(looked) == sorted(sanitizer.TOOLS), verdict.log


def _source(kind: Kind) -> str:
    """Return what the quiet attacks do under the profiler: it must not open a door for them."""
    quiet = [a for a in ATTACKS if a.kind is kind and a.name == "doors of the kernel"]
    return quiet[0].source if quiet else KERNEL
