// How long each line through its points is; a single point has no length. Each
// point is read once, by a lane whose neighbour asks it.
__global__ void arclen(const float* x, const float* y, float* out, int rows, int m) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *p = x + (size_t)r * m, *q = y + (size_t)r * m;
    float sum = 0.f, lastx = 0.f, lasty = 0.f;
    for (int first = 0; first < m; first += 32) {
        int k = first + lane;
        float px = p[k], py = q[k];
        float fromx = __shfl_up_sync(0xffffffffu, px, 1), fromy = __shfl_up_sync(0xffffffffu, py, 1);
        if (lane == 0) fromx = lastx, fromy = lasty;
        float dx = px - fromx, dy = py - fromy;
        if (k > 0 && k < m) sum += sqrtf(dx * dx + dy * dy);
        lastx = __shfl_sync(0xffffffffu, px, 31);
        lasty = __shfl_sync(0xffffffffu, py, 31);
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
