// The last part by one warp: six weeks per lane, a scan of the counts, then a scan of the products.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ int leaving[192], dead[192];
    int cohort = blockIdx.x;
    for (int k = threadIdx.x; k < 192; k += blockDim.x) leaving[k] = dead[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        size_t at = (size_t)cohort * m + i;
        int k = week[at];
        if (k < 0 || k >= WEEKS) continue;
        atomicAdd(&leaving[k], 1);
        if (died[at]) atomicAdd(&dead[k], 1);
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    int lane = threadIdx.x;
    int mine = 0;
    for (int j = 0; j < 6; ++j) mine += leaving[lane * 6 + j];
    int upto = mine;
    for (int d = 1; d < 32; d *= 2) {
        int v = __shfl_up_sync(0xffffffffu, upto, d);
        if (lane >= d) upto += v;
    }
    int left = __shfl_sync(0xffffffffu, upto, 31) - (upto - mine);
    int atRisk[6];
    float s[6], product = 1.0f;
    for (int j = 0; j < 6; ++j) {
        int k = lane * 6 + j;
        atRisk[j] = left;
        if (left > 0) product *= (float)(left - dead[k]) / (float)left;
        s[j] = product;
        left -= leaving[k];
    }
    float before = product;
    for (int d = 1; d < 32; d *= 2) {
        float v = __shfl_up_sync(0xffffffffu, before, d);
        if (lane >= d) before *= v;
    }
    before = __shfl_up_sync(0xffffffffu, before, 1);
    if (lane == 0) before = 1.0f;
    for (int j = 0; j < 6; ++j) {
        int k = lane * 6 + j;
        if (k < WEEKS) {
            risk[(size_t)cohort * WEEKS + k] = atRisk[j];
            survival[(size_t)cohort * WEEKS + k] = before * s[j];
        }
    }
}
