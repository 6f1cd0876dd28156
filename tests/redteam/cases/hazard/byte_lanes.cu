// Every warp counts for itself, in bytes (four weeks to a word), so that warps do not collide; the eight sets are added at the end.
#define WEEKS 180
extern "C" __global__ void hazard(const int* week, const unsigned char* died, int* risk, float* survival, int n, int m)
{
    __shared__ unsigned leaving[8][WEEKS / 4], dead[8][WEEKS / 4];
    __shared__ int allLeaving[WEEKS], allDead[WEEKS];
    int cohort = blockIdx.x, warp = threadIdx.x / 32;
    for (int k = threadIdx.x; k < 8 * (WEEKS / 4); k += blockDim.x) (&leaving[0][0])[k] = (&dead[0][0])[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        size_t at = (size_t)cohort * m + i;
        int k = week[at];
        if (k < 0 || k >= WEEKS) continue;
        unsigned one = 1u << (8 * (k & 3));
        atomicAdd(&leaving[warp][k >> 2], one);
        if (died[at]) atomicAdd(&dead[warp][k >> 2], one);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < WEEKS; k += blockDim.x) {
        int a = 0, b = 0;
        for (int w = 0; w < 8; ++w) {
            a += (leaving[w][k >> 2] >> (8 * (k & 3))) & 255;
            b += (dead[w][k >> 2] >> (8 * (k & 3))) & 255;
        }
        allLeaving[k] = a;
        allDead[k] = b;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int left = 0;
    for (int k = 0; k < WEEKS; ++k) left += allLeaving[k];
    float s = 1.0f;
    for (int k = 0; k < WEEKS; ++k) {
        if (left > 0) s *= (float)(left - allDead[k]) / (float)left;
        risk[(size_t)cohort * WEEKS + k] = left;
        survival[(size_t)cohort * WEEKS + k] = s;
        left -= allLeaving[k];
    }
}
