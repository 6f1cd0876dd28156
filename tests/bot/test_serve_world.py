"""The whole service over the fake GitHub: real session, hub, workflow bench, bundle and commits.

Only the GPU is missing: what it would measure is made up (`synthetic`).
"""

from __future__ import annotations

import dataclasses
import io
import re
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bot import bundle, orders
from bot.interfaces import Change, Reviewed
from bot.patience import Patience
from bot.terms import Terms
from bot.workflow import WorkflowBench, run_name
from tests.bot import house
from tests.bot import world as worlds
from tests.bot.world import NAME, PATH, World
from tests.fake_github import state

# Once for a process, an hour or a repository; every five minutes; as long as the GPU job takes.
UNCOUNTED = re.compile(
    rf"(GET|POST) /app|GET /users/|GET /storage/|GET /repos/{NAME}(/installation)?$"
    rf"|GET /repos/{NAME}/actions/runs/\d+$"
)
MOST_CALLS = 15


class Runner:
    """A GPU runner: takes dispatched runs, and uploads a bundle of made-up measurements."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.finished = 0.0
        self.changes: dict[str, tuple[Change, ...]] = {}
        world.fake.hooks["run_name"] = lambda inputs: run_name(orders.from_json(inputs["order"]).id)
        world.fake.hooks["on_dispatch"] = self.take
        self.threads: list[threading.Thread] = []

    def know(self, pull: state.Pull) -> None:
        """Look at a change as a runner does in its checkout, which asks GitHub's API nothing."""
        forge = self.world.hub().forge(NAME, pull.number)
        self.changes[pull.head] = tuple(forge.changed_kernels(worlds.pull_of(pull)))

    def take(self, run: state.Run) -> None:
        thread = threading.Thread(target=self.carry_out, args=(run,))
        self.threads.append(thread)
        thread.start()

    def carry_out(self, run: state.Run) -> None:
        time.sleep(0.1)  # the dispatch is answered first
        order = orders.from_json(run.inputs["order"])
        changes = self.changes[order.head]
        results = [self.measured(worlds.found_for(change), order.head) for change in changes]
        folder = bundle.write(self.folder / order.id, order, results)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
        self.world.fake.finish(run, "success", packed.getvalue())
        self.finished = time.monotonic()

    @staticmethod
    def measured(result: Reviewed, head: str) -> Reviewed:
        found = result.trajectory
        assert found is not None
        environment = dataclasses.replace(found.environment, commit=head)
        return dataclasses.replace(
            result, trajectory=dataclasses.replace(found, environment=environment)
        )


@contextmanager
def served(
    world: World, folder: Path, patience: Patience | None = None
) -> Iterator[tuple[house.Bot, Runner]]:
    """Serve the App for the fake GitHub."""
    world.fake.commit(
        world.repository, "main", {".github/workflows/optiml-gpu.yml": "on: workflow_dispatch"}
    )
    world.base = world.repository.tip("main") or ""
    runner = Runner(world, folder / "gpu")
    with house.bot(
        folder,
        terms=Terms(poll_seconds=0.2, page="https://optiml.test"),
        hub=lambda _: world.hub(),
        bench=lambda _: WorkflowBench(world.session(), sleep=lambda _: None),
        patience=patience,
    ) as bot:
        yield bot, runner
        for thread in runner.threads:
            thread.join()


def opened(bot: house.Bot, pull: state.Pull) -> None:
    payload = house.pull_payload("opened", pull.head, pull.number)
    payload["repository"] = {"full_name": NAME}
    assert bot.send("pull_request", payload).status_code == 202


def said(bot: house.Bot, world: World, pull: state.Pull, login: str, words: str) -> None:
    comment = world.fake.say(pull, login, words)
    payload: dict[str, Any] = house.comment_payload(words, login, pull.number)
    payload["repository"] = {"full_name": NAME}
    payload["comment"]["id"] = comment.id
    assert bot.send("issue_comment", payload).status_code == 202


def test_from_a_pull_request_to_a_commit_of_exactly_what_was_measured(
    tmp_path: Path, world: World
) -> None:
    with served(world, tmp_path) as (bot, runner):
        pull = world.change()
        runner.know(pull)
        before = len(world.fake.calls)
        opened(bot, pull)
        (job,) = bot.settled(60)
        took = time.monotonic() - runner.finished
        assert job.state == "done", (job.title, job.detail)
        (comment,) = world.fake.comments(pull)
        assert "transpose" in comment.body
        (check,) = world.fake.state.checks.values()
        assert (check.status, check.conclusion) == ("completed", "success")
        assert comment.body
        # Seconds from the end of the GPU job to its comment and closed check: below one when idle.
        assert took < 20
        calls = [f"{one.method} {one.path}" for one in world.fake.calls[before:]]
        asked = [one for one in calls if not UNCOUNTED.match(one)]
        assert len(asked) <= MOST_CALLS, "\n".join(asked)
        (kept,) = bot.house.entrance.records.outcomes.of_job(job.id)
        said(bot, world, pull, "dev", f"/optiml apply {kept.ident}")
        bot.settled(60)
        trajectory = kept.reviewed.trajectory
        assert trajectory is not None
        tip = world.repository.tip("faster") or ""
        committed = world.repository.store.file(tip, PATH)
        assert committed == trajectory.best.kernel.source.encode()
        assert any("Applied" in one.body for one in world.fake.comments(pull))


def test_a_stranger_is_denied_and_a_fork_waits_for_approval(tmp_path: Path, world: World) -> None:
    with served(world, tmp_path) as (bot, runner):
        pull = worlds.forked(world)
        runner.know(pull)
        opened(bot, pull)
        bot.settled(60)
        assert not world.fake.state.runs
        said(bot, world, pull, "stranger", f"/optiml approve {pull.head}")
        bot.settled(60)
        assert "needs write access" in world.fake.comments(pull)[0].body
        said(bot, world, pull, "dev", f"/optiml approve {pull.head}")
        bot.settled(60)
        assert len(world.fake.state.runs) == 1
        assert all(one.status == "completed" for one in world.fake.state.checks.values())
