"""GitHub's official example payloads, signed by Octokit's signer, through the app."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.bot import house, octokit

# What each of our events leads to, by what GitHub's own examples hold.
_LISTENED = {
    "pull_request",
    "issue_comment",
    "check_run",
    "workflow_run",
    "merge_group",
    "installation",
    "installation_repositories",
    "ping",
}
SECRET = house.SECRET.decode()


@pytest.fixture(scope="module", autouse=True)
def packages() -> None:
    if why := octokit.missing():
        pytest.skip(why)


@pytest.fixture(scope="module")
def signed(packages: None) -> list[octokit.Example]:
    return octokit.signed(SECRET, list(octokit.examples()))


def post(bot: house.Bot, one: octokit.Example, guid: str, more: bytes = b"") -> Any:
    headers = {
        "content-type": "application/json",
        "x-github-event": one.event,
        "x-github-delivery": guid,
        "x-hub-signature-256": one.signature,
    }
    return bot.client.post("/webhook", content=one.body + more, headers=headers)


def test_every_official_payload_is_taken_and_none_fails(
    tmp_path: Path, signed: list[octokit.Example]
) -> None:
    assert len(signed) >= 329
    seen: Counter[str] = Counter()
    with house.bot(tmp_path) as bot:
        for number, one in enumerate(signed):
            answer = post(bot, one, f"octokit-{number:08d}")
            assert answer.status_code == 202, (one.event, answer.text)
            told = answer.json()
            seen[told["delivery"]] += 1
            if one.event not in _LISTENED:
                assert told["delivery"] == "ignored", one.event
            if one.event == "issue_comment":
                action = json.loads(one.body)["action"]
                assert told["delivery"] == "ignored", (action, told)  # none holds a command
        jobs = bot.settled(60)
        assert seen["new"] == len(jobs) > 0
        assert {job.state for job in jobs} <= {"done", "cancelled"}, [
            (job.kind, job.title, job.detail) for job in jobs if job.state == "failed"
        ]
        assert all(check["status"] == "completed" for check in bot.checks())


def test_an_official_payload_that_was_touched_is_refused(
    tmp_path: Path, signed: list[octokit.Example]
) -> None:
    with house.bot(tmp_path) as bot:
        one = next(found for found in signed if found.event == "pull_request")
        answer = post(bot, one, "octokit-touched", b" ")
        assert answer.status_code == 401
        assert not bot.jobs()


def test_a_forks_pull_request_waits_and_a_command_on_it_is_denied(tmp_path: Path) -> None:
    """The examples hold neither a fork nor a comment on a pull request, so they are made."""
    fork, command = octokit.signed(SECRET, octokit.synthesised())
    payload = json.loads(fork.body)
    asked = json.loads(command.body)
    head = payload["pull_request"]["head"]["sha"]
    with house.bot(tmp_path) as bot:
        for where, number in (
            (payload["repository"]["full_name"], payload["number"]),
            (asked["repository"]["full_name"], asked["issue"]["number"]),
        ):
            bot.world.set_pull(where, house.pull_state(head, number, fork=True))
        assert post(bot, fork, "octokit-fork").json()["delivery"] == "new"
        bot.settled()
        assert [one["title"] for one in bot.checks()] == ["Waiting for approval"]
        assert post(bot, command, "octokit-command").json()["delivery"] == "new"
        bot.settled()
        assert "needs triage access" in bot.replies()[-1]
        assert not bot.world.rows("SELECT * FROM orders")


def test_what_is_made_up_is_held_against_the_schemas() -> None:
    (_, fork), _ = octokit.synthesised()
    fork["pull_request"]["head"]["sha"] = 7
    with pytest.raises(jsonschema_rs.ValidationError):
        octokit.validate("pull_request", fork)
