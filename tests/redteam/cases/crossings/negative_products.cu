// A warp for a row; neighbours of unlike sign have a negative product, and zero has its own case.
__global__ void crossings(const float* __restrict__ x, int* __restrict__ out, int rows, int cols) {
    int lane = threadIdx.x % 32, r = blockIdx.x * 8 + threadIdx.x / 32;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    unsigned s = 0;
    for (int c = lane + 1; c < cols; c += 32) {
        float u = row[c - 1], v = row[c];
        s += u == 0.f ? v < 0.f : v == 0.f ? u < 0.f : u * v < 0.f;
    }
    s = __reduce_add_sync(0xffffffffu, s);
    if (lane == 0) out[r] = (int)s;
}
