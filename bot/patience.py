"""Waiting for what comes back: GitHub, a database, a bench. And for the end of this process."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import sqlalchemy as sa

from bot.github_errors import RateLimited, Unreachable

T = TypeVar("T")
DATABASE_AWAY = (sa.exc.OperationalError, sa.exc.InterfaceError)
TRANSIENT = (Unreachable, RateLimited, *DATABASE_AWAY)
_LONGEST = 60.0


class Stopped(BaseException):
    """The process ends. Work in progress is left as it is, for another one to go on with.

    No `Exception`, so that nobody takes it for a failure of the work.
    """


@dataclass(frozen=True, slots=True)
class Patience:
    """How long something is tried again. `seconds` in all, from `first` seconds on, doubling."""

    seconds: float = 900.0
    first: float = 1.0
    stop: threading.Event = field(default_factory=threading.Event)

    def sleep(self, seconds: float) -> None:
        """Wait. Raise `Stopped` when this process ends meanwhile."""
        if self.stop.wait(seconds):
            raise Stopped

    def ask(self, question: Callable[[], T], *, urgent: Callable[[], bool] = lambda: False) -> T:
        """Return the answer, asking again while nobody answers or we ask too often.

        `urgent` tells that waiting has become pointless. Raise the last error when time is up.
        """
        end = time.monotonic() + self.seconds
        pause = self.first
        while True:
            if self.stop.is_set():
                raise Stopped
            try:
                return question()
            except TRANSIENT as error:
                asked = getattr(error, "retry_after", None)
                wait = pause if asked is None else max(float(asked), pause)
                if urgent() or time.monotonic() + wait > end:
                    raise
            self.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 - spreads replicas, no secret
            pause = min(2 * pause, _LONGEST)
