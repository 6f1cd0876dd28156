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

// All four words of a counter are used by one thread; a thread goes over many counters.
extern "C" __global__ void philox(const float* __restrict__ mean, float* __restrict__ out, int n, int seed, int step, float sigma)
{
    const bool fours = (((size_t)mean | (size_t)out) & 15) == 0;
    const int groups = n / 4 + (n % 4 != 0);
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += gridDim.x * blockDim.x) {
        const uint4 w = philox10(make_uint4((unsigned)g, 0u, (unsigned)step, 0u), (unsigned)seed, 0x5EED5EEDu);
        const float2 p = normal_pair(w.x, w.y), q = normal_pair(w.z, w.w);
        if (fours && g < n / 4) {
            const float4 m = ((const float4*)mean)[g];
            ((float4*)out)[g] = make_float4(m.x + sigma * p.x, m.y + sigma * p.y, m.z + sigma * q.x, m.w + sigma * q.y);
        } else {
            const float z[4] = {p.x, p.y, q.x, q.y};
            for (int k = 0; k < 4 && (size_t)g * 4 + k < n; ++k)
                out[g * 4 + k] = mean[g * 4 + k] + sigma * z[k];
        }
    }
}
