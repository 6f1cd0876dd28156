"""Transpositions staged through shared memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.stage_transpose import stage_transpose
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

HEAD = "__global__ void k(const float *in, float *out, int w, int h) {\n"
XY = "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = threadIdx.y + blockIdx.y * blockDim.y;\n"
GO = (
    "}\nvoid go(float *a, float *b, int w, int h) {\n  dim3 block(16, 16);\n"
    "  k<<<dim3((w + 15) / 16, (h + 15) / 16), block>>>(a, b, w, h);\n}\n"
)
FLAT = "}\nvoid go(float *a, float *b, int w, int h) {\n  k<<<(w * h + 63) / 64, 64>>>(a, b, w, h);\n}\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
FORMS = {
    "write": (XY + "  if (x < w && y < h)\n    out[x * h + y] = in[y * w + x];\n", GO),
    "read": (
        "  const int y = blockIdx.x * 16 + threadIdx.x, x = 0;\n".replace(", x = 0", "")
        + "  const int x = blockIdx.y * 16 + threadIdx.y;\n  if (x >= w || y >= h) return;\n"
        "  int to = x * h + y;\n  out[to] = in[y * w + x];\n",
        GO.replace("(w + 15) / 16, (h + 15) / 16", "(h + 15) / 16, (w + 15) / 16"),
    ),
    "flat": (
        ID
        + "  if (i >= w * h) return;\n  int y = i % h;\n  int x = i / h;\n  out[i] = in[y * w + x];\n",
        FLAT,
    ),
    "flat scatter": (
        ID
        + "  if (i < w * h) {\n    int x = i % w;\n    int y = i / w;\n    out[x * h + y] = in[i];\n  }\n",
        FLAT,
    ),
}
BASIC = Kernel("k", HEAD + FORMS["write"][0] + GO, "k.cu")


def edits(body: str, tail: str) -> list[Edit]:
    return list(stage_transpose(Kernel("k", HEAD + body + tail, "k.cu"), []))


class TestStageTranspose(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return stage_transpose


@pytest.mark.parametrize("form", FORMS)
def test_odd_shapes_are_transposed_to_the_last_element(form: str, tmp_path: Path) -> None:
    body, tail = FORMS[form]
    (edit,) = edits(body, tail)
    geometry = {
        "write": "dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)",
        "read": "dim3((h + 15) / 16, (w + 15) / 16), dim3(16, 16)",
    }.get(form, "dim3((w * h + 63) / 64), dim3(64)")
    main = f"""
  int shapes[][2] = {{{{1, 1}}, {{17, 5}}, {{33, 40}}, {{3, 70}}}};
  for (auto &s : shapes) {{
    int w = s[0], h = s[1]; std::vector<float> in(w * h), out(w * h, -1.f);
    for (int i = 0; i < w * h; i++) in[i] = i;
    float *a = in.data(), *b = out.data();
    launch({geometry}, [=] {{ k(a, b, w, h); }});
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++)
      if (b[x * h + y] != a[y * w + x]) {{ printf("%d %d of %d %d", x, y, w, h); return 1; }}
  }}
  puts("same");"""
    assert run(edit.source.partition("void go")[0], main, tmp_path) == "same\n"


def test_exact_grids_need_no_test(tmp_path: Path) -> None:
    body = XY + "  int from = y * w + x;\n  out[x * h + y] = in[from] * 2;\n"
    (edit,) = edits(body, GO)
    assert "if (" not in edit.source
    main = """
  int w = 48, h = 32; std::vector<float> in(w * h), out(w * h, -1.f);
  for (int i = 0; i < w * h; i++) in[i] = i;
  float *a = in.data(), *b = out.data();
  launch(dim3(3, 2), dim3(16, 16), [=] { k(a, b, w, h); });
  for (float v : out) printf("%g ", v);"""
    kernels = (edit.source.partition("}\nvoid go")[0], HEAD + body)
    before, after = (run(f"{k}}}\n", main, tmp_path) for k in kernels)
    assert before == after


IMAGES = """\
__global__ void k(const float *in, float *out, int batch, int c, int h, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * c * h * w) return;
  int a = i % c;
  int x = (i / c) % w;
  int y = (i / (c * w)) % h;
  int n = i / (c * w * h);
  MOVE
}
void go(float *p, float *q, int b, int c, int h, int w) {
  k<<<(b * c * h * w + 63) / 64, 64>>>(p, q, b, c, h, w);
}
"""


def test_height_and_width_are_one_coordinate_where_they_are_walked_in_one(tmp_path: Path) -> None:
    spaces = ""
    for at, move in enumerate((
        "out[i] = in[((n * c + a) * h + y) * w + x];",
        "out[((n * c + a) * h + y) * w + x] = in[i];",
    )):  # fmt: skip
        text = IMAGES.replace("MOVE", move)
        (edit,) = stage_transpose(Kernel("k", text, "k.cu"), [])
        assert "const int yx_tiles = (h * w + kTile - 1) / kTile;" in edit.source
        assert "[n * c * h * w + a * h * w + yx]" in edit.source
        assert "k<<<((b * c * h * w + 63) / 64 + 15) / 16, 64>>>" in edit.source
        spaces += f"namespace before{at} {{ {text.partition('void go')[0]} }}\n"
        spaces += f"namespace after{at} {{ {edit.source.partition('void go')[0]} }}\n"
    main = """
  for (int c : {1, 33}) for (int h : {1, 5}) {
    int b = 1, w = 7, n = b * c * h * w; std::vector<float> in(n);
    for (int i = 0; i < n; i++) in[i] = i;
    auto moved = [&](auto kernel, int blocks) {
      std::vector<float> out(n, -1.f); float *p = in.data(), *q = out.data();
      launch(dim3(blocks), dim3(64), [=] { kernel(p, q, b, c, h, w); });
      return out;
    };
    int all = (n + 63) / 64;
    puts(moved(before0::k, all) == moved(after0::k, 2) ? "same" : "other");
    puts(moved(before1::k, all) == moved(after1::k, 2) ? "same" : "other");
  }"""
    assert run(spaces, main, tmp_path).split() == ["same"] * 8


def test_rows_with_gaps_between_them_stay_two_coordinates() -> None:
    text = IMAGES.replace("MOVE", "out[i] = in[((n * c + a) * h + y) * (w + 1) + x];")
    (edit,) = stage_transpose(Kernel("k", text, "k.cu"), [])
    assert "yx" not in edit.source
    wide = IMAGES.replace("MOVE", "out[i] = in[((size_t)(n * c + a) * h + y) * w + x];")
    assert all("yx" not in e.source for e in stage_transpose(Kernel("k", wide, "k.cu"), []))


def test_a_number_of_elements_that_is_no_whole_product_is_tested_again() -> None:
    head = "__global__ void k(const float *in, float *out, int total, int c, int p) {\n"
    body = (
        ID
        + "  if (i < total) {\n    int a = i % c;\n    int b = i / c % p;\n    int n = i / (c * p);\n"
    )
    text = head + body + "    out[(n * c + a) * p + b] = in[i];\n  }\n}\n"
    text += "void go(float *a, float *b, int t, int c, int p) { k<<<(t + 255) / 256, 256>>>(a, b, t, c, p); }\n"
    (edit,) = stage_transpose(Kernel("k", text, "k.cu"), [])
    assert "&& i < total" in edit.source


@pytest.mark.parametrize(
    ("body", "tail"),
    [
        (XY + "  if (x < w && y < h) out[y * w + x] = in[y * w + x];\n", GO),
        (XY + "  if (x < w && y < h) out[x * h + y] = 1;\n", GO),
        (XY + "  if (x < w && y < h) out[x * h + y] += in[y * w + x];\n", GO),
        (XY + "  if (x < w) out[x * h + y] = in[y * w + x];\n", GO),
        (XY + "  if (x < w && y < h) out[x * h + y] = in[y * w + x];\n", GO.replace("16, 16)", "32, 8)")),
        (ID + "  if (i < w * h) {\n    int x = i % w;\n    int y = i / w % 7;\n    out[x * h + y] = in[i];\n  }\n", FLAT),
        (ID + "  if (i < w * h) {\n    int x = i % w;\n    int y = i / h;\n    out[x * h + y] = in[i];\n  }\n", FLAT),
    ],
)  # fmt: skip
def test_it_declines_what_is_no_transposition(body: str, tail: str) -> None:
    assert not edits(body, tail)
