"""Every request the bot makes fits GitHub's own OpenAPI document, and so does every answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

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
from tests.fake_github.completing import Completer

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Serve the fake behind Prism: what does not fit is answered with 422 or 500."""
    prism.installed()
    folder: Path = tmp_path_factory.mktemp("prism")
    made = World(folder / "github")
    with prism.proxy(made.fake.address, folder) as (url, document):
        made.url = made.fake.public = url
        made.fake.complete = Completer(document)
        yield made
        made.close()


def test_the_proxy_refuses_what_github_would(validated: World) -> None:
    session = validated.session()
    path = f"/repos/{NAME}/check-runs"
    body = {"name": "x", "head_sha": validated.base, "status": "completed", "conclusion": "fine"}
    with pytest.raises(errors.Refused):
        session.request("POST", path, repository=NAME, body=body)
    button = {"label": "x" * 21, "description": "d", "identifier": "i"}
    wrong = {"name": "x", "head_sha": validated.base, "actions": [button]}
    with pytest.raises(errors.Refused):
        session.request("POST", path, repository=NAME, body=wrong)


def test_a_review_is_published_edited_and_applied(validated: World) -> None:
    one = validated.change("reviewed")
    hub = validated.hub()
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
    validated.fake.commit(validated.repository, "copy", {}, start=one.head)
    url = hub.apply(NAME, one.number, result, head=one.head, by="dev")
    assert url.endswith(one.head)
    assert hub.apply(NAME, one.number, result, head=one.head) == url
    assert result.trajectory is not None
    text = validated.repository.store.file(one.head, PATH).decode()
    assert text == result.trajectory.best.kernel.source


def test_superseded_suggestions_are_taken_back(validated: World) -> None:
    one = validated.change("superseded")
    hub = validated.hub()
    hub.forge(NAME, one.number).publish(pull_of(one), report_for(hub, one))
    validated.fake.commit(
        validated.repository, "superseded", {PATH: "// new\n" + synthetic.NAIVE + worlds.HOST}
    )
    report = report_for(hub, one)
    hub.forge(NAME, one.number).publish(pull_of(one), report)
    head = commit_suggestions(validated.fake, one)
    assert report.results[0].trajectory is not None
    source = validated.repository.store.file(head, PATH).decode()
    assert source == report.results[0].trajectory.best.kernel.source


def test_a_stacked_pull_request_is_opened_once(validated: World) -> None:
    one = validated.change("protected")
    validated.repository.protected.add("protected")
    hub = validated.hub()
    result = report_for(hub, one).results[0]
    first = hub.apply(NAME, one.number, result, head=one.head)
    assert re.search(r"/pull/\d+$", first)
    assert hub.apply(NAME, one.number, result, head=one.head) == first


def test_commands_rights_and_deliveries(validated: World) -> None:
    one = validated.change("asked")
    hub = validated.hub()
    comment = validated.fake.say(one, "dev", "/optiml status")
    hub.react(NAME, comment.id, "eyes")
    hub.reply(NAME, one.number, "queued", "key")
    hub.reply(NAME, one.number, "running", "key")
    assert hub.permission(NAME, "dev") == "write"
    assert hub.pulls_of(NAME, one.head) == (one.number,)
    assert hub.comment_url(NAME, one.number) == ""
    validated.deliver(1, "00000000-0000-4000-8000-000000000001", 502, validated.fake.state.now())
    (failed,) = hub.deliveries(0.0)
    hub.redeliver(failed.id)
    assert validated.session().capabilities.is_server is False


def test_an_order_is_dispatched_polled_and_cancelled(validated: World) -> None:
    one = validated.change("ordered")
    validated.fake.commit(validated.repository, "main", {".github/workflows/optiml-gpu.yml": "x"})
    bench = WorkflowBench(validated.session())
    order = Order(repository=NAME, number=one.number, base=one.base, head=one.head)
    handle = bench.start(order)
    assert bench.poll(handle).state is BenchState.QUEUED
    bench.cancel(handle)
    assert bench.poll(handle).state is BenchState.CANCELLED
