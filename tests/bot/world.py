"""A repository on the fake GitHub with a pull request that changes the kernel of `synthetic`."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot.github import GithubHub
from bot.github_app import App
from bot.github_session import GithubSession, Patience
from bot.interfaces import Change, Pull, Report, Reviewed
from optimizer.model import Step, Trajectory
from tests.bot import synthetic
from tests.fake_github import server, state
from tests.fake_github.server import DROP

__all__ = ["DROP", "NAME", "World", "pull_of", "report_for"]
NAME = "octo/kernels"
PATH = "kernels/transpose.cu"
BEFORE = synthetic.NAIVE.replace("int x", "unsigned x").replace("int y", "unsigned y")
PROJECT = """\
version: 1
accept: {min_speedup: 1.03}
kernels:
  - name: transpose
    file: kernels/transpose.cu
    entry: transpose_host
    args:
      - {name: in, type: "const float*", shape: "n*n"}
      - {name: out, type: "float*", shape: "n*n", role: output}
      - {name: n, type: int, value: "n"}
    cases:
      - {n: 4096, weight: 2}
      - {n: 1000}
"""
PADDING = "// far from the kernel\n" * 30
HOST = f"""
{PADDING}
void transpose_host(const float* in, float* out, int n) {{
    transpose<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(in, out, n);
}}
"""


class Slept:
    """A sleep that takes no time and keeps how long it should have taken."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.times.append(seconds)


class World:
    """The fake, one repository in it, and a hub that talks to it as the App."""

    def __init__(self, folder: Path, *, url: str = "") -> None:
        self.fake = server.FakeGithub(folder)
        self.fake.__enter__()
        self.slept = Slept()
        self._sessions: list[GithubSession] = []
        self.url = url
        self.repository = self.fake.repository(NAME, dev="write", owner="admin", reader="read")
        self.base = self.fake.commit(
            self.repository,
            "main",
            {PATH: BEFORE + HOST, ".optiml.yml": PROJECT, "README.md": "# kernels\n"},
            message="begin",
        )

    def close(self) -> None:
        for one in self._sessions:
            one.close()
        self.fake.__exit__()

    def session(self, **values: Any) -> GithubSession:
        patience = Patience(
            clock=self.fake.state.now, sleep=self.slept, jitter=lambda: 0.0, timeout=20.0
        )
        given: dict[str, Any] = {"patience": patience} | values
        if "token" not in given:
            given.setdefault("app", App(self.fake.app_id, server.KEY))
        self._sessions.append(GithubSession(self.url or self.fake.public, **given))
        return self._sessions[-1]

    def hub(self, **values: Any) -> GithubHub:
        return GithubHub(self.session(), sleep=self.slept, **values)

    def change(
        self, branch: str = "faster", files: dict[str, str | bytes | None] | None = None
    ) -> state.Pull:
        """Open a pull request that changes the kernel, or the files given."""
        self.fake.commit(
            self.repository,
            branch,
            files if files is not None else {PATH: synthetic.NAIVE + HOST},
            start=self.base,
        )
        return self.fake.pull(self.repository, branch)

    def deliver(self, number: int, guid: str, status: int, at: float) -> None:
        self.fake.state.deliveries.append(state.Delivery(number, guid, "pull_request", status, at))

    def run(self) -> state.Run:
        number = next(self.fake.state.numbers)
        found = state.Run(number, NAME, "optiml-gpu.yml", "main", {}, "x", self.fake.state.now())
        self.fake.state.runs[number] = found
        return found


def forked(world: World) -> state.Pull:
    """Open a pull request from a stranger's fork."""
    fork = world.fake.fork(world.repository, "stranger")
    world.fake.commit(fork, "mine", {PATH: synthetic.NAIVE + HOST}, start=world.base)
    return world.fake.pull(world.repository, "mine", source=fork, author="stranger")


@contextmanager
def dropped(answer: bytes) -> Iterator[str]:
    """Serve some bytes to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(5)

        def serve() -> None:
            with listening.accept()[0] as one:
                one.recv(65_536)
                one.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def found_for(change: Change, *, extra: int = 12, won: bool = True) -> Reviewed:
    """Return a result for a change as a bench would have it: the synthetic search on its text."""
    found = synthetic.trajectory(extra, won=won)
    assert change.workload is not None
    start = change.kernel.source.index(synthetic.NAIVE)
    rest = change.kernel.source[start + len(synthetic.NAIVE) :]
    head = change.kernel.source[:start]

    def moved(step: Step) -> Step:
        source = head + step.kernel.source + rest
        kernel = dataclasses.replace(change.kernel, source=source)
        edit = step.edit and dataclasses.replace(step.edit, source=source)
        return dataclasses.replace(step, kernel=kernel, edit=edit)

    found = dataclasses.replace(
        found, workload=change.workload, steps=tuple(moved(step) for step in found.steps)
    )
    return Reviewed(change, found)


def pull_of(one: state.Pull) -> Pull:
    return Pull(one.base, one.head, one.repository.name, one.number)


def report_for(hub: GithubHub, one: state.Pull, **values: Any) -> Report:
    """Return what a bench found for every changed kernel of a pull request."""
    changes = hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    return Report(None, (), tuple(found_for(change, **values) for change in changes))


def winner(report: Report) -> Trajectory:
    found = report.results[0].trajectory
    assert found is not None
    return found
