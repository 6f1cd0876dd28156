"""The app against its own OpenAPI document: whatever is sent, it answers as it says it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode

from tests.bot import house

EVENTS = ("pull_request", "issue_comment", "check_run", "merge_group", "installation", "ping")
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[house.Bot]:
    with house.bot(tmp_path_factory.mktemp("schema")) as found:
        yield found


@pytest.fixture(scope="module")
def operations(bot: house.Bot) -> list[Any]:
    document = bot.client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig())
    operations: list[Any] = list(schema.get_all_operations())
    return [found.ok() for found in operations]


# schemathesis draws at random inside a strategy, which hypothesis is about to forbid.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_whatever_is_sent_is_answered_as_the_document_says(
    bot: house.Bot, operations: list[Any], mode: GenerationMode
) -> None:
    @QUIET
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        operation = data.draw(st.sampled_from(operations))
        case = data.draw(operation.as_strategy(generation_mode=mode))
        sent = case.as_transport_kwargs(base_url="http://testserver")
        sent = {
            name: value
            for name, value in sent.items()
            if value is not None and name != "cookies"  # we read none
        }
        if isinstance(sent.get("data"), str | bytes):
            sent["content"] = sent.pop("data")
        answer = bot.client.request(**sent)
        assert answer.status_code < 500, answer.text
        documented = {*case.operation.definition.raw["responses"], "404", "405"}
        assert str(answer.status_code) in documented, (case.path, answer.status_code)
        if answer.status_code == 200:
            case.operation.validate_response(Response.from_any(answer))

    send()


# The app's own threads draw at random, too: how long they wait before they ask once more.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
def test_whatever_is_signed_is_accepted_or_refused_and_never_fails(bot: house.Bot) -> None:
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    )
    keys = st.sampled_from(
        ["action", "pull_request", "repository", "sender", "comment", "issue", "check_run"]
    )
    right = house.comment_payload("/optiml help") | house.pull_payload("opened")

    @QUIET
    @given(
        event=st.sampled_from(EVENTS),
        wrong=st.dictionaries(keys, values, max_size=3),
        raw=st.none() | st.binary(max_size=200),
    )
    def send(event: str, wrong: dict[str, Any], raw: bytes | None) -> None:
        body = json.dumps({**right, **wrong}).encode() if raw is None else raw
        answer = bot.client.post("/webhook", content=body, headers=house.headers(event, body))
        assert answer.status_code in {202, 400}, answer.text

    send()
    assert bot.client.get("/health").status_code == 200


def test_the_document_names_every_address(bot: house.Bot) -> None:
    paths = bot.client.get("/openapi.json").json()["paths"]
    assert {"/webhook", "/health", "/metrics", "/jobs/{job_id}"} <= set(paths)
