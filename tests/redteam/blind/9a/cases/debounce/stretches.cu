#include <cuda_runtime.h>
#include <cstdint>

// Block a channel: the level after a sample is the value of the latest stretch of hold equal samples that ended by then,
// so both the stretches and the levels are scans for a maximum over tiles of 256 samples.
__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    __shared__ int shared_max[8];
    __shared__ int total;
    int channel = blockIdx.x;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int need = hold > 1 ? hold : 1;
    int carryStart = 0;             // where the stretch of equal samples that reaches the tile began
    int carryKey = 0;               // 2 * (t + 1) + bit of the latest full stretch; 0: none, level 0
    int changes = 0, latest = -1;
    if (threadIdx.x == 0)
        total = 0;
    for (int t0 = 0; t0 < n; t0 += 256) {
        int t = t0 + threadIdx.x;
        bool ok = t < n;
        int bit = ok && in[t] > 0;
        int start = ok && t > 0 && bit != (in[t - 1] > 0 ? 1 : 0) ? t : 0;
        for (int o = 1; o < 32; o <<= 1) {
            int v = __shfl_up_sync(~0u, start, o);
            if (lane >= o)
                start = max(start, v);
        }
        if (lane == 31)
            shared_max[w] = start;
        __syncthreads();
        for (int i = 0; i < w; ++i)
            start = max(start, shared_max[i]);
        start = max(start, carryStart);
        int topStart = carryStart;
        for (int i = 0; i < 8; ++i)
            topStart = max(topStart, shared_max[i]);
        carryStart = topStart;
        __syncthreads();
        // positions do not exceed 2^30 here: the key is unsigned
        unsigned key = ok && t - start + 1 >= need ? 2u * ((unsigned)t + 1u) + bit : 0u;
        for (int o = 1; o < 32; o <<= 1) {
            unsigned v = __shfl_up_sync(~0u, key, o);
            if (lane >= o)
                key = max(key, v);
        }
        if (lane == 31)
            shared_max[w] = (int)key;
        unsigned before = __shfl_up_sync(~0u, key, 1);
        if (lane == 0)
            before = 0;
        __syncthreads();
        unsigned base = (unsigned)carryKey;
        for (int i = 0; i < w; ++i)
            base = max(base, (unsigned)shared_max[i]);
        key = max(key, base);
        before = max(before, base);
        unsigned top = (unsigned)carryKey;
        for (int i = 0; i < 8; ++i)
            top = max(top, (unsigned)shared_max[i]);
        carryKey = (int)top;
        if (ok) {
            out[t] = (uint8_t)(key & 1u);
            if ((key ^ before) & 1u) {
                ++changes;
                latest = t;
            }
        }
        __syncthreads();
    }
    for (int o = 16; o; o >>= 1) {
        changes += __shfl_xor_sync(~0u, changes, o);
        latest = max(latest, __shfl_xor_sync(~0u, latest, o));
    }
    if (lane == 0) {
        atomicAdd(&total, changes);
        shared_max[w] = latest;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i)
            latest = max(latest, shared_max[i]);
        edges[channel] = total;
        last[channel] = latest;
    }
}
