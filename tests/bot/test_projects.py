"""What is optimized in a file that the command line names."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import projects
from optimizer.errors import ConfigError

PROGRAM = "__global__ void k(float* x) { x[0] = 1; }\nint main() { k<<<1, 1>>>(0); }\n"
PROJECT = """\
version: 1
kernels:
  - {name: main, file: main.cu, program: {run: ["1"]}}
  - name: k
    file: k.cu
    kernel: k
    launch: {grid: ["1"], block: [1]}
    args: [{name: x, type: "float*", shape: "1", role: output}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "main.cu").write_text(PROGRAM)
    (tmp_path / "k.cu").write_text(PROGRAM.splitlines()[0] + "\n")
    return tmp_path


@pytest.mark.parametrize("project", ["", PROJECT])
def test_a_program_is_run_with_the_arguments_of_the_command_line(
    folder: Path, project: str
) -> None:
    """With a project file or without one."""
    if project:
        (folder / ".optiml.yml").write_text(project)
    ((_, workload),) = projects.of_file(folder / "main.cu", None, ("64", "--fast")).kernels
    assert workload.program is not None
    assert workload.program.runs == (("64", "--fast"),)
    ((_, workload),) = projects.of_file(folder / "main.cu").kernels
    assert workload.program is not None
    assert workload.program.runs == ((("1",),) if project else ((),))


@pytest.mark.parametrize(
    ("argument", "start"),
    [("data/in.txt", "."), ("in.txt", "src"), ("--n", "src"), ("4096", "src"), ("main.cuh", "src")],
)
def test_a_program_starts_where_its_arguments_name_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, argument: str, start: str
) -> None:
    """Else in its own folder, where most programs have their data."""
    for name in ("src", "data"):
        (folder / name).mkdir()
    for file in ("data/in.txt", "in.txt", "src/in.txt"):
        (folder / file).touch()
    (folder / "src/main.cu").write_text(PROGRAM)
    monkeypatch.chdir(folder)
    ((kernel, workload),) = projects.of_file(Path("src/main.cu"), None, (argument,)).kernels
    assert Path(workload.root) == (folder / start).resolve()
    assert kernel.path == ("src/main.cu" if start == "." else "main.cu")


def test_arguments_for_what_is_no_program_are_refused(folder: Path) -> None:
    """They would be lost."""
    (folder / ".optiml.yml").write_text(PROJECT)
    with pytest.raises(ConfigError, match="not run as a program"):
        projects.of_file(folder / "k.cu", None, ("64",))


def test_a_second_file_is_not_taken_for_an_argument(folder: Path) -> None:
    """`optiml run *.cu` is a mistake that would run the first with the names of the others."""
    with pytest.raises(ConfigError, match="two files"):
        projects.of_file(folder / "main.cu", None, (str(folder / "k.cu"),))


def test_a_program_without_kernels_of_its_own_is_refused_before_a_gpu_is_asked(
    folder: Path,
) -> None:
    """The message says where they are and what to do."""
    (folder / "main.cu").write_text('#include "k.cu"\nint main() { k<<<1, 1>>>(0); }\n')
    with pytest.raises(ConfigError, match=r"kernels are in k\.cu") as caught:
        projects.of_file(folder / "main.cu")
    assert "optiml capture" in caught.value.remedy
    ((kernel, _),) = projects.of_file(folder / "main.cu", headers=True).kernels
    assert "__global__ void k" in kernel.source


@pytest.mark.parametrize("project", ["", PROJECT])
def test_kernels_in_a_programs_headers_stand_in_its_text(folder: Path, project: str) -> None:
    """With a project file or without one; a header's own folder is one of headers then."""
    if project:
        (folder / ".optiml.yml").write_text(project)
    (folder / "deep").mkdir()
    (folder / "deep" / "k.cuh").write_text(PROGRAM.splitlines()[0])
    (folder / "main.cu").write_text('#include "deep/k.cuh"\nint main() { k<<<1, 1>>>(0); }\n')
    ((kernel, workload),) = projects.of_file(folder / "main.cu", headers=True).kernels
    assert "__global__ void k" in kernel.source
    assert workload.build.include == ("deep",)


def test_a_part_of_a_program_points_to_the_program(folder: Path) -> None:
    """Which is what can be run."""
    with pytest.raises(ConfigError, match="no main") as caught:
        projects.of_file(folder / "k.cu")
    assert caught.value.remedy.startswith("`optiml init")
    (folder / "app.cu").write_text('#include "k.cu"\nint main() { k<<<1, 1>>>(0); }\n')
    with pytest.raises(ConfigError, match="no main") as caught:
        projects.of_file(folder / "k.cu")
    assert f"`optiml run {folder / 'app.cu'}`" in caught.value.remedy
    (folder / "deep").mkdir()
    (folder / "deep/p.cuh").write_text(PROGRAM.splitlines()[0] + "\n")
    (folder / "app.cu").write_text('#include "deep/p.cuh"\nint main() { k<<<1, 1>>>(0); }\n')
    with pytest.raises(ConfigError, match="no main") as caught:
        projects.of_file(folder / "deep/p.cuh")
    assert f"`optiml run {folder / 'app.cu'}`" in caught.value.remedy


@pytest.mark.parametrize(
    "more", ['#include "other.cuh"\n', '#include "k.cu"\n', '/*\n#include "k.cu"\n*/\n']
)
def test_a_header_whose_place_matters_is_left_where_it_is(folder: Path, more: str) -> None:
    """It may be included by others, or again, or not at all."""
    (folder / "other.cuh").write_text('#pragma once\n#include "k.cu"\n')
    first = "" if more.startswith("/*") else '#include "k.cu"\n'
    (folder / "main.cu").write_text(f"{first}{more}{PROGRAM}")
    ((kernel, _),) = projects.of_file(folder / "main.cu", headers=True).kernels
    assert kernel.source == (folder / "main.cu").read_text()
