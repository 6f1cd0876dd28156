#include <cstdint>

// Follows the level of many series at once: a Kalman filter of a random walk that is seen with noise. What was
// not seen, or is not a number, is predicted only. Steps are rows, series are columns.
__global__ void tracker(const float* z, const uint8_t* seen, const float* drift, const float* noise,
                        float* level, float* spread, int series, int steps)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned all = __ballot_sync(0xffffffffu, s < series);
    if (s >= series) return;
    int lead = __ffs(all) - 1;
    int lane = threadIdx.x & 31;
    float q = fabsf(drift[s]);
    float r = fabsf(noise[s]);
    float m = 0.0f;
    float p = 1.0f;
    float q0 = __shfl_sync(all, q, lead);
    float r0 = __shfl_sync(all, r, lead);
    bool alike = __all_sync(all, q == q0 && r == r0);
    for (int t = 0; t < steps; ++t) {
        size_t at = (size_t)t * series + s;
        float x = z[at];
        p = p + q;
        bool here = seen[at] != 0 && !isnan(x);
        float k = 0.0f;
        bool one = alike && __all_sync(all, here);
        if (one) {
            if (lane == lead) {
                float v = p + r;
                k = v > 0.0f ? p / v : 0.0f;
            }
            k = __shfl_sync(all, k, lead);
        } else if (here) {
            float v = p + r;
            k = v > 0.0f ? p / v : 0.0f;
        }
        if (here) {
            m = m + k * (x - m);
            p = k * r;
        }
        level[at] = m;
    }
    spread[s] = p;
}
