"""The whole line: a webhook in, a review carried out, its check and comment on a fake GitHub."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.github_errors import Denied, RateLimited, Unreachable
from bot.interfaces import Reviewed
from bot.ledger import Allowance
from bot.orders import BenchState, BundleError, Order, Progress
from bot.terms import Terms
from tests.bot import house, ordered
from tests.bot.fake_hub import FakeBench, FakeHub, World

IDENT = ordered.trajectory().best.kernel.digest[:8]
HEAD, OTHER = ordered.HEAD, "c" * 40


def test_a_pull_request_is_reviewed_once_and_its_check_ends(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        assert bot.pull().status_code == 202
        (job,) = bot.settled()
        assert (job.state, job.check_open) == ("done", False), job
        (check,) = bot.checks()
        assert (check["status"], check["conclusion"]) == ("completed", "neutral"), dict(check)
        (report,) = bot.reports()
        assert "transpose" in report["body"]


def test_the_same_delivery_again_does_nothing_again(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        first = bot.pull(guid="00000000-aaaa")
        bot.settled()
        second = bot.pull(guid="00000000-aaaa")
        assert (first.json()["delivery"], second.json()["delivery"]) == ("new", "known")
        assert len(bot.settled()) == 1
        assert len(bot.checks()) == 1


def test_a_redelivery_of_what_failed_runs_again_and_can_succeed(tmp_path: Path) -> None:
    benches: list[FakeBench] = []

    def bench(world: World) -> FakeBench:
        benches.append(FakeBench(world, fails=True))
        return benches[0]

    with house.bot(tmp_path, bench=bench) as bot:
        bot.pull(guid="00000000-bbbb")
        (job,) = bot.settled()
        assert job.state == "failed"
        benches[0].fails = False
        assert bot.pull(guid="00000000-bbbb").json()["delivery"] == "again"
        (job,) = bot.settled()
        assert job.state == "done", job.detail
        assert [check["conclusion"] for check in bot.checks()] == ["failure", "neutral"]


def test_a_failure_of_the_machinery_is_told_apart_from_nothing_faster(tmp_path: Path) -> None:
    with house.bot(tmp_path, bench=lambda world: FakeBench(world, fails=True)) as bot:
        bot.pull()
        bot.settled()
        (check,) = bot.checks()
        assert check["conclusion"] == "failure"
        assert check["title"] == "The GPU job could not be carried out"
        assert "says nothing about the kernels" in check["summary"]
        assert not bot.reports()


def test_the_newest_head_wins_and_the_older_run_is_cancelled(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.pull("synchronize", OTHER)
        house.until(lambda: any(job.state == "cancelled" for job in bot.jobs()))
        house.until(lambda: len(bot.world.rows("SELECT * FROM orders")) == 2)
        first, second = bot.reviews()
        assert (first.state, second.state) == ("cancelled", "running")
        assert OTHER[:7] in first.title
        ended = bot.world.rows("SELECT ended FROM orders ORDER BY rowid")
        assert [row["ended"] for row in ended] == ["cancelled", ""]
        assert bot.checks()[0]["conclusion"] == "cancelled"


def test_deliveries_out_of_order_review_the_newest_head_only(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.world.set_pull(house.REPOSITORY, house.pull_state(OTHER))
        bot.send("pull_request", house.pull_payload("synchronize", OTHER))
        bot.send("pull_request", house.pull_payload("opened", HEAD))  # comes late
        bot.settled()
        assert [check["head"] for check in bot.checks()] == [OTHER]
        assert len(bot.world.rows("SELECT * FROM orders")) == 1


def test_closing_the_pull_request_cancels_what_runs(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.pull("closed")
        jobs = {job.kind: job for job in bot.settled()}
        assert jobs["review"].state == "cancelled"
        assert bot.checks()[0]["conclusion"] == "cancelled"
        assert not bot.reports()


def test_a_draft_is_reviewed_only_when_somebody_asks(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull(draft=True)
        (job,) = bot.settled()
        assert job.state == "cancelled"
        assert not bot.checks()
        bot.comment("/optiml optimize", "triager")
        bot.settled()
        assert len(bot.checks()) == 1


def test_a_label_forbids_reviews_and_says_so(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull(labels=("optiml:skip",))
        bot.settled()
        assert bot.checks()[0]["conclusion"] == "skipped"
        bot.comment("/optiml optimize")
        bot.settled()
        assert "remove it" in bot.replies()[0]
        assert not bot.world.rows("SELECT * FROM orders")


def test_a_fork_runs_only_the_commit_that_was_approved(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull(fork=True)
        bot.settled()
        assert not bot.world.rows("SELECT * FROM orders")
        assert bot.checks()[0]["title"] == "Waiting for approval"
        bot.comment(f"/optiml approve {HEAD}", "triager")
        bot.settled()
        assert "needs write access" in bot.replies()[-1]
        bot.comment(f"/optiml approve {OTHER}")
        bot.settled()
        assert HEAD in bot.replies()[-1]
        bot.comment(f"/optiml approve {HEAD}")
        bot.settled()
        assert len(bot.world.rows("SELECT * FROM orders")) == 1
        bot.pull("synchronize", OTHER, fork=True)
        bot.settled()
        bot.pull("synchronize", HEAD, fork=True)  # back to what was approved: revoked by the push
        bot.settled()
        assert len(bot.world.rows("SELECT * FROM orders")) == 1


def test_who_may_not_is_told_why_and_nothing_runs(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.world.set_pull(house.REPOSITORY, house.pull_state())
        bot.comment("/optiml optimize", "stranger")
        bot.settled()
        (words,) = bot.replies()
        assert "needs triage access" in words
        assert "`stranger`" in words
        assert not bot.reviews()
        assert len(bot.world.rows("SELECT * FROM reactions WHERE content = 'eyes'")) == 1


def test_a_mistyped_command_is_answered_with_what_was_meant(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.comment("/optiml optimise")
        bot.settled()
        assert "did you mean `/optiml optimize`?" in bot.replies()[0]


def test_a_kernel_that_did_not_change_is_answered_with_those_that_did(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.world.set_pull(house.REPOSITORY, house.pull_state())
        bot.comment("/optiml optimize softmax --budget 5m")
        bot.settled()
        assert "Changed: `transpose`" in bot.replies()[0]
        assert not bot.world.rows("SELECT * FROM orders")


def test_arguments_of_the_command_reach_the_order(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.world.set_pull(house.REPOSITORY, house.pull_state())
        bot.comment("/optiml optimize transpose --budget 90s --min-speedup 1.2")
        bot.settled()
        order = json.loads(bot.reviews()[0].order)
        assert (order["kernels"], order["minutes"], order["min_speedup"]) == (
            ["transpose"],
            1.5,
            1.2,
        )


def test_apply_commits_once_however_often_it_is_asked_for(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        bot.comment(f"/optiml apply {IDENT}", guid="00000000-cccc")
        bot.settled()
        bot.comment(f"/optiml apply {IDENT}", guid="00000000-cccc")
        bot.comment(f"/optiml apply {IDENT} --squash")
        bot.settled()
        (commit,) = bot.world.rows("SELECT * FROM commits")
        assert (commit["head"], commit["by"]) == (HEAD, "maintainer")
        assert f"/commit/{IDENT}" in bot.replies()[0]


def test_apply_needs_write_access_and_an_id_that_exists(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        bot.comment(f"/optiml apply {IDENT}", "triager")
        bot.settled()  # two comments are answered side by side
        bot.comment("/optiml apply 00000000")
        bot.settled()
        assert "needs write access" in bot.replies()[0]
        assert IDENT in bot.replies()[1]
        assert not bot.world.rows("SELECT * FROM commits")


def test_buttons_do_what_the_commands_do_with_the_same_rights(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        (check,) = bot.checks()

        def click(button: str, sender: str) -> None:
            payload = {
                "action": "requested_action",
                "check_run": {
                    "id": check["id"],
                    "head_sha": HEAD,
                    "external_id": check["order_id"],
                    "app": {"id": 99},
                },
                "requested_action": {"identifier": button},
                "repository": {"full_name": house.REPOSITORY},
                "sender": {"login": sender, "id": 1},
            }
            assert bot.send("check_run", payload).status_code == 202
            bot.settled()

        click(f"apply:{IDENT}", "triager")
        assert not bot.world.rows("SELECT * FROM commits")
        click(f"squash:{IDENT}", "maintainer")
        assert bot.world.rows("SELECT squash FROM commits")[0]["squash"] == 1
        click("apply:../../etc", "maintainer")
        click("rm:12345678", "maintainer")
        assert len(bot.world.rows("SELECT * FROM commits")) == 1


def test_rerun_reviews_the_commit_again(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        (check,) = bot.checks()
        payload = {
            "action": "rerequested",
            "check_run": {"id": check["id"], "head_sha": HEAD, "app": {"id": 99}},
            "repository": {"full_name": house.REPOSITORY},
            "sender": {"login": "maintainer", "id": 1},
        }
        bot.send("check_run", payload)
        bot.settled()
        assert len(bot.world.rows("SELECT * FROM orders")) == 2
        assert len(bot.reports()) == 1


def test_what_was_dismissed_is_not_offered_again(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        bot.comment(f"/optiml dismiss {IDENT}")
        bot.settled()
        bot.comment("/optiml optimize")
        bot.settled()
        assert "can be" in bot.checks()[0]["summary"]
        assert "can be" not in bot.checks()[1]["summary"]


def test_explain_and_status_and_help_answer(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        for command in (f"explain {IDENT}", "status", "help"):
            bot.comment(f"/optiml {command}")
            bot.settled()
        explained, status, usage = bot.replies()
        assert "Also tried" in explained
        assert "https://optiml.test/jobs/" in status
        assert "`/optiml approve SHA`" in usage


def test_cancel_ends_the_review_and_says_so_when_nothing_runs(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.comment("/optiml cancel", "triager")
        bot.settled()
        assert bot.reviews()[0].state == "cancelled"
        bot.comment("/optiml cancel", "triager")
        bot.settled()
        assert bot.replies() == ["Nothing runs for this pull request."]


def test_a_budget_that_is_used_up_is_said_and_nothing_more_runs(tmp_path: Path) -> None:
    terms = Terms(poll_seconds=0.05, minutes=10.0, allowance=Allowance(pull=15.0))
    with house.bot(tmp_path, seconds=3600.0, terms=terms) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.comment("/optiml optimize")
        house.until(lambda: bool(bot.replies()))
        assert "this pull request has used 10 of 15 GPU minutes" in bot.replies()[0]
        assert len(bot.world.rows("SELECT * FROM orders")) == 1
        assert bot.reviews()[0].state == "running", "what runs is not ended for what cannot begin"


def test_the_kill_switch_ends_what_runs_and_denies_what_is_asked(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.house.entrance.records.ledger.pause("*", "an incident")
        bot.settled()
        assert bot.reviews()[0].state == "cancelled"
        bot.comment("/optiml optimize")
        bot.settled()
        assert "an incident" in bot.replies()[0]
        bot.house.entrance.records.ledger.pause("octo/private", "a secret reason")
        health = bot.client.get("/health")
        assert health.json()["paused"] == ["*"]
        assert health.json()["repositories_paused"] == 1
        for page in (health, bot.client.get("/metrics")):
            assert not [word for word in ("private", "secret", "incident") if word in page.text]


def queued(bot: house.Bot, number: int = 7) -> Any:
    """Have the merge queue ask, and return the check run that it gets."""
    ref = f"refs/heads/gh-readonly-queue/main/pr-{number}-{'f' * 40}"
    payload = {
        "action": "checks_requested",
        "merge_group": {"head_sha": OTHER, "head_ref": ref},
        "repository": {"full_name": house.REPOSITORY},
    }
    known = {check["id"] for check in bot.checks()}

    def answered() -> list[Any]:
        new = [check for check in bot.checks() if check["id"] not in known]
        return [check for check in new if check["head"] == OTHER and check["conclusion"]]

    bot.send("merge_group", payload)
    house.until(lambda: bool(answered()))
    (check,) = answered()
    return check


def test_a_merge_queue_gets_the_verdict_that_its_pull_request_has(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        bot.pull()
        bot.settled()
        (own,) = bot.checks()
        check = queued(bot)
        assert (check["conclusion"], check["title"]) == (own["conclusion"], own["title"])
        assert "can be" in check["summary"]
        assert f"/jobs/{bot.reviews()[0].id}" in check["summary"]
        assert len(bot.world.rows("SELECT * FROM orders")) == 1, "nothing is measured again"


@pytest.mark.parametrize("fails", [True, False])
def test_a_merge_queue_is_not_held_up_by_a_review_without_a_verdict(
    tmp_path: Path, *, fails: bool
) -> None:
    def bench(world: World) -> FakeBench:
        return FakeBench(world, 0.0 if fails else 3600.0, fails=fails)

    with house.bot(tmp_path, bench=bench) as bot:
        assert queued(bot)["conclusion"] == "neutral"  # there is no such pull request
        bot.pull()
        if fails:
            bot.settled()
            assert bot.checks()[-1]["conclusion"] == "failure"
        else:
            house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        check = queued(bot)
        words = "came to nothing" if fails else "goes on"
        assert check["conclusion"] == "neutral"
        assert words in check["summary"]
        bot.world.set_pull(house.REPOSITORY, house.pull_state("8" * 40))
        assert "was not reviewed" in queued(bot)["summary"]


def test_losing_access_ends_reviews_there(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        bot.send(
            "installation",
            {"action": "deleted", "repositories": [{"full_name": house.REPOSITORY}]},
        )
        bot.settled()
        assert bot.reviews()[0].state == "cancelled"


def test_a_pull_request_without_a_kernel_asks_no_gpu(tmp_path: Path) -> None:
    with house.bot(tmp_path, hub=lambda world: FakeHub(world, ())) as bot:
        bot.pull()
        bot.settled()
        assert bot.checks()[0]["title"] == "No CUDA kernel changed"
        assert not bot.world.rows("SELECT * FROM orders")


@pytest.mark.parametrize("error", [Unreachable("502"), RateLimited("slow down", retry_after=0.05)])
def test_a_github_that_fails_now_and_then_at_every_call_changes_nothing(
    tmp_path: Path, error: Exception
) -> None:
    seen: Counter[str] = Counter()

    def trouble(name: str) -> None:
        seen[name] += 1
        if seen[name] == 1:
            raise error

    with house.bot(tmp_path, trouble=trouble) as bot:
        bot.pull()
        bot.settled()
        bot.comment(f"/optiml apply {IDENT}")
        jobs = bot.settled()
        assert [job.state for job in jobs] == ["done", "done"], [job.detail for job in jobs]
        assert [check["status"] for check in bot.checks()] == ["completed"]
        assert len(bot.reports()) == 1
        assert len(bot.world.rows("SELECT * FROM commits")) == 1


@pytest.mark.parametrize(
    "call", ["pull", "open_check", "changed_kernels", "start", "poll", "fetch", "publish"]
)
def test_a_call_that_is_denied_for_good_still_leaves_no_check_open(
    tmp_path: Path, call: str
) -> None:
    def trouble(name: str) -> None:
        if name == call:
            raise Denied("the App lacks a permission", "give it checks: write")

    with house.bot(tmp_path, trouble=trouble) as bot:
        bot.pull()
        (job,) = bot.settled()
        assert job.state == "failed"
        assert [check["status"] for check in bot.checks()] == ["completed"] * len(bot.checks())


def test_a_check_that_cannot_be_closed_now_is_closed_later(tmp_path: Path) -> None:
    broken = [True]

    def trouble(name: str) -> None:
        if name == "close_check" and broken[0]:
            raise Unreachable("502")

    with house.bot(tmp_path, trouble=trouble) as bot:
        bot.pull()
        (job,) = bot.settled()
        assert (job.state, job.check_open) == ("done", True)
        broken[0] = False
        house.until(lambda: bot.checks()[0]["status"] == "completed")
        assert bot.checks()[0]["conclusion"] == "neutral"


def test_deliveries_that_never_came_are_asked_for(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        with bot.world.open() as db:
            db.execute("INSERT INTO deliveries (guid) VALUES ('00000000-lost')")
        house.until(lambda: bot.world.rows("SELECT again FROM deliveries")[0][0] == 1)


def test_what_an_attacker_sends_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with house.bot(tmp_path) as bot:
        payload = house.pull_payload("opened")
        assert bot.send("pull_request", payload, secret=b"x" * 32).status_code == 401
        assert bot.send("pull_request", payload, guid="../../x").status_code == 400
        assert bot.send("pull_request", {"action": "opened"}).status_code == 400
        unsigned = bot.client.post("/webhook", content=b"{}")
        assert unsigned.status_code == 401
        large = {"content-length": str(26 << 20), **house.headers("ping", b"")}
        assert bot.client.post("/webhook", content=b"x", headers=large).status_code == 413
        assert not bot.jobs()


class HostileBench(FakeBench):
    """Says what a GPU plane that was taken over might say."""

    def poll(self, handle: str) -> Progress:
        words = "<script>alert(1)</script> [x](javascript:alert(1)) @everyone"
        return Progress(BenchState.RUNNING, "javascript:alert(1)", words, 7, 1.25)

    def fetch(self, handle: str, order: Order) -> Sequence[Reviewed]:
        raise BundleError("<img src=x onerror=alert(1)> ![x](http://evil.test) @everyone")


def test_what_a_gpu_plane_says_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    with house.bot(tmp_path, bench=HostileBench) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        job = bot.reviews()[0].id
        house.until(lambda: bot.client.get(f"/jobs/{job}/state").json()["steps"] == 7)
        page = bot.client.get(f"/jobs/{job}").text
        assert page.count("<script") == page.count('<script src="job.js" defer>') == 1
        assert "&lt;script" in page
        bot.house.entrance.records.ledger.pause("*", "<b>why</b> @everyone")
        bot.settled()
    other = tmp_path / "other"
    other.mkdir()
    with house.bot(other, bench=Fetched) as bot:
        bot.pull("synchronize", OTHER)
        bot.settled()
        (check,) = [one for one in bot.checks() if one["head"] == OTHER]
        assert check["title"] == "What came back from the GPU was refused"
        for text in (check["summary"], bot.client.get(f"/jobs/{bot.reviews()[-1].id}").text):
            assert "<img" not in text.replace("\\<", "")
            assert "@everyone" not in text
            assert "](http://evil" not in text


class Fetched(HostileBench):
    """Is done at once."""

    def poll(self, handle: str) -> Progress:
        return Progress(BenchState.DONE)


def test_pages_show_state_and_report_and_run_no_script(tmp_path: Path) -> None:
    with house.bot(tmp_path, seconds=3600.0) as bot:
        bot.pull()
        house.until(lambda: bool(bot.world.rows("SELECT * FROM orders")))
        job = bot.reviews()[0].id
        house.until(lambda: bot.client.get(f"/jobs/{job}/state").json()["steps"] == 7)
        page = bot.client.get(f"/jobs/{job}")
        assert 'http-equiv="refresh"' in page.text
        assert "script-src 'self';" in page.headers["content-security-policy"]
        assert bot.client.get("/jobs/job.js").headers["content-type"].startswith("text/javasc")
        assert bot.client.get(f"/jobs/{'0' * 32}").status_code == 404
        assert bot.client.get("/jobs/../x").status_code == 404
    with house.bot(tmp_path) as bot:  # the same database: the job goes on
        with bot.world.open() as db:
            db.execute("UPDATE orders SET done = 0")
        bot.settled()
        assert bot.reviews()[0].state == "done"
        page = bot.client.get(f"/jobs/{job}")
        assert 'http-equiv="refresh"' not in page.text
        assert "<script" not in page.text
        assert "script" not in page.headers["content-security-policy"]
        told = bot.client.get(f"/jobs/{job}/live")
        assert told.headers["content-type"].startswith("text/event-stream")
        events = [one.partition("\n") for one in told.text.split("\n\n") if "event:" in one]
        assert [name for name, *_ in events] == ["event: state", "event: over"]
        assert json.loads(events[0][2].removeprefix("data: "))["state"] == "done"
        assert bot.client.get(f"/jobs/{'0' * 32}/live").status_code == 404
        assert f"{job}/report/0" in page.text
        report = bot.client.get(f"/jobs/{job}/report/0")
        assert "transpose" in report.text
        assert bot.client.get(f"/jobs/{job}/report/9").status_code == 404
        assert b"optiml_jobs_ended_total" in bot.client.get("/metrics").content
