"""Prefix sums in shared memory become shuffles, however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.shuffle_scan import shuffle_scan
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

HEAD = "#define BS 64\n__global__ void k(const float *x, float *y, float *sums, int n) {\n"
TILE = "  __shared__ float s[BS];\n  int t = threadIdx.x;\n  int i = blockIdx.x * BS + t;\n"
PAIRS = """\
  __shared__ float s[2 * BS];
  int t = threadIdx.x, i = 2 * BS * blockIdx.x + 2 * t;
  s[2 * t] = i < n ? x[i] : 0.f;
  s[2 * t + 1] = i + 1 < n ? x[i + 1] : 0.f;
"""
FEED = "  s[t] = i < n ? x[i] : 0.f;\n"
LAST = "  if (i < n) y[i] = s[t];\n"
LASTS = "  if (i < n) y[i] = s[2 * t];\n  if (i + 1 < n) y[i + 1] = s[2 * t + 1];\n"
RUN = """\
}
void go(const float *x, float *y, float *sums, int n) {
  k<<<(n + BS - 1) / BS, BS>>>(x, y, sums, n);
}
"""
BODIES = {
    "held back": TILE + FEED + """\
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    float temp = 0;
    __syncthreads();
    if (threadIdx.x >= stride) temp = s[threadIdx.x] + s[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride) s[threadIdx.x] = temp;
  }
""" + LAST,
    "added": TILE + FEED + """\
  __syncthreads();
  int off = 1;
  while (off < BS) {
    float v = t >= off ? s[t - off] : 0.0f;
    __syncthreads();
    s[t] += v;
    __syncthreads();
    off <<= 1;
  }
""" + LAST,
    "two halves, shifted": """\
  __shared__ float s[2 * BS];
  int t = threadIdx.x, i = blockIdx.x * BS + t;
  int pout = 0, pin = 1;
  s[t] = t > 0 && i - 1 < n ? x[i - 1] : 0.f;
  __syncthreads();
  for (int offset = 1; offset < BS; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset)
      s[pout * BS + t] = s[pin * BS + t] + s[pin * BS + t - offset];
    else
      s[pout * BS + t] = s[pin * BS + t];
    __syncthreads();
  }
  if (i < n) y[i] = s[pout * BS + t];
""",
    "two rows": """\
  __shared__ float s[2][BS];
  const int t = threadIdx.x;
  const int i = blockIdx.x * BS + t;
  int from = 0;
  s[0][t] = i < n ? x[i] : 0.f;
  for (int d = 1; d < BS; d <<= 1) {
    __syncthreads();
    s[1 - from][t] = t < d ? s[from][t] : s[from][t] + s[from][t - d];
    from = !from;
  }
  if (i < n) y[i] = s[from][t];
""",
    "up and down": PAIRS + """\
  int stride;
  for (stride = 1; stride <= BS; stride <<= 1) {
    __syncthreads();
    int index = (t + 1) * stride * 2 - 1;
    if (index < 2 * BS) s[index] += s[index - stride];
  }
  for (stride = BS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    int index = (t + 1) * stride * 2 - 1;
    if (index + stride < 2 * BS) s[index + stride] += s[index];
  }
  __syncthreads();
