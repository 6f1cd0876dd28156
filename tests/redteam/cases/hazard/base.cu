// Product-limit (Kaplan-Meier) survival of n cohorts of m patients each. Times are whole weeks below 180;
// a patient leaves at his time by death (died != 0) or by censoring. For every week: how many are at risk, and survival after it.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ int leaving[WEEKS], dead[WEEKS];
    int cohort = blockIdx.x;
    for (int k = threadIdx.x; k < WEEKS; k += blockDim.x) leaving[k] = dead[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        size_t at = (size_t)cohort * m + i;
        int k = week[at];
        if (k < 0 || k >= WEEKS) continue;
        atomicAdd(&leaving[k], 1);
        if (died[at]) atomicAdd(&dead[k], 1);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int left = 0;
    for (int k = 0; k < WEEKS; ++k) left += leaving[k];
    float s = 1.0f;
    for (int k = 0; k < WEEKS; ++k) {
        if (left > 0) s *= (float)(left - dead[k]) / (float)left;
        risk[(size_t)cohort * WEEKS + k] = left;
        survival[(size_t)cohort * WEEKS + k] = s;
        left -= leaving[k];
    }
}
