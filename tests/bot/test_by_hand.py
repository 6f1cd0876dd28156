"""Edits a person wrote, served in a model's place, and the verdicts an H200 gave on them.

`tests/data/by_hand/*/recording.jsonl.gz` holds those verdicts. An answer is a whole file, the same
whatever version is shown, so its verdict is found again although the rules around it change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import projects, run
from bot.model_use import model_use
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.model import Status, Step, Trajectory
from tests.scripted_model import AUTHOR, ScriptedModel, by_hand, serving

ROOT = Path(__file__).resolve().parents[2]
# Good edits and how fast they at least were; the wrong one; the one a compiler's words repaired.
KNOWN = {
    "filter2d": (
        "Compute eight rows a thread for radius 2",
        3.0,
        "Compute four rows a thread, guard loosened",
        "Compute four rows a thread for radius 2, weights in registers",
    ),
    "visual_words": (
        "Compare four bytes at a time with dp4a",
        7.0,
        "Compare four bytes at a time, any dimension",
        "Stage the vocabulary in shared memory",
    ),
}


def searched(name: str, folder: Path) -> tuple[Trajectory, ScriptedModel]:
    model = ScriptedModel(by_hand(ROOT / "tests/data/by_hand" / name), AUTHOR)
    with serving(model) as url:
        settings = Settings(
            policy="mixed",
            model="hand-written-edits",
            api_url=url,
            judge="rule",
            memory="off",
            evaluations=40,
            cache=str(folder / "cache"),
        )
        recording = ROOT / "tests/data/by_hand" / name / "recording.jsonl.gz"
        file = ROOT / "examples" / name / f"{name}.cu"
        ((kernel, workload),) = projects.of_file(file, None).kernels
        with Workshop(settings, replay=recording) as workshop:
            order = run.Order(kernel, workload, folder / "out")
            done = run.optimize(order, workshop, lambda _: None, lambda _: None)
    return done.outcome.trajectory, model


@pytest.fixture(scope="module", params=sorted(KNOWN))
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Trajectory, ScriptedModel, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    return (request.param, *searched(request.param, folder), folder / "out")


Found = tuple[str, Trajectory, ScriptedModel, Path]


def by_model(trajectory: Trajectory, title: str) -> list[Step]:
    return [
        step
        for step in trajectory.steps
        if step.edit and step.edit.author == f"llm:{AUTHOR}" and step.edit.title == title
    ]


def test_a_good_edit_is_found_and_as_fast_as_the_gpu_measured_it(found: Found) -> None:
    name, trajectory, _, _ = found
    title, least, _, _ = KNOWN[name]
    (step,) = by_model(trajectory, title)
    assert step.verdict.status is Status.CORRECT
    assert (speedup_of(step) or 0) > least
    assert step.edit is not None
    assert step.edit.rationale.startswith(AUTHOR)
    assert step.edit.predicted


def test_a_wrong_edit_is_refused_by_what_the_gpu_computed(found: Found) -> None:
    name, trajectory, _, _ = found
    (step,) = by_model(trajectory, KNOWN[name][2])
    assert step.verdict.status in {Status.WRONG_RESULT, Status.CRASHED}
    assert step.number not in [one.number for one in trajectory.path(trajectory.best.number)]


def test_an_edit_that_does_not_compile_goes_back_with_the_words_and_comes_mended(
    found: Found,
) -> None:
    name, trajectory, model, _ = found
    broken, mended = by_model(trajectory, KNOWN[name][3])
    assert broken.verdict.status is Status.DOES_NOT_COMPILE
    assert mended.verdict.status is Status.CORRECT
    assert (speedup_of(mended) or 0) > 3.0
    last = [asked["messages"][-1]["content"] for asked in model.asked]
    assert any("error: identifier" in words for words in last)


def test_the_trajectory_reads_as_a_notebook(found: Found) -> None:
    name, trajectory, _, folder = found
    page = (folder / "report.html").read_text(encoding="utf-8")
    for title in (KNOWN[name][0], KNOWN[name][2], KNOWN[name][3]):
        assert title in page
    use = model_use(trajectory)
    assert use is not None
    kept = next(one for one in use.edits if one.edit.title == KNOWN[name][0])
    assert kept.achieved
    assert kept.edit.predicted
    (promise,) = [one for one in use.promises if one.kind == kept.edit.kind]
    assert promise.tried >= 2
    assert 0 < promise.correct < promise.tried
