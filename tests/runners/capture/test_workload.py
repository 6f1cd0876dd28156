"""What links captured launches is found out, and what cannot be run again is refused by name."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from optimizer.errors import ConfigError
from optimizer.model import Kind, Role
from runners import cuda_types
from runners.arena import pack
from runners.capture import manifest, shapes
from runners.capture.names import demangled, parsed
from runners.capture.workload import Found, build
from runners.interfaces import Job
from runners.spec import Work, parse
from runners.wire import job_to_dict

ZERO = "0" * 64


def pointer(size: int, changed: list[int] | None = None, whole: int = 0) -> dict[str, Any]:
    chunks = [ZERO] * -(-size // (4 << 20))
    return {
        "is": "pointer",
        "memory": "device",
        "allocation": 0,
        "offset": 0,
        "whole": whole or size,
        "size": size,
        "before": chunks,
        "after": chunks,
        "changed": changed,
    }


def value(form: str, *numbers: float) -> dict[str, Any]:
    return {"is": "value", "hex": struct.pack(f"<{form}", *numbers).hex()}


def capture(
    name: str, *launches: tuple[list[int], list[int], list[dict[str, Any]]], places: list[int]
) -> manifest.Capture:
    """Return a capture of one kernel whose parameters lie at `places`."""
    told = [
        {
            "ordinal": i,
            "count": 1,
            "repeated": False,
            "grid": grid,
            "block": block,
            "shared": 0,
            "arguments": [{**a, "place": p} for a, p in zip(arguments, places, strict=True)],
        }
        for i, (grid, block, arguments) in enumerate(launches)
    ]
    kernel = {"symbol": "_Z1k", "name": name, "seen": len(told), "launches": told}
    return manifest.Capture.model_validate(
        {
            "version": 1,
            "date": "2026-11-21",
            "command": [],
            "through": "preload",
            "randomized": False,
            "kernels": [kernel],
        }
    )


def found(told: manifest.Capture, text: str) -> Found:
    return build(told, 0, "cap", text, "k.cu", root="/nowhere")


GEMM = """
__global__ void k(const float* a, const float* b, float* c, int m, int n, int depth) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int x = 0; x < depth; x++) sum += a[i * depth + x] * b[x * n + j];
    c[i * n + j] = sum;
}
"""


def _gemm(m: int, n: int, depth: int) -> tuple[list[int], list[int], list[dict[str, Any]]]:
    arguments = [
        pointer(4 * m * depth),
        pointer(4 * depth * n),
        pointer(4 * m * n, [0, 4 * m * n]),
        value("i", m),
        value("i", n),
        value("i", depth),
    ]
    return [-(-n // 16), -(-m // 16), 1], [16, 16, 1], arguments


GEMM_NAME = "k(float const*, float const*, float*, int, int, int)"
GEMM_PLACES = [0, 8, 16, 24, 28, 32]


def test_shapes_and_grid_follow_from_several_sizes() -> None:
    told = capture(GEMM_NAME, _gemm(64, 100, 30), _gemm(33, 70, 50), places=GEMM_PLACES)
    workload = found(told, GEMM).workload
    assert workload.kind is Kind.KERNEL
    assert [a.shape for a in workload.arguments[:3]] == ["m*depth", "n*depth", "m*n"]
    assert [a.role for a in workload.arguments[:3]] == [Role.INPUT, Role.INPUT, Role.OUTPUT]
    assert workload.launch is not None
    assert workload.launch.grid == ("(n+15)/16", "(m+15)/16")
    assert workload.launch.block == ("16", "16")
    assert [a.value for a in workload.arguments[3:]] == ["m", "n", "depth"]


def test_all_of_a_workload_evaluates_to_what_was_launched() -> None:
    launches = [_gemm(64, 100, 30), _gemm(33, 70, 50)]
    one = found(capture(GEMM_NAME, *launches, places=GEMM_PLACES), GEMM)
    work = parse(job_to_dict(Job(one.kernel, one.kernel, one.workload))).work
    for case, (_, _, arguments) in zip(work.cases, launches, strict=True):
        for argument, given in zip(work.arguments, arguments, strict=True):
            if given["is"] == "pointer":
                assert argument.elements(case.values) * argument.type.size == given["size"]
        addresses = {a.name: 0 for a in work.arguments if a.type.pointer}
        assert pack(work, case.values, addresses)[24:] == b"".join(
            bytes.fromhex(a["hex"]) for a in arguments[3:]
        )


COPY = "__global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = x[threadIdx.x]; }"


def _copy(size: int, n: int, changed: int = 0, whole: int = 0) -> Any:
    end = changed or 4 * n
    arguments = [pointer(size, None, whole), pointer(size, [0, end], whole), value("i", n)]
    return [-(-n // 32), 1, 1], [32, 1, 1], arguments


@pytest.mark.parametrize(
    ("size", "n", "shape"),
    [
        (4000, 1000, "n"),
        (4096, 1000, "n"),  # rounded up
        (2 << 20, 400_000, "n"),  # a segment of PyTorch's pool
        (8000, 1000, "2*n"),
        (4004, 1000, "n+1"),  # one more: nobody rounds like that
        (40_000, 1000, "n+9000"),  # room of unknown use stays room
    ],
)
def test_an_array_is_as_long_as_its_size_says_or_as_it_is(size: int, n: int, shape: str) -> None:
    told = capture("k(float const*, float*, int)", _copy(size, n), places=[0, 8, 16])
    workload = found(told, COPY).workload
    if shape == "2*n":  # both arrays alike, but only a half was written: no reason to believe it
        assert workload.arguments[0].shape in {"2*n", "2000"}
    else:
        assert workload.arguments[0].shape == shape


def _sized(told: manifest.Capture) -> tuple[Found, Work]:
    one = found(told, COPY)
    return one, parse(job_to_dict(Job(one.kernel, one.kernel, one.workload))).work


def test_room_behind_an_array_is_kept_as_it_was_in_each_launch() -> None:
    """As in a pool: what lies there may be used, and no other number of it is tried."""
    launches = (_copy(4004, 9), _copy(12_004, 7))
    one, work = _sized(capture("k(float const*, float*, int)", *launches, places=[0, 8, 16]))
    x = work.arguments[0]
    assert [x.elements(case.values) for case in work.cases] == [1001, 3001]
    assert work.variables == {"n"}
    assert x.elements({**work.cases[0].values, "n": 10.0}) > 1001
    assert "other sizes are tried" in one.notes[0]


def test_launches_whose_sizes_follow_from_nothing_keep_their_own_numbers() -> None:
    launches = (_copy(4004, 900, changed=8), _copy(12_004, 7, changed=8))
    one, work = _sized(capture("k(float const*, float*, int)", *launches, places=[0, 8, 16]))
    assert one.workload.arguments[0].shape == "elements_x"
    assert [case.values["elements_x"] for case in one.workload.cases] == [1001, 3001]
    assert not work.variables  # none of them is a size that may be tried at other values


def test_a_null_pointer_is_passed_as_one() -> None:
    text = "__global__ void k(const float* bias, float* y, int n) { y[0] = bias ? bias[0] : n; }"
    launch = ([1, 1, 1], [1, 1, 1], [value("Q", 0), pointer(4, [0, 4]), value("i", 1)])
    one = found(capture("k(float const*, float*, int)", launch, places=[0, 8, 16]), text)
    assert one.workload.arguments[0].type == "uint64"
    assert one.workload.arguments[0].value == "0"


def test_a_structure_and_a_value_that_is_no_number_are_passed_as_their_bits() -> None:
    text = "struct P { int a; float b; double c; };\n__global__ void k(float* y, P p, float f) { y[0] = p.b; }"
    launch = (
        [1, 1, 1],
        [1, 1, 1],
        [pointer(4, [0, 4]), value("ifd", 1, 2.5, -1.0), value("f", float("nan"))],
    )
    one = found(capture("k(float*, P, float)", launch, places=[0, 8, 24]), text)
    work = parse(job_to_dict(Job(one.kernel, one.kernel, one.workload))).work
    packed = pack(work, work.cases[0].values, {"y": 0})
    assert packed[8:24] == struct.pack("<ifd", 1, 2.5, -1.0)
    assert packed[24:28] == struct.pack("<f", float("nan"))


REFUSED = {
    "constant": (
        "__constant__ float c[4];\n__global__ void k(float* y, int n) { y[0] = c[n]; }",
        "reads the __constant__ c",
    ),
    "texture": (
        "__global__ void k(float* y, cudaTextureObject_t n) { y[0] = tex1D<float>(n, 0); }",
        "a texture or surface",
    ),
    "other signature": ("__global__ void k(float* y) {}", "1 parameters"),
    "no such kernel": ("__global__ void other(float* y, int n) {}", "has no kernel k"),
    "reads only": ("__global__ void k(const float* y, int n) {}", "writes through none"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_again_is_refused_by_name(name: str) -> None:
    text, words = REFUSED[name]
    says = "k(float const*, int)" if name == "reads only" else "k(float*, int)"
    second = value("Q", 1) if name == "texture" else value("i", 1)
    says = "k(float*, unsigned long long)" if name == "texture" else says
    launch = ([1, 1, 1], [1, 1, 1], [pointer(4, [0, 4]), second])
    with pytest.raises(ConfigError) as caught:
        found(capture(says, launch, places=[0, 8]), text)
    assert words in caught.value.message


def test_constants_with_values_of_their_own_are_no_obstacle() -> None:
    text = "__constant__ float c[2] = {1, 2};\n__global__ void k(float* y, int n) { y[0] = c[n]; }"
    launch = ([1, 1, 1], [1, 1, 1], [pointer(4, [0, 4]), value("i", 1)])
    assert found(capture("k(float*, int)", launch, places=[0, 8]), text).workload.symbol == "k"


def test_memory_cuda_does_not_know_is_refused() -> None:
    launch = ([1, 1, 1], [1, 1, 1], [value("Q", 0x7F0000001000), pointer(4, [0, 4]), value("i", 1)])
    with pytest.raises(ConfigError, match="memory that CUDA does not know"):
        found(capture("k(float const*, float*, int)", launch, places=[0, 8, 16]), COPY)


def test_a_layout_that_cannot_be_packed_again_is_refused() -> None:
    launch = ([1, 1, 1], [1, 1, 1], [pointer(4), pointer(4, [0, 4]), value("i", 1)])
    with pytest.raises(ConfigError, match="layout"):
        found(capture("k(float const*, float*, int)", launch, places=[0, 8, 32]), COPY)


@pytest.mark.parametrize(
    ("name", "instance", "types"),
    [
        ("scale", "scale", None),
        ("f()", "f", ()),
        ("void f<int>(int)", "f<int>", ("int",)),
        ("ns::f(float*)", "ns::f", ("float*",)),
        ("(anonymous namespace)::f(float*)", "f", ("float*",)),
        ("void a::b::f<4, true>(c10::Half*)", "a::b::f<4, true>", ("c10::Half*",)),
        (
            "void f<std::pair<int, int> >(x<a, b>, int)",
            "f<std::pair<int, int> >",
            ("x<a, b>", "int"),
        ),
        ("", "", None),
        (")", ")", None),
    ],
)
def test_symbols_are_taken_apart(name: str, instance: str, types: tuple[str, ...] | None) -> None:
    said = demangled(name)
    assert said.instance == instance
    assert said.types == types


def test_types_of_libraries_are_those_they_are_laid_out_as() -> None:
    assert parsed("c10::Half const*") == cuda_types.parse("__half const*")
    assert parsed("void const*") is not None
    assert parsed("float**") is None
    assert parsed("at::Tensor") is None


def test_a_template_instance_is_named_as_source_names_it() -> None:
    text = (
        "namespace ns { template <typename T, int N> __global__ void k(T* y, int n) { y[n] = N; } }"
    )
    launch = ([1, 1, 1], [1, 1, 1], [pointer(4, [0, 4]), value("i", 0)])
    one = found(capture("void ns::k<float, 4>(float*, int)", launch, places=[0, 8]), text)
    assert one.workload.symbol == "ns::k<float, 4>"
    assert one.workload.arguments[0].type == "float*"


TEMPLATE = "template <int N> __global__ void k(float* y, int n) { y[threadIdx.x] = n * N; }"


@pytest.mark.parametrize(
    "instance",
    [
        "k<1>; __device__ int more<1>",
        "k<(x{})>",
        'k<sizeof("text")>',
        "k<'a'>",
        "k<1 /* >",
        "k<1 \\ >",
        "k<#1>",
        "k<" + "1" * 4000 + ">",
    ],
)
def test_a_name_that_holds_more_than_template_arguments_reaches_no_compiler(instance: str) -> None:
    """It is written into the text that is compiled, to have that instance made."""
    arguments = [pointer(400, [0, 400]), value("i", 100)]
    launch = ([1, 1, 1], [32, 1, 1], arguments)
    with pytest.raises(ConfigError, match=r"no source can write|has no kernel"):
        found(capture(f"void {instance}(float*, int)", launch, places=[0, 8]), TEMPLATE)
    good = capture("void k<(int)-3>(float*, int)", launch, places=[0, 8])
    assert found(good, TEMPLATE).workload.symbol == "k<(int)-3>"


def test_a_kernel_of_many_sizes_is_looked_through_in_bounded_work() -> None:
    """Forty of them had 10,000 products, each asked of every array of every launch: minutes."""
    names = [f"n{i}" for i in range(40)]
    sizes = [value("i", 10_007 + i) for i in range(40)]
    arguments = [pointer(4_000_000), pointer(400_000, [0, 4]), *sizes]
    places = [0, 8, *range(16, 16 + 4 * 40, 4)]
    told = capture("k", ([7, 3, 1], [32, 1, 1], arguments), places=places)
    text = ", ".join(f"int {name}" for name in names)
    source = f"__global__ void k(const float* x, float* y, {text}) {{ y[0] = x[0]; }}"
    assert [one.shape for one in found(told, source).workload.arguments[:2]] == [
        "1000000",
        "100000",
    ]
    assert len(shapes._products(dict.fromkeys(names, (7,)))) == 16 + 120 + 560 + 16
