"""Types of expressions, and calls that only compute."""

from __future__ import annotations

from optimizer.source import Source
from optimizer.syntax import walk
from tests.optimizer.cuda_texts import kernel


def test_calls_that_only_compute() -> None:
    """Device functions without effects are told from those that write or synchronize."""
    text = (
        "__device__ float good(const float3& v) { float s = 0; s += v.x; return sqrtf(s); }\n"
        "__device__ float bad(float* p) { return p[0] = 1; }\n"
        "__device__ void worse(float& x) { x = 1; }\n"
        "__device__ float sync() { __syncthreads(); return 1; }\n"
    )
    assert [f.pure for f in Source(text).functions] == [True, False, False, False]


def test_types_of_expressions() -> None:
    """Element types of pointers, usual conversions and calls are told; the rest is None."""
    f = kernel("int i = n; float4 v; b[i] = a[i] + 1.0 * n; v.x = i + 1u; b[0] = sqrtf(w); odd(i);")
    nodes = {f.file.syntax.plain(n): n for n in walk(f.body)}
    assert f.type_of(nodes["a[i]"]) == "float"
    assert f.type_of(nodes["a[i]+1.0*n"]) == "double"
    assert f.type_of(nodes["i+1u"]) == "unsigned int"
    assert f.type_of(nodes["v.x"]) == "float"
    assert f.type_of(nodes["sqrtf(w)"]) == "float"
    assert f.type_of(nodes["odd(i)"]) is None


def test_a_type_of_the_file_is_judged_by_what_it_stands_for_and_declared_as_written() -> None:
    text = (
        "#define REAL float\ntypedef REAL real;\ntypedef struct { real x; int *links; } Body;\n"
        "__device__ real weight(real d) { return d; }\n"
        "__global__ void k(const real *a, Body *b, int n) {\n"
        "  REAL s = exp(a[0]);\n  s += b[n].x + weight(s) + max(s, a[1]);\n}\n"
    )
    fn = Source(text).kernels[0]
    a, s = fn.variable("a"), fn.variable("s")
    assert a is not None
    assert s is not None
    assert (a.element, a.written, s.element, s.written) == ("float", "real", "float", "REAL")
    assert fn.type_of(s.init) == "float"
    sides = fn.variables.nodes("binary_expression", "call_expression")
    assert {fn.type_of(n) for n in sides} == {"float"}
    assert Source(text).members["Body"] == {"x": "float", "links": "int*"}


def test_a_cast_to_a_named_type_is_no_call() -> None:
    """`(real)(i - 1)` neither changes `i` nor does anything else."""
    text = "typedef float real;\n__global__ void k(float* o, int i) { o[i] = (real)(i) / (real)(i - 1); }"
    f = Source(text).kernels[0]
    assert not f.unknown_calls
    variable = f.variable("i")
    assert variable is not None
    assert variable.settled
    assert f.type_of(f.divisions[0]) == "float"
