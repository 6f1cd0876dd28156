"""The whole line: a webhook in, a review carried out, its check and comment on a fake GitHub."""

from __future__ import annotations

from pathlib import Path

from tests.bot import house


def test_a_pull_request_is_reviewed_once_and_its_check_ends(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        assert bot.pull().status_code == 202
        (job,) = bot.settled()
        assert (job.state, job.check_open) == ("done", False), job
        (check,) = bot.checks()
        assert (check["status"], check["conclusion"]) == ("completed", "neutral"), dict(check)
        (report,) = bot.reports()
        assert "transpose" in report["body"]
