// Größe der Kacheln: 32×8 – „Transponieren“ über gemeinsamen Speicher, 転置 🚀
#include <cstdio>

#define TILE_DIM 32     /* Zeilen und Spalten einer Kachel, é */
#define BLOCK_ROWS 8

__global__ void transpose_unused(const float *in, float *out, int width, int height) {} // ü

__global__ void transpose(float *odata, const float *idata, int width, int height)
{
  __shared__ float tile[TILE_DIM][TILE_DIM];   // ← Bankkonflikte!
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x]; /* läuft über „j“ */
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;  // vertauscht ↔
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(void)
{
  const int nx = 1024, ny = 512;
  dim3 dimGrid(nx / TILE_DIM, ny / TILE_DIM, 1);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);
  float *a, *b;
  cudaMalloc((void**)&a, nx * ny * sizeof(float));
  cudaMalloc((void**)&b, nx * ny * sizeof(float));
  for (int rep = 0; rep < 100; rep++)
    transpose<<<dimGrid, dimBlock>>>(b, a, nx, ny);
  puts("fertig ✓");
  return cudaDeviceSynchronize() != cudaSuccess;
}
