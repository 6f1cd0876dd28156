"""What GitHub may answer wrongly, at every call of a review and of a command.

    python -m tests.bot.github_faults          # the whole table, several minutes

Each row is one call, each column one answer, given once or until the review is over. In the end
GitHub works again, and every check run must be closed, with one comment and one commit at most.
Where Prism is installed, every other request and answer has to fit GitHub's document.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.patience import Patience
from tests.bot import house
from tests.bot.test_serve_world import opened, said, served
from tests.bot.world import DROP, NAME, World
from tests.fake_github import prism
from tests.fake_github.server import FakeGithub

FOREVER = 10_000
CALLS: Mapping[str, tuple[str, str]] = {
    "read the pull request": ("GET", r"/pulls/\d+$"),
    "look for the check run": ("GET", r"/check-runs$"),
    "open the check run": ("POST", r"/check-runs$"),
    "close the check run": ("PATCH", r"/check-runs/\d+$"),
    "list changed files": ("GET", r"/pulls/\d+/files$"),
    "read a file": ("GET", r"/git/blobs/"),
    "look for the run": ("GET", r"/actions/workflows/[^/]+/runs$"),
    "start the workflow": ("POST", r"/dispatches$"),
    "ask for the run": ("GET", r"/actions/runs/\d+$"),
    "list artifacts": ("GET", r"/artifacts$"),
    "fetch the artifact": ("GET", r"/artifacts/\d+/zip$"),
    "list comments": ("GET", r"/issues/\d+/comments$"),
    "write the comment": ("POST", r"/issues/\d+/comments$"),
    "suggest": ("POST", r"/pulls/\d+/reviews$"),
    "sign in": ("POST", r"/access_tokens$"),
    "ask who may": ("GET", r"/collaborators/"),
    "react": ("POST", r"/reactions$"),
    "find the installation": ("GET", r"/installation$"),
    "ask who we are": ("GET", r"/app$"),
    "ask for a user": ("GET", r"/users/"),
    "list the tree": ("GET", r"/git/trees/"),
    "read the repository": ("GET", r"/repos/[^/]+/[^/]+$"),
    "sweep deliveries": ("GET", r"/hook/deliveries$"),
    "take from the storage": ("GET", r"^/storage/"),
    "read a commit": ("GET", r"/git/commits/"),
    "write a blob": ("POST", r"/git/blobs$"),
    "write a tree": ("POST", r"/git/trees$"),
    "write a commit": ("POST", r"/git/commits$"),
    "move the branch": ("PATCH", r"/git/refs/"),
}
ANSWERS: Mapping[str, tuple[int, Mapping[str, str], bool]] = {
    "401": (401, {}, False),
    "403": (403, {}, False),
    "404": (404, {}, False),
    "409": (409, {}, False),
    "422": (422, {}, False),
    "429": (429, {"retry_after": "1"}, False),
    "502": (502, {}, False),
    "done, then 502": (502, {}, True),
    "no answer": (DROP, {}, False),
    "done, no answer": (DROP, {}, True),
}


def suffer(folder: Path, call: str, answer: str, times: int) -> tuple[str, list[str]]:
    """Return how the review ended, and what is wrong after GitHub works again."""
    method, path = CALLS[call]
    status, headers, after = ANSWERS[answer]
    world = World(folder / "github")
    try:
        with served(world, folder, Patience(0.3, 0.02)) as (bot, runner):
            pull = world.change()
            runner.know(pull)
            world.fake.fail(method, path, status, times=times, after=after, **headers)
            opened(bot, pull)
            waits = ""
            try:
                bot.settled(20)
            except AssertionError:  # by design: a run may be listed minutes after it was started
                waits = "waits on, then "
                world.fake.faults.clear()
            (job,) = bot.settled(60)
            end = f"{waits}{job.state.value}"
            if kept := bot.house.entrance.records.outcomes.of_job(job.id):
                said(bot, world, pull, "dev", f"/optiml apply {kept[0].ident}")
                bot.settled(60)
            world.fake.faults.clear()
            with contextlib.suppress(AssertionError):
                house.until(lambda: not _wrong(bot, world), 10)
            return end, _wrong(bot, world)
    finally:
        world.close()


def _wrong(bot: house.Bot, world: World) -> list[str]:
    found = []
    checks = list(world.fake.state.checks.values())
    if any(one.status != "completed" for one in checks):
        found.append("a check run is left in progress")
    if any(job.state in {"waiting", "running"} for job in bot.jobs()):
        found.append("a job is not over")
    if any(job.check_open for job in bot.jobs()):
        found.append("a check run is noted as open")
    orders = Counter(one.external_id for one in checks)
    if max(orders.values(), default=0) > 1:
        found.append("two check runs for one order")
    bodies = [
        one.body.partition("\n")[0]
        for one in world.fake.state.comments.values()
        if one.author.login == "optiml[bot]"
    ]
    if len(bodies) != len(set(bodies)):
        found.append("a comment is there twice")
    if len(world.fake.state.runs) > 1:
        found.append("the GPU job was started twice")
    tip, number = world.repository.tip("faster") or "", 0
    if tip:
        log = world.repository.store.git("rev-list", f"{world.base}..{tip}")
        titles = world.repository.store.git("log", "--format=%s", f"{world.base}..{tip}").split(
            b"\n"
        )
        number = len(log.split())
        if number - len({one for one in titles if one}) > 0:
            found.append("a commit is there twice")
    return found


@contextlib.contextmanager
def validated() -> Iterator[prism.Validator | None]:
    """Put Prism before the fakes, where it is installed."""
    if prism.missing():
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        found = FakeGithub.validator = prism.Validator(Path(name))
        try:
            yield found
        finally:
            FakeGithub.validator = None
            found.close()


def main() -> int:
    with validated() as validator:
        return measure(validator)


def measure(validator: prism.Validator | None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--call", default="", help="only calls whose name holds this")
    parser.add_argument("--from", dest="first", default="", help="begin with this call")
    options = parser.parse_args()
    calls = list(CALLS)
    calls = calls[calls.index(options.first) if options.first else 0 :]
    bad = 0
    table: dict[str, dict[str, str]] = {}
    for call in calls:
        if options.call not in call:
            continue
        for answer in ANSWERS:
            for times in (1, FOREVER):
                began = time.monotonic()
                with (
                    tempfile.TemporaryDirectory() as name,
                    contextlib.redirect_stdout(io.StringIO()),
                ):
                    end, wrong = suffer(Path(name), call, answer, times)
                if validator is not None:
                    wrong += validator.violations()
                bad += bool(wrong)
                column = answer if times == 1 else f"{answer} always"
                table.setdefault(call, {})[column] = "; ".join(wrong) or end
                words = f"{call} · {column}: {end} {wrong or ''} {time.monotonic() - began:.1f} s"
                print(words, flush=True)  # noqa: T201
    print(json.dumps(table, indent=1))  # noqa: T201
    print(f"{bad} wrong of {sum(map(len, table.values()))}; {NAME}")  # noqa: T201
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
