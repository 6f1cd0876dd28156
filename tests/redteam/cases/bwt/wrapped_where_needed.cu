#include <cuda_runtime.h>

// Eight letters from `at` on, round the text, the first one on top.
__device__ unsigned long long eight(const unsigned char* t, int at, int length) {
    unsigned long long key = 0;
    for (int k = 0; k < 8; k++) {
        int p = at + k;
        key = key << 8 | t[p < length ? p : p - length];
    }
    return key;
}

// Tells whether rotation j sorts before rotation i, of which the first eight letters agree.
__device__ bool sooner(const unsigned char* t, int j, int i, int length) {
    int a = (int)((i + 8ll) % length);
    int b = (int)((j + 8ll) % length);
    for (int k = 8; k < length; k++) {
        if (t[a] != t[b]) {
            return t[b] < t[a];
        }
        a = a + 1 == length ? 0 : a + 1;
        b = b + 1 == length ? 0 : b + 1;
    }
    return j < i;
}

// Keys of 256 rotations at a time in shared memory; letters are looked at only where keys are equal.
extern "C" __global__ void bwt(const unsigned char* text, int* order, unsigned char* last,
                               int length) {
    __shared__ unsigned long long keys[256];
    const unsigned char* t = text + (size_t)blockIdx.x * length;
    int* sorted = order + (size_t)blockIdx.x * length;
    unsigned char* before = last + (size_t)blockIdx.x * length;
    for (int first = 0; first < length; first += blockDim.x) {
        int i = first + threadIdx.x;
        unsigned long long mine = i < length ? eight(t, i, length) : 0;
        int rank = 0;
        for (int from = 0; from < length; from += 256) {
            int here = min(256, length - from);
            __syncthreads();
            for (int k = threadIdx.x; k < here; k += blockDim.x) {
                keys[k] = eight(t, from + k, length);
            }
            __syncthreads();
            if (i < length) {
                for (int k = 0; k < here; k++) {
                    unsigned long long other = keys[k];
                    rank += other < mine || (other == mine && sooner(t, from + k, i, length));
                }
            }
        }
        if (i < length) {
            sorted[rank] = i;
            before[rank] = t[i == 0 ? length - 1 : i - 1];
        }
    }
}
