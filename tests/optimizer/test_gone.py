"""A candidate may do without what its original's device code alone had, and without nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.tokens import code_tokens
from optimizer.toolkit import is_ahead
from tests.redteam.table import load

BASE = """#include <cuda_runtime.h>
#include <limits.h>
#include <math_constants.h>
#include <cstdio>
struct Best { float size; int at; };
template <int N> struct Tile { static constexpr int kN = N; float part[N]; };
struct Shape { int rows, cols; };
enum Way { DOWN, UP };
__device__ bool beats(Best a, Best b) { return a.size > b.size; }
__global__ void k(float* x, int n) {
    Best best = {-CUDART_INF_F, INT_MAX};
    Tile<4> tile;
    tile.part[0] = beats(best, best) + DOWN;
    x[0] = tile.part[0] + n;
}
extern "C" void f(float* x, int n) {
    Shape shape = {n, n};
    if (n < 0) printf("none\\n");
    k<<<1, 1>>>(x, shape.rows);
}
"""
BODY = BASE[BASE.index("    Best best") : BASE.index("}\nextern")]
PLAIN = BASE.replace(BODY, "    x[0] = n;\n")
BEST = "struct Best { float size; int at; };\n"
BEATS = "__device__ bool beats(Best a, Best b) { return a.size > b.size; }\n"
TILE = "template <int N> struct Tile { static constexpr int kN = N; float part[N]; };\n"
WAY = "enum Way { DOWN, UP };\n"
SHAPE = "struct Shape { int rows, cols; };\n"


def _without(text: str, *parts: str) -> str:
    for part in parts:
        assert part in text
        text = text.replace(part, "")
    return text


@pytest.mark.parametrize(
    "parts",
    [
        (BEST, BEATS),
        (TILE,),
        (WAY,),
        (BEST, BEATS, TILE, WAY),
        ("#include <limits.h>\n",),
        ("#include <limits.h>\n", "#include <math_constants.h>\n", BEST, BEATS),
    ],
)
def test_types_and_headers_of_device_code_may_go(parts: tuple[str, ...]) -> None:
    assert violations(BASE, _without(PLAIN, *parts)) == ()


def test_one_may_go_while_another_comes() -> None:
    other = "struct Found { float size; int at; };\n"
    assert violations(BASE, _without(PLAIN, BEST, BEATS).replace(TILE, TILE + other)) == ()


@pytest.mark.parametrize(
    "candidate",
    [
        # Of which host text has an object, or that it includes for itself.
        _without(PLAIN, SHAPE).replace("Shape shape = {n, n};", "int shape[2] = {n, n};"),
        _without(PLAIN, SHAPE),
        _without(PLAIN, "#include <cstdio>\n"),
        _without(PLAIN, "#include <limits.h>\n", "    if (n < 0)"),
        # What still stands somewhere means something else by now, or nothing.
        _without(PLAIN, BEST, BEATS).replace("x[0] = n;", "struct Best { int a; } b; x[0] = n;"),
        _without(PLAIN, BEST),
        # Nothing else goes with it.
        _without(PLAIN, BEST, BEATS).replace('printf("none\\n");', ";"),
    ],
)
def test_what_host_text_has_stays(candidate: str) -> None:
    assert violations(BASE, candidate)


def test_a_type_stays_whose_name_is_elsewhere_in_host_text() -> None:
    base = BASE.replace("Shape shape", "int Best = 0; Shape shape")
    assert violations(base, _without(base.replace(BODY, "    x[0] = n;\n"), BEST, BEATS))


def test_a_type_of_a_kernels_parameters_stays() -> None:
    base = BASE.replace("float* x, int n) {\n    Best", "float* x, Best n) {\n    Best")
    base = base.replace(" + n;", " + n.at;").replace("(x, shape.rows)", "(x, {0, 0})")
    body = base[base.index("    Best best") : base.index("}\nextern")]
    candidate = _without(base.replace(body, "    x[0] = 1;\n"), BEST, BEATS)
    assert violations(base, candidate)
    assert violations(base, candidate.replace("Best n", "int n"))


@pytest.mark.parametrize("line", ["#ifdef INT_MAX", "#if defined(INT_MAX)", "#ifndef INT_MAX"])
def test_headers_stay_where_a_condition_may_ask_for_them(line: str) -> None:
    base = BASE.replace("extern", f"{line}\nint other;\n#endif\nextern")
    assert violations(base, _without(base, "#include <limits.h>\n"))


@pytest.mark.parametrize("name", ["cmath", "math.h", "cstdint", "limits", "type_traits"])
def test_headers_stay_that_give_host_text_functions_and_types(name: str) -> None:
    base = BASE.replace("limits.h", name)
    assert violations(base, _without(base, f"#include <{name}>\n"))


def test_a_specialisation_of_somebody_elses_template_stays() -> None:
    hashed = "template <> struct std::hash<Best> { int at; };\n"
    base = BASE.replace(BEATS, BEATS + hashed).replace("<cstdio>", "<functional>")
    assert violations(base, _without(base, hashed))


def test_a_class_with_an_object_stays() -> None:
    base = BASE.replace(BEST, "struct Best { float size; int at; } first;\n")
    candidate = base.replace("struct Best { float size; int at; } first;\n", "").replace(BEATS, "")
    assert violations(base, candidate.replace(BODY, "    x[0] = n;\n"))


def test_right_candidates_of_the_red_team_are_inside() -> None:
    labels = {"iamaxb/packed64", "capsoftmax/no_max", "decodewin/split_warps"}
    mine = [one for one in load() if one.label in labels]
    assert len(mine) == len(labels)
    for one in mine:
        assert violations(one.base.source, one.source) == (), one.label


SHORT = "using namespace nvcuda;\n"
GROUPS = "namespace cg = cooperative_groups;\n"
OPEN = "using namespace cooperative_groups;\n"


def _short(line: str, host: str = "") -> tuple[str, ...]:
    """Return what is said where a candidate does without a line of short names."""
    base = BASE.replace("struct Best", line + "struct Best", 1).replace("size", "large")
    base = base.replace("    Shape shape", f"    {host}Shape shape")
    return violations(base, _without(base, line))


@pytest.mark.parametrize("line", [SHORT, GROUPS, OPEN, "using namespace nvcuda::wmma;\n"])
def test_short_names_of_the_toolkit_go_with_what_used_them(line: str) -> None:
    assert _short(line) == ()


@pytest.mark.parametrize(
    ("line", "host"),
    [
        (GROUPS, "cg::sync(n); "),
        (OPEN, "sync(n); "),
        ("using namespace std;\n", ""),
        ("namespace cg = other;\n", ""),
    ],
)
def test_names_that_host_text_has_stay(line: str, host: str) -> None:
    """Without the line it would mean something else by them."""
    assert any("changes text outside device code" in one for one in _short(line, host))


AHEAD = (
    "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "driver_types.h",
    "vector_types.h", "vector_functions.h",
)  # fmt: skip
RUNTIME = "#include <cuda_runtime.h>\n"


@pytest.mark.parametrize("hosted", [False, True])
@pytest.mark.parametrize("header", AHEAD)
def test_what_nvcc_includes_by_itself_comes_and_goes(header: str, hosted: bool) -> None:
    """In any place, and where a condition of the preprocessor asks what is defined."""
    line = f"#include <{header}>\n"
    asked = BASE.replace("extern", "#ifdef INT_MAX\nint other;\n#endif\nextern")
    for base in (BASE, asked):
        with_it = base.replace(RUNTIME, line)
        without = base.replace(RUNTIME, "")
        later = without.replace("struct Best", line + "struct Best", 1)
        assert len({with_it, without, later}) == 3
        for one, other in ((with_it, without), (without, with_it), (with_it, later)):
            assert violations(one, other, allow_host=hosted) == ()


@pytest.mark.parametrize(
    "line",
    [
        '#include "cuda_runtime.h"\n',
        "#include <cuda.h>\n",
        "#include <curand.h>\n",
        "#include <mine/cuda_runtime.h>\n",
        "#include <cuda_runtime.hpp>\n",
        "#include RUNTIME\n",
        "#define RUNTIME <cuda_runtime.h>\n#include RUNTIME\n",
        "#undef __CUDA_RUNTIME_H__\n",
    ],
)
def test_what_another_file_may_stand_for_stays(line: str) -> None:
    """Quotes may name a file beside the source; what a compiler does not include is not there."""
    base = BASE.replace(RUNTIME, line)
    for hosted in (False, True):
        assert violations(base, base.replace(line, ""), allow_host=hosted)
        assert violations(base.replace(line, ""), base, allow_host=hosted)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_nvcc_sees_the_same_text_with_and_without_these_headers(tmp_path: Path) -> None:
    """Another line for a header that is there adds no declaration and no macro."""

    def seen(text: str) -> list[str]:
        file = tmp_path / "seen.cu"
        file.write_text(text)
        line = ["nvcc", "-E", "-arch=sm_90", "-Xcompiler", "-dD", str(file)]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        return [one for one in done.stdout.splitlines() if one and not one.startswith("# ")]

    plain = seen("int last;\n")
    assert len(plain) > 1000
    assert seen("".join(f"#include <{name}>\n" for name in AHEAD) + "int last;\n") == plain
    assert seen("#include <cuda.h>\nint last;\n") != plain
    assert all(is_ahead([t.text for t in code_tokens(f"include <{name}>")]) for name in AHEAD)


HOSTED = ("vector", "cmath", "cstdint", "cstdio", "limits", "iostream", "string", "stdlib.h")


@pytest.mark.parametrize("name", HOSTED)
def test_host_code_that_may_change_does_without_headers_of_the_language(name: str) -> None:
    """Not where a condition asks what is defined, and no more of them may be added than before."""
    base = BASE.replace("limits.h", name)
    less = _without(base, f"#include <{name}>\n")
    assert violations(base, less, allow_host=True) == ()
    condition = "#ifdef NAME\nint other;\n#endif\n"
    assert violations(condition + base, condition + less, allow_host=True)
    if name in {"iostream", "string", "stdlib.h"}:
        assert violations(less, base, allow_host=True)


@pytest.mark.parametrize(
    "line", ['"vector"', "<mine/vector>", "<checks.h>", "<unistd.h>", "<cuda.h>", '"common.h"']
)
def test_headers_of_others_stay(line: str) -> None:
    base = BASE.replace("<limits.h>", line)
    assert violations(base, _without(base, f"#include {line}\n"), allow_host=True)
