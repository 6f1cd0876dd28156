#include <cuda_pipeline.h>
// The columns of a matrix, weighted and added up.
// A block has 32 columns; tiles of 32 rows are copied into three rooms while others are added up.
__device__ void fetch(float* room, const float* a, const float* v, int r0, int rows, int c0, int cols) {
    for (int k = threadIdx.x; k < 32 * 32; k += 256) {
        int r = r0 + k / 32, c = c0 + k % 32;
        if (r < rows && c < cols)
            __pipeline_memcpy_async(room + k, a + (size_t)r * cols + c, 4);
        else
            room[k] = 0.f;
    }
    int r = r0 + threadIdx.x;
    if (threadIdx.x < 32) {
        if (r < rows)
            __pipeline_memcpy_async(room + 1024 + threadIdx.x, v + r, 4);
        else
            room[1024 + threadIdx.x] = 0.f;
    }
    __pipeline_commit();
}

__global__ void tmv(const float* a, const float* v, float* out, int rows, int cols) {
    __shared__ float room[3][32 * 33], part[8][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c0 = blockIdx.x * 32;
    int tiles = (rows + 31) / 32;
    float sum = 0.f;
    fetch(room[0], a, v, 0, rows, c0, cols);
    fetch(room[1], a, v, 32, rows, c0, cols);
    for (int tile = 0; tile < tiles; ++tile) {
        // One group is younger than this tile's; beyond the last tile there are groups, too.
        __pipeline_wait_prior(1);
        __syncthreads();
        fetch(room[(tile + 2) % 3], a, v, (tile + 2) * 32, rows, c0, cols);
        const float* here = room[tile % 3];
        for (int r = warp; r < 32; r += 8) sum += here[r * 32 + lane] * here[1024 + r];
    }
    part[warp][lane] = sum;
    __syncthreads();
    if (warp || c0 + lane >= cols) return;
    for (int k = 1; k < 8; ++k) sum += part[k][lane];
    out[c0 + lane] = sum;
}
