#include <cstdint>

// Follows the level of many series at once: a Kalman filter of a random walk that is seen with noise. What was
// not seen, or is not a number, is predicted only. Steps are rows, series are columns.
__global__ void tracker(const float* z, const uint8_t* seen, const float* drift, const float* noise,
                        float* level, float* spread, int series, int steps)
{
    int s = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (s >= series) return;
    bool pair = s + 1 < series;
    bool wide = series % 2 == 0;
    float q[2], r[2], m[2] = {0.0f, 0.0f}, p[2] = {1.0f, 1.0f};
    for (int j = 0; j < 2; ++j) {
        q[j] = j == 0 || pair ? fabsf(drift[s + j]) : 0.0f;
        r[j] = j == 0 || pair ? fabsf(noise[s + j]) : 0.0f;
    }
    for (int t = 0; t < steps; ++t) {
        size_t at = (size_t)t * series + s;
        float x[2] = {0.0f, 0.0f};
        int shown[2] = {0, 0};
        if (wide) {
            float2 two = *reinterpret_cast<const float2*>(z + at);
            uchar2 flags = *reinterpret_cast<const uchar2*>(seen + at);
            x[0] = two.x;
            x[1] = two.y;
            shown[0] = flags.x;
            shown[1] = flags.y;
        } else {
            x[0] = z[at];
            shown[0] = seen[at];
            if (pair) {
                x[1] = z[at + 1];
                shown[1] = seen[at + 1];
            }
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            p[j] = p[j] + q[j];
            if (shown[j] != 0 && !isnan(x[j])) {
                float v = p[j] + r[j];
                float k = v > 0.0f ? p[j] / v : 0.0f;
                m[j] = m[j] + k * (x[j] - m[j]);
                p[j] = k * r[j];
            }
        }
        if (wide) {
            *reinterpret_cast<float2*>(level + at) = make_float2(m[0], m[1]);
        } else {
            level[at] = m[0];
            if (pair) level[at + 1] = m[1];
        }
    }
    spread[s] = p[0];
    if (pair) spread[s + 1] = p[1];
}
