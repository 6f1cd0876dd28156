"""A bench that is this very host: for an App that runs on a machine with a GPU.

The head is cloned with the token, which then is gone: the review itself is a process of its own,
started isolated (`python -I`) with an environment made for it, that holds no token and outlives us.
All that is known of it is in its folder, so that a restarted App finds it again. One review at a
time uses the GPU; the others wait at a lock.
"""

from __future__ import annotations

import base64
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bot import bundle, gpu_review, orders, processes
from bot.interfaces import Reviewed
from bot.orders import BenchState, BundleError, Order, Progress
from bot.processes import Process
from bot.progress_file import last_progress
from optimizer.errors import ConfigError, RunnerError
from runners.removal import remove

COMMAND = (sys.executable, "-I", "-m", "bot", "action")
_FORMAT = 1
_JOB, _CHECKOUT, _OUT, _LOG, _CANCELLED, _OVERDUE = (
    "job.json", "checkout", "out", "log.txt", "cancelled", "overdue",
)  # fmt: skip
_CLONING_SECONDS = 900
# What a review may see of our environment: where programs and the GPU are, how text is written.
_PASSED = (
    "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH",
    "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
)  # fmt: skip
# A clone runs nothing, follows no link, and speaks to nobody but the forge.
_GIT = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    "core.attributesFile": os.devnull,
    "init.templateDir": "",
    "submodule.recurse": "false",
    "transfer.fsckObjects": "true",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
}


