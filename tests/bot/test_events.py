"""Webhook payloads: signatures, what is taken from them, and what is refused."""

import contextlib
import copy
import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import events
from bot.events import (
    HAPPENING,
    AccessLost,
    CheckClicked,
    CommentWritten,
    Ignored,
    PayloadError,
    PullChanged,
    QueueEntered,
    RunCompleted,
    SignatureError,
    parse,
)
from optimizer.errors import ConfigError

SECRET = b"a secret long enough to be one"
SHA = "a" * 40
PLACE = {"full_name": "owner/kernels"}
USER = {"login": "ada", "id": 7, "type": "User"}


def signed(body: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def pull(**changes: Any) -> dict[str, Any]:
    return {
        "action": "opened",
        "pull_request": {"number": 3, "head": {"sha": SHA}},
        "repository": PLACE,
        "sender": USER,
    } | changes


def comment(**changes: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 3, "pull_request": {"url": "x"}},
        "comment": {"id": 9, "user": USER, "body": "/optiml status"} | changes.pop("comment", {}),
        "repository": PLACE,
    } | changes


def check(**changes: Any) -> dict[str, Any]:
    return {
        "action": "requested_action",
        "check_run": {"id": 5, "head_sha": SHA, "external_id": "b" * 32, "app": {"id": 1}},
        "requested_action": {"identifier": "apply:1a2b3c4d"},
        "repository": PLACE,
        "sender": USER,
    } | changes


def read(name: str, payload: object, app_id: int | None = None) -> events.Event:
    return parse(name, json.dumps(payload).encode(), app_id)


def test_a_body_signed_with_the_secret_is_accepted_and_any_other_is_not() -> None:
    events.verify([SECRET], b"{}", signed(b"{}"))
    for signature in (
        "",
        "sha256=",
        signed(b"{} "),
        signed(b"{}", b"another secret, as long"),
        signed(b"{}").upper(),
        "sha1=" + "0" * 40,
        signed(b"{}") + "0",
        "é" * 64,
    ):
        with pytest.raises(SignatureError):
            events.verify([SECRET], b"{}", signature)


def test_during_a_rotation_the_old_and_the_new_secret_both_fit() -> None:
    secrets = events.secrets_of("the old secret, long, the new secret, longer".replace(", l", " l"))
    assert len(secrets) == 2
    for secret in secrets:
        events.verify(secrets, b"{}", signed(b"{}", secret))


@pytest.mark.parametrize("text", ["", " , ", "short", "long enough to be one,short"])
def test_without_a_real_secret_nothing_starts(text: str) -> None:
    with pytest.raises(ConfigError):
        events.secrets_of(text)


@given(st.binary(max_size=200), st.text(max_size=90))
def test_no_made_up_signature_fits(body: bytes, signature: str) -> None:
    with pytest.raises(SignatureError):
        events.verify([SECRET], body, signature)


@pytest.mark.parametrize(
    "action", ["opened", "synchronize", "reopened", "ready_for_review", "closed"]
)
def test_what_changes_a_pull_request_is_told(action: str) -> None:
    found = read("pull_request", pull(action=action))
    assert found == PullChanged("owner/kernels", 3, action, SHA, "ada")


def test_of_labels_only_the_one_that_means_us_counts() -> None:
    skip = pull(action="labeled", label={"name": "optiml:skip"})
    assert isinstance(read("pull_request", skip), PullChanged)
    other = pull(action="labeled", label={"name": "bug"})
    assert isinstance(read("pull_request", other), Ignored)
    assert isinstance(read("pull_request", pull(action="edited")), Ignored)


def test_a_new_comment_with_a_command_on_a_pull_request_is_told() -> None:
    found = read("issue_comment", comment())
    assert found == CommentWritten("owner/kernels", 3, 9, "/optiml status", "ada", 7)


@pytest.mark.parametrize(
    "payload",
    [
        comment(action="edited"),
        comment(action="deleted"),
        comment(issue={"number": 3}),
        comment(comment={"body": "what is this about?"}),
        comment(comment={"body": None}),
        comment(comment={"user": None}),
        comment(comment={"user": USER | {"type": "Bot"}}),
        comment(comment={"performed_via_github_app": {"id": 1}}),
    ],
)
def test_edited_comments_and_those_of_bots_or_without_command_are_ignored(payload: object) -> None:
    assert isinstance(read("issue_comment", payload, 1), Ignored)


