// A block of 64 threads per detector, a run of RUN samples per thread. First every thread counts the turns in its run
// (a byte in shared memory is enough), then it adds those of the runs before it and writes its samples.
#include <cstdint>
#define RUN 256
__device__ __forceinline__ int turn(int from, int to)
{
    int d = to - from;
    return d < -32768 ? 1 : d >= 32768 ? -1 : 0;
}
extern "C" __global__ void fringe(const uint16_t* phase, int* path, int n, int m)
{
    __shared__ signed char turns[64];
    int t = threadIdx.x;
    const uint16_t* p = phase + (size_t)blockIdx.x * m;
    int* out = path + (size_t)blockIdx.x * m;
    int carry = 0;
    for (int base = 0; base < m; base += 64 * RUN) {
        int from = base + t * RUN, to = min(m, from + RUN);
        int count = 0;
        for (int i = from; i < to; ++i)
            if (i > 0) count += turn(p[i - 1], p[i]);
        turns[t] = (signed char)count;
        __syncthreads();
        int k = carry;
        for (int u = 0; u < 64; ++u) {
            if (u < t) k += turns[u];
            carry += turns[u];
        }
        for (int i = from; i < to; ++i) {
            if (i > 0) k += turn(p[i - 1], p[i]);
            out[i] = p[i] + k * 65536;
        }
        __syncthreads();
    }
}
