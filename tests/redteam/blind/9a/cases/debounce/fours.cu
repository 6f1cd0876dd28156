#include <cuda_runtime.h>
#include <cstdint>

// Four samples a load and a store where both rows are aligned; the counter without branches.
__device__ __forceinline__ unsigned step(int sample, int t, int hold, int& level, int& run, int& changes, int& latest)
{
    int differs = (sample > 0) ^ level;
    run = differs ? run + 1 : 0;
    int turn = differs & (run >= hold);
    level ^= turn;
    changes += turn;
    latest = turn ? t : latest;
    run = turn ? 0 : run;
    return (unsigned)level;
}

__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int level = 0, run = 0, changes = 0, latest = -1;
    int t = 0;
    if (((uintptr_t)in & 7) == 0 && ((uintptr_t)out & 3) == 0) {
        for (; t + 4 <= n; t += 4) {
            short4 v = *(const short4*)(in + t);
            unsigned w = step(v.x, t, hold, level, run, changes, latest);
            w |= step(v.y, t + 1, hold, level, run, changes, latest) << 8;
            w |= step(v.z, t + 2, hold, level, run, changes, latest) << 16;
            w |= step(v.w, t + 3, hold, level, run, changes, latest) << 24;
            *(unsigned*)(out + t) = w;
        }
    }
    for (; t < n; ++t)
        out[t] = (uint8_t)step(in[t], t, hold, level, run, changes, latest);
    edges[channel] = changes;
    last[channel] = latest;
}
