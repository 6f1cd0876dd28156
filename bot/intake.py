"""Taking deliveries in: bodies within bounds, and many written in one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable

import structlog
from starlette.requests import ClientDisconnect, Request

from bot.events import MAX_BODY_BYTES
from bot.job import Intake, Receipt
from bot.store import Store

_LOG = structlog.get_logger("optiml")
_BATCH = 64  # deliveries written in one transaction
_WAITING = 2000  # deliveries that may wait for the disk; GitHub is told to come again beyond that
_READING = 64 << 20  # bytes of bodies that are held at the same time
_BODY_SECONDS = 30.0
_MANY, _MANY_WITHIN = 100, 1.0  # deliveries, seconds: GitHub is answered before work is begun


class Full(Exception):  # noqa: N818 - a state, said as one
    """More is waiting to be written than can be soon."""


class Intakes:
    """Writes deliveries down, several in one transaction, in the order in which they came."""

    def __init__(self, store: Store, wake: Callable[[], None]) -> None:
        self._store, self._wake = store, wake
        self._waiting: asyncio.Queue[tuple[Intake, asyncio.Future[Receipt]]]
        self._writer: asyncio.Task[None] | None = None
        self._accepted: deque[float] = deque(maxlen=_MANY)

    async def open(self) -> None:
        """Begin to write."""
        self._waiting = asyncio.Queue(_WAITING)
        self._writer = asyncio.create_task(self._write())

    async def close(self) -> None:
        """Write what waits, then stop."""
        await self._waiting.join()
        if self._writer is not None:
            self._writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writer

    @property
    def is_pressed(self) -> bool:
        """Tell whether so much comes in just now that everything else had better wait."""
        full = len(self._accepted) == _MANY
        return full and time.monotonic() - self._accepted[0] < _MANY_WITHIN

    async def put(self, intake: Intake) -> Receipt:
        """Return once a delivery is on the disk. Raise `Full`, or a database's error."""
        done: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((intake, done))
        except asyncio.QueueFull as error:
            raise Full from error
        return await done

    async def _write(self) -> None:
        while True:
            batch = [await self._waiting.get()]
            while len(batch) < _BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            self._accepted.extend([time.monotonic()] * len(batch))
            try:
                accept = self._store.accept
                receipts = await asyncio.to_thread(accept, [one for one, _ in batch])
            except Exception as error:  # noqa: BLE001 - each of those who wait is told
                _LOG.exception("deliveries were not written")
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
            else:
                for (_, done), receipt in zip(batch, receipts, strict=True):
                    if not done.done():
                        done.set_result(receipt)
                if any(one in {Receipt.NEW, Receipt.AGAIN} for one in receipts):
                    self._wake()
            finally:
                for _ in batch:
                    self._waiting.task_done()


class Refused(Exception):  # noqa: N818 - carries the answer
    """A delivery that is not taken in, with the status and the words of the answer."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Bodies:
    """Reads bodies whose sizes, all together, stay within what fits into memory."""

    def __init__(self) -> None:
        self._held = 0

    @contextlib.asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield a body. Raise `Refused` for one too large, too slow or broken off."""
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:12]) > MAX_BODY_BYTES:
            raise Refused(413, "a delivery has at most 25 MiB")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                async for part in request.stream():
                    size += len(part)
                    self._held += len(part)
                    if size > MAX_BODY_BYTES:
                        raise Refused(413, "a delivery has at most 25 MiB")
                    if self._held > _READING:
                        raise Refused(503, "too much is being read; come again")
                    parts.append(part)
            yield b"".join(parts)
        except TimeoutError as error:
            raise Refused(408, "the body came too slowly") from error
        except ClientDisconnect as error:
            raise Refused(400, "the body broke off") from error
        finally:
            self._held -= size
