#include <cuda_runtime.h>
#include <cstdint>

// Plucked strings after Karplus and Strong in 16 bits: a burst of noise as long as the string's period circulates, each
// time averaged with its neighbour and damped by the gain (in 1/65536, both taps together). Frames hold one sample of
// every string. The mix is the sum of all strings by their levels, cut to 16 bits at the end.
__global__ void pluck(const short* burst, const int* delay, const int* gain, const uint8_t* level, short* voices,
                      unsigned long long* sums, int strings, int samples)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    bool sounds = s < strings;
    int period = sounds ? delay[s] + 1 : 1, g = sounds ? gain[s] : 0, loud = sounds ? level[s] : 0;
    for (int n = 0; n < samples; n++) {
        int v;
        if (!sounds) {
            v = 0;
        } else if (n < period) {
            v = burst[(size_t)n * strings + s];
        } else {
            int near = voices[(size_t)(n - period) * strings + s];
            int far = n > period ? voices[(size_t)(n - period - 1) * strings + s] : 0;
            v = ((near + far) * g) >> 16;
        }
        if (sounds) voices[(size_t)n * strings + s] = (short)v;
        int sum = __reduce_add_sync(0xffffffffu, v * loud);
        if ((threadIdx.x & 31) == 0) atomicAdd(&sums[n], (unsigned long long)(long long)sum);
    }
}

__global__ void mixdown(const unsigned long long* sums, short* mix, int samples)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= samples) return;
    long long v = (long long)sums[n] >> 12;
    mix[n] = (short)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
}

void lute(const short* burst, const int* delay, const int* gain, const uint8_t* level, short* voices, short* mix,
          int strings, int samples)
{
    unsigned long long* sums;
    cudaMallocAsync((void**)&sums, samples * sizeof(unsigned long long), 0);
    cudaMemsetAsync(sums, 0, samples * sizeof(unsigned long long), 0);
    pluck<<<(strings + 63) / 64, 64>>>(burst, delay, gain, level, voices, sums, strings, samples);
    mixdown<<<(samples + 127) / 128, 128>>>(sums, mix, samples);
    cudaFreeAsync(sums, 0);
}
