#include <math.h>

__device__ float loss(float logp) {
    float q = 1.f - expf(logp);
    return -q * q * logp;
}

// The loss of rows of classes by which those that are sure already count less; zero where the class is none of them.
// A warp has a row, and goes over it once: the sum is scaled where a higher value comes.
__global__ void focal(const float* logits, const int* target, float* out, int rows, int classes) {
    size_t r = blockIdx.x * (size_t)8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) return;
    int t = target[r];
    if (t < 0 || t >= classes) {
        if (lane == 0) out[r] = 0.f;
        return;
    }
    const float* own = logits + r * classes;
    float top = -INFINITY, sum = 0.f;
    for (size_t c = lane; c < classes; c += 32) {
        float v = own[c], m = fmaxf(top, v);
        if (v == -INFINITY) continue;
        sum = sum * expf(top - m) + expf(v - m);
        top = m;
    }
    for (int s = 16; s; s /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, top, s), more = __shfl_xor_sync(0xffffffffu, sum, s);
        float m = fmaxf(top, other);
        sum = m == -INFINITY ? sum + more : sum * expf(top - m) + more * expf(other - m);
        top = m;
    }
    if (lane == 0) out[r] = loss(own[t] - top - logf(sum));
}