""" + LASTS,
    "before each, with sums": PAIRS + """\
  int offset = 1;
  for (int d = BS; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1;
      int b = offset * (2 * t + 2) - 1;
      s[b] += s[a];
    }
    offset *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = s[2 * BS - 1];
    s[2 * BS - 1] = 0;
  }
  for (int d = 1; d < 2 * BS; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1;
      int b = offset * (2 * t + 2) - 1;
      float v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
""" + LASTS,
    "tile by tile": """\
  __shared__ float s[BS];
  float carry = 0;
  int t = threadIdx.x;
  for (int base = 0; base < n; base += BS) {
    s[t] = base + t < n ? x[base + t] : 0.f;
    __syncthreads();
    for (int d = 1; d < BS; d *= 2) {
      float v = 0;
      if (t >= d) v = s[t - d];
      __syncthreads();
      s[t] += v;
      __syncthreads();
    }
    if (base + t < n) y[base + t] = carry + s[t];
    carry += s[BS - 1];
    __syncthreads();
  }
""",
    "with gaps": """\
#define GAPS(k) ((k) >> 4)
  __shared__ float s[2 * BS + 2 * BS / 16];
  int t = threadIdx.x, low = t, high = t + BS, from = 2 * BS * blockIdx.x;
  int gaps = GAPS(low), more = GAPS(high);
  s[low + gaps] = from + low < n ? x[from + low] : 0;
  s[high + more] = from + high < n ? x[from + high] : 0;
  int reach = 1;
  for (int d = BS; d > 0; d >>= 1, reach *= 2) {
    __syncthreads();
    if (t < d) {
      int a = reach * (2 * t + 1) - 1;
      int b = a + reach;
      a += GAPS(a);
      b += GAPS(b);
      s[b] += s[a];
    }
  }
  if (t == 0) s[2 * BS - 1 + GAPS(2 * BS - 1)] = 0;
  for (int d = 1; d <= BS; d *= 2) {
    reach /= 2;
    __syncthreads();
    if (t < d) {
      int a = reach * (2 * t + 1) - 1;
      int b = a + reach;
      a += GAPS(a);
      b += GAPS(b);
      float v = s[a];
      s[a] = s[b];
      s[b] = v + s[b];
    }
  }
  __syncthreads();
  if (from + low < n) y[from + low] = s[low + gaps];
  if (from + high < n) y[from + high] = s[high + more];
""",
}  # fmt: skip
BASIC = Kernel("k", HEAD + BODIES["held back"] + RUN, "k.cu")


def edits(body: str, run: str = RUN) -> list[Edit]:
    return list(shuffle_scan(Kernel("k", HEAD + body + run, "k.cu"), []))


class TestShuffleScan(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return shuffle_scan


@pytest.mark.parametrize("body", BODIES)
def test_each_way_to_write_prefix_sums_is_seen(body: str) -> None:
    found = edits(BODIES[body])
    assert len(found) == 1
    assert "__shfl_up_sync" in found[0].source
    assert "stride" not in found[0].source


def test_sums_are_the_same_on_the_host(tmp_path: Path) -> None:
    parts, calls = [], []
    for number, body in enumerate(BODIES.values()):
        name = f"k{number}"
        before = (HEAD + body + "}\n").replace("void k(", f"void {name}(")
        after = edits(body)[0].source.partition("void go")[0].replace("void k(", f"void {name}b(")
        parts += [before.replace("#define BS 64\n", ""), after.replace("#define BS 64\n", "")]
        calls.append(f"  bad += differ({name}, {name}b, {number});\n")
    compare = """
template <class A, class B> int differ(A a, B b, int at) {
  for (int n : {1, 63, 200}) {
    std::vector<float> x(n), y(n, -1), z(n, -1), u(9, -1), v(9, -1);
    for (int i = 0; i < n; i++) x[i] = i * 7 % 11;
    auto p = x.data(); auto q = y.data(), r = z.data(), c = u.data(), d = v.data();
    int blocks = at == 4 || at == 5 || at == 7 ? (n + 2 * BS - 1) / (2 * BS) : at == 6 ? 1 : (n + BS - 1) / BS;
    launch(dim3(blocks), dim3(BS), [=] { a(p, q, c, n); });
    launch(dim3(blocks), dim3(BS), [=] { b(p, r, d, n); });
    if (y != z || u != v) { printf("%d differs for %d\\n", at, n); return 1; }
  }
  return 0;
}
"""
    text = "#define BS 64\n" + "".join(parts) + compare
    printed = run(text, "  int bad = 0;\n" + "".join(calls) + '  if (!bad) puts("same");', tmp_path)
    assert printed == "same\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    __syncthreads();\n    if (threadIdx.x >= stride) s", "    if (threadIdx.x >= stride) s"),
        ("temp = s[threadIdx.x] + s[threadIdx.x - stride]", "temp = s[threadIdx.x - stride]"),
        ("temp = s[threadIdx.x] + s", "temp = s[threadIdx.x] * s"),
        ("stride < blockDim.x", "stride < n"),
        ("stride < blockDim.x", "stride < 32"),
        ("stride *= 2", "stride += 2"),
        ("y[i] = s[t]", "y[i] = s[t] + temp"),
        ("  int t = ", "  if (x == y) return;\n  int t = "),
        ("__shared__ float s[BS]", "volatile __shared__ float s[BS]"),
    ],
)  # fmt: skip
def test_what_is_no_prefix_sum_or_races_stays(old: str, new: str) -> None:
    body = (
        BODIES["held back"]
        .replace("    float temp = 0;\n", "")
        .replace("  for (unsigned", "  float temp = 0;\n  for (unsigned")
    )
    changed = body.replace(old, new)
    assert edits(body)
    assert changed != body
    assert not edits(changed)


def test_other_shared_elements_must_not_be_read_behind() -> None:
    body = BODIES["two halves, shifted"]
    assert not edits(body.replace("y[i] = s[pout * BS + t]", "y[i] = s[pin * BS + t]"))


def test_blocks_of_unknown_size_stay() -> None:
    assert not edits(BODIES["held back"], RUN.replace(", BS>>>", ", n>>>"))
    assert not edits(BODIES["held back"], RUN.replace(", BS>>>", ", 48>>>"))


@pytest.mark.parametrize("grows", ["seed *= seed", "seed = seed << 30", "seed -= -seed << 29"])
def test_numbers_that_no_int_holds_are_not_worked_out(grows: str) -> None:
    """They wrap on the device; squared in every round they would fill the memory of who looks."""
    body = BODIES["added"].replace("int off = 1;", "int off = 1, seed = 3;")
    assert edits(body)
    body = body.replace("    s[t] += v;", f"    s[t] += v;\n    {grows};")
    assert not edits(body)
