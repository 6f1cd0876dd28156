#include <cuda_runtime.h>

// The middle one of many numbers, digit by digit from above: how many have each digit, and which
// digit the middle one has.
__global__ void begin(unsigned* count, unsigned* state, int n) {
    count[threadIdx.x] = 0u;
    if (threadIdx.x == 0) state[0] = 0u, state[1] = (n - 1) / 2;
}

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

__global__ void pick(const unsigned* count, unsigned* state) {
    unsigned rank = state[1], d = 0;
    while (rank >= count[d]) rank -= count[d++];
    state[0] = state[0] << 8 | d;
    state[1] = rank;
}

extern "C" void middle(const unsigned* x, unsigned* out, int n) {
    unsigned* count;
    cudaMalloc(&count, 258 * sizeof(unsigned));
    unsigned* state = count + 256;
    begin<<<1, 256>>>(count, state, n);
    for (int shift = 24; shift >= 0; shift -= 8) {
        cudaMemsetAsync(count, 0, 256 * sizeof(unsigned), 0);
        digits<<<32, 256>>>(x, count, state, n, shift);
        pick<<<1, 1>>>(count, state);
    }
    cudaMemcpyAsync(out, state, sizeof(unsigned), cudaMemcpyDeviceToDevice, 0);
    cudaFree(count);
}
