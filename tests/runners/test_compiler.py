"""Sources become artefacts, or say in their own lines why they do not."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runners import cubin
from runners.artifact import Artifact, Failure, Options
from runners.compiler import Compiler
from runners.fault import Fault
from runners.launchable import local_bytes
from runners.sandbox import Sandbox
from runners.toolchain import Toolchain, find_toolchain

SM = 90
SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
SCAN = """template <typename T, int B> __global__ void scan(T* x) {
  __shared__ T s[B];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[B - 1 - threadIdx.x];
}
"""
HOST = "void run(float* p, int n) { saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, p, p); }\n"
Compile = Callable[..., Artifact | Failure]


def fitting() -> Toolchain | None:
    try:
        found = find_toolchain()
        found.require(SM)
    except Fault:
        return None
    return found


needs_nvcc = pytest.mark.skipif(fitting() is None, reason=f"no nvcc that knows sm_{SM}")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "src").mkdir()
    (root / "inc").mkdir()
    (root / "src" / "local.h").write_text("#define LOCAL 1.0f\n")
    (root / "inc" / "shared.h").write_text("#define SHARED 2.0f\n")
    return root


@pytest.fixture(scope="module")
def compile_(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compile]:
    toolchain = fitting()
    assert toolchain is not None
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path_factory.mktemp("scratch"))

        def run(source: str, **changes: Any) -> Artifact | Failure:
            defaults = {"path": "src/k.cu", "kind": "cubin", "sm": SM, "root": str(project)}
            return compiler.compile(source, **{**defaults, **changes})

        yield run


def made(found: Artifact | Failure) -> Artifact:
    assert isinstance(found, Artifact), found
    return found


def failed(found: Artifact | Failure) -> Failure:
    assert isinstance(found, Failure), found
    return found


@needs_nvcc
def test_a_cubin_tells_symbols_registers_and_identity(compile_: Compile) -> None:
    found = made(compile_(SAXPY, symbol="saxpy"))
    assert found.symbols == {"saxpy": "_Z5saxpyifPKfPf"}
    assert 0 < (found.resources["saxpy"]["registers"] or 0) < 64
    assert found.resources["saxpy"]["spill_bytes"] == 0
    assert Path(found.path).read_bytes()[:4] == b"\x7fELF"
    assert len(found.machine_code) == 32


@needs_nvcc
def test_names_layout_and_comments_leave_the_machine_code_as_it_is(compile_: Compile) -> None:
    renamed = "// hello\n\n" + SAXPY.replace(" i ", " index ").replace("[i]", "[index]").replace(
        "(i ", "(index "
    )
    assert "index" in renamed
    first, second = made(compile_(SAXPY)), made(compile_(renamed, path="src/other.cu"))
    assert first.machine_code == second.machine_code


@needs_nvcc
def test_another_computation_or_launch_is_other_machine_code(compile_: Compile) -> None:
    first = made(compile_(SAXPY))
    assert made(compile_(SAXPY.replace("a * x[i]", "a - x[i]"))).machine_code != first.machine_code
    assert (
        made(compile_(SAXPY, launch="256")).machine_code
        != made(compile_(SAXPY, launch="128")).machine_code
    )


@needs_nvcc
@pytest.mark.parametrize("symbol", ["scan<float, 256>", "scan<float,256>", "scan< unsigned, 64 >"])
def test_a_template_instance_is_instantiated_when_nothing_does(
    compile_: Compile, symbol: str
) -> None:
    found = made(compile_(SCAN, symbol=symbol))
    assert cubin.plain_name(found.symbols[symbol]) == "scan"


@needs_nvcc
def test_a_template_with_several_instances_must_be_named_in_full(compile_: Compile) -> None:
    source = (
        SCAN
        + "template __global__ void scan<float, 64>(float*);\ntemplate __global__ void scan<int, 32>(int*);\n"
    )
    assert "scan<int, 32>" in failed(compile_(source, symbol="scan")).log
    assert (
        made(compile_(source, symbol="scan<int, 32>")).symbols["scan<int, 32>"]
        == "_Z4scanIiLi32EEvPT_"
    )


@needs_nvcc
def test_an_internal_kernel_that_nothing_launches_is_kept(compile_: Compile) -> None:
    assert "saxpy" in made(compile_(f"static {SAXPY}", symbol="saxpy")).symbols
    assert "q::saxpy" in made(compile_(f"namespace q {{ {SAXPY} }}", symbol="q::saxpy")).symbols


@needs_nvcc
def test_a_missing_kernel_is_answered_with_those_that_exist(compile_: Compile) -> None:
    assert failed(compile_(SAXPY, symbol="saxpi")).log == (
        "there is no kernel saxpi in the compiled code, only: saxpy"
    )


@needs_nvcc
def test_an_error_is_shown_in_the_line_of_the_edited_source(compile_: Compile) -> None:
    found = failed(compile_(SAXPY.replace("a * x[i]", "b * x[i]"), symbol="saxpy"))
    assert found.log.startswith('k.cu:3: error: identifier "b" is undefined\n     3 |   if (i < n)')
    assert found.errors[0].line == 3


@needs_nvcc
def test_too_much_shared_memory_is_the_candidates_failure(compile_: Compile) -> None:
    source = "__global__ void k(float* p) { __shared__ float s[99999]; s[threadIdx.x] = *p; __syncthreads(); *p = s[3]; }"
    assert "too much shared data" in failed(compile_(source, symbol="k")).log


@needs_nvcc
def test_headers_beside_the_file_and_in_include_folders_are_found(compile_: Compile) -> None:
    source = '#include "local.h"\n#include "shared.h"\n__global__ void k(float* p) { *p = LOCAL + SHARED; }'
    assert "shared.h" in failed(compile_(source)).log
    made(compile_(source, options=Options(include=("inc",))))


@needs_nvcc
def test_headers_outside_of_a_project_are_found_for_ones_own_code(tmp_path: Path) -> None:
    """As in `#include "../common/check.h"`; other files there are not, whatever includes them."""
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "check.h").write_text('#include "types.h"\n')
    (tmp_path / "common" / "types.h").write_text("#define WORD 3.0f\n")
    (tmp_path / "common" / "secret").write_text("#define WORD 4.0f\n")
    (tmp_path / "app").mkdir()
    with Sandbox() as sandbox:
        compiler = Compiler(find_toolchain(), sandbox, tmp_path / "scratch")

        def compiled(header: str) -> Artifact | Failure:
            source = f'#include "{header}"\n__global__ void k(float* x) {{ *x = WORD; }}\n'
            root = str(tmp_path / "app")
            return compiler.compile(source, path="k.cu", kind="cubin", sm=SM, root=root)

        made(compiled("../common/check.h"))
        if sandbox.describe().strong:
            assert "secret" in failed(compiled("../common/secret")).log
            assert "No such file" in failed(compiled(f"{tmp_path}/common/types.h")).log


@needs_nvcc
def test_memory_of_a_cubin_is_code_constants_and_variables(compile_: Compile) -> None:
    """Shared memory is none; a stack above a context's first KiB is a store for every thread."""
    plain = "__global__ void k(float* p) { *p += 1; }"
    small = Path(made(compile_(plain)).path).read_bytes()
    table = "__device__ float t[5000]; __global__ void k(float* p) { *p += t[int(*p)]; t[1] = *p; }"
    large = Path(made(compile_(table)).path).read_bytes()
    assert 20_000 <= cubin.loaded_bytes(large) - cubin.loaded_bytes(small) < 21_000
    shared = (
        "__global__ void k(float* p) { __shared__ float s[9000]; s[1] = *p; *p += s[int(*p)]; }"
    )
    tile = Path(made(compile_(shared)).path).read_bytes()
    assert cubin.loaded_bytes(tile) - cubin.loaded_bytes(small) < 2_000
    assert cubin.loaded_bytes(b"no cubin") == cubin.loaded_bytes(small[:70]) == 0
    used = {"resources": {"k": {"stack_bytes": 1536}, "j": {"stack_bytes": 8}}}
    assert local_bytes(used, {"sms": 132}) == 512 * 2048 * 132
    assert local_bytes({"resources": {"k": {"stack_bytes": 1024}}}, {"sms": 132}) == 0


