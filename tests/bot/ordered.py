"""An order and results that answer it, for tests of how they travel."""

from __future__ import annotations

import dataclasses

from bot.interfaces import Change, Reviewed
from bot.orders import Order
from bot.suggestion import Hunk
from optimizer.model import Trajectory
from tests.bot import synthetic

HEAD, BASE = "a" * 40, "b" * 40
ORDER = Order(
    id="1" * 32, nonce="2" * 32, repository="owner/project", number=7, base=BASE, head=HEAD
)


def trajectory(extra: int = 4, *, won: bool = True) -> Trajectory:
    found = synthetic.trajectory(extra, won=won)
    environment = dataclasses.replace(found.environment, commit=HEAD)
    return dataclasses.replace(found, environment=environment)


def reviewed(extra: int = 4, *, won: bool = True) -> Reviewed:
    found = trajectory(extra, won=won)
    change = Change(found.baseline.kernel, found.workload)
    return Reviewed(change, found, synthetic.verdict(0.8, profiled=False))


def change_at_head() -> Change:
    """Return the change as the forge finds it, with the lines its diff shows."""
    kernel = synthetic.trajectory(0).baseline.kernel
    workload = dataclasses.replace(synthetic.WORKLOAD, root="/somewhere/else")
    return Change(kernel, workload, hunks=(Hunk(1, 11),))
