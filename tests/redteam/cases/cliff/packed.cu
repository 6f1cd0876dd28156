// The steepest step of a series over a lag: the greatest |x[i+lag] - x[i]| and the first i that has it;
// -1 and -1 if there is no pair of numbers.
// Height and place in one word, the height's bits (that order as the heights do) above the inverted place; 0 means none.
// The last block writes the result and leaves the words as it found them.
__device__ unsigned long long leader;
__device__ unsigned arrived;

extern "C" __global__ void cliff(const float* x, float* top, int* at, int n, int lag)
{
    __shared__ unsigned long long key[8];
    unsigned long long best = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - lag; i += gridDim.x * blockDim.x) {
        float d = fabsf(x[i + lag] - x[i]);
        if (d >= 0.0f) {
            unsigned long long k = (unsigned long long)(__float_as_uint(d) + 1) << 32 | ~(unsigned)i;
            best = k > best ? k : best;
        }
    }
    for (int step = 16; step > 0; step >>= 1) {
        unsigned long long other = __shfl_down_sync(0xffffffffu, best, step);
        best = other > best ? other : best;
    }
    if ((threadIdx.x & 31) == 0)
        key[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            best = key[k] > best ? key[k] : best;
        atomicMax(&leader, best);
        __threadfence();
        if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            best = atomicExch(&leader, 0ull);
            top[0] = best ? __uint_as_float((unsigned)(best >> 32) - 1) : -1.0f;
            at[0] = best ? (int)~(unsigned)best : -1;
        }
    }
}
