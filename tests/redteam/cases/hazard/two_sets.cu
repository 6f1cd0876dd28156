// Blocks stay resident and take cohort after cohort. Two sets of counters in turn, so that warp 0 finishes one cohort
// while the other warps begin the next.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ int leaving[2][WEEKS], dead[2][WEEKS];
    int turn = 0;
    for (int cohort = blockIdx.x; cohort < n; cohort += gridDim.x) {
        int* gone = leaving[turn];
        int* lost = dead[turn];
        turn ^= 1;
        for (int k = threadIdx.x; k < WEEKS; k += blockDim.x) gone[k] = lost[k] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            size_t at = (size_t)cohort * m + i;
            int k = week[at];
            if (k < 0 || k >= WEEKS) continue;
            atomicAdd(&gone[k], 1);
            if (died[at]) atomicAdd(&lost[k], 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int left = 0;
            for (int k = 0; k < WEEKS; ++k) left += gone[k];
            float s = 1.0f;
            for (int k = 0; k < WEEKS; ++k) {
                if (left > 0) s *= (float)(left - lost[k]) / (float)left;
                risk[(size_t)cohort * WEEKS + k] = left;
                survival[(size_t)cohort * WEEKS + k] = s;
                left -= gone[k];
            }
        }
    }
}
