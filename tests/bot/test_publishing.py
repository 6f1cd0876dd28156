"""What the bot writes on a pull request: one comment, legal suggestions, nothing twice."""

import dataclasses
import re

import pytest

from bot import comment, markdown
from bot import github_errors as errors
from bot.interfaces import Pull, Report, Reviewed
from bot.orders import BundleError
from bot.suggestion import Hunk, Suggestion
from tests.bot import synthetic
from tests.bot import world as worlds
from tests.bot.world import NAME, PATH, World, pull_of, report_for, winner
from tests.fake_github.clicks import commit_suggestions
from tests.fake_github.state import Pull as PullRequest


def publish(world: World, one: PullRequest, report: Report | None = None) -> Report:
    hub = world.hub()
    said = report if report is not None else report_for(hub, one)
    hub.forge(NAME, one.number).publish(pull_of(one), said)
    return said


def test_suggestions_clicked_together_give_exactly_the_measured_file(world: World) -> None:
    one = world.change()
    report = publish(world, one)
    (written,) = world.fake.comments(one)
    assert written.body.startswith(comment.MARKER)
    assert "3.39×" in written.body
    assert world.fake.state.review_comments
    head = commit_suggestions(world.fake, one)
    assert world.repository.store.file(head, PATH).decode() == winner(report).best.kernel.source


def test_a_second_publication_changes_nothing(world: World) -> None:
    one = world.change()
    publish(world, one)
    before = world.fake.count("POST") - world.fake.count("POST", "access_tokens")
    publish(world, one)
    assert world.fake.count("POST") - world.fake.count("POST", "access_tokens") == before
    assert world.fake.count("PATCH") == 0


def test_a_new_push_edits_the_comment_and_supersedes_suggestions(world: World) -> None:
    one = world.change()
    publish(world, one)
    first = dict(world.fake.state.review_comments)
    moved = "// a line above\n" + synthetic.NAIVE + worlds.HOST
    world.fake.commit(world.repository, "faster", {PATH: moved})
    publish(world, one)
    (written,) = world.fake.comments(one)
    assert written.edits == 1 or "commit" not in written.body
    for number in first:
        assert "Superseded" in world.fake.state.review_comments[number].body
    fresh = [
        entry for number, entry in world.fake.state.review_comments.items() if number not in first
    ]
    assert fresh
    assert all("```suggestion" in entry.body for entry in fresh)


def test_suggestions_that_still_stand_are_not_repeated(world: World) -> None:
    one = world.change()
    publish(world, one)
    count = len(world.fake.state.review_comments)
    world.fake.commit(world.repository, "faster", {"README.md": "# more\n"})
    publish(world, one)
    assert len(world.fake.state.review_comments) == count
    assert "Superseded" not in str([c.body for c in world.fake.state.review_comments.values()])


def test_a_change_outside_the_diff_is_shown_folded_and_not_suggested(world: World) -> None:
    text = worlds.BEFORE.replace("unsigned y", "unsigned  y")
    one = world.change(files={PATH: text + worlds.HOST})
    hub = world.hub()
    (change,) = hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    measured = "// faster\n" + text + worlds.HOST + "// end\n"
    found = synthetic.trajectory(0)
    steps = tuple(
        dataclasses.replace(
            step,
            kernel=dataclasses.replace(
                change.kernel, source=text + worlds.HOST if n == 0 else measured
            ),
        )
        for n, step in enumerate(found.steps)
    )
    assert change.workload is not None
    result = Reviewed(change, dataclasses.replace(found, steps=steps, workload=change.workload))
    publish(world, one, Report(None, (), (result,)))
    (written,) = world.fake.comments(one)
    assert world.fake.state.review_comments == {}
    assert "```diff" in written.body


def test_a_review_that_github_refuses_leaves_the_change_in_the_comment(world: World) -> None:
    one = world.change()
    world.fake.fail("POST", "/reviews", 422, message="Line could not be resolved")
    publish(world, one)
    (written,) = world.fake.comments(one)
    assert "```diff" in written.body
    assert "suggestion" not in written.body


def test_one_line_that_is_not_in_the_diff_would_cost_the_whole_review(world: World) -> None:
    """The fake refuses it as GitHub does, or the tests above would prove nothing."""
    from bot.publishing import Conversation

    one = world.change()
    talk = Conversation(world.session(), NAME, one.number)
    legal = Suggestion(PATH, 6, 6, ("    int x = 0;",))
    for bad in (Suggestion(PATH, 500, 500, ()), Suggestion("README.md", 1, 1, ())):
        with pytest.raises(errors.Refused):
            talk.suggest([legal, bad], one.head, "", was_here=False)
    assert world.fake.state.review_comments == {}
    talk.suggest([legal], one.head, "", was_here=False)
    assert len(world.fake.state.review_comments) == 1


def test_nothing_found_is_nothing_said(world: World) -> None:
    one = world.change()
    hub = world.hub()
    publish(world, one, report_for(hub, one, won=False))
    assert world.fake.comments(one) == []


def test_a_win_that_is_gone_after_a_push_is_taken_back(world: World) -> None:
    one = world.change()
    publish(world, one)
    world.fake.commit(world.repository, "faster", {PATH: "// x\n" + synthetic.NAIVE + worlds.HOST})
    hub = world.hub()
    publish(world, one, report_for(hub, one, won=False))
    (written,) = world.fake.comments(one)
    assert "Nothing faster was found" in written.body
    assert "```suggestion" not in str([c.body for c in world.fake.state.review_comments.values()])


