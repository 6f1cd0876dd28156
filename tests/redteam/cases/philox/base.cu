// Normal noise by Philox4x32-10 and Box-Muller: out = mean + sigma * z. Element i has the counter i / 4 and the word i % 4,
// so that it does not depend on how the work is shared out.
#include <cuda_runtime.h>

__device__ __forceinline__ uint4 philox10(uint4 c, unsigned k0, unsigned k1)
{
    for (int r = 0; r < 10; ++r) {
        const unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
        const unsigned h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

// Two normal numbers of two words.
__device__ __forceinline__ float2 normal_pair(unsigned p, unsigned q)
{
    const float u = ((float)(p >> 9) + 0.5f) * (1.0f / 8388608.0f);
    const float v = ((float)(q >> 9) + 0.5f) * (1.0f / 8388608.0f);
    const float r = sqrtf(-2.0f * logf(u));
    float s, c;
    sincospif(2.0f * v, &s, &c);
    return make_float2(r * c, r * s);
}

extern "C" __global__ void philox(const float* __restrict__ mean, float* __restrict__ out, int n, int seed, int step, float sigma)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint4 w = philox10(make_uint4((unsigned)i >> 2, 0u, (unsigned)step, 0u), (unsigned)seed, 0x5EED5EEDu);
    const float2 z = i & 2 ? normal_pair(w.z, w.w) : normal_pair(w.x, w.y);
    out[i] = mean[i] + sigma * (i & 1 ? z.y : z.x);
}
