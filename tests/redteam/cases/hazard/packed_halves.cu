// One shared word per week: deaths in the high half, patients leaving in the low half; one atomic per patient.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ unsigned count[WEEKS];
    int cohort = blockIdx.x;
    for (int k = threadIdx.x; k < WEEKS; k += blockDim.x) count[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        size_t at = (size_t)cohort * m + i;
        int k = week[at];
        if (k < 0 || k >= WEEKS) continue;
        atomicAdd(&count[k], died[at] ? 0x10001u : 1u);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int left = 0;
    for (int k = 0; k < WEEKS; ++k) left += (int)(count[k] & 0xffff);
    float s = 1.0f;
    for (int k = 0; k < WEEKS; ++k) {
        int dead = (int)(count[k] >> 16);
        if (left > 0) s *= (float)(left - dead) / (float)left;
        risk[(size_t)cohort * WEEKS + k] = left;
        survival[(size_t)cohort * WEEKS + k] = s;
        left -= (int)(count[k] & 0xffff);
    }
}
