"""A project file is read whole and right, or refused with its line and what would be right."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import ConfigError
from optimizer.model import (
    Acceptance,
    Argument,
    Build,
    Case,
    Kind,
    Launch,
    Program,
    Role,
    Tolerance,
    Workload,
)
from runners import marked_yaml
from runners.project_file import NAMED_INITS, schema
from runners.workload import Project, parse_project, program_workload, read_project
from runners.workload_yaml import to_yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCE = """#include <cuda_fp16.h>
template <typename T> __global__ void scale(T* x, T a, int n) { int i = threadIdx.x; if (i < n) x[i] *= a; }
__global__ void saxpy(int n, float a, const float* __restrict__ x, float *y) { }
namespace deep { __global__ void inner(const half* h, unsigned char* bytes) { } }
void run(const float* x, float* y, int n, cudaStream_t stream) { saxpy<<<1, 1>>>(n, 1.f, x, y); }
#define MAKE(name) __global__ void name(float* x) {}
MAKE(made)
"""
YAML = """version: 1
build:
  flags: ["-O3", "-DX=1"]
budget: {minutes: 2.5, evaluations: 12}
accept: {min_speedup: 1.05}
policy: rules
objective: energy
kernels:
  - name: saxpy
    file: k.cu
    kernel: saxpy
    launch: {grid: ["(n+255)/256"], block: [256], tunable: true}
    args:
      - {name: n, type: int, value: n}
      - {name: a, type: float, value: 2.5}
      - {name: x, type: "const float*", shape: "n", init: {randint: [0, 9]}}
      - {name: y, type: "float*", shape: "n", role: inout}
    cases:
      - {n: 4096, weight: 2}
      - {n: 1, time: false}
    tolerance: {rtol: 1e-4, atol: 0}
    edit: host
    warm: true
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "main.cu").write_text("int main(int argc, char** argv) { return 0; }\n")
    (tmp_path / "ref.py").write_text("def saxpy(n, a, x, y):\n    return {'y': a * x + y}\n")
    return tmp_path


def read(folder: Path, text: str) -> Project:
    (folder / ".optiml.yml").write_text(text)
    return read_project(folder / ".optiml.yml")


def test_every_key_arrives_in_the_workload(folder: Path) -> None:
    project = read(folder, YAML)
    ((path, workload),) = project.workloads
    assert path == "k.cu"
    assert workload == Workload(
        "saxpy",
        Kind.KERNEL,
        "saxpy",
        (
            Argument("n", "int", value="n"),
            Argument("a", "float", value="2.5"),
            Argument("x", "const float*", "n", init="randint:0:9"),
            Argument("y", "float*", "n", role=Role.INOUT),
        ),
        (Case({"n": 4096}, 2.0), Case({"n": 1}, time=False)),
        Tolerance(1e-4, 0.0),
        Launch(("(n+255)/256",), ("256",), tunable=True),
        build=Build(("-O3", "-DX=1")),
        accept=Acceptance(1.05, edit_host=True),
        root=str(folder.resolve()),
        warm=True,
    )
    assert project.config.given() == {
        "minutes": 2.5, "evaluations": 12, "policy": "rules", "objective": "energy",
    }  # fmt: skip


def test_kernels_come_with_the_text_of_their_files(folder: Path) -> None:
    ((kernel, workload),) = read(folder, YAML).kernels()
    assert (kernel.source, kernel.path, kernel.launch) == (SOURCE, "k.cu", workload.launch)


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("*/.optiml.yml")), ids=lambda p: p.parent.name
)
def test_every_example_is_read_and_survives_being_written(path: Path) -> None:
    project = read_project(path)
    assert parse_project(to_yaml(project.workloads), project.root).workloads == project.workloads


