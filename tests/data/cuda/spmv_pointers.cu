// Row pointers, local pointers into arrays, switch, do-while, goto, inline asm, local arrays.
#include <cstdio>
#include <cstdlib>

typedef int index_t;
const int THREADS_PER_BLOCK = 128, ITEMS = 4;
#define WARP_SIZE 32
#define CEIL_DIV(x, y) (((x) + (y) - 1) / (y))

__global__ void spmv_csr(index_t rows, const index_t *__restrict__ offsets, const index_t *__restrict__ columns,
                         const double *__restrict__ values, const double *__restrict__ x, double *__restrict__ y)
{
  index_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    double sum = 0;
    for (index_t k = offsets[row]; k < offsets[row + 1]; ++k)
      sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

__global__ void blur_rows(const float *img, float *out, int w, int h)
{
  const int y = blockIdx.x;
  const float *row = img + y * w;
  float *dst = &out[y * w];
  float window[5] = {0.f, 0.f, 0.f, 0.f, 0.f};
  for (int x = threadIdx.x; x < w; x += THREADS_PER_BLOCK) {
    for (int t = 0; t < 5; t++) {
      int at = x + t - 2;
      window[t] = at < 0 || at >= w ? 0.f : row[at];
    }
    float s = 0.f;
#pragma unroll 5
    for (int t = 0; t < 5; ++t) s += window[t] / 5.0f;
    dst[x] = s;
  }
}

__global__ void collatz(int *steps, int n)
{
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long v = i + 1;
  int count = 0;
again:
  switch (v & 1) {
    case 0: v /= 2; break;
    default: v = 3 * v + 1;
  }
  ++count;
  if (v != 1) goto again;
  do { count += lane >= WARP_SIZE; } while (0);
  steps[i] = count;
}

__global__ void items_per_thread(const float *in, float *out, int n)
{
  int base = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
  #pragma unroll 4
  for (int k = 0; k < ITEMS; ++k) {
    if (base + k < n) out[base + k] = sqrt(in[base + k]);
  }
}

int main(int argc, char *argv[])
{
  int n = (argc > 1) ? atoi(argv[1]) : 10000;
  index_t *offsets, *columns; double *values, *x, *y; float *img, *out; int *steps;
  cudaMallocManaged(&offsets, (n + 1) * sizeof(index_t));
  cudaMallocManaged(&columns, 3 * n * sizeof(index_t));
  cudaMallocManaged(&values, 3 * n * sizeof(double));
  cudaMallocManaged(&x, n * sizeof(double));
  cudaMallocManaged(&y, n * sizeof(double));
  cudaMallocManaged(&img, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  cudaMallocManaged(&steps, n * sizeof(int));
  for (int i = 0; i <= n; ++i) offsets[i] = 3 * i;
  for (int i = 0; i < 3 * n; ++i) { columns[i] = (i * 7) % n; values[i] = 0.25; }
  int num_blocks = CEIL_DIV(n, THREADS_PER_BLOCK);
  spmv_csr<<<num_blocks, THREADS_PER_BLOCK>>>(n, offsets, columns, values, x, y);
  blur_rows<<<n / 100, THREADS_PER_BLOCK>>>(img, out, 100, n / 100);
  collatz<<<num_blocks, THREADS_PER_BLOCK>>>(steps, n);
  items_per_thread<<<CEIL_DIV(n, THREADS_PER_BLOCK * ITEMS), THREADS_PER_BLOCK>>>(img, out, n);
  cudaError_t err = cudaDeviceSynchronize();
  if (err != cudaSuccess) { printf("%s\n", cudaGetErrorString(err)); return 1; }
  printf("%d\n", steps[n - 1]);
  return 0;
}
