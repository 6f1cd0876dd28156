"""The hub on the fake GitHub: state is read, every write is done once whatever fails."""

import pytest

from bot import github_errors as errors
from bot.interfaces import Button, Closing, Pull
from tests.bot import world as worlds
from tests.bot.world import NAME, World


def test_a_pull_request_is_read_as_it_is(world: World) -> None:
    one = world.change()
    one.labels, one.draft = ["optiml:skip"], True
    state = world.hub().pull(NAME, one.number)
    assert (state.head, state.base, state.base_ref) == (one.head, one.base, "main")
    assert (state.draft, state.fork, state.labels, state.author) == (
        True,
        False,
        ("optiml:skip",),
        "dev",
    )
    assert (state.head_ref, state.head_repository) == ("faster", NAME)


def test_a_fork_is_known_and_its_commit_leads_to_its_pull_request(world: World) -> None:
    one = worlds.forked(world)
    hub = world.hub()
    state = hub.pull(NAME, one.number)
    assert state.fork
    assert state.head_repository == "stranger/kernels"
    assert hub.pulls_of(NAME, one.head) == (one.number,)
    assert hub.pulls_of(NAME, world.base) == ()


@pytest.mark.parametrize(
    ("login", "right"),
    [
        ("owner", "admin"),
        ("dev", "write"),
        ("reader", "read"),
        ("helper", "triage"),
        ("stranger", "none"),
        ("nobody-at-all", "none"),
    ],
)
def test_rights_come_from_the_collaborator_api(world: World, login: str, right: str) -> None:
    world.repository.rights["helper"] = "triage"
    world.fake.state.user("helper")
    world.fake.state.user("stranger")
    assert world.hub().permission(NAME, login) == right


def test_a_reaction_is_given_once(world: World) -> None:
    one = world.change()
    comment = world.fake.say(one, "dev", "/optiml help")
    hub = world.hub()
    hub.react(NAME, comment.id, "eyes")
    hub.react(NAME, comment.id, "eyes")
    assert len(comment.reactions) == 1
    with pytest.raises(errors.Refused):
        hub.react(NAME, comment.id, "shrug")


def test_a_reply_is_written_once_for_each_key_and_edited_after(world: World) -> None:
    one = world.change()
    hub = world.hub()
    for words in ("queued", "running"):
        hub.reply(NAME, one.number, words, "delivery-1")
    hub.reply(NAME, one.number, "other", "delivery-2")
    first, second = world.fake.comments(one)
    assert first.body.endswith("running")
    assert second.body.endswith("other")


def test_anybody_may_write_our_marker_and_is_not_taken_for_us(world: World) -> None:
    one = world.change()
    hub = world.hub()
    hub.reply(NAME, one.number, "ours", "k")
    marker = world.fake.comments(one)[0].body.partition("\n")[0]
    other = world.change("other")
    forged = world.fake.say(other, "stranger", f"{marker}\nforged")
    hub.reply(NAME, other.number, "ours", "k")
    assert forged.body.endswith("forged")
    assert len(world.fake.comments(other)) == 1


def test_a_check_runs_its_course_with_buttons(world: World) -> None:
    one = world.change()
    hub = world.hub()
    number = hub.open_check(NAME, one.head, "o" * 32, "waiting", url="https://optiml.example/j/1")
    assert hub.open_check(NAME, one.head, "o" * 32, "waiting") == number
    check = world.fake.state.checks[number]
    assert (check.status, check.external_id) == ("in_progress", "o" * 32)
    hub.update_check(NAME, number, "3 of 80")
    assert (check.status, check.output["summary"]) == ("in_progress", "3 of 80")
    hub.close_check(
        NAME, number, Closing("success", "Done", "x" * 70_000, (Button("A" * 20, "d", "apply:1"),))
    )
    assert (check.status, check.conclusion) == ("completed", "success")
    assert check.actions[0]["identifier"] == "apply:1"
    assert len(check.output["summary"]) <= 65_535


