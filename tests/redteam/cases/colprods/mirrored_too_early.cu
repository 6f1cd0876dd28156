// Only tiles on and above the diagonal are computed; the others are their mirror images, turned in
// shared memory so that both are written in rows.
__global__ void colprods(const float* __restrict__ x, float* __restrict__ g, int rows, int d) {
    __shared__ float left[16][17], right[16][17];
    if (blockIdx.x < blockIdx.y) return;
    int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;
    float s = 0.f;
    for (int r0 = 0; r0 < rows; r0 += 16) {
        bool in = r0 + ty < rows;
        const float* row = x + (size_t)(r0 + ty) * d;
        left[ty][tx] = in && i0 + tx < d ? row[i0 + tx] : 0.f;
        right[ty][tx] = in && j0 + tx < d ? row[j0 + tx] : 0.f;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 16; ++r) s += left[r][ty] * right[r][tx];
        __syncthreads();
    }
    if (i0 + ty < d && j0 + tx < d) g[(size_t)(i0 + ty) * d + j0 + tx] = s;
    if (blockIdx.x == blockIdx.y) return;
    left[ty][tx] = s;
    __syncwarp();
    if (j0 + ty < d && i0 + tx < d) g[(size_t)(j0 + ty) * d + i0 + tx] = left[tx][ty];
}
