"""The connection to a scheduler of dask.distributed, and what is sent along it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace

from distributed import Client, Security
from distributed.comm.core import CommClosedError

from optimizer.errors import NoDeviceError
from runners import wire
from runners.interfaces import Job
from runners.parcel import Parcel

# What a connection that is lost, or was never there, is met with.
BROKEN = (OSError, CommClosedError, TimeoutError, RuntimeError, ValueError)
_NOTHING: Mapping[str, Sequence[str]] = {}


async def connect(address: str, security: Security | None, deadline: float) -> Client:
    """Return a connected client. Raise `NoDeviceError` if none is had until the deadline."""
    pause = 0.1
    while True:
        try:
            client: Client = await Client(  # type: ignore[no-untyped-call]
                address, asynchronous=True, set_as_default=False, timeout=5.0,
                security=security, name="optiml",
            )  # fmt: skip
        except BROKEN as error:
            if time.monotonic() > deadline:
                raise NoDeviceError(
                    f"no scheduler answers at {address}: {error}",
                    "start `optiml scheduler`, or correct the address",
                ) from error
            await asyncio.sleep(pause)
            pause = min(5.0, 2 * pause)
        else:
            return client


async def disconnect(client: Client) -> None:
    """Leave the scheduler, whether it still answers or not."""
    # A task that outlives our own cancellation: one cancelled before its first step complains.
    closing = asyncio.ensure_future(client.close(timeout=0))  # type: ignore[no-untyped-call]
    closing.add_done_callback(lambda done: done.cancelled() or done.exception())
    with contextlib.suppress(*BROKEN, CancelledError):
        await asyncio.wait_for(asyncio.shield(closing), 4)


def question(
    number: str, nonce: str, job: Job, files: Parcel, told: Mapping[str, Sequence[str]] = _NOTHING
) -> str:
    """Return what a worker is asked, as JSON; the project's files are named by their digest.

    The job's root is where in them the project is. `told` names, by what `alike` gives, machine
    code that others have judged.
    """
    portable = replace(job, workload=replace(job.workload, root=files.root))
    data = {
        "id": number,
        "nonce": nonce,
        "project": files.digest,
        "job": wire.job_to_dict(portable),
        "told": told,
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def alike(job: Job, files: Parcel) -> str:
    """Identify all but the machine code that a verdict of a job follows from; a digest."""
    asked = wire.job_to_dict(replace(job, workload=replace(job.workload, root=".")))
    about = {name: part for name, part in asked.items() if name not in {"kernel", "device"}}
    text = json.dumps([about, str(job.kernel.launch), files.digest], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
