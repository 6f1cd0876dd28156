#include <cuda_runtime.h>

// A block a token and head: its four warps share the keys, and put together what they found.
extern "C" __global__ void treeattn(const float* query, const float* key, const float* value,
                                    const unsigned long long* mask, float* out, int context,
                                    int tokens, int heads) {
    __shared__ float part[4][64];
    __shared__ float sums[4];
    __shared__ float tops[4];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    int token = blockIdx.x / heads;
    int head = blockIdx.x % heads;
    const float* q = query + ((size_t)token * heads + head) * 64;
    float q0 = q[lane] * 0.125f;
    float q1 = q[lane + 32] * 0.125f;
    unsigned long long seen = mask[token];
    float most = -INFINITY;
    float sum = 0.0f, o0 = 0.0f, o1 = 0.0f;
    int end = context + min(tokens, 64);
    for (int j = warp; j < end; j += 4) {
        if (j >= context && !(seen >> (j - context) & 1)) {
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
    // A warp that saw nothing has nothing to tell.
    if (sum > 0.0f) {
        part[warp][lane] = o0;
        part[warp][lane + 32] = o1;
        if (lane == 0) {
            sums[warp] = sum;
            tops[warp] = most;
        }
    }
    __syncthreads();
    if (threadIdx.x >= 64) {
        return;
    }
    float top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    float total = 0.0f;
    float found = 0.0f;
    for (int w = 0; w < 4; w++) {
        float keep = tops[w] == top ? 1.0f : expf(tops[w] - top);
        total += sums[w] * keep;
        found += part[w][threadIdx.x] * keep;
    }
    out[((size_t)token * heads + head) * 64 + threadIdx.x] = total > 0.0f ? found / total : 0.0f;
}
