"""What stands behind a coding agent's tools: sessions, and machines taken only while needed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import projects
from bot.agent_session import AgentSession
from bot.settings import Settings
from bot.wiring import Source, Workshop
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Verdict, Workload
from optimizer.tools import Event
from runners.interfaces import Job


@dataclass(frozen=True, slots=True)
class Place:
    """What an agent may work on: files below `root` and these kernels; where verdicts come from."""

    root: Path
    kernels: Sequence[tuple[Kernel, Workload]]
    settings: Settings
    replay: Path | None = None
    command: str = ""


class Lease:
    """Machines on demand: a dispatcher that takes a GPU when asked and gives it back when idle."""

    def __init__(self, take: Callable[[], Workshop]) -> None:
        self._take = take
        self._lock = threading.Lock()
        self._workshop: Workshop | None = None
        self._used = 0.0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return verdicts, on machines taken now if need be."""
        with self._lock:
            try:
                # Looked at here: machines are not idle while a verdict is awaited.
                return list(self._held().dispatcher.dispatch(jobs))
            finally:
                self._used = time.monotonic()

    def source(self) -> Source:
        """Return these machines as a workshop takes them."""
        with self._lock:
            found = self._held().source
            self._used = time.monotonic()
        return Source(self, found.environment, found.profile, 1)  # one by one: no window

    def give_back(self, idle: float = 0.0) -> None:
        """Let the machines go if they were not used for that many seconds."""
        with self._lock:
            held = self._workshop
            if held is not None and time.monotonic() - self._used >= idle:
                self._workshop = None
                held.__exit__(None, None, None)

    def _held(self) -> Workshop:
        if self._workshop is None:
            self._workshop = self._take()
        return self._workshop


class Desk:
    """The sessions of one server, one a workload, and the machines behind them. Not for threads."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.stage = ""
        self._lease = Lease(self._taken)
        self._workshop: Workshop | None = None
        self._sessions: dict[str, AgentSession] = {}

    def session(self, name: str) -> AgentSession:
        """Return a workload's session, begun if need be. Raise `ConfigError` for an unknown one."""
        found = [pair for pair in self.place.kernels if pair[1].name == name]
        if not found:
            known = ", ".join(one.name for _, one in self.place.kernels)
            raise ConfigError(f"there is no workload {name!r}", f"there are: {known}")
        if name not in self._sessions:
            kernel, workload = found[0]
            workshop = self._outer()
            session = AgentSession(
                kernel, workload, workshop.tools(kernel, workload), workshop.budget,
                workshop.search_settings, workshop.environment,
                Path(self.place.settings.out) / workload.name,
            )  # fmt: skip
            session.on_event = self._tell
            self._sessions[name] = session
        return self._sessions[name]

    def file(self, name: str) -> Path:
        """Return a CUDA file below the root. Raise `ConfigError` for anything else."""
        root = self.place.root.resolve()
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            raise ConfigError(f"{name} is outside {root}", "name a file of the project")
        return projects.checked(path)

    def give_back(self, idle: float = 0.0) -> None:
        """Let idle machines go."""
        self._lease.give_back(idle)

    def _outer(self) -> Workshop:
        if self._workshop is None:
            self._workshop = Workshop(
                self.place.settings, source=self._lease.source(), command=self.place.command
            )
        return self._workshop

    def _taken(self) -> Workshop:
        self.stage = "taking the machines"
        return Workshop(
            self.place.settings, replay=self.place.replay, command=self.place.command,
            say=lambda text: print(text, file=sys.stderr),  # noqa: T201 - stdout is the protocol's
        )  # fmt: skip

    def _tell(self, event: Event) -> None:
        self.stage = event.stage.value
