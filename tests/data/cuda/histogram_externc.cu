// extern "C" kernels, atomics, warp intrinsics, a device lambda and conditional code.
#include <cstdint>
#include <cstdio>

#if 0
This text is never compiled: "unbalanced { brackets ( and quotes '
__global__ void ghost(int *p) { p[0] = 1; }
#endif

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 600)
#define OLD_DEVICE 1
#endif

enum { BINS = 256, WARPS = 8 };
static __device__ unsigned int total_count;
struct __align__(8) Pair { float value; int index; };

extern "C" __global__ void __launch_bounds__(256, 2)
histogram(const unsigned char* data, unsigned int* bins, uint32_t n)
{
  __shared__ unsigned int local[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
  __syncthreads();
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t stride = blockDim.x * gridDim.x;
  while (i < n) {
    atomicAdd(&local[data[i]], 1u);
    i += stride;
  }
  __syncthreads();
#ifdef OLD_DEVICE
  if (threadIdx.x == 0)
    for (int b = 0; b < BINS; ++b) atomicAdd(bins + b, local[b]);
#else
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
#endif
}

extern "C" {
__global__ void warp_max(const float* __restrict__ x, Pair* best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Pair p;
  p.value = i < n ? x[i] : -1e30f;
  p.index = i;
  for (int offset = 16; offset > 0; offset /= 2) {
    float v = __shfl_down_sync(0xffffffff, p.value, offset);
    int k = __shfl_down_sync(0xffffffff, p.index, offset);
    if (v > p.value) { p.value = v; p.index = k; }
  }
  if ((threadIdx.x & 31) == 0) best[i >> 5] = p;
  if (threadIdx.x == 0) atomicAdd(&total_count, 1);
}
}

template <typename F>
__global__ void for_each(int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}

int main() {
  const int n = 1 << 18;
  unsigned char* data; unsigned int* bins; float* x; Pair* best;
  cudaMallocManaged(&data, n); cudaMallocManaged(&bins, BINS * sizeof *bins);
  cudaMallocManaged(&x, n * sizeof(float)); cudaMallocManaged(&best, n / 32 * sizeof(Pair));
  for_each<<<(n + 127) / 128, 128>>>(n, [=] __device__ (int i) { data[i] = i * 31; x[i] = i % 1000; });
  int block = 256;
  int grid = (n + block * 4 - 1) / (block * 4);
  histogram<<<grid, block>>>(data, bins, n);
  warp_max<<<n / block, block>>>(x, best, n);
  cudaDeviceSynchronize();
  std::printf("%u %f\n", bins[0], best[0].value);
}
