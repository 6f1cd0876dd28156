#include <cuda_runtime.h>

// Eight letters from `at` on, round the text, the first one on top.
__device__ unsigned long long eight(const unsigned char* t, int at, int length) {
    unsigned long long key = 0;
    for (int k = 0; k < 8; k++) {
        key = key << 8 | t[at];
        at = at + 1 == length ? 0 : at + 1;
    }
    return key;
}

// Sixteen letters of 256 rotations at a time in shared memory; equal keys go by their start.
extern "C" __global__ void bwt(const unsigned char* text, int* order, unsigned char* last,
                               int length) {
    __shared__ unsigned long long high[256];
    __shared__ unsigned long long low[256];
    const unsigned char* t = text + (size_t)blockIdx.x * length;
    int* sorted = order + (size_t)blockIdx.x * length;
    unsigned char* before = last + (size_t)blockIdx.x * length;
    for (int first = 0; first < length; first += blockDim.x) {
        int i = first + threadIdx.x;
        unsigned long long top = i < length ? eight(t, i, length) : 0;
        unsigned long long rest = i < length ? eight(t, (int)((i + 8ll) % length), length) : 0;
        int rank = 0;
        for (int from = 0; from < length; from += 256) {
            int here = min(256, length - from);
            __syncthreads();
            for (int k = threadIdx.x; k < here; k += blockDim.x) {
                high[k] = eight(t, from + k, length);
                low[k] = eight(t, (int)((from + k + 8ll) % length), length);
            }
            __syncthreads();
            if (i < length) {
                for (int k = 0; k < here; k++) {
                    bool same = high[k] == top;
                    bool tie = same && low[k] == rest;
                    rank += high[k] < top || (same && low[k] < rest) || (tie && from + k < i);
                }
            }
        }
        if (i < length) {
            sorted[rank] = i;
            before[rank] = t[i == 0 ? length - 1 : i - 1];
        }
    }
}
