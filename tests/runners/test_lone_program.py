"""A file with `main()` and no project file is built as its text asks, or refused with a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Kernel
from runners import flags, joined, lone_program

MAIN = "__global__ void k(float* x) { x[0] = 1; }\nint main() { k<<<1, 1>>>(0); }\n"


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("#include <cublas_v2.h>\n#include <curand.h>", "-lcublas"),
        ('  #  include "cufft.h"', "-lcufft"),
        ("#include <cusolverDn.h>", "-lcusolver"),
        ("#include <omp.h>", "-Xcompiler=-fopenmp"),
        ("    #pragma omp parallel for", "-Xcompiler=-fopenmp"),
        ("run([=] __device__ (int i) { });", "--extended-lambda"),
        ("run([=] __host__ __device__ (int i) { });", "--extended-lambda"),
        ("int a = std::min(1, 2);", "--expt-relaxed-constexpr"),
        ("#include <span>", "-std=c++20"),
    ],
)
def test_a_program_gets_the_flags_that_its_text_needs(text: str, flag: str) -> None:
    """Each is one that a project file might set, too."""
    found = lone_program.build([MAIN, text]).flags
    assert flag in found
    assert len(flags.allowed_flags(found, Path())) == len(found)


@pytest.mark.parametrize(
    "text", [MAIN, "#include <curand_kernel.h>", "// cublas.h", "int a[4]; __device__ int b;"]
)
def test_a_program_that_needs_no_flag_is_built_as_ever(text: str) -> None:
    """The words alone do not make a flag."""
    assert lone_program.build([text]).flags == ("-O3", "-std=c++17")


def test_headers_of_its_own_count_and_those_of_the_system_do_not(tmp_path: Path) -> None:
    """A wrapper around a library is often in a header beside the program."""
    (tmp_path / "blas.h").write_text("#include <cublas_v2.h>\n")
    text = '#include "blas.h"\n#include <vector>\n' + MAIN
    file = tmp_path / "main.cu"
    headers = lone_program.own_headers(text, file)
    assert [Path(path).name for path in headers] == ["blas.h"]
    found = lone_program.on_disk(text, file, tmp_path)
    assert found is not None
    assert "-lcublas" in found.build.flags
    assert lone_program.on_disk("int f();", file, tmp_path) is None


@pytest.mark.parametrize(
    ("include", "folders"),
    [
        ("<helper_cuda.h>", ("../Common",)),
        ('"helper_cuda.h"', ("../Common",)),
        ('"cuda_check.h"', ("../Common",)),
        ('"cublas_utils.h"', ("../Common",)),
        ("<cub/cub.cuh>", ()),
        ("<beside.h>", ()),
        ("<cuda_runtime.h>", ()),
        ("<stdio.h>", ()),
        ("<nowhere.h>", ()),
        ('"../Common/helper_cuda.h"', ()),
        ("<vector>", ()),
    ],
)
def test_a_header_elsewhere_in_the_repository_is_found(
    tmp_path: Path, include: str, folders: tuple[str, ...]
) -> None:
    """As samples have theirs in a folder for all; copies of the compiler's own are not meant."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "Common").mkdir()
    (tmp_path / "sample").mkdir()
    (tmp_path / "Common" / "cub").mkdir()
    own = ("helper_cuda.h", "cuda_check.h", "cublas_utils.h")
    for name in (*own, "cuda_runtime.h", "cub/cub.cuh", "stdio.h", "vector"):
        (tmp_path / "Common" / name).touch()
    (tmp_path / "sample" / "beside.h").touch()
    file = tmp_path / "sample" / "main.cu"
    found = lone_program.on_disk(f"#include {include}\n{MAIN}", file, file.parent)
    assert found is not None
    assert found.build.include == folders


def test_a_program_whose_kernels_are_elsewhere_says_where() -> None:
    """Nothing in the file itself could be made faster."""
    main = Kernel("main", "int main() { run(); }", "main.cu")
    headers = {"/x/kernels.cuh": MAIN.splitlines()[0], "/x/other.h": "void run();"}
    trouble = lone_program.nothing_to_edit(main, headers)
    assert trouble is not None
    assert "kernels.cuh" in trouble[0]
    assert "other.h" not in trouble[0]
    assert "optiml capture" in trouble[1]
    assert lone_program.nothing_to_edit(Kernel("main", MAIN, "main.cu"), {}) is None


@pytest.fixture
def several(tmp_path: Path) -> Path:
    (tmp_path / "run.h").write_text("#pragma once\nfloat run(int n);\n")
    (tmp_path / "run.cu").write_text(
        '#include "run.h"\n#include <cublas_v2.h>\nfloat scale(float x);\n'
        "__global__ void k(float* x) { x[0] = 1; }\n"
        "float run(int n) { k<<<n, 1>>>(0); return scale(2.0f); }\n"
    )
    (tmp_path / "scale.cpp").write_text("float scale(float x) { return 2 * x; }\n")
    (tmp_path / "unused.cu").write_text("int unused() { return 1; }\n")
    (tmp_path / "test.cu").write_text("float run(int n) { return 0; }\nint main() { run(1); }\n")
    (tmp_path / "main.cu").write_text('#include "run.h"\nint main() { return run(3) > 0; }\n')
    return tmp_path


