"""Tokens are renewed, limits honoured, and only what may be repeated is repeated."""

import base64
import dataclasses
import time
import traceback

import pytest

from bot import github_errors as errors
from bot.github_app import App
from bot.github_session import GithubSession, session_of
from bot.settings import Settings
from optimizer.errors import ConfigError
from tests.bot.world import DROP, NAME, World, dropped
from tests.fake_github import server

REPOSITORY = f"/repos/{NAME}"


def test_a_token_is_minted_once_and_again_before_it_ends(world: World) -> None:
    session = world.session()
    for _ in range(3):
        session.request("GET", REPOSITORY, repository=NAME)
    assert world.fake.count("POST", "access_tokens") == 1
    world.fake.state.ahead += 3590
    session.request("GET", REPOSITORY, repository=NAME)
    assert world.fake.count("POST", "access_tokens") == 2


def test_a_token_that_was_taken_back_is_minted_again(world: World) -> None:
    session = world.session()
    session.request("GET", REPOSITORY, repository=NAME)
    world.fake.state.tokens.clear()
    assert session.request("GET", REPOSITORY, repository=NAME).status == 200
    assert world.fake.count("POST", "access_tokens") == 2


def test_a_clock_that_is_wrong_is_made_up_for(world: World) -> None:
    patience = dataclasses.replace(
        world.session()._patience, clock=lambda: time.time() + 3600, sleep=world.slept
    )
    session = world.session(patience=patience)
    assert session.request("GET", REPOSITORY, repository=NAME).status == 200


def test_another_apps_key_is_told_of_at_once(world: World) -> None:
    session = world.session(app=App(world.fake.app_id, server.OTHER_KEY))
    with pytest.raises(errors.Denied, match="401"):
        session.request("GET", "/app")


def test_a_key_that_is_none_is_a_setting_to_mend(world: World) -> None:
    with pytest.raises(ConfigError, match="not readable"):
        GithubSession(world.fake.address, app=App("1", "not a key"))
    with pytest.raises(ConfigError, match="no way to sign in"):
        session_of(Settings())
    with pytest.raises(ConfigError, match="cannot be read"):
        session_of(Settings(github_app_id="1", github_app_key="/no/such.pem"))


def test_an_app_that_is_not_installed_says_where_to_install_it(world: World) -> None:
    world.fake.repository("octo/other", installed=False)
    with pytest.raises(errors.Denied, match="not installed on octo/other"):
        world.session().request("GET", "/repos/octo/other", repository="octo/other")


def test_a_key_in_another_form_is_in_no_message() -> None:
    key = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----" + bytes(900)).decode()
    with pytest.raises(ConfigError, match="cannot be read") as told:
        session_of(Settings(github_app_id="1", github_app_key=key))
    shown = "".join(traceback.format_exception(told.value))
    assert key[:16] not in shown


def test_an_app_that_was_installed_again_is_found_again(world: World) -> None:
    session = world.session()
    session.request("GET", REPOSITORY, repository=NAME)
    gone = world.repository.installation
    assert gone is not None
    world.fake.state.permissions[gone + 1000] = world.fake.state.permissions.pop(gone)
    world.repository.installation = gone + 1000
    world.fake.state.tokens.clear()  # those of an installation end with it
    assert session.request("GET", REPOSITORY, repository=NAME).status == 200
    assert world.fake.count("GET", "/installation$") == 2


def test_whose_a_repository_is_is_asked_of_github_and_again_after_an_hour(world: World) -> None:
    session = world.session()
    for _ in range(3):
        session.request("GET", REPOSITORY, repository=NAME)
    assert world.fake.count("GET", "/installation$") == 1
    world.fake.state.ahead += 3601
    session.request("GET", REPOSITORY, repository=NAME)
    assert world.fake.count("GET", "/installation$") == 2


@pytest.mark.parametrize("status", [500, 502, 503, 504, DROP])
def test_reads_are_repeated_after_a_failure_of_the_server(world: World, status: int) -> None:
    world.fake.fail("GET", f"{REPOSITORY}$", status, times=2)
    assert world.session().request("GET", REPOSITORY, repository=NAME).status == 200


@pytest.mark.parametrize("status", [500, 502, 503, 504, DROP])
def test_writes_are_not_repeated_unless_that_is_safe(world: World, status: int) -> None:
    one = world.change()
    path = f"{REPOSITORY}/issues/{one.number}/comments"
    world.fake.fail("POST", "comments", status)
    with pytest.raises(errors.Unreachable):
        world.session().request("POST", path, repository=NAME, body={"body": "x"})
    assert world.fake.comments(one) == []
    world.fake.fail("POST", "comments", status)
    world.session().request("POST", path, repository=NAME, body={"body": "x"}, repeat=True)
    assert len(world.fake.comments(one)) == 1


def test_a_short_rate_limit_is_waited_out(world: World) -> None:
    world.fake.fail("GET", f"{REPOSITORY}$", 429, retry_after="3")
    assert world.session().request("GET", REPOSITORY, repository=NAME).status == 200
    assert world.slept.times == [3.0]