@needs_nvcc
def test_an_entry_function_is_found_among_the_exports(compile_: Compile) -> None:
    found = made(compile_(SAXPY + HOST, kind="shared", symbol="run"))
    assert found.symbols["run"] == "_Z3runPfi"
    assert "saxpy" in found.resources
    code = Path(found.cubin).read_bytes()
    assert cubin.read(code).kernels == ("_Z5saxpyifPKfPf",)
    assert len(code) == cubin._end(code)
    assert found.device_code == made(compile_(SAXPY)).device_code
    assert "only: run" in failed(compile_(SAXPY + HOST, kind="shared", symbol="walk")).log


@needs_nvcc
def test_a_program_is_told_apart_by_device_code_and_by_launches(compile_: Compile) -> None:
    source = SAXPY + HOST + "int main() { run(nullptr, 1); }\n"
    found = made(compile_(source, kind="program"))
    assert shutil.which(found.path)
    assert found.symbols == {"saxpy": "_Z5saxpyifPKfPf"}
    same = made(compile_(source.replace("int main()", "int  main(/* nothing */)"), kind="program"))
    other = made(compile_(source.replace("256>>>", "128>>>"), kind="program"))
    assert found.machine_code == same.machine_code != other.machine_code


@needs_nvcc
def test_the_same_source_is_compiled_once(compile_: Compile) -> None:
    assert (
        made(compile_(SAXPY, symbol="saxpy")).seconds
        == made(compile_(SAXPY, symbol="saxpy")).seconds
    )


