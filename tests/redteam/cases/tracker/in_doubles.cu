#include <cstdint>

// Follows the level of many series at once: a Kalman filter of a random walk that is seen with noise. What was
// not seen, or is not a number, is predicted only. Steps are rows, series are columns.
__global__ void tracker(const float* z, const uint8_t* seen, const float* drift, const float* noise,
                        float* level, float* spread, int series, int steps)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= series) return;
    double q = fabsf(drift[s]);
    double r = fabsf(noise[s]);
    double m = 0.0;
    double p = 1.0;
    for (int t = 0; t < steps; ++t) {
        size_t at = (size_t)t * series + s;
        float x = z[at];
        p = p + q;
        if (seen[at] != 0 && !isnan(x)) {
            double v = p + r;
            double k = v > 0.0 ? p / v : 0.0;
            m = m + k * (x - m);
            p = k * r;
        }
        level[at] = (float)m;
    }
    spread[s] = (float)p;
}
