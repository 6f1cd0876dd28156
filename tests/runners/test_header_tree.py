"""Headers with kernels are edited wherever in the repository they are, if their text may move."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot import projects
from optimizer.model import Kernel, Workload
from optimizer.source import Source
from optimizer.written_out import header_macros
from runners import header_tree, joined, lone_program
from runners.builder import CompilingBuilder
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import find_toolchain

KERNEL = "__global__ void scale(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"
BODY = "int main() { scale<<<1, 32>>>(nullptr, 0); return 0; }\n"


def laid(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder; return the one with `main()`."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return next(root / name for name, text in files.items() if "int main" in text)


def program(root: Path, files: dict[str, str], *, repository: bool = True) -> tuple[Path, Kernel]:
    """Return the program's file and its text as it is edited."""
    if repository:
        (root / ".git").mkdir()
    file = laid(root, files)
    ((kernel, _),) = projects.of_file(file, headers=True).kernels
    return file, kernel


LAYOUTS = {
    "include beside": {
        "include/k.cuh": f"#pragma once\n{KERNEL}",
        "examples/main.cu": f'#include "../include/k.cuh"\n{BODY}',
    },
    "found by its name": {
        "include/k.cuh": f"#ifndef K_CUH\n#define K_CUH\n{KERNEL}#endif\n",
        "src/main.cu": f'#include <cstdio>\n#include "k.cuh"\n{BODY}',
    },
    "in angle brackets": {
        "include/lib/k.cuh": f"#pragma once\n{KERNEL}",
        "src/app/main.cu": f"#include <lib/k.cuh>\n{BODY}",
        "src/app/Makefile": "all:\n\tnvcc -I../../include main.cu\n",
    },
    "through another header": {
        "lib/all.h": '#pragma once\n#include "detail/k.cuh"\n',
        "lib/detail/k.cuh": f"#pragma once\n{KERNEL}",
        "app/main.cu": f'#include "../lib/all.h"\n{BODY}',
    },
    "twice, with a guard": {
        "k.cuh": f"#ifndef K\n#define K\n{KERNEL}#endif\n",
        "launch.h": '#include "k.cuh"\ninline void go() { scale<<<1, 32>>>(nullptr, 0); }\n',
        "main.cu": f'#include "k.cuh"\n#include "launch.h"\n{BODY}',
    },
    "twice, once": {
        "inc/k.cuh": f"#pragma once\n{KERNEL}",
        "inc/launch.h": '#include "k.cuh"\ninline void go() { scale<<<1, 32>>>(nullptr, 0); }\n',
        "src/main.cu": f'#include "../inc/k.cuh"\n#include "../inc/launch.h"\n{BODY}',
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_kernels_of_a_header_stand_in_the_program_and_come_apart_again(
    tmp_path: Path, layout: str
) -> None:
    """Whatever folder it is in, and whatever includes it."""
    files = LAYOUTS[layout]
    file, kernel = program(tmp_path, files)
    parts = joined.split(kernel.source, file.relative_to(tmp_path).as_posix())
    assert kernel.source.count("void scale(") == 1
    assert parts == {name: files[name] for name in parts}
    assert any("void scale(" in files[name] for name in parts)
    assert joined.split(kernel.source, kernel.path)[kernel.path] == file.read_text()


FUNCTION = "__device__ __forceinline__ float twice(float x) { return 2 * x; }\n"
CALLS = KERNEL.replace("*= 2", "= twice(x[threadIdx.x])")
LAYOUTS |= {
    "functions that a kernel of the program calls": {
        "common/math.cuh": f"#pragma once\n{FUNCTION}",
        "src/main.cu": f'#include "../common/math.cuh"\n{CALLS}{BODY}',
    },
    "functions that a kernel of another header calls": {
        "lib/k.cuh": f'#pragma once\n#include "math.cuh"\n{CALLS}',
        "lib/math.cuh": f"#pragma once\n{FUNCTION}",
        "src/main.cu": f'#include "../lib/k.cuh"\n{BODY}',
    },
}


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if "functions" in name])
def test_functions_that_kernels_call_are_read_with_them(tmp_path: Path, layout: str) -> None:
    """Whatever else is asked of a kernel begins with the functions that it calls."""
    _, kernel = program(tmp_path, LAYOUTS[layout])
    (fn,) = Source(kernel.source).kernels
    assert not fn.unknown_calls


@pytest.mark.parametrize(
    "header", [FUNCTION.replace("twice", "thrice"), "// long\n" * 3000 + FUNCTION, "int twice();\n"]
)
def test_a_header_of_functions_that_does_not_help_stays_one(tmp_path: Path, header: str) -> None:
    """What no kernel calls, what is a library, and what is of the host."""
    text = f'#include "math.cuh"\n{CALLS}{BODY}'
    _, kernel = program(tmp_path, {"math.cuh": header, "main.cu": text})
    assert kernel.source == text


