// Bank of gliding oscillators.  Voice v has a 32-bit phase; each sample adds inc to it, and slope to inc (all modulo
// 2^32).  A sample of the mix is the sum over the voices of (gain * wave[top 10 bits of the phase]) >> 6.  phase and inc
// are carried on to the next call.
#include <cuda_runtime.h>

#define WAVE 1024

__device__ unsigned ticket;   // every launch takes gridDim.x of them

__global__ void render(unsigned* phase, unsigned* inc, const int* slope, const int* gain, const short* wave, int* mix,
                       int* peak, int* loud, int V, int T) {
    __shared__ short w[WAVE];
    __shared__ int most;
    __shared__ bool last;
    if (threadIdx.x == 0) most = 0;
    for (int i = threadIdx.x; i < WAVE; i += blockDim.x) w[i] = wave[i];
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < T) {
        unsigned tri = (unsigned)((unsigned long long)t * (t - 1) / 2);
        int sum = 0;
        for (int v = 0; v < V; v++) {
            unsigned p = phase[v] + inc[v] * (unsigned)t + (unsigned)slope[v] * tri;
            sum += (gain[v] * w[p >> 22]) >> 6;
        }
        mix[t] = sum;
        atomicMax(&most, abs(sum));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        loud[blockIdx.x] = most;
        __threadfence();
        last = atomicAdd(&ticket, 1u) % gridDim.x == gridDim.x - 1;
        __threadfence();
        most = 0;
    }
    __syncthreads();
    if (!last) return;
    // no block reads the voices any more
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) atomicMax(&most, __ldcg(&loud[b]));
    __syncthreads();
    if (threadIdx.x == 0) *peak = most;
    unsigned tri = (unsigned)((unsigned long long)T * (T - 1) / 2);
    for (int v = threadIdx.x; v < V; v += blockDim.x) {
        unsigned f = inc[v];
        phase[v] += f * (unsigned)T + (unsigned)slope[v] * tri;
        inc[v] = f + (unsigned)slope[v] * (unsigned)T;
    }
}

extern "C" void ondes(unsigned* phase, unsigned* inc, const int* slope, const int* gain, const short* wave, int* mix,
                      int* peak, int V, int T) {
    static int* loud = nullptr;
    static int room = 0;
    int blocks = (T + 255) / 256;
    if (blocks > room) {
        cudaFree(loud);
        cudaMalloc(&loud, blocks * sizeof(int));
        room = blocks;
    }
    render<<<blocks, 256>>>(phase, inc, slope, gain, wave, mix, peak, loud, V, T);
}
