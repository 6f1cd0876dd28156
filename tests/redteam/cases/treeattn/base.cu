#include <cuda_runtime.h>

// Attention of drafted tokens (speculative decoding): each sees the whole context and those of the
// first 64 drafted tokens that its mask names, its own path in the tree of drafts. Keys and values
// are [context + tokens][heads][64]. One warp a token and head; a token that sees nothing gets 0.
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
    float most = -INFINITY;
    for (int j = 0; j < context + tokens; j++) {
        int draft = j - context;
        if (draft >= 0 && (draft >= 64 || !(mask[token] >> draft & 1))) {
            continue;
        }
        const float* k = key + ((size_t)j * heads + head) * 64;
        float s = q0 * k[lane] + q1 * k[lane + 32];
        for (int d = 16; d > 0; d /= 2) {
            s += __shfl_xor_sync(0xffffffffu, s, d);
        }
        most = fmaxf(most, s);
    }
    float sum = 0.0f, o0 = 0.0f, o1 = 0.0f;
    for (int j = 0; j < context + tokens; j++) {
        int draft = j - context;
        if (draft >= 0 && (draft >= 64 || !(mask[token] >> draft & 1))) {
            continue;
        }
        const float* k = key + ((size_t)j * heads + head) * 64;
        const float* v = value + ((size_t)j * heads + head) * 64;
        float s = q0 * k[lane] + q1 * k[lane + 32];
        for (int d = 16; d > 0; d /= 2) {
            s += __shfl_xor_sync(0xffffffffu, s, d);
        }
        float p = expf(s - most);
        sum += p;
        o0 += p * v[lane];
        o1 += p * v[lane + 32];
    }
    float* o = out + ((size_t)token * heads + head) * 64;
    o[lane] = sum > 0.0f ? o0 / sum : 0.0f;
    o[lane + 32] = sum > 0.0f ? o1 / sum : 0.0f;
}
