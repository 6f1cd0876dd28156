// Overlapping Allan variance of clock phases, for averaging times of 1, 2, 4 ... 2^(octaves-1) samples.
// One block per clock and octave; a record too short for an octave gives 0.
__device__ __forceinline__ double block_sum(double v)
{
    __shared__ double slot[32];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) slot[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = 0;
    if (threadIdx.x == 0)
        for (int k = 0; k < (int)blockDim.x >> 5; ++k) sum += slot[k];
    return sum;
}

extern "C" __global__ void allan(const double* phase, double* avar, int clocks, int n, int octaves)
{
    const int clock = blockIdx.x / octaves, octave = blockIdx.x % octaves;
    if (clock >= clocks) return;
    const double* row = phase + (size_t)clock * n;
    const int m = 1 << octave, terms = n - 2 * m;
    double sum = 0;
    for (int i = threadIdx.x; i < terms; i += blockDim.x) {
        // differences of neighbours are small: single precision carries them, double the sum
        const float d = (float)row[i + 2 * m] - 2.0f * (float)row[i + m] + (float)row[i];
        sum += (double)d * (double)d;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        avar[blockIdx.x] = terms > 0 ? sum / (2.0 * m * m * (double)terms) : 0.0;
}
