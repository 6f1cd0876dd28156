"""A model behind a server: what is sent, what comes back, and everything that goes wrong."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bot.model_client import Endpoint, ServerModel
from optimizer.dialogue import Message, Schema, Speaker
from optimizer.errors import ConfigError, ModelError, PromptTooLong
from tests.scripted_model import CONTEXT, Asked, Reply, ScriptedModel, serving

SAID = (Message(Speaker.SYSTEM, "be brief"), Message(Speaker.USER, "hello"))
SHAPE = Schema("shape", {"type": "object"})
KEY = "sk-abcdefghijklmnop"


@contextmanager
def asked(
    *replies: Reply, seconds: float = 30.0, retries: int = 4
) -> Iterator[tuple[ServerModel, ScriptedModel]]:
    """Give a client of a server that answers these replies in turn; it never waits long."""
    server = ScriptedModel(replies)
    with serving(server) as url:
        endpoint = Endpoint("a-model", url, KEY, seconds, retries)
        with ServerModel(endpoint, draw=lambda: 0.0) as model:
            yield model, server


def test_an_answer_comes_with_what_it_took_and_who_gave_it() -> None:
    with asked(Reply("hi", cached=1)) as (model, server):
        answer = model.ask(SAID, SHAPE, 99)
    assert (answer.text, answer.author, answer.usage.calls) == ("hi", "scripted-model", 1)
    assert answer.usage.sent == 3
    assert answer.usage.cached == 1
    (sent,) = server.asked
    assert sent["max_tokens"] == 99
    assert sent["response_format"]["json_schema"]["name"] == "shape"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_no_tool_file_or_address_is_ever_offered_and_nothing_is_streamed() -> None:
    with asked(Reply("hi")) as (model, server):
        model.ask(SAID, SHAPE)
    sent = server.asked[0]
    assert set(sent) <= {"model", "messages", "stream", "max_tokens", "response_format"}
    assert sent["stream"] is False
    assert all(set(m) == {"role", "content"} for m in sent["messages"])


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=429, error="slow down", headers={"retry-after": "0"}),
        Reply(status=500, error="oops"),
        Reply(status=503, error="overloaded"),
        Reply(status=408, error="timeout"),
        Reply(drop=True),
        Reply(body="<html>a proxy's page</html>"),
        Reply(body='{"choices": []}'),
    ],
)
def test_what_may_pass_is_asked_again(first: Reply) -> None:
    with asked(first, first, Reply("at last")) as (model, server):
        assert model.ask(SAID).text == "at last"
    assert len(server.asked) == 3


def test_a_server_that_stays_broken_is_given_up_with_its_last_words() -> None:
    with (
        asked(Reply(status=500, error="oops"), retries=2) as (model, server),
        pytest.raises(ModelError, match=r"HTTP 500.*oops.*3 attempts"),
    ):
        model.ask(SAID)
    assert len(server.asked) == 3


def test_an_answer_that_takes_too_long_is_a_time_out() -> None:
    with asked(Reply("late", delay=60), seconds=0.3, retries=0) as (model, _):
        began = time.monotonic()
        with pytest.raises(ModelError, match=r"did not answer within 0\.3 s"):
            model.ask(SAID)
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_is_not_asked_again_and_says_what_to_check(status: int) -> None:
    with (
        asked(Reply(status=status, error="no such thing")) as (model, server),
        pytest.raises(ModelError) as caught,
    ):
        model.ask(SAID)
    assert len(server.asked) == 1
    assert "OPENAI" in caught.value.remedy


def test_an_account_that_is_used_up_is_not_asked_again() -> None:
    with (
        asked(Reply(status=429, error="quota", code="insufficient_quota")) as (model, server),
        pytest.raises(ModelError, match="quota"),
    ):
        model.ask(SAID)
    assert len(server.asked) == 1


def test_a_server_that_asks_for_too_much_patience_is_given_up() -> None:
    busy = Reply(status=429, error="busy", headers={"retry-after": "3600"})
    with asked(busy) as (model, _), pytest.raises(ModelError, match="wait 3600 s"):
        model.ask(SAID)


@pytest.mark.parametrize("code", ["", "context_length_exceeded"])
def test_a_prompt_that_is_too_long_says_so(code: str) -> None:
    with (
        asked(Reply(status=400, error=CONTEXT, code=code)) as (model, server),
        pytest.raises(PromptTooLong),
    ):
        model.ask(SAID)
    assert len(server.asked) == 1


def test_a_server_without_schemas_is_asked_for_json_then_for_text_and_that_is_remembered() -> None:
    no_schema = Reply(status=400, error="response_format json_schema is not supported")
    no_json = Reply(status=400, error="response_format is not supported")
    with asked(no_schema, no_json, Reply("text"), Reply("more")) as (model, server):
        assert model.ask(SAID, SHAPE).text == "text"
        assert model.ask(SAID, SHAPE).text == "more"
    kinds = [sent.get("response_format", {}).get("type") for sent in server.asked]
    assert kinds == ["json_schema", "json_object", None, None]


def test_the_limits_newer_name_is_found_out() -> None:
    newer = Reply(
        status=400, error="Unsupported parameter: 'max_tokens', use max_completion_tokens"
    )
    with asked(newer, Reply("ok")) as (model, server):
        model.ask(SAID, limit=7)
    assert server.asked[1]["max_completion_tokens"] == 7
    assert "max_tokens" not in server.asked[1]


def test_a_refusal_and_a_cut_answer_are_told_as_such() -> None:
    with asked(Reply(refusal="I will not"), Reply("half", finish="length")) as (model, _):
        assert model.ask(SAID).refusal == "I will not"
        assert model.ask(SAID).cut
    with asked(Reply(finish="content_filter")) as (model, _):
        assert "filter" in model.ask(SAID).refusal


def test_a_call_under_way_ends_at_once_when_the_model_is_closed() -> None:
    with asked(Reply("late", delay=60), seconds=90) as (model, server):
        found: list[Exception] = []

        def ask() -> None:
            try:
                model.ask(SAID)
            except ModelError as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.asked:
            time.sleep(0.01)
        model.close()
        thread.join(30)
        assert not thread.is_alive()
        assert [str(error) for error in found] == ["cancelled"]
        with pytest.raises(ModelError, match="cancelled"):
            model.ask(SAID)


def test_a_wait_between_attempts_ends_when_the_model_is_closed() -> None:
    with asked(Reply(status=429, error="busy", headers={"retry-after": "50"})) as (model, server):

        def ask() -> None:
            with pytest.raises(ModelError):
                model.ask(SAID)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.asked:
            time.sleep(0.01)
        model.close()
        thread.join(30)
        assert not thread.is_alive()


def test_siblings_are_asked_side_by_side() -> None:
    together = threading.Barrier(4, timeout=30)

    def all_at_once(_: Asked) -> Reply:
        together.wait()
        return Reply("hi")

    with asked(Reply("hi")) as (model, server):
        server.script = all_at_once
        threads = [threading.Thread(target=model.ask, args=(SAID,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.most_at_once == 4


@pytest.mark.parametrize(
    "leak",
    [
        lambda: Reply(status=401, error=f"Incorrect API key provided: {KEY}"),
        lambda: Reply(status=400, error=f"header Authorization: Bearer {KEY} is bad"),
        lambda: Reply(status=400, error="the key sk-proj-somebodyelses123 is bad"),
    ],
)
def test_a_key_that_a_server_repeats_is_never_shown(leak: Callable[[], Reply]) -> None:
    with asked(leak()) as (model, _), pytest.raises(ModelError) as caught:
        model.ask(SAID)
    assert "sk-" not in str(caught.value)
    assert KEY not in repr(model.endpoint)


def test_an_address_that_is_none_is_refused() -> None:
    for url in ("file:///etc/passwd", "localhost:8000", "https://"):
        with pytest.raises(ConfigError):
            ServerModel(Endpoint("m", url))


def test_only_this_machine_counts_as_local() -> None:
    assert Endpoint("m", "http://127.0.0.1:1/v1").is_local
    assert Endpoint("m", "http://[::1]:1/v1").is_local
    assert not Endpoint("m", "http://127.0.0.1.example.com/v1").is_local
    assert not Endpoint("m").is_local


def test_usage_a_server_leaves_out_or_garbles_is_no_error() -> None:
    with asked(Reply("hi", usage=False)) as (model, _):
        assert model.ask(SAID).usage.tokens == 0
    body = json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}],
        }
    )
    with asked(Reply(body=body, headers={"content-type": "application/json"})) as (model, _):
        assert model.ask(SAID).text == "hi"
