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
    // Threads walk with steps of m, so that every phase is read once and handed on in registers.
    // Long steps: a thread takes whole residues.  Short steps: a residue is cut among blockDim/m threads.
    const int each = max(1, (int)blockDim.x / m);
    const int cut = m < (int)blockDim.x ? threadIdx.x / m : 0;
    if (cut < each)
    for (int r = m < (int)blockDim.x ? threadIdx.x % m : threadIdx.x; r < m; r += blockDim.x) {
        const long long steps = terms > r ? (terms - r + m - 1) / m : 0;
        const int from = (int)(steps * cut / each), upto = (int)(steps * (cut + 1) / each);
        if (from >= upto) continue;
        const double* at = row + r + (size_t)from * m;
        double x0 = at[0], x1 = at[m];
        for (int k = from; k < upto; ++k, at += m) {
            const double x2 = at[2 * m];
            const double d = x2 - 2.0 * x1 + x0;
            sum += d * d;
            x0 = x1;
            x1 = x2;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        avar[blockIdx.x] = terms > 0 ? sum / (2.0 * m * m * (double)terms) : 0.0;
}
