// Division by an invariant: with m = floor((2^64-1)/d) + 1, the high half of m * key is key / d for every 32-bit key.
__device__ __forceinline__ unsigned quotient(unsigned k, unsigned long long m) { return (unsigned)__umul64hi(m, k); }

extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    __shared__ unsigned long long by_d;
    if (threadIdx.x == 0) by_d = ~0ull / (unsigned)d + 1ull;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = quotient(key[i], by_d) % (unsigned)r;
    slot[i] = s;
    atomicAdd(&count[s], 1u);
}
