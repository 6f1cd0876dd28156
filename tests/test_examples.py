"""The examples are right: described, compilable, small, and true to their references."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from optimizer.model import Effort, Kernel, Kind, Role, Workload
from optimizer.source import Source
from runners import inputs, spec
from runners.cuda_types import values
from runners.interfaces import Job
from runners.replay import ReplayDispatcher
from runners.wire import job_to_dict
from runners.workload import read_project

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/.optiml.yml"))
WITH_REFERENCE = sorted(path.parent.name for path in EXAMPLES.glob("*/ref.py"))
MOST_BYTES = 512 << 20


def described(name: str) -> tuple[Kernel, Workload]:
    [found] = read_project(EXAMPLES / name / ".optiml.yml").kernels()
    return found


def test_there_is_an_example_of_every_kind_and_of_every_number_type() -> None:
    workloads = [described(name)[1] for name in NAMES]
    assert len(workloads) >= 12
    for kind in Kind:
        assert sum(workload.kind is kind for workload in workloads) >= 2
    text = " ".join(described(name)[0].source for name in NAMES)
    assert all(re.search(rf"\b{word}\b", text) for word in ("float", "double", "__half", "int"))
    assert len(WITH_REFERENCE) >= 4


def test_the_readme_of_the_examples_lists_every_one() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\w+)\]", text, re.MULTILINE)
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_described_so_that_its_kernel_is_found(name: str) -> None:
    kernel, workload = described(name)
    source = Source(kernel.source)
    assert source.kernels
    if workload.kind is Kind.PROGRAM:
        assert source.has_main
        assert workload.program is not None
        assert len(workload.program.runs) > 1, "one size can be fitted by accident"
        return
    assert any(not case.time for case in workload.cases), "odd sizes must be checked"
    for case in workload.cases:
        elements = [
            argument.elements(case.values)
            for argument in spec.parse(request(kernel, workload)).work.arguments
            if argument.type.pointer
        ]
        assert all(count > 0 and count * 8 < MOST_BYTES for count in elements)


def request(kernel: Kernel, workload: Workload) -> dict[str, Any]:
    job: dict[str, Any] = json.loads(json.dumps(job_to_dict(Job(kernel, kernel, workload))))
    return job


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_a_reference_gives_every_output_in_its_shape_and_finite(name: str) -> None:
    kernel, workload = described(name)
    work = spec.parse(request(kernel, workload)).work
    assert workload.reference is not None
    reference = inputs.load_function(EXAMPLES / name, workload.reference)
    for case in workload.cases:
        if case.time:
            continue  # a small case says as much, sooner
        arrays = inputs.generate(work, case.values, seed=7)
        given: dict[str, Any] = {}
        for argument in work.arguments:
            if argument.name in arrays:
                data = values(arrays[argument.name], argument.type, argument.type.fields[0])
                is_float = argument.type.fields[0].scalar.kind == "f"
                given[argument.name] = data.astype(np.float64) if is_float else data
            elif not argument.type.pointer:
                [given[argument.name]] = spec.scalar_values(argument, case.values)
        found = reference(given)
        outputs = {one.name: one for one in work.arguments if one.role == Role.OUTPUT}
        assert found.keys() == outputs.keys()
        for output, data in found.items():
            assert data.shape == (outputs[output].elements(case.values),)
            assert np.isfinite(data).all()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc on PATH")
@pytest.mark.parametrize("name", NAMES)
def test_an_example_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    kernel, workload = described(name)
    done = subprocess.run(
        [
            *("nvcc", *workload.build.flags, "-arch=sm_90", "-cubin"),
            *("-Werror", "all-warnings", "-o", str(tmp_path / "out.cubin")),
            str(EXAMPLES / name / kernel.path),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


RECORDED = sorted(path.parent.name for path in EXAMPLES.glob("*/recording.jsonl.gz"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_is_of_the_example_as_it_is_now(name: str) -> None:
    kernel, workload = described(name)
    replay = ReplayDispatcher(EXAMPLES / name / "recording.jsonl.gz")
    replay.dispatch([Job(kernel, kernel, workload, effort=Effort.RACE)])
    assert replay.missing == 0, "the example changed after it was recorded: record it again"
    assert replay.header.gpu
    assert replay.header.date
