// Sample entropy of many series, embedding 2: for each series of n samples the number of pairs i < j (both below n - 2)
// whose next 2 samples agree within r, and the number whose next 3 samples do.
// A missing sample is NaN and agrees with nothing; a saturated one (infinite) agrees with no other saturated one.
// A tolerance that is negative or NaN (the spread of a series with a missing sample) makes nothing agree.

extern "C" __global__ void sampen(const float* __restrict__ x, const float* __restrict__ r,
                                  unsigned* __restrict__ two, unsigned* __restrict__ three, int n)
{
    __shared__ unsigned sum2, sum3;
    const float* s = x + (size_t)blockIdx.x * n;
    const float tol = r[blockIdx.x];
    const int last = n - 2;
    if (threadIdx.x == 0) { sum2 = 0; sum3 = 0; }
    __syncthreads();
    unsigned c2 = 0, c3 = 0;
    unsigned both = 0;                // pairs in the low half, triples in the high half: one register, one add
    for (int i = 0; i < last; ++i) {
        const float x0 = s[i], x1 = s[i + 1], x2 = s[i + 2];
        for (int j = i + 1 + threadIdx.x; j < last; j += blockDim.x) {
            if (fabsf(x0 - s[j]) <= tol && fabsf(x1 - s[j + 1]) <= tol)
                both += fabsf(x2 - s[j + 2]) <= tol ? 0x10001u : 1u;
        }
        c2 += both & 0xffffu;
        c3 += both >> 16;
        both = 0;
    }
    for (int d = 16; d; d >>= 1) {
        c2 += __shfl_down_sync(0xffffffffu, c2, d);
        c3 += __shfl_down_sync(0xffffffffu, c3, d);
    }
    if ((threadIdx.x & 31) == 0) { atomicAdd(&sum2, c2); atomicAdd(&sum3, c3); }
    __syncthreads();
    if (threadIdx.x == 0) { two[blockIdx.x] = sum2; three[blockIdx.x] = sum3; }
}
