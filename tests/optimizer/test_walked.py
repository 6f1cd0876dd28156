"""Pointers that walk along with a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Edit, Kernel
from optimizer.source import Source
from optimizer.written_out import WrittenOut
from tests.optimizer.rules import emulator

WALKS = """\
__global__ void k(const int *a, int *y, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  const int *p = a + r * n;
  const int *q = a;
  int s = 0;
  for (int c = 0; c < n; ++c) s += *p++ * *q++;
  const int *t = a + r;
  int i;
  for (i = 0; i < n; i++, t++)
    if (*t > 3) s -= *t;
  int *out = y + r * n;
  for (size_t j = 0; j < n; j++) {
    *out = s + j;
    for (int m = 0; m < 2; m++) *out += m;
    out++;
  }
}
void run(const int *a, int *y, int n) { k<<<1, 5>>>(a, y, n); }
"""


def shown(text: str) -> str:
    return WrittenOut(Kernel("k", text)).kernel.source


def test_walks_are_shown_as_elements() -> None:
    after = shown(WALKS)
    assert "s += p[c] * q[c];" in after
    assert "for (i = 0; i < n; i++)" in after
    assert "if (t[i] > 3) s -= t[i];" in after
    assert "out[j] = s + j;" in after
    assert "out[j] += m;" in after
    assert "out++" not in after
    assert after.count("\n") == WALKS.count("\n")
    assert all(loop.counted for loop in Source(after).kernels[0].loops)


def test_a_walk_stays_where_its_lines_do() -> None:
    view = WrittenOut(Kernel("k", WALKS))
    text = view.kernel.source.replace("int s = 0", "int s = 1")
    assert view.put_back(Edit("e", text, "rule:e")).source == WALKS.replace("s = 0", "s = 1")
    text = view.kernel.source.replace("for (i = 0; i < n; i++)", "for (i = 0; i < n; i += 1)")
    new = view.put_back(Edit("e", text, "rule:e")).source
    assert "if (t[i] > 3) s -= t[i];" in new, "a walk goes as a whole or stays"
    assert "*p++ * *q++" in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s += *p++ * *q++;", "if (c > 1) s += *p++;"),
        ("s += *p++ * *q++;", "s += *p++ + *p;"),
        ("s += *p++ * *q++;", "s += *++p;"),
        ("s += *p++ * *q++;", "s += c > 1 && *p++;"),
        ("s += *p++ * *q++;", "{ if (s > 9) break; s += *p++; }"),
        ("int s = 0;", "int s = 0; p++;"),
        ("const int *t", "s += *p; const int *t"),
        ("int c = 0", "int c = 1"),
        ("++c)", "c += 2)"),
        ("s += *p++", "c++; s += *p++"),
    ],
)
def test_pointers_that_do_more_keep_walking(old: str, new: str) -> None:
    assert old in WALKS
    after = shown(WALKS.replace(old, new))
    assert "p[c]" not in after


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_what_is_shown_does_the_same(tmp_path: Path) -> None:
    main = r"""
    for (int n : {0, 1, 7}) {
      std::vector<int> a(5 * n + 8);
      for (int i = 0; i < a.size(); i++) a[i] = i * 5 % 13;
      for (auto run : {before::run, after::run}) {
        std::vector<int> y(5 * n + 1);
        run(a.data(), y.data(), n);
        for (int v : y) printf("%d ", v);
        puts("");
      }
    }"""
    text = f"namespace before {{ {WALKS} }}\nnamespace after {{ {shown(WALKS)} }}\n"
    printed = emulator.run(text, main, tmp_path).splitlines()
    assert printed[::2] == printed[1::2]
    assert len(set(printed)) == 3
