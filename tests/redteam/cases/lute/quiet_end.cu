#include <cuda_runtime.h>
#include <cstdint>

// Plucked strings after Karplus and Strong in 16 bits: a burst of noise as long as the string's period circulates, each
// time averaged with its neighbour and damped by the gain (in 1/65536, both taps together). Frames hold one sample of
// every string. The mix is the sum of all strings by their levels, cut to 16 bits at the end.
__global__ void pluck(const short* burst, const int* delay, const int* gain, short* voices, int strings, int samples)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= strings) return;
    int period = delay[s] + 1, g = gain[s];
    int silent = 0;
    for (int n = 0; n < samples; n++) {
        int v;
        if (n < period) {
            v = burst[(size_t)n * strings + s];
        } else {
            int near = voices[(size_t)(n - period) * strings + s];
            int far = n > period ? voices[(size_t)(n - period - 1) * strings + s] : 0;
            v = ((near + far) * g) >> 16;
        }
        voices[(size_t)n * strings + s] = (short)v;
        silent = v == 0 ? silent + 1 : 0;
        if (n >= period && silent >= period) {
            while (++n < samples) voices[(size_t)n * strings + s] = 0;
            break;
        }
    }
}

__global__ void mixdown(const short* voices, const uint8_t* level, short* mix, int strings)
{
    __shared__ long long part[256];
    const short* frame = voices + (size_t)blockIdx.x * strings;
    long long sum = 0;
    for (int s = threadIdx.x; s < strings; s += 256) sum += frame[s] * level[s];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        long long v = part[0] >> 12;
        mix[blockIdx.x] = (short)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
    }
}

void lute(const short* burst, const int* delay, const int* gain, const uint8_t* level, short* voices, short* mix,
          int strings, int samples)
{
    pluck<<<(strings + 63) / 64, 64>>>(burst, delay, gain, voices, strings, samples);
    mixdown<<<samples, 256>>>(voices, level, mix, strings);
}
