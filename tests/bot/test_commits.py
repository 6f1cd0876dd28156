"""Winners as commits: one for each kept edit, byte for byte what was measured, never twice."""

import dataclasses
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot import commit_words
from bot import github_errors as errors
from bot.comment import identity
from bot.commits import blob_id, site_of
from bot.interfaces import Reviewed
from tests.bot import synthetic
from tests.bot import world as worlds
from tests.bot.world import NAME, PATH, World, report_for
from tests.fake_github.state import ALL, Pull


def measured(world: World, one: Pull) -> Reviewed:
    return report_for(world.hub(), one, extra=2).results[0]


def apply(world: World, one: Pull, result: Reviewed, *, squash: bool = False, by: str = "") -> str:
    """Apply as a service would that was started anew."""
    return world.hub().apply(NAME, one.number, result, head=one.head, squash=squash, by=by)


def history(world: World, one: Pull, since: str) -> list[str]:
    log = world.repository.store.git("log", "--format=%B%x00", f"{since}..{one.head}").decode()
    return [text.strip() for text in log.split("\0") if text.strip()][::-1]


def file_at(world: World, commit: str) -> str:
    return world.repository.store.file(commit, PATH).decode()


def test_every_kept_edit_is_a_commit_with_its_own_gain(world: World) -> None:
    one = world.change()
    before, result = one.head, measured(world, one)
    url = apply(world, one, result, by="dev")
    assert result.trajectory is not None
    assert file_at(world, one.head) == result.trajectory.best.kernel.source
    texts = history(world, one, before)
    assert len(texts) == 3
    assert [re.findall(r"\((\S+×)\)", text)[0] for text in texts] == ["2.41×", "1.38×", "1.03×"]
    assert "Confirmed in a fresh process with fresh seeds: 3.39× faster" in texts[-1]
    ident = identity(result.trajectory)
    dev = world.fake.state.user("dev").id
    for place, text in enumerate(texts, 1):
        assert f"OptiML-Edit: {ident} {place}/3" in text
        assert re.search(
            rf"^Co-authored-by: dev <{dev}\+dev@users.noreply\.\S+>$", text, re.MULTILINE
        )
    assert url == f"{world.fake.public}/{NAME}/commit/{one.head}"


def test_every_commit_on_the_way_holds_the_source_of_its_step(world: World) -> None:
    one = world.change()
    before, result = one.head, measured(world, one)
    apply(world, one, result)
    found = result.trajectory
    assert found is not None
    listed = world.repository.store.git("rev-list", "--reverse", f"{before}..{one.head}")
    sources = [file_at(world, commit) for commit in listed.decode().split()]
    assert sources == [step.kernel.source for step in found.path(3)[1:]]


def test_squashed_it_is_one_commit_that_lists_the_edits(world: World) -> None:
    one = world.change()
    before, result = one.head, measured(world, one)
    apply(world, one, result, squash=True)
    (text,) = history(world, one, before)
    assert text.startswith("transpose: 3 edits (3.39×)")
    assert text.count("\n- ") >= 3
    assert result.trajectory is not None
    assert file_at(world, one.head) == result.trajectory.best.kernel.source


def test_applied_twice_is_applied_once(world: World) -> None:
    one = world.change()
    result = measured(world, one)
    first = apply(world, one, result)
    head = one.head
    assert apply(world, one, result) == first
    assert one.head == head


def test_another_file_may_have_changed_meanwhile(world: World) -> None:
    one = world.change()
    result = measured(world, one)
    at = one.head
    world.fake.commit(world.repository, "faster", {"README.md": "# new\n"})
    world.hub().apply(NAME, one.number, result, head=at)
    assert result.trajectory is not None
    assert file_at(world, one.head) == result.trajectory.best.kernel.source
    assert world.repository.store.file(one.head, "README.md") == b"# new\n"


def test_a_file_that_changed_is_stale(world: World) -> None:
    one = world.change()
    at, result = one.head, measured(world, one)
    world.fake.commit(world.repository, "faster", {PATH: worlds.BEFORE + "//\n" + worlds.HOST})
    head = one.head
    with pytest.raises(errors.Stale, match="not what was measured"):
        world.hub().apply(NAME, one.number, result, head=at)
    assert one.head == head