def test_an_entry_function_may_take_a_stream_at_its_end(folder: Path) -> None:
    text = """version: 1
kernels:
- {name: run, file: k.cu, entry: run, cases: [{n: 5}], args: [
   {name: x, type: "const float*", shape: n}, {name: y, type: "float*", shape: n, role: output},
   {name: n, type: int, value: n}]}
"""
    assert read(folder, text).workloads[0][1].kind is Kind.ENTRY


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("[]", ((),)),
        ('["--size", 4096]', (("--size", "4096"),)),
        ("[[1], [2, x]]", (("1",), ("2", "x"))),
    ],
)
def test_a_program_has_one_run_or_several(
    folder: Path, run: str, expected: tuple[Any, ...]
) -> None:
    text = f'version: 1\nkernels:\n- {{name: m, file: main.cu, program: {{run: {run}, check: {{stdout: "PASS"}}}}}}\n'
    assert read(folder, text).workloads[0][1].program == Program(expected, 0, "PASS")


def test_templates_namespaces_halves_and_macros_fit_their_signatures(folder: Path) -> None:
    text = """version: 1
kernels:
- {name: a, file: k.cu, kernel: "scale<float>", launch: {grid: 1, block: 32}, args: [
   {name: x, type: "float*", shape: 4, role: inout}, {name: a, type: float, value: 1},
   {name: n, type: int, value: 4}]}
- {name: b, file: k.cu, kernel: "deep::inner", launch: {grid: 1, block: 32}, args: [
   {name: h, type: "const half*", shape: 4}, {name: b, type: "uint8_t*", shape: 4, role: output}]}
- {name: c, file: k.cu, kernel: made, launch: {grid: 1, block: 32}, args: [
   {name: x, type: "float*", shape: 4, role: output}]}
"""
    assert len(read(folder, text).workloads) == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "remedy"),
    [
        ("version: 1", "version: 2", 1, "version is 2", "1"),
        ("version: 1\n", "", 1, "version is missing", "add `version: 1`"),
        ("policy: rules", "polciy: rules", 6, "unknown key polciy", "did you mean policy?"),
        ("policy: rules", "policy: magic", 6, "policy is 'magic'", "'rules', 'llm' or 'mixed'"),
        ("minutes: 2.5", "minutes: -1", 4, "budget.minutes is -1", "greater than 0"),
        ("evaluations: 12", "evaluations: many", 4, "budget.evaluations is 'many'", "integer"),
        ("tunable: true", "tuneable: true", 12, "unknown key tuneable", "did you mean tunable?"),
        ("kernels:\n", "kernals:\n", 8, "unknown key kernals", "did you mean kernels?"),
        ("    kernel: saxpy\n", "", 9, "exactly one of kernel, entry, program", ""),
        ("    warm: true", "    entry: run", 9, "there is kernel and entry", ""),
        ("value: 2.5", "value: m", 15, "'m' names m, which no case has", "the variables are n"),
        ('shape: "n", init', 'shape: "2**", init', 16, "is not arithmetic", "arithmetic over"),
        ('shape: "n", init', 'shape: "__import__(1)", init', 16, "only min", "arithmetic over"),
        ('shape: "n", init', 'shape: "n-5000", init', 16, "gives -904, not a size (n=4096)", ""),
        ('shape: "n", init', 'shape: "n*n*n*n", init', 16, "elements for n=4096", "no GPU"),
        ("(n+255)/256", "n/256", 12, "'n/256' gives 0 for n=1", ""),
        ("block: [256]", "block: [64, 32]", 12, "a block of 2048 threads", "1024"),
        ("block: [256]", "block: [1,1,1,1]", 12, "launch.block is", "at most 3"),
        ("randint: [0, 9]", "randint: [9, 0]", 16, "empty", ""),
        ("randint: [0, 9]", "randint: [0, m]", 16, "m", "variables"),
        ("randint: [0, 9]", "randint: [0, n-1]", 16, "empty for n=1", ""),
        ("randint: [0, 9]", "randint: [-9, n-9]", 16, "'n-9' gives", ""),
        ("randint: [0, 9]", 'randint: [0, "n+"]', 16, "n+", ""),
        ("randint: [0, 9]", "randint: [n, 9]", 16, "is no init", ""),
        ("{randint: [0, 9]}", "gaussian", 16, "'gaussian' is no init", ""),
        ("randint: [0, 9]", "file: missing.npy", 16, "there is no file missing.npy", ""),
        ('"const float*"', '"const flaot*"', 16, "'flaot' is no argument type", ""),
        ('"const float*"', '"const double*"', 13, "argument x is 'const double*', not 'const float *'", "order of the signature"),
        ('"const float*"', "float", 16, "x is a value", "value"),
        ("type: int, value: n", 'type: "int*", shape: n', 13, "argument n is a pointer, parameter n a value", "signature"),
        ("role: inout", "role: both", 17, "kernels.args.role is 'both'", "'input', 'output' or 'inout'"),
        ("role: inout", "role: input", 13, "no argument is an output", "role: output"),
        ("      - {name: n, type: int, value: n}\n", "", 13, "args has 3 entries, the function takes 4", "order of the signature"),
        ("kernel: saxpy", "kernel: saxpi", 11, "k.cu has no kernel saxpi", "did you mean saxpy?"),
        ("kernel: saxpy", "kernel: run", 11, "run in k.cu is a host function", "write `entry: run`"),
        ("file: k.cu", "file: kk.cu", 10, "there is no file kk.cu", "did you mean k.cu?"),
        ("file: k.cu", "file: ../k.cu", 10, "leads out of the project", ""),
        ("file: k.cu", 'file: "a\\0b"', 10, "no path", ""),
        ("weight: 2", "weight: 0", 19, "weight is 0", ""),
        ("{n: 1, time: false}", "{m: 1}", 20, "cases differ in their variables: m, n", ""),
        ("{n: 1, time: false}", "{n: x}", 20, "n: 'x' is no number", ""),
        ("rtol: 1e-4", "rtol: 1e4", 21, "kernels.tolerance.rtol is 10000.0", "less than or equal to 1"),
        ('"-DX=1"', '"-arch=sm_80"', 2, "-arch=sm_80 is not allowed", "the device decides"),
        ('"-DX=1"', '"--use_fast_math"', 2, "changes results", "allow_fast_math"),
        ("    edit: host", "    reference: ref.py:nothing", 22, "ref.py has no function nothing", ""),
        ("    edit: host", "    reference: nothing.py:f", 22, "there is no file nothing.py", ""),
        ("    edit: host", "    name: again", 22, "name is given twice", ""),
        ("    edit: host", "    warm: &a true", 22, "anchors", ""),
        ("    edit: host", "    warm: *a", 22, "anchors", ""),
        ("    edit: host", "    warm: !!python/name:os.system x", 22, "tag", ""),
        ("    edit: host", "   edit: host", 22, "not YAML", ""),
    ],
)  # fmt: skip
def test_a_mistake_names_file_line_and_remedy(
    folder: Path, old: str, new: str, line: int, message: str, remedy: str
) -> None:
    assert YAML.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        read(folder, YAML.replace(old, new))
    assert f".optiml.yml:{line}: " in caught.value.message
    assert message in caught.value.message
    assert remedy in caught.value.remedy
    assert caught.value.exit_code == 2


