"""The GPUs of a fleet as a search sees them: what each is, what was sent to it, which are alike."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

from optimizer.errors import OptimlError
from optimizer.model import Verdict
from runners.fleet_worker import Card
from runners.line import Ticket

# Bandwidth or arithmetic rate below this share of the fleet's first GPU: not the same machine, or
# not in the same state. Three H200 of one host agree to 2 %.
PEAKS_AGREE = 0.85


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what is waited for, in seconds.

    `join` for the first worker; `look` between looks at who is there; `quiet` until a worker that
    has a job is asked whether it lives, and `answer` for that; `rest` for a GPU that was not fit;
    `gone` for a scheduler that went away. `job` is added to what a job may take itself.
    """

    join: float = 60.0
    look: float = 0.25
    quiet: float = 10.0
    answer: float = 10.0
    rest: float = 30.0
    gone: float = 300.0
    job: float = 240.0


@dataclass(slots=True, eq=False)
class Errand(Ticket):
    """A ticket that workers are sent; `only` names the one worker that a rehearsal is for."""

    lost: int = 0
    unfit: list[str] = field(default_factory=list)
    avoid: set[str] = field(default_factory=set)
    only: str = ""


@dataclass(slots=True, eq=False)
class Attempt:
    """A ticket sent to one worker, with the nonce that its answer must carry.

    `known` are the verdicts on others that would be its own, by their machine code.
    """

    ticket: Errand
    nonce: str
    began: float
    sent: Any = None
    task: asyncio.Task[None] | None = None
    known: dict[str, Verdict] = field(default_factory=dict)
    recalled: bool = False
    over: bool = False


@dataclass(slots=True, eq=False)
class Place:
    """A worker of the fleet, with what was sent to it; `rests` until a moment of the clock.

    `told` is the machine code that it knows to be judged, by what it was judged for; `stuck` how
    many jobs it has held for too long since it last answered.
    """

    address: str
    card: Card
    running: list[Attempt] = field(default_factory=list)
    parcels: set[str] = field(default_factory=set)
    rests: float = 0.0
    silent: bool = False
    heard: float = 0.0
    ready: set[tuple[str, str]] = field(default_factory=set)
    told: set[tuple[str, str]] = field(default_factory=set)
    stuck: int = 0

    def able(self, now: float) -> bool:
        """Tell whether it may be given work at a moment of the clock."""
        return self.rests <= now and not self.silent


def unlike(first: Card, other: Card) -> str:
    """Return why a GPU's measurements cannot be compared with the first's; empty when they can.

    >>> unlike(Card("H200", "580"), Card("A100", "580"))
    'a GPU of another kind (A100) beside H200'
    >>> unlike(Card(peaks={"dram_gbs": 4000.0}), Card(peaks={"dram_gbs": 3000.0}))
    'its dram_gbs is 3000, the others have 4000: it is shared, throttled or faulty'
    """
    if other.gpu != first.gpu:
        return f"a GPU of another kind ({other.gpu}) beside {first.gpu}"
    for what, mine, its in zip(
        ("driver", "CUDA toolkit", "optiml"), first.kind[1:], other.kind[1:], strict=True
    ):
        if mine != its:
            return f"{other.gpu} on {other.host} has {what} {its}, the others {mine}"
    for name, peak in first.peaks.items():
        seen = other.peaks.get(name, peak)
        if not (math.isfinite(seen) and seen >= PEAKS_AGREE * peak):
            return (
                f"its {name} is {seen:g}, the others have {peak:g}: "
                "it is shared, throttled or faulty"
            )
    return ""


def settle(ticket: Errand, outcome: Verdict | OptimlError) -> None:
    """Give a job its one outcome; what comes later is dropped."""
    if ticket.verdict.done():
        return
    if isinstance(outcome, Verdict):
        ticket.verdict.set_result(outcome)
    else:
        ticket.verdict.set_exception(outcome)
