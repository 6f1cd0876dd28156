"""What a program is built of besides the file that is named, and what of it is edited."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot import changed_files, projects
from optimizer.errors import ConfigError
from optimizer.model import Kernel, Workload
from runners import joined, lone_program
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import find_toolchain

KERNELS = (
    '#include "run.h"\n'
    "static int divUp(int a, int b) { return (a + b - 1) / b; }\n"
    "__global__ void fill(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }\n"
    'extern "C" void run(float* x, int n) { fill<<<divUp(n, 64), 64>>>(x, n); }\n'
)
GOLD = '#include "run.h"\nextern "C" float gold(int n) { return n; }\n'
HEADER = '#pragma once\nextern "C" void run(float* x, int n);\nextern "C" float gold(int n);\n'
MAIN = '#include "run.h"\nint main() { run(0, 3); return gold(0); }\n'


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A program as samples are laid out: host code, kernels and a reference in files of their own."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "run.h").write_text(HEADER)
    (folder / "run_kernels.cu").write_text(KERNELS)
    (folder / "run_gold.cpp").write_text(GOLD)
    (folder / "main.cpp").write_text(MAIN)
    return folder


def program(file: Path) -> tuple[Kernel, Workload]:
    ((kernel, work),) = projects.of_file(file, headers=True).kernels
    return kernel, work


def test_main_may_be_in_a_source_of_host_code(sample: Path) -> None:
    """The kernels beside it stand in its text."""
    kernel, work = program(sample / "main.cpp")
    parts = joined.split(kernel.source, kernel.path)
    assert parts.keys() == {"main.cpp", "run_kernels.cu", "run_gold.cpp"}
    assert work.build.sources == ()
    assert lone_program.users(sample / "run_kernels.cu") == (sample / "main.cpp",)


def test_kernels_of_a_main_in_c_may_be_in_a_folder_below(tmp_path: Path) -> None:
    """Whose wrapper includes them from there, and the program's header from above."""
    files = {
        "main.c": '#include "main.h"\nvoid wrapper(fp* x, int n);\nvoid note(void);\n'
        "int main(int argc, char* argv[]) { note(); wrapper(0, 3); return 0; }\n",
        "main.h": "#define fp float\n#define THREADS 128\n",
        "kernel/wrapper.cu": '#include "./../main.h"\n#include "./kernel.cu"\n'
        'extern "C" void wrapper(fp* x, int n) { dim3 t; t.x = THREADS; work<<<n, t>>>(x); }\n',
        "kernel/kernel.cu": "__global__ void work(fp* x) { x[threadIdx.x] = 1; }\n",
        "util/note.cu": 'extern "C" void note(void) { cudaSetDevice(0); }\n'
        "__device__ float unused;\n" + "// more of this than of kernels\n" * 9,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    kernel, work = program(tmp_path / "main.c")
    assert kernel.path == "kernel/wrapper.cu"
    parts = joined.split(kernel.source, kernel.path)
    assert parts == {n: files[n] for n in ("kernel/wrapper.cu", "kernel/kernel.cu")}
    assert set(work.build.sources) == {"main.c", "util/note.cu"}


def test_files_with_names_of_their_own_in_common_are_not_one_text(sample: Path) -> None:
    """What has the kernels is edited, what has none is compiled as it is."""
    (sample / "main.cpp").write_text(MAIN + "static int divUp(int a, int b) { return a / b; }\n")
    kernel, work = program(sample / "main.cpp")
    assert kernel.path == "run_kernels.cu"
    assert joined.split(kernel.source, kernel.path).keys() == {"run_kernels.cu", "run_gold.cpp"}
    assert work.build.sources == ("main.cpp",)


def test_what_is_in_c_is_compiled_as_it_is(sample: Path) -> None:
    """C is no C++: `malloc` needs no cast there."""
    (sample / "main.cpp").unlink()
    (sample / "main.c").write_text(
        "#include <stdlib.h>\nvoid run(float* x, int n);\nfloat gold(int n);\n"
        "int main() { float* x = malloc(4); run(x, 3); return gold(0); }\n"
    )
    kernel, work = program(sample / "main.c")
    assert kernel.path == "run_kernels.cu"
    assert work.build.sources == ("main.c",)
    assert lone_program.users(sample / "run_kernels.cu") == (sample / "main.c",)


def test_sources_beside_the_headers_of_another_folder_are_linked(sample: Path) -> None:
    """As benchmarks have a folder for what they share."""
    common = sample.parent / "common"
    common.mkdir()
    (common / "clock.h").write_text('#ifdef __cplusplus\nextern "C"\n#endif\ndouble now(void);\n')
    (common / "clock.c").write_text('#include "clock.h"\ndouble now(void) { return 1; }\n')
    (sample / "main.cpp").write_text('#include "clock.h"\n' + MAIN + "double begun = now();\n")
    _, work = program(sample / "main.cpp")
    assert work.build.sources == ("../common/clock.c",)
    assert work.build.include == ("../common",)


def test_sources_in_folders_below_are_found(sample: Path) -> None:
    (sample / "src").mkdir()
    (sample / "run_kernels.cu").rename(sample / "src" / "run_kernels.cu")
    kernel, _ = program(sample / "main.cpp")
    assert "src/run_kernels.cu" in joined.split(kernel.source, kernel.path)


def test_what_is_declared_and_never_called_brings_no_source(sample: Path) -> None:
    """Another program of a folder below may have a function of that name."""
    (sample / "main.cpp").write_text("double elapsed(int clock);\n" + MAIN)
    (sample / "old").mkdir()
    (sample / "old" / "elapsed.cpp").write_text("double elapsed(int clock) { return clock; }\n")
    kernel, work = program(sample / "main.cpp")
    assert "old/elapsed.cpp" not in joined.split(kernel.source, kernel.path)
    assert work.build.sources == ()


def test_a_link_is_no_source(sample: Path) -> None:
    """What it leads to may be any file of this host."""
    away = sample.parent / "gold.txt"
    (sample / "run_gold.cpp").rename(away)
    (sample / "run_gold.cpp").symlink_to(away)
    kernel, _ = program(sample / "main.cpp")
    assert "run_gold.cpp" not in joined.split(kernel.source, kernel.path)


def test_overloads_in_two_files_are_two_functions(sample: Path) -> None:
    (sample / "main.cpp").write_text(MAIN + "void show(int a);\nvoid show(float a);\n")
    (sample / "a.cpp").write_text("void show(int a) {}\n")
    (sample / "b.cpp").write_text("void show(float a) {}\n")
    kernel, _ = program(sample / "main.cpp")
    assert {"a.cpp", "b.cpp"} <= joined.split(kernel.source, kernel.path).keys()


def test_a_folder_is_answered_with_its_programs(sample: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder") as caught:
        projects.of_file(sample)
    assert str(sample / "main.cpp") in str(caught.value.remedy)


def nvcc() -> CompilingBuilder | None:
    try:
        find_toolchain().require(90)
    except Fault:
        return None
    return None if shutil.which("gcc") is None else object.__new__(CompilingBuilder)


@pytest.mark.skipif(nvcc() is None, reason="no nvcc that knows sm_90")
def test_what_is_compiled_as_it_is_is_linked_and_compiled_once(
    sample: Path, tmp_path: Path
) -> None:
    """Also where it is in C and in a folder that the program is not in."""
    test_sources_beside_the_headers_of_another_folder_are_linked(sample)
    kernel, work = program(sample / "main.cpp")
    scratch = tmp_path / "scratch"
    with Sandbox() as sandbox:
        builder = CompilingBuilder(Compiler(find_toolchain(), sandbox, scratch), 90)
        built = builder.build(kernel, work)
        assert built.artifact is not None, built.verdict
        (compiled,) = (scratch / "objects").rglob("*.o")
        stamp = compiled.stat().st_mtime_ns
        other = Kernel(kernel.name, kernel.source + "\n#error another\n", kernel.path)
        assert builder.build(other, work).artifact is None
        assert compiled.stat().st_mtime_ns == stamp
        (sample.parent / "common" / "clock.c").write_text("double now(void) { return x; }\n")
        failed = builder.build(kernel, work)
    assert failed.verdict is not None
    assert "clock.c:1: error" in failed.verdict.log


def test_what_is_shared_beside_an_unpacked_program_is_found(sample: Path) -> None:
    """Without a repository around it: in a folder that is named so, and in no other."""
    (sample.parent / ".git").rmdir()
    for name in ("common", "elsewhere"):
        (sample.parent / name).mkdir()
    (sample.parent / "common" / "check.h").write_text("void check(int);\n")
    (sample.parent / "common" / "check.cpp").write_text("void check(int) {}\n")
    (sample.parent / "elsewhere" / "other.h").write_text("void other(int);\n")
    calls = "int x = (check(1), 2);\n"
    (sample / "main.cpp").write_text('#include "check.h"\n#include "other.h"\n' + MAIN + calls)
    _, work = program(sample / "main.cpp")
    assert work.build.include == ("../common",)
    assert work.build.sources == ("../common/check.cpp",)


def test_kernels_of_another_folder_are_edited_there(sample: Path) -> None:
    """As a library has its examples: `src` lies by `include`. The patch is for what is around."""
    top = sample.parent
    for name in ("include", "src"):
        (top / name).mkdir()
    (sample / "run.h").rename(top / "include" / "run.h")
    (sample / "run_kernels.cu").rename(top / "src" / "run_kernels.cu")
    kernel, work = program(sample / "main.cpp")
    assert kernel.path == "../src/run_kernels.cu"
    assert kernel.source == KERNELS
    assert work.build.sources == ("main.cpp", "run_gold.cpp")
    edited = Kernel(kernel.name, KERNELS.replace("= 1", "= 2"), kernel.path)
    patch = changed_files.patch(kernel, edited, str(sample))
    assert patch.startswith("--- a/src/run_kernels.cu\n+++ b/src/run_kernels.cu\n")
    (sample / "main.cpp").write_text(MAIN + "__global__ void own(float* x) { x[0] = 1; }\n")
    kernel, work = program(sample / "main.cpp")
    assert kernel.path == "main.cpp"
    assert "../src/run_kernels.cu" in work.build.sources
