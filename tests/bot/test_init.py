"""`optiml init` writes a project file that reads back, with shapes worked out from the indices."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.init import of_texts, project
from optimizer.errors import ConfigError
from optimizer.model import Argument, Kind, Role, Workload
from runners.workload import parse_project, read_project

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / ".optiml.yml").is_file())


def workload_of(source: str, tmp_path: Path) -> Workload:
    (tmp_path / "k.cu").write_text(source)
    text = project(tmp_path)
    (tmp_path / ".optiml.yml").write_text(text)
    ((_, workload),) = read_project(tmp_path / ".optiml.yml").workloads
    return workload


def argument(workload: Workload, name: str) -> Argument:
    return next(one for one in workload.arguments if one.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_what_it_writes_for_each_example_is_valid_and_reaches_it_the_same_way(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    (_, wanted), *_ = read_project(folder / ".optiml.yml").workloads
    (folder / ".optiml.yml").write_text(project(folder))
    ((_, found), *_) = read_project(folder / ".optiml.yml").workloads
    assert found.kind is wanted.kind
    assert found.symbol == wanted.symbol
    assert [one.name for one in found.arguments] == [one.name for one in wanted.arguments]
    for mine, theirs in zip(found.arguments, wanted.arguments, strict=True):
        assert (mine.role is Role.INPUT) == (theirs.role is Role.INPUT)


def test_shapes_come_from_strides_and_guards(tmp_path: Path) -> None:
    found = workload_of((EXAMPLES / "matmul/matmul.cu").read_text(), tmp_path)
    assert argument(found, "A").shape == "m*k"
    assert argument(found, "B").shape == "n*k"
    assert argument(found, "C").shape == "m*n"
    assert argument(found, "C").role is Role.OUTPUT


def test_an_array_that_is_read_before_it_is_written_is_inout(tmp_path: Path) -> None:
    found = workload_of(
        "__global__ void scale(float* x, float a, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] = a * x[i];\n}\n",
        tmp_path,
    )
    assert argument(found, "x").role is Role.INOUT
    assert argument(found, "x").shape == "n"
    assert found.kind is Kind.KERNEL


def test_a_host_function_that_launches_is_preferred_to_its_kernels(tmp_path: Path) -> None:
    found = workload_of(
        "__global__ void k(float* y, const float* x, int count) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < count) y[i] = x[i]; }\n"
        "void go(const float* from, float* to, int n, cudaStream_t s) {\n"
        "  k<<<(n + 255) / 256, 256, 0, s>>>(to, from, n); }\n",
        tmp_path,
    )
    assert found.kind is Kind.ENTRY
    assert found.symbol == "go"
    assert argument(found, "to").shape == "n"
    assert argument(found, "to").role is Role.OUTPUT
    assert [one.name for one in found.arguments] == ["from", "to", "n"]


def test_two_kernels_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    source = "__global__ void k(float* x, int n) { x[threadIdx.x] = n; }\n"
    (tmp_path / "a.cu").write_text(source)
    (tmp_path / "b.cu").write_text(source)
    found = parse_project(project(tmp_path), tmp_path)
    assert [workload.name for _, workload in found.workloads] == ["k", "k-2"]


def test_what_cannot_be_described_is_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "struct S { int* p; };\n__global__ void odd(S s, float** x) { x[0][0] = *s.p; }\n"
        "__global__ void plain(float* x, int n) { x[threadIdx.x] = n; }\n"
    )
    text = project(tmp_path)
    assert "# k.cu: odd was left out" in text
    assert [workload.name for _, workload in parse_project(text, tmp_path).workloads] == ["plain"]


def test_without_kernels_there_is_nothing_to_write(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("int x;\n")
    assert project(tmp_path) == ""


def test_the_command_writes_once_and_not_over_a_file(
    cli: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EXAMPLES / "softmax/softmax.cu", "softmax.cu")
    assert cli("init") == 0
    written = Path(".optiml.yml").read_text()
    assert "guesses" in capsys.readouterr().out
    assert cli("init") == 2
    assert "left alone" in capsys.readouterr().err
    assert cli("init", "--force") == 0
    assert Path(".optiml.yml").read_text() == written
    assert cli("init", "softmax.cu", "--stdout") == 0
    assert capsys.readouterr().out.endswith(written)


def test_a_program_gets_the_flags_that_its_text_needs() -> None:
    """Without them its entry would not build, though the program without an entry does."""
    text = "#include <cublas_v2.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n"
    assert 'build: {flags: ["-O3", "-std=c++17", "-lcublas"]}' in of_texts([("a.cu", text)])
    assert "build:" not in of_texts([("a.cu", text.partition("\n")[2])])


def test_a_program_without_kernels_of_its_own_is_left_out() -> None:
    """There would be nothing to edit in it."""
    text = of_texts([("main.cu", "int main() {}"), ("k.cu", "__global__ void k(float* x) {}")])
    assert "# main.cu was left out" in text
    assert 'file: "main.cu"' not in text


def test_a_file_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A project file describes what lies below it."""
    (tmp_path / "a.cu").write_text("__global__ void k(float* x) {}")
    (tmp_path / "sub").mkdir()
    with pytest.raises(ConfigError, match="is not below"):
        project(tmp_path / "sub", [tmp_path / "a.cu"])