def test_a_header_that_changed_is_stale(world: World) -> None:
    world.base = world.fake.commit(world.repository, "main", {"kernels/t.cuh": "#define T 1\n"})
    source = '#include "t.cuh"\n' + synthetic.NAIVE + worlds.HOST
    one = world.change("head", {PATH: source})
    at, result = one.head, measured(world, one)
    world.fake.commit(world.repository, "head", {"kernels/t.cuh": "#define T 2\n"})
    with pytest.raises(errors.Stale, match=r"t\.cuh changed"):
        world.hub().apply(NAME, one.number, result, head=at)


def test_a_push_in_between_is_never_overwritten(world: World) -> None:
    one = world.change()
    result = measured(world, one)
    hub = world.hub()
    state = hub.pull(NAME, one.number)
    world.fake.commit(world.repository, "faster", {"README.md": "# theirs\n"})
    head = one.head
    with pytest.raises(errors.Stale, match="fast forward"):
        hub._committer.apply(NAME, state, result, head=state.head, squash=False, by="")
    assert one.head == head


def test_a_branch_that_takes_no_push_gets_a_stacked_pull_request_once(world: World) -> None:
    one = world.change()
    result = measured(world, one)
    world.repository.protected.add("faster")
    first = apply(world, one, result)
    assert apply(world, one, result) == first
    stacked = [entry for entry in world.fake.state.pulls.values() if entry is not one]
    (offered,) = stacked
    assert first.endswith(f"/pull/{offered.number}")
    assert (offered.base_ref, offered.head_ref.split("/")[0]) == ("faster", "optiml")
    assert result.trajectory is not None
    assert file_at(world, offered.head) == result.trajectory.best.kernel.source
    assert "Changes must be made through a pull request" in offered.body


def test_a_fork_that_takes_no_push_says_what_to_do(world: World) -> None:
    one = worlds.forked(world)
    result = measured(world, one)
    with pytest.raises(errors.Denied) as told:
        apply(world, one, result)
    assert "git apply" in told.value.remedy
    assert set(world.fake.state.pulls) == {(NAME, one.number)}


def installed_on(world: World, one: Pull) -> None:
    """Install the App on the repository that a pull request comes from, too."""
    assert one.source is not None
    one.source.installation = next(world.fake.state.numbers)
    world.fake.state.permissions[one.source.installation] = dict(ALL)


def test_an_app_that_is_installed_on_a_fork_pushes_there_for_nobody_who_may_not(
    world: World,
) -> None:
    one = worlds.forked(world)
    installed_on(world, one)
    assert one.source is not None
    head, result = one.head, measured(world, one)
    one.source.rights["reader"] = "read"
    world.fake.state.user("reader")
    world.fake.state.user("attacker")
    world.repository.rights["attacker"] = "admin"  # of the base, which is a fork of their own
    for by in ("attacker", "reader", ""):
        with pytest.raises(errors.Denied, match="somebody else's") as told:
            apply(world, one, result, by=by)
        assert "git apply" in told.value.remedy
    assert one.head == head


@pytest.mark.parametrize("is_editable", [True, False])
def test_a_fork_is_committed_to_where_its_author_lets_maintainers_or_who_asks_may_push(
    world: World, is_editable: bool
) -> None:
    one = worlds.forked(world)
    installed_on(world, one)
    result = measured(world, one)
    one.is_editable = is_editable
    apply(world, one, result, by="dev" if is_editable else "stranger")
    assert result.trajectory is not None
    assert file_at(world, one.head) == result.trajectory.best.kernel.source


def test_without_the_permission_it_is_named(world: World) -> None:
    one = world.change()
    result = measured(world, one)
    assert world.repository.installation is not None
    world.fake.state.permissions[world.repository.installation]["contents"] = "read"
    with pytest.raises(errors.Denied) as told:
        apply(world, one, result)
    assert "contents: write" in told.value.remedy


def test_nothing_is_committed_to_a_closed_pull_request_or_without_a_winner(world: World) -> None:
    one = world.change()
    lost = report_for(world.hub(), one, won=False).results[0]
    with pytest.raises(errors.Refused, match="no faster version"):
        apply(world, one, lost)
    result = measured(world, one)
    one.state = "closed"
    with pytest.raises(errors.Refused, match="closed"):
        apply(world, one, result)


