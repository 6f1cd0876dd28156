#include <cstdint>

// Follows the level of many series at once: a Kalman filter of a random walk that is seen with noise. What was
// not seen, or is not a number, is predicted only. Steps are rows, series are columns.
__global__ void tracker(const float* z, const uint8_t* seen, const float* drift, const float* noise,
                        float* level, float* spread, int series, int steps)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= series) return;
    float q = fabsf(drift[s]);
    float r = fabsf(noise[s]);
    float m = 0.0f;
    float p = 1.0f;
    float k = 0.0f;
    bool settled = false;
    for (int t = 0; t < steps; ++t) {
        size_t at = (size_t)t * series + s;
        float x = z[at];
        if (seen[at] != 0 && !isnan(x)) {
            if (!settled) {
                float before = p;
                p = p + q;
                float v = p + r;
                k = v > 0.0f ? p / v : 0.0f;
                p = k * r;
                settled = fabsf(p - before) <= 1e-3f * p;
            }
            m = m + k * (x - m);
        } else {
            p = p + q;
            settled = false;
        }
        level[at] = m;
    }
    spread[s] = p;
}