@needs_nvcc
def test_a_refused_flag_and_an_unknown_gpu_are_faults(compile_: Compile) -> None:
    with pytest.raises(Fault, match="-ccbin"):
        compile_(SAXPY, options=Options(("-ccbin=/tmp/x",)))
    with pytest.raises(Fault, match="does not know sm_999"):
        compile_(SAXPY, sm=999)


@needs_nvcc
def test_a_source_that_includes_itself_or_a_secret_is_the_candidates_failure(
    compile_: Compile, tmp_path: Path
) -> None:
    assert "nested" in failed(compile_('#include "k.cu"\n')).log
    (tmp_path / "secret.h").write_text("#define SECRET 1\n")
    with Sandbox() as sandbox:
        if not sandbox.describe().strong:
            pytest.skip("nothing hides files here")
    assert "No such file" in failed(compile_(f'#include "{tmp_path}/secret.h"\n')).log


@needs_nvcc
def test_an_unwritable_scratch_is_a_fault_and_not_the_candidates(project: Path) -> None:
    toolchain = fitting()
    assert toolchain is not None
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, Path("/proc/nowhere"))
        with pytest.raises(Fault, match="cannot write") as caught:
            compiler.compile(SAXPY, path="k.cu", kind="cubin", sm=SM, root=str(project))
    assert caught.value.kind == "RunnerError"


def fake_nvcc(folder: Path, script: str) -> Path:
    tool = folder / "bin" / "nvcc"
    tool.parent.mkdir(parents=True)
    version = "Cuda compilation tools, release 11.0, V11.0.1"
    tool.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo "{version}";; *) {script};; esac\n')
    tool.chmod(0o755)
    return tool


def test_an_old_compiler_names_the_release_that_is_needed(tmp_path: Path) -> None:
    old = find_toolchain(str(fake_nvcc(tmp_path, "exit 1")))
    assert old.version == (11, 0)
    with pytest.raises(Fault, match=r"nvcc 11\.0 does not know sm_90") as caught:
        old.require(90)
    assert caught.value.remedy == "install CUDA ≥ 11.8"
    old.require(80)


def test_a_compiler_that_dropped_a_gpu_names_the_last_that_had_it() -> None:
    new = Toolchain(Path("/nvcc"), (13, 0))
    with pytest.raises(Fault) as caught:
        new.require(70)
    assert caught.value.remedy == "install CUDA ≤ 12.9"


def test_no_compiler_says_where_one_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="no nvcc at") as caught:
        find_toolchain(str(tmp_path / "nvcc"))
    assert "OPTIML_NVCC" in caught.value.remedy


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        ("nvcc fatal : Cannot find compiler 'g++' in PATH", "NoDeviceError"),
        ("error: -- unsupported GNU version! gcc versions later than 12", "NoDeviceError"),
        ("fatal error: error writing to /tmp/x.s: No space left on device", "RunnerError"),
    ],
)
def test_troubles_of_the_machine_are_not_the_candidates(
    tmp_path: Path, says: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = SimpleNamespace(free=1 << 20)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: full)
    toolchain = find_toolchain(str(fake_nvcc(tmp_path / "cuda", f'echo "{says}" >&2; exit 1')))
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path / "scratch")
        with pytest.raises(Fault) as caught:
            compiler.compile(SAXPY, path="k.cu", kind="cubin", sm=80, root=str(tmp_path))
    assert caught.value.kind == kind
    assert caught.value.remedy


def test_a_killed_compiler_is_the_candidates_failure(tmp_path: Path) -> None:
    toolchain = find_toolchain(str(fake_nvcc(tmp_path / "cuda", "kill -9 $$")))
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path / "scratch")
        found = compiler.compile(SAXPY, path="k.cu", kind="cubin", sm=80, root=str(tmp_path))
    assert "ran out of memory or was killed" in failed(found).log


