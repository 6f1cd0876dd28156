"""What runs kernels on the CPU shows what they do wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optimizer.rules import emulator

KERNEL = """__global__ void k(int *o) {
  __shared__ int got[96];
  int t = threadIdx.x, mine[4];
  got[t] = t;
  %s
  int seen = got[%s];
  %s
  got[t] = mine[t %% 4] = -1;
  %s
  o[t] = seen + mine[t %% 4];
}
void run(int *o) { k<<<1, 96>>>(o); }
"""
MAIN = """std::vector<int> o(96); run(o.data()); int wrong = 0;
for (int t = 0; t < 96; ++t) wrong += o[t] != 95 - t - 1; printf("%d", wrong);"""
WAIT = "__syncthreads();"

pytestmark = pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")


@pytest.mark.parametrize(
    ("first", "second", "right"), [(WAIT, WAIT, True), ("", WAIT, False), (WAIT, "", False)]
)
def test_a_barrier_that_is_missing_is_seen(
    tmp_path: Path, first: str, second: str, *, right: bool
) -> None:
    wrong = int(emulator.run(KERNEL % (first, "95 - t", second, ""), MAIN, tmp_path))
    assert wrong == 0 if right else wrong > 40


def test_an_array_of_a_thread_is_watched_behind_a_barrier(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="stack-buffer-overflow"):
        emulator.run(KERNEL % (WAIT, "95 - t", WAIT, "mine[t] = 0;"), MAIN, tmp_path)


def test_threads_that_wait_for_each_other_are_an_error(tmp_path: Path) -> None:
    text = "if (t < 4) __shfl_xor_sync(0xfu, t, 1); else __syncthreads();"
    with pytest.raises(AssertionError, match="wait for each other"):
        emulator.run(KERNEL % (text, "95 - t", WAIT, ""), MAIN, tmp_path)


def test_threads_that_have_ended_are_not_waited_for(tmp_path: Path) -> None:
    text = f"if (t == 1) {{ o[t] = 93; return; }} {WAIT}"
    assert emulator.run(KERNEL % (text, "95 - t", WAIT, ""), MAIN, tmp_path) == "0"