def test_a_button_is_told_with_the_order_it_belongs_to() -> None:
    found = read("check_run", check(), 1)
    assert found == CheckClicked("owner/kernels", SHA, 5, "b" * 32, "apply:1a2b3c4d", "ada")
    again = read("check_run", check(action="rerequested", requested_action=None), 1)
    assert isinstance(again, CheckClicked)
    assert not again.button
    assert isinstance(read("check_run", check(), 2), Ignored), "another App's check run"
    assert isinstance(read("check_run", check(action="completed")), Ignored)


def test_a_finished_run_a_merge_queue_and_lost_repositories_are_told() -> None:
    run = {"action": "completed", "workflow_run": {"id": 8}, "repository": PLACE}
    assert read("workflow_run", run) == RunCompleted("owner/kernels", 8)
    group = {"merge_group": {"head_sha": SHA}, "repository": PLACE}
    asked = read("merge_group", group | {"action": "checks_requested"})
    assert asked == QueueEntered("owner/kernels", SHA)
    ref = f"refs/heads/gh-readonly-queue/main/pr-7-{SHA}"
    named = {**group, "merge_group": {"head_sha": SHA, "head_ref": ref}}
    asked = read("merge_group", named | {"action": "checks_requested"})
    assert asked == QueueEntered("owner/kernels", SHA, ref)
    assert isinstance(read("merge_group", group | {"action": "destroyed"}), Ignored)
    gone = {"action": "removed", "repositories_removed": [PLACE], "repositories_added": []}
    assert read("installation_repositories", gone) == AccessLost(("owner/kernels",))
    assert isinstance(read("installation", {"action": "created", "repositories": [PLACE]}), Ignored)
    suspended = {"action": "suspend", "repositories": [PLACE]}
    assert read("installation", suspended) == AccessLost(("owner/kernels",))


@pytest.mark.parametrize(
    "payload",
    [
        pull(repository={"full_name": "owner/../../etc"}),
        pull(repository={"full_name": "../x"}),
        pull(repository={"full_name": "owner/kernels\n"}),
        pull(pull_request={"number": 0, "head": {"sha": SHA}}),
        pull(pull_request={"number": 10**30, "head": {"sha": SHA}}),
        pull(pull_request={"number": 3, "head": {"sha": "main"}}),
        pull(pull_request={"number": 3, "head": {"sha": SHA + "\n"}}),
        pull(sender={"login": "a b", "id": 1}),
        [],
        None,
    ],
)
def test_a_payload_github_would_not_send_is_refused(payload: object) -> None:
    with pytest.raises(PayloadError):
        read("pull_request", payload)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b"\xff", b'{"a":' * 50_000, b'"\\ud800"']
)
def test_a_body_that_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(PayloadError):
        parse("pull_request", body)


def test_headers_that_github_would_not_send_are_refused() -> None:
    for guid in ("", "a" * 65, "../../x", "a b c d e f g"):
        with pytest.raises(PayloadError):
            events.guid_of(guid)
    with pytest.raises(PayloadError):
        parse("Pull Request", b"{}")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@given(
    st.sampled_from(sorted(events._READERS)),
    st.dictionaries(
        st.sampled_from(["action", "pull_request", "issue", "comment", "repository", "sender"]),
        json_values,
    ),
)
def test_a_signed_payload_of_any_shape_is_read_or_refused(name: str, payload: object) -> None:
    with contextlib.suppress(PayloadError):  # nothing else may come out
        read(name, payload)


_SOUND = {"pull_request": pull(), "issue_comment": comment(), "check_run": check()}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_sound_payload_with_any_value_changed_is_read_or_refused(data: st.DataObject) -> None:
    """And what is read of it can be stored and read again."""
    name = data.draw(st.sampled_from(sorted(_SOUND)))
    payload: Any = copy.deepcopy(_SOUND[name])
    at, key = payload, data.draw(st.sampled_from(sorted(payload)))
    while isinstance(at[key], dict):
        at = at[key]
        key = data.draw(st.sampled_from(sorted(at)))
    at[key] = data.draw(json_values | st.sampled_from(["\ud800", "a" * 5000, 2**70, "../x"]))
    with contextlib.suppress(PayloadError):
        found = read(name, payload)
        if not isinstance(found, Ignored):
            assert HAPPENING.validate_json(HAPPENING.dump_json(found)) == found


@given(st.text(max_size=50))
def test_whatever_is_told_survives_being_stored(text: str) -> None:
    found = read("issue_comment", comment(comment={"body": "/optiml " + text}))
    assert isinstance(found, CommentWritten)
    assert HAPPENING.validate_json(HAPPENING.dump_json(found)) == found
