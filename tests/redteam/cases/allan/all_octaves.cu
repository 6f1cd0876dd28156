// Overlapping Allan variance of clock phases, for averaging times of 1, 2, 4 ... 2^(octaves-1) samples.
// One block per clock, which goes through the octaves while its record is in cache; a record too short for an octave gives 0.
extern "C" __global__ void allan(const double* phase, double* avar, int clocks, int n, int octaves)
{
    __shared__ double slot[2][8];
    const int clock = blockIdx.x;
    if (clock >= clocks) return;
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const double* row = phase + (size_t)clock * n;
    for (int octave = 0; octave < octaves; ++octave) {
        const int m = 1 << octave, terms = n - 2 * m;
        double sum = 0;
        for (int i = threadIdx.x; i < terms; i += blockDim.x) {
            const double d = row[i + 2 * m] - 2.0 * row[i + m] + row[i];
            sum += d * d;
        }
        for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (lane == 0) slot[octave & 1][warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            double all = 0;
            for (int k = 0; k < 8; ++k) all += slot[octave & 1][k];
            avar[(size_t)clock * octaves + octave] = terms > 0 ? all / (2.0 * m * m * (double)terms) : 0.0;
        }
    }
}
