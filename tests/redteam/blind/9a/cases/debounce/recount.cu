#include <cuda_runtime.h>
#include <cstdint>

// Block a channel: one warp cleans the row from ballots, then all threads count the changes in what was written.
__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    __shared__ int sum, newest;
    int channel = blockIdx.x;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int lane = threadIdx.x & 31;
    if (threadIdx.x == 0) {
        sum = 0;
        newest = -1;
    }
    if (threadIdx.x < 32) {
        int level = 0, run = 0;
        for (int t0 = 0; t0 < n; t0 += 32) {
            int t = t0 + lane;
            unsigned word = __ballot_sync(~0u, t < n && in[t] > 0);
            unsigned cleaned = 0;
            for (int k = 0; k < 32; ++k) {
                int bit = word >> k & 1u;
                run = bit != level ? run + 1 : 0;
                if (run > 0 && run >= hold) {
                    level = bit;
                    run = 0;
                }
                cleaned |= (unsigned)level << k;
            }
            if (t < n)
                out[t] = (uint8_t)(cleaned >> lane & 1u);
        }
    }
    __syncthreads();
    int changes = 0, latest = -1;
    for (int t = 1 + threadIdx.x; t < n; t += blockDim.x)
        if (out[t] != out[t - 1]) {
            ++changes;
            latest = t;
        }
    if (changes) {
        atomicAdd(&sum, changes);
        atomicMax(&newest, latest);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        edges[channel] = sum;
        last[channel] = newest;
    }
}
