"""What the Action is told, and the order that follows from it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot import action_inputs, orders
from bot.action_inputs import identity, order_of, read
from optimizer.errors import ConfigError
from tests.bot.ordered import BASE, HEAD, ORDER

PULL = {"pull_request": {"number": 7, "base": {"sha": BASE}, "head": {"sha": HEAD}}}


def given(tmp_path: Path, event: object, name: str = "pull_request", **values: str) -> Any:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    return read({
        "GITHUB_EVENT_PATH": str(file), "GITHUB_EVENT_NAME": name,
        "GITHUB_REPOSITORY": "owner/project", "GITHUB_RUN_ID": "42", **values,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("name", "event", "number"),
    [
        ("pull_request", PULL, 7),
        ("merge_group", {"merge_group": {"base_sha": BASE, "head_sha": HEAD}}, None),
        ("push", {"before": BASE, "after": HEAD}, None),
    ],
)
def test_an_event_says_what_is_reviewed(
    tmp_path: Path, name: str, event: object, number: int | None
) -> None:
    order = order_of(given(tmp_path, event, name))
    assert (order.number, order.base, order.head) == (number, BASE, HEAD)
    assert (order.id, order.nonce) == identity("owner/project", 42)


def test_inputs_become_the_orders_wishes(tmp_path: Path) -> None:
    order = order_of(
        given(
            tmp_path, PULL, INPUT_BUDGET="90s", INPUT_EVALUATIONS="12", INPUT_POLICY="rules",
            INPUT_MIN_SPEEDUP="1.1", INPUT_KERNELS="softmax\n scan<float, 256> \n\n",
            INPUT_SEED="5",
        )
    )  # fmt: skip
    assert (order.minutes, order.evaluations, order.policy, order.seed) == (1.5, 12, "rules", 5)
    assert order.min_speedup == 1.1
    assert order.kernels == ("softmax", "scan<float, 256>")


def test_a_given_order_is_taken_word_for_word(tmp_path: Path) -> None:
    assert order_of(given(tmp_path, {}, INPUT_ORDER=orders.to_json(ORDER))) == ORDER


@pytest.mark.parametrize(
    ("event", "name", "values", "words"),
    [
        ({}, "schedule", {}, "does not say what is to be reviewed"),
        ({"pull_request": {"number": 7}}, "pull_request", {}, "not as GitHub sends it"),
        ({"before": "0", "after": HEAD}, "push", {}, "base must be"),
        (PULL, "pull_request", {"INPUT_BUDGET": "soon"}, "no duration"),
        (PULL, "pull_request", {"INPUT_EVALUATIONS": "many"}, "whole number"),
        (PULL, "pull_request", {"INPUT_MIN_SPEEDUP": "nan"}, "min_speedup"),
        (PULL, "pull_request", {"INPUT_MIN_SPEEDUP": "fast"}, "cannot be ordered"),
        (PULL, "pull_request", {"INPUT_POLICY": "chance"}, "policy"),
        (PULL, "pull_request", {"INPUT_ORDER": "{}"}, "no order"),
        (PULL, "pull_request", {"INPUT_ORDER": orders.to_json(ORDER).replace("owner/", "o/")},
         "the order is for o/project"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_named(
    tmp_path: Path, event: object, name: str, values: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        order_of(given(tmp_path, event, name, **values))


def test_an_event_file_that_holds_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "event"
    file.write_text("[" * 100_000)
    for path in (str(file), str(tmp_path / "missing")):
        with pytest.raises(ConfigError, match="holds no event"):
            read({"GITHUB_EVENT_PATH": path})


def test_two_runs_place_two_orders_and_the_token_is_never_shown(tmp_path: Path) -> None:
    assert identity("owner/project", 42) == identity("Owner/Project", 42)
    assert len({*identity("o/p", 1), *identity("o/p", 2)}) == 4
    assert "secret" not in repr(given(tmp_path, {}, INPUT_GITHUB_TOKEN="secret"))
    assert action_inputs.read({}).mode == "optimize"
