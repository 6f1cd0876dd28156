// Batched i?amax; magnitude and position in one 64-bit number (bit pattern above, complement of the position
// below), so that one integer maximum decides all: size, first of equals, first NaN.
#include <cuda_runtime.h>

extern "C" __global__ void __launch_bounds__(256)
iamaxb(const float* __restrict__ x, int* __restrict__ where, float* __restrict__ value, int batch, int n) {
    __shared__ unsigned long long top;
    if (threadIdx.x == 0) top = 0;
    __syncthreads();
    const float* row = x + (size_t)blockIdx.x * n;
    unsigned long long mine = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        unsigned m = __float_as_uint(row[i]) & 0x7fffffffu;
        m = min(m, 0x7f800001u);                         // one pattern for all NaN
        mine = max(mine, (unsigned long long)m << 32 | (unsigned)~i);
    }
    for (int o = 16; o; o >>= 1) mine = max(mine, __shfl_xor_sync(~0u, mine, o));
    if ((threadIdx.x & 31) == 0) atomicMax(&top, mine);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int at = (int)~(unsigned)top;
        where[blockIdx.x] = at + 1;
        value[blockIdx.x] = row[at];
    }
}
