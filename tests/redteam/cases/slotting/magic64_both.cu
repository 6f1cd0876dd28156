// Both divisions go through multiplications by 64-bit inverses, made once per block. An inverse of 0 stands for 2^64,
// that is, for a division by one.
__device__ __forceinline__ unsigned quotient(unsigned k, unsigned long long m)
{
    return m ? (unsigned)__umul64hi(m, k) : k;
}

extern "C" __global__ void slotting(const unsigned* __restrict__ key, unsigned* __restrict__ slot, unsigned* __restrict__ count,
                                    int n, int d, int r)
{
    __shared__ unsigned long long inverse[2];
    if (threadIdx.x < 2) inverse[threadIdx.x] = ~0ull / (unsigned)(threadIdx.x ? r : d) + 1ull;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned q = quotient(key[i], inverse[0]);
    unsigned s = q - quotient(q, inverse[1]) * (unsigned)r;
    slot[i] = s;
    atomicAdd(&count[s], 1u);
}