def test_a_program_of_several_files_is_built_and_edited_as_one(several: Path) -> None:
    """Those that define what it declares, and what those declare; no other program."""
    file = several / "main.cu"
    work = lone_program.on_disk(file.read_text(), file, several)
    assert work is not None
    kernel, work = lone_program.with_headers(
        Kernel("main", file.read_text(), "main.cu"), work, file
    )
    assert joined.split(kernel.source, "main.cu") == {
        name: (several / name).read_text() for name in ("main.cu", "run.cu", "scale.cpp")
    }
    assert work.build.flags == ("-O3", "-std=c++17", "-lcublas")
    assert lone_program.nothing_to_edit(kernel, {}) is None


@pytest.mark.parametrize(
    ("begins", "ends", "stands"),
    [
        ("#pragma once\n", "", True),
        ("/* k */\n#ifndef K_H\n#define K_H\n", "#endif\n", True),
        ("", "", False),
    ],
)
def test_a_header_that_two_of_a_programs_files_include_stands_there_once(
    several: Path, begins: str, ends: str, stands: bool
) -> None:
    """Where it is included first, if the other include changes nothing."""
    (several / "k.cuh").write_text(begins + "__global__ void both(float* x) { x[0] = 2; }\n" + ends)
    for name in ("main.cu", "run.cu"):
        (several / name).write_text('#include "k.cuh"\n' + (several / name).read_text())
    file = several / "main.cu"
    work = lone_program.on_disk(file.read_text(), file, several)
    assert work is not None
    kernel, work = lone_program.with_headers(
        Kernel("main", file.read_text(), "main.cu"), work, file
    )
    names = ["main.cu", "run.cu", "scale.cpp", *["k.cuh"][:stands]]
    assert joined.split(kernel.source, "main.cu") == {n: (several / n).read_text() for n in names}
    assert kernel.source.count("void both(") == stands


def test_kernels_in_a_header_of_a_file_beside_are_edited_there(several: Path) -> None:
    """Of a program's files, one alone includes it."""
    (several / "deep").mkdir()
    (several / "deep" / "k.cuh").write_text("__global__ void inner(float* x) { x[0] = 2; }")
    (several / "run.cu").write_text('#include "deep/k.cuh"\n' + (several / "run.cu").read_text())
    file = several / "main.cu"
    work = lone_program.on_disk(file.read_text(), file, several)
    assert work is not None
    kernel, work = lone_program.with_headers(
        Kernel("main", file.read_text(), "main.cu"), work, file
    )
    names = ("main.cu", "run.cu", "scale.cpp", "deep/k.cuh")
    assert joined.split(kernel.source, "main.cu") == {n: (several / n).read_text() for n in names}
    assert work.build.include == ("deep",)


def test_where_two_files_define_the_same_the_makefile_chooses(several: Path) -> None:
    """Nobody here can tell which of them it builds."""
    (several / "run_v2.cu").write_text("float run(int n) { return 1; }\n")
    file = several / "main.cu"
    assert lone_program.compiled_beside(file.read_text(), file) == {}


def test_a_file_that_declares_nothing_is_built_alone(several: Path) -> None:
    """A call is no declaration: the name may be a library's."""
    text = "int main() { scale(1); return run(2); }\n"
    assert lone_program.compiled_beside(text, several / "main.cu") == {}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("#if CUDART_VERSION >= 2020", {"k.cuh"}),
        ("#ifndef OTHER", {"k.cuh"}),
        ("#ifdef OTHER", set()),
        ("#if 0", set()),
    ],
)
def test_a_header_that_is_included_under_a_condition_that_holds_is_edited(
    tmp_path: Path, condition: str, names: set[str]
) -> None:
    """Its text stands where it is included, under the same condition."""
    (tmp_path / "k.cuh").write_text("#pragma once\n__global__ void k(float* x) { x[0] = 2; }\n")
    text = f'{condition}\n#include "k.cuh"\n#endif\nint main() {{ return 0; }}\n'
    found = lone_program.joinable(text, tmp_path / "main.cu")
    assert found.keys() == names
    whole = joined.join(text, found)
    assert whole.startswith(condition)
    assert joined.split(whole, "main.cu")["main.cu"] == text


def test_a_main_that_is_a_try_block_is_one(tmp_path: Path) -> None:
    """Errors of the runtime are often thrown."""
    text = "int main(int argc, char** argv) try { return 0; } catch (...) { return 3; }\n"
    assert lone_program.workload(text, "main.cu", tmp_path) is not None
    assert lone_program.workload("void main_loop() {}\n// main() try\n", "a.cu", tmp_path) is None


def test_headers_outside_of_the_repository_are_not_read(tmp_path: Path) -> None:
    """A pull request's file may name any file of the host that reviews it."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "src").mkdir()
    (tmp_path / "outside.h").write_text("#define TOKEN 42\n")
    (repository / "inside.h").write_text("int inside();\n")
    (repository / "src" / "link.h").symlink_to(tmp_path / "outside.h")
    file = repository / "src" / "main.cu"
    lines = ["../../outside.h", str(tmp_path / "outside.h"), "link.h", "../inside.h"]
    file.write_text("".join(f'#include "{line}"\n' for line in lines))
    found = lone_program.own_headers(file.read_text(), file, ["..", "../.."])
    assert list(found) == [str((repository / "inside.h").resolve())]
