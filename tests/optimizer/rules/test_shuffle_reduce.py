"""Trees in shared memory become shuffles."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.shuffle_reduce import shuffle_reduce
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

HEAD = "#define BS 128\n__global__ void k(const float *x, float *y, int n) {\n"
OWN = "  __shared__ float s[BS];\n  int t = threadIdx.x;\n  int i = blockIdx.x * BS + t;\n"
FEED = "  s[t] = i < n ? x[i] : 0.f;\n  __syncthreads();\n"
LAST = "  if (t == 0) atomicAdd(y, s[0]);\n"
RUN = "}\nvoid go(float *x, float *y, int n) {\n  k<<<(n + BS - 1) / BS, BS>>>(x, y, n);\n}\n"
TREES = {
    "halving": "  for (int o = BS / 2; o > 0; o >>= 1) {\n    if (t < o) s[t] += s[t + o];\n    __syncthreads();\n  }\n",
    "doubling": "  for (unsigned int o = 1; o < blockDim.x; o *= 2) {\n    if (t % (2 * o) == 0) { s[t] += s[t + o]; }\n    __syncthreads();\n  }\n",
    "spread": "  for (int o = 1; o < BS; o <<= 1) {\n    int at = 2 * o * t;\n    if (at < BS) s[at] = s[at] + s[at + o];\n    __syncthreads();\n  }\n",
    "while": "  int o = blockDim.x / 2;\n  while (o != 0) {\n    if (t < o)\n      s[t] += s[t + o];\n    __syncthreads();\n    o /= 2;\n  }\n",
    "waits first": "  const int threads = blockDim.x;\n  for (int o = threads / 2; o >= 1; o /= 2) {\n    __syncthreads();\n    if (t < o) s[t] += s[t + o];\n  }\n",
}
BASIC = Kernel("k", HEAD + OWN + FEED + TREES["halving"] + LAST + RUN, "k.cu")


def edits(body: str, run: str = RUN) -> list[Edit]:
    return list(shuffle_reduce(Kernel("k", HEAD + body + run, "k.cu"), []))


class TestShuffleReduce(RewriteRuleContract):
    applies_to = (BASIC,)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return shuffle_reduce


MAIN = """
  for (int n : {1, 31, 128, 300, 1000}) {
    std::vector<float> x(n, 0.f), y(200, 0.f); float want = 0;
    for (int i = 0; i < n; i++) want += x[i] = i % 7;
    float *a = x.data(), *b = y.data();
    launch(dim3(BLOCKS), dim3(128), [=] { k(a, b, n); });
    if (y[0] != want) { printf("%d: %f not %f", n, y[0], want); return 1; }
  }
  puts("same");"""


@pytest.mark.parametrize("tree", TREES)
def test_each_form_of_tree_gives_the_same_sum(tree: str, tmp_path: Path) -> None:
    found = edits(OWN + FEED + TREES[tree] + LAST)
    assert found
    text = found[-1].source
    assert text.count("__syncthreads") == 1
    assert "__shared__ float s[" not in text
    assert (
        run(text.partition("void go")[0], MAIN.replace("BLOCKS", "(n + 127) / 128"), tmp_path)
        == "same\n"
    )


def test_fewer_blocks_add_up_several_elements_a_thread(tmp_path: Path) -> None:
    found = edits(OWN + FEED + TREES["halving"] + LAST)
    text = found[0].source
    assert "k<<<((n + BS - 1) / BS + 15) / 16, BS>>>" in text
    assert run(text.partition("void go")[0], MAIN.replace("BLOCKS", "1"), tmp_path) == "same\n"


def test_a_result_that_all_threads_read_stays_in_shared_memory(tmp_path: Path) -> None:
    found = edits(OWN + FEED + TREES["halving"] + "  if (i < n) atomicAdd(y, s[0] / BS);\n")
    assert "s[0] = total;" in found[0].source
    main = """
  std::vector<float> x(128, 1.f), y(1, 0.f); float *a = x.data(), *b = y.data();
  launch(dim3(1), dim3(128), [=] { k(a, b, 128); });
  puts(y[0] == 128.f ? "same" : "other");"""
    assert run(found[0].source.partition("void go")[0], main, tmp_path) == "same\n"


def test_two_arrays_are_folded_together_by_their_own_operations() -> None:
    text = edits(
        "  __shared__ float s[BS];\n  __shared__ float m[BS];\n  int t = threadIdx.x;\n"
        "  s[t] = x[t];\n  m[t] = x[t];\n  __syncthreads();\n"
        "  for (int o = BS / 2; o > 0; o /= 2) {\n    if (t < o) {\n      s[t] += s[t + o];\n"
        "      m[t] = fmaxf(m[t], m[t + o]);\n    }\n    __syncthreads();\n  }\n"
        "  if (t == 0) { y[0] = s[0]; y[1] = m[0]; }\n"
    )[0].source
    assert "m_total = fmaxf(m_total, __shfl_down_sync" in text
    assert "s_total += __shfl_down_sync" in text


@pytest.mark.parametrize(
    ("launch", "folds"),
    [
        ("const int size = 128; k<<<9, size, size * 4>>>(x, y, size);", True),
        ("k<<<9, 128, 512>>>(x, y, 128); k<<<5, 128, 512>>>(x, y, 128);", True),
        ("k<<<9, 128, 512>>>(x, y, 64);", False),
        ("k<<<9, 128, 512>>>(x, y, 128); k<<<9, 128, 512>>>(x, y, 64);", False),
        ("int size = 128; if (x) size = 64; k<<<9, 128, 512>>>(x, y, size);", False),
    ],
)
def test_a_block_size_that_is_passed_is_seen_at_every_launch(launch: str, folds: bool) -> None:
    body = (
        "  extern __shared__ float s[];\n  int t = threadIdx.x;\n  s[t] = x[t];\n"
        "  __syncthreads();\n"
        + TREES["halving"].replace("BS", "n")
        + "  if (t == 0) y[0] = s[0];\n"
    )
    assert bool(edits(body, "}\nvoid go(float *x, float *y) {\n  " + launch + "\n}\n")) == folds


@pytest.mark.parametrize(
    "body",
    [
        OWN + FEED + TREES["halving"] + "  y[t] = s[t];\n",
        OWN + "  if (i >= n) return;\n" + FEED + TREES["halving"] + LAST,
        OWN + FEED + "  if (n > 3) {\n" + TREES["halving"] + "  }\n" + LAST,
        OWN + FEED + TREES["halving"].replace("BS / 2", "BS / 4") + LAST,
        OWN + FEED + TREES["halving"].replace("o > 0", "o > 32") + LAST,
        OWN + FEED + TREES["halving"].replace("s[t] +=", "s[t] -=") + LAST,
        OWN + FEED + TREES["doubling"].replace("2 * o", "o") + LAST,
        OWN + FEED + TREES["halving"].replace("t < o", "t < n") + LAST,
        OWN + FEED + TREES["halving"].replace("s[t + o]", "s[t + o + 1]") + LAST,
    ],
)
def test_it_declines_what_is_not_a_whole_tree(body: str) -> None:
    assert not edits(body)


@pytest.mark.parametrize("block", ["96", "16", "n"])
def test_it_declines_blocks_that_are_no_power_of_two_or_less_than_a_warp(block: str) -> None:
    body = (OWN + FEED + TREES["doubling"] + LAST).replace("BS", "blockDim.x")
    body = body.replace("s[blockDim.x]", "s[1024]")
    assert not edits(body, RUN.replace("BS>>>", f"{block}>>>"))