def test_a_long_rate_limit_is_told_with_the_time_to_come_back(world: World) -> None:
    world.fake.remaining = 0
    with pytest.raises(errors.RateLimited) as told:
        world.session().request("GET", "/app")
    assert told.value.retry_after is not None
    assert 1700 < told.value.retry_after < 1900


def test_a_secondary_limit_is_known_by_its_words(world: World) -> None:
    words = "You have exceeded a secondary rate limit"
    world.fake.fail("GET", f"{REPOSITORY}$", 403, message=words)
    with pytest.raises(errors.RateLimited) as told:
        world.session().request("GET", REPOSITORY, repository=NAME)
    assert told.value.retry_after == 60


def test_more_writes_than_github_takes_in_a_minute_are_spread_out(world: World) -> None:
    one = world.change()
    session = world.session()
    path = f"{REPOSITORY}/issues/{one.number}/comments"
    original = world.slept.__call__

    def sleep(seconds: float) -> None:
        world.fake.state.ahead += seconds
        original(seconds)

    session._patience = dataclasses.replace(session._patience, sleep=sleep)
    for number in range(100):
        session.request("POST", path, repository=NAME, body={"body": f"{number}"})
    assert len(world.fake.comments(one)) == 100
    assert sum(world.slept.times) >= 50


def test_a_missing_permission_is_named(world: World) -> None:
    one = world.change()
    token = world.fake.workflow_token(world.repository, {"contents": "read"})
    with pytest.raises(errors.Denied) as told:
        world.session(token=token, app=None).request(
            "POST",
            f"{REPOSITORY}/check-runs",
            repository=NAME,
            body={"name": "x", "head_sha": one.head},
        )
    assert "checks: write" in told.value.remedy


@pytest.mark.parametrize(
    ("status", "family"),
    [
        (404, errors.Missing),
        (410, errors.Missing),
        (409, errors.Stale),
        (422, errors.Refused),
        (400, errors.Refused),
        (403, errors.Denied),
    ],
)
def test_refusals_have_their_kinds(world: World, status: int, family: type[Exception]) -> None:
    world.fake.fail("GET", f"{REPOSITORY}$", status, message="no")
    with pytest.raises(family):
        world.session().request("GET", REPOSITORY, repository=NAME)


def test_an_answer_that_is_no_json_is_a_proxys(world: World) -> None:
    with dropped(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>") as url:
        session = world.session(token="t", app=None)
        session.url = url
        with pytest.raises(errors.Unreachable, match="not JSON"):
            session.request("GET", "/app")


def test_nothing_listens(world: World) -> None:
    session = world.session(token="t", app=None)
    session.url = "http://127.0.0.1:9"
    with pytest.raises(errors.Unreachable, match="did not answer"):
        session.request("POST", "/x", body={})
    assert len(world.slept.times) == 3, "what was never sent may be repeated"


def test_a_redirection_to_another_host_does_not_get_the_token(world: World) -> None:
    world.fake.fail("GET", f"{REPOSITORY}$", 301, location="http://evil.example/x")
    with pytest.raises(errors.Refused, match="elsewhere"):
        world.session().request("GET", REPOSITORY, repository=NAME)


def test_a_renamed_repository_is_followed(world: World) -> None:
    world.fake.fail("GET", f"{REPOSITORY}$", 301, location=f"{world.fake.address}{REPOSITORY}")
    assert world.session().request("GET", REPOSITORY, repository=NAME).status == 200


def test_lists_are_read_to_their_end(world: World) -> None:
    one = world.change()
    for number in range(230):
        world.fake.say(one, "dev", f"{number}")
    path = f"{REPOSITORY}/issues/{one.number}/comments"
    found = list(world.session().pages(path, repository=NAME))
    assert [entry["body"] for entry in found] == [f"{number}" for number in range(230)]


def test_a_download_goes_without_our_token_and_only_to_its_limit(world: World) -> None:
    run = world.run()
    world.fake.finish(run, "success", b"z" * 5000)
    (artifact,) = world.fake.state.artifacts
    path = f"{REPOSITORY}/actions/artifacts/{artifact}/zip"
    session = world.session()
    assert session.download(path, repository=NAME, limit=5000) == b"z" * 5000
    with pytest.raises(errors.Refused, match="larger"):
        session.download(path, repository=NAME, limit=4999)
    world.fake.fail("GET", "/storage/", 403, times=1)
    assert len(session.download(path, repository=NAME, limit=5000)) == 5000


def test_an_enterprise_server_is_known_by_what_it_says(world: World) -> None:
    assert not world.session().capabilities.is_server
    world.fake.hooks["meta"] = {"installed_version": "3.17.2"}
    found = world.session().capabilities
    assert (found.version, found.dispatch_inputs, found.run_details) == ("3.17.2", 10, False)


def test_secrets_are_in_no_error_and_no_repr(world: World) -> None:
    session = world.session()
    session.request("GET", REPOSITORY, repository=NAME)
    token = next(iter(world.fake.state.tokens))
    world.fake.fail("GET", f"{REPOSITORY}$", 403, message="no")
    with pytest.raises(errors.Denied) as told:
        session.request("GET", REPOSITORY, repository=NAME)
    shown = f"{told.value!r} {told.value} {session.app!r}"
    assert token not in shown
    assert "PRIVATE KEY" not in shown
