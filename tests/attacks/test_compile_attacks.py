"""Sources that attack the compiler: each fails as a source does, within its limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import compiler as module
from runners.artifact import Artifact, ArtifactKind, Failure
from runners.compiler import Compiler
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

SM = 90
KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
SECRET = "OPTIML_PLANTED_7421"
RECOVERY_SECONDS = 5.0


def fitting() -> Toolchain | None:
    try:
        found = find_toolchain()
        found.require(SM)
    except Fault:
        return None
    return found


TOOLCHAIN = fitting()
pytestmark = [
    pytest.mark.skipif(TOOLCHAIN is None, reason=f"no nvcc that knows sm_{SM}"),
    pytest.mark.timeout(180),
]


@pytest.fixture
def compile_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    # What burns until then burns a processor that other tests wait for.
    monkeypatch.setattr(module, "COMPILE_SECONDS", 4.0)
    assert TOOLCHAIN is not None
    with Sandbox(trust="stranger") as sandbox:
        if not sandbox.describe().strong:
            pytest.skip(f"nothing isolates here: {sandbox.describe().refused}")
        yield Compiler(TOOLCHAIN, sandbox, tmp_path / "scratch")


def attack(
    compiler: Compiler, root: Path, source: str, kind: ArtifactKind = "cubin"
) -> Artifact | Failure:
    """Compile a hostile source, then an honest one, which must not have to wait."""
    root.mkdir(exist_ok=True)
    made = compiler.compile(source, path="k.cu", kind=kind, sm=SM, root=str(root))
    begun = time.monotonic()
    honest = compiler.compile(KERNEL, path="h.cu", kind="cubin", sm=SM, symbol="k", root=str(root))
    assert isinstance(honest, Artifact)
    assert time.monotonic() - begun < RECOVERY_SECONDS
    return made


BOMBS = {
    "template recursion": (
        "template <int N> struct A { static const int v = A<N + 1>::v; };\n"
        "__global__ void k(int* x) { x[0] = A<0>::v; }\n"
    ),
    "template explosion": (
        "template <int D, long P> struct A { static const int v = A<D - 1, 2 * P>::v"
        " + A<D - 1, 2 * P + 1>::v; };\ntemplate <long P> struct A<0, P> { static const int v = 1; };\n"
        "__global__ void k(int* x) { x[0] = A<26, 1>::v; }\n"
    ),
    "macro explosion": (
        "#define A0 x[0] += 1;\n"
        + "".join(f"#define A{i + 1} A{i} A{i} A{i} A{i}\n" for i in range(16))
        + "__global__ void k(float* x) { A16 }\n"
    ),
    "includes itself": f'#include "k.cu"\n{KERNEL}',
    "includes an endless file": f'#include "/dev/zero"\n{KERNEL}',
    "includes random bytes": f'#include "/dev/urandom"\n{KERNEL}',
    "waits for input": f'#include "/dev/stdin"\n#include "/proc/self/fd/0"\n{KERNEL}#error end\n',
    "an array without end": "__device__ int big[1 << 30] = {1, 2};\n" + KERNEL,
    "prints without end": "".join(f"#warning {'w' * 200}\n" for _ in range(40_000)) + "#error end\n",
    "constexpr loop": (
        "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i % 7; return s; }\n"
        "__global__ void k(long* x) { constexpr long v = f(1L << 60); x[0] = v; }\n"
    ),
}  # fmt: skip

# These meet the limit on memory, after some seconds.
FULL = {"includes an endless file", "an array without end"}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_source_that_does_not_compile(
    compile_: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in FULL:
        monkeypatch.setattr(module, "COMPILE_SECONDS", 8.0)
    begun = time.monotonic()
    made = attack(compile_, tmp_path, BOMBS[name])
    assert time.monotonic() - begun < 30
    assert isinstance(made, Failure)
    assert made.log
    assert len(made.log) < 200_000


@pytest.mark.parametrize(
    "directive",
    [
        '#include "{path}"\n',
        "#include <{path}>\n",
        "#define WHERE <{path}>\n#include WHERE\n",
        '#if __has_include("{path}")\n#else\n#error it is not there\n#endif\n',
        '#include "{up}{path}"\n',
    ],
)
def test_a_file_that_was_not_given_is_not_there(
    compile_: Compiler, tmp_path: Path, directive: str
) -> None:
    project, private = tmp_path / "project", tmp_path / "private"
    project.mkdir()
    private.mkdir()
    (private / "secret").write_text(f"{SECRET}\n")
    text = directive.replace("{path}", str(private / "secret")).replace("{up}", "../" * 12)
    made = attack(compile_, project, text + KERNEL)
    assert isinstance(made, Failure)
    assert SECRET not in made.log


def test_the_assembler_finds_no_more_than_the_compiler(compile_: Compiler, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret").write_text(f"{SECRET}\n")
    text = (
        f'asm(".incbin \\"{private / "secret"}\\"");\n{KERNEL}void entry() {{ k<<<1, 1>>>(0); }}\n'
    )
    made = attack(compile_, tmp_path / "project", text, "shared")
    assert isinstance(made, Failure)
    assert SECRET not in made.log


def test_the_environment_of_the_compiler_holds_nothing(
    compile_: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    made = attack(compile_, tmp_path, f'#include "/proc/self/environ"\n#error shown\n{KERNEL}')
    assert isinstance(made, Failure)
    assert SECRET not in made.log


def test_a_link_in_the_project_leads_nowhere_else(compile_: Compiler, tmp_path: Path) -> None:
    project, private = tmp_path / "project", tmp_path / "private"
    project.mkdir()
    private.mkdir()
    (private / "secret.h").write_text(f"{SECRET}\n")
    (project / "secret.h").symlink_to(private / "secret.h")
    made = attack(compile_, project, f'#include "secret.h"\n{KERNEL}')
    assert isinstance(made, Failure)
    assert SECRET not in made.log


def test_another_candidates_source_is_not_there(compile_: Compiler, tmp_path: Path) -> None:
    first = attack(compile_, tmp_path, KERNEL + f"// {SECRET}\n")
    assert isinstance(first, Artifact)
    folder = Path(first.path).parent
    for other in {*folder.iterdir(), folder / "k.cu"}:
        made = attack(compile_, tmp_path / "elsewhere", f'#include "{other}"\n{KERNEL}')
        assert isinstance(made, Failure)
        assert SECRET not in made.log
