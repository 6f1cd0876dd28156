// How long each line through its points is; a single point has no length. Lanes
// keep what their sums have lost.
__global__ void arclen(const float* x, const float* y, float* out, int rows, int m) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *p = x + (size_t)r * m, *q = y + (size_t)r * m;
    float sum = 0.f, rest = 0.f, plain = 0.f;
    for (int k = 1 + lane; k < m; k += 32) {
        float dx = p[k] - p[k - 1], dy = q[k] - q[k - 1], d = sqrtf(dx * dx + dy * dy);
        plain += d;
        float more = d - rest, next = sum + more;
        rest = (next - sum) - more;
        sum = next;
    }
    // An infinite sum leaves no rest.
    if (!(fabsf(plain) < INFINITY)) sum = plain;
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = sum;
}
