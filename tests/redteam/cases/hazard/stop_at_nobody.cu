// When nobody is at risk any more, nothing can change: the loop over the weeks ends there.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ int leaving[WEEKS], dead[WEEKS], still;
    int cohort = blockIdx.x;
    for (int k = threadIdx.x; k < WEEKS; k += blockDim.x) leaving[k] = dead[k] = 0;
    if (threadIdx.x == 0) still = 0;
    __syncthreads();
    int seen = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        size_t at = (size_t)cohort * m + i;
        int k = week[at];
        if (k < 0 || k >= WEEKS) continue;
        ++seen;
        atomicAdd(&leaving[k], 1);
        if (died[at]) atomicAdd(&dead[k], 1);
    }
    atomicAdd(&still, seen);
    __syncthreads();
    if (threadIdx.x != 0) return;
    int left = still;
    float s = 1.0f;
    int* r = risk + (size_t)cohort * WEEKS;
    float* y = survival + (size_t)cohort * WEEKS;
    for (int k = 0; k < WEEKS && left > 0; ++k) {
        s *= (float)(left - dead[k]) / (float)left;
        r[k] = left;
        y[k] = s;
        left -= leaving[k];
    }
}
