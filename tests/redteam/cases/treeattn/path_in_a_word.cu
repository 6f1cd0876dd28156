#include <cuda_runtime.h>

// One pass: the maximum is carried along, and what was added before follows it.
extern "C" __global__ void treeattn(const float* query, const float* key, const float* value,
                                    const unsigned long long* mask, float* out, int context,
                                    int tokens, int heads) {
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    int token = warp / heads;
    int head = warp % heads;
    if (token >= tokens) {
        return;
    }
    const float* q = query + ((size_t)token * heads + head) * 64;
    float q0 = q[lane] * 0.125f;
    float q1 = q[lane + 32] * 0.125f;
    unsigned seen = (unsigned)mask[token];
    float most = -INFINITY;
    float sum = 0.0f, o0 = 0.0f, o1 = 0.0f;
    int end = context + min(tokens, 64);
    for (int j = 0; j < end; j++) {
        if (j >= context && !(seen >> ((j - context) & 31) & 1)) {
            continue;
        }
        size_t at = ((size_t)j * heads + head) * 64;
        float s = q0 * key[at + lane] + q1 * key[at + lane + 32];
        for (int d = 16; d > 0; d /= 2) {
            s += __shfl_xor_sync(0xffffffffu, s, d);
        }
        float next = fmaxf(most, s);
        float keep = next == most ? 1.0f : expf(most - next);
        float p = s == -INFINITY ? 0.0f : expf(s - next);
        sum = sum * keep + p;
        o0 = o0 * keep + p * value[at + lane];
        o1 = o1 * keep + p * value[at + lane + 32];
        most = next;
    }
    float* o = out + ((size_t)token * heads + head) * 64;
    o[lane] = sum > 0.0f ? o0 / sum : 0.0f;
    o[lane + 32] = sum > 0.0f ? o1 / sum : 0.0f;
}
