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
// A thread goes down 32 rows of a column, with three rows of it and its neighbours in registers.
__global__ void flowdir(const int* height, unsigned char* flow, int h, int w) {
    long long x = blockIdx.x * 128ll + threadIdx.x, y0 = blockIdx.y * 32ll;
    if (x >= w) return;
    const int none = 2147483647;
    int z[9];
#pragma unroll
    for (int e = 0; e < 6; ++e) {
        long long j = y0 - 1 + e / 3, i = x - 1 + e % 3;
        z[3 + e] = i >= 0 && i < w && j >= 0 && j < h ? height[j * w + i] : none;
    }
    for (long long y = y0; y < y0 + 32 && y < h; ++y) {
#pragma unroll
        for (int e = 0; e < 6; ++e) z[e] = z[e + 3];
#pragma unroll
        for (int e = 0; e < 3; ++e) {
            long long i = x - 1 + e;
            z[6 + e] = i >= 0 && i < w && y + 1 < h ? height[(y + 1) * w + i] : none;
        }
        flow[y * w + x] = steepest(z);
    }
}
