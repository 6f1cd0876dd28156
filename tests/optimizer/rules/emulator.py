"""Runs small CUDA sources on the CPU, a thread for each thread of a block, to compare edits."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests import host_programs

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
extern constinit thread_local dim3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
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
_RUNTIME = r"""
#include <barrier>
#include <memory>
#include <thread>
constinit thread_local dim3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
double lanes[64][32];
using Gate = std::unique_ptr<std::barrier<>>;
static thread_local std::barrier<>* block_gate;
static thread_local Gate* warp_gates;
void __syncthreads() { block_gate->arrive_and_wait(); }
void wait_for_warp() { warp_gates[thread_number() / 32]->arrive_and_wait(); }
void launch_threads(dim3 grid, dim3 block, void (*body)(void*), void* of) {
  gridDim = grid; blockDim = block;
  unsigned count = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
  // A gate of its own for each block, since threads that have ended leave theirs; the threads stay.
  std::vector<Gate> block_gates(blocks);
  std::vector<std::vector<Gate>> all_warp_gates(blocks);
  for (unsigned b = 0; b < blocks; ++b) {
    block_gates[b] = std::make_unique<std::barrier<>>(count);
    for (unsigned w = 0; w < count; w += 32) all_warp_gates[b].push_back(std::make_unique<std::barrier<>>(min(32u, count - w)));
  }
  std::barrier<> between(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] {
    threadIdx = dim3(t % block.x, t / block.x % block.y, t / block.x / block.y);
    for (unsigned b = 0; b < blocks; ++b) {
      blockIdx = dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
      block_gate = block_gates[b].get();
      warp_gates = all_warp_gates[b].data();
      body(of);
      warp_gates[t / 32]->arrive_and_drop();
      block_gate->arrive_and_drop();
      between.arrive_and_wait();
    }
  });
  for (auto& t : threads) t.join();
}
"""
_LAUNCH = re.compile(r"(\w+)\s*<<<(.*?),\s*([^,]*?|dim3\([^()]*\))>>>\s*\((.*?)\);", re.DOTALL)

_COMMAND = ("g++", "-std=c++20", "-w", "-fsanitize=address", "-pthread")

AVAILABLE = shutil.which("g++") is not None


def run(source: str, main: str, folder: Path) -> str:
    """Return what `main` prints; it calls host functions of `source`, which launch kernels.

    Buffers must be checked by `main` itself: `.at()` or `-fsanitize=address`, which is on.
    """
    text = _LAUNCH.sub(r"launch(\2, \3, [&] { \1(\4); });", source)
    program = f"{text}\nint main() {{\n{main}\n}}\n"
    leaks = {"ASAN_OPTIONS": "detect_leaks=0"}
    return host_programs.run(_COMMAND, _SHIM, _RUNTIME, program, folder, leaks)
