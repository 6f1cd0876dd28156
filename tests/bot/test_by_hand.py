"""Edits a person wrote, served in a model's place, and the verdicts an H200 gave on them.

`tests/data/by_hand/*/recording.jsonl.gz` holds those verdicts. An answer is a whole file, the same
whatever version is shown, so its verdict is found again although the rules around it change. Those
of gemm_half are written with CuTe after looks into CUTLASS; here that is a tree of a few names.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot import projects, run
from bot.model_use import model_use
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.model import Status, Step, Trajectory
from optimizer.policies.llm import LIBRARY_NOTE
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
    "gemm_half": (
        "Multiply on tensor cores, a tile of 64 x 64 by CuTe",
        10.0,
        "Multiply on tensor cores, a tile of 64 x 64 by CuTe, whole tiles alone",
        "Multiply by warpgroup MMAs of CuTe, tiles copied beside them",
    ),
    "visual_words": (
        "Compare four bytes at a time with dp4a",
        7.0,
        "Compare four bytes at a time, any dimension",
        "Stage the vocabulary in shared memory",
    ),
}


NAMES = """#pragma once
namespace GMMA {}
struct SM80_16x8x16_F32F16F16F32_TN {};
struct SM80_CP_ASYNC_CACHEGLOBAL_ZFILL {};
struct SM90_64x64x16_F32F16F16 {};
struct SM90_64x64x16_F32F16F16_SS {};
"""


def library(folder: Path) -> Path:
    """Make a tree with the names that the edits look for and use."""
    for name in ("cute/tensor.hpp", "cute/arch/mma.hpp", "cutlass/arch/barrier.h"):
        path = folder / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NAMES)
    return folder


def source_of(name: str, data: Path, folder: Path) -> Path:
    """Return the file that is optimized, beside its project file."""
    if not (data / "project.yml").is_file():
        return ROOT / "examples" / name / f"{name}.cu"
    for old, new in (("gemm.cu", "gemm.cu"), ("ref.py", "ref.py"), ("project.yml", ".optiml.yml")):
        shutil.copy(data / old, folder / new)
    return folder / "gemm.cu"


def searched(name: str, folder: Path) -> tuple[Trajectory, ScriptedModel]:
    data = ROOT / "tests/data/by_hand" / name
    model = ScriptedModel(by_hand(data), AUTHOR)
    with serving(model) as url:
        settings = Settings(
            policy="mixed",
            model="hand-written-edits",
            api_url=url,
            judge="rule",
            memory="off",
            evaluations=40,
            cache=str(folder / "cache"),
            cutlass=str(library(folder / "cutlass")),
        )
        ((kernel, workload),) = projects.of_file(source_of(name, data, folder), None).kernels
        with Workshop(settings, replay=data / "recording.jsonl.gz") as workshop:
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


def test_each_look_takes_a_call_and_what_was_seen_is_in_the_next(found: Found) -> None:
    name, trajectory, model, _ = found
    broken, _ = by_model(trajectory, KNOWN[name][3])
    assert broken.edit is not None
    assert broken.edit.usage is not None
    assert broken.edit.usage.calls == (3 if name == "gemm_half" else 1)
    seen = [m["content"] for asked in model.asked for m in asked["messages"][2:]]
    shown = any("    | include/cute/arch/mma.hpp:6: struct SM90_64x64x16" in text for text in seen)
    assert shown is (name == "gemm_half")
    assert (LIBRARY_NOTE in trajectory.notes) is (name == "gemm_half")
