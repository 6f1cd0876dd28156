"""Runs small CUDA sources on the CPU, a fiber for each thread of a block, to compare edits."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests import host_programs
from tests.optimizer.rules import fibers

_SHIM = r"""
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
using std::min; using std::max;
#define __global__
#define __device__
#define __restrict__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
extern double lanes[64][32];
inline unsigned thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
void __syncthreads();
void wait_for_warp();
template <typename T> T __shfl_xor_sync(unsigned, T v, int mask) {
  unsigned t = thread_number(), w = t / 32, l = t % 32;
  lanes[w][l] = v;
  wait_for_warp();
  T got = (T)lanes[w][l ^ mask];
  wait_for_warp();
  return got;
}
void launch_threads(dim3 grid, dim3 block, void (*body)(void*), void* of);
template <typename F> void launch(dim3 grid, dim3 block, F body) {
  launch_threads(grid, block, [](void* of) { (*static_cast<F*>(of))(); }, &body);
}
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
"""
_RUNTIME = f"double lanes[64][32];\n{fibers.RUNTIME}"
_LAUNCH = re.compile(r"(\w+)\s*<<<(.*?),\s*([^,]*?|dim3\([^()]*\))>>>\s*\((.*?)\);", re.DOTALL)

_COMMAND = ("g++", "-std=c++20", "-w", "-fsanitize=address")

AVAILABLE = shutil.which("g++") is not None


def run(source: str, main: str, folder: Path) -> str:
    """Return what `main` prints; it calls host functions of `source`, which launch kernels.

    Buffers must be checked by `main` itself: `.at()` or `-fsanitize=address`, which is on.
    """
    text = _LAUNCH.sub(r"launch(\2, \3, [&] { \1(\4); });", source)
    program = f"{text}\nint main() {{\n{main}\n}}\n"
    leaks = {"ASAN_OPTIONS": "detect_leaks=0"}
    return host_programs.run(_COMMAND, _SHIM, _RUNTIME, program, folder, leaks)
