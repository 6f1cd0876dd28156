#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Overlapping Allan variance of clock phases, for averaging times of 1, 2, 4 ... 2^(octaves-1) samples.
// A cluster of two blocks per clock and octave, the first adds up both halves; a record too short for an octave gives 0.
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

extern "C" __global__ void __cluster_dims__(2, 1, 1) allan(const double* phase, double* avar, int clocks, int n, int octaves)
{
    __shared__ double half;
    cg::cluster_group pair = cg::this_cluster();
    const int job = blockIdx.x >> 1, side = blockIdx.x & 1;
    const int clock = job / octaves, octave = job % octaves;
    if (clock >= clocks) return;                  // both blocks of a pair, or none
    const double* row = phase + (size_t)clock * n;
    const int m = 1 << octave, terms = n - 2 * m;
    double sum = 0;
    for (int i = side * blockDim.x + threadIdx.x; i < terms; i += 2 * blockDim.x) {
        const double d = row[i + 2 * m] - 2.0 * row[i + m] + row[i];
        sum += d * d;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) half = sum;
    pair.sync();
    if (side == 0 && threadIdx.x == 0) sum += *pair.map_shared_rank(&half, 1);
    pair.sync();                                  // the other block's memory is there until it is read
    if (side == 0 && threadIdx.x == 0)
        avar[job] = terms > 0 ? sum / (2.0 * m * m * (double)terms) : 0.0;
}
