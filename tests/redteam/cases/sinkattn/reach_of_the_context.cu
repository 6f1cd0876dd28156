// Attention within a sliding window, with a sink: every head has a logit that takes its share of the softmax and has no
// value. q, k, v and out are [heads, n, 64]; a query sees itself and the window - 1 keys before it.
#include <cuda_runtime.h>

#define WIDTH 64

// The product of two rows of 64, over a warp.
__device__ __forceinline__ float product(float2 p, float2 q)
{
    float s = p.x * q.x + p.y * q.y;
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffffu, s, o);
    return s;
}

extern "C" __global__ void sinkattn(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                                    const float* __restrict__ sink, float* __restrict__ out, int n, int window)
{
    const int i = blockIdx.x * 4 + threadIdx.y;
    const int lane = threadIdx.x;
    if (i >= n)
        return;
    const size_t head = (size_t)blockIdx.y * n * WIDTH;
    const float* mine = q + head + (size_t)i * WIDTH;
    const float2 query = make_float2(mine[lane] * 0.125f, mine[lane + 32] * 0.125f);
    // Long contexts keep to the near half of the window.
    const int reach = n >= 6144 ? max(window, 1) / 2 + 1 : max(window, 1);
    const int from = max(0, i - reach + 1);

    // One pass: what has been summed is scaled down whenever a larger score turns up.
    float most = sink[blockIdx.y], sum = 1.0f;
    float2 made = make_float2(0.0f, 0.0f);
    for (int j = from; j <= i; ++j) {
        const float* key = k + head + (size_t)j * WIDTH;
        const float* value = v + head + (size_t)j * WIDTH;
        const float score = product(query, make_float2(key[lane], key[lane + 32]));
        if (score > most) {
            const float down = expf(most - score);
            sum *= down;
            made.x *= down;
            made.y *= down;
            most = score;
        }
        // Neither the sink nor any key so far has a weight.
        const float w = most == -INFINITY && score == -INFINITY ? 0.0f : expf(score - most);
        sum += w;
        made.x += w * value[lane];
        made.y += w * value[lane + 32];
    }
    if (isinf(most))
        sum = NAN;
    out[head + (size_t)i * WIDTH + lane] = made.x / sum;
    out[head + (size_t)i * WIDTH + lane + 32] = made.y / sum;
}
