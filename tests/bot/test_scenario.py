"""The whole way without a GPU: a pull request, a webhook, a dispatched run, a comment, commits.

Everything but three things is what runs in production: GitHub is the stateful fake (with a real git
repository in it), the GPU runner is a child process on this machine, and its verdicts come from a
recording that was made on a real GPU.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bot import bundle, orders
from bot.app import create_app
from bot.github import GithubHub
from bot.github_app import App
from bot.github_session import GithubSession
from bot.jobs import Pace
from bot.patience import Patience
from bot.serve import House, opened
from bot.terms import Terms
from bot.workflow import WorkflowBench, run_name
from tests.fake_github import server
from tests.fake_github.clicks import commit_suggestions
from tests.fake_github.state import Pull, Run

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "histogram"
FILE = f"{KERNEL}.cu"
EXAMPLE = ROOT / "examples" / KERNEL
NAME = "octo/sums"
SECRET = b"0123456789abcdef0123456789abcdef"
MOST_CALLS = 15  # for one review, of however many polls of its run one
HEAD_SOURCE = (EXAMPLE / FILE).read_text()
# The pull request touches every line, so that whatever is found can be suggested.
BASE_SOURCE = HEAD_SOURCE.replace("\n", " \n")


class Scenario:
    """The fake GitHub, the app over it, and a runner that waits for dispatched runs."""

    def __init__(self, folder: Path, fake: server.FakeGithub, client: Any) -> None:
        self.folder, self.fake, self.client = folder, fake, client
        self.threads: list[threading.Thread] = []
        self.bundles: dict[int, bytes] = {}
        self.log: list[str] = []
        self.began = time.perf_counter()
        fake.hooks["on_dispatch"] = self.dispatched
        fake.hooks["run_name"] = lambda inputs: run_name(json.loads(inputs["order"])["id"]) + " #7"

    def tell(self, words: str) -> None:
        self.log.append(f"{time.perf_counter() - self.began:6.2f} s  {words}")

    def repository(self) -> Pull:
        """Make a repository whose pull request rewrites the file."""
        workflow = (ROOT / "examples" / "workflows" / "optiml-gpu.yml").read_text()
        self.home = self.fake.repository(NAME, maintainer="write", visitor="read")
        self.fake.commit(
            self.home,
            "main",
            {
                FILE: BASE_SOURCE,
                ".optiml.yml": (EXAMPLE / ".optiml.yml").read_text(),
                "ref.py": (EXAMPLE / "ref.py").read_text(),
                ".github/workflows/optiml-gpu.yml": workflow,
            },
        )
        tip = self.home.tip("main")
        assert tip is not None
        self.fake.commit(self.home, "tree", {FILE: HEAD_SOURCE}, start=tip)
        self.tell(f"pull request opened, head {self.home.tip('tree')}")
        return self.fake.pull(self.home, "tree")

    def send(self, event: str, payload: dict[str, Any]) -> None:
        """Deliver a webhook as GitHub does: signed, with an id of its own."""
        body = json.dumps(payload).encode()
        answer = self.client.post(
            "/webhook",
            content=body,
            headers={
                "content-type": "application/json",
                "x-github-event": event,
                "x-github-delivery": str(uuid.uuid4()),
                "x-hub-signature-256": "sha256="
                + hmac.new(SECRET, body, hashlib.sha256).hexdigest(),
            },
        )
        self.tell(f"webhook {event} → {answer.status_code} {answer.json()['delivery']}")
        assert answer.status_code == 202

    def opened(self, one: Pull) -> None:
        self.send(
            "pull_request",
            {
                "action": "opened",
                "number": one.number,
                "pull_request": {"number": one.number, "head": {"sha": one.head}},
                **self.where(one.author.login),
            },
        )

    def comment(self, one: Pull, login: str, text: str) -> int:
        written = self.fake.say(one, login, text)
        user = {"login": login, "id": written.author.id, "type": "User"}
        self.send(
            "issue_comment",
            {
                "action": "created",
                "issue": {"number": one.number, "pull_request": {"url": "x"}},
                "comment": {"id": written.id, "user": user, "body": text},
                **self.where(login),
            },
        )
        return written.id

    def where(self, login: str) -> dict[str, Any]:
        return {
            "repository": {"full_name": NAME},
            "installation": {"id": self.home.installation},
            "sender": {"login": login, "id": self.fake.state.user(login).id},
        }

    # -- the GPU plane -----------------------------------------------------------------------------

    def dispatched(self, run: Run) -> None:
        self.tell(f"workflow {run.workflow} dispatched as run {run.id}: {run.title}")
        thread = threading.Thread(target=self.work, args=(run,))
        self.threads.append(thread)
        thread.start()

    def work(self, run: Run) -> None:
        """Do what the workflow says: check out the head without a token, run the Action, upload."""
        order = orders.from_json(run.inputs["order"])
        place = self.folder / f"run{run.id}"
        checkout = place / "checkout"
        run.status, run.started = "in_progress", self.fake.state.now()
        place.mkdir()
        environment = {
            "PATH": os.environ["PATH"],  # noqa: TID251 - git and the compiler have to be found
            "HOME": str(place), "GIT_CONFIG_GLOBAL": os.devnull, "OPTIML_MEMORY": "off",
            "INPUT_MODE": "optimize", "INPUT_ORDER": run.inputs["order"],
            "INPUT_OUT": str(place / "out"), "INPUT_SANDBOX": "off",
            "INPUT_REPLAY": str(EXAMPLE / "recording.jsonl.gz"),
            "GITHUB_REPOSITORY": NAME, "GITHUB_WORKSPACE": str(checkout),
            "GITHUB_STEP_SUMMARY": str(place / "summary.md"), "GITHUB_RUN_ID": str(run.id),
            "RUNNER_TEMP": str(place),
        }  # fmt: skip
        store = str(self.home.store.folder)
        for words in (
            ["git", "clone", "-q", "--no-checkout", store, str(checkout)],
            ["git", "-C", str(checkout), "checkout", "-q", "--detach", order.head],
            [sys.executable, "-I", "-m", "bot", "action"],
        ):
            done = subprocess.run(
                words, cwd=place, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                self.tell(f"run {run.id} failed: {done.stderr[-2000:]}")
                self.fake.finish(run, "failure")
                return
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((place / "out" / "bundle").iterdir()):
                archive.write(file, file.name)
        self.bundles[run.id] = buffer.getvalue()
        self.tell(f"run {run.id} over, artifact of {len(buffer.getvalue()):,} bytes")
        self.fake.finish(run, "success", buffer.getvalue())
        self.done = time.perf_counter()

    def until(self, holds: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                pytest.fail(f"{what} did not happen:\n" + "\n".join(self.log))
            time.sleep(0.01)
        self.tell(what)


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[Scenario]:
    with contextlib.ExitStack() as stack:
        fake = stack.enter_context(server.FakeGithub(tmp_path / "github"))
        session = stack.enter_context(GithubSession(fake.public, app=App(fake.app_id, server.KEY)))
        house: House = opened(
            f"sqlite:///{tmp_path / 'optiml.db'}",
            [SECRET],
            GithubHub(session),
            WorkflowBench(session),
            terms=Terms(policy="rules", poll_seconds=0.2, page="https://optiml.example"),
            pace=Pace(look=0.02, beat=0.5, lease=5.0, sweep=30.0),
            patience=Patience(20.0, 0.1),
            app_id=int(fake.app_id),
        )
        stack.callback(house.close)
        client = stack.enter_context(TestClient(create_app(house.entrance)))
        found = Scenario(tmp_path, fake, client)
        yield found
        for thread in found.threads:
            thread.join()


@pytest.mark.timeout(240)
def test_from_a_pull_request_to_the_commits_of_the_measured_file(scenario: Scenario) -> None:
    fake, one = scenario.fake, scenario.repository()
    head = one.head
    scenario.opened(one)
    scenario.until(lambda: len(fake.state.checks) == 1, "check run opened")
    (check,) = fake.state.checks.values()
    assert (check.status, check.head) == ("in_progress", head)
    scenario.until(
        lambda: bool(fake.comments(one)) or check.status == "completed", "comment posted"
    )
    assert fake.comments(one), f"{check.conclusion} without a comment: {check.output}"
    posted = time.perf_counter() - scenario.done
    scenario.until(lambda: fake.count("PATCH", "/check-runs/") > 0, "check run completed")
    assert check.status == "completed"
    scenario.tell(f"result → comment took {posted:.2f} s")
    calls = len(fake.calls)

    # What was measured, as the GPU plane wrote it down.
    (run,) = fake.state.runs.values()
    order = orders.from_json(run.inputs["order"])
    (result,) = bundle.read(scenario.bundles[run.id], order)
    found = result.trajectory
    assert found is not None
    assert found.winner

    (written,) = fake.comments(one)
    assert f"`{KERNEL}`" in written.body
    assert "recorded on NVIDIA H200" in written.body
    assert "```mermaid" in written.body
    assert check.conclusion == "success"
    ident = re.search(r"/optiml apply ([0-9a-f]{8})", written.body)
    assert ident
    assert {one["identifier"].partition(":")[2] for one in check.actions} == {ident[1]}
    suggested = list(fake.state.review_comments.values())
    assert suggested
    for entry in suggested:
        scenario.tell(f"suggestion on {entry.path}:{entry.start}-{entry.line}")

    # Clicking all suggestions gives the measured file, on a copy of the branch.
    fake.commit(scenario.home, "clicked", {}, start=head)
    branch, one.head_ref = one.head_ref, "clicked"
    clicked = commit_suggestions(fake, one)
    one.head_ref = branch
    measured = found.best.kernel.source.encode()
    assert scenario.home.store.file(clicked, FILE) == measured

    # Somebody who may only read is told why not; somebody who may write gets the commits.
    scenario.comment(one, "visitor", f"/optiml apply {ident[1]}")
    scenario.until(lambda: len(fake.comments(one)) == 2, "denial answered")
    assert "write" in fake.comments(one)[1].body
    assert one.head == head
    asked = scenario.comment(one, "maintainer", f"/optiml apply {ident[1]}")
    scenario.until(lambda: one.head != head, "commits pushed")
    scenario.until(lambda: len(fake.comments(one)) == 3, "answer written")
    assert fake.state.comments[asked].reactions
    assert scenario.home.store.file(one.head, FILE) == measured
    log = scenario.home.store.git("log", "--format=%B%x00", f"{head}..{one.head}").decode()
    messages = [text.strip() for text in log.split("\0") if text.strip()][::-1]
    for text in messages:
        scenario.tell(f"commit: {text.partition(chr(10))[0]}")
        assert f"OptiML-Edit: {ident[1]}" in text
        assert "Co-authored-by: maintainer" in text
    # Signing in, our own name and the default branch are asked for once, not for each review.
    once = re.compile(
        rf"(GET (/app|/users/.*|/app/hook/deliveries|/repos/{NAME}|.*/installation|/storage/.*)"
        r"|POST .*/access_tokens)\Z"
    )
    asked_for = [f"{call.method} {call.path}" for call in fake.calls[:calls]]
    own = [text for text in asked_for if not once.match(text)]
    polls = own.count(f"GET /repos/{NAME}/actions/runs/{run.id}")
    scenario.tell(f"{len(own)} GitHub calls for the review, {polls} of them polls:")
    for text in dict.fromkeys(own):
        scenario.tell(f"  {own.count(text)} × {text}")
    print("\n".join(scenario.log))  # noqa: T201 - pytest -s shows the transcript
    assert len(own) - polls + 1 <= MOST_CALLS
