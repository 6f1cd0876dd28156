// Bank of gliding oscillators.  Voice v has a 32-bit phase; each sample adds inc to it, and slope to inc (all modulo
// 2^32).  A sample of the mix is the sum over the voices of (gain * wave[top 10 bits of the phase]) >> 6.  phase and inc
// are carried on to the next call.
#include <cuda_runtime.h>

#define WAVE 1024

__global__ void render(const unsigned* phase, const unsigned* inc, const int* slope, const int* gain,
                       const short* wave, int* mix, int V, int T) {
    __shared__ short w[WAVE];
    for (int i = threadIdx.x; i < WAVE; i += blockDim.x) w[i] = wave[i];
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= T) return;
    unsigned tri = (unsigned)((unsigned long long)t * (t - 1) / 2);
    int sum = 0;
    for (int v = 0; v < V; v++) {
        unsigned p = phase[v] + inc[v] * (unsigned)t + (unsigned)slope[v] * tri;
        sum += (gain[v] * w[p >> 22]) >> 6;
    }
    mix[t] = sum;
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
    render<<<(T + 255) / 256, 256>>>(phase, inc, slope, gain, wave, mix, V, T);
    cudaMemsetAsync(peak, 0, sizeof(int), 0);
    loudest<<<(T + 255) / 256, 256>>>(mix, peak, T);
    advance<<<(V + 255) / 256, 256>>>(phase, inc, slope, V, T);
}
