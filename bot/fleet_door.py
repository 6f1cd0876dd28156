"""`optiml worker --scheduler`, `optiml scheduler`, and a run's GPUs behind a scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import datetime as dt
import importlib
import importlib.metadata
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.loopback import is_loopback
from bot.settings import Settings
from bot.wiring import Source, Workshop, chosen, present
from optimizer.errors import ConfigError, NoDeviceError
from optimizer.model import Environment
from runners.dispatch import LocalDispatcher
from runners.health import NvmlWatch

if TYPE_CHECKING:
    from distributed import Security

    from runners.fleet import Patience
    from runners.fleet_worker import Bench, Card

REMEDY = "pip install 'optiml-bot[fleet]'"
_PR_SET_PDEATHSIG = 1
LONGEST_PAUSE = 60.0


def source_of(
    settings: Settings,
    say: Callable[[str], None],
    stack: ExitStack,
    patience: Patience | None = None,
) -> Source:
    """Return verdicts from the GPUs behind the settings' scheduler, until the stack is closed."""
    fleet = _extra("runners.fleet")
    own = importlib.metadata.version("optiml-bot")
    device = settings.device
    name = "" if device == "all" or device.startswith("cuda:") else device

    def unfit(card: Card) -> str:
        if card.optiml != own and not card.recorded:
            return f"{card.host} has optiml {card.optiml}, this is {own}"
        wanted = name.lower() in card.gpu.lower()
        return "" if wanted else f"{card.host} has a {card.gpu}, asked for was {name}"

    dispatcher = fleet.DaskDispatcher(
        settings.scheduler,
        security=security_of(settings, settings.scheduler),
        patience=patience or fleet.Patience(),
        unfit=unfit,
        say=say,
    )
    stack.callback(dispatcher.close)
    card = dispatcher.card
    environment = Environment(
        gpu=card.gpu,
        driver=card.driver,
        toolkit=card.toolkit,
        host=card.host,
        optiml=own,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        peaks=card.peaks,
        facts=card.facts,
        recorded=card.recorded,
    )
    return Source(
        dispatcher, environment, card.profile, lambda: int(dispatcher.width), dispatcher.gpus
    )


def security_of(settings: Settings, address: str) -> Security | None:
    """Return the keys for a scheduler's address; None for a connection in the clear.

    Whoever can connect to a scheduler or worker of dask.distributed can run code there. So an
    address other than a loopback one needs TLS, unless the settings say that the network is closed.
    Raise `ConfigError` for what does not fit.
    """
    parts = urlsplit(address)
    if parts.scheme not in {"tcp", "tls"} or not parts.hostname:
        raise ConfigError(f"{address!r} is no scheduler's address", "write tls://HOST:8786")
    files = (settings.tls_ca, settings.tls_cert, settings.tls_key)
    if parts.scheme == "tcp":
        if settings.tls == "off" or is_loopback(parts.hostname):
            return None
        raise ConfigError(
            f"{address} is another host and the connection is not encrypted: whoever reaches a "
            "scheduler can run code on all its workers",
            "use tls:// with OPTIML_TLS_CA, OPTIML_TLS_CERT and OPTIML_TLS_KEY, or, in a network "
            "that nobody else is in, OPTIML_TLS=off",
        )
    missing = [file for file in files if not file or not Path(file).is_file()]
    if missing:
        raise ConfigError(
            f"{address} needs three files, of which {missing[0] or 'one'!r} is not there",
            "set OPTIML_TLS_CA, OPTIML_TLS_CERT and OPTIML_TLS_KEY; docs/scaling.md makes them",
        )
    _extra("runners.fleet")
    from distributed import Security

    ca, cert, key = files
    return Security(  # type: ignore[no-untyped-call]
        require_encryption=True, tls_ca_file=ca,
        tls_client_cert=cert, tls_client_key=key, tls_worker_cert=cert, tls_worker_key=key,
        tls_scheduler_cert=cert, tls_scheduler_key=key,
    )  # fmt: skip


