"""One straight line for every door: search each changed kernel, compare with base, publish."""

import dataclasses
from collections.abc import Sequence

import pytest

from bot.comment import Door
from bot.interfaces import Change, Pull, Report
from bot.review import Means, Watch, review
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.budget import Budget
from optimizer.errors import NoDeviceError
from optimizer.model import Kernel, Status, Step, Verdict
from runners.interfaces import Job
from tests.bot import scripted, synthetic

NAIVE = Kernel("transpose", synthetic.NAIVE, "kernels/transpose.cu", synthetic.WORKLOAD.launch)
SLOW = dataclasses.replace(NAIVE, source=NAIVE.source.replace("// Trans", "// SLOW Trans"))
PULL = Pull("base", "head-commit")


class Forge:
    """A forge that holds what it is given."""

    def __init__(self, *changes: Change) -> None:
        self.changes = changes
        self.published: list[Report] = []

    def changed_kernels(self, pull: Pull) -> Sequence[Change]:
        return self.changes

    def publish(self, pull: Pull, report: Report) -> None:
        self.published.append(report)


def run(
    forge: Forge, machine: scripted.Scripted | None = None, watch: Watch | None = None
) -> Report:
    source = scripted.source()
    if machine is not None:
        source = dataclasses.replace(source, dispatcher=machine)
    with Workshop(Settings(memory="off"), source=source) as workshop:
        means = Means(workshop.tools, Budget(8), workshop.search_settings, workshop.environment)
        return review(PULL, forge, means, Door("main"), watch or Watch())


def test_every_changed_kernel_is_searched_and_the_report_published_once() -> None:
    other = dataclasses.replace(NAIVE, name="other")
    forge = Forge(Change(NAIVE, synthetic.WORKLOAD), Change(other, synthetic.WORKLOAD))
    seen: list[str] = []
    steps: list[Step] = []
    report = run(forge, watch=Watch(lambda change: seen.append(change.kernel.name), steps.append))
    assert seen == ["transpose", "other"]
    assert forge.published == [report]
    assert [len(one.trajectory.steps) > 0 for one in report.results if one.trajectory] == [True] * 2
    assert steps


def test_a_kernel_slower_than_its_base_is_reported_even_if_nothing_is_faster() -> None:
    report = run(Forge(Change(SLOW, synthetic.WORKLOAD, before=NAIVE, after=SLOW)))
    assert report.markdown is not None
    assert "2.00× slower than `main`" in report.markdown


def test_an_unchanged_text_is_not_timed_against_itself() -> None:
    report = run(Forge(Change(NAIVE, synthetic.WORKLOAD, before=NAIVE, after=NAIVE)))
    assert report.results[0].against_base is None
    assert report.results[0].problem == ""


def test_a_change_whose_results_differ_from_base_is_told_and_searched_all_the_same() -> None:
    class Different(scripted.Scripted):
        def verdict(self, job: Job) -> Verdict:
            if job.baseline.source == NAIVE.source and job.kernel.source == SLOW.source:
                return synthetic.failing(Status.WRONG_RESULT)
            return super().verdict(job)

    forge = Forge(Change(SLOW, synthetic.WORKLOAD, before=NAIVE, after=SLOW))
    (result,) = run(forge, Different()).results
    assert "wrong result" in result.problem
    assert result.trajectory is not None


def test_one_failing_baseline_does_not_keep_the_others_from_review() -> None:
    class Fragile(scripted.Scripted):
        def verdict(self, job: Job) -> Verdict:
            if "SLOW" in job.kernel.source:
                return synthetic.failing(Status.CRASHED, "illegal memory access")
            return super().verdict(job)

    forge = Forge(Change(SLOW, synthetic.WORKLOAD), Change(NAIVE, synthetic.WORKLOAD))
    first, second = run(forge, Fragile()).results
    assert "illegal memory access" in first.problem
    assert first.trajectory is None
    assert second.trajectory is not None


def test_without_any_device_the_review_fails_as_a_whole() -> None:
    class Gone(scripted.Scripted):
        def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
            raise NoDeviceError("the GPU went away")

    with pytest.raises(NoDeviceError):
        run(Forge(Change(NAIVE, synthetic.WORKLOAD)), Gone())


def test_a_kernel_without_a_workload_is_told_of_and_not_run() -> None:
    machine = scripted.Scripted()
    report = run(Forge(Change(NAIVE, None, snippet="version: 1")), machine)
    assert machine.answered == 0
    assert report.markdown is None
    assert report.results[0].problem
