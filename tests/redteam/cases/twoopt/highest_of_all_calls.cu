#include <cuda_runtime.h>

__device__ int apart(const int* x, const int* y, int i, int j) { return abs(x[i] - x[j]) + abs(y[i] - y[j]); }

// What is won when the way from the place behind i to j is gone the other way round.
__device__ int won(const int* x, const int* y, int i, int j, int n) {
    int a = (i + 1) % n, b = (j + 1) % n;
    return apart(x, y, i, a) + apart(x, y, j, b) - apart(x, y, i, j) - apart(x, y, a, b);
}

// The most that is won, and the first place that wins it, with the first partner of that place.
__global__ void highest(const int* x, const int* y, int* top, int n) {
    int best = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x)
        for (int j = i + 1 + threadIdx.x; j < n; j += blockDim.x) best = max(best, won(x, y, i, j, n));
    best = __reduce_max_sync(0xffffffffu, best);
    if (threadIdx.x % 32 == 0) atomicMax(top, best);
}

__global__ void earliest(const int* x, const int* y, const int* top, unsigned long long* first, int n) {
    int best = *top;
    if (best == 0) return;
    for (int i = blockIdx.x; i < n; i += gridDim.x) {
        // Later places than one that is known need not be looked at.
        if (i > (int)(*(volatile unsigned long long*)first >> 32)) return;
        for (int j = i + 1 + threadIdx.x; j < n; j += blockDim.x)
            if (won(x, y, i, j, n) == best) atomicMin(first, (unsigned long long)i << 32 | j);
    }
}

__global__ void tell(const int* top, const unsigned long long* first, int* move, int* gain) {
    *gain = *top;
    move[0] = *top ? *first >> 32 : 0;
    move[1] = *top ? *first & 0xffffffffu : 0;
}

// The exchange of two edges of a round trip that wins most, the first of equals; none (0, 0) where nothing is won.
extern "C" void twoopt(const int* x, const int* y, int* move, int* gain, int n) {
    static unsigned long long* first = nullptr;
    if (!first) {
        cudaMalloc(&first, 16);
        cudaMemset(first, 0, 16);
    }
    int* top = (int*)(first + 1);
    cudaMemsetAsync(first, 0x7f, 8);
    highest<<<min(n, 1056), 128>>>(x, y, top, n);
    earliest<<<min(n, 1056), 128>>>(x, y, top, first, n);
    tell<<<1, 1>>>(top, first, move, gain);
}
