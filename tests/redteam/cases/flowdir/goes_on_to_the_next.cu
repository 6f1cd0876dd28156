__device__ unsigned char steepest(const int* z) {
    const int side[8] = {5, 8, 7, 6, 3, 0, 1, 2};
    float best = 0.f;
    unsigned char to = 0;
#pragma unroll
    for (int d = 0; d < 8; ++d) {
        float drop = ((float)z[4] - (float)z[side[d]]) * (d % 2 ? 0.70710678f : 1.f);
        if (drop > best) best = drop, to = d + 1;
    }
    return to;
}

// Where water flows to from each cell of a map: to the steepest way down of eight, the first of those that are as steep,
// 1 to 8 from the east over the south; 0 where it stays.
// A block has four tiles below each other, one at a time with its border in shared memory.
__global__ void flowdir(const int* height, unsigned char* flow, int h, int w) {
    __shared__ int tile[34 * 10];
    int t = threadIdx.y * 32 + threadIdx.x;
    long long x0 = blockIdx.x * 32ll;
    for (int part = 0; part < 4; ++part) {
        long long y0 = blockIdx.y * 32ll + part * 8;
        for (int s = t; s < 34 * 10; s += 256) {
            long long x = x0 + s % 34 - 1, y = y0 + s / 34 - 1;
            tile[s] = x >= 0 && x < w && y >= 0 && y < h ? height[y * w + x] : 2147483647;
        }
        __syncthreads();
        long long x = x0 + t % 32, y = y0 + t / 32;
        if (x < w && y < h) {
            int z[9];
#pragma unroll
            for (int e = 0; e < 9; ++e) z[e] = tile[(t / 32 + e / 3) * 34 + t % 32 + e % 3];
            flow[y * w + x] = steepest(z);
        }
    }
}
