#include <cuda_runtime.h>

// The middle one of many numbers, digit by digit from above: how many have each digit, and which
// digit the middle one has.
__global__ void begin(unsigned* state, int n) { state[0] = 0u, state[1] = (n - 1) / 2; }

__global__ void digits(const unsigned* x, unsigned* count, const unsigned* state, int n, int shift) {
    __shared__ unsigned mine[256];
    int t = threadIdx.x;
    mine[t] = 0u;
    __syncthreads();
    unsigned above = state[0];
    for (size_t i = blockIdx.x * (size_t)256 + t; i < n; i += gridDim.x * (size_t)256) {
        unsigned v = x[i];
        if (shift == 24 || v >> (shift + 8) == above) atomicAdd(&mine[v >> shift & 255u], 1u);
    }
    __syncthreads();
    if (mine[t]) atomicAdd(&count[t], mine[t]);
}

__global__ void pick(unsigned* count, unsigned* state, bool more) {
    __shared__ unsigned held[256];
    int t = threadIdx.x;
    held[t] = count[t];
    if (more) count[t] = 0u;
    __syncthreads();
    if (t > 0) return;
    unsigned rank = state[1], d = 0;
    while (rank >= held[d]) rank -= held[d++];
    state[0] = state[0] << 8 | d;
    state[1] = rank;
}

extern "C" void middle(const unsigned* x, unsigned* out, int n) {
    // Made once; every call leaves the counts at zero.
    static unsigned* count;
    if (!count) {
        cudaMalloc(&count, 258 * sizeof(unsigned));
        cudaMemset(count, 0, 258 * sizeof(unsigned));
    }
    unsigned* state = count + 256;
    begin<<<1, 1>>>(state, n);
    for (int shift = 24; shift >= 0; shift -= 8) {
        digits<<<32, 256>>>(x, count, state, n, shift);
        pick<<<1, 256>>>(count, state, shift > 0);
    }
    cudaMemcpyAsync(out, state, sizeof(unsigned), cudaMemcpyDeviceToDevice, 0);
}
