"""Mode order: who may start the GPU for what, and what everybody else is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.action_inputs import Inputs
from bot.action_order import place
from bot.interfaces import Reviewed
from bot.orders import BenchState, Order, Progress
from optimizer.errors import ConfigError
from tests.bot.desk import Desk
from tests.bot.ordered import HEAD


class Bench:
    """Remembers orders."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.older: list[Order] = []

    def start(self, order: Order, *, is_new: bool = False) -> str:
        self.orders.append(order)
        return "handle"

    def poll(self, handle: str) -> Progress:
        return Progress(BenchState.QUEUED, "https://github.example/run/1")

    def fetch(self, handle: str, order: Order) -> Sequence[Reviewed]:
        raise AssertionError

    def cancel(self, handle: str) -> None:
        raise AssertionError

    def cancel_older(self, order: Order) -> int:
        self.older.append(order)
        return 0


def on_pull(tmp_path: Path, desk: Desk, **values: Any) -> tuple[Bench, str]:
    bench = Bench()
    given = Inputs(
        mode="order", event_name="pull_request", event={"pull_request": {"number": 7}},
        repository="owner/project", run=1, summary=tmp_path / "s", **values,
    )  # fmt: skip
    place(given, desk, bench, lambda _: None)
    return bench, (tmp_path / "s").read_text()


def on_comment(
    desk: Desk, body: str, login: str = "writer", action: str = "created", **changes: Any
) -> tuple[Bench, str]:
    bench = Bench()
    event = {
        "action": action,
        "issue": {"number": 7, "pull_request": {}}
        | changes.pop("issue", {"pull_request": {"x": 1}}),
        "comment": {"id": 5, "body": body, "user": {"login": login, "type": "User"} | changes},
    }
    given = Inputs(
        mode="order", event_name="issue_comment", event=event, repository="owner/project", run=1
    )
    place(given, desk, bench, lambda _: None)
    return bench, desk.replies.get("comment-5", "")


def test_a_pull_request_is_ordered_at_the_head_it_has_now_and_takes_over(tmp_path: Path) -> None:
    bench, summary = on_pull(tmp_path, Desk(), budget="2m", evaluations="9")
    (order,) = bench.orders
    assert bench.older == [order]
    assert (order.head, order.number, order.minutes, order.evaluations) == (HEAD, 7, 2.0, 9)
    assert "https://github.example/run/1" in summary


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"fork": True}, f"/optiml approve {HEAD}"),
        ({"draft": True}, "draft"),
        ({"labels": ("optiml:skip",)}, "optiml:skip"),
        ({"state": "closed"}, "closed"),
    ],
)
def test_a_pull_request_that_is_not_reviewed_says_why(
    tmp_path: Path, state: dict[str, Any], words: str
) -> None:
    bench, summary = on_pull(tmp_path, Desk(**state))
    assert not bench.orders
    assert words in summary


def test_a_comment_orders_what_it_asks_for_and_is_seen_at_once() -> None:
    desk = Desk(draft=True)
    bench, answer = on_comment(
        desk, "/optiml optimize softmax --budget 90s --min-speedup 1.2", "triager"
    )
    (order,) = bench.orders
    assert (order.kernels, order.minutes, order.min_speedup) == (("softmax",), 1.5, 1.2)
    assert desk.reactions == [(5, "eyes")]
    assert answer == ""


@pytest.mark.parametrize(
    ("body", "login", "state", "words"),
    [
        ("/optiml optimize", "reader", {}, "needs the permission triage"),
        ("/optiml optimize", "nobody", {}, "nobody has none"),
        ("/optiml optimize", "writer", {"fork": True}, f"/optiml approve {HEAD}"),
        (f"/optiml approve {HEAD}", "triager", {"fork": True}, "needs the permission write"),
        (f"/optiml approve {'e' * 40}", "writer", {"fork": True}, "for one commit"),
        ("/optiml approve aaaa", "writer", {"fork": True}, "whole id"),
        ("/optiml optimise", "writer", {}, "did you mean"),
        ("/optiml apply 01234567", "writer", {}, "needs the OptiML App"),
        ("/optiml optimize", "writer", {"state": "closed"}, "closed"),
        ("/optiml help", "reader", {}, "/optiml optimize"),
    ],
)
def test_a_denial_says_why(body: str, login: str, state: dict[str, Any], words: str) -> None:
    bench, answer = on_comment(Desk(**state), body, login)
    assert not bench.orders
    assert words in answer


def test_a_forks_commit_is_ordered_when_somebody_with_write_access_approves_it() -> None:
    bench, _ = on_comment(Desk(fork=True), f"/optiml approve {HEAD}")
    assert [order.head for order in bench.orders] == [HEAD]


@pytest.mark.parametrize(
    "how",
    [
        {"body": "looks good"},
        {"body": "> /optiml optimize"},
        {"body": "/optiml optimize", "action": "edited"},
        {"body": "/optiml optimize", "type": "Bot"},
        {"body": "/optiml optimize", "issue": {"pull_request": None}},
    ],
    ids=str,
)
def test_what_is_no_command_is_not_even_seen(how: dict[str, Any]) -> None:
    desk = Desk()
    bench, answer = on_comment(desk, **how)
    assert (bench.orders, answer, desk.reactions) == ([], "", [])


def test_an_event_that_orders_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="orders nothing"):
        place(Inputs(event_name="push"), Desk(), Bench(), lambda _: None)
