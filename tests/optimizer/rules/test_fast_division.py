"""Coordinates from a number with one division each."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.fast_division import fast_division
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

HEAD = "#define K 3\n__global__ void k(int *o, int total, int a, int b) {\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= total) return;\n"
LAST = "  o[i] = x + 100 * y + 10000 * z;\n"
FORMS = {
    "quotients": ID + "  int x = i % a;\n  int y = i / a % b;\n  int z = i / a / b;\n" + LAST,
    "products": ID + "  // where\n  const int z = i / (a * b);\n  const int y = (i / a) % b;\n  const int x = i % a;\n" + LAST,
    "mixed": ID.replace("int i =", "size_t i = (size_t)") + "  size_t x = i % a, unused = 0;\n  int y = (i / a) % K;\n  int z = i / (a * K);\n"
    + LAST,
    "grid-stride": "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {\n"
    "  int x = i % a;\n  int y = i / a % b;\n  int z = i / a / b;\n" + LAST + "  }\n",
    "modulo first": ID + "  int y = (i % (a * b)) / a;\n  int z = i / (b * a);\n  int x = i % a;\n" + LAST,
}  # fmt: skip
BASIC = Kernel("k", HEAD + FORMS["quotients"] + "}\n", "k.cu")


def edits(body: str) -> list[Edit]:
    return list(fast_division(Kernel("k", HEAD + body + "}\n", "k.cu"), []))


class TestFastDivision(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return fast_division


@pytest.mark.parametrize("form", FORMS)
def test_every_number_keeps_its_coordinates(form: str, tmp_path: Path) -> None:
    (edit,) = edits(FORMS[form])
    assert "%" not in edit.source
    main = """
  for (int a : {1, 5}) for (int b : {1, 3}) {
    std::vector<int> o(300, -1); int *p = o.data(); int c = CHAIN;
    launch(dim3(5), dim3(64), [=] { k(p, 300, a, b); });
    for (int i = 0; i < 300; i++)
      if (o[i] != i % a + 100 * (i / a % c) + 10000 * (i / a / c)) { printf("%d", i); return 1; }
  }
  puts("same");""".replace("CHAIN", "3" if form == "mixed" else "b")
    assert run(edit.source, main, tmp_path) == "same\n"


@pytest.mark.parametrize(
    "body",
    [
        ID + "  int x = i % a;\n  o[i] = x;\n",
        (
            "  for (int i = blockIdx.x * 9 + threadIdx.x; i >= 0; i -= 9) {\n"
            "    int x = i % a;\n    int y = i / a;\n    o[i] = x + y;\n  }\n"
        ),
        (
            "  for (int i = threadIdx.x; i < total; i++) {\n    int x = i % a;\n    i--;\n"
            "    int y = i / a;\n    o[i] = x + y;\n  }\n"
        ),
        ID + "  int x = i % a;\n  int y = i / b;\n  o[i] = x + y;\n",
        ID + "  int x = i % a;\n  a = 7;\n  int y = i / a;\n  o[i] = x + y;\n",
        ID + "  int x = i % a;\n  int y = i / a % b;\n  o[i] = x + y;\n",
        ID.replace("int i", "float i")
        + "  int x = total % a;\n  int y = total / a;\n  o[x] = y;\n",
    ],
)
def test_it_declines_what_is_no_whole_chain(body: str) -> None:
    assert not edits(body)


def test_quotients_that_are_shared_already_stay() -> None:
    text = (
        "__global__ void k(const float *a, float *o, int w, int h, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  int rest = i / w;\n  int x = i % w;\n  int y = rest % h;\n  int p = rest / h;\n"
        "  o[(x * h + y) * 3 + p] = a[i];\n}\n"
    )
    assert not list(fast_division(Kernel("k", text), []))
