"""A scripted model looks into a CUTLASS tree in a whole search; what it wrote is compiled here."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot import run
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer import counters
from optimizer.dialogue import Usage
from optimizer.model import (
    Argument,
    Case,
    Kernel,
    Kind,
    Launch,
    Role,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.policies import looking
from optimizer.policies.llm import LIBRARY_NOTE
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.fault import Fault
from runners.interfaces import Job
from runners.sandbox import Sandbox
from runners.toolchain import find_toolchain
from tests.bot import scripted
from tests.scripted_model import Asked, Reply, ScriptedModel, edit, serving

# The fence assembles for sm_90a only, as in the header it stands for.
FAKE = """#pragma once
namespace cute {
__device__ inline void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;"); }
}
"""
SOURCE = """#include <cuda_runtime.h>

__global__ void matmul(const float* a, const float* b, float* c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
"""
COPY = """__global__ void matmul(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
TITLE = "use the tensor cores"
PRODUCT = {"matmul/FFMA": 16, "matmul/LDG.E": 4, "matmul/STG.E": 1}
STREAM = {"matmul/FADD": 1, "matmul/LDG.E": 2, "matmul/STG.E": 1}


def workload(folder: Path) -> Workload:
    arguments = (
        Argument("a", "const float*", "n*n"), Argument("b", "const float*", "n*n"),
        Argument("c", "float*", "n*n", role=Role.OUTPUT), Argument("n", "int", value="n"),
    )  # fmt: skip
    launch = Launch(("(n+15)/16", "(n+15)/16"), ("16", "16"))
    return Workload(
        "matmul", Kind.KERNEL, "matmul", arguments, (Case({"n": 256}),), launch=launch,
        root=str(folder),
    )  # fmt: skip


class Machine(scripted.Scripted):
    """The scripted machine, which also says what the SASS holds and keeps what it was sent."""

    def __init__(self, instructions: dict[str, int]) -> None:
        super().__init__()
        self.instructions = instructions
        self.jobs: list[Job] = []

    def verdict(self, job: Job) -> Verdict:
        self.jobs.append(job)
        found = super().verdict(job)
        counted = dict(found.counters)
        if counted and "matmul/FFMA" in self.instructions:
            counted[f"matmul/{counters.FP32_FMA}"] = 1e11  # hundreds a byte
        if found.measurement is not None:
            measured = replace(found.measurement, kernels={"matmul": 1.0})
            found = replace(found, measurement=measured)
        return replace(found, instructions=self.instructions, counters=counted)

    @property
    def with_library(self) -> list[Job]:
        return [job for job in self.jobs if "<cute/" in job.kernel.source]


def writer(asked: Asked) -> Reply:
    """Search, read, then use what was found; have no idea on any other advice."""
    if looking.ADVICE.words not in asked["messages"][1]["content"]:
        return Reply("I have no idea.")
    turn = (len(asked["messages"]) - 2) // 2
    wish = '{"look": [{"search": %s, "read": %s, "line": null}], "blocks": []}'
    if turn < 2:
        words = ('"warpgroup_arrive"', "null") if turn == 0 else ("null", '"cute/tensor.hpp"')
        return Reply(wish % words)
    # The last line of declarations: code that any version shown has.
    return edit(
        [("#include <cuda_runtime.h>\n", "#include <cuda_runtime.h>\n#include <cute/tensor.hpp>\n"),
         ("int n)\n{\n", "int n)\n{\n    cute::warpgroup_arrive();  // __shfl\n")],
        TITLE, "tensor-cores", 2.0,
    )  # fmt: skip


def searched(
    out: Path, tree: str, machine: Machine, source: str = SOURCE, **changes: object
) -> Trajectory:
    chosen = Settings(
        policy="llm", model="m", evaluations=12, cache=str(out / "cache"), memory="off",
        judge="rule", cutlass=tree,
    )  # fmt: skip
    chosen = replace(chosen, **changes)  # type: ignore[arg-type]
    one = workload(out)
    order = run.Order(Kernel("matmul", source, "matmul.cu", one.launch), one, out)
    with Workshop(chosen, source=replace(scripted.source(), dispatcher=machine)) as workshop:
        return run.optimize(order, workshop, lambda _: None, lambda _: None).outcome.trajectory


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    header = tmp_path_factory.mktemp("library") / "tree/include/cute/tensor.hpp"
    header.parent.mkdir(parents=True)
    header.write_text(FAKE)
    return header.parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    """A search in which the model looked, what it was asked, and where its answers are kept."""

    found: Trajectory
    model: ScriptedModel
    machine: Machine
    answers: str
    cache: str
    url: str


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Iterator[Done]:
    """Search once. The others wait for who looks: else the model may be left for them before."""
    folder = tmp_path_factory.mktemp("done")
    written = threading.Event()

    def in_order(asked: Asked) -> Reply:
        reply = writer(asked)
        if TITLE in reply.text:
            written.set()
        written.wait(20 if looking.ADVICE.words not in asked["messages"][1]["content"] else 0)
        return reply

    model, machine, cache = ScriptedModel(in_order), Machine(PRODUCT), str(folder / "cache")
    with serving(model) as url:
        found = searched(folder / "one", str(library), machine, api_url=url, cache=cache)
        yield Done(found, model, machine, str(folder / "one/exchanges.jsonl"), cache, url)


def shape(found: Trajectory) -> list[tuple[int | None, str, str]]:
    return [(s.parent, s.kernel.digest, s.verdict.status.value) for s in found.steps]


def of_the_looking(found: Trajectory) -> list[Usage]:
    edits = [s.edit for s in found.steps if s.edit and s.edit.title == TITLE]
    return [edit.usage for edit in edits if edit.usage is not None]


def test_a_model_looks_writes_cute_and_the_evaluator_gets_it(done: Done) -> None:
    assert of_the_looking(done.found)[0].calls == 3
    assert done.machine.with_library
    assert LIBRARY_NOTE in done.found.notes
    assert any("    | include/cute/tensor.hpp:3:" in m["content"]
               for asked in done.model.asked for m in asked["messages"])  # fmt: skip


def test_a_recording_with_looks_repeats_to_its_last_step(
    tmp_path: Path, library: Path, done: Done
) -> None:
    again = searched(tmp_path / "again", str(library), Machine(PRODUCT), answers=done.answers)
    assert shape(again) == shape(done.found)
    assert (again.winner, again.stopped) == (done.found.winner, done.found.stopped)
    assert not any("which is not here" in note for note in again.notes)


def test_a_recording_without_the_tree_says_so(tmp_path: Path, done: Done) -> None:
    found = searched(tmp_path / "again", "off", Machine(PRODUCT), answers=done.answers)
    assert any("which is not here" in note for note in found.notes)


def test_what_was_kept_on_disk_is_not_asked_again_with_all_looks(
    tmp_path: Path, library: Path, done: Done
) -> None:
    again = searched(
        tmp_path / "again", str(library), Machine(PRODUCT), api_url=done.url, cache=done.cache
    )
    assert of_the_looking(again)[0].kept == 3
    assert again.spending.kept >= 3


@pytest.mark.parametrize(
    ("source", "instructions", "cutlass_setting"),
    [("copy", STREAM, "tree"), ("matmul", PRODUCT, "off")],
)
def test_neither_a_memory_bound_kernel_nor_a_search_without_the_tree_is_offered_it(
    tmp_path: Path, library: Path, source: str, instructions: dict[str, int], cutlass_setting: str
) -> None:
    model, machine = ScriptedModel(writer), Machine(instructions)
    text = "#include <cuda_runtime.h>\n\n" + COPY if source == "copy" else SOURCE
    tree = str(library) if cutlass_setting == "tree" else "off"
    with serving(model) as url:
        searched(tmp_path / "out", tree, machine, text, api_url=url)
    assert model.asked
    assert not any("CUTLASS" in m["content"] for a in model.asked for m in a["messages"])
    assert not machine.with_library


def test_in_somebodys_pull_request_no_headers_are_added(tmp_path: Path, library: Path) -> None:
    model = ScriptedModel(writer)
    with serving(model) as url:
        chosen = Settings(policy="llm", model="m", api_url=url, memory="off", cutlass=str(library))
        with Workshop(chosen, source=scripted.source(), includes=False) as workshop:
            one = workload(tmp_path)
            tools = workshop.tools(Kernel("matmul", SOURCE, "matmul.cu", one.launch), one)
            assert tools.boundary(SOURCE, f"#include <cute/tensor.hpp>\n{SOURCE}")


def test_what_was_sent_compiles_for_the_very_chip(
    tmp_path: Path, library: Path, done: Done
) -> None:
    try:
        toolchain = find_toolchain()
        toolchain.require(90)
    except Fault:
        pytest.skip("no nvcc that knows sm_90")
    job = done.machine.with_library[0]
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path / "scratch")
        made = CompilingBuilder(compiler, 90, library / "include").build(job.kernel, job.workload)
    assert made.verdict is None, made.verdict.log
    assert made.artifact is not None
