"""Runs kernels on the CPU: a fiber for each CUDA thread, so that barriers and shuffles work."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import host_programs
from tests.optimizer.rules import fibers

_SHIM = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
using std::min; using std::max;
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned a=1, unsigned b=1, unsigned c=1):x(a),y(b),z(c){} };
struct alignas(16) float4 { float x, y, z, w; }; struct alignas(8) float2 { float x, y; };
struct alignas(16) double2 { double x, y; }; struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; }; struct alignas(8) uint2 { unsigned x, y; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
typedef unsigned char uchar;
extern dim3 threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;
extern double slots[1024];
static unsigned me() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
void __syncthreads();
void __syncwarp(unsigned = 0);
template <class T> T exchange(T v, unsigned from) {
  std::memcpy(&slots[me()], &v, sizeof v); __syncwarp();
  T r = v; if (from / 32 == me() / 32) std::memcpy(&r, &slots[from], sizeof r);
  __syncwarp(); return r; }
template <class T> T __shfl_down_sync(unsigned, T v, unsigned d, int w = 32) {
  return exchange(v, me() % w + d < (unsigned)w ? me() + d : me()); }
template <class T> T __shfl_up_sync(unsigned, T v, unsigned d, int w = 32) {
  return exchange(v, me() % w >= d ? me() - d : me()); }
template <class T> T __shfl_xor_sync(unsigned, T v, unsigned d, int = 32) { return exchange(v, me() ^ d); }
template <class T> T __shfl_sync(unsigned, T v, unsigned l, int w = 32) {
  return exchange(v, me() / w * w + l); }
template <class T, class U> T atomicAdd(T *p, U v) {
  T o = *p; *p += v; return o; }
template <class T, class U> T atomicMax(T *p, U v) {
  T o = *p; *p = o > (T)v ? o : (T)v; return o; }
template <class T> T __ldg(const T *p) { return *p; }
void launch_threads(dim3 grid, dim3 block, void (*f)(void *), void *of);
template <class F> void launch(dim3 grid, dim3 block, F f) {
  launch_threads(grid, block, [](void *of) { F mine = *static_cast<F *>(of); mine(); }, &f); }
"""
_RUNTIME = f"""double slots[1024];
{fibers.RUNTIME}
void __syncwarp(unsigned) {{ wait_for_warp(); }}
"""
_COMMAND = (
    "g++", "-std=c++20", "-O1", "-w", "-fno-strict-aliasing", "-fsanitize=address"
)  # fmt: skip


def run(kernel: str, main: str, at: Path) -> str:
    """Return what `main` prints; it starts kernels by `launch(grid, block, [=] { k(...); })`."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to run a kernel on the CPU")
    program = f"{kernel}\nint main() {{\n{main}\n}}\n"
    return host_programs.run(_COMMAND, _SHIM, _RUNTIME, program, at)
