"""What GitHub's API tells of a change is what a checkout tells; suggestions are legal and exact."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from bot import github_errors as errors
from bot import projects
from bot.checkout import Checkout
from bot.interfaces import Change, Report, Reviewed
from bot.orders import BundleError
from optimizer.errors import ConfigError
from optimizer.model import Step
from tests.bot import synthetic
from tests.bot import world as worlds
from tests.bot.world import HOST, NAME, PATH, World, pull_of
from tests.fake_github.clicks import commit_suggestions
from tests.fake_github.state import Pull

PROJECT_BELOW = worlds.PROJECT.replace("kernels/transpose.cu", "transpose.cu")
HEADER = "#pragma once\n#define TILE 32\n"
INCLUDING = '#include "../include/tile.cuh"\n' + synthetic.NAIVE + HOST


def from_checkout(world: World, one: Pull, folder: Path) -> list[Change]:
    """Return what the GPU plane sees of the same commits."""
    store = str(world.repository.store.folder)
    subprocess.run(["git", "clone", "-q", "--no-checkout", store, str(folder)], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", one.head], cwd=folder, check=True)
    with Checkout(folder, one.base, projects.READING, lambda _: None) as checkout:
        return list(checkout.changed_kernels(checkout.pull))


def seen(changes: list[Change]) -> list[object]:
    return [
        (
            one.kernel,
            one.workload and dataclasses.replace(one.workload, root="."),
            one.reason,
            one.hunks,
        )
        for one in sorted(changes, key=lambda one: (one.kernel.path, one.kernel.name))
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {PATH: synthetic.NAIVE + HOST}),
        ({}, {PATH: synthetic.NAIVE.replace("\n", "\r\n") + HOST}),
        ({}, {"new/scale.cu": "__global__ void s(float* a) { *a = 1; }\n"}),
        ({}, {"app/main.cu": "__global__ void s() {}\nint main() { s<<<1, 1>>>(); }\n"}),
        ({"kernels/.optiml.yml": PROJECT_BELOW}, {PATH: synthetic.NAIVE + HOST}),
        ({"include/tile.cuh": HEADER, PATH: INCLUDING}, {"include/tile.cuh": HEADER + "//\n"}),
        ({"include/tile.cuh": HEADER, PATH: INCLUDING}, {"include/other.cuh": HEADER}),
        ({}, {PATH: None}),
        ({}, {PATH: None, "kernels/moved.cu": worlds.BEFORE + HOST}),
        ({}, {"README.md": "# other\n"}),
        ({}, {".optiml.yml": "version: 1\nkernels: []\n", PATH: synthetic.NAIVE + HOST}),
    ],
    ids=[
        "changed", "carriage returns", "undeclared", "program", "nearest project", "header",
        "header nobody includes", "removed", "renamed", "no kernel", "the head's project file",
    ],
)  # fmt: skip
def test_the_api_and_a_checkout_tell_the_same_of_a_change(
    world: World, tmp_path: Path, before: dict[str, str], after: dict[str, str | bytes | None]
) -> None:
    if before:
        world.base = world.fake.commit(world.repository, "main", dict(before))
    one = world.change("other", after)
    found = list(world.hub().forge(NAME, one.number).changed_kernels(pull_of(one)))
    try:
        there = from_checkout(world, one, tmp_path / "checkout")
    except ConfigError:  # a checkout looks at every file a project names, the API at changed ones
        assert after == {PATH: None} or None in after.values()
        return
    assert seen(found) == seen(there)


def test_a_tree_too_large_for_one_answer_is_walked(world: World) -> None:
    world.fake.hooks["tree_limit"] = 1
    one = world.change()
    (change,) = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert change.workload is not None


def test_a_file_too_large_for_a_diff_is_told_without_lines(world: World) -> None:
    text = synthetic.NAIVE + HOST + "// padding\n" * 3100
    one = world.change("large", {PATH: text})
    (change,) = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert change.kernel.source == text
    assert change.hunks == ()


def test_a_project_file_that_does_not_fit_names_what_is_wrong(world: World) -> None:
    broken = worlds.PROJECT.replace("type: int, value", "type: float, value")
    world.base = world.fake.commit(world.repository, "main", {".optiml.yml": broken})
    one = world.change()
    with pytest.raises(ConfigError, match=r"\.optiml\.yml: transpose"):
        world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))


def test_what_is_known_of_a_head_is_not_asked_again(world: World) -> None:
    one = world.change()
    hub = world.hub()
    hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    before = world.fake.count()
    hub.forge(NAME, one.number).changed_kernels(pull_of(one))
    assert world.fake.count() == before


LINE = st.sampled_from([
    "", "    int a = 0;", "    // @someone closes #1", "\tb += 1;", "    // ```", "    c();  // ünï",
    "    d();  ", "    // ````suggestion", "    e(0, 1);",
])  # fmt: skip
OPEN, SHUT = "__global__ void k(float* p)\n{\n", "}\n"


@st.composite
def edited(draw: st.DrawFn, lines: list[str]) -> list[str]:
    found = list(lines)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(found)))
        end = draw(st.integers(at, min(len(found), at + 3)))
        found[at:end] = draw(st.lists(LINE, max_size=4))
    return found


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, str, str]:
    """Draw a file of the base, of the head, and as it was measured; all hold the kernel."""
    body = draw(st.lists(LINE, min_size=3, max_size=40))
    texts = [body, draw(edited(body))]
    texts.append(draw(edited(texts[1])))
    base, head, measured = (OPEN + "".join(f"{line}\n" for line in lines) + SHUT for lines in texts)
    return base, head, measured


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(histories(), st.integers(0, 10**12))
def test_random_edits_on_random_diffs_are_legal_and_give_the_measured_file(
    world: World, history: tuple[str, str, str], number: int
) -> None:
    """GitHub, as the fake has it, refuses a whole review for one bad line; nothing may be."""
    base, head, measured = history
    assume(base != head != measured)
    world.fake.state.ahead += 61
    name = f"p{number}"
    world.fake.commit(world.repository, f"base-{name}", {"x.cu": base}, start=world.base)
    tip = world.repository.tip(f"base-{name}")
    assert tip is not None
    world.fake.commit(world.repository, name, {"x.cu": head}, start=tip)
    one = world.fake.pull(world.repository, name, base=f"base-{name}")
    hub = world.hub()
    forge = hub.forge(NAME, one.number)
    (plain,) = forge.changed_kernels(pull_of(one))
    found = synthetic.trajectory(0)
    change = dataclasses.replace(plain, workload=found.workload)
    forge._known[one.base, one.head] = (change,)

    def sourced(step: Step) -> Step:
        source = head if step.number == 0 else measured
        return dataclasses.replace(step, kernel=dataclasses.replace(change.kernel, source=source))

    steps = tuple(sourced(step) for step in found.steps)
    result = Reviewed(change, dataclasses.replace(found, steps=steps))
    before = set(world.fake.state.review_comments)
    try:
        forge.publish(pull_of(one), Report(None, (), (result,)))
    except BundleError:
        assume(condition=False)  # beyond the boundary of edits: nothing is offered at all
    posts = [
        call for call in world.fake.calls if call.path.endswith(f"/pulls/{one.number}/reviews")
    ]
    assert all(call.status == 200 for call in posts)
    ours = set(world.fake.state.review_comments) - before
    (written,) = world.fake.comments(one)
    event("suggested" if ours else "folded")
    if ours:
        assert "```diff" not in written.body
        clicked = commit_suggestions(world.fake, one)
        assert world.repository.store.file(clicked, "x.cu").decode() == measured
    else:
        assert "<summary>Diff" in written.body


def test_a_pull_request_that_moved_while_it_was_read_is_stale(world: World) -> None:
    one = world.change()
    old = pull_of(one)
    world.fake.commit(world.repository, "faster", {PATH: worlds.BEFORE + "//\n" + HOST})
    with pytest.raises(errors.Stale, match="is at"):
        world.hub().forge(NAME, one.number).changed_kernels(old)


def test_links_and_submodules_are_no_kernels_and_a_pointer_is_only_its_text(world: World) -> None:
    one = world.change("odd", {"README.md": "# other\n"})
    store, ref = world.repository.store, "refs/heads/odd"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    store.write_files(ref, {"kernels/lfs.cu": pointer}, "pointer")
    entries = store.entries(ref)
    target = store.line("hash-object", "-w", "--stdin", data=b"../../etc/passwd")
    entries |= {
        "kernels/link.cu": ("120000", target),
        "kernels/module.cu": ("160000", "c" * 40),
        "kernels/module.cuh": ("160000", "d" * 40),
    }
    commit = store.line("commit-tree", store.tree_of(entries), "-p", ref, "-m", "odd")
    store.git("update-ref", ref, commit)
    assert one.head == commit
    found = world.hub().forge(NAME, one.number).changed_kernels(pull_of(one))
    assert {change.kernel.source for change in found} <= {pointer, "../../etc/passwd"}
    assert not [change for change in found if change.workload or change.snippet]
    assert "kernels/module.cu" not in {change.kernel.path for change in found}