def test_a_result_on_another_text_is_not_published(world: World) -> None:
    one = world.change()
    report = report_for(world.hub(), one)
    world.fake.commit(world.repository, "faster", {PATH: synthetic.NAIVE + "// x\n" + worlds.HOST})
    with pytest.raises(BundleError, match="not the pull request's"):
        publish(world, one, report)
    assert world.fake.comments(one) == []


def test_a_kernel_that_nobody_describes_gets_one_line_with_a_snippet_once(world: World) -> None:
    source = "__global__ void scale(float* a, int n) { a[threadIdx.x] *= n; }\n"
    one = world.change("new", {"other/scale.cu": source})
    hub = world.hub()
    (change,) = hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    assert change.workload is None
    report = Report(None, (), (Reviewed(change, problem="no workload"),))
    publish(world, one, report)
    publish(world, one, report)
    (written,) = world.fake.comments(one)
    assert "`other/scale.cu`" in written.body
    snippet = re.search(r"```yaml\n(.*?)```", written.body, re.DOTALL)
    assert snippet
    assert 'kernel: "scale"' in snippet[1]


def test_a_program_needs_no_project_file(world: World) -> None:
    one = world.change(
        "prog", {"tools/app.cu": "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"}
    )
    (change,) = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert change.workload is not None
    assert change.workload.kind == "program"


def test_a_token_that_may_only_read_leads_to_the_job_summary_with_the_lines_to_add(
    world: World,
) -> None:
    one = world.change()
    token = world.fake.workflow_token(
        world.repository, {"contents": "read", "pull_requests": "read", "issues": "read"}
    )
    from bot.github import GithubHub

    said: list[str] = []
    hub = GithubHub(
        world.session(token=token, app=None),
        commands=False,
        apply="The patch is in this run's files.",
        unposted=said.append,
        sleep=world.slept,
    )
    hub.forge(NAME, one.number).publish(pull_of(one), report_for(hub, one))
    assert world.fake.comments(one, "github-actions[bot]") == []
    (text,) = said
    assert "permissions:\n  contents: read\n  issues: write\n  pull-requests: write\n" in text
    assert "3.39×" in text
    assert "```diff" in text


def test_a_workflows_own_token_posts_as_the_actions_bot(world: World) -> None:
    from bot.github import GithubHub

    one = world.change()
    rights = {"contents": "read", "pull_requests": "write"}
    token = world.fake.workflow_token(world.repository, rights)
    for _ in range(2):
        hub = GithubHub(world.session(token=token, app=None), commands=False, sleep=world.slept)
        hub.forge(NAME, one.number).publish(pull_of(one), report_for(hub, one))
    (written,) = world.fake.comments(one, "github-actions[bot]")
    assert "/optiml apply" not in written.body


def test_the_longest_story_fits_a_comment(world: World) -> None:
    one = world.change()
    report = report_for(world.hub(), one, extra=300)
    publish(world, one, report)
    (written,) = world.fake.comments(one)
    assert markdown.length(written.body) <= comment.LIMIT


# -- faults ----------------------------------------------------------------------------------------

STATUSES = [401, 403, 404, 409, 422, 429, 500, 502, 503, worlds.DROP]


WAYS = [*((status, False) for status in STATUSES), (502, True), (worlds.DROP, True)]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/installation$"),
        ("POST", "/access_tokens$"),
        ("GET", "/app$"),
        ("GET", "/users/"),
        ("GET", "/files$"),
        ("GET", "/git/trees/"),
        ("GET", "/git/blobs/"),
        ("GET", "/issues/[0-9]+/comments$"),
        ("POST", "/issues/[0-9]+/comments$"),
        ("POST", "/reviews$"),
    ],
)
def test_whatever_fails_once_nothing_is_written_twice(world: World, method: str, path: str) -> None:
    for number, (status, after) in enumerate(WAYS):
        one = world.change(f"branch-{number}")
        world.fake.state.review_comments.clear()
        report = report_for(world.hub(), one, extra=2)
        world.fake.fail(method, path, status, after=after, message="trouble")
        try:
            publish(world, one, report)
        except errors.GithubError:
            publish(world, one, report)  # as the durable job does
        assert all(fault.times == 0 for fault in world.fake.faults), "it did not happen"
        (written,) = world.fake.comments(one)
        assert written.body.startswith(comment.MARKER)
        bodies = str([entry.body for entry in world.fake.state.review_comments.values()])
        keys = re.findall("optiml:suggestion [0-9a-f]+", bodies)
        assert len(keys) == len(set(keys))
        assert bool(keys) != ("```diff" in written.body)


def test_an_edit_that_fails_is_done_by_the_next_attempt(world: World) -> None:
    one = world.change()
    publish(world, one, report_for(world.hub(), one, extra=2))
    for number, (status, after) in enumerate(WAYS, 1):
        world.fake.fail("PATCH", "/issues/comments/", status, after=after, message="trouble")
        report = report_for(world.hub(), one, extra=2 + number)
        try:
            publish(world, one, report)
        except errors.GithubError:
            publish(world, one, report)
        (written,) = world.fake.comments(one)
        assert f"{5 + number} candidates" in written.body


def test_a_head_that_moved_is_not_published_on(world: World) -> None:
    one = world.change()
    report = report_for(world.hub(), one)
    old = pull_of(one)
    world.fake.commit(world.repository, "faster", {PATH: worlds.BEFORE + "//\n" + worlds.HOST})
    with pytest.raises(errors.Stale):
        world.hub().forge(NAME, one.number).publish(old, report)
    assert world.fake.comments(one) == []


def test_hunks_are_those_of_the_pull_request(world: World) -> None:
    one = world.change()
    (change,) = (
        world.hub()
        .forge(NAME, one.number)
        .changed_kernels(Pull(one.base, one.head, NAME, one.number))
    )
    assert change.hunks == (Hunk(3, 10),)
