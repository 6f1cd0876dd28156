"""An order for a GPU review, what is known of it while it runs, and who carries it out.

The control plane, which holds tokens and runs nobody's code, writes the order. A bench passes it
to a GPU plane, which holds no token and answers with a bundle (`bot.bundle`) bound to the order.
"""

from __future__ import annotations

import math
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Protocol

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bot.interfaces import Change, Reviewed
from bot.outcome import ratio_of
from bot.settings import OBJECTIVES, POLICIES
from optimizer.errors import ConfigError, OptimlError

MAX_KERNELS = 64
MAX_NAME = 300  # characters of a kernel's name or path
MAX_MINUTES = 24 * 60.0
MAX_EVALUATIONS = 4000  # a bundle holds 5000 steps
_HEX32 = re.compile(r"[0-9a-f]{32}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]{1,100}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class BundleError(OptimlError):
    """What came back from the GPU plane is not what was ordered, or not to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A review of one head of a pull request, or of a branch when `number` is None.

    `id` names the order, `nonce` is known to the order alone and comes back with its bundle.
    `base` and `head` are full commit ids. `kernels` are names or paths; empty means all that
    changed. `minutes` and `evaluations` bound the search of one kernel. `min_speedup` raises the
    project's own threshold. Raise `ValueError` when a field cannot be.
    """

    repository: str
    number: int | None
    base: str
    head: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))
    kernels: tuple[str, ...] = ()
    minutes: float = 10.0
    evaluations: int = 80
    min_speedup: float | None = None
    objective: str = "time"
    policy: str = "mixed"
    seed: int = 0

    __pydantic_config__ = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        for fault, words in self._faults():
            if fault:
                raise ValueError(words)

    def _faults(self) -> tuple[tuple[bool, str], ...]:
        name = self.repository.rpartition("/")[2]
        return (
            (not _HEX32.fullmatch(self.id), "id must be 32 hexadecimal digits"),
            (not _HEX32.fullmatch(self.nonce), "nonce must be 32 hexadecimal digits"),
            (
                not _REPOSITORY.fullmatch(self.repository) or name in {".", ".."},
                "repository must be OWNER/NAME",
            ),
            (self.number is not None and not 0 < self.number < 1 << 53, "number must be positive"),
            (not _SHA.fullmatch(self.base), "base must be a full commit id"),
            (not _SHA.fullmatch(self.head), "head must be a full commit id"),
            (len(self.kernels) > MAX_KERNELS, f"kernels may be {MAX_KERNELS} at most"),
            (
                any(not 0 < len(one) <= MAX_NAME or _CONTROL.search(one) for one in self.kernels),
                f"a kernel's name is one line of at most {MAX_NAME} characters",
            ),
            (not 0 < self.minutes <= MAX_MINUTES, "minutes must be above 0 and within a day"),
            (
                not 0 < self.evaluations <= MAX_EVALUATIONS,
                f"evaluations must be from 1 to {MAX_EVALUATIONS}",
            ),
            (
                self.min_speedup is not None
                and not (math.isfinite(self.min_speedup) and 1 <= self.min_speedup <= 1000),
                "min_speedup must be from 1 to 1000",
            ),
            (self.objective not in OBJECTIVES, f"objective is one of {', '.join(OBJECTIVES)}"),
            (self.policy not in POLICIES, f"policy is one of {', '.join(POLICIES)}"),
            (not 0 <= self.seed < 1 << 63, "seed must be from 0 to 2^63-1"),
        )


class BenchState(StrEnum):
    """How far a bench is with an order."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Tell whether nothing more will happen."""
        return self in {BenchState.DONE, BenchState.FAILED, BenchState.CANCELLED}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an order is.

    `url` is a page to look at, `detail` one line of plain text that may come from the GPU plane
    and is not to be trusted. `steps` counts evaluations done where that is known; `best` is the
    best speedup so far.
    """

    state: BenchState
    url: str = ""
    detail: str = ""
    steps: int = 0
    best: float | None = None


class Bench(Protocol):
    """Carries out orders somewhere else and survives a restart of the caller.

    A handle is a text to be stored. `Unreachable` and `RateLimited` (`bot.github_errors`) say
    nothing of the order: ask again. `RunnerError` and `ConfigError` are final.
    """

    def start(self, order: Order, *, is_new: bool = False) -> str:
        """Begin an order and return its handle; the same order again begins nothing new.

        `is_new` tells that this order was never tried before, which saves looking for it.
        """
        ...

    def poll(self, handle: str) -> Progress:
        """Return how far it is."""
        ...

    def fetch(self, handle: str, order: Order) -> Sequence[Reviewed]:
        """Return the results of one that is done; of one that failed, raise why.

        `RunnerError` when the machinery failed, which is no verdict on any kernel; `ConfigError`
        or `BaselineError` when the project is at fault; `BundleError` when what came back is not
        to be trusted. The results are to be held against what GitHub has (`bot.vouching`).
        """
        ...

    def cancel(self, handle: str) -> None:
        """Stop it; nothing happens when it is over."""
        ...


def asks_for(kernels: Sequence[str], change: Change) -> bool:
    """Tell whether a change is meant by names, paths or folders; none of them means all."""
    kernel, workload = change.kernel, change.workload
    paths = [kernel.path, *change.beside]
    folders = {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
    names = {kernel.name, *paths, *(folders - {"."})}
    if workload is not None:
        names |= {workload.name, workload.symbol}
    return not kernels or any(one.rstrip("/") in names for one in kernels)


def held_to(order: Order, result: Reviewed) -> Reviewed:
    """Return a result without its winner when that is less than the order asked for."""
    found = result.trajectory
    if found is None or not found.winner or order.min_speedup is None:
        return result
    verdict = found.confirmation or found.best.verdict
    ratio = ratio_of(verdict.measurement, found.workload.accept.confidence)
    if ratio is not None and ratio.low >= order.min_speedup:
        return result
    words = f"what was found is below the {order.min_speedup:g}× that was asked for"
    notes = found.notes if words in found.notes else (*found.notes, words)
    return replace(result, trajectory=replace(found, winner=None, confirmation=None, notes=notes))


_ORDER: TypeAdapter[Order] = TypeAdapter(Order)


def to_json(order: Order) -> str:
    """Write an order as one line of JSON."""
    return _ORDER.dump_json(order).decode()


def from_json(text: str | bytes) -> Order:
    """Read an order. Raise `ConfigError` naming the field that does not fit."""
    try:
        return _ORDER.validate_json(text, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, found["loc"])) or "the order"
        raise ConfigError(f"this is no order: {where}: {found['msg']}") from error
