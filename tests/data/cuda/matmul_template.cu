// Tiled matrix product as a template in a namespace, with dim3 locals and constexpr tiles.
#include <iostream>
#include <vector>

namespace linalg {
namespace detail {

constexpr int kTile = 16;

template <typename T>
__device__ __forceinline__ T fused(T a, T b, T c) { return a * b + c; }

template <typename T, int TILE = kTile>
__global__ __launch_bounds__(TILE * TILE)
void matmul(const T* __restrict__ a, const T* __restrict__ b, T* c, int m, int n, int k) {
  __shared__ T as[TILE][TILE];
  __shared__ T bs[TILE][TILE + 1];

  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  T acc = T(0);
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    const int ak = t * TILE + threadIdx.x, bk = t * TILE + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = (row < m && ak < k) ? a[row * k + ak] : T(0);
    bs[threadIdx.y][threadIdx.x] = (bk < k && col < n) ? b[bk * n + col] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) {
      acc = fused(as[threadIdx.y][i], bs[i][threadIdx.x], acc);
    }
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = acc;
}

template <typename T>
__global__ void matmul_naive(const T* a, const T* b, T* c, int m, int n, int k) {
  int col = threadIdx.x + blockDim.x * blockIdx.x;
  int row = threadIdx.y + blockDim.y * blockIdx.y;
  if (row >= m || col >= n) return;
  T sum = 0;
  for (int i = 0; i < k; i++)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

}  // namespace detail

template <typename T>
void multiply(const T* a, const T* b, T* c, int m, int n, int k, cudaStream_t stream = 0) {
  constexpr int tile = detail::kTile;
  dim3 block(tile, tile);
  dim3 grid((n + tile - 1) / tile, (m + tile - 1) / tile);
  detail::matmul<T, tile><<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}

}  // namespace linalg

int main() {
  const int m = 123, n = 77, k = 250;
  std::vector<float> a(m * k, 1.f), b(k * n, 2.f), c(m * n);
  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  linalg::multiply(da, db, dc, m, n, k);
  dim3 threads{32, 8};
  linalg::detail::matmul_naive<float><<<dim3((n + 31) / 32, (m + 7) / 8), threads>>>(da, db, dc, m, n, k);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << (c[0] == 2.f * k ? "PASS" : "FAIL") << std::endl;
  return 0;
}
