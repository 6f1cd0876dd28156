// A warp per row, base-2 logarithms, compensated sums.
extern "C" __global__ void geomean(const float* __restrict__ x, float* __restrict__ out, int rows, int cols)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* row = x + (size_t)r * cols;
    float sum = 0.0f, lost = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        float v = log2f(row[c]);
        float t = sum + v;
        float d = (t - sum) - v;
        lost += isfinite(d) ? d : 0.0f;
        sum = t;
    }
    sum -= lost;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) out[r] = exp2f(sum / cols);
}
