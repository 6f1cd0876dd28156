"""Results from a GPU plane held against what GitHub has, before anything is said or suggested.

A bundle tells figures, which nobody but the GPU plane can know, and texts, which are GitHub's to
tell. So the change comes from the API: its path, head text, diff lines, and the workload of the
base branch. A source that would be offered must start from exactly that text and stay inside the
boundary (`optimizer.boundary`), looked at again here, where nobody's code has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.interfaces import Change, Reviewed
from bot.orders import BundleError
from optimizer.boundary import violations
from optimizer.model import Step, Trajectory, Workload


def vouched(results: Sequence[Reviewed], changes: Sequence[Change]) -> tuple[Reviewed, ...]:
    """Return results on the changes as GitHub has them.

    `results` is what a bench fetched; `changes` is what the forge found at the order's head. Raise
    `BundleError` for a result that does not fit them.
    """
    known = {(one.kernel.path, one.kernel.name): one for one in changes}
    found = []
    for result in results:
        kernel = result.change.kernel
        change = known.get((kernel.path, kernel.name))
        if change is None and result.trajectory is None and result.against_base is None:
            continue  # nothing is claimed of it
        if change is None:
            raise BundleError("the bundle reports on a kernel that the pull request does not touch")
        found.append(_on(change, result))
    return tuple(found)


def _on(change: Change, result: Reviewed) -> Reviewed:
    if result.trajectory is None and result.against_base is None:
        return Reviewed(change, problem=result.problem)
    if change.kernel != result.change.kernel:
        raise BundleError("the bundle starts from a text that is not the pull request's")
    if change.workload is None or _rooted(change.workload) != _rooted(result.change.workload):
        raise BundleError("the bundle measured another workload than the base branch has")
    found = result.trajectory
    if found is not None:
        for step in found.path(found.winner or 0)[1:]:
            _check_edit(step, found, change.workload)
        found = replace(found, workload=change.workload)
    return Reviewed(change, found, result.against_base, result.problem)


def _check_edit(step: Step, found: Trajectory, workload: Workload) -> None:
    before, after = found.baseline.kernel, step.kernel
    beyond = violations(before.source, after.source, allow_host=workload.accept.edit_host)
    if beyond:
        raise BundleError(f"the bundle offers an edit beyond its boundary: it {beyond[0]}")
    free = before.launch is not None and before.launch.tunable
    if after.launch != before.launch and not free:
        raise BundleError("the bundle offers a launch that was not to be changed")


def _rooted(workload: Workload | None) -> Workload | None:
    return None if workload is None else replace(workload, root=".")