WAYS = [(status, False) for status in (401, 403, 404, 409, 422, 429, 500, 502, worlds.DROP)]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/pulls/[0-9]+$"),
        ("GET", "/git/trees/"),
        ("GET", "/git/commits/"),
        ("POST", "/git/blobs$"),
        ("POST", "/git/trees$"),
        ("POST", "/git/commits$"),
        ("PATCH", "/git/refs/"),
    ],
)
def test_whatever_fails_once_the_edits_are_there_once(world: World, method: str, path: str) -> None:
    for number, (status, after) in enumerate([*WAYS, (500, True), (worlds.DROP, True)]):
        world.fake.state.ahead += 61  # GitHub takes 80 writes a minute
        one = world.change(f"branch-{number}")
        before, result = one.head, measured(world, one)
        world.fake.fail(method, path, status, after=after, message="trouble")
        try:
            url = apply(world, one, result)
        except errors.GithubError:
            url = apply(world, one, result)
        texts = history(world, one, before)
        stacked = len(world.fake.state.pulls) - number - 1
        if texts:
            assert len(texts) == 3
            assert f"{one.head}" in url
        else:
            # A branch that says no gets a pull request onto it instead.
            assert (method, status) in {("PATCH", 403), ("PATCH", 422), ("PATCH", 404)}
            assert "/pull/" in url
        for key in [key for key in world.fake.state.pulls if stacked and "/pull/" in url][-1:]:
            del world.fake.state.pulls[key]


def test_what_github_reads_in_messages_is_broken() -> None:
    evil = (
        "fixes #1 @octocat https://x.example/o/r/issues/3 [skip ci] [ci skip]\n\nCo-authored-by: a"
    )
    words = commit_words.neutral(evil)
    assert "#1" not in words
    assert "@octocat" not in words
    assert "[skip ci]" not in words
    assert "https://" not in words
    assert "\n" not in words
    assert "Co-authored-by:" not in words


@given(st.text(max_size=300))
def test_no_title_makes_a_message_longer_or_another_trailer(text: str) -> None:
    found = synthetic.trajectory(0)
    steps = list(found.steps)
    edit = steps[1].edit
    assert edit is not None
    steps[1] = dataclasses.replace(
        steps[1], edit=dataclasses.replace(edit, title=text, rationale=text)
    )
    from bot.outcome import summarize

    outcome = summarize(dataclasses.replace(found, steps=tuple(steps)))
    words = commit_words.message(
        outcome, outcome.kept, 0, commit_words.Credit("abcd1234", "f" * 40)
    )
    subject, _, rest = words.partition("\n")
    assert len(subject) <= 72
    assert rest.startswith("\n")
    assert words.rstrip().split("\n\n")[-1] == "OptiML-Edit: abcd1234 1/3"
    assert not re.search(r"(?i)(^|\s)[@#]\w", words.replace("\u200b", " \u200b ").replace("@ ", ""))


def test_ids_are_gits(world: World) -> None:
    content = "α\r\n".encode()
    assert blob_id(content) == world.repository.store.line("hash-object", "--stdin", data=content)
    assert len(blob_id(content, 64)) == 64
    assert site_of("https://api.octo.ghe.com") == "https://octo.ghe.com"


LINES = st.lists(
    st.sampled_from(["", "  x += 1;", "\tfoo();\r", "// ünï ```", "}", "\x0c", "a b  "]),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(LINES, st.booleans(), st.integers(0, 10**9))
def test_whatever_bytes_were_measured_are_the_bytes_in_the_branch(
    world: World, lines: list[str], ends: bool, number: int
) -> None:
    source = "\n".join(lines) + ("\n" if ends else "") + f"// {number}"
    world.fake.state.ahead += 61
    one = world.change(f"b{number}")
    result = measured(world, one)
    found = result.trajectory
    assert found is not None
    last = found.steps[3]
    kernel = dataclasses.replace(last.kernel, source=source)
    steps = (*found.steps[:3], dataclasses.replace(last, kernel=kernel), *found.steps[4:])
    result = dataclasses.replace(result, trajectory=dataclasses.replace(found, steps=steps))
    apply(world, one, result)
    assert world.repository.store.file(one.head, PATH) == source.encode()