STAY = {
    "outside of the repository": {
        "k.cuh": KERNEL,
        "repository/.git/HEAD": "",
        "repository/main.cu": f'#include "../k.cuh"\n__global__ void own() {{}}\n{BODY}',
    },
    "twice without a guard": {
        "k.cuh": KERNEL.replace("scale", "SCALE"),
        "main.cu": '#define SCALE scale\n#include "k.cuh"\n#undef SCALE\n#define SCALE twice\n'
        f'#include "k.cuh"\n__global__ void own() {{}}\n{BODY}',
    },
    "its own header is another from there": {
        "include/k.cuh": f'#include "size.h"\n{KERNEL}',
        "include/size.h": "#define SIZE 1\n",
        "src/size.h": "#define SIZE 2\n",
        "src/main.cu": f'#include "../include/k.cuh"\n__global__ void own() {{}}\n{BODY}',
    },
    "under a condition nobody sees": {
        "include/k.cuh": KERNEL,
        "src/main.cu": '#ifdef FAST\n#include "../include/k.cuh"\n#endif\n'
        f"__global__ void own() {{}}\n{BODY}",
    },
    "with marks of its own": {
        "include/k.cuh": f"// joined by optiml: end\n{KERNEL}",
        "src/main.cu": f'#include "../include/k.cuh"\n__global__ void own() {{}}\n{BODY}',
    },
}


@pytest.mark.parametrize("layout", STAY)
def test_a_header_whose_text_would_mean_something_else_stays_one(
    tmp_path: Path, layout: str
) -> None:
    """The program is edited without it."""
    file, kernel = program(tmp_path, STAY[layout], repository="repository" not in layout)
    assert kernel.source == file.read_text()


def test_without_a_repository_headers_of_the_folder_around_are_the_programs(tmp_path: Path) -> None:
    """As a download is unpacked: also in a folder that the compiler is not shown."""
    files = {
        "kernels/k.cuh": f"#pragma once\n{KERNEL}",
        "app/main.cu": f'#include "../kernels/k.cuh"\n{BODY}',
    }
    _, kernel = program(tmp_path, files, repository=False)
    assert joined.split(kernel.source, "app/main.cu") == files


def test_a_header_of_another_folder_finds_headers_and_constants_of_its_own(tmp_path: Path) -> None:
    """The compiler is shown its folder, and rules know what it defines."""
    files = {
        "include/k.cuh": f'#pragma once\n#include "size.h"\n{KERNEL}',
        "include/size.h": "#define SIZE 128\n",
        "src/main.cu": f'#include "../include/k.cuh"\n{BODY}',
    }
    (tmp_path / ".git").mkdir()
    ((kernel, work),) = projects.of_file(laid(tmp_path, files), headers=True).kernels
    assert work.build.include == ("../include",)
    found = header_macros(kernel, Path(work.root), work.build.include)
    assert found["SIZE"].value == 128
    assert not header_macros(kernel, Path(work.root))


def test_headers_that_include_each_other_end(tmp_path: Path) -> None:
    """Guards are what makes that legal."""
    files = {
        "a.h": f'#pragma once\n#include "b.h"\n{KERNEL}',
        "b.h": '#pragma once\n#include "a.h"\n',
        "main.cu": f'#include "a.h"\n{BODY}',
    }
    _, kernel = program(tmp_path, files)
    assert joined.split(kernel.source, "main.cu") == files


def test_a_hundred_headers_are_followed(tmp_path: Path) -> None:
    """One within the other."""
    files = {f"h{i}.h": f'#pragma once\n#include "h{i + 1}.h"\n' for i in range(100)}
    files["h100.h"] = f"#pragma once\n{KERNEL}"
    files["main.cu"] = f'#include "h0.h"\n{BODY}'
    _, kernel = program(tmp_path, files)
    assert joined.split(kernel.source, "main.cu") == files


def test_a_program_is_found_for_the_header_that_stands_in_it(tmp_path: Path) -> None:
    """Where it is in a folder below the program's."""
    (tmp_path / ".git").mkdir()
    file = laid(tmp_path, {"inc/k.cuh": KERNEL, "main.cu": f'#include "inc/k.cuh"\n{BODY}'})
    assert lone_program.users(tmp_path / "inc" / "k.cuh") == (file,)


def nvcc() -> bool:
    try:
        find_toolchain().require(90)
    except Fault:
        return False
    return shutil.which("gcc") is not None


@pytest.mark.skipif(not nvcc(), reason="no nvcc that knows sm_90")
def test_programs_with_headers_elsewhere_compile(tmp_path: Path) -> None:
    """The text as it is edited, with what is left of headers."""
    files = {
        "include/k.cuh": f'#pragma once\n#include "size.h"\n{KERNEL}',
        "include/size.h": "#pragma once\n#define SIZE 32\n",
        "include/launch.h": '#pragma once\n#include "k.cuh"\n#include "size.h"\n'
        "inline void go() { scale<<<1, SIZE>>>(nullptr, 0); }\n",
        "src/main.cu": '#include "launch.h"\n#include <k.cuh>\nint main() { go(); return 0; }\n',
    }
    (tmp_path / ".git").mkdir()
    kernel: Kernel
    work: Workload
    ((kernel, work),) = projects.of_file(laid(tmp_path, files), headers=True).kernels
    assert kernel.source.count("void scale(") == 1
    with Sandbox() as sandbox:
        compiler = Compiler(find_toolchain(), sandbox, tmp_path / "scratch")
        built = CompilingBuilder(compiler, 90).build(kernel, work)
    assert built.artifact is not None, built.verdict and built.verdict.log


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("// a\n/* b */\n#ifndef A\n", 13),
        ("#ifndef A\n/* b */", 0),
        ("/* never ends", 13),
        ("// no line", 10),
        ("/* " * 100_000, 300_000),
    ],
)
def test_a_header_begins_behind_its_first_comments(text: str, at: int) -> None:
    """An include guard is looked for there, in one look at the text."""
    assert header_tree._begins(text) == at
