"""Every request the bot makes fits GitHub's own OpenAPI document, and so does every answer.

All tests with a fake GitHub go through Prism where it is installed (`conftest.py`). Here it is shown
to see what is wrong, on both ways, and each family of requests is sent once more in one place.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot import github_errors as errors
from bot.interfaces import Button, Closing
from bot.orders import BenchState, Order
from bot.workflow import WorkflowBench
from tests.bot import synthetic
from tests.bot import world as worlds
from tests.bot.world import NAME, PATH, World, pull_of, report_for
from tests.fake_github import prism
from tests.fake_github.clicks import commit_suggestions

pytestmark = pytest.mark.skipif(bool(prism.missing()), reason=prism.missing() or "Prism is there")


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"status": "completed", "conclusion": "fine"}, "request.body.conclusion"),
        (
            {"actions": [{"label": "x" * 21, "description": "d", "identifier": "i"}]},
            "request.body.actions.0.label",
        ),
    ],
)
def test_a_request_that_does_not_fit_is_seen(
    world: World, validator: prism.Validator, wrong: dict[str, Any], place: str
) -> None:
    body = {"name": "x", "head_sha": world.base, **wrong}
    with pytest.raises(errors.Refused):
        world.session().request("POST", f"/repos/{NAME}/check-runs", repository=NAME, body=body)
    (found,) = validator.violations()
    assert found.startswith(f"POST /repos/{NAME}/check-runs → 422: {place}: ")


def test_a_place_that_github_does_not_have_is_seen(
    world: World, validator: prism.Validator
) -> None:
    with pytest.raises(errors.Missing):
        world.session().request("GET", f"/repos/{NAME}/no/such", repository=NAME)
    assert "Selected route not found" in "".join(validator.violations())


def test_an_answer_that_does_not_fit_is_seen(world: World, validator: prism.Validator) -> None:
    session = world.session()
    session.request("GET", f"/repos/{NAME}", repository=NAME)
    assert validator.violations() == ()
    world.fake.complete = lambda *_: {"id": "not a number"}
    session.request("GET", f"/repos/{NAME}", repository=NAME)
    assert "response" in "".join(validator.violations())


def test_a_refusal_that_the_document_does_not_list_is_none_of_our_errors(
    world: World, validator: prism.Validator
) -> None:
    token = world.fake.workflow_token(world.repository, {"contents": "read"})
    body = {"name": "x", "head_sha": world.base}
    with pytest.raises(errors.Denied):
        world.session(token=token, app=None).request(
            "POST", f"/repos/{NAME}/check-runs", repository=NAME, body=body
        )
    assert validator.violations() == ()


def test_a_review_is_published_edited_and_applied(world: World) -> None:
    one = world.change("reviewed")
    hub = world.hub()
    state = hub.pull(NAME, one.number)
    assert state.head == one.head
    check = hub.open_check(NAME, one.head, "f" * 32, "waiting", url="https://optiml.example/1")
    assert hub.open_check(NAME, one.head, "f" * 32, "waiting") == check
    hub.update_check(NAME, check, "running")
    for extra in (2, 5):
        report = report_for(hub, one, extra=extra)
        hub.forge(NAME, one.number).publish(pull_of(one), report)
    buttons = (Button("Apply", "Commit it", "apply:12345678"),)
    hub.close_check(NAME, check, Closing("success", "Faster", "Done", buttons))
    result = report_for(hub, one, extra=2).results[0]
    world.fake.commit(world.repository, "copy", {}, start=one.head)
    url = hub.apply(NAME, one.number, result, head=one.head, by="dev")
    assert url.endswith(one.head)
    assert hub.apply(NAME, one.number, result, head=one.head) == url
    assert result.trajectory is not None
    text = world.repository.store.file(one.head, PATH).decode()
    assert text == result.trajectory.best.kernel.source


def test_superseded_suggestions_are_taken_back(world: World) -> None:
    one = world.change("superseded")
    hub = world.hub()
    hub.forge(NAME, one.number).publish(pull_of(one), report_for(hub, one))
    world.fake.commit(
        world.repository, "superseded", {PATH: "// new\n" + synthetic.NAIVE + worlds.HOST}
    )
    report = report_for(hub, one)
    hub.forge(NAME, one.number).publish(pull_of(one), report)
    head = commit_suggestions(world.fake, one)
    assert report.results[0].trajectory is not None
    source = world.repository.store.file(head, PATH).decode()
    assert source == report.results[0].trajectory.best.kernel.source


def test_a_stacked_pull_request_is_opened_once(world: World) -> None:
    one = world.change("protected")
    world.repository.protected.add("protected")
    hub = world.hub()
    result = report_for(hub, one).results[0]
    first = hub.apply(NAME, one.number, result, head=one.head)
    assert re.search(r"/pull/\d+$", first)
    assert hub.apply(NAME, one.number, result, head=one.head) == first


def test_commands_rights_and_deliveries(world: World) -> None:
    one = world.change("asked")
    hub = world.hub()
    comment = world.fake.say(one, "dev", "/optiml status")
    hub.react(NAME, comment.id, "eyes")
    hub.reply(NAME, one.number, "queued", "key")
    hub.reply(NAME, one.number, "running", "key")
    assert hub.permission(NAME, "dev") == "write"
    assert hub.pulls_of(NAME, one.head) == (one.number,)
    assert hub.comment_url(NAME, one.number) == ""
    world.deliver(1, "00000000-0000-4000-8000-000000000001", 502, world.fake.state.now())
    (failed,) = hub.deliveries(0.0)
    hub.redeliver(failed.id)
    assert world.session().capabilities.is_server is False


def test_an_order_is_dispatched_polled_and_cancelled(world: World) -> None:
    one = world.change("ordered")
    world.fake.commit(world.repository, "main", {".github/workflows/optiml-gpu.yml": "x"})
    bench = WorkflowBench(world.session())
    order = Order(repository=NAME, number=one.number, base=one.base, head=one.head)
    handle = bench.start(order)
    assert bench.poll(handle).state is BenchState.QUEUED
    bench.cancel(handle)
    assert bench.poll(handle).state is BenchState.CANCELLED
