"""What all threads read, staged by the block."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.tile_broadcast import tile_broadcast
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "struct P { float x, y, m; };\n__global__ void k(const P *p, const float *c, float *o, int m, int n) {\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
RUN = "void run(P *p, float *c, float *o, int m, int n) { k<<<(n + 31) / 32, 32>>>(p, c, o, m, n); }\n"
EARLY = (
    HEAD
    + ID
    + "  if (i >= n) return;\n  o[i] = 0;\n  float s = 0.f;\n  for (int j = 0; j < n; j++) {\n"
    + "    if (j == i) continue;  // not itself\n    s += p[j].m * (p[j].x - p[i].x);\n  }\n  o[i] += s;\n}\n"
    + RUN
)
INSIDE = (
    HEAD
    + "\tconst int tid = threadIdx.x + blockIdx.x * blockDim.x;\n\tif (tid < n)\n\t{\n\t\tfloat best = 1e30f;\n\t\tint where = 0;\n"
    + "\t\tfor (int q = 0; q < m; ++q)\n\t\t\tif (fabsf(c[q] - p[tid].x) < best) { best = fabsf(c[q] - p[tid].x); where = q; }\n"
    + "\t\to[tid] = where;\n\t}\n}\n"
    + RUN
)
UNGUARDED = (
    HEAD
    + "  float s = 0;\n  for (unsigned j = 1; j < m; j++) s += c[j] * p[j].y;\n"
    + "  o[threadIdx.x] = s;\n}\n"
    + RUN.replace("(n + 31) / 32, 32", "1, 4")
)
TWO = (
    HEAD
    + ID
    + "  if (i >= n) return;\n  float a = p[i].x, s = 0;\n  for (int j = 0; j < m; j++)\n    s += c[j] * a;\n"
    + "  if (s > 3) {\n    o[i] = s;\n  } else {\n    o[i] = -s;\n  }\n}\n"
    + RUN
)


def edits(text: str) -> list[Edit]:
    return list(tile_broadcast(Kernel("run", text, "k.cu"), []))


class TestTileBroadcast(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (EARLY, INSIDE, UNGUARDED, TWO)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return tile_broadcast


def test_all_threads_stay_for_the_barriers_and_only_some_store() -> None:
    (edit,) = edits(EARLY)
    assert "const bool active = i < n;\n  if (!active) i = 0;" in edit.source
    assert "if (active) o[i] += s;" in edit.source
    assert "return" not in edit.source
    assert "p_tile[j - j0].m * (p_tile[j - j0].x - p[i].x)" in edit.source
    assert "if (j == i) continue;  // not itself" in edit.source


def test_other_tests_before_the_loop_do_not_matter() -> None:
    text = INSIDE.replace("int where = 0;", "int where = 0;\n\t\tif (m > 3) best = 1e20f;")
    assert len(edits(text)) == 1


def test_work_under_a_test_is_brought_out_of_it() -> None:
    (edit,) = edits(INSIDE)
    assert "\tint tid = threadIdx.x" in edit.source
    assert "c_tile[q - q0]" in edit.source
    assert "\tif (active) o[tid] = where;\n}" in edit.source


@pytest.mark.parametrize(
    "text",
    [
        EARLY.replace("p[j].", "p[i + j].").replace("p[j]", "p[i + j]"),  # not alike
        EARLY.replace("    s += p", "    o[i] += 1;\n    s += p"),  # stores in the loop
        EARLY.replace("const P *p", "P *p").replace("o[i] += s;", "p[i].x = s;"),  # stores to it
        EARLY.replace("continue;", "break;"),
        EARLY.replace("continue;", "return;"),
        EARLY.replace("j < n; j++", "j < i; j++"),  # not as long for all
        EARLY.replace("float s = 0.f;", "float s = threadIdx.x;"),
        TWO.replace(
            "{\n    o[i] = s;\n  } else {\n    o[i] = -s;\n  }", "o[i] = s; else o[i] = -s;"
        ),
        TWO.replace("j < m", "j < 16"),  # too short
        TWO.replace("float a", "__shared__ float t[4];\n  float a"),
    ],
)
def test_loops_that_differ_between_threads_are_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [EARLY, INSIDE, UNGUARDED, TWO])
def test_results_stay_the_same_for_odd_sizes(text: str, tmp_path: Path) -> None:
    main = """
    for (int n : {4, 33, 70}) for (int m : {1, 64, 300}) {
      std::vector<P> p(n + m); std::vector<float> c(m), o(n);
      for (int i = 0; i < n + m; ++i) p[i] = {float(i % 17), float(i % 5), float(i % 3)};
      for (int i = 0; i < m; ++i) c[i] = i * 7 % 11;
      run(p.data(), c.data(), o.data(), m, n);
      for (float v : o) printf("%g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[0].source, main, tmp_path) == wanted
