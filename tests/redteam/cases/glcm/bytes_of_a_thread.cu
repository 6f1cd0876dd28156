// How often a pixel of one of 16 shades has one of another to its right.
__global__ void glcm(const unsigned char* in, int* counts, int h, int w) {
    // Each of 64 threads counts for itself, in bytes.
    __shared__ unsigned char mine[256][64];
    for (int e = threadIdx.x; e < 256 * 64; e += 64) mine[e / 64][e % 64] = 0;
    __syncthreads();
    size_t step = (size_t)gridDim.x * 64;
    for (size_t i = blockIdx.x * (size_t)64 + threadIdx.x; i < (size_t)h * w; i += step) {
        if (i % w == w - 1) continue;
        int k = in[i] / 16 * 16 + in[i + 1] / 16;
        if (++mine[k][threadIdx.x] == 255) {
            atomicAdd(&counts[k], 255);
            mine[k][threadIdx.x] = 0;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += 64) {
        int sum = 0;
        for (int t = 0; t < 64; ++t) sum += mine[k][(t + threadIdx.x) % 64];
        if (sum) atomicAdd(&counts[k], sum);
    }
}