def _no_token(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """Where and how reviews run on this host.

    `folder` is kept over restarts. `server` is where repositories are cloned from. `settings` are
    `OPTIML_*` variables for the reviews; `inputs` are inputs as `action.yml` has them (`replay`).
    A review older than its minutes is ended; a finished one is forgotten after `keep_days`.
    """

    folder: Path
    server: str = "https://github.com"
    device: str = "cuda:0"
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    run_minutes: float = 360.0
    keep_days: float = 7.0


@dataclass(frozen=True, slots=True)
class _Job:
    """What is remembered of a review: its order, its process, when it was started."""

    format: int
    order: str
    process: Process
    at: float

    __pydantic_config__ = ConfigDict(extra="forbid")


_JOB_JSON: TypeAdapter[_Job] = TypeAdapter(_Job)


class LocalBench:
    """Carries out orders on this host. `token` returns a token that may read a repository."""

    def __init__(
        self,
        place: LocalPlace,
        surroundings: Mapping[str, str],
        token: Callable[[str], str] = _no_token,
        clock: Callable[[], float] = time.time,
        command: Sequence[str] = COMMAND,
    ) -> None:
        """`surroundings` is our own environment, of which a review sees a few variables."""
        self._place, self._token, self._clock = place, token, clock
        self._command = tuple(command)
        self._passed = {name: surroundings[name] for name in _PASSED if name in surroundings}
        self._children: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, order: Order, *, is_new: bool = False) -> str:
        """Clone the head and start its review, unless that was done before.

        Raise `RunnerError` when the head cannot be cloned or no process can be started.
        """
        del is_new  # looking costs nothing here
        self._forget_old()
        folder = self._place.folder / order.id
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _alone(folder):
                if self._job(folder) is None:
                    self._clone(order, folder)
                    self._launch(order, folder)
        except OSError as error:
            raise RunnerError(f"cannot start a review in {folder}: {error.strerror}") from error
        return order.id

    def poll(self, handle: str) -> Progress:
        """Return how far the review is, ending one that takes too long."""
        folder = self._folder(handle)
        job = self._job(folder)
        if (folder / _CANCELLED).exists():
            return Progress(BenchState.CANCELLED)
        if job is None:
            return Progress(BenchState.FAILED, detail="the review was never started")
        seen = last_progress(folder / _OUT / gpu_review.PROGRESS)
        if self._runs(job):
            if self._clock() - job.at <= self._place.run_minutes * 60:
                return seen if seen and not seen.state.over else Progress(BenchState.RUNNING)
            (folder / _OVERDUE).touch()
            self._end(job)
        if (folder / _OVERDUE).exists():
            return Progress(BenchState.FAILED, detail=self._overdue())
        if seen is not None and seen.state.over:
            return seen
        return Progress(BenchState.FAILED, detail="the review ended without results")

    def fetch(self, handle: str, order: Order) -> tuple[Reviewed, ...]:
        """Return the results of a review that is over."""
        if handle != order.id:
            raise BundleError("this is the handle of another order")
        folder = self._folder(handle)
        job = self._job(folder)
        if job is not None and self._runs(job):
            raise RunnerError("the review is not over", "ask again later")
        if (folder / _OVERDUE).exists():
            raise RunnerError(self._overdue())
        if (folder / _CANCELLED).exists():
            raise RunnerError("the review was cancelled")
        answer = folder / _OUT / gpu_review.BUNDLE
        if not (answer / bundle.MANIFEST).exists():
            raise RunnerError("the review ended without results", f"see {folder / _LOG}")
        remove(folder / _CHECKOUT)
        return bundle.read(answer, order)

    def cancel(self, handle: str) -> None:
        """End the review and everything it started."""
        folder = self._folder(handle)
        job = self._job(folder)
        if job is None or not self._runs(job):
            return
        (folder / _CANCELLED).touch()
        self._end(job)

    # -- processes ---------------------------------------------------------------------------------

    def _launch(self, order: Order, folder: Path) -> None:
        given = {
            "mode": "optimize",
            "order": orders.to_json(order),
            "out": str(folder / _OUT),
            "device": self._place.device,
            "lock": str(self._place.folder / f"{self._place.device.replace(':', '-')}.lock"),
            **self._place.inputs,
        }
        environment = {
            **self._passed,
            "HOME": str(folder),
            "OPTIML_CACHE": str(self._place.folder / "cache"),
            "OPTIML_MEMORY": "off",  # what strangers' kernels taught is not for others
            **self._place.settings,
            **{f"INPUT_{name.upper()}": value for name, value in given.items()},
            "GITHUB_REPOSITORY": order.repository,
            "GITHUB_WORKSPACE": str(folder / _CHECKOUT),
            "RUNNER_TEMP": str(folder),
        }
        with (folder / _LOG).open("ab") as log:
            child = subprocess.Popen(
                self._command,
                cwd=folder / _CHECKOUT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children[child.pid] = child
        process = processes.of(child.pid)
        if process is None:
            child.kill()
            raise RunnerError("the review's process cannot be looked at", "is /proc mounted?")
        job = _Job(_FORMAT, order.id, process, self._clock())
        beside = folder / f".{_JOB}"
        beside.write_bytes(_JOB_JSON.dump_json(job))
        beside.replace(folder / _JOB)

    def _runs(self, job: _Job) -> bool:
        for child in list(self._children.values()):
            if child.poll() is not None:  # collects it
                self._children.pop(child.pid, None)
        return processes.runs(job.process)

    def _end(self, job: _Job) -> None:
        processes.end(job.process, lambda: self._runs(job))
        remove(self._place.folder / job.order / _CHECKOUT)

    def _overdue(self) -> str:
        return f"the review took longer than {self._place.run_minutes:g} minutes"

    # -- folders -----------------------------------------------------------------------------------

    def _folder(self, handle: str) -> Path:
        if len(handle) != 32 or not set(handle) <= set("0123456789abcdef"):
            raise ConfigError("this is no handle of a review on this host")
        return self._place.folder / handle

    @staticmethod
    def _job(folder: Path) -> _Job | None:
        try:
            found = _JOB_JSON.validate_json((folder / _JOB).read_bytes(), strict=True)
        except (FileNotFoundError, ValidationError):
            return None
        return found if found.format == _FORMAT else None

    def _forget_old(self) -> None:
        now = self._clock()
        for file in self._place.folder.glob(f"*/{_JOB}"):
            job = self._job(file.parent)
            if job and now - job.at > self._place.keep_days * 86_400 and not self._runs(job):
                remove(file.parent)

    # -- the clone ---------------------------------------------------------------------------------

    def _clone(self, order: Order, folder: Path) -> None:
        checkout = folder / _CHECKOUT
        # An earlier start may have fallen over half way, even after it had started the review.
        processes.end_those_in(checkout.resolve())
        for left in (checkout, folder / _OUT):
            remove(left)
        checkout.mkdir()
        url = f"{self._place.server}/{order.repository}.git"
        token = self._token(order.repository)
        quiet = {**_GIT, "protocol.file.allow": "always" if url.startswith("file:") else "never"}
        secret = dict(quiet)
        if token:
            basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
            secret[f"http.{self._place.server}/.extraHeader"] = f"Authorization: Basic {basic}"
        for arguments, settings in (
            (["init", "--quiet"], quiet),
            # The review's own git commands are to see the files as this clone wrote them.
            (["config", "core.symlinks", "false"], quiet),
            (["fetch", "--quiet", "--no-tags", url, order.head, order.base], secret),
            (["checkout", "--quiet", "--detach", order.head], quiet),
        ):
            self._git(arguments, checkout, settings)

    def _git(self, arguments: list[str], checkout: Path, settings: Mapping[str, str]) -> None:
        environment = {
            "PATH": self._passed.get("PATH", os.defpath),
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (name, value) in enumerate(settings.items()):
            environment[f"GIT_CONFIG_KEY_{number}"] = name
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        try:
            subprocess.run(
                ["git", *arguments],
                cwd=checkout,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_CLONING_SECONDS,
                check=True,
            )
        except subprocess.TimeoutExpired as error:
            raise RunnerError(f"git {arguments[0]} took longer than 15 minutes") from error
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise RunnerError(
                f"git {arguments[0]} failed: {said[:300]}",
                "the head may be gone, or the token may not read the repository",
            ) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "start.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