def test_a_check_whose_answer_was_lost_is_not_opened_twice(world: World) -> None:
    one = world.change()
    world.fake.fail("POST", "check-runs", worlds.DROP, after=True)
    number = world.hub().open_check(NAME, one.head, "a" * 32, "waiting")
    assert list(world.fake.state.checks) == [number]


def test_deliveries_that_failed_are_told_by_their_last_attempt(world: World) -> None:
    now = world.fake.state.now()
    world.deliver(1, "guid-1", 502, now - 100)
    world.deliver(2, "guid-2", 502, now - 90)
    world.deliver(3, "guid-2", 200, now - 50)
    world.deliver(4, "guid-3", 500, now - 5000)
    hub = world.hub()
    (failed,) = hub.deliveries(now - 1000)
    assert (failed.id, failed.guid) == (1, "guid-1")
    hub.redeliver(failed.id)
    assert world.fake.state.deliveries[0].redelivered == 1


def test_a_head_that_is_not_the_pull_requests_any_more_is_stale(world: World) -> None:
    one = world.change()
    old = one.head
    world.fake.commit(world.repository, "faster", {worlds.PATH: worlds.BEFORE + "// more\n"})
    with pytest.raises(errors.Stale):
        world.hub().forge(NAME, one.number).changed_kernels(Pull(one.base, old, NAME, one.number))


WAYS = [
    *((status, False) for status in (401, 403, 404, 409, 422, 429, 500, 502, 503, worlds.DROP)),
    (502, True),
    (worlds.DROP, True),
]


@pytest.mark.parametrize("is_new", [False, True])
def test_whatever_fails_once_each_order_has_one_check_that_ends(world: World, is_new: bool) -> None:
    one = world.change()
    for number, (method, path, (status, after)) in enumerate(
        (method, path, way)
        for method, path in (
            ("GET", "/check-runs$"),
            ("POST", "/check-runs$"),
            ("PATCH", "/check-"),
        )
        for way in WAYS
        if not (is_new and method == "GET")
    ):
        world.fake.state.ahead += 10
        order = f"{number:032x}"
        hub = world.hub()
        world.fake.fail(method, path, status, after=after, message="trouble")
        try:
            check = hub.open_check(NAME, one.head, order, "waiting", is_new=is_new)
        except errors.GithubError as error:
            assert error.message  # noqa: PT017 - some of them are mended without one
            check = hub.open_check(NAME, one.head, order, "waiting")
        closing = Closing("neutral", "Nothing", "Nothing faster was found.")
        try:
            hub.close_check(NAME, check, closing)
        except errors.GithubError:
            hub.close_check(NAME, check, closing)
        assert all(fault.times == 0 for fault in world.fake.faults)
        ours = [run for run in world.fake.state.checks.values() if run.external_id == order]
        assert [(run.id, run.status) for run in ours] == [(check, "completed")]


def test_whatever_fails_once_a_reply_and_a_reaction_are_there_once(world: World) -> None:
    for number, (status, after) in enumerate(WAYS):
        for method, path in (
            ("GET", "/comments$"),
            ("POST", "/issues/[0-9]+/comments$"),
            ("POST", "/reactions$"),
        ):
            world.fake.state.ahead += 10
            one = world.change(f"b{number}-{method}-{len(path)}")
            comment = world.fake.say(one, "dev", "/optiml help")
            hub = world.hub()
            world.fake.fail(method, path, status, after=after, message="trouble")
            for _ in range(2):
                try:
                    hub.react(NAME, comment.id, "eyes")
                    hub.reply(NAME, one.number, "help", "key")
                except errors.GithubError:
                    continue
            assert all(fault.times == 0 for fault in world.fake.faults)
            assert len(world.fake.comments(one)) == 1
            assert len(comment.reactions) == 1


def test_every_path_a_pull_request_touches_is_known_or_that_some_are_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, str | bytes | None] = {
        "kernels/new.cu": "// new\n",
        ".github/workflows/x.yml": "on: push\n",
    }
    one = world.change("more", files)
    found = world.hub().paths_of(NAME, one.number)
    assert found is not None
    assert set(files) <= set(found)
    monkeypatch.setattr("bot.github.MOST_FILES", len(files))
    assert world.hub().paths_of(NAME, one.number) is None
