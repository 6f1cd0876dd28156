"""Watch what the GPUs of this host do during a search: their jobs, and what they wait for."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.model import Verdict
from runners.interfaces import Dispatcher, Job
from runners.line import Compiled, Line
from runners.seat import Seat


class Counting:
    """Passes jobs on and counts them."""

    def __init__(self, inner: Dispatcher) -> None:
        self._inner = inner
        self.jobs = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return what the dispatcher behind returns."""
        self.jobs += len(jobs)
        return self._inner.dispatch(jobs)

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Have the dispatcher behind begin what is not asked for yet, where it can."""
        expect = getattr(self._inner, "expect", None)
        return expect is not None and bool(expect(jobs))


@contextlib.contextmanager
def seats_watched() -> Iterator[list[tuple[int, float, float]]]:
    """Yield a list that fills with each request to a GPU of this host: its index, begin and end."""
    asked: list[tuple[int, float, float]] = []
    ask = Seat.ask

    def noted(self: Seat, line: bytes, seconds: float) -> bytes:
        begun = time.monotonic()
        try:
            return ask(self, line, seconds)
        finally:
            asked.append((self.index, begun, time.monotonic()))

    Seat.ask = noted  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        Seat.ask = ask  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Taken:
    """One job that a GPU of this host took from the line: when, and when it was in the line."""

    thread: str
    joined: float
    compiled: float
    taken: float
    ended: float


@contextlib.contextmanager
def line_watched() -> Iterator[list[Taken]]:
    """Yield a list that fills with each job that was taken from the line of this host's GPUs."""
    found: list[Taken] = []
    joined: dict[int, float] = {}
    compiled: dict[int, float] = {}
    taken: dict[int, float] = {}
    join, take, done = Line.join, Line.next, Line.done

    def noted(self: Line, *given: Any, **named: Any) -> Compiled:
        begun = time.monotonic()
        ticket = join(self, *given, **named)
        joined[ticket.number] = begun
        ticket.built.add_done_callback(
            lambda _: compiled.setdefault(ticket.number, time.monotonic())
        )
        return ticket

    def noted_next(self: Line) -> Compiled | None:
        ticket = take(self)
        if ticket is not None:
            taken[ticket.number] = time.monotonic()
        return ticket

    def noted_done(self: Line, ticket: Compiled) -> None:
        number, now = ticket.number, time.monotonic()
        ready = compiled.get(number, now)
        # Each thread took its first before it was watched.
        times = (joined.get(number, now), ready, taken.get(number, ready))
        found.append(Taken(threading.current_thread().name, *times, now))
        done(self, ticket)

    Line.join, Line.next, Line.done = noted, noted_next, noted_done  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Line.join, Line.next, Line.done = join, take, done  # type: ignore[method-assign]


def idle_for(lined: Sequence[Taken], begun: float, ended: float) -> dict[str, float]:
    """Return for what the GPUs of this host waited, in seconds of all together.

    `choice`: the job that ended the wait had not been chosen yet, since the window's oldest was
    under way or the search computed. `compiling`: it had been chosen. `other`: it was compiled, and
    its machine code under way on another GPU. `end`: there were no more.
    """
    found = {"choice": 0.0, "compiling": 0.0, "other": 0.0, "end": 0.0}
    for thread in {one.thread for one in lined}:
        at = begun
        for one in sorted((o for o in lined if o.thread == thread), key=lambda o: o.taken):
            if one.taken > at and one.taken <= ended:
                joined = min(max(one.joined, at), one.taken)
                compiled = min(max(one.compiled, joined), one.taken)
                found["choice"] += joined - at
                found["compiling"] += compiled - joined
                found["other"] += one.taken - compiled
            at = max(at, one.ended)
        found["end"] += max(0.0, ended - at)
    return {what: round(seconds, 2) for what, seconds in found.items()}


def in_use(
    asked: Sequence[tuple[int, float, float]], begun: float, ended: float
) -> dict[str, dict[str, float]]:
    """Return by GPU what share of a span it worked, idled longest, and how long its first took."""
    found: dict[str, dict[str, float]] = {}
    for index in sorted({one[0] for one in asked}):
        mine = sorted((b, e) for i, b, e in asked if i == index)
        within = [(max(b, begun), min(e, ended)) for b, e in mine if e > begun and b < ended]
        gaps = [b - e for (_, e), (b, _) in itertools.pairwise(within)]
        if within:
            gaps += [within[0][0] - begun, ended - within[-1][1]]
        found[str(index)] = {
            "jobs": len(within),
            "busy": round(sum(e - b for b, e in within) / (ended - begun), 3),
            "idle_seconds": round(ended - begun - sum(e - b for b, e in within), 2),
            "longest_gap": round(max(gaps, default=ended - begun), 2),
            "first_job_seconds": round(mine[0][1] - mine[0][0], 2),
            "first_job_ended_at": round(mine[0][1] - begun, 2),
        }
    return found