@needs_nvcc
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_damaged_cubin_is_no_cubin_or_has_a_digest(
    compile_: Compile, data: st.DataObject
) -> None:
    good = Path(made(compile_(SAXPY, symbol="saxpy")).path).read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    bad = (
        good[:at]
        + data.draw(st.binary(min_size=1, max_size=8))
        + good[at + data.draw(st.integers(0, 8)) :]
    )
    with contextlib.suppress(cubin.NotCubin):
        assert len(cubin.read(bad).digest()) == 32


@given(
    st.text(max_size=60)
    | st.from_regex(r"_Z(N?\d{0,3}[a-zA-Z_]{0,8}I?[LEPKifd]?){0,6}", fullmatch=True)
)
def test_any_symbol_has_a_plain_name(symbol: str) -> None:
    assert isinstance(cubin.plain_name(symbol), str)
    assert isinstance(cubin.source_name(symbol), str)


def test_a_runtime_library_without_its_plain_name_is_linked_all_the_same(tmp_path: Path) -> None:
    nvcc = fake_nvcc(tmp_path / "cuda", 'echo "$*" >&2; exit 1')
    (tmp_path / "cuda" / "lib").mkdir()
    (tmp_path / "cuda" / "lib" / "libcudart.so.13").write_text("")
    toolchain = find_toolchain(str(nvcc))
    assert toolchain.libraries == tmp_path / "cuda" / "lib"
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path / "scratch")
        found = failed(
            compiler.compile(SAXPY, path="k.cu", kind="program", sm=80, root=str(tmp_path))
        )
    link = tmp_path / "scratch" / "lib" / "libcudart.so"
    assert f"-L {link.parent}" in found.log
    assert link.resolve() == tmp_path / "cuda" / "lib" / "libcudart.so.13"


def test_opcodes_are_counted_once_for_each_machine_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be written: what is read there is loaded by others."""
    tool = tmp_path / "nvdisasm"
    tool.write_text(
        "#!/bin/sh\ntouch ${2%/*}/mark 2>/dev/null\n"
        "echo '.text._Z1kPf:'\necho '  /*0000*/  LDG.E R1, c ;'\n"
    )
    tool.chmod(0o755)
    (tmp_path / "k.cubin").write_text("")
    toolchain = Toolchain(Path("/nvcc"), (13, 0), folders=(tmp_path,), nvdisasm=tool)
    artifact = Artifact("k", "cubin", {}, {}, "m", str(tmp_path / "k.cubin"), "code")
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path)
        calls: list[object] = []
        run = compiler._run

        def counted(*words: Any, **more: Any) -> Any:
            calls.append(words)
            return run(*words, **more)

        monkeypatch.setattr(compiler, "_run", counted)
        assert compiler.disassemble(artifact).instructions == {"k/LDG.E": 1}
        assert compiler.disassemble(artifact).instructions == {"k/LDG.E": 1}
        assert len(calls) == 1
        assert not (tmp_path / "mark").exists() or not sandbox.describe().files


def test_a_source_that_fills_the_sandboxs_small_tmp_is_the_candidates_trouble(
    tmp_path: Path,
) -> None:
    says = "fatal error: error writing to /tmp/x.s: No space left on device"
    toolchain = find_toolchain(str(fake_nvcc(tmp_path / "cuda", f'echo "{says}" >&2; exit 1')))
    with Sandbox() as sandbox:
        compiler = Compiler(toolchain, sandbox, tmp_path / "scratch")
        made = compiler.compile(SAXPY, path="k.cu", kind="cubin", sm=80, root=str(tmp_path))
        assert "No space left" in failed(made).log


@needs_nvcc
def test_a_changed_header_is_another_source(project: Path, tmp_path: Path) -> None:
    header = project / "src" / "tuned.h"
    source = '#include "tuned.h"\n__global__ void k(float* x) { x[0] = FACTOR; }\n'
    codes = []
    with Sandbox() as sandbox:
        compiler = Compiler(find_toolchain(), sandbox, tmp_path / "scratch")
        for factor in ("1.0f", "2.0f", "1.0f"):
            header.write_text(f"#define FACTOR {factor}\n")
            made = compiler.compile(
                source, path="src/k.cu", kind="cubin", sm=SM, symbol="k", root=str(project)
            )
            assert isinstance(made, Artifact), made.log
            codes.append(made.machine_code)
    header.unlink()
    assert codes[0] == codes[2] != codes[1]
