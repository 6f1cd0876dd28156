#include <cuda_runtime.h>
#include <cstdint>

// Threads a chunk of 128 samples: the level at its start is that of the latest stretch of hold equal samples before it,
// which is looked for backwards (within 1024 samples or 64 holds: the input was quiet some time there).
constexpr int kChunk = 128;

__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    __shared__ int sum, newest;
    int channel = blockIdx.x;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    if (threadIdx.x == 0) {
        sum = 0;
        newest = -1;
    }
    __syncthreads();
    int need = max(hold, 1);
    int reach = need < (1 << 20) ? max(1024, 64 * need) : 1 << 30;
    for (int begin = threadIdx.x * kChunk; begin < n; begin += blockDim.x * kChunk) {
        int level = 0, run = 0, changes = 0, latest = -1;
        if (begin > 0) {
            int stretch = 0, value = -1;
            int stop = max(0, begin - reach);
            int tail = 0;                       // equal samples right before the chunk
            bool open = true;
            int t = begin - 1;
            for (; t >= stop; --t) {
                int bit = in[t] > 0;
                if (bit == value) {
                    ++stretch;
                } else {
                    if (value >= 0)
                        open = false;
                    value = bit;
                    stretch = 1;
                }
                if (open)
                    tail = stretch;
                if (stretch >= need) {
                    level = value;
                    break;
                }
            }
            int before = in[begin - 1] > 0;
            run = before != level ? tail : 0;
        }
        int end = min(n, begin + kChunk);
        for (int t = begin; t < end; ++t) {
            int bit = in[t] > 0;
            run = bit != level ? run + 1 : 0;
            if (run >= need) {
                level = bit;
                run = 0;
                ++changes;
                latest = t;
            }
            out[t] = (uint8_t)level;
        }
        if (changes) {
            atomicAdd(&sum, changes);
            atomicMax(&newest, latest);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        edges[channel] = sum;
        last[channel] = newest;
    }
}