def test_a_missing_or_foreign_file_is_said(folder: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_project(folder / "none.yml")
    (folder / "latin.yml").write_bytes(b"version: \xff")
    with pytest.raises(ConfigError, match=r"not UTF-8 \(byte \d+\)\n.*iconv -f latin1"):
        read_project(folder / "latin.yml")
    with pytest.raises(ConfigError, match="must hold keys"):
        read(folder, "just text")


def test_a_file_with_main_needs_no_project_file(folder: Path) -> None:
    found = program_workload(folder / "main.cu", folder)
    assert found is not None
    kernel, workload = found
    assert (kernel.path, workload.kind, workload.program) == (
        "main.cu",
        Kind.PROGRAM,
        Program(exit=None),
    )
    assert program_workload(folder / "k.cu", folder) is None


def test_the_schema_accepts_what_the_reader_accepts() -> None:
    import jsonschema  # type: ignore[import-untyped]

    validator = jsonschema.Draft202012Validator(schema())
    for path in EXAMPLES.glob("*/.optiml.yml"):
        assert not list(validator.iter_errors(yaml.safe_load(path.read_text())))
    assert list(validator.iter_errors({"version": 1, "kernels": [], "polciy": 1}))


def test_size_depth_and_expansion_are_bounded() -> None:
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\n"
    for text in (
        bomb,
        "[" * 5000,
        "- " * 5000,
        "a: " * 500,
        "x" * 300_000,
        "[1,]" + "[1]," * 30_000,
    ):
        with pytest.raises(ConfigError):
            marked_yaml.load(text, "f")


FUNCTIONS = {"min", "max", "ceil", "floor", "log2", "abs"}
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name) and name not in {"weight", "time", *FUNCTIONS}
)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    variable = draw(NAMES)
    kind = draw(st.sampled_from([Kind.KERNEL, Kind.ENTRY]))
    places = f"randint:-1:2*{variable}"
    inits = st.sampled_from(
        [*NAMED_INITS, "randint:-5:7", places, "file:a.npy", "python:g.py:make"]
    )
    arguments = (
        Argument("first", "const float*", variable, init=draw(inits)),
        Argument(
            "second", "int*", f"{variable}*2", role=draw(st.sampled_from([Role.OUTPUT, Role.INOUT]))
        ),
        Argument("third", "int", value=str(draw(st.integers(-9, 9)))),
    )
    sizes = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=3))
    return Workload(
        draw(
            st.text(
                st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]),
                min_size=1,
                max_size=9,
            )
        ),
        kind,
        "f",
        arguments,
        tuple(Case({variable: size}, draw(st.sampled_from([1.0, 2.5]))) for size in sizes),
        Tolerance(draw(st.floats(0, 1)), draw(st.floats(0, 100))),
        Launch((f"({variable}+31)/32",), ("32", "2"), str(draw(st.integers(0, 99))))
        if kind is Kind.KERNEL
        else None,
        accept=Acceptance(max_registers=draw(st.integers(1, 255)), edit_host=draw(st.booleans())),
        reference=draw(st.none() | st.just("ref.py:f")),
        root="/p",
        warm=draw(st.booleans()),
    )


