// Where water flows to from each cell of a map: to the steepest way down of eight, the first of those that are as steep,
// 1 to 8 from the east over the south; 0 where it stays.
__global__ void flowdir(const int* height, unsigned char* flow, int h, int w) {
    const int right[8] = {1, 1, 0, -1, -1, -1, 0, 1}, down[8] = {0, 1, 1, 1, 0, -1, -1, -1};
    long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long y = blockIdx.y * (long long)blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float best = 0.f;
    unsigned char to = 0;
    for (int d = 0; d < 8; ++d) {
        long long i = x + right[d], j = y + down[d];
        if (i < 0 || i >= w || j < 0 || j >= h) continue;
        float drop = ((float)height[y * w + x] - (float)height[j * w + i]) * (d % 2 ? 0.70710678f : 1.f);
        if (drop > best) best = drop, to = d + 1;
    }
    flow[y * w + x] = to;
}
