"""Takes jobs to the GPUs behind a scheduler of dask.distributed. Needs the extra `fleet`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

import dask
from distributed import Security

from optimizer.model import Verdict
from runners import fleet_worker
from runners.fleet_link import BROKEN
from runners.fleet_loop import Fleet
from runners.fleet_places import Errand, Patience
from runners.fleet_worker import QUIET, Card
from runners.interfaces import Job
from runners.line import awaited

__all__ = ["DaskDispatcher", "Patience"]

_PATIENT = Patience()


class DaskDispatcher:
    """Judges jobs on the GPUs that have joined a scheduler; a context manager.

    All GPUs used are of one kind: name, driver, toolkit and version of the first that is found.
    Others are left out, as are those that `unfit` has a reason for; `say` is told why. Raise
    `NoDeviceError` when none joins in time.
    """

    def __init__(
        self,
        address: str,
        *,
        security: Security | None = None,
        patience: Patience = _PATIENT,
        unfit: Callable[[Card], str] = lambda _: "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        fleet_worker.quiet()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)
        self._thread.start()
        self._fleet = self._call(self._made(address, security, patience, unfit, say))
        try:
            self.card = self._call(self._fleet.open())
        except BaseException:
            self.close()
            raise

    @property
    def width(self) -> int:
        """Return how many candidates are worked on at once: those GPUs' that are there now."""
        count = len(self._fleet.places)
        return count if count == 1 else max(1, 2 * count)

    @property
    def gpus(self) -> int:
        """Return how many GPUs are there now."""
        return len(self._fleet.places)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return one verdict per job, in order, each waited for when it is looked at."""
        tickets = [Errand(job, next(self._numbers)) for job in jobs]
        self._loop.call_soon_threadsafe(self._fleet.accept, tickets)
        return awaited(tickets)

    def close(self) -> None:
        """Leave the scheduler; workers stay."""
        if self._loop.is_closed():
            return
        with contextlib.suppress(TimeoutError, *BROKEN):
            self._call(self._fleet.close(), 10.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    async def _made(*arguments: Any) -> Fleet:
        return Fleet(*arguments)

    def _call(self, work: Any, seconds: float | None = None) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with dask.config.set(QUIET):
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(left, timeout=2.0) if left else _nothing())
        self._loop.close()


async def _nothing() -> None:
    """Do nothing."""
