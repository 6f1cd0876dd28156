// Bank of gliding oscillators.  Voice v has a 32-bit phase; each sample adds inc to it, and slope to inc (all modulo
// 2^32).  A sample of the mix is the sum over the voices of (gain * wave[top 10 bits of the phase]) >> 6.  phase and inc
// are carried on to the next call.
#include <cuda_runtime.h>

#define WAVE 1024

#define RUN 8

// Each thread walks RUN samples: within the run the phase is stepped like the hardware would.
__global__ void render(const unsigned* phase, const unsigned* inc, const int* slope, const int* gain,
                       const short* wave, int* mix, int V, int T) {
    __shared__ short w[WAVE];
    for (int i = threadIdx.x; i < WAVE; i += blockDim.x) w[i] = wave[i];
    __syncthreads();
    int t = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
    if (t >= T) return;
    unsigned tri = (unsigned)((unsigned long long)t * (t - 1) / 2);
    int sum[RUN] = {};
    for (int v = 0; v < V; v++) {
        unsigned d = (unsigned)slope[v];
        unsigned p = phase[v] + inc[v] * (unsigned)t + d * tri;
        unsigned f = inc[v] + d * (unsigned)t;
        int g = gain[v];
        #pragma unroll
        for (int k = 0; k < RUN; k++) {
            sum[k] += (g * w[p >> 22]) >> 6;
            p += f;
            f += d;
        }
    }
    if (t + RUN <= T) {
        int4* out = reinterpret_cast<int4*>(mix + t);
        out[0] = make_int4(sum[0], sum[1], sum[2], sum[3]);
        out[1] = make_int4(sum[4], sum[5], sum[6], sum[7]);
    } else {
        #pragma unroll
        for (int k = 0; k < RUN; k++)
            if (t + k < T) mix[t + k] = sum[k];
    }
}

__global__ void loudest(const int* mix, int* peak, int T) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int a = t < T ? abs(mix[t]) : 0;
    for (int o = 16; o; o >>= 1) a = max(a, __shfl_xor_sync(0xffffffffu, a, o));
    if ((threadIdx.x & 31) == 0) atomicMax(peak, a);
}

__global__ void advance(unsigned* phase, unsigned* inc, const int* slope, int V, int T) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= V) return;
    unsigned tri = (unsigned)((unsigned long long)T * (T - 1) / 2);
    phase[v] += inc[v] * (unsigned)T + (unsigned)slope[v] * tri;
    inc[v] += (unsigned)slope[v] * (unsigned)T;
}

extern "C" void ondes(unsigned* phase, unsigned* inc, const int* slope, const int* gain, const short* wave, int* mix,
                      int* peak, int V, int T) {
    render<<<(T + 128 * RUN - 1) / (128 * RUN), 128>>>(phase, inc, slope, gain, wave, mix, V, T);
    cudaMemsetAsync(peak, 0, sizeof(int), 0);
    loudest<<<(T + 255) / 256, 256>>>(mix, peak, T);
    advance<<<(V + 255) / 256, 256>>>(phase, inc, slope, V, T);
}