@settings(deadline=None)
@given(workloads())
def test_what_is_written_is_read_back(workload: Workload) -> None:
    text = to_yaml([("k.cu", workload)])
    assert parse_project(text, Path("/p")).workloads == (("k.cu", workload),)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_any_text_gives_a_project_or_one_error(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(YAML)))
    junk = data.draw(
        st.text(max_size=12)
        | st.sampled_from(
            ["&a ", "*a", "!!", "{", "[", "\t", "? ", "1e999", "0x", "null", ".nan", "1:30"]
        )
    )
    text = YAML[:at] + junk + YAML[at + data.draw(st.integers(0, 8)) :]
    assert refusal(text).startswith((".optiml.yml", "read"))


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda s: (
            st.lists(s, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "name",
                        "file",
                        "kernel",
                        "entry",
                        "program",
                        "args",
                        "cases",
                        "launch",
                        "grid",
                        "run",
                        "init",
                        "n",
                    ]
                ),
                s,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_any_value_in_a_kernels_place_gives_a_project_or_one_error(value: object) -> None:
    text = yaml.safe_dump({"version": 1, "kernels": [value]})
    assert refusal(text).startswith((".optiml.yml", "read"))


def refusal(text: str) -> str:
    try:
        parse_project(text, Path("/p"))
    except ConfigError as error:
        return error.message
    return "read"