def work(settings: Settings, device: str, replay: Path | None, say: Callable[[str], None]) -> None:
    """Join the settings' scheduler with the GPUs named, one process each, until interrupted."""
    security = security_of(settings, settings.scheduler)
    if replay is None:
        gpus = chosen(present(), device)
        if len(gpus) > 1:
            supervise([f"cuda:{gpu.index}" for gpu in gpus], settings.scheduler, say)
            return
    fleet_worker = _extra("runners.fleet_worker")
    host = "127.0.0.1" if is_loopback(str(urlsplit(settings.scheduler).hostname)) else None
    with benched(settings, device, replay, say) as bench:
        serving = fleet_worker.serve(
            settings.scheduler, bench, security=security, host=host, say=say
        )
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            asyncio.run(_until_told(serving))


@contextlib.contextmanager
def benched(
    settings: Settings, device: str, replay: Path | None, say: Callable[[str], None]
) -> Iterator[Bench]:
    """Yield one GPU's bench, or one that answers from a recording."""
    fleet_worker = _extra("runners.fleet_worker")
    watch: NvmlWatch | None = None
    local = replace(settings, scheduler="")
    if replay is None:
        gpu = chosen(present(), device)[0]
        local, watch = replace(local, device=f"cuda:{gpu.index}"), NvmlWatch(gpu.uuid)
    with Workshop(local, replay=replay, say=say) as workshop:
        seen = workshop.source.environment
        card = fleet_worker.Card(
            seen.gpu, seen.driver, seen.toolkit, seen.optiml, platform.node(),
            workshop.source.profile, seen.peaks, seen.facts, seen.recorded,
        )  # fmt: skip
        bench: Bench = fleet_worker.Bench(workshop.dispatcher, card, watch)
        if isinstance(workshop.dispatcher, LocalDispatcher):
            workshop.dispatcher.elsewhere = bench.elsewhere
        yield bench


async def _until_told(serving: object) -> None:
    """Serve until SIGTERM, as a batch system or Kubernetes sends it."""
    task = asyncio.ensure_future(serving)  # type: ignore[call-overload]
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task


def supervise(
    devices: Sequence[str],
    scheduler: str,
    say: Callable[[str], None],
    command: Sequence[str] = (sys.executable, "-I", "-m", "bot"),
) -> None:
    """Run one worker process a GPU, and another in the place of any that ends."""
    children: dict[str, subprocess.Popen[bytes]] = {}
    tries: dict[str, int] = {}
    due = dict.fromkeys(devices, 0.0)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        while due or children:
            for device in [one for one, at in due.items() if at <= time.monotonic()]:
                del due[device]
                arguments = ["worker", "--scheduler", scheduler, "--device", device]
                children[device] = subprocess.Popen([*command, *arguments, "--with-parent"])
            for device, child in list(children.items()):
                code = child.poll()
                if code is None:
                    continue
                del children[device]
                if code in {ConfigError.exit_code, NoDeviceError.exit_code}:
                    say(f"the worker of {device} ended with status {code} and is not started again")
                    continue
                tries[device] = tries.get(device, 0) + 1
                due[device] = time.monotonic() + min(LONGEST_PAUSE, 2.0 ** tries[device])
                say(f"the worker of {device} ended with status {code}; another one is started")
            time.sleep(0.2)
    except KeyboardInterrupt:
        pass
    finally:
        for child in children.values():
            child.terminate()
        for child in children.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(15)
            child.kill()
        signal.signal(signal.SIGTERM, previous)


def with_parent() -> None:
    """End this process when the one that started it does, however that ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() == 1:
            raise KeyboardInterrupt


def schedule(settings: Settings, host: str, port: int, say: Callable[[str], None]) -> None:
    """Run a scheduler until interrupted: on loopback in the clear, elsewhere with TLS."""
    fleet_worker = _extra("runners.fleet_worker")
    scheme = "tcp" if is_loopback(host) or settings.tls == "off" else "tls"
    security = security_of(settings, f"{scheme}://{host}:{port}")
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_until_told(fleet_worker.schedule(host, port, security=security, say=say)))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _extra(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a module
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(f"dask.distributed is not installed: {error}", REMEDY) from error
