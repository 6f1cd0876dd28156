"""GitHub's official example payloads, signed by Octokit's signer, through the app."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

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


@pytest.fixture(scope="module")
def signed() -> list[octokit.Example]:
    found = octokit.examples(house.SECRET.decode())
    if isinstance(found, str):
        pytest.skip(found)
    return found


def test_every_official_payload_is_taken_and_none_fails(
    tmp_path: Path, signed: list[octokit.Example]
) -> None:
    assert len(signed) >= 329
    seen: Counter[str] = Counter()
    with house.bot(tmp_path) as bot:
        for number, one in enumerate(signed):
            headers = {
                "content-type": "application/json",
                "x-github-event": one.event,
                "x-github-delivery": f"octokit-{number:08d}",
                "x-hub-signature-256": one.signature,
            }
            answer = bot.client.post("/webhook", content=one.body, headers=headers)
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
        headers = {
            "x-github-event": one.event,
            "x-github-delivery": "octokit-touched",
            "x-hub-signature-256": one.signature,
        }
        answer = bot.client.post("/webhook", content=one.body + b" ", headers=headers)
        assert answer.status_code == 401
        assert not bot.jobs()
