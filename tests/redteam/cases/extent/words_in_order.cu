#define NO_LOW 0xff800000u
#define NO_HIGH 0x007fffffu

__device__ unsigned lowest = NO_LOW, highest = NO_HIGH, arrived;

// Floats as words in the same order: all bits of a negative one are turned, of another the first.
__device__ __forceinline__ unsigned word(float v) {
    unsigned u = __float_as_uint(v);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

__device__ __forceinline__ float number(unsigned u) {
    return __uint_as_float(u & 0x80000000u ? u & 0x7fffffffu : ~u);
}

// The last block writes the result and leaves all words as it found them.
__global__ void __launch_bounds__(256) extent(const float* __restrict__ x, float* __restrict__ out,
                                              int n) {
    float low = INFINITY, high = -INFINITY;
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    unsigned first = __reduce_min_sync(0xffffffffu, word(low));
    unsigned end = __reduce_max_sync(0xffffffffu, word(high));
    if (threadIdx.x % 32 == 0) {
        atomicMin(&lowest, first);
        atomicMax(&highest, end);
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) {
        __threadfence();
        out[0] = number(atomicExch(&lowest, NO_LOW));
        out[1] = number(atomicExch(&highest, NO_HIGH));
    }
}
